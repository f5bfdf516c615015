from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import adjust_p, strictest_level


@pytest.mark.parametrize("method", ["by", "bh"])
def test_equals_scipy(method: str) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 66):
        p = rng.uniform(size=size) ** 2
        wanted = stats.false_discovery_control(p, method=method)
        assert adjust_p(p, method=method).p_values == pytest.approx(wanted, abs=1e-10)


def test_holm_by_hand() -> None:
    found = adjust_p([0.01, 0.04, 0.03, 0.005], method="holm")
    assert found.p_values == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert found.controls == "family-wise error rate"


def test_an_untested_hypothesis_is_not_counted() -> None:
    found = adjust_p([0.01, np.nan, 0.04], method="holm")
    assert found.family == 2
    assert found.p_values[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(found.p_values[1])


def test_an_empty_family() -> None:
    assert adjust_p([]).family == 0


@pytest.mark.parametrize("method", ["by", "bh", "holm"])
def test_the_strictest_level_is_the_first_step(method: str) -> None:
    level = strictest_level(0.05, 10, method=method)
    others = [1.0] * 9
    assert adjust_p([level * 0.999, *others], method=method).p_values[0] < 0.05
    assert adjust_p([level * 1.001, *others], method=method).p_values[0] > 0.05


@pytest.mark.parametrize(
    ("values", "method"), [([1.2], "by"), ([-0.1], "by"), ([[0.1]], "by"), ([0.1], "bonferoni")]
)
def test_bad_input_is_refused(values: list, method: str) -> None:
    with pytest.raises(AnalysisError):
        adjust_p(values, method=method)
