from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar

from assay.core.errors import AnalysisError
from assay.stats import PairedCounts, mcnemar_exact, paired_difference


def tables(n: int) -> PairedCounts:
    """Return every table of n items with its discordant counts."""
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    b, c = b[b + c <= n], c[b + c <= n]
    return PairedCounts(both=n - b - c, b=b, c=c, neither=np.zeros_like(b))


def probability(counts: PairedCounts, n: int, gap: float, discordance: float) -> np.ndarray:
    p_b, p_c = (discordance + gap) / 2, (discordance - gap) / 2
    cells = np.stack([counts.b, counts.c, n - counts.b - counts.c], axis=-1)
    return stats.multinomial.pmf(cells, n, [p_b, p_c, 1 - p_b - p_c])


class TestCounts:
    def test_counts_along_the_last_axis(self) -> None:
        first = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
        counts = PairedCounts.of(first, [1, 0, 1, 1, 0])
        assert counts.both.tolist() == [1, 3]
        assert counts.b.tolist() == [2, 0]
        assert counts.c.tolist() == [1, 2]
        assert counts.neither.tolist() == [1, 0]
        assert counts.n.tolist() == [5, 5]

    def test_missing_outcomes_are_refused(self) -> None:
        with pytest.raises(AnalysisError, match="drop missing items"):
            PairedCounts.of([1, np.nan], [1, 0])

    def test_impossible_counts_are_refused(self) -> None:
        with pytest.raises(AnalysisError, match="not negative"):
            PairedCounts(both=1, b=-1, c=0, neither=0)


class TestMcNemar:
    def test_equals_statsmodels_for_every_table(self) -> None:
        counts = tables(12)
        found = mcnemar_exact(counts)
        for k, (b, c) in enumerate(zip(counts.b, counts.c, strict=True)):
            wanted = mcnemar([[1, c], [b, 1]], exact=True).pvalue
            assert found.p_value[k] == pytest.approx(min(wanted, 1), abs=1e-10)

    @pytest.mark.parametrize("alternative", ["greater", "less"])
    def test_one_sided_equals_the_binomial_test(self, alternative: str) -> None:
        counts = tables(9)
        found = mcnemar_exact(counts, alternative=alternative)
        for k, (b, c) in enumerate(zip(counts.b, counts.c, strict=True)):
            if b + c:
                wanted = stats.binomtest(b, b + c, alternative=alternative).pvalue
                assert found.p_value[k] == pytest.approx(wanted, abs=1e-10)

    def test_six_discordant_items_are_the_fewest_that_reach_five_percent(self) -> None:
        five = mcnemar_exact(PairedCounts(both=0, b=5, c=0, neither=0))
        six = mcnemar_exact(PairedCounts(both=0, b=6, c=0, neither=0))
        assert five.p_value == five.attainable_p == 0.0625
        assert six.p_value == six.attainable_p == 0.03125

    def test_no_discordant_item_can_show_nothing(self) -> None:
        found = mcnemar_exact(PairedCounts(both=5, b=0, c=0, neither=5))
        assert found.p_value == found.attainable_p == 1

    def test_no_items_is_undefined(self) -> None:
        with pytest.warns(RuntimeWarning, match="no paired items"):
            found = mcnemar_exact(PairedCounts(both=0, b=0, c=0, neither=0))
        assert np.isnan([found.p_value, found.statistic, found.attainable_p]).all()

    @pytest.mark.parametrize("n", [5, 20, 60])
    def test_exact_size_stays_below_alpha(self, n: int) -> None:
        counts = tables(n)
        rejected = mcnemar_exact(counts).p_value <= 0.05
        for discordance in (0.05, 0.1, 0.3, 0.6, 1.0):
            assert probability(counts, n, 0, discordance)[rejected].sum() <= 0.05

    def test_pope_probes_shared_by_three_models(self, shared: Path) -> None:
        path = shared / "data/vlm/evalvitals_cc0/pope_qwen3vl_cases.jsonl.gz"
        outcomes: dict[str, dict[tuple, bool]] = {}
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                probe = (row["image_id"], row["object"], row["probe_type"])
                size = row["model"].split("-")[2]
                outcomes.setdefault(size, {})[probe] = row["pred"] == row["label"]
        found = {}
        for first, second in itertools.combinations(("2B", "4B", "8B"), 2):
            probes = sorted(outcomes[first].keys() & outcomes[second].keys())
            pair = ([outcomes[size][probe] for probe in probes] for size in (first, second))
            counts = PairedCounts.of(*pair)
            found[first, second] = tuple(sorted((int(counts.b), int(counts.c))))
        assert found == {("2B", "4B"): (27, 31), ("2B", "8B"): (25, 43), ("4B", "8B"): (22, 36)}


