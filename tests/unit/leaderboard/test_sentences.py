from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from assay.leaderboard import analyze
from assay.leaderboard.load import MissingCells
from assay.leaderboard.remarks import missing_data

from .builders import GRID, ShardWriter

R, W = "right", "wrong"


def read(
    shard: ShardWriter,
    models: Mapping[str, Mapping[int, Sequence[str]]],
    *,
    keys: Sequence[str] = GRID,
    margin: float = 0.02,
) -> dict[str, str]:
    """Return the sentences of a leaderboard with one benchmark."""
    folders = [shard(model, "b", outcomes, keys=keys) for model, outcomes in models.items()]
    found = analyze(folders, study="s", equivalence_margin=margin, seed=0, quick=True)
    return {sentence.id: sentence.text for sentence in found.summary.sentences}


def right_on(count: int, of: int, *, start: int = 0) -> dict[int, list[str]]:
    return {i: [R if start <= i < start + count else W] * 5 for i in range(of)}


class TestWhoIsBetter:
    def test_a_clear_lead(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": right_on(30, 60), "two": right_on(10, 60)})["better"]
        assert text == (
            "one is better than two at the reference configuration: 50.0 % against 16.7 % of 60 "
            "items right, a lead of 33.3 points (95 % interval 22.7 to 45.9). Guessing gives "
            "33.3 %."
        )

    def test_what_cannot_be_told_says_how_many_items_it_takes(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": right_on(6, 12), "two": right_on(5, 12)})["better"]
        assert text.startswith("Whether one or two is better at the reference configuration cannot")
        assert "50.0 % against 41.7 % of 12 items right, a gap of 8.3 points (95 % interval" in text
        assert "items would be needed to tell a gap of 8.3 points (80 % power). Guessing" in text
        assert "Of all" not in text

    def test_equal_models_are_not_called_tied_without_evidence(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": right_on(6, 12), "two": right_on(6, 12, start=6)})["better"]
        assert "cannot be told" in text
        assert "a gap of 0.0 points" in text
        assert "items would be needed to tell a gap of 2.0 points" in text

    def test_a_tie_is_shown(self, shard: ShardWriter) -> None:
        models = {"one": right_on(40, 60), "two": right_on(40, 60)}
        text = read(shard, models, margin=0.1)["better"]
        assert text.startswith("one and two are tied at the reference configuration: 66.7 % ")
        assert "a difference of 10.0 points is ruled out" in text

    def test_three_models_are_counted(self, shard: ShardWriter) -> None:
        models = {"a": right_on(50, 60), "b": right_on(30, 60), "c": right_on(29, 60)}
        text = read(shard, models)["better"]
        assert text.startswith("a is better than b")
        assert text.endswith(
            "Of all 3 pairs, 2 are told apart, 0 are tied within 2.0 points and 1 is unresolved."
        )

    def test_one_model_has_nobody_to_beat(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": right_on(1, 1)})["better"]
        assert text == (
            "Only one was asked, so there is nothing to compare: it answers 100.0 % of 1 item "
            "right at the reference configuration (95 % interval 20.7 to 100.0 %). Guessing gives "
            "33.3 %."
        )


class TestDependence:
    def test_range_and_champions(self, shard: ShardWriter) -> None:
        models = {
            "one": {i: [R, R, W, W, R] for i in range(10)},
            "two": {i: [W, R, R, R, W] for i in range(10)},
        }
        text = read(shard, models)["dependence"]
        assert text.startswith(
            "Over 5 configurations of format, order and scoring on the same 10 items, one ranges "
            "from 0.0 % (gen|g|p0, 95 % interval 0.0 to 27.8 %) to 100.0 % (gen|f|p0, 95 % "
            "interval 72.2 to 100.0 %), the widest range of all models; 2 of 2 models lead under "
            "at least one configuration, where "
        )

    def test_one_model_has_a_range_but_no_rivals(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": {i: [R, W, R, R, R] for i in range(4)}})["dependence"]
        assert "one ranges from 0.0 %" in text
        assert "models" not in text

    def test_one_configuration_shows_nothing(self, shard: ShardWriter) -> None:
        models = {"one": {0: [R], 1: [W]}, "two": {0: [R], 1: [R]}}
        text = read(shard, models, keys=GRID[:1])["dependence"]
        assert "is unknown" in text


class TestSurvival:
    def test_robust_share_beside_the_reference(self, shard: ShardWriter) -> None:
        robust = {i: [R] * 5 if i < 5 else [R, W, R, R, R] for i in range(10)}
        text = read(shard, {"one": robust, "two": right_on(2, 10)})["survival"]
        assert text.startswith(
            "one answers 50.0 % of 10 items right under all 5 configurations (95 % interval 23.7 "
            "to 76.3 %), against 100.0 % at the reference. Items that change with the "
            "configuration for either neighbour are 50.0 % of all and carry 62.5 % of the gaps"
        )
        assert "simulated models" in text

    def test_without_gaps_there_is_nothing_to_carry(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": right_on(5, 10), "two": right_on(5, 10)})["survival"]
        assert text.endswith("and there is no gap between neighbours that they could carry.")

    def test_one_model(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": {i: [R, W, R, R, R] for i in range(4)}})["survival"]
        assert text.endswith("100.0 % of items change with the configuration.")


class TestRemarks:
    def test_compliance_names_the_worst(self, shard: ShardWriter) -> None:
        outcomes = {i: [R, R, "refusal" if i < 3 else R, R, R] for i in range(10)}
        text = read(shard, {"one": outcomes})["compliance"]
        assert text == (
            "At the reference, one gives usable answers to 100.0 % of 10 items (95 % interval 72.2 "
            "to 100.0 %); the fewest anywhere are given by one under gen|g|p0: usable answers to "
            "70.0 % of 10 items (95 % interval 39.7 to 89.2 %)."
        )

    def test_compliance_of_several_models(self, shard: ShardWriter) -> None:
        refused = {i: ["refusal" if i < 3 else R] * 5 for i in range(10)}
        text = read(shard, {"one": right_on(3, 10), "two": refused})["compliance"]
        assert text.startswith("At the reference, two gives usable answers to 70.0 % of 10 items")
        assert "the fewest of all models; the fewest anywhere are given by two under" in text

    def test_extractors_that_agree(self, shard: ShardWriter) -> None:
        text = read(shard, {"one": right_on(3, 6)})["extraction"]
        assert text == (
            "No verdict depends on the extractor: first_match, lenient and strict agree with "
            "standard on every stored text."
        )

    def test_likelihood_only_has_no_texts(self, shard: ShardWriter) -> None:
        folder = shard("one", "b", {0: [R]}, keys=GRID[4:], reference=GRID[4])
        found = analyze([folder], study="s", seed=0)
        text = {sentence.id: sentence.text for sentence in found.summary.sentences}
        assert "No generated text" in text["extraction"]
        assert "cannot be told" in text["positions"]

    def test_missing_data_are_listed(self) -> None:
        cells = [
            MissingCells("m", "b", "gen|f|p0", 3, "oom"),
            MissingCells("n", "b", None, 50, "absent"),
        ]
        assert missing_data([], [], []) == "No observation is missing."
        assert missing_data(cells, [], []).startswith(
            "Missing: 1 shard left out (n × b); 3 observations without an answer (of m). They are"
        )
        row = {"model": "m", "configuration": "k", "missing": 3, "lowest": 0.2, "highest": 0.5}
        bounded = missing_data(cells, [], [row, row | {"missing": 0, "highest": 1.0}])
        assert "the accuracy of m under k would lie between 20.0 % and 50.0 %" in bounded
        assert "2 shards left out (n × b and o × c)" in missing_data(cells, ["n × b", "o × c"], [])


@pytest.mark.parametrize("models", [1, 2, 3])
def test_the_main_sentences_come_first_and_none_is_broken(shard: ShardWriter, models: int) -> None:
    names = ("one", "two", "three")[:models]
    found = read(shard, {name: right_on(2 + k, 8) for k, name in enumerate(names)})
    assert list(found)[:3] == ["better", "dependence", "survival"]
    for text in found.values():
        assert text.endswith(".")
        assert "nan" not in text
        assert "  " not in text
        assert ".." not in text
