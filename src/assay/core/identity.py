"""Canonical JSON and content digests: the one way this project names content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20


def canonical_json(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no insignificant white space.

    Equal values give equal text on every machine, so that the text may be hashed, stored as a
    Snakemake parameter, or compared.

    Raises
    ------
    TypeError
        If `value` holds something JSON has no word for (a set, a path, an object).
    ValueError
        If `value` holds NaN or an infinity.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def canonical_object(parts: Mapping[str, str]) -> str:
    """Return the canonical JSON of a mapping whose values are canonical JSON already.

    Examples
    --------
    >>> canonical_object({"b": canonical_json([1]), "a": canonical_json("x")})
    '{"a":"x","b":[1]}'
    """
    return "{" + ",".join(f"{canonical_json(key)}:{parts[key]}" for key in sorted(parts)) + "}"


def digest(value: Any, *, length: int = 64) -> str:
    """Return the first `length` hex digits of the sha256 of `value`'s canonical JSON.

    Examples
    --------
    >>> digest({"a": 1}, length=12)
    '015abd7f5cc5'
    """
    return sha256_text(canonical_json(value))[:length]


def sha256_text(text: str) -> str:
    """Return the sha256 (64 hex digits) of `text` in UTF-8; lone surrogates are kept as such."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_file(path: Path) -> str:
    """Return the sha256 (64 hex digits) of a file's bytes, read in chunks of 1 MiB."""
    running = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            running.update(chunk)
    return running.hexdigest()
