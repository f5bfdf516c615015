"""Disks: free space, rights, kind of file system, and whether file locks work there."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from assay.cli.doctor.check import Check, Context

#: Free gigabytes below which a run will fail, and below which it may.
_ROOM = {"results": (0.1, 2.0), "cache": (0.5, 10.0)}
#: File systems of several machines: what one writes, another may see late.
NETWORK = frozenset(
    {
        *("nfs", "nfs4", "lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "fuse.ceph"),
        *("cifs", "smb3", "smbfs", "9p", "afs", "glusterfs", "fuse.glusterfs", "fuse.sshfs"),
        *("pvfs2", "orangefs", "wekafs", "panfs", "virtiofs"),
    }
)
_MOUNTS = Path("/proc/self/mountinfo")


def storage(context: Context) -> Iterator[Check]:
    """Look at the folders that a run writes: results and the cache."""
    for name, folder in (("results", context.root / "results"), ("cache", context.cache)):
        yield _writable(name, folder)
        yield _room(name, folder)
    yield _sharing(context.root / "results")


def existing(folder: Path) -> Path:
    """Return `folder`, or the nearest folder above it that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.is_dir())


def _writable(name: str, folder: Path) -> Check:
    place = existing(folder)
    try:
        with tempfile.TemporaryFile(dir=place) as probe:
            probe.write(b"x" * 4096)
            probe.flush()
    except OSError as error:
        advice = "make it writable, free some space" + (
            ", or set ASSAY_CACHE to another folder." if name == "cache" else "."
        )
        detail = f"{folder} cannot be written: {error.strerror}"
        return Check(f"{name}: writing", "wrong", detail, advice)
    return Check(f"{name}: writing", "ok", str(folder))


def _room(name: str, folder: Path) -> Check:
    free = shutil.disk_usage(existing(folder)).free / 1e9
    least, enough = _ROOM[name]
    detail = f"{free:,.1f} GB free"
    advice = f"a run needs room below {folder}: free some" + (
        ", or set ASSAY_CACHE." if name == "cache" else "."
    )
    if free < least:
        return Check(f"{name}: space", "wrong", detail, advice)
    if free < enough:
        return Check(f"{name}: space", "warn", detail, advice)
    return Check(f"{name}: space", "ok", detail)


def _sharing(folder: Path) -> Check:
    """Say what kind of file system holds the results, and try a file lock on it."""
    name = "results: file system"
    kind, place = file_system(folder), existing(folder)
    try:
        with tempfile.TemporaryFile(dir=place) as probe:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        detail = f"{kind}; file locks do not work: {error.strerror}"
        advice = "nothing must be done: leases decide who writes a shard, within 150 s of a crash."
        return Check(name, "warn", detail, advice)
    if kind in NETWORK:
        advice = "keep latency-wait at 60 s or more in the profile; keep ASSAY_LEASES off it."
        return Check(name, "ok", f"{kind}, shared by machines; file locks work", advice)
    return Check(name, "ok", f"{kind}; file locks work")


def file_system(path: Path) -> str:
    """Return the kind of file system that holds `path`; "unknown" where the system does not say."""
    if not _MOUNTS.is_file():
        return "unknown"
    real = os.path.realpath(existing(path))
    best, kind = "", "unknown"
    for line in _MOUNTS.read_text("utf-8").splitlines():
        before, _, after = line.partition(" - ")
        point = before.split()[4].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        # The last of several mounts on one point is the one that is seen.
        if inside and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind
