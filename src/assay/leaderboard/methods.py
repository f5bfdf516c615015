"""How each number was computed, in words for a reader of the report."""

from __future__ import annotations

from assay.leaderboard.null_twin import METHOD
from assay.leaderboard.sentences import Basis
from assay.leaderboard.summary import Sentence
from assay.leaderboard.wording import points

_TEXTS = {
    "estimands": (
        "Shares and gaps describe these items exactly; intervals and verdicts speak of items like "
        "these. Configurations are fixed, not drawn from a population."
    ),
    "pooling": 'Scope "all" pools the benchmarks item by item: a larger one weighs more.',
    "intervals": (
        "Shares carry Wilson intervals, gaps Tango's score interval (1998), at level {level}."
    ),
    "better": (
        "At the reference configuration {reference}, each pair of models is compared on the items "
        "observed for both by the exact McNemar test, adjusted over all pairs of the scope "
        "(Benjamini-Yekutieli). Better: adjusted p at most {alpha}."
    ),
    "tied": (
        "Tied: two one-sided tests, adjusted likewise, rule out a gap of {margin} points. A "
        "difference that is merely not significant is called unresolved."
    ),
    "needed_n": (
        "Needed items: the exact McNemar test finds a gap as large as the one observed, and at "
        "least {margin} points, with 80 % power at the strictest level of the adjustment."
    ),
    "comparable_items": (
        "Bands, robust shares and ranks rest on the items observed under every offered "
        "configuration, so that configurations are never compared on different items; locked "
        "items, asked in one order only, are not among them."
    ),
    "axes": (
        "Order-robust: right under all orders of the reference format; format-robust: under all "
        "formats at the reference order; scoring-robust: under the reference and all likelihood "
        "configurations."
    ),
    "items": (
        "An item is fragile for a model if it is right under some of its observed configurations "
        "and wrong under others, robust otherwise."
    ),
    "twin": (
        "Simulated models ({draws} draws): {twin}. A headline inside the band of the simulation "
        "says nothing about models reacting differently."
    ),
    "ranks": "Equal accuracies share the best of their ranks; each of them leads.",
}


def methods(found: Basis, *, draws: int) -> list[Sentence]:
    """Return one paragraph for each method that was used."""
    values = {
        "level": f"{100 * found.level:g} %",
        "reference": found.correctness.reference_configuration.key,
        "margin": points(found.margin),
        "alpha": f"{found.alpha:g}",
        "draws": draws,
        "twin": METHOD,
    }
    return [Sentence(id=key, text=text.format(**values)) for key, text in _TEXTS.items()]
