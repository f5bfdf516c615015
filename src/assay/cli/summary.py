"""What `make run` ends with: the main sentences, what it took, and where the report is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from assay.config import Study
from assay.core.files import read_json

_WIDTH = 98


def summary_lines(study: Study) -> Iterator[str]:
    """Yield the lines of a study's summary.

    Raises
    ------
    AssayError
        If the study has not been analysed yet (names the missing file).
    """
    numbers = read_json(study.folder / "leaderboard.json")
    manifests = [read_json(plan.folder / "manifest.json") for plan in study.present]
    yield ""
    yield (
        f"{study.config.study}: {_count(len(study.models), 'model')} × "
        f"{_count(len(study.benchmarks), 'benchmark')} × "
        f"{_count(len(list(study.grid.configurations())), 'configuration')}"
    )
    for sentence in numbers["sentences"][:3]:
        yield ""
        yield from textwrap.wrap(
            sentence["text"], _WIDTH, initial_indent="  ", subsequent_indent="  "
        )
    yield ""
    for model in study.models:
        own = [value for value in manifests if value["model"] == model.key]
        if own:
            yield f"  {model.key}: {_effort(own)}"
    yield ""
    yield f"Report: {study.folder / 'report' / 'index.html'}"
    if study.cycles:
        yield f"Evaluation: {study.folder / 'report' / 'evaluation.html'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _effort(manifests: list[dict[str, Any]]) -> str:
    """Say what a model's jobs took, and what sharing prefixes saved."""
    observations = sum(
        count for value in manifests for one in value["statuses"].values() for count in one.values()
    )
    tokens = [value["provenance"]["tokens"] for value in manifests]
    naive = sum(one["naive"] for one in tokens)
    planned = sum(one["planned"] for one in tokens)
    floor = sum(one["floor"] for one in tokens)
    text = (
        f"{observations:,} observations; {planned:,} prompt tokens planned of {naive:,} "
        f"({100 * planned / naive:.0f} %), {planned / floor:.2f} x the floor of {floor:,}"
    )
    runs = [run for value in manifests for run in (value["run"], *value["run"]["earlier"])]
    seconds = sum(run["seconds"].get("forward", 0.0) for run in runs)
    if not seconds:
        return text
    forwarded = sum(run["backend"].get("forwarded_tokens", 0) for run in runs)
    return (
        f"{text}; {forwarded:,} forwarded in {seconds:,.0f} s, {forwarded / seconds:,.0f} tokens/s"
    )
