"""Checks as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from assay.cli.doctor.check import Check

_COLOURS = {"ok": "green", "warn": "yellow", "wrong": "bold red", "skipped": "dim"}


def as_json(checks: Sequence[Check]) -> str:
    """Return a list of {name, state, detail, advice}."""
    return json.dumps([asdict(check) for check in checks], indent=1)


def print_table(checks: Sequence[Check], console: Console) -> None:
    """Print the checks and a last line that counts what is not in order."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("check", "state", "found", "what to do"):
        table.add_column(title, overflow="fold")
    for check in checks:
        state = Text(check.state, style=_COLOURS[check.state])
        table.add_row(escape(check.name), state, escape(check.detail), escape(check.advice))
    console.print(table)
    wrong = sum(check.state == "wrong" for check in checks)
    warned = sum(check.state == "warn" for check in checks)
    console.print(f"{wrong} wrong, {warned} to look at, of {len(checks)} checks")
