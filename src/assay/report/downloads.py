"""Copies of tables, figures and numbers beside the page, so that its folder can be passed on."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from assay.core.files import atomic_write

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
        "Tables": _files(tables, (".csv", ".parquet")),
        "Figures": _files(figures, (".pdf", ".png")),
    }
    return {
        group: [_copy(path, target / group.lower(), out) for path in paths]
        for group, paths in groups.items()
        if paths
    }


def _files(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in suffixes)


def _copy(path: Path, folder: Path, out: Path) -> Download:
    copied = folder / path.name
    content = path.read_bytes()
    with atomic_write(copied) as stream:
        stream.write(content)
    return Download(path.name, copied.relative_to(out).as_posix(), len(content), copied)
