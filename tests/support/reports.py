"""A small synthetic study, analysed and drawn, for tests of what is built from it.

One item is hostile: it tries to end its element, to run a script and to be taken for markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.identity import digest
from assay.leaderboard import analyze, write
from assay.plots.accuracy_band import accuracy_band
from assay.plots.fragile_gap import fragile_gap
from assay.plots.style import save
from assay.plots.tables import read_table
from assay.records.schema import Record
from assay.records.shard import write_shard
from support.twin import simulate, twin_facts, twin_items, twin_prompts, twin_records

HOSTILE_QUESTION = (
    "</script><script>window.planted = 1</script><img src=x onerror='window.planted = 2'>"
    " &lt;b&gt; &amp; ${1} {{ 7 * 7 }} \u2028 ']]> -->"
)
HOSTILE_OPTION = "<svg onload='window.planted = 3'>&quot;"
HOSTILE_TEXT = "<script>window.planted = 4</script>\U0001f600 A"  # one character, two UTF-16 units


@dataclass(frozen=True)
class SmallStudy:
    """Where everything of the study lies."""

    leaderboard: Path
    tables: Path
    figures: Path
    shards: list[Path]

    @property
    def inputs(self) -> dict[str, Any]:
        """The arguments of `build_report` but for the folder it writes to."""
        return {
            "leaderboard": self.leaderboard,
            "tables": self.tables,
            "figures": self.figures,
            "shards": self.shards,
        }


def write_study(
    root: Path,
    *,
    models: int = 3,
    benchmarks: Sequence[str] = ("arc", "mmlu"),
    items: int = 8,
    absent: Sequence[tuple[str, str]] = (),
    licence: str = "MIT",
) -> SmallStudy:
    """Write shards, tables, two figures; leave out the shards of `absent` (model, benchmark)."""
    shards = []
    for number, benchmark in enumerate(benchmarks):
        rng = np.random.default_rng(number)
        made = twin_items(benchmark, items, rng)
        if number == 0:
            made = sorted([_hostile(made[0]), *made[1:]], key=lambda item: str(item["item_id"]))
        correct = simulate(np.linspace(1.5, 0.5, models), items=items, rng=rng)
        for model, records in twin_records(made, correct, seed=number):
            if (model, benchmark) in absent:
                continue
            folder = root / "records" / model / benchmark / "0123456789ab"
            facts = twin_facts(model, benchmark, made)
            facts["provenance"]["snapshot"] = {"licence": licence, "items_sha256": "0" * 64}
            write_shard(folder, [_planted(r) for r in records], twin_prompts(made), facts)
            shards.append(folder)
    names = [f"{model} × {benchmark}" for model, benchmark in absent]
    found = analyze(shards, study="twin-test", seed=1, absent=names)
    write(found, root / "study")
    study = SmallStudy(
        root / "study" / "leaderboard.json", root / "study" / "tables", root / "figures", shards
    )
    _draw(study)
    return study


def _draw(study: SmallStudy) -> None:
    band, accuracy, pairs = (read_table(study.tables, n) for n in ("band", "accuracy", "pairs"))
    drawn = {"accuracy_band": accuracy_band(band, accuracy), "fragile_gap": fragile_gap(pairs)}
    for name, figure in drawn.items():
        save(figure, pdf=study.figures / f"{name}.pdf", png=study.figures / f"{name}.png")


def _hostile(item: dict[str, Any]) -> dict[str, Any]:
    options = [HOSTILE_OPTION, *item["options"][1:]]
    changed = item | {"question": HOSTILE_QUESTION, "options": options, "locked": False}
    return changed | {"item_id": digest(["hostile", HOSTILE_QUESTION], length=16), "flags": []}


def _planted(record: Record) -> Record:
    """Let the model answer the hostile item with something hostile once."""
    if record.question != HOSTILE_QUESTION:
        return record
    key, length = "gen|letter_plain|p0", len(HOSTILE_TEXT)
    answer = record.observations[key].model_copy(
        update={"text": HOSTILE_TEXT, "status": "ok", "label": "A", "span": (length - 1, length)}
    )
    return record.model_copy(update={"observations": {**record.observations, key: answer}})
