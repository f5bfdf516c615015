"""What the commands of the evaluation core do: runs in, reports and verdicts out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.cli.gates import Gate, Limits, gates
from assay.core.errors import ConfigError
from assay.core.files import scratch_directory
from assay.evaluation.arms import read_runs
from assay.evaluation.cycle import CycleReport, compare_arms, policy_of, run_cycle
from assay.evaluation.decision import decide
from assay.evaluation.equal_arms import Calibration, calibrate
from assay.evaluation.manifest import CycleManifest
from assay.evaluation.policy import load_policy
from assay.evaluation.verdicts import Comparison, Decision
from assay.evaluation.write import write_report


def manifest_of(
    baseline: Path,
    candidate: Path | None = None,
    *,
    cycle_id: str | None = None,
    taxonomy: Path | None = None,
    adapter: str | None = None,
    keep_going: bool = False,
    policy: str = "statistical",
    failures: str | None = None,
) -> CycleManifest:
    """Return the manifest that the command line amounts to."""
    arm: dict[str, Any] = {"job": str(baseline), "adapter": adapter, "keepGoing": keep_going}
    if failures is not None:
        arm["options"] = {"failures": failures}
    experiments = []
    if candidate is not None:
        experiments = [{**arm, "name": candidate.resolve().stem, "job": str(candidate)}]
    return CycleManifest.model_validate(
        {
            "cycleId": cycle_id or baseline.resolve().stem,
            "taxonomy": None if taxonomy is None else str(taxonomy),
            "baseline": {**arm, "name": "baseline"},
            "experiments": tuple(experiments),
            "policy": policy,
        }
    )


def run_and_write(manifest: CycleManifest, folder: Path, out: Path, *, ask: bool) -> CycleReport:
    """Run a cycle and write its report and page; then, where asked for, have it explained.

    A failed explanation leaves the whole report behind.

    Raises
    ------
    ConfigError
        If a package that this needs is not installed; nothing was read then.
    """
    with _installed("report", "the page"):
        from assay.report.evaluation import PAGE, write_page
    if ask:
        with _installed("api", "an explanation"):
            from assay.evaluation.explain import explain
    if out.exists() and not out.is_dir():
        raise ConfigError("this is a file.", where=out, fix="name a folder.")
    report = run_cycle(manifest, folder)
    limit = {} if manifest.llm is None else {"max_tokens": manifest.llm.max_input_tokens}
    files, prompt = write_report(report, out, **limit)
    write_page([report], out / PAGE, downloads=[(path.name, path.name) for path in files])
    if ask and manifest.llm is not None:
        explain(prompt, manifest.llm, out)
    return report


@contextmanager
def _installed(extra: str, what: str) -> Iterator[None]:
    """Say which extra is missing where an import fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{what} needs {error.name}, which is not installed.",
            fix=f"pip install 'assay[{extra}]'.",
        ) from error


def compare_runs(
    manifest: CycleManifest, limits: Limits
) -> tuple[Comparison, Decision, list[Gate]]:
    """Compare the only candidate of `manifest` with its baseline, on the whole suite."""
    policy = policy_of(manifest, Path())
    with scratch_directory() as scratch:
        runs = read_runs(manifest, Path(), Path(scratch) / "records.jsonl")
        (found,) = compare_arms(runs, (), policy)
    return found, decide(found, policy), list(gates(found, limits))


def equal_arms(
    manifest: CycleManifest, policies: Sequence[str], *, draws: int, seed: int
) -> list[Calibration]:
    """Return what each policy decides on equal arms made from the manifest's baseline."""
    with scratch_directory() as scratch:
        records = list(read_runs(manifest, Path(), Path(scratch) / "records.jsonl").variants())
    return [calibrate(records, load_policy(name), draws=draws, seed=seed) for name in policies]
