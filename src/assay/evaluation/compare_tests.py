"""The comparison of the policy `statistical`: matched attempts, tests, intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.evaluation.compare_points import quality, regression, targeted
from assay.evaluation.effects import Matched, effect, tipping_point
from assay.evaluation.groups import by_tag, capabilities
from assay.evaluation.guardrails import Arms, guardrails
from assay.evaluation.hypothesis import ImprovementHypothesis, RequiredSample
from assay.evaluation.hypothesize import required_sample
from assay.evaluation.pairing import Pairs, pair
from assay.evaluation.patterns import code_changes
from assay.evaluation.policy import Policy
from assay.evaluation.table import UNKNOWN, Bits, Table
from assay.evaluation.verdicts import (
    AreaComparison,
    ArmsComparison,
    CapabilityComparison,
    Comparison,
    Design,
    Effect,
    FailurePatterns,
    Guardrail,
)
from assay.stats import needed_n_equivalence
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
    on_target, on_suite = run.compared(target), run.compared(run.everything)
    rows, suite_harm, safety_harm = run.harm(on_suite)
    worst = on_suite.worst_case or run.effect(run.everything)
    limits = guardrails(run.arms, target, worst, policy)
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
        failure_patterns=run.patterns(target),
        regressions=tuple(
            regression(row)
            for row in rows
            if row.harmed and row.capability not in hypothesis.capability_tags
        ),
        suite_harm_p=suite_harm,
        safety_harm_p=safety_harm,
        guardrails=limits,
        tipping_point=tipping_point(run.verdicts.where(target), policy.alpha_superiority),
        required=_required(hypothesis, on_target, on_suite, limits, policy),
    )


@dataclass(frozen=True)
class _Run:
    arms: Arms
    policy: Policy

    @property
    def pairs(self) -> Pairs:
        return self.arms.pairs

    @cached_property
    def everything(self) -> Bits:
        return np.ones(self.pairs.task.size, bool)

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

    def effect(self, keep: Bits) -> Effect:
        return effect(self.verdicts.where(keep & self.pairs.common), self.policy.level)

    def compared(self, keep: Bits) -> ArmsComparison:
        """Compare both arms over the common tasks of some pairs."""
        common = keep & self.pairs.common
        first = self.arms.baseline.take(self.pairs.baseline[common])
        second = self.arms.candidate.take(self.pairs.candidate[common])
        before, after = (quality(table, self.policy) for table in (first, second))
        found = self.effect(keep)
        counted = keep if self.policy.unpaired == "missing" else common
        worst = self.verdicts.where(counted)
        same = bool(worst.judged.all())
        return ArmsComparison(
            baseline=before,
            candidate=after,
            success_rate_uplift=found.estimate,
            latency_change_rate=self._took("latency", first, second, median=True),
            token_change_rate=self._took("total", first, second),
            cost_change_rate=self._took("cost", first, second),
            safety_violation_change=_less(
                after.safety_violation_rate, before.safety_violation_rate
            ),
            infrastructure_failure_change=_less(
                after.infrastructure_failure_rate, before.infrastructure_failure_rate
            ),
            uplift=found,
            worst_case=found if same else effect(worst.worst(), self.policy.level),
        )

    def _took(
        self, name: str, first: Table, second: Table, *, median: bool = False
    ) -> float | None:
        """Return candidate over baseline less 1 over the pairs that both measured."""
        before, after = first.measured[name], second.measured[name]
        known = ~(np.isnan(before) | np.isnan(after))
        if not known.any():
            return None
        size = np.median if median else np.sum
        base, new = float(size(before[known])), float(size(after[known]))
        if base == 0:
            return 0.0 if new == 0 else None
        return new / base - 1

    def harm(
        self, suite: ArmsComparison
    ) -> tuple[tuple[CapabilityComparison, ...], float | None, float | None]:
        """Test every capability, the suite and its safety for harm, corrected together."""
        tags = sorted({*capabilities(self.arms.baseline), *capabilities(self.arms.candidate)})
        compared = [self.compared(self._tagged(tag)) for tag in tags]
        unsafe = effect(self.arms.bits("unsafe", self.pairs.common), self.policy.level)
        p_values = [row.uplift and row.uplift.worse_p for row in compared]
        p_values += [suite.uplift and suite.uplift.worse_p, unsafe.better_p]
        raw = np.array([math.nan if p is None else p for p in p_values])
        adjusted = [None if math.isnan(p) else float(p) for p in holm(raw[None])[0]]
        rows = tuple(
            CapabilityComparison(
                **dict(row),
                capability=tag,
                harm_p=p_values[k],
                adjusted_harm_p=adjusted[k],
                harmed=_at_most(adjusted[k], self.policy.alpha_harm),
            )
            for k, (tag, row) in enumerate(zip(tags, compared, strict=True))
        )
        return rows, adjusted[-2], adjusted[-1]

    def _tagged(self, tag: str) -> Bits:
        masks = []
        for table in (self.arms.baseline, self.arms.candidate):
            mask = np.zeros(len(table), bool)
            mask[by_tag(table, [tag]).rows] = True
            masks.append(mask)
        return self.mask(*masks)

    def patterns(self, target: Bits) -> FailurePatterns:
        common = target & self.pairs.common
        first = self.arms.baseline.take(self.pairs.baseline[common])
        second = self.arms.candidate.take(self.pairs.candidate[common])
        areas = sorted({*first.stated("area"), *second.stated("area")})
        return FailurePatterns(
            by_code=code_changes(first, second),
            by_area=tuple(
                AreaComparison(**dict(self.compared(self._in_area(area) & target)), task_area=area)
                for area in areas
            ),
        )

    def _in_area(self, area: str) -> Bits:
        masks = [
            np.array([name == area for name in table.names["area"]], bool)[table.codes["area"]]
            for table in (self.arms.baseline, self.arms.candidate)
        ]
        return self.mask(*masks)


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _at_most(p_value: float | None, alpha: float) -> bool:
    return p_value is not None and p_value <= alpha


def _required(
    hypothesis: ImprovementHypothesis,
    target: ArmsComparison,
    suite: ArmsComparison,
    limits: tuple[Guardrail, ...],
    policy: Policy,
) -> tuple[RequiredSample, ...]:
    """Return the tasks that the target needs and, where a loss is open, the suite."""
    wanted = hypothesis.expected_uplift or policy.target_uplift_floor
    found = [required_sample(wanted, None, policy, _discordance(target.uplift))]
    if any(limit.metric == "success" and limit.status == "inconclusive" for limit in limits):
        apart = _discordance(suite.uplift) or policy.regression_tolerance
        margin = max(policy.regression_tolerance, 1e-3)
        found.append(
            RequiredSample(
                tasks=needed_n_equivalence(
                    margin=margin,
                    discordance=max(apart, margin),
                    alpha=(1 - policy.level) / 2,
                    power=2 * policy.power - 1,
                ),
                effect=-margin,
                discordance=apart,
                alpha=(1 - policy.level) / 2,
                power=policy.power,
                method="whole suite: no loss above the margin, normal approximation",
            )
        )
    return tuple(found)


def _discordance(found: Effect | None) -> float | None:
    """Return the share of attempts on which the arms differ; None where that is none."""
    if found is None or not found.attempts or not found.improved + found.worsened:
        return None
    return (found.improved + found.worsened) / found.attempts
