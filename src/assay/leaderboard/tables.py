"""The tables of an analysis: their columns, and files that are the same byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from assay.core.errors import AnalysisError
from assay.core.files import atomic_path

_TEXT, _WHOLE, _REAL, _FLAG = "str", "int64", "float64", "bool"

#: Table → column → type, in the order of the files.
COLUMNS: dict[str, dict[str, str]] = {
    "accuracy": {
        **dict.fromkeys(("model", "benchmark", "configuration", "scoring", "format"), _TEXT),
        "order": _TEXT,
        **dict.fromkeys(("n", "correct"), _WHOLE),
        **dict.fromkeys(("accuracy", "low", "high"), _REAL),
        "parsed": _WHOLE,
        **dict.fromkeys(("compliance", "accuracy_parsed"), _REAL),
        "missing": _WHOLE,
        **dict.fromkeys(("lowest", "highest", "chance"), _REAL),
    },
    "band": {
        **dict.fromkeys(("model", "benchmark"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("reference", "reference_low", "reference_high", "min", "max"), _REAL),
        **dict.fromkeys(("min_configuration", "max_configuration"), _TEXT),
        **dict.fromkeys(("robust", "robust_low", "robust_high"), _REAL),
        **dict.fromkeys(("optimistic", "optimistic_low", "optimistic_high"), _REAL),
        "incomplete": _WHOLE,
        **dict.fromkeys(("robust_lowest", "robust_highest"), _REAL),
        **dict.fromkeys(("optimistic_lowest", "optimistic_highest"), _REAL),
        **dict.fromkeys(("order_robust", "format_robust", "scoring_robust"), _REAL),
    },
    "items": {
        **dict.fromkeys(("model", "benchmark", "item_id", "item_class"), _TEXT),
        **dict.fromkeys(("present", "correct"), _WHOLE),
    },
    "item_fragility": {
        **dict.fromkeys(("benchmark", "item_id"), _TEXT),
        "fragility": _REAL,
        "models": _WHOLE,
    },
    "ranks": {
        **dict.fromkeys(("benchmark", "configuration", "model"), _TEXT),
        "accuracy": _REAL,
        "rank": _WHOLE,
        "champion": _FLAG,
    },
    "pairs": {
        **dict.fromkeys(("benchmark", "better", "worse"), _TEXT),
        "adjacent": _FLAG,
        "n": _WHOLE,
        **dict.fromkeys(("gap", "low", "high"), _REAL),
        **dict.fromkeys(("wrong_to_right", "right_to_wrong"), _WHOLE),
        **dict.fromkeys(("p_value", "p_adjusted", "log_e", "e_level"), _REAL),
        "verdict": _TEXT,
        **dict.fromkeys(("needed_n", "margin", "gap_fragile", "gap_robust"), _REAL),
        **dict.fromkeys(
            ("fragile_share_of_gap", "fragile_item_share", "twin_fragile_share"), _REAL
        ),
        **dict.fromkeys(("robust_items", "robust_gap"), _REAL),
    },
    "slots": {
        **dict.fromkeys(("model", "benchmark", "format", "label"), _TEXT),
        **dict.fromkeys(("slot", "chosen", "gold", "n"), _WHOLE),
        **dict.fromkeys(("share", "gold_share", "recall"), _REAL),
    },
    "extraction_audit": {
        **dict.fromkeys(("model", "benchmark", "extractor"), _TEXT),
        "n": _WHOLE,
        "accuracy": _REAL,
        **dict.fromkeys(("changed", "gained", "lost"), _WHOLE),
    },
    "statuses": {
        **dict.fromkeys(("model", "benchmark", "configuration", "status"), _TEXT),
        "n": _WHOLE,
    },
    "rank_probability": {
        **dict.fromkeys(("benchmark", "model"), _TEXT),
        "rank": _WHOLE,
        "probability": _REAL,
        **dict.fromkeys(("observed_rank", "low", "high", "n"), _WHOLE),
    },
    "family_pairs": {
        **dict.fromkeys(("benchmark", "first", "second", "family"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("gap", "low", "high", "p_first", "p_second"), _REAL),
        **dict.fromkeys(("everywhere_p", "everywhere_adjusted", "flip_p", "flip_adjusted"), _REAL),
        "verdict": _TEXT,
    },
    "families": {
        **dict.fromkeys(("model", "benchmark", "family"), _TEXT),
        **dict.fromkeys(("configurations", "n"), _WHOLE),
        **dict.fromkeys(("accuracy", "low", "high"), _REAL),
    },
    "effects": {
        **dict.fromkeys(("model", "benchmark", "axis", "first", "second"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("gap", "low", "high", "p_pair", "p_axis"), _REAL),
    },
    "order_effects": {
        **dict.fromkeys(("model", "benchmark", "kind", "level"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("raw", "effect", "low", "high", "p_joint", "p_adjusted"), _REAL),
    },
    "permutations": {
        **dict.fromkeys(("benchmark", "axis", "headline"), _TEXT),
        **dict.fromkeys(("levels", "n", "draws"), _WHOLE),
        **dict.fromkeys(("value", "null", "low", "high", "p_value"), _REAL),
    },
    "reactions": {
        **dict.fromkeys(("model", "benchmark", "family"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("deviation", "low", "high", "p_value", "p_adjusted"), _REAL),
    },
    "label_bias": {
        **dict.fromkeys(("model", "benchmark", "format"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("rstd", "unbiased", "p_value", "p_adjusted"), _REAL),
    },
    "wrappers": {
        **dict.fromkeys(("model", "benchmark"), _TEXT),
        **dict.fromkeys(("formats", "n"), _WHOLE),
        **dict.fromkeys(("fsi", "fsi_low", "fsi_high", "psi", "psi_low", "psi_high"), _REAL),
    },
    "replicate": {
        **dict.fromkeys(("model", "benchmark", "configuration"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("flips", "noise", "p_value", "p_adjusted"), _REAL),
    },
    "choices_only": {
        **dict.fromkeys(("model", "benchmark", "configuration"), _TEXT),
        "n": _WHOLE,
        **dict.fromkeys(("accuracy", "low", "high", "chance", "reference"), _REAL),
        **dict.fromkeys(("p_value", "p_adjusted"), _REAL),
    },
    "label_prior": {
        **dict.fromkeys(("model", "benchmark", "format"), _TEXT),
        **dict.fromkeys(("label", "n"), _WHOLE),
        **dict.fromkeys(("prior", "even", "accuracy", "debiased"), _REAL),
    },
    "flips": {
        **dict.fromkeys(("model", "benchmark", "configuration"), _TEXT),
        **dict.fromkeys(("n", "right_to_wrong", "wrong_to_right"), _WHOLE),
        **dict.fromkeys(("flips", "low", "high", "expected", "corrected", "forced"), _REAL),
    },
    "variance": {
        **dict.fromkeys(("benchmark", "component"), _TEXT),
        **dict.fromkeys(("estimate", "low", "high", "share"), _REAL),
        "n": _WHOLE,
    },
    "discrimination": {
        **dict.fromkeys(("benchmark", "item_id"), _TEXT),
        **dict.fromkeys(("discrimination", "fragility"), _REAL),
    },
    "compression": {
        **dict.fromkeys(("benchmark", "rule"), _TEXT),
        **dict.fromkeys(("k", "n"), _WHOLE),
        **dict.fromkeys(("share_right", "smallest_gap", "fragility", "champions"), _REAL),
    },
    "power": {
        **dict.fromkeys(("benchmark", "discordance_kind"), _TEXT),
        "discordance": _REAL,
        "n": _WHOLE,
        **dict.fromkeys(("effect", "alpha", "power"), _REAL),
    },
    "partial_grid": {
        "benchmark": _TEXT,
        **dict.fromkeys(("budget", "quantile", "error", "naive_error"), _REAL),
        **dict.fromkeys(("rmse", "naive_rmse"), _REAL),
        "n": _WHOLE,
    },
}

TABLES = tuple(COLUMNS)


def shaped(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return `frame` with exactly the columns and types of table `name`, even when it is empty.

    Raises
    ------
    AnalysisError
        If a column is missing or unknown.
    """
    wanted = COLUMNS[name]
    if len(frame) and set(frame.columns) != set(wanted):
        odd = ", ".join(sorted(set(frame.columns) ^ set(wanted)))
        raise AnalysisError(f"columns are missing or unknown: {odd}.", where=name)
    return frame.reindex(columns=list(wanted)).astype(wanted).reset_index(drop=True)


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write every table as CSV (for reading) and parquet (for programs); return the paths.

    Numbers have ten significant digits in CSV and all of them in parquet; a missing number is an
    empty field.
    """
    paths = []
    for name, table in tables.items():
        text, binary = folder / f"{name}.csv", folder / f"{name}.parquet"
        with atomic_path(text) as temporary:
            table.to_csv(temporary, index=False, float_format="%.10g", lineterminator="\n")
        with atomic_path(binary) as temporary:
            pq.write_table(pa.Table.from_pandas(table, preserve_index=False), temporary)
        paths += [text, binary]
    return paths
