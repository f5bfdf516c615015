"""Compare what lies in `results/` with what the present code and parameters would make.

Snakemake's own memory may be lost with ``.snakemake``; the seals beside the results are not. A
stale seal is deleted, so that Snakemake sees its rule's work as undone. Data and journals stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.config.closure import code_digest
from assay.config.names import FIGURES
from assay.config.study import Study
from assay.core.errors import AssayError
from assay.core.files import read_json
from assay.records.schema import MISSING

SCRIPTS = Path("scripts")


@dataclass(frozen=True, slots=True)
class Expected:
    """A seal and what it should say."""

    path: Path
    spec: str
    script: str


def expected_seals(study: Study) -> Iterator[Expected]:
    """Yield every seal of the study, in the order of the workflow."""
    for run in study.benchmarks:
        yield Expected(run.snapshot / "seal.json", run.parameters, "build_snapshot.py")
    for plan in study.present:
        yield Expected(plan.folder / "manifest.json", plan.parameters, "collect.py")
    seals = study.folder / "manifests"
    yield Expected(seals / "leaderboard.json", study.analysis_parameters, "analyze_leaderboard.py")
    for figure in FIGURES:
        name = f"plot_{figure}"
        yield Expected(seals / f"{name}.json", study.figure_parameters(figure), f"{name}.py")
    for name, cycle in study.cycles.items():
        for script in cycle.steps:
            yield Expected(seals / f"{script}.{name}.json", cycle.parameters, f"{script}.py")
    if study.cycles:
        path, spec = seals / "evaluation.json", study.evaluation_parameters
        yield Expected(path, spec, "build_evaluation.py")
    yield Expected(seals / "report.json", study.report_parameters, "build_report.py")


def reconcile(study: Study) -> list[tuple[Path, str]]:
    """Delete stale seals and return them with the reason.

    A seal that cannot be read is stale too.
    """
    codes: dict[str, str] = {}
    stale = []
    for seal in expected_seals(study):
        if not seal.path.is_file():
            continue
        code = codes.setdefault(seal.script, code_digest(SCRIPTS / seal.script))
        reason = _disagreement(seal, code, keep_missing=study.config.runtime.keep_missing)
        if reason:
            seal.path.unlink()
            stale.append((seal.path, reason))
    return stale


def _disagreement(seal: Expected, code: str, *, keep_missing: bool) -> str | None:
    try:
        value = read_json(seal.path)
    except AssayError:
        return "it cannot be read"
    if not isinstance(value, dict) or value.get("spec") != seal.spec:
        return "made with other parameters"
    if value.get("code") != code:
        return f"made with other code than {seal.script} and its imports now"
    failed = sum(
        count
        for statuses in value.get("statuses", {}).values()
        for status, count in statuses.items()
        if status in MISSING
    )
    if failed and not keep_missing:
        return f"{failed} observations have no answer and runtime.keep_missing is not set"
    return None
