from __future__ import annotations

from pathlib import Path

import pytest

from assay.extraction import EXTRACTORS
from assay.leaderboard.audit import ExtractionAudit
from assay.records.columns import columns_of
from assay.records.manifest import Manifest
from assay.records.schema import Observation, Record
from assay.records.shard import read_shard

from .builders import ShardWriter

KEY = "gen|f|p1"
ORDER = (2, 1, 0)  # shown: blue, green, red


@pytest.fixture
def manifest(shard: ShardWriter) -> Manifest:
    folder: Path = shard("m", "b", {0: ["right"] * 5})
    return read_shard(folder).manifest


def record(number: int, *texts: str | None, gold: int = 0) -> Record:
    observations = {
        f"gen|f|p{k}": Observation(
            key="k", status="none", correct=False, order=ORDER if k else (0, 1, 2), text=text
        )
        for k, text in enumerate(texts)
    }
    return Record(
        benchmark="b",
        model="m",
        item_id=f"i{number}",
        native_id="1",
        question="?",
        options=("red", "green", "blue"),
        gold=gold,
        accepts=(gold,),
        subject="s",
        cluster="c",
        locked=False,
        flags=(),
        observations=observations,
    )


def read(audit: ExtractionAudit, manifest: Manifest, *records: Record) -> None:
    """Give `audit` a shard of the test's keys."""
    keys = sorted(records[0].observations)
    audit(manifest, columns_of(records, keys))


def test_every_extractor_reads_the_same_text_in_shown_order(manifest: Manifest) -> None:
    audit = ExtractionAudit()
    # Shown first is blue, so that C is the gold option red. The old rule reads the A of "Answer".
    read(audit, manifest, record(0, None, "Answer: C"), record(1, None, "Answer: A", gold=2))
    table = audit.table().set_index(["benchmark", "extractor"])
    assert set(table.index) == {(b, e) for b in ("b", "all") for e in EXTRACTORS}
    standard, first = table.loc[("b", "standard")], table.loc[("b", "first_match")]
    assert (standard["n"], standard["accuracy"], standard["changed"]) == (2, 1, 0)
    assert (first["accuracy"], first["changed"], first["gained"], first["lost"]) == (0.5, 1, 0, 1)


def test_an_extractor_may_gain(manifest: Manifest) -> None:
    audit = ExtractionAudit()
    read(audit, manifest, record(0, "not A but B"))  # gold: red, shown as A
    row = audit.table().set_index(["benchmark", "extractor"]).loc[("all", "first_match")]
    assert (row["gained"], row["lost"]) == (1, 0)


def test_an_option_named_by_its_text_is_found_in_the_order_shown(manifest: Manifest) -> None:
    audit = ExtractionAudit()
    read(audit, manifest, record(0, None, "red"))
    assert audit.tallies["m", "b", "standard"].right == 1


def test_an_item_is_touched_once_however_many_verdicts_change(manifest: Manifest) -> None:
    audit = ExtractionAudit()
    two = [record(0, "Answer: B", "Answer: B", gold=1), record(1, "B", "B", gold=1)]
    read(audit, manifest, *two)
    tally = audit.tallies["m", "all", "first_match"]
    assert (tally.changed, tally.items, tally.items_touched) == (2, 2, 1)


def test_texts_that_were_not_stored_are_not_read(manifest: Manifest) -> None:
    audit = ExtractionAudit()
    read(audit, manifest, record(0, None, None))
    assert audit.table().empty
