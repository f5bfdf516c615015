"""The arms of a cycle: records of runs, or of the parts of them that filters choose."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from assay.core.errors import EvaluationError
from assay.core.identity import canonical_json
from assay.evaluation.adapters import read_records
from assay.evaluation.manifest import Arm, CycleManifest, Filters
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.results import Result
from assay.evaluation.taxonomy import load_taxonomy


class Input(Result):
    """What was read for one arm.

    Attributes
    ----------
    arm : str
        ``baseline``, ``confirmation``, ``experiments.0``, …
    sources : tuple of str
        As the manifest names them.
    sha256 : str
        Of the arm's records as canonical JSON lines, in their order.
    """

    arm: str
    name: str
    sources: tuple[str, ...]
    records: int
    sha256: str


def read_arms(
    manifest: CycleManifest, folder: Path
) -> tuple[tuple[Input, ...], dict[str, list[EvaluationRecord]]]:
    """Read every arm of a manifest; return what was read, and key → records.

    Parameters
    ----------
    folder : Path
        What the manifest's paths are relative to.

    Raises
    ------
    EvaluationError
        If a run has no record, not as many as the manifest says, or none that the filters choose.
    """
    runs = _Runs(manifest, folder)
    expected = _expectations(manifest, runs)
    inputs, arms = [], {}
    for key, arm, filters in manifest.arms():
        chosen = select(runs.of(arm), filters, name=arm.name, where=_where(arm))
        arms[key] = [_expecting(record, expected) for record in chosen]
        inputs.append(_input(key, arm, arms[key]))
    return tuple(inputs), arms


def read_variants(manifest: CycleManifest, folder: Path) -> list[EvaluationRecord]:
    """Return the baseline's records that its filters choose, each with its own variant."""
    arm = manifest.baseline
    found = [r for r in _Runs(manifest, folder).of(arm) if _belongs(r, arm.filters)]
    if not found:
        raise _nothing(set(), name=arm.name, where=_where(arm))
    return found


class _Runs:
    """Runs by their sources: several arms may be parts of one run, which is read once."""

    def __init__(self, manifest: CycleManifest, folder: Path):
        self._folder = folder
        self._read: dict[str, list[EvaluationRecord]] = {}
        self._taxonomy = (
            None if manifest.taxonomy is None else load_taxonomy(self._place(manifest.taxonomy))
        )

    def of(self, arm: Arm) -> list[EvaluationRecord]:
        key = canonical_json([arm.sources, arm.adapter, arm.options])
        if key not in self._read:
            self._read[key] = list(self._records(arm))
        found = self._read[key]
        if arm.count is not None and arm.count != len(found):
            raise EvaluationError(
                f"{arm.name} has {len(found)} records, the manifest says {arm.count}.",
                where=_where(arm),
                fix="see whether the run ended, or correct `count`.",
            )
        return found

    def _records(self, arm: Arm) -> Iterator[EvaluationRecord]:
        adapter = "records" if arm.records is not None and arm.adapter is None else arm.adapter
        for source in arm.sources:
            place = self._place(source)
            for record in read_records(place, adapter=adapter, options=arm.options):
                yield record if self._taxonomy is None else self._taxonomy.label(record)

    def _place(self, path: str) -> Path:
        return self._folder / Path(path).expanduser()


def _where(arm: Arm) -> str:
    return ", ".join(arm.sources)


def _expectations(manifest: CycleManifest, runs: _Runs) -> Mapping[str, float] | None:
    """Return task → success in the part of the baseline that says what is expected, or None."""
    if manifest.expected_from is None:
        return None
    arm = manifest.baseline
    filters = (arm.filters, manifest.expected_from)
    outcomes: dict[str, list[bool]] = {}
    for record in select(runs.of(arm), filters, name=arm.name, where="expectedFrom"):
        if record.success is not None and not record.infrastructure:
            outcomes.setdefault(record.task_id, []).append(record.success)
    return {task: sum(seen) / len(seen) for task, seen in outcomes.items()}


def _expecting(record: EvaluationRecord, expected: Mapping[str, float] | None) -> EvaluationRecord:
    if expected is None or record.task_id not in expected:
        return record
    return record.model_copy(update={"expected_success_rate": expected[record.task_id]})


def _input(key: str, arm: Arm, records: Sequence[EvaluationRecord]) -> Input:
    running = hashlib.sha256()
    for record in records:
        running.update(record.model_dump_json().encode() + b"\n")
    return Input(
        arm=key,
        name=arm.name,
        sources=arm.sources,
        records=len(records),
        sha256=running.hexdigest(),
    )


def select(
    records: Iterable[EvaluationRecord], filters: Sequence[Filters], *, name: str, where: str
) -> Iterator[EvaluationRecord]:
    """Yield the records that all `filters` choose, as the arm `name`, in their order.

    Where one says that it is an attempt that was there already (several jobs or variants make up
    the arm), it counts as the next attempt at its task.

    Raises
    ------
    EvaluationError
        At the end, if none was chosen; the variants at hand are named.
    """
    variants: set[str] = set()
    last: dict[str, int] = {}
    seen: set[tuple[str, int]] = set()
    most = min((one.attempts for one in filters if one.attempts is not None), default=math.inf)
    for record in records:
        variants.add(record.variant)
        if not all(_belongs(record, one) for one in filters):
            continue
        task, attempt = record.task_id, record.attempt
        if (task, attempt) in seen:
            attempt = last[task] + 1
        seen.add((task, attempt))
        last[task] = max(attempt, last.get(task, 0))
        if attempt <= most:
            yield record.model_copy(update={"variant": name, "attempt": attempt})
    if not seen:
        raise _nothing(variants, name=name, where=where)


def _nothing(variants: set[str], *, name: str, where: str, most: int = 12) -> EvaluationError:
    if not variants:
        return EvaluationError(
            f"{name} has no record.", where=where, fix="see whether the run ended, and where."
        )
    names = sorted(variants)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return EvaluationError(
        f"no record of {name} is left by its filters.",
        where=where,
        fix=f"variants at hand: {', '.join(names[:most])}{more}.",
    )


def _belongs(record: EvaluationRecord, filters: Filters) -> bool:
    return (
        _matches((record.variant,), filters.variants)
        and _matches((record.task_id,), filters.tasks)
        and _matches((record.task_area,), filters.areas)
        and _matches(record.capability_tags, filters.tags)
    )


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    if not patterns:
        return True
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
