from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.config.registry import load_grid, read_yaml
from assay.core.errors import ConfigError
from assay.core.validation import validated
from assay.grid.configuration import Grid
from assay.grid.formats import labels_for

REGISTRY = Path("config/grids/released.yaml")


@pytest.fixture
def raw(project: Path) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((project / REGISTRY).read_text("utf-8"))
    return value


@pytest.fixture
def grid(project: Path) -> Grid:
    return load_grid(project / "config", "released")


def changed(raw: dict[str, Any]) -> Grid:
    return validated(Grid, raw, where="test")


def test_the_released_grid_has_its_26_configurations(grid: Grid) -> None:
    keys = [configuration.key for configuration in grid.configurations()]
    formats = ["letter_plain", "letter_paren", "digit_labels", "instruction"]
    expected = [f"gen|{name}|p{n}" for name in formats for n in range(6)]
    assert keys == [*expected, "ll|cloze_plain", "ll|cloze_question"]
    assert grid.reference == "gen|letter_plain|p0"


def test_the_orders_of_four_options_are_the_released_ones(grid: Grid) -> None:
    orders = ["".join(map(str, grid.permutation(f"p{n}", 4) or ())) for n in range(6)]
    assert orders == ["0123", "1230", "2301", "3012", "3210", "1032"]


def test_the_first_four_orders_are_balanced(grid: Grid) -> None:
    slots = Counter(
        (option, slot)
        for n in range(4)
        for slot, option in enumerate(grid.permutation(f"p{n}", 4) or ())
    )
    assert set(slots.values()) == {1}
    assert len(slots) == 16


@pytest.mark.parametrize("options", range(2, 27))
def test_orders_of_any_size_are_different_permutations(grid: Grid, options: int) -> None:
    found = [grid.permutation(f"p{n}", options) for n in range(6)]
    present = [order for order in found if order is not None]
    assert len(present) == min(6, math.factorial(options))
    assert len(set(present)) == len(present)
    assert all(sorted(order) == list(range(options)) for order in present)
    assert present[0] == tuple(range(options))
    assert tuple(range(options))[::-1] in present


def test_three_options_get_all_six_orders(grid: Grid) -> None:
    found = {grid.permutation(f"p{n}", 3) for n in range(6)}
    assert found == set(itertools.permutations(range(3)))


def test_a_template_edit_changes_only_its_own_digest(raw: dict[str, Any]) -> None:
    before = changed(raw).identity()
    raw["generation"]["formats"]["digit_labels"]["prompt"] += " "
    after = changed(raw).identity()
    different = {k for k in before["templates"] if before["templates"][k] != after["templates"][k]}
    assert different == {"gen|digit_labels"}
    assert before["orders"] == after["orders"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("reference",), "gen|letter_plain|p9", "is not one of"),
        (("generation", "formats", "letter_plain", "prompt"), "{question}", "{options}"),
        (("generation", "formats", "letter_plain", "option"), "{option}", "{label}"),
        (("generation", "formats", "letter_plain", "labels"), "greek", "'upper' or 'digit'"),
        (("likelihood", "formats", "cloze_plain", "stem"), "x", "{question}"),
        (("orders", "written", 4, "p1"), [0, 1, 2, 2], "not a permutation"),
        (("generation", "formats", "letter_plain", "colour"), "red", "unknown key"),
        (("version",), "1", "valid integer"),
    ],
)
def test_a_wrong_grid_is_refused(
    raw: dict[str, Any], path: tuple[Any, ...], value: Any, message: str
) -> None:
    place = raw
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ConfigError, match=message.replace("{", r"\{").replace("}", r"\}")):
        changed(raw)


def test_an_unknown_grid_names_the_known_ones(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown grid 'releasd'. Did you mean 'released'\?"):
        load_grid(project / "config", "releasd")


def test_a_key_written_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text("a: 1\nb: {c: 1}\na: 2\n")
    with pytest.raises(ConfigError, match=r"twice.yaml:3: key 'a' is written twice"):
        read_yaml(tmp_path / "twice.yaml")


@pytest.mark.parametrize("content", [b"study: \xf7", b"a: [", b"a: " + b"[" * 5000])
def test_what_is_no_yaml_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"odd.yaml: not valid YAML"):
        read_yaml(tmp_path / "odd.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(tmp_path)


def test_labels() -> None:
    assert labels_for("upper", 3) == ("A", "B", "C")
    assert labels_for("digit", 11)[-1] == "11"
    with pytest.raises(ValueError, match="between 2 and 26"):
        labels_for("upper", 27)
