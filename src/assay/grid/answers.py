"""From raw outcomes to journal entries, and from journal entries to observations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.model import Outcome
from assay.extraction import extract
from assay.grid.likelihood import choose
from assay.grid.questions import Question, prompt_sha256
from assay.grid.render import ClozeQuestion, LabelQuestion, Posed, ShownQuestion
from assay.models.words import Prompter
from assay.records.schema import MISSING, Observation

#: When the options of one question fail differently, the first of these names the observation.
_WORST_FIRST = ("backend_error", "oom", "too_long", "nonfinite")


def entry_of(
    question: Question, outcomes: Mapping[str, Outcome], renderer: Prompter
) -> dict[str, Any]:
    """Return the journal entry for `question`: raw answers, nothing interpreted.

    Parameters
    ----------
    outcomes : mapping
        Request id → outcome; holds every request of the question.
    """
    answers = [outcomes[request.id] for request in question.requests]
    status = next((s for s in _WORST_FIRST if any(a.status == s for a in answers)), "ok")
    entry: dict[str, Any] = {
        "key": question.key,
        "item_id": question.item.item_id,
        "configuration": question.configuration.key,
        "status": status,
    }
    detail = "; ".join(sorted({a.detail for a in answers if a.detail}))
    if detail:
        entry["detail"] = detail
    if status != "ok":
        return entry
    counted = [a.prompt_tokens for a in answers if a.prompt_tokens is not None]
    if counted:
        entry["prompt_tokens"] = min(counted)
    if isinstance(question.posed, ClozeQuestion | ShownQuestion):
        if any(answer.boundary for answer in answers):
            entry["boundary"] = True
        options = len(question.posed.continuations)
        scored = [list(answer.logprobs) for answer in answers]
        entry["logprobs"] = scored[:options]
        return entry | ({"unconditional": scored[options:]} if scored[options:] else {})
    (answer,) = answers
    in_words = answer.text is not None
    return entry | {
        "text": answer.text if in_words else renderer.decode(answer.token_ids),
        "new_tokens": answer.new_tokens if in_words else len(answer.token_ids),
        "finish": answer.finish,
    }


def observation(question: Question, entry: Mapping[str, Any] | None) -> Observation:
    """Interpret one answer.

    Parameters
    ----------
    entry : mapping or None
        The journal entry; None where there was nothing to ask.
    """
    posed = question.posed
    if posed is None:
        return Observation(key=question.key, status="not_applicable", correct=None)
    told = entry or {}
    common: dict[str, Any] = {
        "key": question.key,
        "prompt_sha256": prompt_sha256(question),
        "prompt_tokens": told.get("prompt_tokens", question.prompt_tokens),
        "order": _order(posed),
        "flags": ("boundary",) if any(question.boundary) or told.get("boundary") else (),
    }
    if entry is None:
        return Observation(status="empty_option", correct=False, **common)
    if entry["status"] != "ok":
        status = entry["status"]
        correct = None if status in MISSING else False
        detail = entry.get("detail", "")
        return Observation(status=status, correct=correct, detail=detail, **common)
    if isinstance(posed, LabelQuestion):
        return _generated(question, posed, entry, common)
    return _scored(question, posed, entry, common)


def _order(posed: Posed) -> tuple[int, ...] | None:
    if isinstance(posed, ShownQuestion):
        return posed.asked.order
    return posed.order if isinstance(posed, LabelQuestion) else None


def _generated(
    question: Question, posed: LabelQuestion, entry: Mapping[str, Any], common: dict[str, Any]
) -> Observation:
    item = question.item
    shown = [item.options[index] for index in posed.order]
    found = extract(entry["text"], posed.labels, shown)
    choice = None
    if found.label is not None:
        choice = posed.order[posed.labels.index(found.label)]
    return Observation(
        status=found.status,
        correct=choice is not None and choice in item.accepts,
        choice=choice,
        label=found.label,
        rule=found.rule,
        span=found.span,
        text=entry["text"],
        finish=entry["finish"],
        new_tokens=entry["new_tokens"],
        **common,
    )


def _scored(
    question: Question,
    posed: ClozeQuestion | ShownQuestion,
    entry: Mapping[str, Any],
    common: dict[str, Any],
) -> Observation:
    item = question.item
    labels = isinstance(posed, ShownQuestion) and posed.score == "label"
    chosen = choose(
        item.item_id,
        item.options,
        item.accepts,
        entry["logprobs"],
        rule=posed.rule,
        unconditional=entry.get("unconditional", ()),
        scored=posed.continuations if labels else None,
    )
    return Observation(
        status=chosen.status,
        correct=chosen.option is not None and chosen.option in item.accepts,
        choice=chosen.option,
        label=posed.continuations[chosen.option] if labels and chosen.option is not None else None,
        scores=chosen.scores,
        margin=chosen.margin,
        tied=chosen.tied if len(chosen.tied) > 1 else None,
        credit=chosen.credit,
        **common,
    )
