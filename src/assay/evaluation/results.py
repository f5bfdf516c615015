"""What a diagnosis says; the types of hypotheses and comparisons are in `hypothesis`, `verdicts`.

Every type is frozen, is written with camelCase names, and reads both. None (null) means unknown or
not defined, never 0. Rates are shares in [0, 1], latency is in milliseconds, cost in US dollars.
Under the policy `equaxis-v1` rates are rounded to 4 decimals, latency and tokens to 2, cost to 6,
and what that policy does not compute is None.
"""

from __future__ import annotations

from assay.evaluation.record import Frozen


class Result(Frozen):
    """Base of every result."""


class Bounds(Result):
    """A confidence interval, or the least and the most that a number can be.

    Attributes
    ----------
    low, high : float or None
        None where the data do not determine it.
    method : str
        How it was computed.
    """

    low: float | None
    high: float | None
    method: str


class PolicyName(Result):
    """Which policy decided: its name, its version and the digest of its values."""

    name: str
    version: int
    digest: str


class Aggregate(Result):
    """A group of attempts in numbers.

    Attributes
    ----------
    attempts, tasks : int
    unjudged : int
        Attempts without a verdict: counted in no rate.
    successes, failures : int
    success_rate : float or None
    success_interval : Bounds or None
        95 %, clustered by task where tasks were attempted several times.
    average_score, average_latency_ms, average_cost_usd, average_total_tokens : float or None
        Means over the attempts that measured it.
    median_latency_ms, p95_latency_ms : float or None
    average_input_tokens, average_cached_tokens, average_output_tokens : float or None
    latency_measured, cost_measured, tokens_measured : int
        Attempts that the means rest on.
    safety_evaluated, safety_violations : int
    safety_violation_rate : float or None
        Over the attempts whose safety was evaluated.
    safety_interval : Bounds or None
    """

    attempts: int
    tasks: int
    unjudged: int
    successes: int
    failures: int
    success_rate: float | None
    success_interval: Bounds | None
    average_score: float | None
    average_latency_ms: float | None
    median_latency_ms: float | None
    p95_latency_ms: float | None
    latency_measured: int
    average_cost_usd: float | None
    cost_measured: int
    average_total_tokens: float | None
    average_input_tokens: float | None
    average_cached_tokens: float | None
    average_output_tokens: float | None
    tokens_measured: int
    safety_evaluated: int
    safety_violations: int
    safety_violation_rate: float | None
    safety_interval: Bounds | None


class QualityAggregate(Aggregate):
    """The attempts that say something about the model: those of the infrastructure are left out.

    Attributes
    ----------
    raw_attempts, excluded_infrastructure_failures : int
    infrastructure_failure_rate : float or None
    """

    raw_attempts: int
    excluded_infrastructure_failures: int
    infrastructure_failure_rate: float | None


class Infrastructure(Result):
    """What failed around the model.

    Attributes
    ----------
    failures : int
    failure_rate : float or None
    failure_codes : dict
        Code → attempts, the most frequent first.
    affected_tasks : tuple of str
        Sorted.
    passed : int
        How many of them the runner nevertheless called a success: not counted as one.
    bounds : Bounds or None
        The success rate of all attempts if those without a verdict had all failed, and if they
        had all succeeded.
    """

    failures: int
    failure_rate: float | None
    failure_codes: dict[str, int]
    affected_tasks: tuple[str, ...]
    passed: int
    bounds: Bounds | None


class TaskRow(QualityAggregate):
    """One task; rows are ordered by gap, the largest first and None last, then by name."""

    task_id: str
    task_area: str
    capability_tags: tuple[str, ...]
    expected_success_rate: float | None
    gap_to_expected: float | None
    failure_codes: dict[str, int]


class WeaknessTest(Result):
    """The one-sided test that a capability's success rate is at its expectation or above.

    Attributes
    ----------
    p_value, adjusted_p_value : float or None
        Before and after Holm's correction over all capabilities; None where nothing was tested.
    attainable_p : float or None
        The smallest p-value that so many tasks could give.
    tasks : int
    method : str
    """

    p_value: float | None
    adjusted_p_value: float | None
    attainable_p: float | None
    tasks: int
    method: str


class CapabilityRow(QualityAggregate):
    """One capability tag over all its attempts, and by area; rows are ordered by name.

    Attributes
    ----------
    failure_codes : dict
        Code → failed attempts, the most frequent first.
    test : WeaknessTest or None
        None under `equaxis-v1`, which compares the gap with a threshold.
    weak : bool
    """

    capability: str
    expected_success_rate: float | None
    gap_to_expected: float | None
    failure_codes: dict[str, int]
    areas: dict[str, QualityAggregate]
    test: WeaknessTest | None
    weak: bool


class FailureRegion(QualityAggregate):
    """One task area with failures.

    Attributes
    ----------
    failure_share : float
        Of all failures of task quality.
    failure_codes, capabilities : dict
        Code, tag → failed attempts, the most frequent first.
    """

    task_area: str
    failure_share: float
    failure_codes: dict[str, int]
    capabilities: dict[str, int]


class PassRate(Result):
    """Repeated attempts: the mean over the tasks with at least `k` judged attempts.

    Attributes
    ----------
    k, tasks : int
    pass_at_k, pass_hat_k : float
        Chance that at least one, and that all, of `k` attempts succeed; both unbiased.
    """

    k: int
    tasks: int
    pass_at_k: float
    pass_hat_k: float


class Diagnosis(Result):
    """Where a baseline fails.

    Attributes
    ----------
    policy : PolicyName
    variants, runner_versions : tuple of str
        As the records state them, sorted.
    overall : Aggregate
        Every attempt, infrastructure failures included.
    task_quality : QualityAggregate
    infrastructure : Infrastructure
    task_table, capability_matrix, weak_capabilities, failure_regions : tuple
        `weak_capabilities` are rows of the matrix, the largest gap first.
    passes : tuple of PassRate
        By `k`; empty where no task has a judged attempt.
    flip_rate : float or None
        Chance that two attempts at one task differ in their verdict; None without repetitions.
    sample : tuple of str
        Fingerprints of some attempts, by which a comparison recognises the baseline that
        suggested a hypothesis.
    """

    policy: PolicyName
    variants: tuple[str, ...]
    runner_versions: tuple[str, ...]
    overall: Aggregate
    task_quality: QualityAggregate
    infrastructure: Infrastructure
    task_table: tuple[TaskRow, ...]
    capability_matrix: tuple[CapabilityRow, ...]
    weak_capabilities: tuple[CapabilityRow, ...]
    failure_regions: tuple[FailureRegion, ...]
    passes: tuple[PassRate, ...]
    flip_rate: float | None
    sample: tuple[str, ...]
