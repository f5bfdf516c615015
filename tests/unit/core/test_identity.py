from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.identity import canonical_json, digest, sha256_file, sha256_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=4), json_values))
def test_key_order_does_not_matter(value: dict[str, object]) -> None:
    reversed_keys = dict(reversed(list(value.items())))
    assert canonical_json(value) == canonical_json(reversed_keys)


def test_swapped_values_differ() -> None:
    # Snakemake stores parameters as a set of values and would not see this swap.
    assert digest({"temperature": 0, "top_p": 1}) != digest({"temperature": 1, "top_p": 0})


@pytest.mark.parametrize("value", [{1, 2}, Path("a"), object()])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json({"a": value})


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def test_file_digest_is_that_of_its_bytes(tmp_path: Path) -> None:
    data = b"x" * (3 << 20)
    (tmp_path / "big").write_bytes(data)
    assert sha256_file(tmp_path / "big") == hashlib.sha256(data).hexdigest()


def test_lone_surrogates_have_a_digest() -> None:
    assert sha256_text("\ud800") != sha256_text("\ud801")
