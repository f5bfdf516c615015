from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.band import band_table
from assay.leaderboard.correctness import ABSENT, MISSING, NOT_APPLICABLE, POOLED
from assay.leaderboard.headlines import headlines
from assay.leaderboard.items import ItemClasses
from assay.leaderboard.load_released import load_released
from assay.leaderboard.rank_uncertainty import leave_one_benchmark_out
from assay.leaderboard.ranks import ranking
from support.twin import CONFIGURATIONS, ORDERS, simulate

from .released import LEGEND, write_released

KEYS = [way.key for way in CONFIGURATIONS]


@pytest.fixture
def right() -> np.ndarray:
    return simulate([1.5, 1.0, 0.5], items=24, rng=np.random.default_rng(1))


@pytest.fixture
def folder(tmp_path: Path, right: np.ndarray) -> Path:
    return write_released(tmp_path / "release", right)


def edit(path: Path, line: int, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change one line of a file; `line` counts from 1."""
    lines = path.read_text().splitlines()
    row = json.loads(lines[line - 1])
    change(row)
    lines[line - 1] = json.dumps(row)
    path.write_text("".join(text + "\n" for text in lines))


def test_round_trip(folder: Path, right: np.ndarray) -> None:
    data = load_released(folder)
    assert data.models == ("model0-1b", "model1-1b", "model2-1b")
    assert data.benchmarks == ("arc", "mmlu")
    assert data.reference_configuration.key == "gen|letter_plain|p0"
    assert len({item.cluster for item in data.items}) == 24  # ids recur, items do not
    order = [KEYS.index(way.key) for way in data.configurations]
    for k, item in enumerate(data.items):
        number = 12 * (item.benchmark == "mmlu") + int(item.item_id)
        assert (data.values[:, k] == right[:, number][:, order]).all()
        for c, way in enumerate(data.configurations):
            perm = ORDERS[int(way.order[1:])] if way.order else None
            where = perm.index(int(item.item_id) % 4) if perm else -1
            assert data.gold_slots[k, c] == where


def test_options_whose_likelihood_is_asked_in_an_order_have_places(folder: Path) -> None:
    shown = "ll|letter_scored|p1"
    legend = json.loads((folder / "config_legend.json").read_text())
    legend[shown] = {"key": shown, "perm": list(ORDERS[1])}
    (folder / "config_legend.json").write_text(json.dumps(legend))
    for path in (folder / "records").iterdir():
        for line in range(1, len(path.read_text().splitlines()) + 1):
            edit(path, line, lambda row: row["bits"].update({shown: 1}))
    data = load_released(folder)
    column = [way.key for way in data.configurations].index(shown)
    golds = [int(item.item_id) % 4 for item in data.items]
    assert data.gold_slots[:, column].tolist() == [ORDERS[1].index(gold) for gold in golds]


def test_a_missing_bit_is_missing_and_not_wrong(folder: Path) -> None:
    path = folder / "records" / "arc__model1-1b.jsonl"
    edit(path, 3, lambda row: row["bits"].pop("ll|cloze_plain"))
    edit(path, 4, lambda row: row["bits"].update({"ll|cloze_plain": None}))
    with pytest.raises(AnalysisError, match="2 single observations, such as of model1-1b on arc"):
        load_released(folder)
    data = load_released(folder, allow_missing=True)
    assert (data.values == MISSING).sum() == 2
    lost = data.values[1, :, [way.key for way in data.configurations].index("ll|cloze_plain")]
    assert [data.items[k].item_id for k in np.flatnonzero(lost == MISSING)] == ["2", "3"]


def test_an_absent_file_is_an_absent_shard(folder: Path) -> None:
    (folder / "records" / "mmlu__model2-1b.jsonl").unlink()
    with pytest.raises(AnalysisError, match="nothing of model2-1b on mmlu"):
        load_released(folder)
    data = load_released(folder, allow_missing=True)
    assert (data.statuses[2, data.benchmark_of == "mmlu"] == ABSENT).all()


def test_the_legend_may_lie_among_the_records(folder: Path) -> None:
    (folder / "config_legend.json").rename(folder / "records" / "config_legend.json")
    assert len(load_released(folder).configurations) == 26


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row["bits"].update({"gen|new|p0": 1}), r"does not have .* gen\|new\|p0"),
        (lambda row: row["bits"].update({"ll|cloze_plain": 2}), "is 2, not 0 or 1"),
        (lambda row: row["bits"].update({"ll|cloze_plain": "1"}), "is '1', not 0 or 1"),
        (lambda row: row.update(bits=[1, 0]), "bits is not an object"),
        (lambda row: row.update(gold=4), "gold is 4"),
        (lambda row: row.update(gold="A"), "gold is 'A'"),
        (lambda row: row.update(model="other"), "the file's name says model1-1b on arc"),
        (lambda row: row.update(item_id=0), "item 0 was already in"),
        (lambda row: row.pop("gold"), "there is no gold"),
        (lambda row: row.update(question="another"), "another question or gold than in"),
        (lambda row: row.update(gold=(row["gold"] + 1) % 4), "another question or gold than in"),
    ],
)
def test_a_bad_line_is_named(
    folder: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    edit(folder / "records" / "arc__model1-1b.jsonl", 5, change)
    with pytest.raises(AnalysisError, match=message) as caught:
        load_released(folder)
    assert str(caught.value.where).endswith("arc__model1-1b.jsonl:5")


def test_a_torn_line_is_named(folder: Path) -> None:
    path = folder / "records" / "arc__model1-1b.jsonl"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(AnalysisError, match=r"arc__model1-1b.jsonl:12: this is not JSON"):
        load_released(folder)


def change_legend(folder: Path, **entries: Any) -> None:
    (folder / "config_legend.json").write_text(json.dumps(LEGEND | entries))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"_meta": {}}, "ref_config is None"),
        ({"_meta": {"ref_config": "gen|none|p0"}}, "no entry of the legend"),
        ({KEYS[0]: {"key": "other"}}, "is not one of that key"),
        ({KEYS[0]: {"perm": [0, 0, 1, 2]}}, "not a permutation"),
        ({"my|own|long|key": {}}, r"neither gen\|format\|order nor"),
    ],
)
def test_a_bad_legend_is_refused(folder: Path, entries: dict[str, Any], message: str) -> None:
    change_legend(folder, **entries)
    with pytest.raises(AnalysisError, match=message):
        load_released(folder)


def test_no_legend_no_records_and_strange_names(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(AnalysisError, match="there is no config_legend.json"):
        load_released(tmp_path)
    (folder / "records" / "notes.jsonl").write_text("{}\n")
    with pytest.raises(AnalysisError, match="the name is not"):
        load_released(folder)
    for path in (folder / "records").iterdir():
        path.unlink()
    with pytest.raises(AnalysisError, match="there are no records"):
        load_released(folder)


@pytest.mark.skipif(
    "ASSAY_RELEASED_RECORDS" not in os.environ, reason="the released records are not at hand"
)
class TestPublishedNumbers:
    """What the paper and its third-party rerun print, from the records of a user who has them."""

    MEANS = {
        "qwen3-14b": 0.713,
        "gemma4-31b": 0.695,
        "qwen3-32b": 0.688,
        "qwen3-30b-a3b": 0.684,
        "llama3.3-70b": 0.680,
        "gemma4-12b": 0.633,
        "gemma4-26b-a4b": 0.618,
        "mixtral-8x7b": 0.602,
        "gemma4-e4b": 0.583,
        "llama3.1-8b": 0.578,
        "qwen3-4b": 0.543,
        "llama3.2-3b": 0.522,
    }

    def test_them_all(self) -> None:
        data = load_released(Path(os.environ["ASSAY_RELEASED_RECORDS"]))
        assert data.values.size == 1_147_848
        means = dict(zip(data.models, data.right.mean(axis=(1, 2)), strict=True))
        assert means == pytest.approx(self.MEANS, abs=0.0006)
        found, parts = headlines(
            data.present,
            data.right,
            ItemClasses.of(data.present, data.right),
            reference=data.reference,
            common=np.ones(len(data.items), bool),
        )
        assert found.any_flip == pytest.approx(0.851, abs=0.0006)
        assert found.optimistic == pytest.approx(0.9587, abs=0.0001)
        assert parts.mean_of_shares == pytest.approx(0.957, abs=0.0006)
        assert parts.pooled == pytest.approx(0.997, abs=0.0006)
        ranked = ranking(data, data.scope(POOLED))
        assert len(ranked.champions()) == 4
        without = leave_one_benchmark_out(data)
        assert without.lowest_tau[0] == pytest.approx(-0.09, abs=0.006)
        last = without.left_out.index("truthfulqa")
        assert without.lowest_tau[last] == pytest.approx(0.03, abs=0.006)
        assert without.champions[last] == 3
        band = band_table(data)
        pooled = band[band["benchmark"] == POOLED].mean(numeric_only=True)
        for axis, value in {"order": 0.598, "format": 0.396, "scoring": 0.314}.items():
            assert pooled[f"{axis}_robust"] == pytest.approx(value, abs=0.0006)


def test_what_an_export_adds_to_a_line_is_read(folder: Path) -> None:
    for model in range(3):
        path = folder / "records" / f"arc__model{model}-1b.jsonl"

        def change(row: dict[str, Any]) -> None:
            row |= {"options": 6, "gold": 5, "cluster": "c", "subject": "s"}
            del row["bits"]["gen|letter_plain|p1"]
            row["not_applicable"] = ["gen|letter_plain|p1"]

        edit(path, 1, change)
    data = load_released(folder)
    item = data.items[0]
    assert (item.options, item.cluster, item.subject) == (6, "c", "s")
    keys = [way.key for way in data.configurations]
    absent = data.values[:, 0] == NOT_APPLICABLE
    assert np.array_equal(absent.all(axis=0), np.array(keys) == "gen|letter_plain|p1")
    # The legend's orders are of four options: where six stood is not known.
    assert (data.gold_slots[0] == -1).all()
    assert (data.gold_slots[1] >= 0).sum() == 24


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ({"options": 1}, "options is 1, not a number of at least 2"),
        ({"options": "4"}, "options is '4'"),
        ({"not_applicable": ["gen|letter_plain|p1"]}, "list of configurations without a bit"),
        ({"not_applicable": "all"}, "list of configurations without a bit"),
        ({"cluster": "another"}, "another question or gold"),
    ],
)
def test_a_wrong_addition_is_refused(folder: Path, added: dict[str, Any], message: str) -> None:
    edit(folder / "records" / "arc__model1-1b.jsonl", 2, lambda row: row.update(added))
    with pytest.raises(AnalysisError, match=rf"arc__model1-1b.jsonl:2: .*{message}"):
        load_released(folder)
