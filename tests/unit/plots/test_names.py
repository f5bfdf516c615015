"""Names that fit into a figure."""

from __future__ import annotations

from assay.plots.names import elide, fit_names, text_width


def test_a_short_name_is_left_alone() -> None:
    assert elide("gemma", 100, 7) == "gemma"


def test_a_cut_name_keeps_both_ends_and_fits() -> None:
    cut = elide("qwen3-30b-a3b-instruct-2507-bnb-4bit", 80, 7)
    assert cut.startswith("qwen3")
    assert cut.endswith("bit")
    assert text_width(cut, 7) <= 80


def test_names_that_differ_only_in_the_middle_stay_distinct() -> None:
    names = [f"model-{'x' * 40}{middle}{'y' * 40}-instruct" for middle in "abc"]
    cut = fit_names(names, 100, 7)
    assert len(set(cut)) == 3
    assert max(text_width(name, 7) for name in cut) <= 100


def test_an_impossible_width_still_leaves_a_letter() -> None:
    assert elide("gemma", 0, 7) == "g…"
