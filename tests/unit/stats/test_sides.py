from __future__ import annotations

import math

import pytest

from assay.core.errors import AnalysisError
from assay.stats.sides import check_alternative, p_of_sides


def test_two_sides_are_twice_the_smaller() -> None:
    assert p_of_sides(0.01, 0.99, "two-sided") == 0.02
    assert p_of_sides(0.6, 0.7, "two-sided") == 1
    assert (p_of_sides(0.1, 0.9, "greater"), p_of_sides(0.1, 0.9, "less")) == (0.1, 0.9)


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_what_is_unknown_stays_unknown(side: str) -> None:
    assert math.isnan(p_of_sides(math.nan, math.nan, side))


def test_an_unknown_side_is_refused() -> None:
    with pytest.raises(AnalysisError, match="choose greater, less or two-sided"):
        check_alternative("larger")
