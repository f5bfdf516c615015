"""HELM: `per_instance_stats.json` of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import count, listed, mapping, number, parse, read
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord

_STATS = "per_instance_stats.json"
_METRICS = ("exact_match", "quasi_exact_match", "prefix_exact_match", "pass")


class Helm:
    """Entries of perturbed instances are passed over: they are other questions."""

    name: ClassVar[str] = "helm"

    def sniff(self, path: Path) -> bool:
        """Return whether there is a `per_instance_stats.json`."""
        return next(_files(path), None) is not None

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield one record for each instance and train trial."""
        for place in _files(path):
            reading.files += 1
            label = place.relative_to(path).as_posix() if path.is_dir() else place.name
            with reading.part():
                yield from _entries(place, label, reading)


def _entries(place: Path, label: str, reading: Reading) -> Iterator[EvaluationRecord]:
    entries = parse(read(place, reading.inputs), str(place))
    if not isinstance(entries, list):
        raise EvaluationError("this is no list of instances.", where=place)
    for k, entry in enumerate(entries):
        with reading.part():
            if not mapping(entry).get("perturbation"):
                yield _record(mapping(entry), place.parent.name, label, f"{place}: [{k}]", reading)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(path.rglob(_STATS))
    elif path.name == _STATS:
        yield path


def _record(
    entry: Mapping[str, Any], run: str, label: str, where: str, reading: Reading
) -> EvaluationRecord:
    if "instance_id" not in entry:
        raise EvaluationError("this entry has no instance_id.", where=where)
    stats = _means(entry, where)
    metric = reading.options.metric or next((name for name in _METRICS if name in stats), None)
    if metric is None or metric not in stats:
        raise EvaluationError(
            f"there is no metric {metric or ''}".rstrip() + ".",
            where=where,
            fix=f"choose of {', '.join(sorted(stats))}.",
        )
    seconds = stats.get("inference_runtime")
    read_, made = count(stats.get("num_prompt_tokens")), count(stats.get("num_output_tokens"))
    area = run.split(":", 1)[0].split(",", 1)[0]
    # The model is what is compared: it is no part of the task's name.
    task = ",".join(part for part in run.split(",") if not part.startswith("model="))
    return reading.record(
        where,
        task_id=reading.task(f"{task}/{entry['instance_id']}", entry, where),
        attempt=(count(entry.get("train_trial_index")) or 0) + 1,
        task_area=area,
        capability_tags=(area,),
        score=stats[metric],
        latency_ms=None if seconds is None else seconds * 1000,
        input_tokens=read_,
        output_tokens=made,
        total_tokens=None if read_ is None or made is None else read_ + made,
        result_path=label,
        **reading.failure(Facts(passed=reading.passed(stats[metric]))),
    )


def _means(entry: Mapping[str, Any], where: str) -> dict[str, float]:
    """Return statistic → mean, of those that are no perturbation's."""
    means = {}
    for stat in listed(entry.get("stats"), "stats", where):
        name = mapping(mapping(stat).get("name"))
        value = number(mapping(stat).get("mean"))
        if isinstance(name.get("name"), str) and not name.get("perturbation") and value is not None:
            means[name["name"]] = value
    if not means:
        raise EvaluationError("this entry has no statistics.", where=where)
    return means
