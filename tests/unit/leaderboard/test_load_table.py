from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import (
    ABSENT,
    MISSING,
    NOT_APPLICABLE,
    POOLED,
    RIGHT,
    WRONG,
    Correctness,
)
from assay.leaderboard.load_table import load_table
from assay.leaderboard.ranks import ranking
from assay.leaderboard.slots import slot_table
from assay.records.schema import STATUSES

from .simulated import grid

REFERENCE = "gen|letter_plain|p0"
COLUMNS = ["model", "benchmark", "item", "configuration", "correct"]


def long(data: Correctness) -> pd.DataFrame:
    """Return the present observations as rows, in no particular order."""
    m, i, c = np.nonzero(data.present)
    frame = pd.DataFrame(
        {
            "model": np.array(data.models)[m],
            "benchmark": data.benchmark_of[i],
            "item": [data.items[k].item_id for k in i],
            "configuration": [data.configurations[k].key for k in c],
            "correct": data.values[m, i, c],
            "options": 4,
        }
    )
    return frame.sample(frac=1, random_state=1).reset_index(drop=True)


def rows(*entries: tuple[Any, ...], **columns: Any) -> pd.DataFrame:
    return pd.DataFrame(entries, columns=COLUMNS).assign(**columns)


@pytest.fixture
def data() -> Correctness:
    return grid(3, 20, seed=1, benchmarks=["a"] * 8 + ["b"] * 12)


@pytest.mark.parametrize("form", ["frame", "t.csv", "t.csv.gz", "t.parquet"])
def test_round_trip(data: Correctness, tmp_path: Path, form: str) -> None:
    frame = long(data)
    source: Path | pd.DataFrame = frame
    if form != "frame":
        source = tmp_path / form
        write = frame.to_parquet if form.endswith("parquet") else frame.to_csv
        write(source, index=False)
    found = load_table(source, reference=REFERENCE)
    assert found.models == data.models
    assert found.configurations == data.configurations
    assert found.reference == data.reference
    assert [(x.benchmark, x.item_id, x.options) for x in found.items] == [
        (x.benchmark, x.item_id, 4) for x in data.items
    ]
    assert (found.values == data.values).all()
    assert (found.statuses == STATUSES.index("ok")).all()


def test_a_table_is_ranked_like_the_grid_it_came_from(data: Correctness) -> None:
    found = load_table(long(data), reference=REFERENCE)
    one, two = (ranking(d, d.scope(POOLED)) for d in (found, data))
    assert one.ranks.tolist() == two.ranks.tolist()
    assert slot_table(found).empty  # no position is known


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", RIGHT), ("0", WRONG), ("True", RIGHT), ("false", WRONG), ("1.0", RIGHT), ("", MISSING)],
)
def test_words_for_right_and_wrong(tmp_path: Path, text: str, value: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"model,benchmark,item,configuration,correct\nm,b,x,c,1\nm,b,y,c,{text}\n")
    found = load_table(path, options=4, allow_missing=True)
    assert found.values[0, :, 0].tolist() == [RIGHT, value]


def test_missing_rows_are_missing_and_what_nobody_asked_does_not_apply() -> None:
    table = rows(
        ("m", "a", "x", "p", 1),
        ("m", "a", "x", "q", 1),
        ("m", "a", "y", "p", 0),
        ("n", "a", "x", "p", 1),
        ("m", "b", "z", "p", 1),
    )
    with pytest.raises(AnalysisError, match="nothing of n on b; 4 single observations"):
        load_table(table, reference="p", options=2)
    found = load_table(table, reference="p", options=2, allow_missing=True)
    # Items x and y of a, z of b, under p and q.
    assert found.values[0].tolist() == [
        [RIGHT, RIGHT],
        [WRONG, MISSING],
        [RIGHT, NOT_APPLICABLE],
    ]
    assert found.values[1].tolist() == [
        [RIGHT, MISSING],
        [MISSING, MISSING],
        [MISSING, NOT_APPLICABLE],
    ]
    assert (found.statuses[1, 2] == ABSENT).all()


def test_statuses_are_kept() -> None:
    table = rows(
        ("m", "a", "w", "p", 1),
        ("m", "a", "x", "p", 0),
        ("m", "a", "y", "p", None),
        ("m", "a", "z", "p", None),
        status=["ok", "refusal", "oom", "not_applicable"],
    )
    found = load_table(table, options=2, allow_missing=True)
    assert found.values[0, :, 0].tolist() == [RIGHT, WRONG, MISSING, NOT_APPLICABLE]
    assert [STATUSES[k] for k in found.statuses[0, :, 0]] == table["status"].tolist()


