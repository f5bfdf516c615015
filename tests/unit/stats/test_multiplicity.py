from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from assay.core.errors import AnalysisError
from assay.stats import adjust_p, ebh, reject_jointly, strictest_level
from assay.stats.multiplicity import holm


@pytest.mark.parametrize(("method", "name"), [("by", "fdr_by"), ("bh", "fdr_bh"), ("holm", "holm")])
def test_equals_statsmodels(method: str, name: str) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 66):
        p = rng.uniform(size=size).round(2) ** 2
        wanted = multipletests(p, method=name)[1]
        assert adjust_p(p, method=method).p_values == pytest.approx(wanted, abs=1e-10)


def test_holm_of_several_families_is_that_of_each() -> None:
    p = np.random.default_rng(1).uniform(size=(20, 7))
    p[p > 0.9] = np.nan
    each = [adjust_p(row, method="holm").p_values for row in p]
    assert holm(p) == pytest.approx(np.array(each), nan_ok=True)


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


def test_ebh_rejects_the_largest_prefix() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 5, 40):
        log_e = rng.normal(2, 2, size)
        found = ebh(log_e, alpha=0.1)
        ordered = np.sort(np.exp(log_e))[::-1]
        enough = [k for k in range(1, size + 1) if ordered[k - 1] >= size / (0.1 * k)]
        assert found.rejected.sum() == max(enough, default=0)
        assert found.levels[found.rejected].max(initial=0) <= 0.1
        assert np.array_equal(found.rejected, found.levels <= 0.1)


def test_ebh_is_bh_on_inverse_evalues() -> None:
    log_e = np.random.default_rng(2).uniform(0, 8, 30)
    wanted = stats.false_discovery_control(np.exp(-log_e), method="bh")
    assert ebh(log_e, alpha=0.05).levels == pytest.approx(wanted, abs=1e-10)


def test_ebh_takes_a_value_that_just_suffices() -> None:
    assert ebh([np.log(20)], alpha=0.05).rejected.all()
    assert ebh(np.log([30, 30, 30.0]), alpha=0.1 / 3).rejected.all()
    assert not ebh([np.log(19.9)], alpha=0.05).rejected.any()


def test_ebh_over_evalues_beyond_floats() -> None:
    found = ebh([1e6, -1e6, 5e5, -np.inf, np.nan], alpha=0.05)
    assert found.rejected.tolist() == [True, False, True, False, False]
    assert found.family == 4
    assert np.isnan(found.levels[4])


def test_ebh_refuses_running_maxima() -> None:
    with pytest.raises(AnalysisError, match="running maximum"):
        ebh([1.0], alpha=0.05, running_maximum=True)


def test_ebh_controls_false_discoveries_whatever_the_dependence() -> None:
    # All nulls share one e-value that is as large as e-values may be that often.
    rng = np.random.default_rng(3)
    shared = np.where(rng.random(2000) < 0.05, np.log(20), -np.inf)
    false = [ebh(np.full(20, value), alpha=0.05).rejected.any() for value in shared]
    assert 0.03 < np.mean(false) <= 0.065


def test_joint_rejections_split_alpha() -> None:
    p, log_e = [0.001, 0.012, 0.9], np.log([100.0, 70.0, 1.0])
    by, evalues = reject_jointly(p, log_e, alpha=0.05, share=0.4)
    assert (by.alpha, evalues.alpha) == pytest.approx((0.02, 0.03))
    assert np.array_equal(by.rejected, adjust_p(p).p_values <= by.alpha)
    assert np.array_equal(evalues.rejected, ebh(log_e, alpha=evalues.alpha).rejected)
    assert (by.family, evalues.family) == (3, 3)


def test_joint_false_discoveries() -> None:
    # Of twenty nulls, half have independent p-values and half one shared e-value.
    rng = np.random.default_rng(4)
    claims = 0
    for _ in range(1000):
        shared = np.log(40) if rng.random() < 1 / 40 else -np.inf
        by, evalues = reject_jointly(rng.random(10), np.full(10, shared), alpha=0.05, method="bh")
        claims += bool(by.rejected.any() or evalues.rejected.any())
    assert 30 < claims <= 70


@pytest.mark.parametrize("options", [{"alpha": 0}, {"share": 1}, {"method": "holm"}])
def test_bad_joint_options_are_refused(options: dict) -> None:
    with pytest.raises(AnalysisError):
        reject_jointly([0.1], [1.0], **({"alpha": 0.05} | options))


@pytest.mark.parametrize("log_e", [[[1.0]], [np.inf], 1.0])
def test_bad_evalues_are_refused(log_e: list) -> None:
    with pytest.raises(AnalysisError):
        ebh(log_e, alpha=0.05)
