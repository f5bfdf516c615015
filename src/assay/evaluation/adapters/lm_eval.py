"""lm-evaluation-harness: `samples_*.jsonl`, one line for each document AND filter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import LOOKED_AT, first_object, lines, parse_object
from assay.evaluation.adapters.files import score as as_score
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord

_NAME = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}T[0-9-]+(?:\.\d+)?)?\.jsonl")
#: Verdicts, the most usual first; a likelihood's is read before its normalised form.
_METRICS = ("exact_match", "acc", "acc_norm", "pass@1", "em", "prompt_level_strict_acc")


class LmEval:
    """Samples of one task a file; a folder's files are read one after the other."""

    name: ClassVar[str] = "lm-eval"

    def sniff(self, path: Path) -> bool:
        """Return whether one of the first samples files has documents with hashes and responses."""
        firsts = map(first_object, islice(_files(path), LOOKED_AT))
        return any({"doc_id", "resps"} <= set(first) for first in firsts)

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield one record a document, of the chosen filter and metric."""
        attempts: Counter[str] = Counter()
        for place in _files(path):
            reading.files += 1
            with reading.part():
                yield from _Samples(place, path, reading, attempts).records()


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(path.rglob("samples_*.jsonl"))
    elif path.suffix == ".jsonl":
        yield path


class _Samples:
    def __init__(self, place: Path, root: Path, reading: Reading, attempts: Counter[str]):
        self._place, self._reading = place, reading
        match = _NAME.fullmatch(place.name)
        self._task = match["task"] if match else place.stem
        self._path = place.relative_to(root).as_posix() if root.is_dir() else place.name
        self._filter, self._metric = reading.options.filter, reading.options.metric
        self._documents: dict[str, str] = {}
        self._attempts = attempts

    def records(self) -> Iterator[EvaluationRecord]:
        for where, text in lines(self._place, self._reading.inputs):
            with self._reading.part():
                sample = parse_object(text, where)
                if (chosen := self._chosen(sample, where)) is not None:
                    yield chosen

    def _chosen(self, sample: Mapping[str, Any], where: str) -> EvaluationRecord | None:
        """Return the record of a line, None where it is of another filter."""
        kind = sample.get("filter", "none")
        if self._filter is None:
            self._filter = str(kind)
        if kind != self._filter and self._reading.options.filter is None:
            raise EvaluationError(
                f"the file has the filters {self._filter} and {kind}.",
                where=where,
                fix="choose one as `filter`.",
            )
        if kind != self._filter:
            return None
        key = str(sample.get("doc_hash") or sample.get("doc_id"))
        native = sample.get("doc_id")
        if native is None:
            raise EvaluationError("there is no doc_id.", where=where)
        score = self._score(sample, where)
        # The same text may be asked twice in a task: the document's number tells them apart. The
        # same document once more is another attempt: samples are appended to a file that is there.
        twin = self._documents.setdefault(key, str(native)) != str(native)
        name = f"{self._task}/{native if twin else key[:16]}"
        self._attempts[name] += 1
        return self._reading.record(
            where,
            task_id=self._reading.task(name, sample, where),
            attempt=self._attempts[name],
            trial_id=f"{self._task}/{native}",
            task_area=self._task,
            capability_tags=(self._task,),
            score=score,
            task_version=_version(sample),
            result_path=self._path,
            **self._reading.failure(
                Facts(judged=score is not None, passed=self._reading.passed(score))
            ),
        )

    def _score(self, sample: Mapping[str, Any], where: str) -> float | None:
        listed = sample.get("metrics")
        metrics = [str(m) for m in listed] if isinstance(listed, list) else []
        metrics = metrics or [name for name in _METRICS if name in sample]
        if self._metric is None:
            known = [name for name in _METRICS if name in metrics]
            self._metric = next(iter([*known, *metrics]), None)
        if self._metric is None or self._metric not in sample:
            raise EvaluationError(
                f"there is no metric {self._metric or ''}".rstrip() + ".",
                where=where,
                fix=f"choose of {', '.join(metrics) or 'none: the line has none'}.",
            )
        return as_score(sample[self._metric], self._metric, where)


def _version(sample: Mapping[str, Any]) -> str | None:
    """Return what the document is: its own hash and its target's; the prompt may be changed."""
    parts = [sample.get(name) for name in ("doc_hash", "target_hash")]
    return "-".join(str(part)[:16] for part in parts) if all(parts) else None
