"""The rules that look for a plain answer, in the order in which they are asked.

Each takes a `Reading` and returns an `Outcome` or None; the first that has a say decides. The
same list in words is docs/explanation/extraction.md; `fallbacks` holds the later rules.
"""

from __future__ import annotations

from assay.extraction import lexicon
from assay.extraction.claim import CONCLUDING, Claim
from assay.extraction.context import introduced
from assay.extraction.document import Document, Mention
from assay.extraction.positions import Entry
from assay.extraction.reading import Outcome, Reading, ambiguous, distinct
from assay.extraction.refusal import find_refusal
from assay.extraction.result import Status
from assay.extraction.tokens import BREAK, PUNCT, RUN, Token

# What may lie between two declarations that nobody corrects ("final" would be a correction).
_FRAME_WORDS = (
    lexicon.FILLERS
    | lexicon.CONNECTORS
    | lexicon.POINTING
    | lexicon.COPULAS
    | lexicon.ANSWER_NOUNS
    | lexicon.OPTION_NOUNS
    | lexicon.CORRECT
) - {"final", "single", "actually"}


def bare(reading: Reading) -> Outcome | None:
    """Take a label that is the whole text: "B", "(b).", "**B**", "B B"."""
    document = reading.document
    solid = [i for i, token in enumerate(document.tokens) if not _silent(token)]
    found = [document.mentions[index] for index in solid if index in document.mentions]
    if not found or len(found) < len(solid) or any(mention.rejected for mention in found):
        return None
    if all(mention.label for mention in found):
        return reading.dispute(found, "group") or reading.decide(found[0], "bare")
    if distinct(found) > 1 or reading.text_at(found[0].index) is not None:
        return None
    return reading.decide(found[0], "bare")


def _silent(token: Token) -> bool:
    return token.kind in (PUNCT, BREAK) or token.kind == RUN and token.key in lexicon.RUN_ENDINGS


def whole_text(reading: Reading) -> Outcome | None:
    """Take an option text that is the whole text."""
    document = reading.document
    matches = document.options.whole() if document.options else ()
    if not matches:
        return None
    span = reading.span(0, len(document.tokens) - 1)
    return reading.decide_text(matches, "option_text", span)


def declared(reading: Reading) -> Outcome | None:
    """Take the last declaration: boxed, tagged, "the answer is B", "B is correct"."""
    heads = _list_heads(reading)
    found = [c for c in reading.claims if c.firm and (c.chain is None or c.last not in heads)]
    if not found and heads:
        span = reading.span(max(heads), reading.entries[-1].mention.index)
        return _concluded_after(reading, reading.entries[-1]) or ambiguous("option_list", span)
    if not found:
        return None
    last = found[-1]
    if len(found) > 1 and _repeats(reading, found[-2], last):
        return ambiguous("declared_twice", reading.span(found[-2].first, last.last))
    return of_claim(reading, last)


def _list_heads(reading: Reading) -> set[int]:
    """Return the last tokens of the claims that are the first item of a list of options.

    The next line begins with the next label: "Options: A. Iron", "B. Copper". After a line break,
    as behind "Choose the answer:", any other label there makes it a list.
    """
    document = reading.document
    entries = {entry.start: entry.mention.label for entry in reading.entries}
    following = _next_lines(document) if entries and reading.claims else []
    heads = set()
    for claim in reading.claims:
        label = claim.chain.members[-1].label if claim.chain else None
        other = entries.get(following[claim.last]) if following else None
        if label is None or other is None or other == label:
            continue
        if claim.crossed or document.order.index(other) == document.order.index(label) + 1:
            heads.add(claim.last)
    return heads


def _next_lines(document: Document) -> list[int]:
    """Return for every token the first token of the next line that is not blank."""
    following = [len(document.tokens)] * len(document.tokens)
    start = head = len(document.tokens)
    for index in range(len(document.tokens) - 1, -1, -1):
        if document.kind(index) == BREAK:
            start = head
        else:
            head = index
        following[index] = start
    return following


