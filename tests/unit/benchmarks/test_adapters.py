from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from assay.benchmarks.adapters import adapt
from assay.benchmarks.adapters.draft import Draft
from assay.benchmarks.adapters.hellaswag import CLEANING
from assay.benchmarks.sources import Location, Row
from assay.benchmarks.spec import BenchmarkSpec
from assay.core.errors import SnapshotError
from assay.core.pins import PathPin

Reader = Callable[[str], list[dict[str, Any]]]


def spec(adapter: str, **changes: Any) -> BenchmarkSpec:
    base: dict[str, Any] = {"key": "b", "source": PathPin(path="rows.jsonl"), "licence": "CC0"}
    return BenchmarkSpec(**{**base, "adapter": adapter, **changes})


def located(*values: dict[str, Any]) -> list[Row]:
    return [(Location("rows.jsonl", row, row + 1), value) for row, value in enumerate(values)]


def choices(labels: str, key: str, **more: Any) -> dict[str, Any]:
    texts = [f"text {label}" for label in labels]
    return {
        "id": "q1",
        "question": "Which?",
        "choices": {"label": list(labels), "text": texts},
        "answerKey": key,
        **more,
    }


@pytest.mark.parametrize(
    ("labels", "key", "gold"),
    [("ABCD", "C", 2), ("1234", "4", 3), ("ABC", "A", 0), ("ABCDE", "E", 4), ("4321", "4", 0)],
)
def test_labels_are_looked_up_not_computed(labels: str, key: str, gold: int) -> None:
    (draft,) = adapt(spec("labelled"), located(choices(labels, key)))
    assert draft.gold == gold
    assert len(draft.options) == len(labels)


def test_a_key_that_is_no_label_is_refused_with_its_line() -> None:
    with pytest.raises(SnapshotError, match=r"rows\.jsonl:1: the answer 'E' is none of the labels"):
        adapt(spec("labelled"), located(choices("ABCD", "E")))


def test_an_empty_key_of_a_hidden_test_split_is_refused() -> None:
    with pytest.raises(SnapshotError, match="use a split that has answers"):
        adapt(spec("labelled"), located(choices("ABCD", "")))


def test_labels_that_do_not_fit_the_options_are_refused() -> None:
    row = choices("ABCD", "B")
    row["choices"]["label"] = ["A", "B", "B", "D"]
    with pytest.raises(SnapshotError, match="do not fit 4 options"):
        adapt(spec("labelled"), located(row))


def test_openbookqa_has_a_stem() -> None:
    row = choices("ABCD", "B")
    row["question_stem"] = row.pop("question")
    (draft,) = adapt(spec("labelled"), located(row))
    assert draft.question == "Which?"


def test_repeated_ids_name_both_places() -> None:
    rows = located(choices("ABCD", "B"), choices("ABCD", "C"))
    with pytest.raises(SnapshotError, match=r"jsonl:2: id 'q1' was already used at rows\.jsonl:1"):
        adapt(spec("labelled"), rows)


def mmlu_row(question: str, subject: str = "anatomy") -> dict[str, Any]:
    return {"question": question, "subject": subject, "choices": ["a", "b", "c", "d"], "answer": 1}


def test_mmlu_aliases_count_rows_per_subject_and_duplicates_keep_their_own_id() -> None:
    rows = located(
        mmlu_row("one"), mmlu_row("other", "law"), mmlu_row("two"), mmlu_row("one"), mmlu_row("1")
    )
    drafts = {draft.aliases[0]: draft for draft in adapt(spec("mmlu"), rows)}
    assert set(drafts) == {*(f"anatomy/test/{row}" for row in range(4)), "law/test/0"}
    first, second = drafts["anatomy/test/0"], drafts["anatomy/test/2"]
    assert second.native_id == f"{first.native_id}#2"
    assert first.native_id.startswith("anatomy/")


