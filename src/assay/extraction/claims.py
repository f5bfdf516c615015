"""Read a text once from left to right and note every label it claims as the answer.

A claim needs a frame right before the label: a noun with a verb or a colon ("the answer is",
"Antwort:"), a box, a verb of choice, or a word that concludes. The frame survives only words that
carry nothing ("most likely", "the", "option"), so that a letter further on is never caught.
"""

from __future__ import annotations

from assay.extraction import lexicon
from assay.extraction.claim import (
    BOXED,
    CONCLUSION,
    CONCLUSION_TEXT,
    DECLARED,
    DECLARED_TEXT,
    DIRECT,
    NAMED,
    TAGGED,
    VERDICT,
    Claim,
)
from assay.extraction.context import Chain, stops_at, verdict
from assay.extraction.document import Document
from assay.extraction.tokens import BREAK, CUE, LETTER, PUNCT, RUN, WORD, Token

_CUE_REACH = 25
_ADJECTIVE_REACH = 4
_NEGATION_REACH = 3
_POINTING_REACH = 3
SENTENCE_ENDS = frozenset(".!?;。！？；｡…")
_ARROWS = frozenset(["->", "=>", "~>", "→", "⇒", "➜", "∴", "⟹", "➡"])
_DASHES = frozenset("-–—")
_NEUTRAL = lexicon.FILLERS | lexicon.CONNECTORS | lexicon.POINTING | lexicon.COPULAS
_LASTING = frozenset([DECLARED, DIRECT, BOXED, TAGGED])


