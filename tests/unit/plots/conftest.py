"""Synthetic analysis tables with the columns of the real ones, for figures of any size."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

FORMATS = ("letter_plain", "letter_paren", "digit_labels", "instruction")
NAMES = (
    "Qwen3-30B-A3B-Instruct-2507-bnb-4bit-double-quant-nf4-experimental",
    "Qwen3-30B-A3B-Instruct-2507-bnb-8bit-double-quant-nf4-experimental",
    "smollm2-135m-fp32",
    "smollm2-135m-bf16",
    "gemma-3-270m",
    "llama-3.3-70b-instruct-with-a-name-that-somebody-made-long",
    "mixtral-8x7b-instruct-v0.1",
    "a$b$",
    "qwen3-4b",
    "gemma4-26b-a4b",
    "gemma4-e4b",
    "m",
)
Tables = dict[str, pd.DataFrame]


def _grid() -> list[tuple[str, str, str, str | None]]:
    rows = [(f"gen|{f}|p{p}", "gen", f, f"p{p}") for f in FORMATS for p in range(6)]
    return rows + [(f"ll|{f}", "ll", f, None) for f in ("cloze_plain", "cloze_question")]


def make_tables(models: int, seed: int = 7) -> Tables:
    """Return accuracy, band, ranks, pairs and slots for the first `models` names."""
    rng = np.random.default_rng(seed)
    names = NAMES[:models]
    grid = _grid()
    centre = np.sort(rng.uniform(0.15, 0.95, models))[::-1]
    values = np.clip(centre[:, None] + rng.normal(0, 0.12, (models, len(grid))), 0, 1)
    accuracy = pd.DataFrame(
        [
            (name, "all", *cell, value, 0.25)
            for name, line in zip(names, values, strict=True)
            for cell, value in zip(grid, line, strict=True)
        ],
        columns=["model", "benchmark", "configuration", "scoring", "format", "order", "accuracy",
                 "chance"],
    )  # fmt: skip
    ranks = accuracy[["benchmark", "configuration", "model", "accuracy"]].copy()
    ranks["rank"] = ranks.groupby("configuration")["accuracy"].rank(ascending=False, method="min")
    reference = values[:, 0]
    low = values.min(axis=1)
    band = pd.DataFrame(
        {
            "model": names,
            "benchmark": "all",
            "reference": reference,
            "reference_low": np.clip(reference - 0.05, 0, 1),
            "reference_high": np.clip(reference + 0.05, 0, 1),
            "min": low,
            "max": values.max(axis=1),
            "robust": low * 0.2,
            "optimistic": np.minimum(values.max(axis=1) + 0.1, 1),
            "order_robust": reference * 0.8,
            "format_robust": reference * 0.5,
            "scoring_robust": reference * 0.5,
        }
    )
    return {
        "accuracy": accuracy,
        "band": band,
        "ranks": ranks,
        "pairs": _pairs(band, rng),
        "slots": _slots(names, rng),
        "rank_probability": _rank_probability(names, rng),
        "flips": _flips(accuracy, rng),
        **_others(models),
    }


def _rank_probability(names: tuple[str, ...], rng: np.random.Generator) -> pd.DataFrame:
    count = len(names)
    rows = [
        ("all", name, rank, chance, k + 1, max(1, k), min(count, k + 2), 300)
        for k, name in enumerate(names)
        for rank, chance in enumerate(rng.dirichlet(np.ones(count)), 1)
    ]
    columns = ["benchmark", "model", "rank", "probability", "observed_rank", "low", "high", "n"]
    return pd.DataFrame(rows if count > 1 else [], columns=columns)


def _flips(accuracy: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    others = accuracy[accuracy["configuration"] != "gen|letter_plain|p0"]
    table = others[["model", "benchmark", "configuration"]].reset_index(drop=True)
    table["flips"] = rng.uniform(0, 0.5, len(table))
    table.loc[3, "flips"] = np.nan
    return table


def _others(models: int) -> Tables:
    """Return the tables without a row a model; with one model, what comparing needs is empty."""
    few = models < 2
    parts = ["model", "item", "item x model x configuration", "noise"]
    variance = pd.DataFrame({"benchmark": "all", "component": parts})
    variance["estimate"] = [0.01, 0.1, -0.002, np.nan]
    variance["low"], variance["high"] = variance["estimate"] - 0.01, variance["estimate"] + 0.02
    variance["share"] = variance["estimate"] / 0.108
    headlines = ("champions", "largest_move", "smallest_tau", "accuracy_range")
    rows = [
        ("all", axis, name, 5.0 - k, 2.0, 1.0, 3.0 if axis == "order" else 1.0)
        for axis in ("family", "order")
        for k, name in enumerate(headlines)
    ]
    columns = ["benchmark", "axis", "headline", "value", "null", "low", "high"]
    permutations = pd.DataFrame([] if few else rows, columns=columns)
    grid = pd.DataFrame(
        [("all", b, q, 0.01 / b, 0.02 / b) for b in (0.05, 0.2, 0.5) for q in (0.05, 0.5, 0.95)],
        columns=["benchmark", "budget", "quantile", "error", "naive_error"],
    )
    rules = pd.DataFrame(
        [("all", rule, 100, 3679, 0.9, gap) for rule, gap in (("random", 0.03), ("best", np.nan))],
        columns=["benchmark", "rule", "k", "n", "share_right", "smallest_gap"],
    )
    power = pd.DataFrame(
        [
            ("all", kind, share, n, 1.2 * (share / n) ** 0.5)
            for kind, share in (("low", 0.1), ("median", 0.15), ("high", 0.3))
            for n in (100, 1000, 12_846)
        ],
        columns=["benchmark", "discordance_kind", "discordance", "n", "effect"],
    )
    nothing = slice(0, 0) if few else slice(None)
    return {
        "variance": variance,
        "permutations": permutations,
        "partial_grid": grid,
        "compression": rules[nothing],
        "power": power[nothing],
    }


def _pairs(band: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    ordered = band.sort_values("reference", ascending=False)
    rows = []
    for (_, a), (_, b) in pairwise(ordered.iterrows()):
        gap = a["reference"] - b["reference"]
        share = rng.choice([0.6, 0.95, 1.4, -0.6])
        rows.append((a["model"], b["model"], True, gap, gap - 0.04, gap + 0.04, gap * share,
                     gap * (1 - share), share, 0.85, 1.0))  # fmt: skip
    columns = ["better", "worse", "adjacent", "gap", "low", "high", "gap_fragile", "gap_robust",
               "fragile_share_of_gap", "fragile_item_share", "twin_fragile_share"]  # fmt: skip
    table = (
        pd.DataFrame(rows, columns=columns).astype({"gap": float}).assign(n=300, benchmark="all")
    )
    if len(table) > 1:  # one pair without any gap: its shares do not exist
        table.loc[1, ["gap", "gap_fragile", "gap_robust"]] = 0.0
        table.loc[1, ["fragile_share_of_gap", "twin_fragile_share"]] = np.nan
    return table


def _slots(names: tuple[str, ...], rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for name in names:
        for form in FORMATS:
            chosen = rng.multinomial(280, rng.dirichlet([3, 2, 1, 1]))
            labels = "1234" if form == "digit_labels" else "ABCD"
            for slot, label in enumerate(labels):
                rows.append((name, "arc", form, label, slot, chosen[slot], 75, 300))
    columns = ["model", "benchmark", "format", "label", "slot", "chosen", "gold", "n"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture(params=[1, 3, 12], ids=["1 model", "3 models", "12 models"])
def tables(request: pytest.FixtureRequest) -> Tables:
    """Tables of one, three and twelve models, some with very long names."""
    return make_tables(request.param)
