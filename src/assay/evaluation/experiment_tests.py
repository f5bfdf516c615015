"""The comparison of the policy `statistical`: matched attempts, tests, intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.evaluation.aggregates import Members, quality_aggregates
from assay.evaluation.effects import Matched, effect, effects, loss_p, tipping_point
from assay.evaluation.experiment_points import regression, targeted
from assay.evaluation.groups import by_area, by_tag, capabilities
from assay.evaluation.guardrails import Arms, guardrails
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.pairing import Pairs, pair
from assay.evaluation.patterns import code_changes
from assay.evaluation.policy import Policy
from assay.evaluation.sample_size import required_samples
from assay.evaluation.table import UNKNOWN, Bits, Floats, Ints, Table
from assay.evaluation.verdicts import (
    AreaComparison,
    ArmsComparison,
    CapabilityComparison,
    Comparison,
    Design,
    Effect,
    FailurePatterns,
)
from assay.stats.multiplicity import holm


def compare_tests(
    hypothesis: ImprovementHypothesis,
    baseline: Table,
    candidate: Table,
    policy: Policy,
    name: str,
    design: Design,
) -> Comparison:
    """Compare matched attempts; tasks are the units of evidence."""
    run = _Run(Arms(baseline, candidate, pair(baseline, candidate, policy)), policy)
    target = run.mask(*(targeted(table, hypothesis) for table in (baseline, candidate)))
    tags = sorted({*capabilities(baseline), *capabilities(candidate)})
    areas = run.areas(target)
    # Every group in one pass: the intervals of hundreds of capabilities cost as much as one.
    on_target, on_suite, *groups = run.compared(
        _joined(
            _two(target),
            run.grouped(by_tag(baseline, tags), by_tag(candidate, tags)),
            run.grouped(by_area(baseline, areas), by_area(candidate, areas)).only(target),
        )
    )
    rows, suite_harm, safety_harm = run.harm(tags, groups[: len(tags)], on_suite)
    limits = guardrails(run.arms, target, _worst(on_suite), run.loss_p(), policy)
    return Comparison(
        name=name,
        hypothesis_id=hypothesis.id,
        phase=hypothesis.phase,
        expected_uplift=hypothesis.expected_uplift,
        target_capabilities=hypothesis.capability_tags,
        target_areas=hypothesis.task_areas,
        policy=policy.label,
        design=design,
        coverage=run.pairs.coverage,
        target=on_target,
        suite=on_suite,
        by_capability=rows,
        failure_patterns=run.patterns(target, areas, groups[len(tags) :]),
        regressions=tuple(
            regression(row)
            for row in rows
            if row.harmed and row.capability not in hypothesis.capability_tags
        ),
        suite_harm_p=suite_harm,
        safety_harm_p=safety_harm,
        guardrails=limits,
        tipping_point=tipping_point(run.verdicts.where(target), policy.alpha_superiority),
        required=required_samples(
            hypothesis, on_target, on_suite, limits, _shared(policy, design.candidates)
        ),
    )


def _two(target: Bits) -> Members:
    """Return two groups of pairs: the target's, and all."""
    some, every = np.flatnonzero(target), np.arange(target.size)
    return Members(np.concatenate([some, every]), np.repeat([0, 1], [some.size, every.size]), 2)


def _joined(*parts: Members) -> Members:
    """Return the groups of several memberships, one after the other."""
    starts = np.cumsum([0, *(part.count for part in parts)])
    return Members(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.groups + start for part, start in zip(parts, starts, strict=False)]),
        int(starts[-1]),
    )


def _shared(policy: Policy, candidates: int) -> Policy:
    """Return the policy at the level that the first of so many candidates has to reach."""
    if policy.candidates == "alone":
        return policy
    return policy.model_copy(update={"alpha_superiority": policy.alpha_superiority / candidates})


def _worst(found: ArmsComparison) -> Effect:
    if found.worst_case is None:
        raise ValueError("a comparison by tests has a worst case")
    return found.worst_case