def test_mmlu_aliases_are_left_out_where_rows_were() -> None:
    (draft,) = adapt(spec("mmlu", filters={"question": "o*"}), located(mmlu_row("one")))
    assert draft.aliases == ()


def test_the_order_in_which_rows_arrive_does_not_matter() -> None:
    rows = located(*(mmlu_row(f"question {number % 7}") for number in range(20)))
    shuffled = rows.copy()
    random.Random(3).shuffle(shuffled)
    assert adapt(spec("mmlu"), shuffled) == adapt(spec("mmlu"), rows)


def test_outer_white_space_goes_and_is_kept_beside() -> None:
    row = {**mmlu_row("one \n"), "choices": [" a", "b", "c", "d"]}
    (draft,) = adapt(spec("mmlu"), located(row))
    assert draft.question == "one"
    assert draft.options == ("a", "b", "c", "d")
    assert draft.before == {"question": "one \n", "options": [" a", "b", "c", "d"]}
    assert draft.flags == ("cleaned",)


def hellaswag_row(**changes: Any) -> dict[str, Any]:
    base = {
        "ind": 24,
        "activity_label": "Roof shingle removal",
        "ctx_a": "A man is sitting on a roof.",
        "ctx_b": "he",
        "endings": ["is wrapping skis.", "rips tiles off.", "holds a cube.", "pulls roofing up."],
        "source_id": "activitynet~v_1",
        "label": "3",
    }
    return {**base, **changes}


def test_hellaswag_reads_label_as_text_and_makes_a_unique_id() -> None:
    rows = located(hellaswag_row(), hellaswag_row(source_id="activitynet~v_2"))
    first, second = adapt(spec("hellaswag"), rows)
    assert first.question == "Roof shingle removal: A man is sitting on a roof. He"
    assert (first.gold, first.native_id) == (3, "activitynet~v_1#24")
    assert (second.native_id, second.group) == ("activitynet~v_2#24", "activitynet~v_2")


def test_hellaswag_keeps_the_marked_up_text_beside() -> None:
    row = hellaswag_row(ctx_a="[header] How to go [title] Look", ctx_b="", activity_label="Travel")
    row["endings"] = ["[substeps] Go", "Stay", "Run", "Sit"]
    (draft,) = adapt(spec("hellaswag", preprocessing=2), located(row))
    assert draft.question == "Travel: How to go. Look"
    assert draft.options[0] == "Go"
    assert draft.before["question"] == "Travel: [header] How to go [title] Look "
    assert draft.before["options"][0] == "[substeps] Go"
    assert draft.flags == ("cleaned",)


def test_hellaswag_test_split_without_labels_is_refused() -> None:
    with pytest.raises(SnapshotError, match="use a split that has labels"):
        adapt(spec("hellaswag"), located(hellaswag_row(label="")))


@pytest.mark.parametrize(
    ("version", "raw", "clean"),
    [
        (1, "Find it. [title] Look. [step] Now", "Find it.. Look. Now"),
        (2, "Find it. [title] Look. [step] Now", "Find it. Look. Now"),
        (1, "How to go [title] Look", "How to go. Look"),
        (2, "How to go [title] Look", "How to go. Look"),
        (1, "Write [insert name] here", "Write here"),
        (2, "Write [insert name] here", "Write [insert name] here"),
        (1, "[header] How", " How"),
        (2, "[header] How", "How"),
        (2, "[substeps] Check  it", "Check it"),
        (2, "a [citation needed] b [substeps]", "a [citation needed] b"),
    ],
)
def test_markup_cleaning_is_versioned(version: int, raw: str, clean: str) -> None:
    assert CLEANING[version](raw) == clean


def test_a_version_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SnapshotError, match=r"no preprocessing 9.*use one of \[1, 2\]"):
        adapt(spec("hellaswag", preprocessing=9), [])
    with pytest.raises(SnapshotError, match=r"no preprocessing 2.*use one of \[1\]"):
        adapt(spec("mmlu", preprocessing=2), [])


