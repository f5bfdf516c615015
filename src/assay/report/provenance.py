"""Where everything came from: pins, digests, licences and versions out of the shard manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from assay.records.manifest import Manifest
from assay.report.inputs import ReportInputs

# Differ between the shards of one model, or say nothing about where things came from.
_PER_SHARD = frozenset({"snapshot", "thinking", "tokens"})


@dataclass(frozen=True)
class Card:
    """The facts about one model or benchmark, as (name, value) lines."""

    title: str
    facts: list[tuple[str, str]]


def flatten(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, text) for each leaf of nested mappings and lists.

    Examples
    --------
    >>> list(flatten({"source": {"files": ["a", "b"]}, "dtype": None}))
    [('source files 1', 'a'), ('source files 2', 'b')]
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flatten(inner, f"{name} {key}".strip())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, inner in enumerate(value, start=1):
            yield from flatten(inner, f"{name} {number}" if len(value) > 1 else name)
    elif value is not None and value != "":
        yield name.replace("_", " "), str(value)


def model_cards(inputs: ReportInputs) -> list[Card]:
    """Return what is known of each model that was asked."""
    cards = []
    for model in inputs.models:
        shards = [shard for (name, _), shard in inputs.shards.items() if name == model]
        if not shards:
            continue
        facts = shards[0].manifest.provenance
        own = {key: value for key, value in facts.items() if key not in _PER_SHARD}
        cards.append(Card(model, [*flatten(own.pop("model", {})), *flatten(own)]))
    return cards


def benchmark_cards(inputs: ReportInputs) -> list[Card]:
    """Return what is known of each benchmark's items."""
    cards = []
    for benchmark in inputs.benchmarks:
        manifest = _any_manifest(inputs, benchmark)
        snapshot = dict(manifest.provenance.get("snapshot", {}))
        licence = inputs.licence(benchmark) or "not stated"
        facts = {"licence": licence, "snapshot sha256": manifest.snapshot_sha256, **snapshot}
        facts["licence"] = licence
        cards.append(Card(benchmark, list(flatten(facts))))
    return cards


def _any_manifest(inputs: ReportInputs, benchmark: str) -> Manifest:
    return next(shard.manifest for (_, name), shard in inputs.shards.items() if name == benchmark)


def shard_rows(inputs: ReportInputs) -> list[dict[str, Any]]:
    """Return one row for each shard: what was asked, and the digests of what came back."""
    return [
        {
            "model": model,
            "benchmark": benchmark,
            "rows": shard.manifest.rows,
            "run": shard.folder.name,
            "thinking": str(shard.manifest.provenance.get("thinking", "")),
            "records": shard.manifest.files["records.jsonl"].sha256,
            "code": shard.manifest.code,
        }
        for (model, benchmark), shard in inputs.shards.items()
    ]


def software() -> list[tuple[str, str]]:
    """Return the versions of what made the report."""
    return [(name, version(name)) for name in ("assay", "altair", "vl-convert-python")]
