"""Data inside a page: escaped JSON, compressed blocks, images, and digests of scripts."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from typing import Any

from markupsafe import Markup

# Inside a script element only "<" can end it; the other two end a line in old JavaScript.
_ESCAPES = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def json_for_script(value: Any) -> Markup:
    r"""Return `value` as JSON that is safe as the text of a script element.

    Raises
    ------
    ValueError
        If `value` holds NaN or an infinity.

    Examples
    --------
    >>> print(json_for_script("</script>"))
    "\u003c/script>"
    """
    text = _json(value)
    for character, escaped in _ESCAPES.items():
        text = text.replace(character, escaped)
    return Markup(text)  # noqa: S704 - nothing in it can end the element


def pack(value: Any) -> str:
    """Return `value` as JSON, gzipped, in base64: the same text for the same value, always."""
    # Lone surrogates may occur in a model's output; as \ud800 they survive UTF-8.
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = raw.encode("utf-8", "backslashreplace")
    return base64.b64encode(gzip.compress(data, compresslevel=9, mtime=0)).decode("ascii")


def png_uri(content: bytes) -> str:
    """Return a PNG image as a ``data:`` address."""
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")


def script_hash(source: str) -> str:
    """Return the source expression by which a content security policy admits one script."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _json(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True
    )
