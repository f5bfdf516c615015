"""The names of what an analysis makes, for the workflow (which imports no pandas)."""

from __future__ import annotations

#: Tables of the leaderboard analysis; `assay.leaderboard` writes each as CSV and parquet.
TABLES = (
    "accuracy",
    "band",
    "items",
    "item_fragility",
    "ranks",
    "pairs",
    "slots",
    "extraction_audit",
    "statuses",
    "rank_probability",
    "family_pairs",
    "families",
    "effects",
    "order_effects",
    "permutations",
    "reactions",
    "label_bias",
    "wrappers",
    "replicate",
    "choices_only",
    "label_prior",
    "flips",
    "variance",
    "discrimination",
    "compression",
    "power",
    "partial_grid",
)

#: Figures; each has a script ``plot_{name}.py`` and a rule of that name.
FIGURES = (
    "accuracy_band",
    "axis_survival",
    "fragile_gap",
    "rank_volatility",
    "position_preference",
    "rank_distribution",
    "flip_matrix",
    "variance_components",
    "null_bands",
    "partial_grid_error",
    "compression",
    "power_curve",
)
