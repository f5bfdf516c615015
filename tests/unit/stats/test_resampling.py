from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats.mean_intervals import bootstrap_mean_intervals
from assay.stats.resampling import STREAM, bootstrap, bootstrap_mean_blocks, bootstrap_means


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def samples(units: int, draws: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, STREAM])
    return np.stack([rng.integers(units, size=units) for _ in range(draws)])


@pytest.fixture
def table() -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.random((60, 5)) < [0.9, 0.6, 0.5, 0.3, 0.1]


class TestAnyStatistic:
    @pytest.mark.parametrize("method", ["bca", "percentile"])
    @pytest.mark.parametrize("statistic", [np.mean, np.median, stats.skew])
    def test_equals_scipy(self, statistic: object, method: str) -> None:
        data = np.random.default_rng(2).lognormal(size=40)
        found = bootstrap(statistic, data, method=method, draws=400, seed=3, level=0.9)
        wanted = stats.bootstrap(
            (data,),
            statistic,
            n_resamples=400,
            confidence_level=0.9,
            method="BCa" if method == "bca" else method,
            rng=np.random.default_rng([3, STREAM]),
        )
        bounds = (found.interval.low, found.interval.high)
        assert bounds == pytest.approx(tuple(wanted.confidence_interval), abs=1e-10)
        assert found.standard_error == pytest.approx(wanted.standard_error, abs=1e-10)
        assert found.interval.estimate == pytest.approx(statistic(data), abs=1e-12)

    def test_arrays_of_the_same_items_are_drawn_together(self) -> None:
        x, y = np.random.default_rng(4).standard_normal((2, 30))
        y = x + y
        found = bootstrap(correlation, (x, y), draws=300, seed=5)
        wanted = stats.bootstrap(
            (x, y),
            correlation,
            paired=True,
            vectorized=False,
            n_resamples=300,
            method="BCa",
            rng=np.random.default_rng([5, STREAM]),
        )
        bounds = (found.interval.low, found.interval.high)
        assert bounds == pytest.approx(tuple(wanted.confidence_interval), abs=1e-10)

    def test_clusters_are_drawn_whole(self) -> None:
        clusters = np.array(["c", "a", "b", "a", "c", "d", "e", "f", "g", "a"])
        with pytest.warns(RuntimeWarning, match="too narrow"):
            found = bootstrap(np.size, np.arange(10), clusters=clusters, draws=200, seed=6)
        sizes = np.unique(clusters, return_counts=True)[1]
        wanted = sizes[samples(7, 200, 6)].sum(axis=1)
        assert found.distribution.tolist() == wanted.tolist()
        assert found.units == 7
        assert found.interval.n == 10

    def test_duplicated_items_in_one_cluster_add_no_certainty(self) -> None:
        data = np.random.default_rng(7).random(25)
        once = bootstrap(np.mean, data, draws=300, seed=8).interval
        twice = bootstrap(
            np.mean, np.tile(data, 2), clusters=np.tile(np.arange(25), 2), draws=300, seed=8
        ).interval
        assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=1e-12)

    def test_few_units_give_no_interval(self) -> None:
        with pytest.warns(RuntimeWarning, match="5 units are too few"):
            found = bootstrap(np.mean, np.arange(20), clusters=np.arange(20) % 5, seed=1, draws=50)
        assert found.interval.estimate == 9.5
        assert np.isnan([found.interval.low, found.interval.high, found.standard_error]).all()

    @pytest.mark.parametrize("method", ["bca", "percentile"])
    def test_a_statistic_that_does_not_vary_has_no_interval(self, method: str) -> None:
        with pytest.warns(RuntimeWarning, match="does not vary") as caught:
            found = bootstrap(np.mean, np.ones(30), seed=1, draws=50, method=method)
        assert len(caught) == 1
        assert np.isnan([found.interval.low, found.interval.high]).all()

    def test_a_statistic_undefined_in_a_sample_has_no_interval(self) -> None:
        with pytest.warns(RuntimeWarning, match="undefined in a sample"):
            found = bootstrap(lambda x: 1.0 if 29 in x else np.nan, np.arange(30), seed=1, draws=50)
        assert found.interval.estimate == 1
        assert np.isnan([found.interval.low, found.interval.high]).all()

    def test_unusable_input_is_refused(self) -> None:
        with pytest.raises(AnalysisError, match="same items"):
            bootstrap(correlation, (np.ones(3), np.ones(4)), seed=1)
        with pytest.raises(AnalysisError, match="no item"):
            bootstrap(np.mean, [], seed=1)
        with pytest.raises(AnalysisError, match="choose one of bca, percentile"):
            bootstrap(np.mean, np.ones(30), method="basic", seed=1)
        with pytest.raises(AnalysisError, match="between 0 and 1"):
            bootstrap(np.mean, np.ones(30), level=95, seed=1)
        with pytest.raises(AnalysisError, match="at least two draws"):
            bootstrap(np.mean, np.ones(30), draws=1, seed=1)


