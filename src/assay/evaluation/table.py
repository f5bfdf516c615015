"""Attempts as columns: what a million records take, and what every aggregate is computed from."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.policy import Policy
from assay.evaluation.record import EvaluationRecord

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Codes = NDArray[np.int32]
Bits = NDArray[np.bool_]

#: Where a record does not say: of a code, and of a verdict.
UNKNOWN = -1
#: Columns of codes, each with its names: no two strings are kept twice.
_NAMED = ("task", "area", "tags", "code", "variant", "version", "runner")
_MEASURED = ("score", "expected", "latency", "cost", "input", "cached", "output", "total")
_FIELDS = {
    "expected": "expected_success_rate",
    "latency": "latency_ms",
    "cost": "cost_usd",
    "input": "input_tokens",
    "cached": "cached_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
}


@dataclass(frozen=True)
class Table:
    """Attempts in the order of their records.

    Attributes
    ----------
    names : dict
        Column of codes → what each code stands for; of ``tags``, a tuple of tags.
    codes : dict
        ``task``, ``area``, ``tags``, ``code``, ``variant``, ``version`` and ``runner`` → ndarray
        of int32, shape (attempt,); -1 where the record says nothing.
    measured : dict
        ``score``, ``expected``, ``latency``, ``cost``, ``input``, ``cached``, ``output`` and
        ``total`` → ndarray of float, shape (attempt,); NaN is unknown.
    attempt : ndarray of int32, shape (attempt,)
    verdict, unsafe : ndarray of int8, shape (attempt,)
        1, 0, or -1 where there is no verdict, or safety was not evaluated.
    infrastructure : ndarray of bool, shape (attempt,)
    fingerprint : ndarray of uint64, shape (attempt,)
        Of what the record states about the attempt; odd where time, cost or tokens were measured.
    """

    names: Mapping[str, list[str]]
    tag_names: list[tuple[str, ...]]
    codes: Mapping[str, Codes]
    measured: Mapping[str, Floats]
    attempt: Codes
    verdict: NDArray[np.int8]
    unsafe: NDArray[np.int8]
    infrastructure: Bits
    fingerprint: NDArray[np.uint64]

    def __len__(self) -> int:
        return int(self.verdict.size)

    @classmethod
    def of(cls, records: Iterable[EvaluationRecord]) -> Table:
        """Collect records, which may be a generator: none is kept."""
        builder = _Builder()
        for record in records:
            builder.add(record)
        return builder.table()

    def take(self, rows: Bits | Ints) -> Table:
        """Return some of the attempts; the codes keep their meaning."""
        return replace(
            self,
            codes={name: codes[rows] for name, codes in self.codes.items()},
            measured={name: values[rows] for name, values in self.measured.items()},
            attempt=self.attempt[rows],
            verdict=self.verdict[rows],
            unsafe=self.unsafe[rows],
            infrastructure=self.infrastructure[rows],
            fingerprint=self.fingerprint[rows],
        )

    def under(self, policy: Policy) -> Table:
        """Return the attempts as a policy reads what is unknown.

        Both read an unknown expectation as the policy's. Point rules read an unknown verdict as
        a failure and unknown tokens as 0; tests add input and output where the total is unknown.
        """
        expected, total = self.measured["expected"], self.measured["total"]
        parts = [self.measured["input"], self.measured["output"]]
        if policy.points:
            parts = [np.nan_to_num(part, nan=0.0) for part in parts]
        total = np.where(np.isnan(total), parts[0] + parts[1], total)
        expected = np.where(np.isnan(expected), policy.expected_success_rate, expected)
        verdict = np.maximum(self.verdict, 0) if policy.points else self.verdict
        return replace(
            self, verdict=verdict, measured={**self.measured, "expected": expected, "total": total}
        )

    @property
    def quality(self) -> Bits:
        """The attempts that say something about the model."""
        return ~self.infrastructure

    @property
    def sample(self) -> tuple[str, ...]:
        """The 64 smallest fingerprints: the same sample of the same attempts in any order."""
        least = np.sort(np.unique(self.fingerprint))[:64]
        return tuple(f"{value:016x}" for value in least.tolist())

    def stated(self, column: str) -> tuple[str, ...]:
        """Return the names that occur in a column of codes, sorted."""
        codes = np.unique(self.codes[column])
        return tuple(sorted(self.names[column][code] for code in codes[codes >= 0]))


class _Builder:
    def __init__(self) -> None:
        self._numbers: dict[str, dict[object, int]] = {name: {} for name in _NAMED}
        self._codes = {name: array("i") for name in _NAMED}
        self._measured = {name: array("d") for name in _MEASURED}
        self._attempt, self._verdict = array("i"), array("b")
        self._unsafe, self._infrastructure = array("b"), array("b")
        self._fingerprint = array("Q")

    def add(self, record: EvaluationRecord) -> None:
        values = (
            record.task_id,
            record.task_area,
            record.capability_tags,
            record.failure_code,
            record.variant,
            record.task_version,
            record.runner_version,
        )
        for name, value in zip(_NAMED, values, strict=True):
            numbers = self._numbers[name]
            known = UNKNOWN if value is None else numbers.setdefault(value, len(numbers))
            self._codes[name].append(known)
        for name, column in self._measured.items():
            measure = getattr(record, _FIELDS.get(name, name))
            column.append(np.nan if measure is None else measure)
        unsafe = record.safety_violation if record.safety_evaluated else None
        self._attempt.append(record.attempt)
        self._verdict.append(_bit(record.success))
        self._unsafe.append(_bit(unsafe))
        self._infrastructure.append(record.infrastructure)
        self._fingerprint.append(_fingerprint(record))

    def table(self) -> Table:
        numbers = self._numbers
        return Table(
            names={name: [str(n) for n in numbers[name]] for name in _NAMED if name != "tags"},
            tag_names=[tags for tags in numbers["tags"] if isinstance(tags, tuple)],
            codes={name: np.frombuffer(column, np.int32) for name, column in self._codes.items()},
            measured={name: np.frombuffer(col, np.float64) for name, col in self._measured.items()},
            attempt=np.frombuffer(self._attempt, np.int32),
            verdict=np.frombuffer(self._verdict, np.int8),
            unsafe=np.frombuffer(self._unsafe, np.int8),
            infrastructure=np.frombuffer(self._infrastructure, np.bool_),
            fingerprint=np.frombuffer(self._fingerprint, np.uint64),
        )


def _bit(value: bool | None) -> int:
    return UNKNOWN if value is None else int(value)


def _fingerprint(record: EvaluationRecord) -> int:
    stated = (
        record.task_id,
        record.trial_id,
        record.attempt,
        record.success,
        record.score,
        record.failure_code,
        record.latency_ms,
        record.cost_usd,
        record.total_tokens,
        record.output_tokens,
    )
    digest = hashlib.blake2b(repr(stated).encode(), digest_size=8).digest()
    measured = any(value is not None for value in stated[-4:])
    return int.from_bytes(digest, "big") & ~1 | measured


def same_attempts(first: Iterable[str], second: Iterable[str]) -> bool:
    """Return whether two samples (`Table.sample`) show that attempts are shared.

    Measured attempts are recognised one by one. Of the others, a task, an attempt and a verdict
    also agree in a run that was made again, so that only the whole sample tells.
    """
    left, right = set(first), set(second)
    return bool(left) and (left == right or any(int(mark, 16) & 1 for mark in left & right))
