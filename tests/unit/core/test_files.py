from __future__ import annotations

import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from assay.core.errors import AssayError
from assay.core.files import atomic_write, read_jsonl, scratch_directory, write_json, write_jsonl


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    write_json(target, {"a": 1})
    before = target.read_bytes()

    def fail_in_the_middle() -> None:
        with atomic_write(target) as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_in_the_middle()
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_is_one_clear_message_and_no_half_file(tmp_path: Path) -> None:
    # A file size limit makes the kernel refuse the write as a full disk would.
    code = f"""
        import resource, signal
        from pathlib import Path
        from assay.core.errors import AssayError
        from assay.core.files import write_jsonl
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            write_jsonl(Path({str(tmp_path / "out.jsonl")!r}), (["x" * 100] for _ in range(1000)))
        except AssayError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert "cannot write: File too large" in done.stdout
    assert "nothing was overwritten" in done.stdout
    assert list(tmp_path.iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


def test_unicode_line_breaks_do_not_cut_a_line(tmp_path: Path) -> None:
    rows = [{"text": "a\u2028b\x85c\x0bd"}, {"text": "e"}]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    assert [row for _, row in read_jsonl(tmp_path / "rows.jsonl")] == rows


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(AssayError, match=r"rows\.jsonl:2: not valid JSON"):
        list(read_jsonl(path))


@pytest.mark.parametrize("value", ['"\\uD800"', '"\\ud800"', "[" * 3000 + "]" * 3000, "9" * 5000])
def test_a_value_that_nobody_can_write_again_is_named(tmp_path: Path, value: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"a": "\\ud83d\\ude00"}}\n{value}\n')
    rows = read_jsonl(path)
    assert next(rows) == (1, {"a": "\U0001f600"})
    with pytest.raises(AssayError, match=r"x\.jsonl:2: not valid JSON"):
        next(rows)


def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(AssayError, match="set TMPDIR"):
        scratch_directory()
