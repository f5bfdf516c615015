"""The code digest: which files of this project can change what a script does.

Snakemake never sees imported modules, and sees a script by its modification time only. The digest
over a script's transitive static imports inside the project is a rule parameter instead, so that
an edit of a plot re-runs that figure and nothing else.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = "assay"
SOURCE = Path(__file__).resolve().parents[1]
#: Data that modules of a package read (templates, lists): they count as its code.
_DATA_FOLDERS = ("templates", "data", "policies")
_DATA_SUFFIXES = {".html", ".css", ".js", ".yaml", ".json", ".jinja"}


def code_digest(script: Path, *, length: int = 16) -> str:
    """Return a digest of `script` and of every project module it can import.

    Parameters
    ----------
    script : Path
        A Python file outside or inside the package.
    length : int
        Number of hex digits.

    Examples
    --------
    >>> code_digest(Path(__file__)) == code_digest(Path(__file__))
    True
    """
    running = hashlib.sha256(_content(script))
    for path in sorted(closure(script) - {script}, key=_name):
        running.update(_name(path).encode() + b"\0" + _content(path))
    return running.hexdigest()[:length]


def closure(script: Path) -> set[Path]:
    """Return `script` and every file of the package that it reaches by static imports."""
    found = {script}
    open_files = [script]
    while open_files:
        for path in _reached(open_files.pop()):
            if path not in found:
                found.add(path)
                open_files.append(path)
    return found


@cache
def _name(path: Path) -> str:
    return path.resolve().relative_to(SOURCE.parent).as_posix()


@cache
def _content(path: Path) -> bytes:
    # Trailing white space is all that an editor may change without changing meaning.
    return path.read_bytes().rstrip()


@cache
def _reached(path: Path) -> frozenset[Path]:
    if path.suffix != ".py":
        return frozenset()
    modules = {file for name in _imports(path) for file in _files(name)}
    return frozenset(modules | set(_data_beside(path)))


def _imports(path: Path) -> Iterator[str]:
    """Yield the dotted names under the package that `path` imports, at any depth of the code."""
    for node in _statements(ast.parse(_content(path), filename=str(path)).body):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == PACKAGE)


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and those within them; expressions, most of a file, hold no import."""
    for node in body:
        yield node
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from _statements(getattr(node, field, ()))


@cache
def _files(name: str) -> list[Path]:
    """Return the file of module `name` and the ``__init__`` files that importing it runs."""
    parts, found = name.split(".")[1:], []
    for depth in range(len(parts) + 1):
        base = SOURCE.joinpath(*parts[:depth])
        if (base / "__init__.py").is_file():
            found.append(base / "__init__.py")
        elif base.with_suffix(".py").is_file():
            found.append(base.with_suffix(".py"))
    return found


def _data_beside(path: Path) -> Iterator[Path]:
    if SOURCE not in path.resolve().parents or path.name == "__init__.py":
        return
    for folder in (path.parent / name for name in _DATA_FOLDERS):
        if folder.is_dir():
            files = folder.rglob("*")
            yield from (f for f in files if f.is_file() and f.suffix in _DATA_SUFFIXES)
