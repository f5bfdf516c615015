"""Codes of outcomes in the arrays of an analysis."""

from __future__ import annotations

#: Codes of `Correctness.values`.
WRONG, RIGHT, MISSING, NOT_APPLICABLE = 0, 1, 2, 3
