"""The commands of the evaluation core; status 2 where a gate fails, 1 on errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.errors import clear_errors
from assay.core.errors import ConfigError

Taxonomy = Annotated[
    Path | None, typer.Option(help="capabilities.json: area, tags and expectation of each task")
]
Adapter = Annotated[
    str | None, typer.Option(help="whose layout it is; found from the files by default")
]
KeepGoing = Annotated[bool, typer.Option(help="count what cannot be read, do not stop at it")]
PolicyName = Annotated[
    str, typer.Option(help="statistical, equaxis-v1, one of config/policies, or a YAML file")
]
Failures = Annotated[
    str | None, typer.Option(help="table of failures: one of config/failures, or a YAML file")
]
OutputDir = Annotated[Path, typer.Option(help="folder for the report and its page")]
#: Status where a gate fails.
_FAILED = 2


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(diagnose)
    app.command()(cycle)
    app.command()(compare)
    app.command("equal-arms")(equal_arms)


def diagnose(
    job: Annotated[Path, typer.Option(help="folder or file of any known runner")],
    output_dir: OutputDir,
    taxonomy: Taxonomy = None,
    cycle_id: Annotated[str | None, typer.Option(help="the job's name by default")] = None,
    adapter: Adapter = None,
    keep_going: KeepGoing = False,
    policy: PolicyName = "statistical",
    failures: Failures = None,
) -> None:
    """Say which capabilities of a run are weak, where it fails, and what to try."""
    from assay.cli.evaluate import manifest_of, run_and_write
    from assay.cli.evaluation_tables import cycle_tables, show

    with clear_errors():
        manifest = manifest_of(
            job,
            cycle_id=cycle_id,
            taxonomy=taxonomy,
            adapter=adapter,
            keep_going=keep_going,
            policy=policy,
            failures=failures,
        )
        show(*cycle_tables(run_and_write(manifest, Path(), output_dir, ask=False)))
        _say_where(output_dir)


def cycle(
    manifest: Annotated[Path, typer.Option(help="JSON or YAML")],
    output_dir: OutputDir,
    llm: Annotated[bool, typer.Option(help="have the manifest's model explain it")] = False,
    require_deploy: Annotated[
        bool, typer.Option(help="leave with status 2 unless a candidate is to be deployed")
    ] = False,
) -> None:
    """Run a whole cycle: diagnosis, hypotheses, experiments, decisions."""
    from assay.cli.evaluate import run_and_write
    from assay.cli.evaluation_tables import cycle_tables, show
    from assay.evaluation.manifest import read_manifest

    with clear_errors():
        read = read_manifest(manifest)
        if llm and read.llm is None:
            raise ConfigError("--llm needs the key `llm`.", where=manifest, fix="say who explains.")
        report = run_and_write(read, manifest.parent, output_dir, ask=llm)
        show(*cycle_tables(report))
        _say_where(output_dir)
    if require_deploy and not any(one.decision == "deploy" for one in report.decisions):
        raise typer.Exit(_FAILED)


def compare(
    baseline: Annotated[Path, typer.Argument(help="folder or file of a run")],
    candidate: Annotated[Path, typer.Argument(help="folder or file of a run")],
    taxonomy: Taxonomy = None,
    adapter: Adapter = None,
    keep_going: KeepGoing = False,
    policy: PolicyName = "statistical",
    failures: Failures = None,
    require_complete: Annotated[
        bool, typer.Option(help="every task in both arms, every attempt with a verdict")
    ] = False,
    min_success: Annotated[float | None, typer.Option(help="candidate's share, 0 to 1")] = None,
    min_gain: Annotated[float | None, typer.Option(help="of the share, 0.02 is 2 points")] = None,
    max_latency: Annotated[float | None, typer.Option(help="increase, 0.2 is 20 %")] = None,
    max_tokens: Annotated[float | None, typer.Option(help="increase, 0.2 is 20 %")] = None,
    max_cost: Annotated[float | None, typer.Option(help="increase, 0.2 is 20 %")] = None,
    max_safety: Annotated[float | None, typer.Option(help="more violations, as a share")] = None,
    confident: Annotated[
        bool, typer.Option(help="the far end of the 95 % interval must pass, not the estimate")
    ] = False,
) -> None:
    """Compare two runs of the same tasks; status 2 where a gate fails or was not measured."""
    from assay.cli.evaluate import compare_runs, manifest_of
    from assay.cli.evaluation_tables import decision_lines, gate_table, show
    from assay.cli.gates import Limits

    with clear_errors():
        limits = Limits(
            require_complete=require_complete,
            min_success=min_success,
            min_gain=min_gain,
            max_latency=max_latency,
            max_tokens=max_tokens,
            max_cost=max_cost,
            max_safety=max_safety,
            confident=confident,
        )
        read = manifest_of(
            baseline,
            candidate,
            taxonomy=taxonomy,
            adapter=adapter,
            keep_going=keep_going,
            policy=policy,
            failures=failures,
        )
        found, decision, checked = compare_runs(read, limits)
        show(*decision_lines(found, decision), gate_table(checked))
    if not all(gate.passed for gate in checked):
        raise typer.Exit(_FAILED)


def equal_arms(
    job: Annotated[Path, typer.Argument(help="folder or file of a run with repeated attempts")],
    taxonomy: Taxonomy = None,
    adapter: Adapter = None,
    keep_going: KeepGoing = False,
    policy: Annotated[list[str] | None, typer.Option(help="several may be given")] = None,
    draws: Annotated[int, typer.Option(min=10, help="random splits")] = 200,
    seed: Annotated[int, typer.Option(help="of the splits")] = 1234,
) -> None:
    """Say how often a policy decides anything on arms that cannot differ (A/A)."""
    from assay.cli.evaluate import equal_arms as calibrated
    from assay.cli.evaluate import manifest_of
    from assay.cli.evaluation_tables import calibration_table, show

    with clear_errors():
        read = manifest_of(job, taxonomy=taxonomy, adapter=adapter, keep_going=keep_going)
        policies = policy or ["statistical", "equaxis-v1"]
        show(calibration_table(calibrated(read, policies, draws=draws, seed=seed)))


def _say_where(out: Path) -> None:
    print(f"\nReport: {out / 'cycle-report.md'}, page: {out / 'evaluation.html'}")
