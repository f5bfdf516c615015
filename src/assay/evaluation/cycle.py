"""One cycle: from runs to a diagnosis, hypotheses, comparisons and decisions.

Each step is a function of what the step before returned, so that a workflow can run them one by
one; `run_cycle` runs them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from assay.core.errors import EvaluationError
from assay.core.files import read_json, scratch_directory
from assay.core.validation import first_problem, unknown
from assay.evaluation.arms import Input, Runs, read_runs
from assay.evaluation.cycles import CycleChange, compare_cycles
from assay.evaluation.decision import decide_all, next_focus, rank
from assay.evaluation.diagnosis import diagnose
from assay.evaluation.experiment import compare
from assay.evaluation.hypotheses import hypothesize
from assay.evaluation.hypothesis import Focus, ImprovementHypothesis
from assay.evaluation.manifest import CycleManifest
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.registries import is_file_name
from assay.evaluation.results import Diagnosis, Result
from assay.evaluation.verdicts import Comparison, Decision, Design


class CycleReport(Result):
    """Everything that one cycle found; the same inputs give the same report, byte for byte.

    Attributes
    ----------
    policy : dict
        Every value of the policy that decided.
    inputs : tuple of Input
        What was read, with digests of the records.
    experiments : tuple of Comparison
        In the manifest's order.
    decisions : tuple of Decision
        The largest cost-benefit score first.
    comparison : CycleChange or None
        With the previous cycle.
    remarks : tuple of str
        What limits the conclusions.
    """

    schema_version: Literal[1] = 1
    cycle_id: str
    policy: dict[str, Any]
    inputs: tuple[Input, ...]
    diagnosis: Diagnosis
    hypotheses: tuple[ImprovementHypothesis, ...]
    experiments: tuple[Comparison, ...]
    decisions: tuple[Decision, ...]
    next_iteration_focus: tuple[Focus, ...]
    comparison: CycleChange | None = None
    remarks: tuple[str, ...] = ()


def run_cycle(manifest: CycleManifest, folder: Path) -> CycleReport:
    """Run a whole cycle.

    Parameters
    ----------
    folder : Path
        What the paths of the manifest are relative to.

    Raises
    ------
    AssayError
        If a run, the taxonomy, the policy or the previous report cannot be used.
    """
    policy = policy_of(manifest, folder)
    previous = previous_report(manifest, folder)
    with scratch_directory() as scratch:
        runs = read_runs(manifest, folder, Path(scratch) / "records.jsonl")
        diagnosis = diagnose(runs.arm("baseline"), policy=policy)
        hypotheses = hypothesize(diagnosis, policy)
        return conclude(
            manifest,
            inputs=runs.inputs,
            diagnosis=diagnosis,
            hypotheses=hypotheses,
            experiments=compare_arms(runs, hypotheses, policy),
            policy=policy,
            previous=previous,
        )


def policy_of(manifest: CycleManifest, folder: Path) -> Policy:
    """Return the manifest's policy: a name, a YAML file, or changes to a named one."""
    chosen = manifest.policy
    if isinstance(chosen, str) and is_file_name(chosen):
        return load_policy(folder / chosen)
    return load_policy(chosen, where="policy")


def compare_arms(
    runs: Runs,
    hypotheses: Sequence[ImprovementHypothesis],
    policy: Policy,
) -> tuple[Comparison, ...]:
    """Compare every candidate of the manifest with its baseline.

    Raises
    ------
    ConfigError
        If an experiment names a hypothesis that the diagnosis did not make.
    """
    manifest, found = runs.manifest, []
    by_id = {one.id: one for one in hypotheses}
    for number, experiment in enumerate(manifest.experiments):
        hypothesis = experiment.stated or by_id.get(experiment.hypothesis_id or "")
        if hypothesis is None:
            raise unknown(
                "hypothesis",
                str(experiment.hypothesis_id),
                sorted(by_id) or ["(the diagnosis made none)"],
                where=f"experiments.{number}.hypothesisId",
            )
        conduct = experiment.conduct
        found.append(
            compare(
                hypothesis,
                runs.arm(manifest.compared_with(number)),
                runs.arm(f"experiments.{number}"),
                name=experiment.name,
                policy=policy,
                design=Design(
                    interleaved=conduct.interleaved,
                    order=conduct.order,
                    stopping_rule=conduct.stopping_rule,
                    candidates=len(manifest.experiments),
                ),
            )
        )
    return tuple(found)


