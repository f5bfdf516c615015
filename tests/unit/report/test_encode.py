"""Data inside a page."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from assay.report.encode import json_for_script, pack, script_hash


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\u2028\u2029", 'quote " & <b>'])
def test_json_for_script_cannot_end_its_element_and_means_the_same(text: str) -> None:
    written = json_for_script({"text": text})
    assert "<" not in written
    assert "\u2028" not in written
    assert json.loads(written) == {"text": text}


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        json_for_script([float("nan")])
    with pytest.raises(ValueError, match="Out of range float"):
        pack([float("nan")])


def test_packed_values_come_back_even_with_lone_surrogates() -> None:
    value = {"text": "\ud800 \U0001f600 </script>"}
    data = gzip.decompress(base64.b64decode(pack(value)))
    assert json.loads(data) == value


def test_packing_is_deterministic() -> None:
    assert pack({"a": [1, "x"] * 999}) == pack({"a": [1, "x"] * 999})


def test_script_hash_is_that_of_the_csp_specification() -> None:
    # The example of Content Security Policy Level 2, section 4.2.5.
    expected = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    assert script_hash("alert('Hello, world.');") == expected
