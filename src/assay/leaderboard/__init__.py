"""Analysis of the fragility grid: from shards to a leaderboard with verdicts."""

from assay.leaderboard.analysis import Leaderboard, analyze, analyze_correctness, write
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.load import load
from assay.leaderboard.load_released import load_released
from assay.leaderboard.load_table import load_table
from assay.leaderboard.summary import Summary, leaderboard_schema
from assay.leaderboard.tables import COLUMNS, TABLES

__all__ = [
    "COLUMNS",
    "TABLES",
    "Correctness",
    "Leaderboard",
    "Summary",
    "analyze",
    "analyze_correctness",
    "leaderboard_schema",
    "load",
    "load_released",
    "load_table",
    "write",
]
