from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import kendall, kendall_matrix, kendall_w


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 6, (5, 12)).astype(float)


def test_tau_counts_pairs_by_hand() -> None:
    # Concordant 4, discordant 1, one pair tied in y only: tau-b = 3 / sqrt(6 * 5).
    found = kendall([1, 2, 3, 4], [1, 3, 2, 3])
    assert found.statistic == pytest.approx(3 / np.sqrt(30))


def test_tau_equals_scipy(scores: np.ndarray) -> None:
    found = kendall(scores[0], scores[1])
    wanted = stats.kendalltau(scores[0], scores[1])
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-12)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-12)


def test_matrix_equals_scipy(scores: np.ndarray) -> None:
    found = kendall_matrix(scores)
    for a in range(5):
        for b in range(5):
            wanted = stats.kendalltau(scores[a], scores[b]).statistic
            assert found[a, b] == pytest.approx(wanted, abs=1e-12)


def test_w_is_friedman_rescaled(scores: np.ndarray) -> None:
    found = kendall_w(scores)
    wanted = stats.friedmanchisquare(*scores.T)
    assert found.statistic == pytest.approx(wanted.statistic / (5 * 11), abs=1e-10)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-10)


def test_w_of_opposite_judges_is_zero() -> None:
    assert kendall_w([[1, 2, 3], [3, 2, 1]]).statistic == 0


@pytest.mark.parametrize(("x", "y"), [([1], [2]), ([], []), ([1, 1, 1], [1, 2, 3])])
def test_tau_without_anything_to_rank_is_undefined(x: list, y: list) -> None:
    with pytest.warns(RuntimeWarning, match="nothing to rank"):
        assert np.isnan(kendall(x, y).statistic)


def test_w_without_anything_to_rank_is_undefined() -> None:
    for table in ([[1, 2, 3]], [[1], [2]], [[1, 1], [2, 2]]):
        with pytest.warns(RuntimeWarning, match="nothing to rank"):
            assert np.isnan(kendall_w(table).statistic)


def test_matrix_has_no_tau_for_a_flat_scoring() -> None:
    found = kendall_matrix([[1, 2, 3], [5, 5, 5]])
    assert found[0, 0] == pytest.approx(1)
    assert np.isnan([found[0, 1], found[1, 0], found[1, 1]]).all()
    assert np.isnan(kendall_matrix([[1], [2]])).all()


def test_incomplete_scores_are_refused() -> None:
    with pytest.raises(AnalysisError):
        kendall([1, 2], [1, 2, 3])
    with pytest.raises(AnalysisError):
        kendall([1, np.nan], [1, 2])
    with pytest.raises(AnalysisError):
        kendall_w([[1, np.nan], [1, 2]])
    with pytest.raises(AnalysisError):
        kendall_matrix([1, 2])


def test_slab_prompts_rank_models_as_published(shared: Path) -> None:
    path = shared / "data/peers/slab_multiprompt_accuracies.csv.gz"
    table = pd.read_csv(path, dtype={"manually_correct": str})
    table = table[(table["suite"] == "BBH") & (table["manually_correct"] == "1")]
    taus, changes = [], []
    for _, task in table.groupby("task"):
        default = task[task["is_default"]].set_index("model")["accuracy"]
        for _, prompt in task[~task["is_default"]].groupby("paraphrase"):
            other = prompt.set_index("model")["accuracy"]
            models = default.index.intersection(other.index)
            taus.append(kendall_matrix([default[models], other[models]])[0, 1])
            changes.append(default[models].idxmax() != other[models].idxmax())
    assert len(taus) == 2195
    assert round(np.mean(taus), 3) == 0.686
    assert round(np.mean(changes), 2) == 0.52
