from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from assay.leaderboard.additive import fit_additive, fit_level
from support.twin import simulate


def chance(right: np.ndarray, present: np.ndarray) -> np.ndarray:
    model, item, configuration = fit_additive(right, present)
    return expit(model[:, None, None] + item[:, None] + configuration)


def test_the_fit_is_a_logistic_regression_on_main_effects() -> None:
    rng = np.random.default_rng(0)
    # Many observations of few levels, so that the penalty hardly matters.
    logit = np.array([0.5, -0.5])[:, None, None] + np.array([-1, 0, 1])[None, :, None]
    logit = np.repeat(logit, 300, axis=2) + np.tile([0.4, -0.4], 150)
    right = rng.random(logit.shape) < 1 / (1 + np.exp(-logit))
    # Configurations of one kind are one level in the oracle and nearly so in the fit.
    m, i, c = (axis.ravel() for axis in np.indices(right.shape))
    design = np.column_stack([m == 1, i == 1, i == 2]).astype(float)
    oracle = sm.Logit(right.ravel(), sm.add_constant(design)).fit(disp=0)
    fitted = chance(right, np.ones_like(right)).mean(axis=2)
    wanted = oracle.predict(sm.add_constant(design)).reshape(right.shape).mean(axis=2)
    assert fitted == pytest.approx(wanted, abs=0.005)


def test_the_fit_reproduces_the_margins_and_has_no_interaction() -> None:
    rng = np.random.default_rng(1)
    right = simulate([0, 0.5, 1], items=60, rng=rng, interaction=0.5)
    present = rng.random(right.shape) < 0.9
    fitted = chance(right & present, present)
    for axes in ((1, 2), (0, 1)):
        observed = (right & present).sum(axis=axes)
        assert (fitted * present).sum(axis=axes) == pytest.approx(observed, rel=0.01)
    logit = np.log(fitted / (1 - fitted)).astype(float)
    double = logit - logit.mean(axis=0) - logit.mean(axis=2, keepdims=True)
    double += logit.mean(axis=(0, 2), keepdims=True)[0]
    assert np.abs(double).max() < 1e-3


def test_a_models_level_is_the_one_of_the_whole_fit() -> None:
    rng = np.random.default_rng(2)
    right = simulate([0, 0.7], items=200, rng=rng)
    present = rng.random(right.shape) < 0.9
    right &= present
    model, item, configuration = fit_additive(right, present)
    for m, level in enumerate(model):
        found = fit_level(right[m], present[m], item[:, None] + configuration)
        assert found == pytest.approx(level, abs=0.005)


def test_a_model_that_is_always_right_has_a_finite_level() -> None:
    right = np.ones((5, 3), bool)
    level = fit_level(right, right, np.zeros((5, 3), np.float32))
    assert 3 < level < 20
