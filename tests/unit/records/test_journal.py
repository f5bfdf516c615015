from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from assay.core.errors import RecordError
from assay.records.journal import Journal


def entries(*keys: str) -> list[dict[str, object]]:
    return [{"key": key, "text": f"answer {key} \u2028"} for key in keys]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(entries("a", "b"))
    journal.append(entries("c"))
    return journal.path


def test_what_was_appended_is_read_back(path: Path) -> None:
    journal = Journal(path)
    assert len(journal) == 3
    assert journal.get("b") == entries("b")[0]
    assert "d" not in journal


def test_every_torn_end_costs_at_most_the_last_line(path: Path) -> None:
    whole = path.read_bytes()
    starts = [0] + [n + 1 for n, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        kept = sum(start <= cut for start in starts) - 1
        journal = Journal(path)
        assert len(journal) == kept
        # The torn rest is gone, so that the next line is whole again.
        journal.append(entries("z"))
        assert len(Journal(path)) == kept + 1


def test_a_damaged_middle_is_refused_with_its_line(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    for damaged in (b"", b"{", lines[1].replace(b"answer", b"tamper")):
        if not damaged:
            continue
        path.write_bytes(b"\n".join([lines[0], damaged, lines[2], b""]))
        before = path.read_bytes()
        with pytest.raises(RecordError, match=r"journal\.jsonl:2: damaged"):
            Journal(path)
        assert path.read_bytes() == before


def test_the_later_answer_wins(path: Path) -> None:
    Journal(path).append([{"key": "a", "text": "again"}])
    assert Journal(path).get("a")["text"] == "again"


def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    code = f"""
        import resource, signal
        from pathlib import Path
        from assay.core.errors import RecordError
        from assay.records.journal import Journal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        journal = Journal(Path({str(path)!r}))
        for number in range(100):
            try:
                journal.append([{{"key": str(number), "text": "x" * 300}}])
            except RecordError as error:
                print(number, error)
                break
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    written, _, message = done.stdout.partition(" ")
    assert "cannot write the journal: File too large" in message
    assert len(Journal(path)) == int(written) > 5
