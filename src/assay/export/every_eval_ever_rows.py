"""One row of Every Eval Ever's samples."""

from __future__ import annotations

from typing import Any

from assay.core.identity import sha256_text
from assay.export.cells import Answer, Cell
from assay.records.schema import Record

SCHEMA_VERSION = "0.3.0"


def sample_row(
    cell: Cell, record: Record, answer: Answer, prompt: str | None, evaluation: str
) -> dict[str, Any]:
    """Return the row of one answer.

    Parameters
    ----------
    answer : Answer
        Present: its `correct` is not None.
    prompt : str or None
        As it was sent, or the stem of a likelihood; None where nothing was sent.
    evaluation : str
        The aggregate's `evaluation_id`.
    """
    reference = [record.options[k] for k in record.accepts]
    observation = answer.observation
    order = observation.order or range(len(record.options))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation,
        "model_id": cell.model_id,
        "evaluation_name": f"{record.benchmark}/{answer.key}",
        "evaluation_result_id": answer.key,
        "sample_id": record.item_id,
        "sample_hash": sha256_text(record.question + "".join(reference)),
        "interaction_type": "single_turn",
        "input": {
            "raw": record.question,
            "formatted": prompt,
            "reference": reference,
            "choices": [record.options[k] for k in order],
        },
        "output": {"raw": [_output(record, answer)]},
        "answer_attribution": [_attribution(cell, record, answer)],
        "evaluation": {"score": float(bool(answer.correct)), "is_correct": bool(answer.correct)},
        "token_usage": _tokens(answer),
        "error": None if answer.status == "ok" else answer.status,
        "metadata": _metadata(record, answer),
    }


def _output(record: Record, answer: Answer) -> str:
    if answer.observation.text is not None:
        return answer.observation.text
    choice = answer.observation.choice
    return "" if choice is None else record.options[choice]


def _attribution(cell: Cell, record: Record, answer: Answer) -> dict[str, Any]:
    """Return what was taken as the answer; an empty value where nothing was."""
    if answer.generated:
        value, method = answer.label or "", f"assay extractor {cell.extractor}"
    else:
        value, method = _output(record, answer), "highest mean token log-probability"
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": value,
        "extraction_method": method,
        "is_terminal": True,
    }


def _tokens(answer: Answer) -> dict[str, int] | None:
    read, written = answer.observation.prompt_tokens, answer.observation.new_tokens or 0
    if read is None:
        return None
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


def _metadata(record: Record, answer: Answer) -> dict[str, Any]:
    observation = answer.observation
    scores = observation.scores
    known = {
        "native_id": record.native_id,
        "subject": record.subject,
        "cluster": record.cluster,
        "status": answer.status,
        "rule": observation.rule,
        "order": None if observation.order is None else list(observation.order),
        "scores": None if scores is None else scores.model_dump(mode="json"),
        "margin": observation.margin,
        "flags": list(record.flags + observation.flags) or None,
    }
    return {name: value for name, value in known.items() if value is not None}
