"""One line of lm-evaluation-harness's samples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from typing import Any

from assay.core.identity import sha256_text
from assay.export.cells import Answer, Cell
from assay.records.schema import Record, Scores

#: Metrics of a generation task and of a likelihood task.
GENERATED = ("acc",)
SCORED = ("acc", "acc_norm", "acc_token")
#: What the harness's own filters return where they find no answer.
_INVALID = "[invalid]"


def sample(cell: Cell, record: Record, answer: Answer, prompt: str) -> dict[str, Any] | None:
    """Return the line of one answer, without its `doc_id`; None where there is no answer.

    Parameters
    ----------
    prompt : str
        As it was sent, or the stem of a likelihood.
    """
    if answer.correct is None:
        return None
    doc = {
        "id": record.item_id,
        "query": record.question,
        "choices": list(record.options),
        "gold": record.gold,
        "subject": record.subject,
    }
    scored = cell.manifest.configurations[answer.key]["scoring"] == "ll"
    line = _scored(record, answer, prompt) if scored else _generated(cell, record, answer, prompt)
    return line | {
        "doc": doc,
        "doc_hash": sha256_text(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": sha256_text(prompt),
        "target_hash": sha256_text(line["target"]),
    }


def _generated(cell: Cell, record: Record, answer: Answer, prompt: str) -> dict[str, Any]:
    order = answer.observation.order
    labels = cell.labels(record, answer.key)
    limit = cell.manifest.provenance.get("decode", {}).get("max_new_tokens")
    arguments = {"do_sample": False, "max_gen_toks": limit, "until": []}
    return {
        "target": "" if order is None else labels[order.index(record.gold)],
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": arguments}},
        "resps": [[answer.observation.text or ""]],
        "filtered_resps": [answer.label or _INVALID],
        "filter": cell.extractor,
        "metrics": list(GENERATED),
        "acc": float(bool(answer.correct)),
    }


def _scored(record: Record, answer: Answer, prompt: str) -> dict[str, Any]:
    scores = answer.observation.scores
    sums = _numbers(scores, len(record.options))
    per_character = [s / max(len(o), 1) for s, o in zip(sums, record.options, strict=True)]
    # The harness also says whether an option is what greedy decoding would write: not known here.
    pairs = [[str(value), "None"] for value in sums]
    return {
        "target": str(record.gold),
        "arguments": {
            f"gen_args_{k}": {"arg_0": prompt, "arg_1": f" {option}"}
            for k, option in enumerate(record.options)
        },
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "filter": "none",
        "metrics": list(SCORED),
        "acc": _hit(record, sums),
        "acc_norm": _hit(record, per_character),
        "acc_token": float(bool(answer.correct)),
    }


def _numbers(scores: Scores | None, options: int) -> list[float]:
    """Return the sums of log-probabilities; what could not be scored never wins."""
    found = [None] * options if scores is None else scores.sum
    return [-inf if value is None else value for value in found]


def _hit(record: Record, values: Sequence[float]) -> float:
    best = max(range(len(values)), key=values.__getitem__)  # the first of equals, as there
    return float(values[best] > -inf and best in record.accepts)
