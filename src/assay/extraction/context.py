"""What stands around a mention: other labels, a verdict, an option text."""

from __future__ import annotations

from dataclasses import dataclass

from assay.extraction import lexicon
from assay.extraction.document import Document, Mention
from assay.extraction.tokens import BREAK, PUNCT, RUN

_LONGEST_GAP = 6
_LONGEST_VERDICT = 8
_JOINTS = frozenset(",/&|、،;")
_BRACKETS = frozenset("()[]")
_LINKS = frozenset(["-", ":", "–", "—", "("])
_CONDITIONS = frozenset(["only", "if", "when", "unless"])
_MARKS = frozenset(".):]")
DELIMITERS = frozenset(".):]-–—,(=。，、")
_STOPS = frozenset(".,;:!?。，；、)]")


@dataclass(slots=True)
class Chain:
    """Mentions joined by "or", "and" or commas: "A or B", "A, B and C"."""

    members: list[Mention]

    @property
    def first(self) -> int:
        """Return the token position of the first member."""
        return self.members[0].index

    @property
    def last(self) -> int:
        """Return the token position of the last member."""
        return self.members[-1].index

    def standing(self) -> list[Mention]:
        """Return the members that the text does not reject."""
        return [mention for mention in self.members if not mention.rejected]


def find_chains(document: Document) -> list[Chain]:
    """Return every mention in exactly one chain, in the order of the text."""
    chains: list[Chain] = []
    for mention in document.mentions.values():
        if chains and not mention.lookalike and _joined(document, chains[-1].last, mention.index):
            chains[-1].members.append(mention)
        else:
            chains.append(Chain([mention]))
    return [part for chain in chains for part in _split_at_clause(document, chain)]


def _joined(document: Document, left: int, right: int) -> bool:
    if right - left - 1 > _LONGEST_GAP or document.mentions[left].lookalike:
        return False
    joints = 0
    for index in range(left + 1, right):
        key, kind = document.key(index), document.kind(index)
        if key in lexicon.CONNECTORS or key in _JOINTS or kind == RUN and _run_joins(key):
            joints += 1
        elif key not in _BRACKETS and key not in lexicon.CHAIN_FILLERS:
            return False
    return joints > 0


def _run_joins(key: str) -> bool:
    return key.startswith(lexicon.RUN_CONNECTORS) and len(key) <= _LONGEST_GAP


def _split_at_clause(document: Document, chain: Chain) -> list[Chain]:
    """Cut "B, A is a distractor" before the subject of the second clause."""
    if len(chain.members) == 1 or not _is_subject(document, chain.last):
        return [chain]
    for place in range(len(chain.members) - 1, 0, -1):
        between = range(chain.members[place - 1].index + 1, chain.members[place].index)
        keys = {document.key(index) for index in between}
        if keys & _JOINTS and not keys & lexicon.CONNECTORS:
            return [Chain(chain.members[:place]), Chain(chain.members[place:])]
    return [chain]


def _is_subject(document: Document, index: int) -> bool:
    following = index + 1
    while document.key(following) in _BRACKETS and document.kind(following) == PUNCT:
        following += 1
        if following > index + 3:
            return False
    key = document.key(following)
    return key in lexicon.COPULAS or key in lexicon.COPULA_NEGATORS


def verdict(document: Document, index: int) -> tuple[int, int]:
    """Return what is said of the label at token `index`, and the last token that says it.

    The first number is 1 ("B is correct"), -1 ("B is wrong", "B is not the answer") or 0.
    """
    sign, place = judgement(document, after_own_text(document, index))
    return sign, place if sign else index


def judgement(document: Document, position: int) -> tuple[int, int]:
    """Return the verdict that begins at token `position`, and its last token."""
    if document.kind(position) == RUN:
        return _run_verdict(document, position)
    sign = 1
    link = ""
    for place in range(position, position + _LONGEST_VERDICT):
        key = document.key(place)
        if key in lexicon.NEGATORS:
            sign, link = -1, link or key
        elif key in _LINKS or key in lexicon.COPULAS:
            link = link or key
        elif link and key in lexicon.WRONG and _ends_verdict(document, place, link):
            return -sign, place
        elif link and (key in lexicon.CORRECT or key in lexicon.ANSWER_NOUNS):
            return (sign if _ends_verdict(document, place, link) else 0), place
        elif place in document.mentions or key not in lexicon.FILLERS and key != "a":
            break
    return 0, position


def _run_verdict(document: Document, position: int) -> tuple[int, int]:
    end = position
    while document.kind(end + 1) == RUN and end < position + 2:
        end += 1
    key = "".join(document.key(index) for index in range(position, end + 1))
    if any(word in key for word in lexicon.RUN_WRONG):
        return -1, end
    return int(any(word in key for word in lexicon.RUN_RIGHT)), end


def _ends_verdict(document: Document, place: int, link: str) -> bool:
    """Tell whether an adjective is the verdict itself, not the start of another clause."""
    following = document.key(place + 1)
    if following in _CONDITIONS:
        return False
    if link in _LINKS:
        # "A: correct." judges A, "A: correct answer is B" does not.
        return document.kind(place + 1) in (BREAK, PUNCT) and following != ":"
    return True


def after_own_text(document: Document, index: int) -> int:
    """Return the token after the label at `index`, its brackets and its own option text."""
    closed = position = index + 1
    while document.kind(position) == PUNCT and document.key(position) in _MARKS:
        position += 1
        if document.key(position - 1) in _BRACKETS and closed == position - 1:
            closed = position
        if position > index + 3:
            return closed
    label = document.mentions[index].label
    if document.options is None or label is None:
        return closed
    match = document.options.at(document.position(position))
    if match is None or document.order.index(label) not in match.indices:
        return closed
    return document.token_at(match.end)


def text_after(document: Document, index: int) -> tuple[int, int]:
    """Return the token range of the text that a label introduces on its own line."""
    position = _after_delimiters(document, index + 1)
    # "1. 1. Iron": a list begun inside the list.
    while document.key(position) == document.key(index) and document.key(position + 1) in _MARKS:
        position = _after_delimiters(document, position + 1)
    end = position
    while document.kind(end) != BREAK:
        end += 1
    return position, end


def _after_delimiters(document: Document, position: int) -> int:
    last = position + _LONGEST_GAP
    while position < last and document.key(position) in DELIMITERS:
        position += 1
    return position


def introduced(document: Document, index: int) -> str:
    """Tell whose option text follows the label at token `index`: "own", "other" or ""."""
    label = document.labels.get(document.key(index))
    if document.options is None or label is None:
        return ""
    own = document.order.index(label)
    first, last = text_after(document, index)
    start, end = document.position(first), document.position(last)
    match = document.options.at(start)
    if match is not None and own in match.indices:
        return "own"
    if match is not None and stops_at(document, document.token_at(match.end)):
        return "other"
    cut = document.options.cut(start, end)
    if not cut or own in cut:
        return "own" if cut else ""
    return "other" if document.options.telling(start, end) else ""


def stops_at(document: Document, index: int) -> bool:
    """Tell whether a phrase ends before token `index`."""
    if document.kind(index) == BREAK or document.key(index) in lexicon.REASONS:
        return True
    return document.kind(index) == PUNCT and document.key(index) in _STOPS
