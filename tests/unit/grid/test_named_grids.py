"""The grids beyond the released one: their orders and the exact texts they send."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.benchmarks.item import Item
from assay.config import load_study
from assay.config.registry import load_grid
from assay.core.errors import ConfigError
from assay.core.identity import digest
from assay.core.validation import validated
from assay.grid.configuration import Configuration, Grid
from assay.grid.render import ClozeQuestion, LabelQuestion, ShownQuestion, pose
from support.embedded import item

GRIDS = {
    "bridge": 17,
    "choices_only": 3,
    "cyclic": 8,
    "fewshot": 8,
    "many_options": 26,
    "permutations": 24,
    "pmi": 5,
    "released": 26,
    "replicate": 27,
    "system": 6,
    "wrappers": 10,
}
METAL = item(0, "Which metal is dearest?", ("Iron", "Tin", "Gold", "Lead"), 2)
POOL = [item(n + 1, f"Pick {n}?", ("This", "That"), n % 2) for n in range(5)]


def raw(project: Path, name: str) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((project / f"config/grids/{name}.yaml").read_text())
    return value


def posed(project: Path, grid: str, key: str, one: Item = METAL) -> Any:
    found = load_grid(project / "config", grid)
    (configuration,) = (c for c in found.configurations() if c.key == key)
    return pose(one, configuration, found, POOL)


def test_every_grid_of_the_registry_is_tried_here(project: Path) -> None:
    assert {path.stem for path in (project / "config/grids").glob("*.yaml")} == set(GRIDS)


@pytest.mark.parametrize(("name", "size"), GRIDS.items())
def test_a_grid_has_its_configurations(project: Path, name: str, size: int) -> None:
    grid = load_grid(project / "config", name)
    keys = [configuration.key for configuration in grid.configurations()]
    assert len(keys) == len(set(keys)) == size
    assert grid.reference == keys[0] == "gen|letter_plain|p0"
    assert grid.legend().keys() == set(keys)
    again = Grid.model_validate_json(json.dumps(grid.model_dump(mode="json")))
    assert again.identity() == grid.identity(), "as a job reads it back"


def test_the_released_grid_is_what_it_was(project: Path) -> None:
    # A change here gives every run of the released grid another name.
    grid = load_grid(project / "config", "released")
    assert digest(grid.identity(), length=16) == "7d678a8bfd7c6c6e"
    assert digest(grid.legend(), length=16) == "db764e70aecd167b"
    study = load_study(project / "config/config.yaml")
    assert ("smollm2-135m", "arc_challenge", "f3e81c0c96be") in study.shards


def test_the_replicate_asks_what_the_released_grid_asks(project: Path) -> None:
    released = load_grid(project / "config", "released")
    replicate = load_grid(project / "config", "replicate")
    assert replicate.identity()["templates"] == released.identity()["templates"]
    assert replicate.identity()["orders"] == released.identity()["orders"]
    *same, last = replicate.configurations()
    assert same == list(released.configurations())
    assert (last.key, replicate.role(last)) == ("gen|letter_plain|p0|again", "again")


@pytest.mark.parametrize("options", range(2, 27))
@pytest.mark.parametrize("name", ["cyclic", "many_options", "permutations"])
def test_balanced_orders_show_every_option_at_every_label_equally_often(
    project: Path, name: str, options: int
) -> None:
    grid = load_grid(project / "config", name)
    found = [grid.permutation(order, options) for order in grid.generation.orders]
    asked = [order for order in found if order is not None]
    whole = math.factorial(options) if name == "permutations" else options
    if whole > len(found):
        assert asked == [tuple(range(options))], "source order only"
        return
    assert len(set(asked)) == len(asked) == whole
    slots = Counter((slot, option) for order in asked for slot, option in enumerate(order))
    assert len(slots) == options**2
    assert set(slots.values()) == {whole // options}


def test_26_options_are_shown_as_a_to_z(project: Path) -> None:
    many = item(0, "Which one?", tuple(f"option {n}" for n in range(26)), 3)
    found = posed(project, "many_options", "gen|letter_plain|p25", many)
    lines = found.text.splitlines()
    assert lines[1:3] == ["A. option 25", "B. option 0"]
    assert lines[26] == "Z. option 24"


def test_the_full_set_begins_with_the_released_orders(project: Path) -> None:
    released = load_grid(project / "config", "released")
    full = load_grid(project / "config", "permutations")
    for n in range(6):
        assert full.permutation(f"p{n}", 4) == released.permutation(f"p{n}", 4)
    assert {full.permutation(f"p{n}", 4) for n in range(24)} == set(
        itertools.permutations(range(4))
    )


def test_labels_and_texts_are_scored_in_source_order(project: Path) -> None:
    prompt = "Question: Which metal is dearest?\nA. Tin\nB. Gold\nC. Lead\nD. Iron\n"
    labels = posed(project, "bridge", "ll|letter_scored|p1")
    assert isinstance(labels, ShownQuestion)
    assert labels.asked == posed(project, "bridge", "gen|letter_plain|p1")
    assert labels.asked.text == f"{prompt}Answer with the letter only:"
    assert labels.continuations == ("D", "A", "B", "C")
    assert labels.rule == "sum"
    texts = posed(project, "bridge", "ll|text_scored|p1")
    assert texts.asked.text == f"{prompt}Answer with the text of the right option only:"
    assert texts.asked == posed(project, "bridge", "gen|option_text|p1")
    assert (texts.continuations, texts.rule) == (METAL.options, "token")


def test_a_locked_item_is_scored_in_source_order_only(project: Path) -> None:
    locked = METAL.model_copy(update={"flags": ("letter_reference",)})
    assert posed(project, "bridge", "ll|letter_scored|p0", locked) is not None
    assert posed(project, "bridge", "ll|letter_scored|p1", locked) is None


def test_pmi_has_a_stem_without_the_question(project: Path) -> None:
    endings = (" Iron", " Tin", " Gold", " Lead")
    found = posed(project, "pmi", "ll|pmi_question")
    assert found == ClozeQuestion("Question: Which metal is dearest?\nAnswer:", endings, "Answer:")
    assert found.rule == "pmi"
    assert posed(project, "pmi", "ll|cloze_question").rule == "token"


def test_examples_are_asked_and_answered_as_the_format_asks(project: Path) -> None:
    shown = "Question: Pick 0?\nA. This\nB. That\nAnswer with the letter only: A\n\n"
    one = posed(project, "fewshot", "gen|letter_plain_1shot|p1")
    plain = posed(project, "fewshot", "gen|letter_plain|p1")
    assert isinstance(one, LabelQuestion)
    assert (one.text, one.shared) == (shown + plain.text, shown + plain.shared)
    five = posed(project, "fewshot", "ll|cloze_question_5shot")
    assert five.stem.count("\n\n") == 5
    assert five.stem.startswith(
        "Question: Pick 0?\nAnswer: This\n\nQuestion: Pick 1?\nAnswer: That"
    )


def test_an_example_of_words_is_answered_in_words(project: Path) -> None:
    changed = raw(project, "bridge")
    changed["generation"]["formats"]["option_text"]["fewshot"] = 1
    grid = validated(Grid, changed, where="test")
    found = pose(METAL, Configuration("gen", "option_text", "p0"), grid, POOL)
    assert isinstance(found, LabelQuestion)
    assert "Answer with the text of the right option only: This\n\nQuestion: Which" in found.text


def test_the_control_shows_the_options_alone_in_one_order(project: Path) -> None:
    found = posed(project, "choices_only", "gen|letter_choices|p0")
    assert found.text == "A. Iron\nB. Tin\nC. Gold\nD. Lead\nAnswer with the letter only:"
    legend = load_grid(project / "config", "choices_only").legend()
    assert [key for key, entry in legend.items() if "role" in entry] == ["gen|letter_choices|p0"]


def test_a_system_turn_is_part_of_the_question(project: Path) -> None:
    found = posed(project, "system", "gen|letter_plain_assistant|p0")
    assert found.system == "You are a helpful assistant."
    assert posed(project, "system", "gen|letter_plain|p0").system is None


@pytest.mark.parametrize(
    ("grid", "path", "value", "message"),
    [
        ("choices_only", ("letter_choices", "choices_only"), False, "{question}, {options}"),
        ("choices_only", ("letter_plain", "choices_only"), True, "must contain {options} and no"),
        ("bridge", ("option_text", "asked"), "both", "'label' or 'text'"),
        ("fewshot", ("letter_plain_1shot", "fewshot"), -1, "greater than or equal to 0"),
        ("system", ("letter_plain_exam", "system"), "", "at least 1 character"),
    ],
)
def test_a_wrong_format_is_refused(
    project: Path, grid: str, path: tuple[str, str], value: Any, message: str
) -> None:
    changed = raw(project, grid)
    changed["generation"]["formats"][path[0]][path[1]] = value
    with pytest.raises(ConfigError) as caught:
        validated(Grid, changed, where="test")
    assert message in str(caught.value)


def test_contradictions_within_a_grid_are_refused(project: Path) -> None:
    def refused(grid: str, message: str, **changes: Any) -> None:
        with pytest.raises(ConfigError, match=message):
            validated(Grid, raw(project, grid) | changes, where="test")

    refused("choices_only", "is not one of", reference="gen|letter_choices|p0")
    unbalanced = {"balance": "cyclic", "written": {2: {"p0": [0, 1], "p1": [0, 1]}}}
    refused("cyclic", "2 options are not balanced", orders=unbalanced)
    shown = raw(project, "bridge")["likelihood"]["shown"]["letter_scored"]
    refused("cyclic", "two formats are called", likelihood={"shown": {"letter_plain": shown}})
    for matched, message in ((["problem"], "at least two"), (["problem", "x"], "'x', which is no")):
        generation = raw(project, "wrappers")["generation"] | {"matched": matched}
        refused("wrappers", message, generation=generation)


def test_a_run_too_short_for_words_is_refused(project: Path, tmp_path: Path) -> None:
    over = tmp_path / "bridge.yaml"
    over.write_text("grid: bridge\n")
    with pytest.raises(ConfigError, match="set decode.max_new_tokens to 32"):
        load_study(project / "config/config.yaml", over)
    over.write_text("grid: bridge\ndecode: {max_new_tokens: 32}\n")
    assert load_study(project / "config/config.yaml", over).grid.name == "bridge"


def test_a_pool_is_set_aside_where_the_run_file_says(project: Path, tmp_path: Path) -> None:
    over = tmp_path / "few.yaml"
    over.write_text("grid: fewshot\nbenchmarks: [{key: arc_challenge, items: 3, pool: 5}]\n")
    (benchmark,) = load_study(project / "config/config.yaml", over).benchmarks
    assert benchmark.selection.pool_size == 5
