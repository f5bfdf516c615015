"""The arms of a cycle: records of runs, or of the parts of them that filters choose."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.core.errors import EvaluationError
from assay.core.files import atomic_write, read_jsonl
from assay.core.validation import validated
from assay.evaluation.adapters import Options, Reading, read_records
from assay.evaluation.manifest import Arm, CycleManifest, Filters
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.results import Result
from assay.evaluation.select import AtHand, belongs, select
from assay.evaluation.taxonomy import load_taxonomy

#: Options of adapters that are files.
_FILES = ("verdicts", "failures")


class Input(Result):
    """What was read for one arm.

    Attributes
    ----------
    arm : str
        ``baseline``, ``confirmation``, ``experiments.0``, …
    sources : tuple of str
        As the manifest names them; of an absolute path the last part, which is the same anywhere.
    records : int
        Of the whole run, before the arm's filters.
    expectations : int
        Records whose task has an expected success rate of its own.
    refused, missing : int
        Parts that could not be used and were left out, and attempts that the run says it made, of
        which there is no file.
    sha256 : str
        Of the run's records as JSON lines, in their order.
    """

    arm: str
    name: str
    sources: tuple[str, ...]
    records: int
    expectations: int
    refused: int = 0
    missing: int = 0
    sha256: str


class Loss(Result):
    """What of a run is not among its records."""

    refused: int = 0
    missing: int = 0


@dataclass(frozen=True)
class Runs:
    """The runs of a manifest, each read once however many arms are parts of it.

    Attributes
    ----------
    records : sequence of list of EvaluationRecord
        Run by run, in the order of `CycleManifest.runs`; labelled, before any filter.
    losses : sequence of Loss
        Of each run.
    """

    manifest: CycleManifest
    records: Sequence[list[EvaluationRecord]]
    losses: Sequence[Loss]

    def arm(self, key: str) -> list[EvaluationRecord]:
        """Return the records of an arm (see `CycleManifest.arms`).

        Raises
        ------
        EvaluationError
            If the filters leave none.
        """
        arm, filters = self._arms[key]
        chosen = select(self._run(arm), filters, name=arm.name, where=_where(arm))
        return [_expecting(record, self._expected) for record in chosen]

    @cached_property
    def variants(self) -> list[EvaluationRecord]:
        """The baseline's records that its filters choose, each with its own variant."""
        arm, hand = self.manifest.baseline, AtHand()
        found = []
        for record in self._run(arm):
            hand.see(record)
            if belongs(record, arm.filters):
                found.append(record)
        if not found:
            raise hand.nothing_left((arm.filters,), name=arm.name, where=_where(arm))
        return found

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """What was read, arm by arm."""
        whole = {key: arm for key, arm, filters in self.manifest.arms() if len(filters) == 1}
        digests = [_digest(records) for records in self.records]
        return tuple(
            Input(
                arm=key,
                name=arm.name,
                sources=tuple(_portable(source) for source in arm.sources),
                records=len(self._run(arm)),
                expectations=self._expectations(arm),
                sha256=digests[self._number(arm)],
                **self.losses[self._number(arm)].model_dump(),
            )
            for key, arm in whole.items()
        )

    @cached_property
    def _arms(self) -> Mapping[str, tuple[Arm, tuple[Filters, ...]]]:
        return {key: (arm, filters) for key, arm, filters in self.manifest.arms()}

    @cached_property
    def _expected(self) -> Mapping[str, float] | None:
        """Task → success in the part of the baseline that says what is expected, or None."""
        if self.manifest.expected_from is None:
            return None
        arm = self.manifest.baseline
        filters = (arm.filters, self.manifest.expected_from)
        outcomes: dict[str, list[bool]] = {}
        for record in select(self._run(arm), filters, name=arm.name, where="expectedFrom"):
            if record.success is not None and not record.infrastructure:
                outcomes.setdefault(record.task_id, []).append(record.success)
        return {task: sum(seen) / len(seen) for task, seen in outcomes.items()}

    def _expectations(self, arm: Arm) -> int:
        known = self._expected or {}
        return sum(
            record.expected_success_rate is not None or record.task_id in known
            for record in self._run(arm)
        )

    def _number(self, arm: Arm) -> int:
        return list(self.manifest.runs()).index(arm.source_key)

    def _run(self, arm: Arm) -> list[EvaluationRecord]:
        return self.records[self._number(arm)]


def read_runs(manifest: CycleManifest, folder: Path) -> Runs:
    """Read every run of a manifest.

    Parameters
    ----------
    folder : Path
        What the manifest's paths are relative to.

    Raises
    ------
    EvaluationError
        If a run cannot be read, or has not as many records as the manifest says.
    """
    taxonomy = None
    if manifest.taxonomy is not None:
        taxonomy = load_taxonomy(folder / manifest.taxonomy)
    records, losses = [], []
    for arm in manifest.runs().values():
        options = validated(Options, _options(arm, folder), where="options")
        reading = Reading(options, keep_going=arm.keep_going)
        paths = [folder / Path(source).expanduser() for source in arm.sources]
        plain = "records" if arm.records is not None else None
        found = read_records(
            paths, adapter=arm.adapter or plain, taxonomy=taxonomy, reading=reading
        )
        records.append(list(found))
        _refuse_other_count(arm, len(records[-1]))
        losses.append(Loss(refused=len(reading.refused), missing=reading.missing))
    return Runs(manifest, records, losses)


def write_runs(runs: Runs, path: Path) -> None:
    """Write the records of every run as JSON lines, so that a later step need not read the logs."""
    with atomic_write(path) as stream:
        for number, (records, loss) in enumerate(zip(runs.records, runs.losses, strict=True)):
            stream.write(f'{{"run":{number},"loss":{loss.model_dump_json()}}}\n'.encode())
            for record in records:
                line = f'{{"run":{number},"record":{record.model_dump_json()}}}\n'
                stream.write(line.encode())


def load_runs(manifest: CycleManifest, path: Path) -> Runs:
    """Return the runs that `write_runs` wrote."""
    records: list[list[EvaluationRecord]] = [[] for _ in manifest.runs()]
    losses = []
    for _, line in read_jsonl(path):
        if "loss" in line:
            losses.append(Loss.model_validate(line["loss"]))
            continue
        # Python's strictness allows no list for a tuple; JSON's does.
        text = json.dumps(line["record"])
        records[line["run"]].append(EvaluationRecord.model_validate_json(text))
    return Runs(manifest, records, losses)


def _options(arm: Arm, folder: Path) -> dict[str, Any]:
    """Return the adapter's options, files among them from the manifest's folder."""
    files = {name: str(folder / str(arm.options[name])) for name in _FILES if name in arm.options}
    return {**arm.options, **files}


def _refuse_other_count(arm: Arm, found: int) -> None:
    if arm.count is not None and arm.count != found:
        raise EvaluationError(
            f"{arm.name} has {found} records, the manifest says {arm.count}.",
            where=_where(arm),
            fix="see whether the run ended, or correct `count`.",
        )


def _portable(source: str) -> str:
    path = Path(source)
    return path.name if path.expanduser().is_absolute() else path.as_posix()


def _where(arm: Arm) -> str:
    return ", ".join(arm.sources)


def _expecting(record: EvaluationRecord, expected: Mapping[str, float] | None) -> EvaluationRecord:
    if expected is None or record.task_id not in expected:
        return record
    return record.model_copy(update={"expected_success_rate": expected[record.task_id]})


def _digest(records: Iterable[EvaluationRecord]) -> str:
    running = hashlib.sha256()
    for record in records:
        running.update(record.model_dump_json().encode() + b"\n")
    return running.hexdigest()
