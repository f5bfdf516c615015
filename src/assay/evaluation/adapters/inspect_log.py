"""inspect_ai logs: `.eval` (a zip archive, a member a sample) and `.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.archive import member, opened
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import (
    LOOKED_AT,
    count,
    head,
    listed,
    mapping,
    number,
    parse_object,
    read,
    score,
)
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord, Trace

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: Reasons of a score that are the grader's: it says nothing about the model.
_GRADER = {"grader_failed", "scoring_failed"}
#: Reasons for which a score is missing that are the model's own.
_MODEL = {"no_response", "invalid_response_format", "refusal"}
#: Limits are budgets of the agent, whatever they count; a person at the console is none → the
#: exception in the terms of the table of failures.
_LIMITS = {
    "context": "ContextWindowExceededError",
    "token": "OutputTokenExceededError",
    "cost": "OutputTokenExceededError",
    "time": "AgentTimeoutError",
    "working": "AgentTimeoutError",
    "message": "AgentTimeoutError",
    "turn": "AgentTimeoutError",
    "custom": "AgentTimeoutError",
    "operator": "CancelledError",
}


class InspectLog:
    """One log; input tokens are counted with those from a cache, which inspect leaves out."""

    name: ClassVar[str] = "inspect"

    def sniff(self, path: Path) -> bool:
        """Return whether one of the first files is a log of inspect_ai."""
        return any(map(_is_log, islice(_files(path), LOOKED_AT)))

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield one record for each sample and epoch."""
        for place in _files(path):
            reading.files += 1
            label = place.relative_to(path).as_posix() if path.is_dir() else place.name
            read_log = _archive if place.suffix == ".eval" else _json
            with reading.part():
                yield from read_log(place, label, reading)


def _is_log(place: Path) -> bool:
    start = head(place)
    return start.startswith(b"PK") or (b'"eval"' in start and b'"status"' in start)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        logs = sorted(path.rglob("*.eval"))
        yield from logs or sorted(path.glob("*.json"))
    elif path.suffix in (".eval", ".json"):
        yield path


def _archive(place: Path, label: str, reading: Reading) -> Iterator[EvaluationRecord]:
    reading.inputs.add(place)
    with opened(place) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        header = infos.get("header.json") or infos.get("_journal/start.json")
        if header is None:
            raise EvaluationError("there is no header.json: this is no log.", where=place)
        log = _Log(parse_object(member(archive, header, f"{place}!header"), str(place)), label)
        log.check(place)
        for name in sorted(n for n in infos if n.startswith("samples/") and n.endswith(".json")):
            where = f"{place}!{name}"
            with reading.part():
                yield log.record(
                    parse_object(member(archive, infos[name], where), where), where, reading
                )
        reading.missing += log.missing(sum(name.startswith("samples/") for name in infos))


def _json(place: Path, label: str, reading: Reading) -> Iterator[EvaluationRecord]:
    facts = parse_object(read(place, reading.inputs), str(place))
    log = _Log(facts, label)
    log.check(place)
    samples = listed(facts.get("samples"), "samples", str(place))
    for k, sample in enumerate(samples):
        where = f"{place}: samples[{k}]"
        with reading.part():
            yield log.record(mapping(sample), where, reading)
    reading.missing += log.missing(len(samples))