def test_version_1_is_the_common_cleaning(normalised: Reader) -> None:
    """All 10,042 items, both halves, equal the common harnesses' text but for outer blanks."""
    clean = CLEANING[1]
    for row in normalised("hellaswag.validation.jsonl.gz"):
        assert [clean(raw) for raw in row["raw_endings"]] == row["options"]


def truth_row(number: int, options: int = 6) -> dict[str, Any]:
    texts = [f"{number} true", *(f"{number} false {other}" for other in range(1, options))]
    marks = [1] + [0] * (options - 1)
    return {"question": f"Question {number}?", "mc1_targets": {"choices": texts, "labels": marks}}


def truths(**changes: Any) -> list[Draft]:
    return adapt(spec("truthfulqa", **changes), located(*map(truth_row, range(300))))


def test_truthfulqa_gold_is_drawn_over_all_positions() -> None:
    counts = Counter(draft.gold for draft in truths())
    assert set(counts) == set(range(6))
    # 300 draws of 6: each position about 50 times, give or take 4 standard deviations.
    assert all(24 <= count <= 76 for count in counts.values())


def test_truthfulqa_distractors_keep_their_order_and_nothing_is_lost() -> None:
    for draft in truths():
        assert draft.options[draft.gold].endswith("true")
        others = [option for option in draft.options if not option.endswith("true")]
        assert [option[-1] for option in others] == list("12345")
        assert draft.before["gold"] == 0
        assert draft.before["options"][1:] == others
        assert "gold_moved" in draft.flags


def test_truthfulqa_positions_follow_the_seed_and_nothing_else() -> None:
    assert truths() == truths(gold_seed=0)
    moved = [draft.gold for draft in truths(gold_seed=1)]
    assert moved != [draft.gold for draft in truths()]
    ids = {draft.native_id for draft in truths(gold_seed=1)}
    assert ids == {draft.native_id for draft in truths()}


def test_truthfulqa_without_a_seed_stays_first() -> None:
    assert {draft.gold for draft in truths(gold_seed=None)} == {0}


def test_truthfulqa_is_cut_to_the_first_distractors() -> None:
    for draft in truths(keep_options=4):
        assert sorted(option[-1] for option in draft.options) == ["1", "2", "3", "e"]
        assert set(draft.flags) == {"options_cut", "gold_moved"}
    (short,) = adapt(spec("truthfulqa", keep_options=4), located(truth_row(1, options=3)))
    assert len(short.options) == 3
    assert "options_cut" not in short.flags


def test_truthfulqa_with_two_true_options_is_refused() -> None:
    row = truth_row(1)
    row["mc1_targets"]["labels"][2] = 1
    with pytest.raises(SnapshotError, match="does not mark one true option"):
        adapt(spec("truthfulqa"), located(row))


def request_row(**changes: Any) -> dict[str, Any]:
    doc = {"id": "a", "query": "Question: Why?\nAnswer:", "choices": ["x", "y"], "gold": 1}
    return {"doc": {**doc, **changes}, "idx": 0}


def test_requests_hold_a_document_several_times() -> None:
    (draft,) = adapt(spec("requests"), located(request_row(), request_row()))
    assert (draft.question, draft.options, draft.gold) == ("Why?", ("x", "y"), 1)


def test_requests_with_one_id_for_two_documents_are_refused() -> None:
    with pytest.raises(SnapshotError, match="two different documents"):
        adapt(spec("requests"), located(request_row(), request_row(gold=0)))


def test_requests_in_letter_form_are_refused() -> None:
    row = request_row(query="Why?\n A. x\n B. y\nAnswer:")
    with pytest.raises(SnapshotError, match="cloze form"):
        adapt(spec("requests"), located(row))


def test_piqa_has_two_solutions() -> None:
    row = {"goal": "Open a tin", "sol1": "with an opener", "sol2": "with a spoon", "label": 0}
    (draft,) = adapt(spec("piqa"), located(row))
    assert draft.options == ("with an opener", "with a spoon")
    assert draft.native_id
