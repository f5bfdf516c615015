"""Damaged logs: whatever is done to a file, it is read right or refused with an error of ours."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.evaluation.adapters import ADAPTERS, Reading, read_records
from assay.evaluation.adapters.base import Options
from assay.evaluation.record import EvaluationRecord
from support.damage import MUTATIONS, Log, logs

#: Whole texts: lines may end in other ways, and a byte order mark may stand before them.
DECORATIONS = {
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
}


def campaign(folder: Path, times: int, seed: int) -> Counter[tuple[str, str]]:
    """Damage logs; return how often each adapter read one, and refused one."""
    rng = np.random.default_rng(seed)
    whole, run = logs(folder / "twin"), folder / "run"
    ends: Counter[tuple[str, str]] = Counter()
    for _ in range(times):
        log = whole[rng.integers(len(whole))]
        mutate = MUTATIONS[rng.integers(len(MUTATIONS))]
        path, options = log.write(run, mutate(rng, log.files[log.damaged]))
        for named in (log.adapter, None):
            end = _strictly(path, named, options)
            ends[log.adapter, end] += 1
        _leniently(path, log.adapter, options)
        shutil.rmtree(run)
    return ends


def _strictly(path: Path, adapter: str | None, options: dict[str, str]) -> str:
    try:
        found = list(read_records(path, adapter=adapter, options=options))
    except AssayError:
        return "refused"
    for record in found:
        assert EvaluationRecord.model_validate_json(record.model_dump_json()) == record
        assert not str(record.result_path).startswith(("/", ".."))
    attempts = [(record.variant, record.task_id, record.attempt) for record in found]
    assert len(set(attempts)) == len(attempts)
    return "read"


def _leniently(path: Path, adapter: str, options: dict[str, str]) -> None:
    """Read what can be read; only what is needed for every record may still stop it."""
    reading = Reading(Options.model_validate(options), keep_going=True)
    list(read_records(path, adapter=adapter, reading=reading))
    assert all(file.bytes == place.stat().st_size for place, file in reading.inputs.files.items())


def test_every_adapter_has_a_log_that_is_read_whole(tmp_path: Path) -> None:
    whole = logs(tmp_path / "twin")
    assert {log.adapter for log in whole} == set(ADAPTERS)
    for number, log in enumerate(whole):
        path, options = log.write(tmp_path / str(number), log.files[log.damaged])
        named = list(read_records(path, adapter=log.adapter, options=options))
        assert named
        assert list(read_records(path, options=options)) == named


@pytest.mark.parametrize("name", DECORATIONS)
def test_how_a_text_is_written_changes_nothing(tmp_path: Path, name: str) -> None:
    for log in _texts(tmp_path / "twin"):
        content, run = log.files[log.damaged], tmp_path / log.adapter
        found = []
        for text in (content, DECORATIONS[name](content)):
            path, options = log.write(run, text)
            found.append(list(read_records(path, adapter=log.adapter, options=options)))
        shutil.rmtree(run)
        assert found[0] == found[1], log


def _texts(folder: Path) -> list[Log]:
    binary = (".eval", ".parquet")
    whole = [log for log in logs(folder) if not log.damaged.endswith(binary)]
    return [log for log in whole if log.adapter != "assay"]


def test_some_hundred_damages(tmp_path: Path) -> None:
    ends = campaign(tmp_path, 600, seed=1)
    assert {adapter for adapter, _ in ends} == set(ADAPTERS)
    for adapter in ADAPTERS:
        assert ends[adapter, "refused"] > 0, adapter
    assert sum(n for (_, end), n in ends.items() if end == "read") > 200


@pytest.mark.slow
def test_twenty_thousand_damages(tmp_path: Path) -> None:
    ends = campaign(tmp_path, 20_000, seed=2)
    assert sum(ends.values()) == 40_000
    for adapter in ADAPTERS:
        assert ends[adapter, "read"] > 0, adapter
        assert ends[adapter, "refused"] > 0, adapter
