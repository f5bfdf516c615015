"""The evaluation core: any runner's records to a diagnosis, hypotheses, experiments, decisions.

Names are imported when they are first used: the Snakefile reads manifests, and must not wait for
the statistics. No module here has the name of a function: once imported, it would hide it.
"""

import importlib

_WHERE = {
    "CycleManifest": "assay.evaluation.manifest",
    "CycleReport": "assay.evaluation.cycle",
    "EvaluationRecord": "assay.evaluation.record",
    "Policy": "assay.evaluation.policy",
    "calibrate": "assay.evaluation.equal_arms",
    "compare": "assay.evaluation.experiment",
    "compare_cycles": "assay.evaluation.cycles",
    "decide": "assay.evaluation.decision",
    "diagnose": "assay.evaluation.diagnosis",
    "hypothesize": "assay.evaluation.hypotheses",
    "load_policy": "assay.evaluation.policy",
    "load_taxonomy": "assay.evaluation.taxonomy",
    "next_focus": "assay.evaluation.decision",
    "read_manifest": "assay.evaluation.manifest",
    "read_records": "assay.evaluation.adapters",
    "read_report": "assay.evaluation.cycle",
    "run_cycle": "assay.evaluation.cycle",
    "write_report": "assay.evaluation.write",
}
__all__ = sorted(_WHERE)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'assay.evaluation' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
