from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.extraction.normalize import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("plain", "plain"),
        ("Ｂ：", "B:"),
        ("а В", "а В"),
        ("“B”’s", '"B"\'s'),
        ("a\r\nb\u2028c\x85d", "a\n\nb\nc\nd"),
        ("\u200bB\ufeff", "B"),
        ("1\u200b2", "1\u200b2"),
        ("1\u200b\u200b2", "1\u200b2"),
        ("x²", "x²"),
        ("½", "½"),
        ("⑫", "12"),
        ("e\u0301", "é"),
        ("\u1103\u1161\u11b8", "답"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text).text == folded


@given(st.text())
@settings(deadline=None)
def test_every_folded_character_knows_its_origin(text: str) -> None:
    found = fold(text)
    for index, character in enumerate(found.text):
        start, end = found.original(index, index + 1)
        assert 0 <= start < end <= len(text)
        origin = text[start:end]
        assert character in unicodedata.normalize("NFKC", origin) + origin + "\n\"'-\u200b"


@given(st.text())
@settings(deadline=None)
def test_origins_never_run_backwards(text: str) -> None:
    found = fold(text)
    bounds = [found.original(index, index + 1) for index in range(len(found.text))]
    assert bounds == sorted(bounds)
