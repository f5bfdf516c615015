"""What a comparison of two arms says, and the decision on it.

The types follow the rules of `results`: frozen, camelCase outside, None for unknown.
"""

from __future__ import annotations

from typing import Literal

from assay.evaluation.hypothesis import RequiredSample
from assay.evaluation.results import Bounds, PolicyName, QualityAggregate, Result

Verdict = Literal["deploy", "scoped", "reject", "insufficient_data"]
Scope = Literal["target", "suite"]
Status = Literal["passed", "failed", "inconclusive", "not_evaluated"]


class Coverage(Result):
    """Which tasks were compared.

    Attributes
    ----------
    paired_tasks, paired_attempts : int
        Common tasks, and attempts that were matched one to one within them.
    baseline_only, candidate_only : tuple of str
        Tasks of one arm alone, sorted; the decision counts them against the candidate.
    changed_versions : tuple of str
        Tasks whose checksum differs and which a policy allowed to leave out.
    """

    paired_tasks: int
    paired_attempts: int
    baseline_only: tuple[str, ...]
    candidate_only: tuple[str, ...]
    changed_versions: tuple[str, ...]


class Effect(Result):
    """Candidate's success rate minus baseline's on matched attempts, tasks as clusters.

    Attributes
    ----------
    estimate : float or None
    interval : Bounds or None
        Two-sided, at the policy's level.
    better_p, worse_p : float or None
        One-sided p-values; None where there are too few tasks to test.
    tasks, attempts, improved, worsened : int
        `improved` and `worsened` count attempts.
    method : str
    """

    estimate: float | None
    interval: Bounds | None
    better_p: float | None
    worse_p: float | None
    tasks: int
    attempts: int
    improved: int
    worsened: int
    method: str


class ArmsComparison(Result):
    """Both arms over one set of attempts.

    Attributes
    ----------
    baseline, candidate : QualityAggregate
        Over common tasks (`equaxis-v1`: over all).
    success_rate_uplift : float or None
    latency_change_rate, token_change_rate, cost_change_rate : float or None
        Candidate over baseline less 1: of totals on common tasks and, for latency, of medians
        (`equaxis-v1`: of means). None where not measured.
    safety_violation_change, infrastructure_failure_change : float or None
        Difference in rates.
    uplift : Effect or None
        Attempts without a verdict left out. None under `equaxis-v1`.
    worst_case : Effect or None
        The same if every missing attempt of the candidate had failed and every missing one of
        the baseline had succeeded.
    """

    baseline: QualityAggregate
    candidate: QualityAggregate
    success_rate_uplift: float | None
    latency_change_rate: float | None
    token_change_rate: float | None
    cost_change_rate: float | None
    safety_violation_change: float | None
    infrastructure_failure_change: float | None
    uplift: Effect | None = None
    worst_case: Effect | None = None


class CapabilityComparison(ArmsComparison):
    """One capability in both arms.

    Attributes
    ----------
    harm_p, adjusted_harm_p : float or None
        That the candidate is worse, before and after Holm's correction over all capabilities,
        the suite and its safety.
    harmed : bool
    """

    capability: str
    harm_p: float | None = None
    adjusted_harm_p: float | None = None
    harmed: bool = False


class AreaComparison(ArmsComparison):
    """One task area in both arms."""

    task_area: str


class CodeChange(Result):
    """A failure code in both arms: failed attempts of task quality on the target."""

    failure_code: str
    baseline_count: int
    candidate_count: int
    count_delta: int


class FailurePatterns(Result):
    """How the pattern of failures moved; codes by the size of their change."""

    by_code: tuple[CodeChange, ...]
    by_area: tuple[AreaComparison, ...]


class Regression(Result):
    """A capability outside the target that is worse in the candidate."""

    capability: str
    uplift: float | None
    baseline_attempts: int
    candidate_attempts: int


