from __future__ import annotations

from assay.leaderboard.load import load
from assay.leaderboard.statuses import status_table

from .builders import ShardWriter


def test_counts_every_status_that_occurs(shard: ShardWriter) -> None:
    folder = shard(
        "m",
        "b",
        {
            0: ["right", "oom", "refusal", "not_applicable", "nonfinite"],
            1: ["wrong", "oom", "right", "not_applicable", "right"],
        },
    )
    table = status_table(load([folder], allow_missing=True))
    rows = table[table["benchmark"] == "b"]
    found = {(row.configuration, row.status): row.n for row in rows.itertuples()}
    assert found == {
        ("gen|f|p0", "ok"): 2,
        ("gen|f|p1", "oom"): 2,
        ("gen|g|p0", "refusal"): 1,
        ("gen|g|p0", "ok"): 1,
        ("gen|g|p1", "not_applicable"): 2,
        ("ll|cloze_plain", "nonfinite"): 1,
        ("ll|cloze_plain", "ok"): 1,
    }
    assert table["n"].sum() == 2 * rows["n"].sum()