class TestMeans:
    def test_equals_taking_the_items_of_each_sample(self, table: np.ndarray) -> None:
        found = bootstrap_means(table, draws=150, seed=2)
        wanted = table[samples(60, 150, 2)].mean(axis=1)
        assert np.array_equal(found, wanted)

    @pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float32, np.float64])
    def test_the_type_of_the_bits_changes_nothing(self, table: np.ndarray, kind: type) -> None:
        wanted = bootstrap_means(table, draws=20, seed=2)
        assert np.array_equal(bootstrap_means(table.astype(kind), draws=20, seed=2), wanted)

    @pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e9, 1e200])
    def test_floats_of_any_size_are_within_rounding(self, scale: float) -> None:
        values = np.random.default_rng(3).standard_normal((60, 4)) * scale
        found = bootstrap_means(values, draws=100, seed=4)
        wanted = values[samples(60, 100, 4)].mean(axis=1)
        assert np.allclose(found / scale, wanted / scale, rtol=0, atol=1e-13)

    def test_large_whole_numbers_are_exact(self) -> None:
        values = np.random.default_rng(3).integers(0, 2**40, (60, 3))
        found = bootstrap_means(values, draws=50, seed=4)
        assert np.array_equal(found, values[samples(60, 50, 4)].sum(axis=1) / 60)

    def test_neither_memory_nor_other_columns_nor_item_order_change_a_bit(self) -> None:
        values = np.random.default_rng(5).random((50, 40))
        clusters = np.arange(50) // 2
        whole = bootstrap_means(values, draws=70, seed=6, clusters=clusters)
        pieces = bootstrap_mean_blocks(values, draws=70, seed=6, clusters=clusters, memory=20_000)
        pieces = list(pieces)
        assert len(pieces) > 3
        assert np.array_equal(np.concatenate(pieces), whole)
        alone = bootstrap_means(values[:, 7:8], draws=70, seed=6, clusters=clusters)
        assert np.array_equal(alone, whole[:, 7:8])

    def test_number_of_threads_changes_no_bit(self) -> None:
        code = (
            "import hashlib, numpy as np\n"
            "from assay.stats.resampling import bootstrap_means\n"
            "x = np.random.default_rng(0).random((777, 90))\n"
            "x[x < .01] = np.nan\n"
            "print(hashlib.sha256(bootstrap_means(x, draws=300, seed=1)).hexdigest())"
        )
        values = np.random.default_rng(0).random((777, 90))
        values[values < 0.01] = np.nan
        here = hashlib.sha256(bootstrap_means(values, draws=300, seed=1)).hexdigest()
        for threads in ("1", "2"):
            names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
            environment = os.environ | dict.fromkeys(names, threads)
            output = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, check=True
            )
            assert output.stdout.decode().strip() == here

    def test_clusters_are_drawn_whole(self, table: np.ndarray) -> None:
        clusters = np.random.default_rng(8).integers(0, 14, 60)
        found = bootstrap_means(table, draws=80, seed=9, clusters=clusters)
        for sample, means in zip(samples(14, 80, 9), found, strict=True):
            items = np.concatenate([np.flatnonzero(clusters == unit) for unit in sample])
            assert np.array_equal(means, table[items].mean(axis=0))

    def test_each_stratum_keeps_its_size(self) -> None:
        strata = np.array(["b", "a", "c"] * 10 + ["a"] * 9)
        indicators = strata[:, None] == ["a", "b", "c"]
        found = bootstrap_means(indicators, draws=50, seed=1, strata=strata)
        assert np.array_equal(found, np.tile(indicators.mean(axis=0), (50, 1)))

    def test_clusters_within_strata(self) -> None:
        strata = np.repeat([0, 1], 30)
        clusters = np.repeat(np.arange(20), 3)
        values = np.random.default_rng(3).random(60)
        found = bootstrap_means(
            values[:, None], draws=4000, seed=2, strata=strata, clusters=clusters
        )
        sums = values.reshape(2, 10, 3).sum(axis=2)
        wanted = np.sqrt(sums.var(axis=1).sum() * 10) / 60
        assert found.std() == pytest.approx(wanted, rel=0.05)

    def test_missing_values_are_left_out(self, table: np.ndarray) -> None:
        values = table.astype(float)
        values[::7, 1] = np.nan
        values[2:, 2] = np.nan
        found = bootstrap_means(values, draws=60, seed=3)
        drawn = values[samples(60, 60, 3)]
        count = (~np.isnan(drawn)).sum(axis=1)
        with np.errstate(invalid="ignore"):
            wanted = np.nansum(drawn, axis=1) / count
        assert np.array_equal(found, wanted, equal_nan=True)
        assert np.isnan(found[:, 2]).any()

    def test_same_seed_same_samples_for_another_table(self, table: np.ndarray) -> None:
        first = bootstrap_means(table, draws=40, seed=5)
        assert np.allclose(bootstrap_means(~table, draws=40, seed=5), 1 - first)
        assert not np.array_equal(bootstrap_means(table, draws=40, seed=6), first)

    def test_a_stratum_of_one_unit_is_said_to_be_fixed(self) -> None:
        with pytest.warns(RuntimeWarning, match="never varies"):
            bootstrap_means(np.ones((3, 1)), draws=2, seed=1, strata=[0, 0, 1])

    def test_unusable_input_is_refused(self) -> None:
        ones = np.ones((4, 2))
        with pytest.raises(AnalysisError, match="one row an item"):
            bootstrap_means(np.ones(4), seed=1)
        with pytest.raises(AnalysisError, match="table of numbers"):
            bootstrap_means([["a"]], seed=1)
        with pytest.raises(AnalysisError, match="finite"):
            bootstrap_means(ones * np.inf, seed=1)
        with pytest.raises(AnalysisError, match="no item"):
            bootstrap_means(np.ones((0, 2)), seed=1)
        with pytest.raises(AnalysisError, match="cluster labels"):
            bootstrap_means(ones, seed=1, clusters=[1, 2])
        with pytest.raises(AnalysisError, match="more than one stratum"):
            bootstrap_means(ones, seed=1, clusters=[0, 0, 1, 1], strata=[0, 1, 1, 1])
        with pytest.raises(AnalysisError, match="at least one draw"):
            bootstrap_means(ones, seed=1, draws=0)


