"""The named extractors: which rules each may use, and the way from text to result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from assay.core.errors import AssayError
from assay.extraction import fallbacks, rules
from assay.extraction.claims import ClaimScanner
from assay.extraction.context import find_chains
from assay.extraction.document import Document
from assay.extraction.mentions import find_mentions
from assay.extraction.normalize import Folded, fold
from assay.extraction.positions import find_entries
from assay.extraction.reading import Outcome, Reading, Rule
from assay.extraction.result import Extraction, Status
from assay.extraction.scope import answer_scope
from assay.extraction.tokens import BREAK, tokenize

EXTRACTORS = ("strict", "standard", "lenient", "first_match")

_PLAIN_RULES = frozenset(["bare", "line", "declared", "boxed", "tagged"])
_STANDARD: tuple[Rule, ...] = (
    rules.bare,
    rules.whole_text,
    rules.declared,
    rules.refusal,
    rules.position,
    fallbacks.line_text,
    fallbacks.weak,
    fallbacks.group,
)
_LENIENT: tuple[Rule, ...] = (
    *_STANDARD,
    fallbacks.lone_label,
    fallbacks.lone_text,
    fallbacks.cut_text,
)
_LABEL = re.compile(r"[A-Za-z]|[1-9]|1[0-9]|2[0-6]")


@dataclass(frozen=True, slots=True)
class _Policy:
    rules: tuple[Rule, ...]
    plain: bool = False


_POLICIES = {
    "strict": _Policy(_STANDARD, plain=True),
    "standard": _Policy(_STANDARD),
    "lenient": _Policy(_LENIENT),
}


def extract(
    text: str,
    labels: Sequence[str],
    options: Sequence[str] | None = None,
    extractor: str = "standard",
) -> Extraction:
    """Return the label that `text` answers with, or why there is none.

    Parameters
    ----------
    text : str
        What the model wrote, unchanged.
    labels : sequence of str
        The labels as shown: 2 to 26 single letters, or "1" to "26".
    options : sequence of str, optional
        The option texts in the order shown, one per label. Without them no answer is recognised
        by its text, and a label is not checked against the text that follows it.
    extractor : {"standard", "strict", "lenient", "first_match"}
        `standard` is the headline. `strict` takes a label only where it stands alone or is
        declared; `lenient` also takes a single mention anywhere and an option text that was cut;
        `first_match` is the old rule, the first label character anywhere, kept for comparison.

    Returns
    -------
    Extraction
        Status, label (spelt as in `labels`), deciding rule and span in `text`.

    Raises
    ------
    AssayError
        If the labels, the options or the extractor's name cannot be used.

    Examples
    --------
    >>> extract("The answer is not A but C", "ABCD").label
    'C'
    >>> extract("A or B", "ABCD").status
    <Status.AMBIGUOUS: 'ambiguous'>
    >>> extract("Antwort: B", ["A", "B"], extractor="first_match").label
    'A'
    """
    offered = _check_labels(tuple(labels))
    shown = None if options is None else tuple(options)
    if shown is not None and len(shown) != len(offered):
        raise AssayError(
            f"{len(shown)} option texts for {len(offered)} labels.",
            fix="give one option text per label, in the order shown, or none at all.",
        )
    if extractor == "first_match":
        return _first_match(text, offered)
    if extractor not in _POLICIES:
        raise AssayError(
            f"unknown extractor {extractor!r}.", fix=f"use one of {', '.join(EXTRACTORS)}."
        )
    folded, reading = _understood(text, offered, shown)
    if isinstance(reading, Reading):
        reading = _decide(reading, _POLICIES[extractor])
    return _to_original(folded, reading)


@lru_cache(maxsize=256)
def _check_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    known = all(_LABEL.fullmatch(label) for label in labels)
    one_kind = len({label.isdigit() for label in labels}) == 1
    distinct = len({label.casefold() for label in labels}) == len(labels)
    if not (2 <= len(labels) <= 26 and known and one_kind and distinct):
        raise AssayError(
            f"cannot read answers against the labels {list(labels)!r}.",
            fix="use 2 to 26 different labels, either single letters or the numbers 1 to 26.",
        )
    return labels


@lru_cache(maxsize=4)
def _understood(
    text: str, labels: tuple[str, ...], options: tuple[str, ...] | None
) -> tuple[Folded, Reading | Outcome]:
    """Return what every extractor decides on, or its outcome where there is nothing to decide.

    Kept for a moment: an audit asks all extractors about one text after the other.
    """
    folded = fold(text)
    scope = answer_scope(folded.text)
    if scope.leak is not None:
        return folded, Outcome(Status.THINKING_LEAK, "open_thinking", None, scope.leak)
    tokens = tokenize(folded.text, scope.start, scope.end)
    if all(token.kind == BREAK for token in tokens):
        if folded.text[scope.start : scope.end].strip():
            return folded, Outcome(Status.NONE, "nothing")
        return folded, Outcome(Status.EMPTY, "blank")
    return folded, _read(Document(folded.text, (scope.start, scope.end), tokens, labels, options))


def _decide(reading: Reading, policy: _Policy) -> Outcome:
    for rule in policy.rules:
        outcome = rule(reading)
        if outcome is not None:
            return _admit(outcome, policy)
    return fallbacks.nothing(reading)


def _read(document: Document) -> Reading:
    document.mentions = find_mentions(document)
    chains = find_chains(document)
    claims = ClaimScanner(document, chains).scan()
    return Reading(document, chains, claims, find_entries(document))


def _admit(outcome: Outcome, policy: _Policy) -> Outcome:
    """Let the strict extractor take a label only from its own rules."""
    if policy.plain and outcome.status is Status.OK and outcome.rule not in _PLAIN_RULES:
        return replace(outcome, status=Status.NONE, label=None, rule="not_plain")
    return outcome


def _first_match(text: str, labels: tuple[str, ...]) -> Extraction:
    if not text.strip():
        return Extraction(Status.EMPTY, None, "blank", None)
    longest_first = sorted(labels, key=len, reverse=True)
    match = re.search("|".join(longest_first), text)
    if match is None:
        return Extraction(Status.NONE, None, "nothing", None)
    return Extraction(Status.OK, match.group(), "first_match", match.span())


def _to_original(folded: Folded, outcome: Outcome) -> Extraction:
    span = None if outcome.span is None else folded.original(*outcome.span)
    return Extraction(outcome.status, outcome.label, outcome.rule, span)
