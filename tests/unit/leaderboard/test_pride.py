from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from assay.core.errors import AnalysisError
from assay.leaderboard.pride import pride

CYCLIC = np.array([[(p + k) % 4 for p in range(4)] for k in range(4)])
RELEASED = np.array([*CYCLIC, [3, 2, 1, 0], [1, 0, 3, 2]])
PRIOR = np.array([0.4, 0.3, 0.2, 0.1])


def answers(orders: np.ndarray, items: int = 50, noise: float = 0.0) -> tuple[np.ndarray, ...]:
    """Return log P(label) of a model with the prior, and what it thinks of the options."""
    rng = np.random.default_rng(0)
    belief = log_softmax(rng.normal(0, 2, (items, 4)), axis=1)
    seen = np.log(PRIOR) + belief[:, orders]
    return log_softmax(seen + rng.normal(0, noise, seen.shape), axis=2), belief


def test_the_prior_is_recovered_whatever_the_options() -> None:
    log_probs, belief = answers(CYCLIC)
    found = pride(log_probs, CYCLIC)
    assert found.prior == pytest.approx(PRIOR, abs=1e-12)
    assert found.items == 50
    assert found.debiased(log_probs[:, 1]) == pytest.approx(belief[:, CYCLIC[1]], abs=1e-10)


def test_noise_averages_out() -> None:
    log_probs, _ = answers(CYCLIC, items=2000, noise=0.3)
    assert pride(log_probs, CYCLIC).prior == pytest.approx(PRIOR, abs=0.01)


def test_an_unbiased_model_has_a_uniform_prior() -> None:
    log_probs, _ = answers(CYCLIC)
    assert pride(log_probs - np.log(PRIOR), CYCLIC).prior == pytest.approx([0.25] * 4)


@pytest.mark.parametrize(
    ("log_probs", "orders", "message"),
    [
        (answers(RELEASED)[0], RELEASED, "equally often"),
        (answers(CYCLIC)[0][:, :3], CYCLIC[:3], "equally often"),
        (answers(CYCLIC)[0], np.zeros((4, 4), int), "permutation"),
        (answers(CYCLIC)[0][0], CYCLIC, "do not fit"),
        (answers(CYCLIC)[0], CYCLIC[:, :3], "do not fit"),
        (np.zeros((0, 4, 4)), CYCLIC, "do not fit"),
        (np.full((2, 4, 4), -np.inf), CYCLIC, "finite"),
    ],
)
def test_what_does_not_define_a_prior_is_refused(
    log_probs: np.ndarray, orders: np.ndarray, message: str
) -> None:
    with pytest.raises(AnalysisError, match=message):
        pride(log_probs, orders)
