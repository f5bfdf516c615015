"""From logits to outcomes: log-probabilities of given tokens, and greedy decoding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from assay.core.model import Outcome, Request
from assay.models.backends.rows import Rows


def scored(requests: Sequence[Request], logits: torch.Tensor) -> list[Outcome]:
    """Return the log-probabilities of each request's continuation.

    Parameters
    ----------
    requests : sequence of Request
        With a continuation each.
    logits : Tensor
        (requests, width, vocabulary): the last `width` positions of each row, of which the last
        ``len(continuation)`` predict the continuation.
    """
    width = logits.shape[1]
    targets = torch.zeros(logits.shape[:2], dtype=torch.long)
    for row, request in enumerate(requests):
        wanted = torch.tensor(request.continuation)
        targets[row, width - len(wanted) :] = wanted
    exact = logits.float()
    picked = exact.gather(2, targets.to(exact.device)[:, :, None])[:, :, 0]
    table = (picked - exact.logsumexp(dim=2)).tolist()
    return [
        score_of(request, row[width - len(request.continuation or ()) :])
        for request, row in zip(requests, table, strict=True)
    ]


def score_of(request: Request, logprobs: list[float]) -> Outcome:
    """Return the outcome of a scored request; a score that is not finite is none."""
    if all(map(math.isfinite, logprobs)):
        return Outcome(request.id, "ok", logprobs=tuple(logprobs))
    return Outcome(request.id, "nonfinite", detail="a log-probability is not a finite number")


def greedy(
    rows: Rows,
    logits: torch.Tensor,
    requests: Sequence[Request],
    *,
    limit: int,
    end: frozenset[int],
) -> list[Outcome]:
    """Decode greedily until an end token or `limit` tokens; finished rows leave the batch.

    Parameters
    ----------
    rows : Rows
        One a request, the whole prompt run.
    logits : Tensor
        (requests, 1, vocabulary) after the prompts.
    """
    said: list[list[int]] = [[] for _ in requests]
    done: dict[int, Outcome] = {}
    active = list(range(len(requests)))
    while True:
        # Halves of bfloat16 logits tie often; the comparison at least is made in float32.
        best, chosen = logits[:, -1].float().max(dim=-1)
        finite, token_ids = torch.isfinite(best).tolist(), chosen.tolist()
        for index, token, sound in zip(active, token_ids, finite, strict=True):
            outcome = _step(requests[index].id, said[index], token, sound, limit, end)
            if outcome is not None:
                done[index] = outcome
        stay = [place for place, index in enumerate(active) if index not in done]
        if not stay:
            return [done[index] for index in range(len(requests))]
        rows, order = rows.keep(stay)
        active = [active[place] for place in order]
        logits = rows.predict([said[index][-1:] for index in active], logits=1)


def _step(
    request: str, said: list[int], token: int, sound: bool, limit: int, end: frozenset[int]
) -> Outcome | None:
    """Take one token into an answer; return the outcome if the answer ends with it."""
    if not sound:
        return Outcome(request, "nonfinite", detail=f"logits of new token {len(said)}")
    if token in end:
        return Outcome(request, "ok", token_ids=tuple(said), finish="eos")
    said.append(token)
    if len(said) == limit:
        return Outcome(request, "ok", token_ids=tuple(said), finish="length")
    return None
