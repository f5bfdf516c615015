from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.tables import COLUMNS, TABLES, shaped, write_tables


@pytest.mark.parametrize("name", TABLES)
def test_an_empty_table_still_has_its_columns_and_types(name: str, tmp_path: Path) -> None:
    table = shaped(name, pd.DataFrame())
    write_tables(tmp_path, {name: table})
    for read in (pd.read_csv, pd.read_parquet):
        path = tmp_path / f"{name}.{'csv' if read is pd.read_csv else 'parquet'}"
        assert list(read(path).columns) == list(COLUMNS[name])
    again = pd.read_parquet(tmp_path / f"{name}.parquet")
    assert (again.dtypes == table.dtypes).all()


def test_a_wrong_column_is_named() -> None:
    frame = pd.DataFrame({"benchmark": ["b"], "item_id": ["i"], "fragility": [0.5], "model": [1]})
    with pytest.raises(AnalysisError, match="item_fragility: columns .* model, models"):
        shaped("item_fragility", frame)


def test_numbers_are_written_with_ten_digits_and_gaps_stay_empty(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "benchmark": ["b", "b"],
            "item_id": ["i", "j"],
            "fragility": [1 / 3, np.nan],
            "models": [3, 3],
        }
    )
    write_tables(tmp_path, {"item_fragility": shaped("item_fragility", frame)})
    text = (tmp_path / "item_fragility.csv").read_text()
    assert text == "benchmark,item_id,fragility,models\nb,i,0.3333333333,3\nb,j,,3\n"
    exact = pd.read_parquet(tmp_path / "item_fragility.parquet")
    assert exact["fragility"][0] == 1 / 3


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    frame = shaped("ranks", pd.DataFrame())
    first = write_tables(tmp_path / "one", {"ranks": frame})
    second = write_tables(tmp_path / "two", {"ranks": frame})
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
