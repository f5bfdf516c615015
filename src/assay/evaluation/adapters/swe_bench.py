"""SWE-bench: the report of a run, or `report.json` of single instances.

A report says by its keys what it knows, not by its version: those of 4.1 and 5.0 both say 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import head, mapping, parse_object, read
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord

_LISTS = {
    "resolved": "resolved_ids",
    "unresolved": "unresolved_ids",
    "empty": "empty_patch_ids",
    "error": "error_ids",
    "incomplete": "incomplete_ids",
    "infra": "infra_failure_ids",
}


class SweBench:
    """Instances whose surroundings failed, and those that never ended, have no verdict."""

    name: ClassVar[str] = "swe-bench"

    def sniff(self, path: Path) -> bool:
        """Return whether the file is a report of a run or of an instance."""
        place = next(_files(path), None)
        start = b"" if place is None else head(place)
        return b'"resolved_ids"' in start or b'"patch_successfully_applied"' in start

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield one record an instance, by its id."""
        for place in _files(path):
            reading.files += 1
            label = place.relative_to(path).as_posix() if path.is_dir() else place.name
            with reading.part():
                report = parse_object(read(place), str(place))
                for instance, how in sorted(_outcomes(report, place).items()):
                    yield _record(instance, how, label, place, reading)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(path.rglob("report.json"))
    elif path.suffix == ".json":
        yield path


def _outcomes(report: Mapping[str, Any], place: Path) -> dict[str, str]:
    """Return instance → what became of it."""
    if "resolved_ids" not in report:
        return {key: _of_instance(mapping(value), place) for key, value in report.items()}
    found: dict[str, str] = {}
    for how, name in _LISTS.items():
        listed = report.get(name, [])
        if not isinstance(listed, list) or not all(isinstance(key, str) for key in listed):
            raise EvaluationError(f"`{name}` is no list of instances.", where=place)
        found |= dict.fromkeys(listed, how)
    return found


def _of_instance(facts: Mapping[str, Any], place: Path) -> str:
    if not isinstance(facts.get("resolved"), bool):
        raise EvaluationError("`resolved` is no truth value.", where=place)
    if facts.get("infra_failure"):
        return "infra"
    if facts["resolved"]:
        return "resolved"
    return "empty" if facts.get("patch_is_None") else "unresolved"


def _record(instance: str, how: str, label: str, place: Path, reading: Reading) -> EvaluationRecord:
    exception = "SandboxBuildFailedError" if how == "infra" else None
    # An error that is not listed as one of the surroundings is often a patch that does not apply;
    # the benchmark itself counts it as not resolved.
    judged = how in ("resolved", "unresolved", "empty", "error")
    passed = how == "resolved" if judged else None
    area = instance.split("__", 1)[0] or "unclassified"
    return reading.record(
        f"{place}: {instance}",
        task_id=reading.task(instance, {}, str(place)),
        task_area=area,
        capability_tags=(area,),
        score=None if passed is None else float(passed),
        result_path=label,
        **reading.failure(Facts(exception=exception, judged=judged, passed=passed)),
    )
