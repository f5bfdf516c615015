"""What every layout needs of a shard: its answers as one extractor reads them, and its names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.core.errors import AnalysisError
from assay.extraction import EXTRACTORS, extract
from assay.grid.formats import labels_for
from assay.leaderboard.load import load
from assay.leaderboard.shard_table import label_kind
from assay.records.manifest import Manifest
from assay.records.schema import Observation, Record
from assay.records.shard import Shard, read_shard

STANDARD = "standard"
#: Who hands out the weights, where no hub repository names a developer.
_OWNERS = {"wheel": "pypi", "path": "local"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One observation as an extractor reads it.

    Attributes
    ----------
    correct : bool or None
        None where the observation is missing or not applicable.
    label : str or None
        The label that was read out of a generated text.
    status : str
        One of `assay.records.schema.STATUSES`.
    """

    key: str
    observation: Observation
    correct: bool | None
    label: str | None
    status: str

    @property
    def generated(self) -> bool:
        """Whether the answer is a text, and not a comparison of likelihoods."""
        return self.observation.text is not None


@dataclass(frozen=True)
class Cell:
    """One model on one benchmark.

    Attributes
    ----------
    shard : Shard
        Verified.
    extractor : str
        Reads the generated texts; `standard` is how they were judged when they were collected.
    """

    shard: Shard
    extractor: str

    @property
    def manifest(self) -> Manifest:
        """The shard's manifest."""
        return self.shard.manifest

    @property
    def keys(self) -> list[str]:
        """The configurations, sorted."""
        return sorted(self.manifest.configurations)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The records, sorted by item id."""
        return tuple(self.shard.records())

    def answers(self, record: Record) -> Iterator[Answer]:
        """Yield the answers to one item, sorted by configuration."""
        for key in self.keys:
            yield self._read(record, key, record.observations[key])

    def labels(self, record: Record, key: str) -> tuple[str, ...]:
        """Return the labels of the options as a generation configuration shows them."""
        kind = label_kind(self.manifest.labels[self.manifest.configurations[key]["format"]])
        return labels_for(kind, len(record.options))

    def _read(self, record: Record, key: str, seen: Observation) -> Answer:
        if self.extractor == STANDARD or seen.text is None or seen.order is None:
            return Answer(key, seen, seen.correct, seen.label, seen.status)
        labels = self.labels(record, key)
        shown = [record.options[k] for k in seen.order]
        found = extract(seen.text, labels, shown, self.extractor)
        right = found.label is not None and seen.order[labels.index(found.label)] in record.accepts
        return Answer(key, seen, right, found.label, found.status)

    @property
    def model_id(self) -> str:
        """The model as ``developer/name``: the hub repository, or who hands the weights out."""
        source = self.manifest.provenance.get("model", {}).get("source", {})
        if source.get("kind") == "hub" and "/" in source["repo"]:
            return str(source["repo"])
        synthetic = self.manifest.provenance.get("synthetic") is True
        kind = str(source.get("kind", "local"))
        owner = "synthetic" if synthetic else _OWNERS.get(kind, kind)
        return f"{owner}/{self.manifest.model}"

    @property
    def dataset(self) -> dict[str, Any]:
        """The pin of the benchmark's source; empty where the shard does not say."""
        spec = json.loads(self.manifest.spec) if self.manifest.spec else {}
        found = spec.get("identity", {}).get("benchmark", {}).get("source", {})
        return dict(found) if isinstance(found, dict) else {}


def read_cells(
    folders: Sequence[Path], *, extractor: str = STANDARD, allow_missing: bool = False
) -> list[Cell]:
    """Open shards for an export, refusing what the analysis would refuse.

    Parameters
    ----------
    folders : sequence of Path
        Shard folders, or folders with shards anywhere below them.
    extractor : str
        One of `assay.extraction.EXTRACTORS`.
    allow_missing : bool
        Export incomplete shards; what is missing is left out, never written as wrong.

    Returns
    -------
    list of Cell
        Sorted by model and benchmark.

    Raises
    ------
    AnalysisError
        If a folder holds no shard, shards cannot be compared, something is missing and may not
        be, or there is no such extractor.
    RecordError
        If a shard is torn, altered or incomplete.
    """
    if extractor not in EXTRACTORS:
        raise AnalysisError(
            f"there is no extractor {extractor!r}.", fix=f"use one of {', '.join(EXTRACTORS)}."
        )
    shards = sorted({shard for folder in folders for shard in _below(folder, allow_missing)})
    if not shards:
        where = ", ".join(map(str, folders))
        raise AnalysisError("there are no shards here.", where=where, fix="name results/records.")
    load(shards, allow_missing=allow_missing)
    cells = [Cell(read_shard(folder), extractor) for folder in shards]
    return sorted(cells, key=lambda cell: (cell.manifest.model, cell.manifest.benchmark))


def _below(folder: Path, allow_missing: bool) -> list[Path]:
    manifests = folder.rglob("manifest.json")
    found = [path.parent for path in manifests if path.with_name("records.jsonl").is_file()]
    if not found and not allow_missing:
        raise AnalysisError(
            "there is no finished shard here.",
            where=folder,
            fix="collect it first, or allow missing data to export the rest.",
        )
    return found