class ClaimScanner:
    """One pass over the tokens; every step looks ahead by a bounded number of tokens."""

    def __init__(self, document: Document, chains: list[Chain]):
        self.document = document
        self.chains = {mention.index: chain for chain in chains for mention in chain.members}
        self.claims: list[Claim] = []
        self.frame = ""
        self.cue = -1
        self.reach = -1
        self.negated_until = -1
        self.pointed_until = -1
        self.rejecting = False
        self.crossed = False

    def scan(self) -> list[Claim]:
        """Return the claims in the order of the text; mark rejected mentions on the way."""
        index = 0
        while index < len(self.document.tokens):
            index = self._step(index)
        return self.claims

    def _step(self, index: int) -> int:
        token = self.document.tokens[index]
        if self.frame and token.kind not in (PUNCT, BREAK):
            after = self._claim_text(index)
            if after > index:
                return after
        if index in self.document.mentions:
            return self._at_mention(index)
        if token.kind == BREAK:
            self._at_break()
        elif token.kind == CUE:
            self._arm(TAGGED if token.key.startswith("<") else BOXED)
        elif token.kind == PUNCT:
            self._at_punctuation(index, token)
        elif token.kind == RUN:
            self._at_run(index, token.key)
        elif token.kind == WORD:
            self._at_word(index, token.key)
        elif token.kind == LETTER and token.key in lexicon.COUNTED_LETTERS:
            if self.document.key(index + 1) == ":":
                self._at_noun(index, DIRECT)  # "A: 3" where labels are digits.
        else:
            self.frame = ""
        return index + 1

    def _arm(self, frame: str) -> None:
        self.frame = frame
        self.crossed = False

    def _reset(self) -> None:
        self.frame = ""
        self.cue = self.reach = self.negated_until = self.pointed_until = -1

    def _cued(self, index: int) -> bool:
        return self.cue >= 0 and index <= self.reach

    def _claim_text(self, index: int) -> int:
        """Claim the option text that stands in the frame; return the token after it."""
        document = self.document
        if document.options is None or self.frame in (DIRECT, NAMED):
            return index
        match = document.options.at(document.position(index))
        if match is None:
            return index
        after = document.token_at(match.end)
        if after <= index + (index in document.mentions):
            return index
        if index <= self.negated_until:
            self.rejecting = True
            return after
        rival = document.mentions.get(after + 1) if document.key(after) == "(" else None
        if rival is None and not stops_at(document, after):
            return index
        rule = CONCLUSION_TEXT if self.frame == CONCLUSION else DECLARED_TEXT
        named = {document.order[option] for option in match.indices}
        disputed = rival is not None and rival.label not in named
        self.claims.append(Claim(rule, index, after - 1, None, match.indices, disputed=disputed))
        self._reset()
        return after

    def _at_mention(self, index: int) -> int:
        chain = self.chains[index]
        sign, end = verdict(self.document, chain.last)
        if index <= self.negated_until or sign < 0:
            self.rejecting = True
            for mention in chain.members:
                mention.rejected = True
        elif len({mention.label for mention in chain.members}) >= max(3, len(self.document.labels)):
            self.frame = ""  # "Answer (A, B, C or D):" repeats the choice, it makes none.
        elif self.frame and self._frame_holds(chain, sign):
            self._claim(self._frame_rule(chain), chain)
        elif sign > 0:
            self._claim(VERDICT, chain)
        else:
            self.frame = ""
        if sign != 0:
            self._reset()
            self.rejecting = False
            if self.document.key(end).endswith(lexicon.RUN_TURNS):
                self._arm(CONCLUSION)
        return (end if sign != 0 else chain.last) + 1

    def _frame_holds(self, chain: Chain, sign: int) -> bool:
        """Tell whether "option B" ends a phrase, and is not the subject of a sentence."""
        after = chain.last + 1
        while self.document.key(after) in (")", "]"):
            after += 1
        key = self.document.key(after)
        if self.frame == CONCLUSION:
            return sign > 0 or key not in lexicon.COPULAS
        if self.frame not in (DIRECT, NAMED) or self.document.kind(after) != WORD:
            return True
        # The verb may come last: "सही उत्तर C है".
        last = key in lexicon.COPULAS and self.document.kind(after + 1) in (BREAK, PUNCT)
        return last or key in lexicon.REASONS or key in lexicon.TURNS

    def _frame_rule(self, chain: Chain) -> str:
        if self.frame == DIRECT:
            after = self.document.kind(chain.last + 1)
            return DECLARED if after in (BREAK, PUNCT, RUN) else NAMED
        return self.frame

    def _claim(self, rule: str, chain: Chain) -> None:
        self.claims.append(Claim(rule, chain.first, chain.last, chain, crossed=self.crossed))
        self._reset()

    def _at_break(self) -> None:
        frame = self.frame if self.frame in _LASTING else ""
        self._reset()
        self.frame, self.crossed = frame, True

    def _at_punctuation(self, index: int, token: Token) -> None:
        key = token.key
        if key == ":":
            if self._cued(index):
                self._arm(DECLARED)
                self.negated_until = -1
        elif key in _ARROWS:
            self._arm(DECLARED if self._cued(index) else CONCLUSION)
        elif key in _DASHES or key == "=":
            if index - 1 == self.cue:
                self._arm(DECLARED)
        elif key == "," and self.rejecting and not self.frame:
            self._turn()
        elif key in SENTENCE_ENDS and index - 1 != self.cue and not self._in_quotes(token):
            self._reset()

    def _in_quotes(self, token: Token) -> bool:
        """Tell whether a sentence ends inside quotes: 'the answer to "Why?" is B'."""
        return self.document.raw(token.end) == '"' and self.document.raw(token.end + 1) == " "

    def _at_run(self, index: int, key: str) -> None:
        """Read a piece of a script without spaces by what it contains and how it ends."""
        if any(word in key for word in lexicon.RUN_TURNS):
            self._turn()
            self._arm(self.frame or CONCLUSION)
        elif any(word in key for word in lexicon.RUN_NEGATIONS):
            self.negated_until = index + _NEGATION_REACH
        if any(word in key for word in lexicon.RUN_CUES):
            self.cue, self.reach = index, index + _CUE_REACH
        if key.endswith(lexicon.RUN_LINKS) and self._cued(index):
            self._arm(DECLARED)
        elif key.endswith(lexicon.RUN_CUES):
            self._arm(self.frame if self.frame == DECLARED else DIRECT)
        elif key.endswith(lexicon.RUN_CONCLUSIONS):
            self._arm(CONCLUSION)
        elif not key.endswith(lexicon.RUN_TURNS):
            self.frame = ""

    def _at_word(self, index: int, key: str) -> None:
        noun, linked = _noun(key)
        key = noun if key not in lexicon.POINTERS | lexicon.NEGATORS else key
        if key in lexicon.POINTERS:
            if self.rejecting:
                self._turn()
            self._arm(self.frame or CONCLUSION)
        elif key in lexicon.TURNS:
            self._at_turn(index)
        elif key in lexicon.NEGATORS:
            self._negate(index, key)
        elif noun in lexicon.ANSWER_NOUNS:
            self._at_noun(index, DECLARED if linked else DIRECT)
        elif noun in lexicon.OPTION_NOUNS or self._numbers(noun):
            self._at_noun(index, DECLARED if linked else NAMED)
        elif key in lexicon.CORRECT:
            if not self._cued(index):
                self.cue, self.reach = index, index + _ADJECTIVE_REACH
        elif key in lexicon.PICKS or (key, self.document.key(index + 1)) in lexicon.PICK_PAIRS:
            self._arm(DECLARED)
        elif not self._links(index, key):
            self._at_other_word(index, key)

    def _numbers(self, noun: str) -> bool:
        return self.document.digits and noun in lexicon.NUMBER_NOUNS

    def _at_noun(self, index: int, frame: str) -> None:
        self.cue, self.reach = index, index + _CUE_REACH
        if self.frame not in (DECLARED, BOXED, TAGGED) or frame == DECLARED:
            self._arm(frame)

    def _at_turn(self, index: int) -> None:
        if self.document.key(index + 1) in ("than", "of"):
            self.negated_until = index + _NEGATION_REACH
        else:
            self._arm(self.frame or (CONCLUSION if self.rejecting else ""))
            self._turn()

    def _turn(self) -> None:
        """End a negation: "not A but C", "it isn't A, it's C"."""
        self.negated_until = -1
        self.rejecting = False

    def _negate(self, index: int, key: str) -> None:
        if self.document.kind(index + 1) == PUNCT:
            return  # "No, B": an interjection.
        if key in lexicon.COPULA_NEGATORS and self._cued(index):
            self._arm(DECLARED)
        lasting = self.frame in (DECLARED, CONCLUSION)
        self.negated_until = index + (_CUE_REACH if lasting else _NEGATION_REACH)

    def _links(self, index: int, key: str) -> bool:
        """Take a verb that ties a noun or a pronoun to a label."""
        if key in lexicon.COPULAS and index <= self.pointed_until and self.rejecting:
            self._turn()
        if key in lexicon.COPULAS and self._cued(index):
            self._arm(DECLARED)
        elif (self.document.key(index - 1), key) in lexicon.ADJACENT_COPULAS:
            self._arm(DECLARED)
        elif key in lexicon.COPULAS and index <= self.pointed_until:
            self._arm(self.frame or CONCLUSION)
        else:
            return False
        return True

    def _at_other_word(self, index: int, key: str) -> None:
        if key in lexicon.POINTING:
            self.pointed_until = index + _POINTING_REACH
        elif key in lexicon.CONCLUSIONS | lexicon.OPINIONS and not self.frame:
            self._arm(CONCLUSION)
        elif key not in _NEUTRAL:
            # The negation of another word ("which is not a metal is B") does not reach a label.
            self.frame = ""
            self.negated_until = self.pointed_until = -1


def _noun(key: str) -> tuple[str, bool]:
    """Return the word in "answer's", "l'option" or "n'est", and whether "is" hangs on it."""
    if "'" not in key:
        return key, False
    left, right = key.split("'", 1)
    return (left, True) if right == "s" else (right, False)
