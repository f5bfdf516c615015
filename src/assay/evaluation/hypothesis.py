"""What a hypothesis says: a change that might mend a capability, and what would show it.

The types follow the rules of `results`: frozen, camelCase outside, None for unknown.
"""

from __future__ import annotations

from typing import Literal

from assay.evaluation.results import Result

Layer = Literal["surface", "middle", "deep"]


class RequiredSample(Result):
    """How many tasks a comparison needs, and under which assumptions.

    Attributes
    ----------
    tasks : int or None
        None where no number of tasks suffices.
    effect, discordance : float
        Difference in success rate to be found, and share of tasks on which the arms differ.
    alpha, power : float
        `alpha` is one-sided.
    method : str
    """

    tasks: int | None
    effect: float
    discordance: float
    alpha: float
    power: float
    method: str


class Evidence(Result):
    """What a hypothesis rests on.

    Attributes
    ----------
    attempts, tasks : int
    current_success_rate, gap_to_expected : float or None
    failure_codes : dict
        Code → failed attempts, the most frequent first.
    adjusted_p_value : float or None
        Of the capability's test; None where it was not tested.
    """

    attempts: int
    tasks: int
    current_success_rate: float | None
    gap_to_expected: float | None
    failure_codes: dict[str, int]
    adjusted_p_value: float | None = None


class ImprovementHypothesis(Result):
    """A change that might mend a capability, and how to find out whether it does.

    A hypothesis written by hand in a manifest needs an `id`; without tags and areas it targets
    the whole suite.

    Attributes
    ----------
    id : str
        Made from layer and capability, the same in every cycle (`equaxis-v1`: numbered).
    layer, phase : str, int
        surface 1, middle 2, deep 3.
    expected_uplift : float or None
        None: the policy's floor.
    required : RequiredSample or None
        Tasks that the experiment needs to find the expected uplift.
    selected_on : tuple of str
        `Diagnosis.sample` of the baseline that suggested it; empty for one that was declared
        without looking.
    """

    id: str
    layer: Layer = "surface"
    phase: int = 1
    capability_tags: tuple[str, ...] = ()
    task_areas: tuple[str, ...] = ()
    evidence: Evidence | None = None
    proposed_change: str = ""
    expected_uplift: float | None = None
    target_success_rate: float | None = None
    validation_method: str = ""
    primary_metric: str = "successRate"
    guardrails: tuple[str, ...] = ()
    required: RequiredSample | None = None
    selected_on: tuple[str, ...] = ()


class Focus(Result):
    """A region to look at in the next cycle."""

    task_area: str
    failure_share: float
    leading_failure_codes: tuple[str, ...]