def _repeats(reading: Reading, before: Claim, after: Claim) -> bool:
    """Tell whether two different declarations follow each other with nothing between."""
    if before.chain is None or after.chain is None:
        return False
    if distinct([*before.chain.standing(), *after.chain.standing()]) < 2:
        return False
    between = range(before.last + 1, after.first)
    return all(_empty_word(reading.document, index) for index in between)


def _empty_word(document: Document, index: int) -> bool:
    return document.kind(index) in (PUNCT, BREAK) or document.key(index) in _FRAME_WORDS


def of_claim(reading: Reading, claim: Claim) -> Outcome:
    """Return what a claim amounts to, seen together with the text it introduces."""
    span = reading.span(claim.first, claim.last)
    if claim.disputed:
        return ambiguous("label_and_text", span)
    if claim.chain is None:
        return reading.decide_text(claim.options, claim.rule, span)
    standing = claim.chain.standing()
    disputed = reading.dispute(standing, "group")
    if disputed is not None:
        return disputed
    if introduced(reading.document, standing[-1].index) == "other":
        return ambiguous("label_and_text", span)
    return reading.decide(standing[-1], claim.rule)


def refusal(reading: Reading) -> Outcome | None:
    """Recognise a text that declines to answer."""
    document = reading.document
    span = find_refusal(document.text, document.start, document.end)
    return None if span is None else Outcome(Status.REFUSAL, "refusal", None, span)


def position(reading: Reading) -> Outcome | None:
    """Take a label at the head of the text or alone on a line; different ones are a list."""
    entries = _before_second_list(reading, _without_list_numbers(reading))
    if not entries:
        return Outcome(Status.NONE, "list_numbers") if reading.entries else None
    disputed = reading.dispute(_joined_to(reading, entries[0]), "group")
    disputed = disputed or reading.dispute(_entry_labels(entries), "option_list")
    if disputed is not None:
        return _concluded_after(reading, entries[-1]) or disputed
    for entry in entries:
        if entry.text == "other":
            span = reading.span(entry.mention.index, entry.mention.index)
            return ambiguous("label_and_text", span)
    if entries[0].line > 0 and not any(entry.alone or entry.text for entry in entries):
        return None
    alone = all(entry.alone for entry in entries)
    return reading.decide(entries[-1].mention, "line" if alone else "head")


def _concluded_after(reading: Reading, entry: Entry) -> Outcome | None:
    """Return the conclusion that follows a list of options: "... Therefore it is C"."""
    found = [claim for claim in reading.claims if claim.rule in CONCLUDING]
    if not found or found[-1].first < entry.mention.index:
        return None
    return of_claim(reading, found[-1])


def _before_second_list(reading: Reading, entries: list[Entry]) -> list[Entry]:
    """Keep the head of "B. Copper", some words, and then "A. Iron is ...", "C. Gold is ..."."""
    if len(entries) < 2 or entries[0].line > 0 or entries[1].line < 2 or entries[1].alone:
        return entries
    order = reading.document.order
    head, second = entries[0].mention.label, entries[1].mention.label
    if head is None or second is None or order.index(second) > order.index(head):
        return entries
    return entries[:1]


def _entry_labels(entries: list[Entry]) -> list[Mention]:
    rivals = [entry.rival for entry in entries if entry.rival is not None]
    return [entry.mention for entry in entries] + rivals


def _joined_to(reading: Reading, entry: Entry) -> list[Mention]:
    """Return the labels that "or", "and" or a comma join to an entry."""
    for chain in reading.chains:
        if chain.first <= entry.mention.index <= chain.last:
            return chain.standing()
    return []


def _without_list_numbers(reading: Reading) -> list[Entry]:
    """Drop the numbers of a list whose lines are no options: "1. First, ... 2. Then, ..."."""
    entries = reading.entries
    if not reading.document.digits or any(entry.text for entry in entries):
        return entries
    foreign = [entry.mention for entry in entries if not entry.alone]
    return [entry for entry in entries if entry.alone] if distinct(foreign) > 1 else entries
