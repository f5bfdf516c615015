from __future__ import annotations

from typing import Any

import pytest

from assay.benchmarks.adapters import adapt
from assay.benchmarks.adapters.draft import Draft
from assay.benchmarks.sources import Location
from assay.benchmarks.spec import BenchmarkSpec, Columns
from assay.core.errors import SnapshotError
from assay.core.pins import PathPin


def drafts(*rows: dict[str, Any], **columns: Any) -> list[Draft]:
    spec = BenchmarkSpec(
        key="mine",
        source=PathPin(path="mine.csv"),
        adapter="generic",
        licence="CC0",
        columns=Columns(**columns),
    )
    return adapt(spec, [(Location("mine.csv", row, row + 2), one) for row, one in enumerate(rows)])


def question(**changes: Any) -> dict[str, Any]:
    return {"question": "1 + 1?", "options": ["1", "2", "3"], "answer": 1, **changes}


def test_plain_columns() -> None:
    (draft,) = drafts(question())
    assert (draft.question, draft.options, draft.gold) == ("1 + 1?", ("1", "2", "3"), 1)
    assert draft.subject == "all"


@pytest.mark.parametrize(
    ("answer", "columns"),
    [
        (1, {}),
        ("1", {"answer_kind": "index"}),
        ("B", {"answer_kind": "label"}),
        (" B ", {"answer_kind": "label"}),
        ("2", {"answer_kind": "text"}),
        ("ii", {"answer_kind": "label", "labels": "names"}),
    ],
)
def test_answers_as_position_label_or_text(answer: Any, columns: dict[str, Any]) -> None:
    (draft,) = drafts(question(answer=answer, names=["i", "ii", "iii"]), **columns)
    assert draft.gold == 1


def test_one_column_per_option_and_fewer_options_at_the_end() -> None:
    row = {"stem": "1 + 1?", "a": "1", "b": "2", "c": "", "d": "", "key": "B"}
    (draft,) = drafts(
        row,
        question="stem",
        options=("a", "b", "c", "d"),
        answer="key",
        answer_kind="label",
    )
    assert draft.options == ("1", "2")


def test_ids_may_be_numbers_and_default_to_content() -> None:
    rows = [question(id=7, topic="sums"), question(id=8, topic="sums", answer=0)]
    assert [draft.native_id for draft in drafts(*rows, id="id", subject="topic")] == ["7", "8"]
    one, two = drafts(question(), question(answer=2))
    assert one.native_id != two.native_id


@pytest.mark.parametrize(
    ("row", "columns", "message"),
    [
        (question(answer=3), {}, "gold index 3 is out of range for 3 options"),
        (question(answer=-1), {}, "gold index -1 is out of range"),
        (question(answer=True), {}, "the answer is True, not a position"),
        (question(answer=1.0), {}, "the answer is 1.0, not a position"),
        (question(answer="B"), {}, "set columns.answer_kind"),
        (question(answer="D"), {"answer_kind": "label"}, r"none of the labels \['A', 'B', 'C'\]"),
        (question(answer="5"), {"answer_kind": "text"}, "the answer '5' is none of"),
        (question(options=["1"], answer=0), {}, "needs 2 to 26 options, this one has 1"),
        (question(options=["1", ""]), {}, "option 1 .* is empty"),
        (question(options="1|2"), {}, "not a list of texts"),
        (question(options=[1, 2]), {}, "not a list of texts"),
        (question(question=None), {}, "holds None, not a text"),
        ({"question": "q", "answer": 0}, {}, "no column 'options'.* columns are question, answer"),
        (question(id=""), {"id": "id"}, "which is no name"),
    ],
)
def test_bad_rows_name_line_and_fix(
    row: dict[str, Any], columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(SnapshotError, match=rf"^mine\.csv:2.*: .*{message}") as caught:
        drafts(row, **columns)
    assert caught.value.fix


def test_a_gap_between_option_columns_is_an_empty_option() -> None:
    row = {"question": "q", "a": "1", "b": "", "c": "3", "answer": 0}
    with pytest.raises(SnapshotError, match=r"mine\.csv:2.*: option 1 .* is empty"):
        drafts(row, options=("a", "b", "c"))


def test_option_columns_of_numbers_are_refused() -> None:
    row = {"question": "q", "a": 1, "b": 2, "answer": 0}
    with pytest.raises(SnapshotError, match=r"mine\.csv:2: column 'a' holds 1, not a text"):
        drafts(row, options=("a", "b"))


def test_duplicate_ids_are_refused() -> None:
    with pytest.raises(SnapshotError, match=r"mine\.csv:3: id '7' was already used at mine\.csv:2"):
        drafts(question(id="7"), question(id="7"), id="id")
