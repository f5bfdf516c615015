from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import (
    evalue_power,
    mcnemar_power,
    minimum_detectable_effect,
    needed_n,
    needed_n_equivalence,
    paired_evalue,
)


def enumerated_power(
    n: int, effect: float, discordance: float, alpha: float, decides: Callable[[int, int], bool]
) -> float:
    p_b, p_c = (discordance + effect) / 2, (discordance - effect) / 2
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if b > c and decides(b, c):
                cell = [b, c, n - b - c]
                total += stats.multinomial.pmf(cell, n, [p_b, p_c, 1 - p_b - p_c])
    return total


@pytest.mark.parametrize(
    ("n", "effect", "discordance", "alpha"),
    [(12, 0.3, 0.4, 0.05), (20, 0.2, 0.3, 0.05), (15, 0.5, 0.5, 0.05), (18, 0.4, 0.7, 0.01)],
)
def test_power_equals_enumeration(n: int, effect: float, discordance: float, alpha: float) -> None:
    found = mcnemar_power(n, effect=effect, discordance=discordance, alpha=alpha)
    wanted = enumerated_power(
        n, effect, discordance, alpha, lambda b, c: stats.binomtest(b, b + c).pvalue <= alpha
    )
    assert found == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize(
    ("n", "effect", "discordance", "alpha"),
    [(12, 0.3, 0.4, 0.05), (20, 0.2, 0.3, 0.2), (18, 0.4, 0.7, 0.01), (25, 0.6, 0.6, 0.05)],
)
def test_evalue_power_equals_enumeration(
    n: int, effect: float, discordance: float, alpha: float
) -> None:
    found = evalue_power(n, effect=effect, discordance=discordance, alpha=alpha)
    wanted = enumerated_power(
        n, effect, discordance, alpha, lambda b, c: paired_evalue(b, c).e >= 1 / alpha
    )
    assert found == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize(("n", "power"), [(20, 0.20), (50, 0.70)])
def test_stated_power_for_sixty_to_eighty_percent(n: int, power: float) -> None:
    assert round(mcnemar_power(n, effect=0.2, discordance=0.3), 2) == power


@pytest.mark.parametrize(("test", "points"), [("mcnemar", 6.4), ("evalue", 8.4)])
def test_stated_minimum_detectable_effect(test: str, points: float) -> None:
    found = minimum_detectable_effect(300, discordance=0.15, test=test)
    assert round(100 * found.effect, 1) == points
    assert found.power >= 0.8


def test_needed_n_of_the_evalue() -> None:
    options = {"effect": 0.2, "discordance": 0.3}
    found = needed_n(**options, test="evalue")
    assert evalue_power(found.n, **options) == found.power >= 0.8
    assert evalue_power(found.n - 1, **options) < 0.8
    assert found.n > needed_n(**options).n
    assert found.method != needed_n(**options).method


@pytest.mark.parametrize(
    ("effect", "discordance", "alpha"),
    [(0.2, 0.3, 0.05), (0.05, 0.15, 0.05), (0.02, 0.02, 0.001), (1, 1, 0.05), (0.3, 0.9, 0.2)],
)
def test_needed_n_is_where_the_power_is_reached(
    effect: float, discordance: float, alpha: float
) -> None:
    found = needed_n(effect=effect, discordance=discordance, alpha=alpha)
    options = {"effect": effect, "discordance": discordance, "alpha": alpha}
    assert mcnemar_power(found.n, **options) == found.power >= 0.8
    assert mcnemar_power(found.n - 1, **options) < 0.8


def test_needed_n_by_trying_every_size() -> None:
    options = {"effect": 0.35, "discordance": 0.5}
    sizes = [n for n in range(1, 60) if mcnemar_power(n, **options) >= 0.8]
    assert needed_n(**options).n in sizes[:3]


def test_detectable_effect_and_needed_n_are_inverse() -> None:
    design = minimum_detectable_effect(500, discordance=0.2)
    assert needed_n(effect=design.effect, discordance=0.2).n == pytest.approx(500, abs=5)


def test_an_effect_that_no_data_can_show_is_unattainable() -> None:
    few = minimum_detectable_effect(10, discordance=0.2)
    assert math.isnan(few.effect)
    assert not few.attainable
    assert few.power < 0.8
    with pytest.raises(AnalysisError, match="unattainable"):
        needed_n(effect=0.3, discordance=0.2)


def test_stated_sizes_for_equivalence() -> None:
    found = [needed_n_equivalence(margin=m, discordance=0.15) for m in (0.01, 0.02, 0.05)]
    assert found == [12846, 3212, 514]


@pytest.mark.parametrize("options", [{"alpha": 0}, {"power": 1}, {"discordance": 0}, {"test": "t"}])
def test_bad_options_are_refused(options: dict) -> None:
    with pytest.raises(AnalysisError):
        needed_n(**({"effect": 0.1, "discordance": 0.2} | options))
