"""Traps in benchmark items, found by what the text says and never by a list of ids.

An option that names another option ("Both A and B", "All of the above") means something else, or
nothing, once the options are shown in another order. Such items are *locked*: they are asked in
source order only. The other flags mark what a reader of the results should know.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

#: Every flag an item may carry, and what it says.
FLAGS: dict[str, str] = {
    "letter_reference": "an option names other options by their labels",
    "of_the_above": "an option speaks of the other options as a whole",
    "possible_reference": "an option may speak of others, but more likely an article or a noun of"
    " the question is meant ('both a core and …'); the item is not locked",
    "label_option": "an option is nothing but a label letter",
    "duplicate_option": "two options have the same text",
    "duplicate_gold": "the keyed option's text is repeated; every index with that text is accepted",
    "case_only_options": "two options differ only in upper and lower case",
    "duplicate_item": "another item of the set has the same question and options",
    "duplicate_across_subjects": "an item of another subject has the same question and options",
    "contradictory_gold": "a duplicate of the item is keyed with another option",
    "in_dev": "the item is also in the dev split",
    "in_validation": "the item is also in the validation split",
    "in_train": "the item is also in the train split",
    "in_test": "the item is also in the test split",
    "gold_moved": "the source keeps the keyed option first; its position was drawn by a seed",
    "options_cut": "distractors were left out to reach a fixed number of options",
    "cleaned": "markup or outer white space was removed; the raw text is kept beside it",
}

#: Flags whose items are asked in source order only.
LOCKING: frozenset[str] = frozenset({"letter_reference", "of_the_above"})

_QUANTIFIER = r"(?:all|none|both|either|neither|nether|nither|any|each|some|most|two|three)"
_NOUN = r"(?:options?|choices?|answers?|alternatives?|responses?)"
_PLACE = r"(?:above|below|preceding|foregoing)"

# A lone letter, bare or in brackets; never part of a word, a number or a possessive.
_LABEL = r"(?:\(\s*[A-Za-z]\s*\)|(?<![\w'’.-])[A-Za-z](?![\w'’]))\.?"
_JOIN = r"\s*(?:,\s*(?:and|or|nor)\b|\b(?:and|or|nor|to)\b|&)\s*"
_LIST = rf"{_LABEL}(?:(?:\s*,\s*|\s+|{_JOIN}){_LABEL})*{_JOIN}{_LABEL}"

_LETTERS = (
    # The whole option is a list of labels: "A and C only.", "(a) or (b)", "a. and c. above".
    re.compile(
        rf"\W*(?:(?:{_QUANTIFIER}|only)(?:\s+of)?\s+)?(?:{_NOUN}\s+)?(?P<list>{_LIST})"
        rf"(?:\s+(?:only|{_PLACE}|together|(?:are|is)(?:\s+both)?\s+\w+))?\W*",
        re.IGNORECASE,
    ),
    # A list of labels after a word that makes it one: "neither A nor B; an environmental …".
    re.compile(
        rf"\b(?:both|either|neither|nether|nither|all\s+of|{_NOUN})\s+(?P<list>{_LIST})",
        re.IGNORECASE,
    ),
    # One label after a noun for options; upper case or bracketed, as "choice a man makes" is not.
    re.compile(r"\b(?i:option|choice|answer)s?\s+(?P<list>\([A-Za-z]\)|[A-Z]\b)(?!['’])"),
    # The same with numbers: "Both option 2 and 3".
    re.compile(r"\b(?i:option|choice|answer)s?\s+(?P<list>\(?[1-9]\b)"),
)

_ABOVE = (
    # "none of the above", "all the functions listed above", "Either of above."
    re.compile(
        rf"\b{_QUANTIFIER}\s+(?:of\s+the|of|the)(?:\s+{_NOUN})?"
        rf"(?:\s+(?:\w+\s+)?(?:listed|mentioned|given|named|described|stated))?\s+{_PLACE}\b",
        re.IGNORECASE,
    ),
    # "a combination of the above", "some but not all of the above", "the same as above"
    re.compile(rf"\b(?:of\s+the|of|same\s+as)\s+{_PLACE}\s*(?:{_NOUN}|\W|$)", re.IGNORECASE),
    # "None of these", "Both of these.", "All of these theories are speculation", "None of them"
    re.compile(rf"\W*{_QUANTIFIER}\s+of\s+(?:these|those)\b", re.IGNORECASE),
    # "All of them", "Both.", "Neither"; a bare "None" or "all" may be an answer of its own.
    re.compile(rf"\W*(?:{_QUANTIFIER}\s+of\s+them|both|neither|either)\W*$", re.IGNORECASE),
    # "All of the options", "None of these choices is correct", "all answers are correct"
    re.compile(
        rf"\W*{_QUANTIFIER}\s+(?:of\s+)?(?:(?:the|these)\s+)?(?:other\s+)?{_NOUN}\b", re.IGNORECASE
    ),
)

# The wide net: nearly always an article ("all by a single person") or a noun of the question.
_LOOSE = re.compile(
    r"\b(?:both|either|neither|all|none|any)\b.*?\b[a-e]\b|\b(?:all|none|any)\s+of\s+these\b",
    re.IGNORECASE,
)


def option_flags(options: Sequence[str], gold: int) -> tuple[str, ...]:
    """Return the flags that the options' own text earns, in the order of `FLAGS`.

    Letters count as labels only up to the number of options; texts are never lower-cased before
    they are compared, since "Rr" and "rr" are different genotypes.

    Examples
    --------
    >>> option_flags(["fog", "rain", "both A and B", "snow"], 2)
    ('letter_reference',)
    >>> option_flags(["R", "rr", "Rr", "RR"], 0)
    ('case_only_options',)
    """
    texts = [plain(option) for option in options]
    counts = Counter(texts)
    found = {
        "letter_reference": any(names_labels(text, len(texts)) for text in texts),
        "of_the_above": any(speaks_of_others(text) for text in texts),
        "label_option": any(_is_label(text, len(texts)) for text in texts),
        "duplicate_option": len(counts) < len(texts),
        "duplicate_gold": counts[texts[gold]] > 1,
        "case_only_options": len({text.casefold() for text in counts}) < len(counts),
    }
    found["possible_reference"] = not (found["letter_reference"] or found["of_the_above"]) and any(
        _LOOSE.search(text) for text in texts
    )
    return tuple(flag for flag in FLAGS if found.get(flag))


def names_labels(text: str, options: int) -> bool:
    """Return whether `text` names other options by label, among `options` labels from A."""
    labels = {chr(ord("A") + slot) for slot in range(options)}
    labels |= {str(slot + 1) for slot in range(options)}
    matches = [_LETTERS[0].fullmatch(text), *(rule.search(text) for rule in _LETTERS[1:])]
    for match in matches:
        if match is None:
            continue
        named = re.findall(r"(?<![A-Za-z])[A-Za-z1-9](?![A-Za-z])", match["list"])
        if labels.issuperset(name.upper() for name in named):
            return True
    return False


def speaks_of_others(text: str) -> bool:
    """Return whether `text` speaks of the other options as a whole."""
    anywhere, start = _ABOVE[:2], _ABOVE[2:]
    return any(rule.search(text) for rule in anywhere) or any(rule.match(text) for rule in start)


def plain(text: str) -> str:
    """Return `text` with runs of white space as one space; nothing else changes."""
    return " ".join(text.split())


def _is_label(text: str, options: int) -> bool:
    bare = text.strip("(). ")
    return len(bare) == 1 and "A" <= bare <= chr(ord("A") + options - 1)
