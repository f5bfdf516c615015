"""A synthetic leaderboard in the layout of the released records."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from support.twin import CONFIGURATIONS, REFERENCE

#: As the release has it: an entry for each configuration, and the reference beside them.
LEGEND = {"_meta": {"ref_config": REFERENCE}} | {
    way.key: {
        "key": way.key,
        "scoring": way.scoring,
        "fmt": way.format,
        "perm_index": None if way.order is None else int(way.order[1:]),
        "perm": None if way.permutation is None else list(way.permutation),
    }
    for way in CONFIGURATIONS
}


def write_released(
    folder: Path, right: np.ndarray, *, benchmarks: tuple[str, ...] = ("arc", "mmlu")
) -> Path:
    """Write `right`, shape (model, item, 26) in the order of `CONFIGURATIONS`.

    Items are dealt to the benchmarks in equal runs and are named by their number, as in the
    release, so that the same id occurs in every benchmark.
    """
    (folder / "records").mkdir(parents=True)
    (folder / "config_legend.json").write_text(json.dumps(LEGEND))
    models, items, _ = right.shape
    per = items // len(benchmarks)
    for m in range(models):
        for b, benchmark in enumerate(benchmarks):
            lines = [
                {
                    "benchmark": benchmark,
                    "model": f"model{m}-1b",
                    "item_id": i,
                    "question": f"{benchmark} question {i}",
                    "gold": i % 4,
                    "bits": {
                        way.key: int(right[m, b * per + i, c])
                        for c, way in enumerate(CONFIGURATIONS)
                    },
                    "ll_margin": 0.1,
                    "n_gen_unparsed": 0,
                }
                for i in range(per)
            ]
            path = folder / "records" / f"{benchmark}__model{m}-1b.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder
