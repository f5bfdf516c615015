"""The arms of a cycle: records of runs, or of the parts of them that filters choose.

Every run is read once, into one file of records, and streamed from there: a million attempts need
no more memory than their columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from assay.core.errors import EvaluationError
from assay.core.files import atomic_write
from assay.core.validation import validated
from assay.evaluation.adapters import Options, Reading, read_records
from assay.evaluation.manifest import Arm, CycleManifest, Filters
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.registries import project_file
from assay.evaluation.results import Result
from assay.evaluation.select import AtHand, belongs, select
from assay.evaluation.taxonomy import Taxonomy, load_taxonomy

_FACTS = b'{"facts":'


class SourceFile(Result):
    """One file that was read.

    Attributes
    ----------
    path : str
        As the manifest names the run, and below it.
    bytes : int
    sha256 : str
    """

    path: str
    bytes: int
    sha256: str


class Facts(Result):
    """What was read of one run.

    Attributes
    ----------
    records : int
    expectations : int
        Records whose task has an expected success rate of its own.
    refused, missing : int
        Parts that could not be used and were left out, and attempts that the run says it made, of
        which there is no file.
    sha256 : str
        Of the records as JSON lines, in their order.
    files : tuple of SourceFile
        Every file that was read, by path: traces, verdicts, labels and failure table among them.
    """

    records: int
    expectations: int
    refused: int
    missing: int
    sha256: str
    files: tuple[SourceFile, ...] = ()


class Input(Facts):
    """What was read for one arm, before its filters.

    Attributes
    ----------
    arm : str
        ``baseline``, ``confirmation``, ``experiments.0``, …
    sources : tuple of str
        As the manifest names them; of an absolute path the last part, which is the same anywhere.
    """

    arm: str
    name: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Runs:
    """The runs of a manifest, each read once however many arms are parts of it.

    Attributes
    ----------
    path : Path
        The file that `read_runs` wrote.
    """

    manifest: CycleManifest
    path: Path

    def arm(self, key: str) -> Iterator[EvaluationRecord]:
        """Yield the records of an arm (see `CycleManifest.arms`).

        Raises
        ------
        EvaluationError
            At the end, if the filters left none.
        """
        arm, filters = self._arms[key]
        yield from select(self._run(arm), filters, name=arm.name, where=_where(arm))

    def variants(self) -> Iterator[EvaluationRecord]:
        """Yield the baseline's records that its filters choose, each with its own variant.

        Raises
        ------
        EvaluationError
            At the end, if the filters left none.
        """
        arm, hand, found = self.manifest.baseline, AtHand(), False
        for record in self._run(arm):
            hand.see(record)
            if belongs(record, arm.filters):
                found = True
                yield record
        if not found:
            raise hand.nothing_left((arm.filters,), name=arm.name, where=_where(arm))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """What was read, arm by arm."""
        with self.path.open("rb") as stream:
            lines = [line for line in stream if line.startswith(_FACTS)]
        facts = [Facts.model_validate_json(line.removeprefix(_FACTS)[:-2]) for line in lines]
        return tuple(
            Input(
                arm=key,
                name=arm.name,
                sources=tuple(_portable(source) for source in arm.sources),
                **facts[self._number(arm)].model_dump(by_alias=False),
            )
            for key, arm, filters in self.manifest.arms()
            if len(filters) == 1
        )

    @cached_property
    def _arms(self) -> Mapping[str, tuple[Arm, tuple[Filters, ...]]]:
        return {key: (arm, filters) for key, arm, filters in self.manifest.arms()}

    def _number(self, arm: Arm) -> int:
        return list(self.manifest.runs()).index(arm.source_key)

    def _run(self, arm: Arm) -> Iterator[EvaluationRecord]:
        begins = _prefix(self._number(arm))
        with self.path.open("rb") as stream:
            for line in stream:
                if line.startswith(begins):
                    yield EvaluationRecord.model_validate_json(line.removeprefix(begins)[:-2])


def read_runs(manifest: CycleManifest, folder: Path, path: Path) -> Runs:
    """Read every run of a manifest into the file `path`, so that no step reads a log again.

    Parameters
    ----------
    folder : Path
        What the manifest's paths are relative to.

    Raises
    ------
    EvaluationError
        If a run cannot be read, or has not as many records as the manifest says.
    """
    taxonomy = None if manifest.taxonomy is None else load_taxonomy(folder / manifest.taxonomy)
    with atomic_write(path) as stream:
        for number, arm in enumerate(manifest.runs().values()):
            reading = _reading(arm, manifest, folder)
            facts = _read(arm, folder, taxonomy, reading, stream, _prefix(number))
            stream.write(_FACTS + facts.model_dump_json().encode() + b"}\n")
    return Runs(manifest, path)


def _reading(arm: Arm, manifest: CycleManifest, folder: Path) -> Reading:
    """Return a reading that has noted what is read beside the run: labels and a failure table."""
    options = validated(Options, _options(arm, folder), where="options")
    reading = Reading(options, keep_going=arm.keep_going)
    if options.failures is not None:
        reading.inputs.add(options.failures)
    if manifest.taxonomy is not None:
        reading.inputs.add(folder / manifest.taxonomy)
    return reading


def _read(
    arm: Arm,
    folder: Path,
    taxonomy: Taxonomy | None,
    reading: Reading,
    stream: IO[bytes],
    prefix: bytes,
) -> Facts:
    found = read_records(
        [folder / Path(source).expanduser() for source in arm.sources],
        adapter=arm.adapter or ("records" if arm.records is not None else None),
        taxonomy=taxonomy,
        reading=reading,
    )
    running, records, expectations = hashlib.sha256(), 0, 0
    for record in found:
        line = record.model_dump_json().encode()
        running.update(line + b"\n")
        stream.write(prefix + line + b"}\n")
        records += 1
        expectations += record.expected_success_rate is not None
    _refuse_other_count(arm, records)
    return Facts(
        records=records,
        expectations=expectations,
        refused=len(reading.refused),
        missing=reading.missing,
        sha256=running.hexdigest(),
        files=tuple(_files(arm, folder, reading)),
    )


def _files(arm: Arm, folder: Path, reading: Reading) -> Iterator[SourceFile]:
    roots = {folder / Path(source).expanduser(): _portable(source) for source in arm.sources}
    named = [(_below(roots, path), file) for path, file in reading.inputs.files.items()]
    for path, file in sorted(named, key=lambda pair: pair[0]):
        yield SourceFile(path=path, bytes=file.bytes, sha256=file.sha256)


def _below(roots: Mapping[Path, str], path: Path) -> str:
    """Return the path of a file as the manifest names its run; of any other file its name."""
    for place in (path, *path.parents):
        if place in roots:
            return (Path(roots[place]) / path.relative_to(place)).as_posix()
    return path.name


def _prefix(number: int) -> bytes:
    return f'{{"run":{number},"record":'.encode()


def _options(arm: Arm, folder: Path) -> dict[str, Any]:
    """Return the adapter's options, files among them from the manifest's folder."""
    found = dict(arm.options)
    if found.get("verdicts") is not None:
        found["verdicts"] = str(folder / str(found["verdicts"]))
    if found.get("failures") is not None:
        path = project_file("failures", str(found["failures"]), folder)
        found["failures"] = None if path is None else str(path)
    return found


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
