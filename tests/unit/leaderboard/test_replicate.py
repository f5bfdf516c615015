from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, Correctness
from assay.leaderboard.replicate import replicate, replicate_table

from .builders import GRID, build


def changed(runs: int, seed: int, *, rate: float, items: int = 80) -> list[Correctness]:
    """Return studies of two configurations that disagree with probability `rate`."""
    studies = []
    for run in range(runs):
        rng = np.random.default_rng([run, seed])
        right = rng.random((1, items)) < 0.7
        flipped = right ^ (rng.random(right.shape) < rate)
        studies.append(build(np.stack([right, flipped], axis=2), keys=GRID[:2]))
    return studies


def rerun(data: Correctness, noise: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, 1])
    at = data.values[:, :, data.reference]
    return np.where(rng.random(at.shape) < noise, 1 - at, at).astype(np.uint8)


def test_the_rate_has_an_exact_interval(tiny: Correctness) -> None:
    again = tiny.values[:, :, 0].copy()
    again[0, 0] = 0
    found = replicate(tiny, tiny.scope("all"), again=again)
    wanted = stats.binomtest(1, 4).proportion_ci(0.95, method="exact")
    assert (found.rate[0].low, found.rate[0].high) == pytest.approx((wanted.low, wanted.high))
    assert found.rate[1].estimate == 0
    assert "m00 changes 25.0 % of 4 outcomes" in found.reading
    json.dumps(found.as_json(), allow_nan=False)
    assert len(replicate_table(found)) == 12


def test_the_claim_is_a_paired_sign_test() -> None:
    values = np.ones((1, 20, 2), int)
    values[0, :9, 1] = 0  # nine flips
    again = np.ones((1, 20), np.uint8)
    again[0, 8:10] = 0  # one of them, and another item, flip in the replicate
    data = build(values, keys=GRID[:2])
    found = replicate(data, data.scope("all"), again=again)
    assert (found.flips[0, 0], found.noise[0, 0]) == (0.45, 0.1)
    assert found.p_value[0, 0] == pytest.approx(stats.binomtest(8, 9, alternative="greater").pvalue)


def test_missing_codes_are_left_out() -> None:
    data = build(np.ones((1, 4, 5)))
    again = np.array([[1, MISSING, NOT_APPLICABLE, 0]], np.uint8)
    found = replicate(data, data.scope("all"), again=again)
    assert found.rate[0].n == 2
    assert found.n[0, 0] == 2
    nothing = replicate(data, data.scope("all"), again=np.full((1, 4), MISSING, np.uint8))
    assert "no item was asked twice" in nothing.reading
    assert np.isnan(nothing.p_value).all()


def test_few_clusters_claim_nothing() -> None:
    values = np.ones((1, 40, 2), int)
    values[0, :30, 1] = 0
    data = build(values, keys=GRID[:2])
    items = tuple(
        type(item)(item.benchmark, item.item_id, f"c{i % 4}", item.subject, item.options)
        for i, item in enumerate(data.items)
    )
    clustered = type(data)(**{**vars(data), "items": items})
    found = replicate(clustered, clustered.scope("all"), again=np.ones((1, 40), np.uint8))
    assert np.isnan(found.p_value[0, 0])


@pytest.mark.parametrize(
    ("again", "message"),
    [(np.ones((2, 3), np.uint8), "has shape"), (np.full((3, 4), 4, np.uint8), "codes 0 to 3")],
)
def test_another_shape_or_code_is_refused(
    tiny: Correctness, again: np.ndarray, message: str
) -> None:
    with pytest.raises(AnalysisError, match=message):
        replicate(tiny, tiny.scope("all"), again=again)
    with pytest.raises(AnalysisError, match="alpha"):
        replicate(tiny, tiny.scope("all"), again=tiny.values[:, :, 0], alpha=0)


class TestErrorRates:
    def test_flips_as_frequent_as_those_of_the_replicate_are_no_claim(self) -> None:
        for rate in (0.05, 0.3):
            claims = sum(
                replicate(data, data.scope("all"), again=rerun(data, rate, run)).p_value[0, 0]
                <= 0.05
                for run, data in enumerate(changed(300, 0, rate=rate))
            )
            assert claims < 26

    def test_more_flips_are_found(self) -> None:
        claims = sum(
            replicate(data, data.scope("all"), again=rerun(data, 0.05, run)).p_value[0, 0] <= 0.05
            for run, data in enumerate(changed(50, 1, rate=0.25))
        )
        assert claims >= 42