@dataclass(frozen=True)
class _Run:
    arms: Arms
    policy: Policy

    @property
    def pairs(self) -> Pairs:
        return self.arms.pairs

    @cached_property
    def verdicts(self) -> Matched:
        """Verdicts of every pair; what the infrastructure spoilt has none."""
        before, after = self.pairs.values("verdict", self.arms.baseline, self.arms.candidate)
        spoilt = self.pairs.values("infrastructure", self.arms.baseline, self.arms.candidate)
        return Matched(
            self.pairs.task,
            np.where(spoilt[0] == 1, UNKNOWN, before),
            np.where(spoilt[1] == 1, UNKNOWN, after),
        )

    def mask(self, baseline: Bits, candidate: Bits) -> Bits:
        """Return the pairs that a mask of the arms' rows means: the baseline's labels decide."""
        first = np.where(self.pairs.baseline >= 0, baseline[self.pairs.baseline], False)
        second = np.where(self.pairs.candidate >= 0, candidate[self.pairs.candidate], False)
        return np.where(self.pairs.baseline >= 0, first, second)

    def grouped(self, baseline: Members, candidate: Members) -> Members:
        """Return groups of pairs from groups of the arms' rows: the baseline's labels decide."""
        alone = np.where(self.pairs.baseline < 0, self.pairs.candidate, UNKNOWN)
        parts = [
            _pairs_of(members, rows, len(table))
            for members, rows, table in (
                (baseline, self.pairs.baseline, self.arms.baseline),
                (candidate, alone, self.arms.candidate),
            )
        ]
        rows, groups = (np.concatenate(part) for part in zip(*parts, strict=True))
        # In the order of the pairs: sums of floats do not depend on the order of the records.
        order = np.lexsort((rows, groups))
        return Members(rows[order], groups[order], baseline.count)

    def compared(self, members: Members) -> list[ArmsComparison]:
        """Compare both arms over the common tasks of each group of pairs."""
        common = members.only(self.pairs.common)
        counted = members if self.policy.unpaired == "missing" else common
        level = self.policy.level
        found = effects(self.verdicts, common, level)
        missing = not self.verdicts.judged[counted.rows].all()
        worst = effects(self.verdicts.worst(), counted, level) if missing else found
        before = quality_aggregates(
            self.arms.baseline, replace(common, rows=self.pairs.baseline[common.rows]), self.policy
        )
        after = quality_aggregates(
            self.arms.candidate,
            replace(common, rows=self.pairs.candidate[common.rows]),
            self.policy,
        )
        latency, tokens, cost = (
            self._took(name, common, median=name == "latency")
            for name in ("latency", "total", "cost")
        )
        return [
            ArmsComparison.model_construct(
                baseline=first,
                candidate=second,
                success_rate_uplift=found[k].estimate,
                latency_change_rate=latency[k],
                token_change_rate=tokens[k],
                cost_change_rate=cost[k],
                safety_violation_change=_less(
                    second.safety_violation_rate, first.safety_violation_rate
                ),
                infrastructure_failure_change=_less(
                    second.infrastructure_failure_rate, first.infrastructure_failure_rate
                ),
                uplift=found[k],
                worst_case=worst[k],
            )
            for k, (first, second) in enumerate(zip(before, after, strict=True))
        ]

    def loss_p(self) -> float | None:
        """Return the p-value of a loss of the margin on the suite, the missing against it."""
        every = np.ones(self.pairs.task.size, bool)
        counted = every if self.policy.unpaired == "missing" else self.pairs.common
        return loss_p(self.verdicts.worst().where(counted), self.policy.regression_tolerance)

    def _took(self, name: str, common: Members, *, median: bool) -> list[float | None]:
        """Return candidate over baseline less 1 over the pairs that both measured, a group."""
        before = self.arms.baseline.measured[name][self.pairs.baseline[common.rows]]
        after = self.arms.candidate.measured[name][self.pairs.candidate[common.rows]]
        known = ~(np.isnan(before) | np.isnan(after))
        groups = common.groups[known]
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=common.count))[:-1]
        parts = (np.split(values[known][order], ends) for values in (before, after))
        size = np.median if median else np.sum
        return [_grown(size, first, second) for first, second in zip(*parts, strict=True)]

    def harm(
        self, tags: list[str], compared: list[ArmsComparison], suite: ArmsComparison
    ) -> tuple[tuple[CapabilityComparison, ...], float | None, float | None]:
        """Test every capability, the suite and its safety for harm, corrected together."""
        unsafe = effect(self.arms.bits("unsafe", self.pairs.common), self.policy.level)
        p_values = [_worse(row) for row in compared] + [_worse(suite), unsafe.better_p]
        raw = np.array([math.nan if p is None else p for p in p_values])
        adjusted = [None if math.isnan(p) else float(p) for p in holm(raw[None])[0]]
        rows = tuple(
            CapabilityComparison.model_construct(
                **dict(row),
                capability=tag,
                harm_p=p_values[k],
                adjusted_harm_p=adjusted[k],
                harmed=_at_most(adjusted[k], self.policy.alpha_harm),
            )
            for k, (tag, row) in enumerate(zip(tags, compared, strict=True))
        )
        return rows, adjusted[-2], adjusted[-1]

    def areas(self, target: Bits) -> list[str]:
        """Return the areas of the target's common tasks, sorted."""
        return sorted({name for arm in self._common(target) for name in arm.stated("area")})

    def _common(self, target: Bits) -> tuple[Table, Table]:
        common = target & self.pairs.common
        return (
            self.arms.baseline.take(self.pairs.baseline[common]),
            self.arms.candidate.take(self.pairs.candidate[common]),
        )

    def patterns(
        self, target: Bits, areas: list[str], compared: list[ArmsComparison]
    ) -> FailurePatterns:
        return FailurePatterns(
            by_code=code_changes(*self._common(target)),
            by_area=tuple(
                AreaComparison.model_construct(**dict(row), task_area=area)
                for area, row in zip(areas, compared, strict=True)
            ),
        )


def _pairs_of(members: Members, rows: Ints, count: int) -> tuple[Ints, Ints]:
    """Return pairs and groups of the memberships whose row of the arm is in a pair."""
    place = np.full(count, UNKNOWN)
    used = np.flatnonzero(rows >= 0)
    place[rows[used]] = used
    found = place[members.rows]
    return found[found >= 0], members.groups[found >= 0]


def _grown(
    size: Callable[[Floats], np.floating[Any]], before: Floats, after: Floats
) -> float | None:
    if not before.size:
        return None
    base, new = float(size(before)), float(size(after))
    if base == 0:
        return 0.0 if new == 0 else None
    return new / base - 1


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _worse(found: ArmsComparison) -> float | None:
    return None if found.uplift is None else found.uplift.worse_p


def _at_most(p_value: float | None, alpha: float) -> bool:
    return p_value is not None and p_value <= alpha