class _Log:
    def __init__(self, facts: Mapping[str, Any], label: str):
        self._facts, self._label = facts, label
        self._eval = mapping(facts.get("eval"))
        self._task = str(self._eval.get("task") or "unknown")
        version = mapping(self._eval.get("packages")).get("inspect_ai")
        self._version = None if version is None else str(version)

    def check(self, place: Path) -> None:
        if not self._eval:
            raise EvaluationError("there is no `eval`: this is no log of inspect.", where=place)

    def missing(self, found: int) -> int:
        """Return how many samples the log says it has, and has not."""
        total = count(mapping(self._facts.get("results")).get("total_samples"))
        epochs = count(mapping(self._eval.get("config")).get("epochs")) or 1
        planned = count(mapping(self._eval.get("dataset")).get("samples"))
        limited = mapping(self._eval.get("config")).get("limit") is not None
        whole = total if total is not None else (0 if limited else (planned or 0) * epochs)
        return max(0, whole - found)

    def record(self, sample: Mapping[str, Any], where: str, reading: Reading) -> EvaluationRecord:
        if "id" not in sample:
            raise EvaluationError("this sample has no id.", where=where)
        given = self._score(sample, where, reading)
        reason = _reason(given)
        value = None if reason in _GRADER else _value(given.get("value"), where)
        if value is None and reason in _MODEL:
            value = 0.0
        trace = _trace(sample, where)
        failure = reading.failure(
            Facts(
                **_exception(sample, reason, value),
                phase="agent_execution" if sample.get("error") else "unknown",
                judged=value is not None,
                passed=reading.passed(value),
                trace=trace,
            )
        )
        seconds = number(sample.get("working_time"))
        seconds = number(sample.get("total_time")) if seconds is None else seconds
        subject = mapping(sample.get("metadata")).get("subject")
        return reading.record(
            where,
            task_id=reading.task(f"{self._task}/{sample['id']}", sample, where),
            trial_id=sample.get("uuid"),
            attempt=count(sample.get("epoch")) or 1,
            task_area=self._task,
            capability_tags=(subject,) if isinstance(subject, str) and subject else (self._task,),
            score=value,
            latency_ms=None if seconds is None else seconds * 1000,
            trace=trace,
            result_path=self._label,
            task_version=str(self._eval["task_version"]) if "task_version" in self._eval else None,
            runner_version=self._version,
            **_usage(sample),
            **failure,
        )

    def _score(self, sample: Mapping[str, Any], where: str, reading: Reading) -> Mapping[str, Any]:
        scores = mapping(sample.get("scores"))
        chosen = reading.options.metric
        if chosen is None and len(scores) > 1:
            raise EvaluationError(
                f"there are the scorers {', '.join(scores)}.",
                where=where,
                fix="choose one as `metric`.",
            )
        name = chosen or next(iter(scores), None)
        if name is None or (not scores and sample.get("error")):
            return {}
        if name not in scores:
            raise EvaluationError(
                f"there is no score {name!r}.",
                where=where,
                fix=f"choose of {', '.join(scores) or 'none: the sample was not scored'}.",
            )
        return mapping(scores[name])


def _value(value: Any, where: str) -> float | None:
    """Return a score as a number; NaN is none."""
    if isinstance(value, str):
        text = value.strip()
        found = _LETTERS.get(text, _WORDS.get(text.lower()))
        if found is not None:
            return found
        try:
            value = float(text)
        except ValueError as error:
            raise EvaluationError(f"the score {value!r} is no verdict.", where=where) from error
    if isinstance(value, dict | list):
        raise EvaluationError("the score has several values.", where=where)
    return score(value, "the score", where)


def _reason(given: Mapping[str, Any]) -> str | None:
    """Return why a score is abnormal; logs before 0.3.245 say it among the metadata."""
    reason = given.get("reason") or mapping(given.get("metadata")).get("unscored_reason")
    return reason if isinstance(reason, str) else None


def _exception(
    sample: Mapping[str, Any], reason: str | None, value: float | None
) -> dict[str, Any]:
    error, limit = mapping(sample.get("error")), mapping(sample.get("limit")).get("type")
    if error:
        message = str(error.get("message") or "")
        return {"exception": message.split("(", 1)[0] or "unknown", "message": message}
    if reason in _GRADER:
        return {"exception": "VerifierOutputParseError"}
    if str(limit) in _LIMITS and not value:
        return {"exception": _LIMITS[str(limit)]}
    return {"exception": "AgentSafetyRefusalError"} if reason == "refusal" else {}


def _usage(sample: Mapping[str, Any]) -> dict[str, Any]:
    usages = [mapping(usage) for usage in mapping(sample.get("model_usage")).values()]
    if not usages:
        return {}

    def total(name: str) -> int | None:
        known = [found for usage in usages if (found := count(usage.get(name))) is not None]
        return sum(known) if known else None

    cached, written = total("input_tokens_cache_read"), total("input_tokens_cache_write")
    fresh, made = total("input_tokens"), total("output_tokens")
    whole = None if fresh is None else fresh + (cached or 0) + (written or 0)
    costs = [cost for usage in usages if (cost := number(usage.get("total_cost"))) is not None]
    return {
        "input_tokens": whole,
        "cached_tokens": cached,
        "output_tokens": made,
        "total_tokens": None if whole is None or made is None else whole + made,
        "cost_usd": sum(costs) if costs else None,
    }


def _trace(sample: Mapping[str, Any], where: str) -> Trace | None:
    events = [mapping(event) for event in listed(sample.get("events"), "events", where)]
    if not events:
        return None
    tools = [event for event in events if event.get("event") == "tool"]
    return Trace(
        turns=sum(event.get("event") == "model" for event in events),
        tool_calls=len(tools),
        tool_errors=sum(bool(event.get("error") or event.get("failed")) for event in tools),
    )
