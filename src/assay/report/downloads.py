"""Copies of tables, figures and numbers beside the page, so that its folder can be passed on."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from assay.core.files import atomic_write, finished_files

FOLDER = "files"


@dataclass(frozen=True)
class Download:
    """One file that the page links to.

    Attributes
    ----------
    href : str
        Relative to the page.
    size : int
        Bytes.
    """

    name: str
    href: str
    size: int
    path: Path


def copy_downloads(
    out: Path, *, leaderboard: Path, tables: Path, figures: Path
) -> dict[str, list[Download]]:
    """Copy everything for download to ``{out}/files``; return group → files.

    What an earlier report left there is removed.
    """
    target = out / FOLDER
    if target.exists():
        shutil.rmtree(target)
    groups = {
        "Numbers": [leaderboard],
        "Tables": finished_files(tables, ".csv", ".parquet"),
        "Figures": finished_files(figures, ".pdf", ".png"),
    }
    return {
        group: [_copy(path, target / group.lower(), out) for path in paths]
        for group, paths in groups.items()
        if paths
    }


def _copy(path: Path, folder: Path, out: Path) -> Download:
    copied = copy(path, folder / path.name)
    return Download(path.name, link(copied, out / "index.html"), copied.stat().st_size, copied)


def copy(path: Path, target: Path) -> Path:
    """Copy a file to `target`, as a whole or not at all, and return that."""
    content = path.read_bytes()
    with atomic_write(target) as stream:
        stream.write(content)
    return target


def link(path: Path, page: Path) -> str:
    """Return the address of a file beside or below a page."""
    return path.relative_to(page.parent).as_posix()
