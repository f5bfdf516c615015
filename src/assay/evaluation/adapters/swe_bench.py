"""SWE-bench: the report of a run, or `report.json` of single instances.

A report says by its keys what it knows, not by its version: those of 4.1 and 5.0 both say 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import (
    LOOKED_AT,
    head,
    listed,
    mapping,
    parse_object,
    read,
)
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord

#: Lists of a report → the verdict that they are; those of the benchmark itself, in which an
#: instance is once.
_VERDICTS: dict[str, bool | None] = {
    "resolved_ids": True,
    "unresolved_ids": False,
    "empty_patch_ids": False,
    "error_ids": False,
    "incomplete_ids": None,
}
#: Lists → the failure that they tell, the most telling last: the last two are told beside the
#: verdict, and it stands. An error is a patch that does not apply, tests that took too long or a
#: container that failed: only the last two lists say more.
_FAILURES = {
    "empty_patch_ids": "AGENT_EXECUTION_ERROR",
    "error_ids": "AMBIGUOUS_FAILURE",
    "ambiguous_failure_ids": "AMBIGUOUS_FAILURE",
    "infra_failure_ids": "ENVIRONMENT_FAILED",
}
#: An instance's verdict and the code of its failure, if it is told.
_Outcome = tuple[bool | None, str | None]


class SweBench:
    """Verdicts as the benchmark counts them; what it says of failures beside them is kept.

    An instance without a prediction has no verdict.
    """

    name: ClassVar[str] = "swe-bench"

    def sniff(self, path: Path) -> bool:
        """Return whether one of the first files is a report of a run or of an instance."""
        starts = map(head, islice(_files(path), LOOKED_AT))
        return any(
            b'"resolved_ids"' in start or b'"patch_successfully_applied"' in start
            for start in starts
        )

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield one record an instance, by its id."""
        for place in _files(path):
            reading.files += 1
            label = place.relative_to(path).as_posix() if path.is_dir() else place.name
            with reading.part():
                report = parse_object(read(place, reading.inputs), str(place))
                for instance, outcome in sorted(_outcomes(report, place).items()):
                    yield _record(instance, outcome, label, place, reading)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(path.rglob("report.json"))
    elif path.suffix == ".json":
        yield path


def _outcomes(report: Mapping[str, Any], place: Path) -> dict[str, _Outcome]:
    if "resolved_ids" not in report:
        return {key: _of_instance(mapping(value), place) for key, value in report.items()}
    verdicts: dict[str, bool | None] = {}
    for name, verdict in _VERDICTS.items():
        for instance in _listed(report, name, place):
            if instance in verdicts:
                raise EvaluationError(f"{instance} has two outcomes.", where=place)
            verdicts[instance] = verdict
    codes = {
        instance: code
        for name, code in _FAILURES.items()
        for instance in _listed(report, name, place)
    }
    if strange := sorted(set(codes) - set(verdicts)):
        raise EvaluationError(f"{strange[0]} failed, but has no outcome.", where=place)
    return {instance: (verdict, codes.get(instance)) for instance, verdict in verdicts.items()}


def _listed(report: Mapping[str, Any], name: str, place: Path) -> list[str]:
    found = listed(report.get(name), name, str(place))
    if not all(isinstance(instance, str) for instance in found):
        raise EvaluationError(f"`{name}` is no list of instances.", where=place)
    return found


def _of_instance(facts: Mapping[str, Any], place: Path) -> _Outcome:
    resolved = facts.get("resolved")
    if not isinstance(resolved, bool):
        raise EvaluationError("`resolved` is no truth value.", where=place)
    if resolved:
        return True, None
    if facts.get("infra_failure"):
        return False, "ENVIRONMENT_FAILED"
    if facts.get("patch_is_None"):
        return False, "AGENT_EXECUTION_ERROR"
    # The report's word for tests whose output could not be read, for whatever reason.
    unread = facts.get("patch_successfully_applied") is False
    return False, "AMBIGUOUS_FAILURE" if unread else None


def _record(
    instance: str, outcome: _Outcome, label: str, place: Path, reading: Reading
) -> EvaluationRecord:
    passed, code = outcome
    judged = Facts(judged=passed is not None, passed=passed)
    area = instance.split("__", 1)[0] or "unclassified"
    return reading.record(
        f"{place}: {instance}",
        task_id=reading.task(instance, {}, str(place)),
        task_area=area,
        capability_tags=(area,),
        score=None if passed is None else float(passed),
        result_path=label,
        **(reading.failure(judged) if code is None else reading.told(code, passed)),
    )
