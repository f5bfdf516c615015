"""Where a change would have to act: the layer that failure codes point at."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.evaluation.hypothesis import Layer

PHASES: dict[Layer, int] = {"surface": 1, "middle": 2, "deep": 3}
#: Words of failure codes → layer, the first that matches.
_WORDS: tuple[tuple[Layer, re.Pattern[str]], ...] = (
    (
        "surface",
        re.compile("PROMPT|INSTRUCTION|TOOL_(?:SELECT|DISCOVER|DESCRIPTION)|ARGUMENT|SCHEMA"),
    ),
    (
        "middle",
        re.compile("INPUT|PARSE|RETRIEV|CONTEXT|PIPELINE|PLAN|REASON|LOOP|TIMEOUT|TOOL_EXECUTION"),
    ),
)
CHANGES: dict[Layer, str] = {
    "surface": "Change what the model is told: the prompt, the descriptions of tools, the schema "
    "of their arguments. Nothing else moves, and the change is taken back in a minute.",
    "middle": "Change what reaches the model and when: parsing, retrieval, context, planning, "
    "time limits, the handling of tool errors.",
    "deep": "Change the model or what it was trained on; first show that cheaper changes at the "
    "surface and in the pipeline do not help.",
}
VALIDATIONS: dict[Layer, str] = {
    "surface": "A/B on the same tasks with the same model, tools, seeds and budgets, the arms "
    "interleaved.",
    "middle": "A/B on the capability's tasks, with latency, tokens, cost and every other "
    "capability watched on the whole suite.",
    "deep": "A/B on the whole suite after cheaper candidates failed, then a canary with limits at "
    "which it is rolled back.",
}


def layer_of(code: str) -> Layer:
    """Return the layer that a failure code points at."""
    return next((layer for layer, words in _WORDS if words.search(code.upper())), "deep")


def leading_layer(codes: Mapping[str, int]) -> Layer:
    """Return the layer that most failures point at; of equal ones the cheaper to change."""
    votes: dict[Layer, int] = dict.fromkeys(PHASES, 0)
    for code, count in codes.items():
        votes[layer_of(code)] += count
    if not any(votes.values()):
        return "deep"
    return max(votes, key=lambda layer: (votes[layer], -PHASES[layer]))


def present_layer(codes: Mapping[str, int]) -> Layer:
    """Return the cheapest layer that any code points at, however rare: the point rules."""
    return next((layer for layer in PHASES if layer in map(layer_of, codes)), "deep")
