from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import PairedCounts, equivalence, needed_n_equivalence


def near_the_margin(n: int, discordance: float) -> PairedCounts:
    """Return all tables of n items that are not hopelessly improbable."""
    most = int(n * discordance + 8 * np.sqrt(n * discordance) + 12)
    b, c = np.meshgrid(*(np.arange(min(n, most) + 1),) * 2, indexing="ij")
    kept = b + c <= n
    b, c = b[kept], c[kept]
    return PairedCounts(both=n - b - c, b=b, c=c, neither=np.zeros_like(b))


def claim_rate(n: int, margin: float, gap: float, discordance: float) -> float:
    counts = near_the_margin(n, discordance)
    claimed = equivalence(counts, margin=margin).equivalent
    p_b, p_c = (discordance + gap) / 2, (discordance - gap) / 2
    cells = np.stack([counts.b, counts.c, n - counts.b - counts.c], axis=-1)
    return float(stats.multinomial.pmf(cells, n, [p_b, p_c, 1 - p_b - p_c])[claimed].sum())


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", [20, 60, 90, 100, 133, 140, 200, 300])
def test_exact_size_at_the_margin_stays_at_alpha(n: int, margin: float) -> None:
    for factor in (1, 1.05, 1.3, 2):
        assert claim_rate(n, margin, margin, margin * factor) <= 0.0505, factor


def test_the_score_test_alone_would_claim_too_often() -> None:
    # Seeing no discordant item at all is enough for it at n = 133, and happens in 6.8 %.
    counts = PairedCounts(both=133, b=0, c=0, neither=0)
    found = equivalence(counts, margin=0.02)
    assert -0.02 < found.interval.low < found.interval.high < 0.02
    assert found.p_value == pytest.approx(0.98**133)
    assert not found.equivalent


def test_power_is_as_planned() -> None:
    n = needed_n_equivalence(margin=0.05, discordance=0.15)
    assert claim_rate(n, 0.05, 0, 0.15) == pytest.approx(0.8, abs=0.02)


def test_agrees_with_the_interval_where_discordant_items_abound() -> None:
    b = np.arange(60, 121)
    counts = PairedCounts(both=np.full_like(b, 700), b=b, c=np.full_like(b, 90), neither=300)
    found = equivalence(counts, margin=0.03)
    inside = (found.interval.low > -0.03) & (found.interval.high < 0.03)
    assert found.interval.level == pytest.approx(0.9)
    assert inside.any()
    assert not inside.all()
    assert np.array_equal(found.equivalent, inside)


def test_few_items_never_show_equivalence() -> None:
    assert not equivalence(PairedCounts(both=20, b=0, c=0, neither=4), margin=0.02).equivalent


def test_no_items_is_undefined() -> None:
    with pytest.warns(RuntimeWarning, match="no paired items"):
        counts = PairedCounts(both=0, b=0, c=0, neither=0)
    found = equivalence(counts, margin=0.02)
    assert np.isnan(found.p_value)
    assert not found.equivalent


@pytest.mark.parametrize(
    ("options", "message"),
    [({"margin": 2}, "0.02 is two points"), ({"margin": 0.02, "alpha": 0.7}, "one half")],
)
def test_bad_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        equivalence(PairedCounts(1, 1, 1, 1), **options)
