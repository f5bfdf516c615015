from __future__ import annotations

import numpy as np
import pytest

from assay.leaderboard.holm import holm
from assay.stats.multiplicity import adjust_p


def test_each_row_is_corrected_by_itself() -> None:
    p_values = np.random.default_rng(0).random((6, 10)) ** 3
    p_values[0] = 0.01
    p_values[1, 3:5] = np.nan
    for row, adjusted in zip(p_values, holm(p_values), strict=True):
        wanted = adjust_p(row, method="holm").p_values
        assert adjusted == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_nothing_to_correct() -> None:
    assert holm(np.empty((0, 4))).shape == (0, 4)
    assert holm(np.empty((2, 0))).shape == (2, 0)
    assert np.isnan(holm(np.full((1, 3), np.nan))).all()
