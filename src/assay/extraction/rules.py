"""The rules in the order in which they are asked; the first that has a say decides.

Each rule looks at one `Reading` and returns an `Outcome` or None. docs/explanation/extraction.md
gives the same list in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from assay.extraction import claims as claiming
from assay.extraction import lexicon
from assay.extraction.claims import Claim, Rank
from assay.extraction.context import Chain, introduced, judgement, stops_at
from assay.extraction.mentions import Document, Mention
from assay.extraction.options import OptionMatch
from assay.extraction.positions import Entry
from assay.extraction.refusal import find_refusal
from assay.extraction.result import Status
from assay.extraction.tokens import BREAK, PUNCT, RUN, Token

# Words that say a second declaration is a correction, not the next line of a list.
_MIN_CUT_WORDS = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """A decision, its offsets (folded text) still to be mapped to the original."""

    status: Status
    rule: str
    label: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was found in one text."""

    document: Document
    chains: list[Chain]
    claims: list[Claim]
    entries: list[Entry]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the offsets of the tokens `first` to `last`, both included."""
        tokens = self.document.tokens
        return tokens[first].start, tokens[last].end

    def option_label(self, index: int) -> str:
        """Return the label of an option."""
        return self.document.order[index]


Rule = Callable[[Reading], Outcome | None]


def _of_mention(reading: Reading, mention: Mention, rule: str) -> Outcome:
    """Return what a label-shaped token that stands as the answer amounts to."""
    span = reading.span(mention.index, mention.index)
    if mention.lookalike:
        return Outcome(Status.NONE, "lookalike", None, span)
    if mention.label is None:
        return Outcome(Status.OUT_OF_RANGE, rule, None, span)
    return Outcome(Status.OK, rule, mention.label, span)


def _of_options(
    reading: Reading, indices: tuple[int, ...], rule: str, span: tuple[int, int]
) -> Outcome:
    if len(indices) > 1:
        return Outcome(Status.AMBIGUOUS, "equal_texts", None, span)
    return Outcome(Status.OK, rule, reading.option_label(indices[0]), span)


def _distinct(mentions: Iterable[Mention]) -> int:
    return len({(mention.label, mention.lookalike) for mention in mentions})


def bare(reading: Reading) -> Outcome | None:
    """The whole text is a label: "B", "(b).", "**B**", "B B"."""
    document = reading.document
    solid = [i for i, token in enumerate(document.tokens) if not _silent(token)]
    mentions = [document.mentions.get(index) for index in solid]
    first = mentions[0] if mentions else None
    if first is None or first.rejected:
        return None
    if any(mention is None or mention.label != first.label for mention in mentions):
        return None
    if first.label is None and _text_at(reading, first.index) is not None:
        return None
    return _of_mention(reading, first, "bare")


def _silent(token: Token) -> bool:
    return token.kind in (PUNCT, BREAK) or token.kind == RUN and token.key in lexicon.RUN_ENDINGS


def whole_text(reading: Reading) -> Outcome | None:
    """The whole text is the text of an option."""
    document = reading.document
    matches = document.options.whole() if document.options else ()
    if not matches:
        return None
    return _of_options(reading, matches, "option_text", reading.span(0, len(document.tokens) - 1))


def declared(reading: Reading) -> Outcome | None:
    """The last declaration: boxed, tagged, "the answer is B", "B is correct"."""
    # "Choose the answer:" and a line break may lead to the list of options, not to a label.
    heads = _list_heads(reading)
    found = [
        claim
        for claim in reading.claims
        if claim.rank is Rank.DECLARED and not (claim.crossed and claim.first in heads)
    ]
    if not found:
        return None
    last = found[-1]
    if len(found) > 1 and _repeats(reading, found[-2], last):
        return Outcome(
            Status.AMBIGUOUS, "declared_twice", None, reading.span(found[-2].first, last.last)
        )
    return _of_claim(reading, last)


def _list_heads(reading: Reading) -> set[int]:
    """Return the labels whose next line begins with another label: an option list begins there."""
    return {
        entry.mention.index
        for entry, following in zip(reading.entries, reading.entries[1:], strict=False)
        if following.line == entry.line + 1 and following.mention.label != entry.mention.label
    }


def _repeats(reading: Reading, before: Claim, after: Claim) -> bool:
    """Tell whether two different declarations follow each other with nothing between."""
    if before.chain is None or after.chain is None:
        return False
    if _distinct([*before.chain.standing(), *after.chain.standing()]) < 2:
        return False
    between = range(before.last + 1, after.first)
    return all(_empty_word(reading.document, index) for index in between)


def _empty_word(document: Document, index: int) -> bool:
    if document.kind(index) in (PUNCT, BREAK):
        return True
    return document.key(index) in claiming.FRAME_WORDS


def _of_claim(reading: Reading, claim: Claim) -> Outcome:
    span = reading.span(claim.first, claim.last)
    if claim.disputed:
        return Outcome(Status.AMBIGUOUS, "label_and_text", None, span)
    if claim.chain is None:
        return _of_options(reading, claim.options, claim.rule, span)
    standing = claim.chain.standing()
    if _distinct(standing) > 1:
        return Outcome(Status.AMBIGUOUS, "group", None, span)
    mention = standing[-1]
    if introduced(reading.document, mention.index) == "other":
        return Outcome(Status.AMBIGUOUS, "label_and_text", None, span)
    return _of_mention(reading, mention, claim.rule)


def refusal(reading: Reading) -> Outcome | None:
    """The text declines to answer."""
    document = reading.document
    span = find_refusal(document.text, document.start, document.end)
    return None if span is None else Outcome(Status.REFUSAL, "refusal", None, span)


def position(reading: Reading) -> Outcome | None:
    """A label at the head of the text or alone on a line; different ones are a list."""
    entries = _without_list_numbers(reading)
    if reading.entries and not entries:
        return Outcome(Status.NONE, "list_numbers", None, None)
    if not entries:
        return None
    mentions = [entry.mention for entry in entries]
    mentions += [entry.rival for entry in entries if entry.rival is not None]
    group = _group_at(reading, entries[0])
    first, last = mentions[0].index, max(mention.index for mention in mentions)
    if group is not None:
        return Outcome(Status.AMBIGUOUS, "group", None, reading.span(group.first, group.last))
    if _distinct(mentions) > 1:
        return Outcome(Status.AMBIGUOUS, "option_list", None, reading.span(first, last))
    if any(entry.text == "other" for entry in entries):
        return Outcome(Status.AMBIGUOUS, "label_and_text", None, reading.span(first, first))
    if entries[0].line > 0 and not any(entry.alone or entry.text for entry in entries):
        return None
    alone = all(entry.alone for entry in entries)
    return _of_mention(reading, entries[-1].mention, "line" if alone else "head")


def _group_at(reading: Reading, entry: Entry) -> Chain | None:
    for chain in reading.chains:
        if entry.mention in chain.members and _distinct(chain.standing()) > 1:
            return chain
    return None


def _without_list_numbers(reading: Reading) -> list[Entry]:
    """Drop the numbers of a list whose lines are no options: "1. First, ... 2. Then, ..."."""
    entries = reading.entries
    if not reading.document.digits:
        return entries
    foreign = [entry for entry in entries if not entry.alone and not entry.text]
    if _distinct(entry.mention for entry in foreign) < 2 or any(entry.text for entry in entries):
        return entries
    return [entry for entry in entries if entry.alone]


def line_text(reading: Reading) -> Outcome | None:
    """The text begins with an option text that stands alone, or joins two with "or"."""
    document = reading.document
    match = _text_at(reading, 0)
    if match is None or document.options is None:
        return None
    after = document.token_at(match.end)
    span = (document.tokens[0].start, match.end)
    if document.key(after) in claiming.JOINING or document.key(after) == ",":
        other = _text_at(reading, after + 1)
        if other is not None and other.indices != match.indices:
            return Outcome(Status.AMBIGUOUS, "text_group", None, (span[0], other.end))
    if not stops_at(document, after) and judgement(document, after)[0] < 1:
        return None
    if any(others != match.indices for others in _line_texts(reading)):
        return Outcome(Status.AMBIGUOUS, "text_list", None, span)
    return _of_options(reading, match.indices, "line_text", span)


def _text_at(reading: Reading, index: int) -> OptionMatch | None:
    document = reading.document
    if document.options is None or index >= len(document.tokens):
        return None
    return document.options.at(document.position(index))


def _line_texts(reading: Reading) -> list[tuple[int, ...]]:
    """Return the options of the lines that begin with an option text."""
    document = reading.document
    starts = [
        index
        for index in range(len(document.tokens))
        if document.kind(index) != BREAK and document.kind(index - 1) == BREAK
    ]
    found = []
    for index in starts:
        match = _text_at(reading, index)
        if match is not None and stops_at(document, document.token_at(match.end)):
            found.append(match.indices)
    return found


def weak(reading: Reading) -> Outcome | None:
    """A conclusion ("so B"), a name ("option B") or brackets, if they all agree."""
    conclusions = [c for c in reading.claims if c.rule.startswith(claiming.CONCLUSION)]
    if conclusions:
        return _of_claim(reading, conclusions[-1])
    named = [claim for claim in reading.claims if claim.rule == claiming.NAMED]
    mentions = [mention for claim in named if claim.chain for mention in claim.chain.standing()]
    mentions += [m for m in _standing(reading) if m.enclosed and not m.plain and m.label]
    if not mentions:
        return None
    last = max(mentions, key=lambda mention: mention.index)
    if _distinct(mentions) > 1:
        first = min(mentions, key=lambda mention: mention.index)
        return Outcome(Status.AMBIGUOUS, "several", None, reading.span(first.index, last.index))
    if introduced(reading.document, last.index) == "other":
        span = reading.span(last.index, last.index)
        return Outcome(Status.AMBIGUOUS, "label_and_text", None, span)
    return _of_mention(reading, last, "named" if named else "enclosed")


def _standing(reading: Reading) -> list[Mention]:
    return [mention for mention in reading.document.mentions.values() if not mention.rejected]


def group(reading: Reading) -> Outcome | None:
    """Labels joined by "or", "and" or commas anywhere in the text."""
    for chain in reading.chains:
        offered = [mention for mention in chain.standing() if mention.label is not None]
        if _distinct(offered) > 1:
            return Outcome(Status.AMBIGUOUS, "group", None, reading.span(chain.first, chain.last))
    return None


def lone_label(reading: Reading) -> Outcome | None:
    """Only one label is mentioned anywhere, and not as an article or in lower case."""
    mentions = [m for m in _standing(reading) if not m.plain and m.label is not None]
    if not mentions:
        return None
    if _distinct(mentions) > 1:
        span = reading.span(mentions[0].index, mentions[-1].index)
        return Outcome(Status.AMBIGUOUS, "several", None, span)
    return _of_mention(reading, mentions[-1], "lone_label")


def lone_text(reading: Reading) -> Outcome | None:
    """The text of one option, and of no other, stands somewhere."""
    document = reading.document
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for index, token in enumerate(document.tokens):
        match = _text_at(reading, index)
        if match is not None:
            found[match.indices] = (token.start, match.end)
    if not found:
        return None
    if len(found) > 1:
        starts = [start for start, _ in found.values()]
        ends = [end for _, end in found.values()]
        return Outcome(Status.AMBIGUOUS, "several_texts", None, (min(starts), max(ends)))
    ((indices, span),) = found.items()
    return _of_options(reading, indices, "lone_text", span)


def cut_text(reading: Reading) -> Outcome | None:
    """The whole text is the beginning of one option, cut by the token limit."""
    document = reading.document
    if document.options is None or len(document.tokens) < _MIN_CUT_WORDS:
        return None
    matches = document.options.cut(0, len(document.squeezed.key))
    if not matches:
        return None
    span = reading.span(0, len(document.tokens) - 1)
    if len(matches) > 1:
        return Outcome(Status.AMBIGUOUS, "cut_text", None, span)
    return _of_options(reading, matches, "cut_text", span)


def nothing(reading: Reading) -> Outcome:
    """No answer: say whether a label was rejected or nothing was there at all."""
    for mention in reading.document.mentions.values():
        if mention.rejected:
            span = reading.span(mention.index, mention.index)
            return Outcome(Status.NONE, "rejected", None, span)
    return Outcome(Status.NONE, "nothing", None, None)
