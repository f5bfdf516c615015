"""The embedded models and a few items of our own, for tests that ask a real model."""

from __future__ import annotations

from pathlib import Path

from assay.benchmarks.item import Item
from assay.config.registry import load_model
from assay.core.spec import ModelSpec
from assay.models.fetch import ModelFiles, fetch_model


def embedded(project: Path, cache: Path, key: str = "smollm2-135m") -> tuple[ModelSpec, ModelFiles]:
    """Return an embedded model's entry and its files, fetched if they are not in the cache."""
    spec = load_model(project / "config", key, {})
    return spec, fetch_model(spec, cache=cache, offline=False)


def item(number: int, question: str, options: tuple[str, ...], gold: int = 0) -> Item:
    """Return an item of our own."""
    return Item(
        benchmark="own",
        native_id=f"q{number}",
        question=question,
        options=options,
        gold=gold,
        accepts=(gold,),
        cluster=f"q{number}",
    )


ITEMS = (
    item(0, "What is the capital of France?", ("Paris", "Rome", "Berlin", "Madrid")),
    item(1, "Which of these is a metal?", ("Wood", "Iron", "Glass"), 1),
    item(2, "Is water wet?", ("Yes", "No")),
)