def conclude(
    manifest: CycleManifest,
    *,
    inputs: Sequence[Input],
    diagnosis: Diagnosis,
    hypotheses: Sequence[ImprovementHypothesis],
    experiments: Sequence[Comparison],
    policy: Policy,
    previous: CycleReport | None,
) -> CycleReport:
    """Decide on every candidate, look ahead and back, and put the report together."""
    return CycleReport(
        cycle_id=manifest.cycle_id or "cycle",
        policy=policy.model_dump(mode="json"),
        inputs=tuple(inputs),
        diagnosis=diagnosis,
        hypotheses=tuple(hypotheses),
        experiments=tuple(experiments),
        decisions=rank(decide_all(experiments, policy)),
        next_iteration_focus=next_focus(diagnosis),
        comparison=None if previous is None else compare_cycles(previous.diagnosis, diagnosis),
        remarks=tuple(_remarks(inputs, diagnosis, experiments, policy)),
    )


def _remarks(
    inputs: Sequence[Input],
    diagnosis: Diagnosis,
    experiments: Sequence[Comparison],
    policy: Policy,
) -> Iterator[str]:
    baseline = next(one for one in inputs if one.arm == "baseline")
    if baseline.expectations < baseline.records:
        yield (
            f"{baseline.records - baseline.expectations} of {baseline.records} attempts have no "
            f"expectation of their own; the policy's {policy.expected_success_rate:g} was used. A "
            "taxonomy can state them."
        )
    for one in inputs:
        if one.refused or one.missing:
            yield (
                f"{one.name}: {one.refused} parts of the log could not be read and "
                f"{one.missing} attempts that it says were made left no file."
            )
    if len(experiments) > 1 and not policy.points:
        yield _of_several(len(experiments), policy)
    reused = [found.name for found in experiments if found.design.baseline_reused]
    if reused:
        yield (
            f"{', '.join(reused)}: the baseline is the run that suggested the hypothesis, so its "
            "weak capability looks weaker than it is; a fresh run under `confirmation` would not."
        )
    drifted = [found.name for found in experiments if found.design.version_drift]
    if drifted:
        yield f"{', '.join(drifted)}: the runner's version differs between or within the arms."
    if diagnosis.overall.unjudged:
        yield f"Attempts of the baseline without a verdict: {diagnosis.overall.unjudged}."


def _of_several(candidates: int, policy: Policy) -> str:
    level = policy.alpha_superiority
    if policy.candidates == "together":
        return (
            f"{candidates} candidates were compared; what they show is corrected over all of them "
            f"(Holm), so that one is called better by chance alone with a probability of at most "
            f"{level:g} (alpha_superiority)."
        )
    return (
        f"{candidates} candidates were compared, each at a level of {level:g} (alpha_superiority): "
        "by chance alone one of them would look better with a probability of up to "
        f"{min(1.0, candidates * level):.2g}."
    )


def previous_report(manifest: CycleManifest, folder: Path) -> CycleReport | None:
    """Return the report of the cycle before, where the manifest names one."""
    return None if manifest.previous is None else read_report(folder / manifest.previous)


def read_report(path: Path) -> CycleReport:
    """Return the report in `path` (``cycle-report.json``).

    Raises
    ------
    EvaluationError
        If it is no report of this version.
    """
    value = read_json(path)
    try:
        return CycleReport.model_validate(value)
    except ValidationError as error:
        raise EvaluationError(
            f"not a cycle's report of this version: {first_problem(error)}.", where=path
        ) from error
