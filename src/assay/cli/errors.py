"""Errors of the command line: one line, and status 1."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from assay.core.errors import AssayError


@contextmanager
def clear_errors() -> Iterator[None]:
    """Print an error as one line and leave with status 1."""
    try:
        yield
    except AssayError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from error
