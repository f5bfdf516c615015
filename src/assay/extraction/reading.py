"""What was found in one text, and what a rule may decide from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from assay.extraction.claim import Claim
from assay.extraction.context import Chain
from assay.extraction.document import Document, Mention
from assay.extraction.options import OptionMatch
from assay.extraction.positions import Entry
from assay.extraction.result import Status

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A decision; its offsets are those of the folded text."""

    status: Status
    rule: str
    label: str | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The findings that the rules share."""

    document: Document
    chains: list[Chain]
    claims: list[Claim]
    entries: list[Entry]

    def span(self, first: int, last: int) -> Span:
        """Return the offsets of the tokens `first` to `last`, both included."""
        tokens = self.document.tokens
        return tokens[first].start, tokens[last].end

    def standing(self) -> list[Mention]:
        """Return the mentions that the text does not reject."""
        return [mention for mention in self.document.mentions.values() if not mention.rejected]

    def text_at(self, index: int) -> OptionMatch | None:
        """Return the option text that begins at token `index`."""
        document = self.document
        if document.options is None or index >= len(document.tokens):
            return None
        return document.options.at(document.position(index))

    def decide(self, mention: Mention, rule: str) -> Outcome:
        """Return what a label-shaped token amounts to that stands as the answer."""
        span = self.span(mention.index, mention.index)
        if mention.lookalike:
            return Outcome(Status.NONE, "lookalike", None, span)
        if mention.label is None:
            return Outcome(Status.OUT_OF_RANGE, rule, None, span)
        return Outcome(Status.OK, rule, mention.label, span)

    def decide_text(self, options: tuple[int, ...], rule: str, span: Span) -> Outcome:
        """Return what an option text amounts to; two options may share it."""
        if len(options) > 1:
            return ambiguous("equal_texts", span)
        return Outcome(Status.OK, rule, self.document.order[options[0]], span)

    def dispute(self, mentions: list[Mention], rule: str) -> Outcome | None:
        """Return `ambiguous` by `rule` if the mentions spell different labels."""
        if distinct(mentions) < 2:
            return None
        places = [mention.index for mention in mentions]
        return ambiguous(rule, self.span(min(places), max(places)))


Rule = Callable[[Reading], Outcome | None]


def ambiguous(rule: str, span: Span | None) -> Outcome:
    """Return an outcome without a label because there is more than one."""
    return Outcome(Status.AMBIGUOUS, rule, None, span)


def distinct(mentions: Iterable[Mention]) -> int:
    """Return how many different labels the mentions spell; all that were not offered are one."""
    return len({(mention.label, mention.lookalike) for mention in mentions})
