"""Tables that a command writes into a page that people write."""

from __future__ import annotations

import re
from pathlib import Path


def replace_section(page: Path, name: str, text: str) -> None:
    """Put `text` between ``<!-- name -->`` and ``<!-- end name -->`` of `page`.

    Raises
    ------
    SystemExit
        If the page has no such marks.
    """
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    whole = page.read_text("utf-8")
    if not marks.search(whole):
        raise SystemExit(f"{page}: no <!-- {name} --> … <!-- end {name} -->")
    page.write_text(marks.sub(lambda found: f"{found[1]}{text}\n{found[2]}", whole), "utf-8")
