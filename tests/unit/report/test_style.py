"""What the page's own files may and may not do."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import product

import pytest

TEMPLATES = files("assay.report").joinpath("templates")
SOURCES = {path.name: path.read_text("utf-8") for path in TEMPLATES.iterdir()}


def themes() -> dict[str, dict[str, str]]:
    light, dark = re.findall(r":root \{(.*?)\}", SOURCES["base.css"], re.DOTALL)[:2]
    read = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]
    return {"light": read[0], "dark": read[0] | read[1]}


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("theme", "text", "ground"),
    [
        *product(
            ("light", "dark"),
            ("ink", "quiet", "accent", "good", "bad", "unsure"),
            ("paper", "raised"),
        ),
        *product(("light", "dark"), ("ink",), ("notice", "mark")),
    ],
)
def test_text_is_readable(theme: str, text: str, ground: str) -> None:
    colours = themes()[theme]
    high, low = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 2 AA


@pytest.mark.parametrize("name", sorted(name for name in SOURCES if name.endswith(".js")))
def test_scripts_never_turn_text_into_markup_or_code(name: str) -> None:
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert not re.search(forbidden, SOURCES[name])


def test_nothing_points_outside() -> None:
    for name, text in SOURCES.items():
        assert not re.search(r"https?://|@import|url\(", text), name