class Guardrail(Result):
    """One limit on a side effect, on the target or the whole suite.

    Attributes
    ----------
    metric : str
        success, tokens, cost, latency_p50, latency_p95, safety or infrastructure.
    scope : {"target", "suite"}
    status : {"passed", "failed", "inconclusive", "not_evaluated"}
        failed: the limit is demonstrably broken; inconclusive: neither shown to hold nor broken;
        not_evaluated: an arm did not measure it. Only `passed` lets a candidate be deployed,
        unless the policy allows what was not measured.
    change : float or None
        Difference in rates for success, safety and infrastructure, ratio less 1 for the others.
    interval : Bounds or None
    limit : float
        What `change` may be at most (for success: at least).
    p_value : float or None
        Of the test for harm, where that decides (safety, infrastructure); of success, that the
        loss is as large as the limit.
    tasks : int
        Tasks on which both arms measured it.
    """

    metric: str
    scope: Scope
    status: Status
    change: float | None
    interval: Bounds | None
    limit: float
    p_value: float | None
    tasks: int


class TippingPoint(Result):
    """How many missing outcomes must go against the candidate before it is no longer better.

    Attributes
    ----------
    missing : int
        Attempts at the target's tasks without a verdict, of both arms.
    against : int or None
        The fewest of them, all others in its favour; None where even all would not do, or where
        it is not better in the first place.
    """

    missing: int
    against: int | None


class Design(Result):
    """How the arms were run, as far as the records and the manifest tell; None is unknown.

    Attributes
    ----------
    interleaved : bool or None
    order, stopping_rule : str or None
    baseline_versions, candidate_versions : tuple of str
        Runner versions, sorted.
    version_drift : bool or None
        Whether the runner changed between or within the arms.
    baseline_reused : bool
        Whether the baseline is the one that suggested the hypothesis.
    candidates : int
        Of the cycle: what they show is corrected over all of them.
    """

    interleaved: bool | None = None
    order: str | None = None
    stopping_rule: str | None = None
    baseline_versions: tuple[str, ...] = ()
    candidate_versions: tuple[str, ...] = ()
    version_drift: bool | None = None
    baseline_reused: bool = False
    candidates: int = 1


class Comparison(Result):
    """A candidate against a baseline, for one hypothesis.

    Attributes
    ----------
    target, suite : ArmsComparison
        The hypothesis's tags and areas, and everything.
    regressions : tuple of Regression
        Capabilities outside the target that are worse: by the test, or under `equaxis-v1` by the
        tolerance.
    suite_harm_p, safety_harm_p : float or None
        Adjusted with the capabilities'.
    guardrails : tuple of Guardrail
        Empty under `equaxis-v1`.
    tipping_point : TippingPoint or None
    required : tuple of RequiredSample
        Tasks needed on the target to find the expected uplift and, if it is open, on the suite to
        rule a loss out.
    """

    name: str
    hypothesis_id: str
    phase: int
    expected_uplift: float | None
    target_capabilities: tuple[str, ...]
    target_areas: tuple[str, ...]
    policy: PolicyName
    design: Design
    coverage: Coverage
    target: ArmsComparison
    suite: ArmsComparison
    by_capability: tuple[CapabilityComparison, ...]
    failure_patterns: FailurePatterns
    regressions: tuple[Regression, ...]
    suite_harm_p: float | None = None
    safety_harm_p: float | None = None
    guardrails: tuple[Guardrail, ...] = ()
    tipping_point: TippingPoint | None = None
    required: tuple[RequiredSample, ...] = ()


class Decision(Result):
    """What to do with a candidate, by rule.

    Attributes
    ----------
    decision : {"deploy", "scoped", "reject", "insufficient_data"}
    meets_target : bool or None
        Whether the observed uplift reaches the expected one.
    better_p : float or None
        That it is better on the target, corrected over the candidates of the cycle; None under
        `equaxis-v1`.
    cost_benefit_score : float or None
        Uplift over 1 + the rates by which latency, tokens and cost grow.
    constraints : dict
        Name → whether it is violated, or not shown to hold.
    not_evaluated : tuple of str
        Guardrails (``metric@scope``) that an arm did not measure.
    reason : str
    required : tuple of RequiredSample
        Of an undecided comparison.
    """

    name: str
    hypothesis_id: str
    policy: PolicyName
    decision: Verdict
    meets_target: bool | None = None
    expected_uplift: float | None = None
    observed_uplift: float | None = None
    better_p: float | None = None
    cost_benefit_score: float | None = None
    constraints: dict[str, bool] = {}
    not_evaluated: tuple[str, ...] = ()
    reason: str
    required: tuple[RequiredSample, ...] = ()
