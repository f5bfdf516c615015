from __future__ import annotations

import itertools

import numpy as np
import pytest

from assay.leaderboard.mean_squares import COMPONENTS, components

from .simulated import bits


def by_covariances(values: np.ndarray) -> dict[str, float]:
    """Return the item components from the covariance matrix of all cells, pair by pair."""
    m, _, c = values.shape
    cells = list(itertools.product(range(m), range(c)))
    covariance = np.cov([values[a, :, b] for a, b in cells])
    groups: dict[tuple[bool, bool], list[float]] = {}
    for (i, (a, b)), (j, (k, d)) in itertools.product(enumerate(cells), repeat=2):
        groups.setdefault((a == k, b == d), []).append(covariance[i, j])
    mean = {key: float(np.mean(entries)) for key, entries in groups.items()}
    item = mean[False, False]
    model, way = mean[True, False] - item, mean[False, True] - item
    return {
        "item": item,
        "item x model": model,
        "item x configuration": way,
        "item x model x configuration": mean[True, True] - item - model - way,
    }


def textbook(values: np.ndarray) -> dict[str, float]:
    """Return all components from an analysis of variance with mean squares."""
    m, n, c = values.shape
    grand = values.mean()
    mm, mi, mc = values.mean((1, 2)), values.mean((0, 2)), values.mean((0, 1))
    m_i, m_c, i_c = values.mean(2), values.mean(1), values.mean(0)
    inter_mi = m_i - mm[:, None] - mi + grand
    inter_mc = m_c - mm[:, None] - mc + grand
    inter_ic = i_c - mi[:, None] - mc + grand
    rest = (
        values - m_i[:, :, None] - m_c[:, None] - i_c + mm[:, None, None] + mi[:, None] + mc - grand
    )
    ms_m = n * c * ((mm - grand) ** 2).sum() / (m - 1)
    ms_c = n * m * ((mc - grand) ** 2).sum() / (c - 1)
    ms_i = m * c * ((mi - grand) ** 2).sum() / (n - 1)
    ms_mi = c * (inter_mi**2).sum() / ((m - 1) * (n - 1))
    ms_mc = n * (inter_mc**2).sum() / ((m - 1) * (c - 1))
    ms_ic = m * (inter_ic**2).sum() / ((n - 1) * (c - 1))
    ms_rest = (rest**2).sum() / ((m - 1) * (n - 1) * (c - 1))
    return {
        "model": (m - 1) / m * (ms_m - ms_mi) / (n * c),
        "configuration": (c - 1) / c * (ms_c - ms_ic) / (n * m),
        "model x configuration": (m - 1) * (c - 1) / (m * c) * (ms_mc - ms_rest) / n,
        "item": (ms_i - ms_mi - ms_ic + ms_rest) / (m * c),
        "item x model": (ms_mi - ms_rest) / c,
        "item x configuration": (ms_ic - ms_rest) / m,
        "item x model x configuration": ms_rest,
    }


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 9, 4), (5, 40, 3)])
def test_equal_to_covariances_and_to_expected_mean_squares(shape: tuple[int, int, int]) -> None:
    values = np.random.default_rng(shape).normal(size=shape)
    found = dict(zip(COMPONENTS, components(values), strict=True))
    for oracle in (by_covariances(values), textbook(values)):
        assert {k: found[k] for k in oracle} == pytest.approx(oracle, abs=1e-10)
    assert np.isnan(found["noise"])


def test_known_variances_are_recovered_without_bias() -> None:
    rng = np.random.default_rng(1)
    m, n, c = 4, 30, 5
    sd = {"item": 1.0, "mi": 0.7, "ic": 0.4, "mic": 0.9}
    model, way = np.array([-1.0, 0, 0, 1]), np.array([0.5, 0, 0, 0, -0.5])
    both = np.zeros((m, c))
    both[:2, :2] = [[0.3, -0.3], [-0.3, 0.3]]
    found = np.mean(
        [
            components(
                model[:, None, None]
                + way
                + both[:, None]
                + sd["item"] * rng.normal(size=(1, n, 1))
                + sd["mi"] * rng.normal(size=(m, n, 1))
                + sd["ic"] * rng.normal(size=(1, n, c))
                + sd["mic"] * rng.normal(size=(m, n, c)),
                flip_rate=0.2,
            )
            for _ in range(1500)
        ],
        axis=0,
    )
    truth = [0.5, 0.1, 4 * 0.09 / 20, 1.0, 0.49, 0.16, 0.81 - 0.1, 0.1]
    assert found == pytest.approx(truth, abs=0.015)


def test_binary_grid_has_the_components_of_its_population() -> None:
    # The truth is what 40,000 items of the same models give; the items of a study are a sample.
    population = bits(4, 40_000, seed=3).astype(float)[:, :, ::4]
    truth = components(population)[:7]
    found = [components(population[:, k : k + 80])[:7] for k in range(0, 40_000, 80)]
    assert np.mean(found, axis=0) == pytest.approx(truth, abs=0.002)


def test_parts_sum_to_the_variance_of_a_cell_drawn_at_random() -> None:
    values = bits(5, 20_000, seed=4).astype(float)
    assert np.nansum(components(values)) == pytest.approx(values.var(), abs=1e-4)


def test_negative_estimates_are_kept() -> None:
    # Two models that are never right on the same item: their covariance is negative.
    coin = np.random.default_rng(0).random((50, 1)) < 0.5
    first = np.repeat(coin, 3, axis=1)
    found = dict(zip(COMPONENTS, components(np.stack([first, ~first]).astype(float)), strict=True))
    assert found["item"] < -0.05
