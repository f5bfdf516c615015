"""OpenAI evals: one JSONL log of events, several of which may concern a sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import (
    count,
    first_object,
    lines,
    mapping,
    number,
    parse_object,
)
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord

_METRICS = ("accuracy", "score", "choice_score")


class OpenAIEvals:
    """The verdict is the last ``match`` of a sample, or a number among its ``metrics``."""

    name: ClassVar[str] = "openai-evals"

    def sniff(self, path: Path) -> bool:
        """Return whether the first line is the specification of a run."""
        first = first_object(path) if path.is_file() else {}
        return "run_id" in mapping(first.get("spec"))

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield one record a sample, in the order of their first events."""
        reading.files += 1
        samples: dict[str, _Sample] = {}
        name = path.stem
        for where, text in lines(path, reading.inputs):
            with reading.part():
                event = parse_object(text, where)
                name = str(mapping(event.get("spec")).get("base_eval") or name)
                if event.get("sample_id") is not None:
                    key = str(event["sample_id"])
                    samples.setdefault(key, _Sample(key, where)).add(event, where)
        for sample in samples.values():
            with reading.part():
                yield sample.record(name, path.name, reading)


class _Sample:
    def __init__(self, key: str, where: str):
        self._key, self._where = key, where
        self._score: float | None = None
        self._metrics: dict[str, float] = {}
        self._error: Mapping[str, Any] | None = None
        self._tokens: dict[str, int] = {}

    def add(self, event: Mapping[str, Any], where: str) -> None:
        data = mapping(event.get("data"))
        match event.get("type"):
            case "match":
                if not isinstance(data.get("correct"), bool):
                    raise EvaluationError("`correct` is no truth value.", where=where)
                self._score = float(data["correct"])
            case "metrics":
                found = {name: number(value) for name, value in data.items()}
                self._metrics |= {name: v for name, v in found.items() if v is not None}
            case "error":
                self._error = data
            case "sampling":
                for name, value in mapping(data.get("usage")).items():
                    self._tokens[name] = self._tokens.get(name, 0) + (count(value) or 0)

    def record(self, name: str, label: str, reading: Reading) -> EvaluationRecord:
        score = self._verdict(reading)
        error = None
        if self._error is not None and score is None:
            error = str(self._error.get("type") or "unknown")
        message = str((self._error or {}).get("message") or "")
        return reading.record(
            self._where,
            task_id=reading.task(self._key, {}, self._where),
            task_area=name,
            capability_tags=(name,),
            score=score,
            input_tokens=self._tokens.get("prompt_tokens"),
            output_tokens=self._tokens.get("completion_tokens"),
            total_tokens=self._tokens.get("total_tokens"),
            result_path=label,
            **reading.failure(
                Facts(
                    exception=error,
                    message=message,
                    judged=score is not None,
                    passed=reading.passed(score),
                )
            ),
        )

    def _verdict(self, reading: Reading) -> float | None:
        if (chosen := reading.options.metric) is not None:
            return self._metrics.get(chosen)
        known = [self._metrics[name] for name in _METRICS if name in self._metrics]
        return self._score if self._score is not None or not known else known[0]
