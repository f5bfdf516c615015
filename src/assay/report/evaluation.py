"""The evaluation page: one file that opens offline, for one or several cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.files import write_text
from assay.evaluation.cycle import CycleReport
from assay.evaluation.equal_arms import Calibration
from assay.report.encode import json_for_script
from assay.report.evaluation_charts import evaluation_charts
from assay.report.evaluation_forests import FEW
from assay.report.evaluation_views import calibration_row, view
from assay.report.page import render_page
from assay.report.provenance import software

PAGE = "evaluation.html"
#: Rows of tasks and of capabilities on the whole page, and the fewest of one cycle; the reports
#: have them all.
_ROWS, _FEWEST_ROWS = 500, 20
#: Cycles whose experiments are shown capability by capability.
_DETAILED = 30


def write_page(
    reports: Sequence[CycleReport],
    path: Path,
    *,
    title: str = "Evaluation",
    home: str = "",
    downloads: Sequence[tuple[str, str]] = (),
    calibration: Mapping[str, Sequence[Calibration]] | None = None,
) -> Path:
    """Write the page of `reports` to `path` and return it.

    Parameters
    ----------
    reports : sequence of CycleReport
        The first is shown first; the page offers a choice where there are several.
    home : str
        Address of the page that this one belongs to.
    downloads : sequence of (name, address)
        Files beside the page that it links to.
    calibration : mapping, optional
        Cycle → what policies decide on its equal arms.
    """
    rows = max(_FEWEST_ROWS, _ROWS // len(reports))
    brief = len(reports) > _DETAILED
    context: dict[str, Any] = {
        "title": title,
        "home": home,
        "cycles": [view(report, rows=rows, brief=brief) for report in reports],
        "calibration": [
            {"cycle": name, **calibration_row(one)}
            for name, found in (calibration or {}).items()
            for one in found
        ],
        "row_limit": rows,
        "has_experiments": any(report.experiments for report in reports),
        "few": FEW,
        "many": any(len(report.experiments) > FEW for report in reports),
        "has_guardrails": any(one.guardrails for r in reports for one in r.experiments),
        "downloads": downloads,
        "software": software(),
        "missing": [],
        "scopes": [],
        "facts": json_for_script({"cycles": [report.cycle_id for report in reports]}),
        "charts": json_for_script(evaluation_charts(reports)),
    }
    write_text(path, render_page(context, template="evaluation.html", scripts=()))
    return path
