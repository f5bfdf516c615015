from __future__ import annotations

from pathlib import Path

import pytest

from assay.benchmarks import sources
from assay.core.errors import SourceError
from assay.core.identity import sha256_file
from assay.core.pins import PathPin


def test_rows_are_named_as_the_user_wrote_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.csv").write_text("q,a\none,1\n")
    monkeypatch.chdir(tmp_path)
    ((where, value),) = sources.read_rows(PathPin(path="mine.csv"), tmp_path, offline=True)
    assert (str(where), value) == ("mine.csv:2", {"q": "one", "a": "1"})


def test_fetch_takes_the_digest_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("q,a\n")
    pin = PathPin(path=str(path))
    assert sources.fetch(pin, tmp_path, offline=True) == {"mine.csv": sha256_file(path)}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no/such\.csv: there is no such file.*Fix: "):
        sources.fetch(PathPin(path="no/such.csv"), tmp_path, offline=True)
