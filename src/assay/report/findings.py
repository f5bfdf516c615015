"""The further findings as the page shows them: a question and what the data say."""

from __future__ import annotations

from assay.plots.tables import POOLED
from assay.report.inputs import ReportInputs

_TITLES = {
    "rank_uncertainty": "How sure are the ranks?",
    "power_curve": "Which gap can these items show?",
    "family_pairs": "Is a model better however it is asked?",
    "leave_one_benchmark_out": "Does one benchmark decide?",
    "extractor_ranks": "Does the reading of answers decide?",
    "family_accuracy": "What if each family of configurations counts once?",
    "configuration_effects": "Does the way of asking matter?",
    "order_effects": "Is it the order, or the right option's position?",
    "reactions": "Do models react in their own way?",
    "label_bias": "Do models favour labels?",
    "wrappers": "Is it knowledge or compliance?",
    "flips": "What turns when the question is put otherwise?",
    "disagreement": "How often do families disagree?",
    "variance_components": "Where does the variance lie?",
    "discrimination": "Do the items that discriminate flip most?",
    "compression": "Would fewer items do?",
    "partial_grid": "Would fewer configurations do?",
    "replicate": "What flips when nothing changes?",
    "choices_only": "Do the options alone tell the answer?",
    "label_prior": "What do models think of the labels themselves?",
}


def finding_rows(inputs: ReportInputs) -> list[dict[str, str]]:
    """Return title and reading of every finding, in the order of the analysis."""
    found = inputs.summary.findings
    return [
        {
            "benchmark": scope,
            "name": finding.name,
            "title": _title(finding.name, getattr(finding, "axis", "")),
            "reading": finding.reading,
        }
        for scope in (POOLED, *inputs.benchmarks)
        for finding in found.get(scope, ())
    ]


def _title(name: str, axis: str) -> str:
    if name == "permutation_null":
        return f"What would shuffling the {axis} give?"
    return _TITLES.get(name, name.replace("_", " ").capitalize())