def restricted_log_likelihood(q: float, b: int, c: int, n: int, delta: float) -> float:
    """Log-likelihood of P(c) = q and P(b) = q + delta."""
    cells = ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
    return sum(k * np.log(max(p, 1e-300)) for k, p in cells if k)


class TestTango:
    @pytest.mark.parametrize(
        ("counts", "level", "low", "high"),
        [
            # Newcombe (1998), tables II and III, method 10 beside Tango's; Tango (1998), example.
            ((36, 12, 2, 0), 0.95, 0.0611, 0.3447),
            ((43, 0, 1, 0), 0.90, -0.0957, 0.0365),
            ((54, 0, 0, 0), 0.95, -0.0664, 0.0664),
        ],
    )
    def test_published_examples(
        self, counts: tuple[int, ...], level: float, low: float, high: float
    ) -> None:
        both, b, c, neither = counts
        found = paired_difference(PairedCounts(both, b, c, neither), level=level)
        assert (round(found.low, 4), round(found.high, 4)) == (low, high)

    @pytest.mark.parametrize(("b", "c", "n"), [(3, 1, 20), (0, 4, 30), (12, 2, 50), (30, 10, 200)])
    def test_bounds_are_where_the_numerically_restricted_score_is_critical(
        self, b: int, c: int, n: int
    ) -> None:
        def score(delta: float) -> float:
            bounds = (max(0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12)
            fit = optimize.minimize_scalar(
                lambda q: -restricted_log_likelihood(q, b, c, n, delta),
                bounds=bounds,
                method="bounded",
                options={"xatol": 1e-13},
            )
            return (b - c - n * delta) / np.sqrt(n * (2 * fit.x + delta * (1 - delta)))

        found = paired_difference(PairedCounts(n - b - c, b, c, 0))
        z = stats.norm.ppf(0.975)
        assert score(found.low) == pytest.approx(z, abs=1e-4)
        assert score(found.high) == pytest.approx(-z, abs=1e-4)

    @pytest.mark.parametrize("n", [10, 30])
    @pytest.mark.parametrize("method", ["tango", "newcombe"])
    def test_coverage_by_enumeration(self, n: int, method: str) -> None:
        counts = tables(n)
        found = paired_difference(counts, method=method)
        for discordance in (0.05, 0.15, 0.3, 0.5):
            for gap in np.linspace(0, discordance, 5):
                covered = (found.low <= gap) & (gap <= found.high)
                chance = probability(counts, n, gap, discordance)[covered].sum()
                assert chance >= 0.92, (discordance, gap)

    @pytest.mark.parametrize("method", ["tango", "newcombe"])
    def test_swapping_the_models_turns_the_interval_round(self, method: str) -> None:
        one = paired_difference(PairedCounts(20, 9, 3, 8), method=method)
        other = paired_difference(PairedCounts(20, 3, 9, 8), method=method)
        assert one.estimate == -other.estimate
        assert one.low == pytest.approx(-other.high, abs=1e-12)
        assert one.high == pytest.approx(-other.low, abs=1e-12)

    @pytest.mark.parametrize("method", ["tango", "newcombe"])
    def test_no_discordant_item_still_leaves_doubt(self, method: str) -> None:
        found = paired_difference(PairedCounts(15, 0, 0, 5), method=method)
        assert found.estimate == 0
        assert found.low < -0.05
        assert found.high > 0.05

    @pytest.mark.parametrize("method", ["tango", "newcombe"])
    def test_bounds_hold_the_estimate_and_stay_on_the_scale(self, method: str) -> None:
        for n in (1, 2, 6):
            found = paired_difference(tables(n), method=method)
            assert np.all(found.low <= found.estimate + 1e-12)
            assert np.all(found.estimate <= found.high + 1e-12)
            assert np.all((found.low >= -1 - 1e-12) & (found.high <= 1 + 1e-12))

    def test_newcombe_published_example(self) -> None:
        found = paired_difference(PairedCounts(36, 12, 2, 0), method="newcombe")
        assert (round(found.low, 4), round(found.high, 4)) == (0.0569, 0.3404)

    def test_unknown_options_are_refused(self) -> None:
        counts = PairedCounts(1, 1, 1, 1)
        with pytest.raises(AnalysisError, match="choose tango or newcombe"):
            paired_difference(counts, method="wald")
        with pytest.raises(AnalysisError, match="between 0 and 1"):
            paired_difference(counts, level=95)
