"""The rules that are asked when nothing was declared and no label leads the text."""

from __future__ import annotations

from assay.extraction import lexicon
from assay.extraction.claim import CONCLUDING, NAMED
from assay.extraction.claims import SENTENCE_ENDS
from assay.extraction.context import introduced, judgement, stops_at
from assay.extraction.document import Document, Mention
from assay.extraction.reading import Outcome, Reading, ambiguous
from assay.extraction.result import Status
from assay.extraction.rules import of_claim
from assay.extraction.tokens import BREAK, PUNCT

_SHORTEST_CUT = 3


def line_text(reading: Reading) -> Outcome | None:
    """Take an option text that begins the text and stands alone there."""
    document = reading.document
    match = reading.text_at(0)
    if match is None:
        return None
    after = document.token_at(match.end)
    span = (document.tokens[0].start, match.end)
    if document.key(after) in lexicon.CONNECTORS or document.key(after) == ",":
        other = reading.text_at(after + 1)
        if other is not None and other.indices != match.indices:
            return ambiguous("text_group", (span[0], other.end))
    if not stops_at(document, after) and judgement(document, after)[0] < 1:
        return None
    if any(others != match.indices for others in _line_texts(reading)):
        return ambiguous("text_list", span)
    return reading.decide_text(match.indices, "line_text", span)


def _line_texts(reading: Reading) -> list[tuple[int, ...]]:
    """Return the options of the lines that begin with an option text."""
    document = reading.document
    found = []
    for index in range(len(document.tokens)):
        if document.kind(index) == BREAK or document.kind(index - 1) != BREAK:
            continue
        match = reading.text_at(index)
        if match is not None and stops_at(document, document.token_at(match.end)):
            found.append(match.indices)
    return found


def weak(reading: Reading) -> Outcome | None:
    """Take a conclusion ("so B"), else labels that are named or set apart, if they agree."""
    conclusions = [c for c in reading.claims if c.rule in CONCLUDING]
    if conclusions:
        return of_claim(reading, conclusions[-1])
    chains = [claim.chain for claim in reading.claims if claim.rule == NAMED and claim.chain]
    named = [mention for chain in chains for mention in chain.standing()]
    apart = [m for m in reading.standing() if m.label and _set_apart(reading.document, m)]
    mentions = named + apart
    if not mentions:
        return None
    disputed = reading.dispute(mentions, "several")
    if disputed is not None:
        return disputed
    last = max(mentions, key=lambda mention: mention.index)
    if introduced(reading.document, last.index) == "other":
        return ambiguous("label_and_text", reading.span(last.index, last.index))
    return reading.decide(last, NAMED if named else "set_apart")


def _set_apart(document: Document, mention: Mention) -> bool:
    """Tell whether brackets or bold type mark a label, or it is a sentence at a line's end."""
    if mention.plain:
        return False
    if mention.enclosed and not document.digits:
        return True
    # A number in brackets may be a reference: only at the end of a line.
    position = mention.index + 1
    while document.kind(position) == PUNCT and position < mention.index + 3:
        position += 1
    apart = mention.enclosed or document.key(mention.index - 1) in SENTENCE_ENDS
    return apart and document.kind(position) == BREAK


def group(reading: Reading) -> Outcome | None:
    """Refuse labels that "or", "and" or a comma joins anywhere in the text."""
    for chain in reading.chains:
        offered = [mention for mention in chain.standing() if mention.label is not None]
        disputed = reading.dispute(offered, "group")
        if disputed is not None:
            return disputed
    return None


def lone_label(reading: Reading) -> Outcome | None:
    """Take the only label that is mentioned anywhere, articles and lower case aside."""
    mentions = [m for m in reading.standing() if not m.plain and m.label is not None]
    if not mentions:
        return None
    return reading.dispute(mentions, "several") or reading.decide(mentions[-1], "lone_label")


def lone_text(reading: Reading) -> Outcome | None:
    """Take the only option whose text stands anywhere."""
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for index, token in enumerate(reading.document.tokens):
        match = reading.text_at(index)
        if match is not None:
            found[match.indices] = (token.start, match.end)
    if not found:
        return None
    if len(found) > 1:
        starts, ends = zip(*found.values(), strict=True)
        return ambiguous("several_texts", (min(starts), max(ends)))
    ((options, span),) = found.items()
    return reading.decide_text(options, "lone_text", span)


def cut_text(reading: Reading) -> Outcome | None:
    """Take the beginning of one option's text that is the whole text, cut by the token limit."""
    document = reading.document
    if document.options is None or len(document.tokens) < _SHORTEST_CUT:
        return None
    matches = document.options.cut(0, len(document.squeezed.key))
    span = reading.span(0, len(document.tokens) - 1)
    if len(matches) > 1:
        return ambiguous("cut_text", span)
    return reading.decide_text(matches, "cut_text", span) if matches else None


def nothing(reading: Reading) -> Outcome:
    """Say that there is no answer, and whether the text rejected a label."""
    for mention in reading.document.mentions.values():
        if mention.rejected:
            span = reading.span(mention.index, mention.index)
            return Outcome(Status.NONE, "rejected", None, span)
    return Outcome(Status.NONE, "nothing")
