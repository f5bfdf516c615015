"""The files of a cycle's report: JSON for machines, Markdown for people, a prompt for a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.core.files import write_text
from assay.evaluation.cycle import CycleReport
from assay.evaluation.evidence import Prompt, build_prompt
from assay.evaluation.markdown import markdown

REPORT = "cycle-report.json"
MARKDOWN = "cycle-report.md"
HYPOTHESES = "hypotheses.json"
PROMPT = "llm-analysis-prompt.txt"
#: Tokens of the prompt where no manifest says how many.
_TOKENS = 24_000


def write_report(
    report: CycleReport, out: Path, *, max_tokens: int = _TOKENS
) -> tuple[list[Path], Prompt]:
    """Write a report to the folder `out`; return the files, and the prompt that is one of them.

    The same report gives the same bytes.

    Parameters
    ----------
    max_tokens : int
        What the prompt may have at most (see `build_prompt`).
    """
    value = report.model_dump(mode="json")
    prompt = build_prompt(value, max_tokens=max_tokens)
    write_ordered(out / REPORT, value)
    write_text(out / MARKDOWN, markdown(report))
    write_ordered(out / HYPOTHESES, value["hypotheses"])
    write_text(out / PROMPT, prompt.text)
    return [out / name for name in (REPORT, MARKDOWN, HYPOTHESES, PROMPT)], prompt


def write_ordered(path: Path, value: Any) -> None:
    """Write `value` as JSON with its keys in their order, which ranks failure codes."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")
