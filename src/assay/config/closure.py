"""The code digest: which files of this project can change what a script does.

Snakemake never sees imported modules, and sees a script by its modification time only. The digest
over a script's transitive static imports inside the project is a rule parameter instead, so that
an edit of a plot re-runs that figure and nothing else.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = "assay"
SOURCE = Path(__file__).resolve().parents[1]
#: Data that modules of a package read (templates, lists): they count as its code.
_DATA_FOLDERS = ("templates", "data", "policies")
_DATA_SUFFIXES = {".html", ".css", ".js", ".yaml", ".json", ".jinja"}
#: An import of the package, at the start of a line or behind another statement.
_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(from[ \t]+assay\b[\w.]*[ \t]+import[ \t]*(?:\([^)]*\)|[^\n;]*)"
    rb"|import[ \t][^\n;]*\bassay\b[^\n;]*)",
    re.MULTILINE,
)


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
    named = {_name(path, SOURCE): path for path in closure(script) - {script}}
    for name in sorted(named):
        running.update(name.encode() + b"\0" + _content(named[name]))
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
def _name(path: Path, source: Path) -> str:
    return path.resolve().relative_to(source.parent).as_posix()


@cache
def _content(path: Path) -> bytes:
    # Trailing white space is all that an editor may change without changing meaning.
    return path.read_bytes().rstrip()


@cache
def _reached(path: Path) -> frozenset[Path]:
    if path.suffix != ".py":
        return frozenset()
    modules = {file for name in set(_imports(path)) for file in _files(name, SOURCE)}
    return frozenset(modules | set(_data_beside(path)))


def _imports(path: Path) -> Iterator[str]:
    """Yield the dotted names under the package that `path` imports, at any depth of the code."""
    for node in ast.walk(_import_statements(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == PACKAGE)


def _import_statements(path: Path) -> ast.Module:
    """Return what looks like an import of the package; all of `path` where that is no Python.

    Parsing whole files took half of the time in which a cluster job reads the Snakefile.
    """
    found = (match[1] for match in _IMPORT.finditer(_content(path)))
    try:
        return ast.parse(b"\n".join(found))
    except SyntaxError:
        return ast.parse(_content(path), filename=str(path))


@cache
def _files(name: str, source: Path) -> list[Path]:
    """Return the file of module `name` and the ``__init__`` files that importing it runs."""
    parts, found = name.split(".")[1:], []
    for depth in range(len(parts) + 1):
        base = source.joinpath(*parts[:depth])
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