class TestMeanIntervals:
    @pytest.mark.parametrize("method", ["bca", "percentile"])
    def test_equals_the_bootstrap_of_each_column(self, method: str) -> None:
        rng = np.random.default_rng(1)
        values = np.column_stack([rng.lognormal(size=45), rng.random(45) < 0.9, rng.random(45)])
        clusters = rng.permutation(45) % 24
        for groups in (None, clusters):
            found = bootstrap_mean_intervals(
                values, draws=300, seed=2, method=method, clusters=groups, memory=2**14
            )
            for k, column in enumerate(values.T):
                one = bootstrap(
                    np.mean, column, draws=300, seed=2, method=method, clusters=groups
                ).interval
                assert found.estimate[k] == pytest.approx(one.estimate, abs=1e-12)
                assert found.low[k] == pytest.approx(one.low, abs=1e-10)
                assert found.high[k] == pytest.approx(one.high, abs=1e-10)

    def test_missing_values_are_left_out_and_not_counted(self) -> None:
        values = np.random.default_rng(3).random((60, 2))
        values[:20, 1] = np.nan
        found = bootstrap_mean_intervals(values, draws=2000, seed=4)
        assert found.n.tolist() == [60, 40]
        assert found.estimate[1] == pytest.approx(np.nanmean(values[:, 1]))
        alone = bootstrap_mean_intervals(values[20:, 1:], draws=2000, seed=5)
        assert found.high[1] - found.low[1] == pytest.approx(alone.high[0] - alone.low[0], rel=0.1)

    def test_a_column_that_does_not_vary_has_no_interval(self) -> None:
        values = np.column_stack([np.ones(30), np.arange(30) % 2, np.full(30, np.nan)])
        with pytest.warns(RuntimeWarning, match="does not vary"):
            found = bootstrap_mean_intervals(values, draws=100, seed=1)
        assert np.isnan(found.low).tolist() == [True, False, True]
        assert found.estimate[:2].tolist() == [1, 0.5]
        assert np.isnan(found.estimate[2])

    def test_few_units_give_no_interval(self) -> None:
        with pytest.warns(RuntimeWarning, match="4 units are too few"):
            found = bootstrap_mean_intervals(np.eye(4), draws=50, seed=1)
        assert np.isnan([found.low, found.high]).all()
        assert found.estimate.tolist() == [0.25] * 4

    def test_coverage(self) -> None:
        # Each column is one data set; all are drawn by the same samples.
        rng = np.random.default_rng(6)
        right, skewed = rng.random((150, 2000)) < 0.8, rng.lognormal(size=(150, 2000))
        for values, truth, least in ((right, 0.8, 0.935), (skewed, np.exp(0.5), 0.90)):
            found = bootstrap_mean_intervals(values, draws=1000, seed=7)
            assert np.mean((found.low <= truth) & (truth <= found.high)) >= least

    def test_only_whole_clusters_cover_where_items_share_a_passage(self) -> None:
        rng = np.random.default_rng(8)
        shared = np.repeat(rng.standard_normal((60, 1500)), 5, axis=0)
        values = shared + rng.standard_normal((300, 1500))
        coverage = []
        for clusters in (np.arange(300) // 5, None):
            found = bootstrap_mean_intervals(values, draws=500, seed=9, clusters=clusters)
            coverage.append(np.mean((found.low <= 0) & (found.high >= 0)))
        assert coverage[0] >= 0.92
        assert coverage[1] <= 0.80

    @pytest.mark.filterwarnings("ignore:a bootstrap interval of 20 units")
    def test_twenty_units_cover_less_than_promised(self) -> None:
        values = np.random.default_rng(10).standard_normal((20, 3000))
        found = bootstrap_mean_intervals(values, draws=1000, seed=11)
        missed = np.mean((found.low > 0) | (found.high < 0))
        assert 0.06 <= missed <= 0.10
