"""What a server says that its replies took: tokens, cost, and which model gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.core.pins import Access
from assay.models.backends.api_replies import usage


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over replies.

    Attributes
    ----------
    replies, uncounted : int
        Replies, and those of them without a count of tokens.
    prompt_tokens, cached_tokens, new_tokens : int
        As the server counts; cached ones are among the prompt's.
    usd : float or None
        What the server says it charged, else by the entry's prices; None where neither is known.
    seconds : float
        Waiting for replies, repeats included, summed over concurrent requests.
    served : tuple of str
        The names (and system fingerprints) under which the server says it answered. More than one
        means that the model was changed, or that the server balances between several.
    """

    replies: int
    uncounted: int
    prompt_tokens: int
    cached_tokens: int
    new_tokens: int
    usd: float | None
    seconds: float
    served: tuple[str, ...]


def usage_of(entries: Iterable[Mapping[str, Any]], access: Access) -> Usage:
    """Return the sums over the entries of a file of replies."""
    kept = list(entries)
    counts = [usage(entry["reply"]) for entry in kept]
    prompt = sum(_count(one, "prompt_tokens") for one in counts)
    new = sum(_count(one, "completion_tokens") for one in counts)
    details = [one.get("prompt_tokens_details") for one in counts]
    cached = sum(_count(one, "cached_tokens") for one in details if isinstance(one, Mapping))
    charged = [one["cost"] for one in counts if isinstance(one.get("cost"), int | float)]
    return Usage(
        replies=len(kept),
        uncounted=sum(not one for one in counts),
        prompt_tokens=prompt,
        cached_tokens=cached,
        new_tokens=new,
        usd=float(sum(charged)) if charged else _priced(access, prompt, new),
        seconds=round(sum(entry["seconds"] for entry in kept), 3),
        served=tuple(sorted({_name(entry["reply"]) for entry in kept})),
    )


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) else 0


def _priced(access: Access, prompt: int, new: int) -> float | None:
    prices = (access.usd_per_million_prompt_tokens, access.usd_per_million_new_tokens)
    if prices[0] is None or prices[1] is None:
        return None
    return (prompt * prices[0] + new * prices[1]) / 1e6


def _name(reply: Mapping[str, Any]) -> str:
    parts = [reply.get("model"), reply.get("system_fingerprint")]
    return " ".join(str(part) for part in parts if part)