def test_an_empty_status_is_that_of_the_answer() -> None:
    table = rows(("m", "a", "x", "p", 1), ("m", "a", "y", "p", None), status=["", None])
    found = load_table(table, options=2, allow_missing=True)
    assert [STATUSES[k] for k in found.statuses[0, :, 0]] == ["ok", "backend_error"]


def test_clusters_subjects_and_options_belong_to_the_item() -> None:
    table = rows(
        ("m", "a", "x", "p", 1),
        ("n", "a", "x", "p", 1),
        ("m", "b", "x", "p", 1),
        ("n", "b", "x", "p", 1),
        cluster=["c", "c", "", ""],
        subject=["s", "s", "t", "t"],
        options=[3, 3, 5, 5],
    )
    found = load_table(table)
    assert [(x.cluster, x.subject, x.options) for x in found.items] == [
        ("c", "s", 3),
        ("b/x", "t", 5),
    ]


BASE = "m,b,x,p,1,4,ok,c\nm,b,y,p,0,4,ok,c\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("m,b,z,p,yes,4,,c", "correct is 'yes'"),
        ("m,b,z,p,2,4,,c", "correct is '2'"),
        (",b,z,p,1,4,,c", "there is no model"),
        ("m,b, ,p,1,4,,c", "there is no item"),
        ("m,b,x,p,0,4,,c", "a second answer of m to item x under p"),
        ("m,b,z,p,1,1,,c", "options is '1'"),
        ("m,b,z,p,1,,,c", "options is ''"),
        ("m,b,z,p,1,2.5,,c", "options is '2.5'"),
        ("m,b,z,p,1,4,fine,c", "status 'fine' is unknown"),
        ("m,b,z,p,1,4,none,c", "status none does not go with correct = '1'"),
        ("m,b,z,p,0,4,oom,c", "status oom does not go with correct = '0'"),
        ("m,b,z,p,,4,ok,c", "status ok does not go with correct = ''"),
        ("n,b,x,p,0,4,,d", r"item x has another cluster than in .*t\.csv:2"),
        ("n,b,x,p,0,5,,c", r"item x has another options than in .*t\.csv:2"),
        ("", "there is no model"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "t.csv"
    header = "model,benchmark,item,configuration,correct,options,status,cluster\n"
    path.write_text(header + BASE + line + "\nm,b,last,p,1,4,ok,c\n")
    with pytest.raises(AnalysisError, match=message) as caught:
        load_table(path)
    assert caught.value.where == f"{path}:4"


def test_a_frame_names_the_row() -> None:
    with pytest.raises(AnalysisError, match="^row:1: correct is"):
        load_table(rows(("m", "b", "x", "p", 1), ("m", "b", "y", "p", "no")), options=2)


def test_what_a_table_must_say() -> None:
    table = rows(("m", "b", "x", "p", 1), ("m", "b", "x", "q", 1))
    with pytest.raises(AnalysisError, match="no reference was named; the configurations are p, q"):
        load_table(table, options=2)
    with pytest.raises(AnalysisError, match="there is no 'r'"):
        load_table(table, options=2, reference="r")
    with pytest.raises(AnalysisError, match="how many options"):
        load_table(table, reference="p")
    with pytest.raises(AnalysisError, match="how many options"):
        load_table(table, reference="p", options=1)
    with pytest.raises(AnalysisError, match="there is no column item, correct"):
        load_table(table.drop(columns=["item", "correct"]))
    with pytest.raises(AnalysisError, match="no rows"):
        load_table(table.iloc[:0])


def test_two_names_of_one_configuration_are_refused() -> None:
    table = rows(("m", "b", "x", "p", 1), ("m", "b", "x", "gen|p", 1))
    with pytest.raises(AnalysisError, match="are both gen|p"):
        load_table(table, options=2, reference="p")


def test_configurations_are_sorted_by_key_whatever_they_are_called() -> None:
    table = rows(
        ("m", "b", "x", "ll|stem", 1), ("m", "b", "x", "zero", 0), ("m", "b", "x", "gen|f|p0", 1)
    )
    found = load_table(table, options=2, reference="zero")
    assert [way.key for way in found.configurations] == ["gen|f|p0", "gen|zero", "ll|stem"]
    assert found.values[0, 0].tolist() == [1, 0, 1]
    assert found.reference_configuration.format == "zero"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("latin.csv", "model,benchmark,item,configuration,correct\né,b,i,c,1\n".encode("latin-1")),
        ("ragged.csv", b"model,benchmark,item,configuration,correct\na,b,i,c,1,2,3\na,b,i,c,1\n"),
        ("broken.csv.gz", b"not gzip"),
        ("cut.csv.gz", gzip.compress(b"model,benchmark\n", mtime=0)[:-9]),
        ("broken.parquet", b"PAR1 and nothing else"),
    ],
)
def test_a_file_that_is_no_table_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AnalysisError) as caught:
        load_table(path, options=4)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1
