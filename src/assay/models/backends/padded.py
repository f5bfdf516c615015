"""A batch as padded rows over branched prefixes: for models that do not take a trie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from assay.core.model import Batch, Outcome, Request
from assay.models.backends.answers import scored
from assay.models.backends.rows import Rows
from assay.models.padded import common_prefix, plan_padded, prefix_length
from assay.models.plan import forwarded

Groups = tuple[tuple[Request, ...], ...]
#: (index of its group, tokens after the group's prefix, the request)
Member = tuple[int, tuple[int, ...], Request]


class Padded:
    """How a model runs rows that are padded to one width.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model in eval mode.
    """

    def __init__(self, model: Any):
        self._model = model
        self._window, self.branches = _cache_traits(model)

    def batches(self, batch: Batch, new_tokens: int) -> list[Groups]:
        """Cut a planned batch into padded ones, none larger than its requests are one by one.

        Groups of one ask for no sharing, and get none.
        """
        plan = plan_padded(
            batch.requests,
            token_budget=sum(len(forwarded(r)) + new_tokens for r in batch.requests),
            share=any(len(group) > 1 for group in batch.groups),
            new_tokens=new_tokens,
        )
        return [turn for part in plan for turn in self._turns(part.groups, new_tokens)]

    def _turns(self, groups: Groups, extra: int) -> list[Groups]:
        """Return the groups as they can be computed together on this model."""
        if not self.branches:  # recurrent state: every request alone, unpadded
            return [((request,),) for group in groups for request in group]
        if self._gap_too_wide(groups, extra):
            return [tuple((request,) for group in groups for request in group)]
        return [groups]

    def _gap_too_wide(self, groups: Groups, extra: int) -> bool:
        """Tell whether padding inside a row would push a token out of a sliding window.

        The window is counted in slots; rows without a shared prefix have no gap inside.
        """
        if self._window is None or all(len(group) == 1 for group in groups):
            return False
        prefixes = [prefix_length(group) for group in groups]
        suffix = max(
            len(forwarded(request)) - prefix
            for prefix, group in zip(prefixes, groups, strict=True)
            for request in group
        )
        return max(prefixes) + suffix + extra > self._window

    def scores(self, groups: Groups, most_logits: int) -> list[Outcome]:
        """Return the log-probabilities of every continuation, `most_logits` rows at once."""
        rows, members = self._prefill(groups, reserve=0)
        width = max(len(request.continuation or ()) for _, _, request in members)
        turn = max(1, most_logits // width)
        outcomes: list[Outcome] = []
        for start in range(0, len(members), turn):
            part = members[start : start + turn]
            branched = rows.branch([group for group, _, _ in part])
            logits = branched.predict([suffix for _, suffix, _ in part], logits=width)
            outcomes += scored([request for _, _, request in part], logits)
        return outcomes

    def prompts(self, groups: Groups, *, reserve: int) -> tuple[Rows, torch.Tensor]:
        """Run every prompt; return a row a request, in their order, and the logits after it."""
        rows, members = self._prefill(groups, reserve=reserve)
        rows = rows.branch([group for group, _, _ in members], reserve=reserve)
        return rows, rows.predict([suffix for _, suffix, _ in members], logits=1)

    def _prefill(self, groups: Groups, *, reserve: int) -> tuple[Rows, list[Member]]:
        """Run every shared prefix once; return a row a group, and what is left of each request."""
        heads = [forwarded(group[0])[: prefix_length(group)] for group in groups]
        common = common_prefix(heads)
        if self.branches:
            rows = Rows(self._model, 1, reserve=reserve)
            rows.extend([heads[0][:common]])
            rows = rows.branch([0] * len(groups), reserve=reserve)
        else:
            own = DynamicCache(config=self._model.config)
            rows = Rows(self._model, len(groups), cache=own)
        rows.extend([head[common:] for head in heads])
        return rows, list(_members(groups, [len(head) for head in heads]))


def _members(groups: Groups, prefixes: list[int]) -> Iterator[Member]:
    for index, (group, prefix) in enumerate(zip(groups, prefixes, strict=True)):
        for request in group:
            yield index, forwarded(request)[prefix:], request


def _cache_traits(model: Any) -> tuple[int | None, bool]:
    """Return the narrowest sliding window, and whether the cache holds one slot a token."""
    layers = DynamicCache(config=model.config).layers
    branches = all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)
    windows = [x.sliding_window for x in layers if isinstance(x, DynamicSlidingWindowLayer)]
    return min(windows, default=None), branches
