"""A batch as one row of trie nodes: every shared prefix once, no padding at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicSlidingWindowLayer

from assay.core.model import Outcome, Request
from assay.models.backends.answers import score_of
from assay.models.backends.layout import Layout
from assay.models.backends.memory import is_out_of_memory
from assay.models.backends.rows import ReservedLayer, Rows
from assay.models.plan import forwarded
from assay.models.trie import Trie

#: What an architecture that does not take a trie may raise on the first try.
_UNFIT = (TypeError, ValueError, AttributeError, LookupError, RuntimeError)

#: Largest relative difference between a trie and plain rows, by bytes of a number.
_TOLERANCE = {8: 1e-6, 4: 1e-3, 2: 0.1}


class Packed:
    """The trie of some groups of requests, run through a model.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model in eval mode whose attention is `assay.models.backends.attention`.
    groups : sequence of sequences of Request
        Requests of one group share what they have in common, groups share nothing.
    """

    def __init__(self, model: Any, groups: Sequence[Sequence[Request]]):
        self.trie = Trie.of([[forwarded(request) for request in group] for group in groups])
        self.requests = [request for group in groups for request in group]
        self._model = model
        self._cache = DynamicCache()
        self._cache.layers = [ReservedLayer() for _ in DynamicCache(config=model.config).layers]

    def logits(self) -> torch.Tensor:
        """Run everything and return the logits after each request's context.

        Returns
        -------
        Tensor
            (requests, 1, vocabulary).
        """
        last = [path[-1] for path in self.trie.paths]
        wanted = sorted(set(last))
        place = {node: row for row, node in enumerate(wanted)}
        found = self._run(0, len(self.trie), wanted)
        return found[[place[node] for node in last]][:, None]

    def place(self, rows: Rows, first: int) -> None:
        """Copy every request's prompt, once it was run, to `rows` from the place `first` on."""
        rows.place(first, self._cache, self.trie.paths)

    def scores(self, most_rows: int) -> list[Outcome]:
        """Run everything and return the log-probabilities of every continuation.

        A node that predicts tokens of several requests gives its distribution once.

        Parameters
        ----------
        most_rows : int
            Most rows of logits held at once; the trie is run in as many pieces as that takes.
        """
        asked: dict[int, dict[int, float]] = {}  # node → token → log-probability
        for request, path in zip(self.requests, self.trie.paths, strict=True):
            for node, token in zip(*_predicted(request, path), strict=True):
                asked.setdefault(node, {})[token] = float("nan")
        for start, stop, wanted in self._pieces(sorted(asked), most_rows):
            logits = self._run(start, stop, wanted).float()
            rows = [row for row, node in enumerate(wanted) for _ in asked[node]]
            tokens = [token for node in wanted for token in asked[node]]
            values = (logits[rows, tokens] - logits.logsumexp(dim=1)[rows]).tolist()
            for row, token, value in zip(rows, tokens, values, strict=True):
                asked[wanted[row]][token] = value
        return [
            score_of(request, [asked[n][t] for n, t in zip(*_predicted(request, p), strict=True)])
            for request, p in zip(self.requests, self.trie.paths, strict=True)
        ]

    def _pieces(self, wanted: list[int], most: int) -> Iterator[tuple[int, int, list[int]]]:
        """Cut the nodes so that each piece (start, stop, wanted) wants at most `most` logits."""
        start = 0
        for first in range(0, len(wanted), most):
            part = wanted[first : first + most]
            yield start, part[-1] + 1, part
            start = part[-1] + 1

    def _run(self, start: int, stop: int, wanted: Sequence[int]) -> torch.Tensor:
        """Run nodes ``start … stop - 1``; return logits (wanted nodes, vocabulary)."""
        return run_trie(self._model, self._cache, self.trie, start, stop, wanted)[0]


def run_trie(
    model: Any, cache: DynamicCache, trie: Trie, start: int, stop: int, wanted: Sequence[int]
) -> tuple[torch.Tensor, Layout]:
    """Run nodes ``start … stop - 1`` of `trie` over the `cache` of the nodes before them.

    Returns
    -------
    Tensor
        Logits after the `wanted` nodes: (nodes, vocabulary), in the model's dtype.
    Layout
        What the attention layers were told.
    """
    device = model.get_input_embeddings().weight.device
    layout = Layout(trie, start, stop, device)
    outputs = model(
        input_ids=torch.tensor([trie.tokens[start:stop]], device=device),
        position_ids=torch.tensor([trie.depths[start:stop]], device=device),
        # Four dimensions keep transformers from making a mask of its own.
        attention_mask=torch.ones(1, 1, 1, 1, dtype=torch.bool, device=device),
        past_key_values=cache,
        use_cache=True,
        # A list: with layers on several devices a tensor would lie on the wrong one.
        logits_to_keep=[node - start for node in wanted],
        trie_layout=layout,
    )
    return outputs.logits[0], layout


def _predicted(request: Request, path: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Return the nodes that predict a continuation, and its tokens."""
    return path[len(request.context) - 1 :], request.continuation or ()


@torch.inference_mode()
def takes_tries(model: Any) -> bool:
    """Tell whether `model` gives a trie's tokens what it gives them in rows of their own.

    Two rows of three tokens with a common beginning are run both ways. An architecture that does
    not hand the layout to its attention, that counts positions by itself or that hides its sliding
    windows is found out here, and the caller runs padded rows instead.
    """
    trie = Trie.of([[(5, 6, 7), (5, 6, 8)]])
    cache = DynamicCache()
    own = DynamicCache(config=model.config).layers
    cache.layers = [ReservedLayer() for _ in own]
    device = model.get_input_embeddings().weight.device
    try:
        found, layout = run_trie(model, cache, trie, 0, len(trie), range(len(trie)))
    except _UNFIT as error:
        if is_out_of_memory(error):
            raise
        return False
    if len(found) != len(trie):
        return False
    windows = [x.sliding_window for x in own if isinstance(x, DynamicSlidingWindowLayer)]
    if sorted(w for w in layout.windows if w is not None) != sorted(windows):
        return False
    ids = torch.tensor([[5, 6, 7], [5, 6, 8]], device=device)
    plain = model(input_ids=ids, use_cache=False).logits.float()
    tree = found.float()[torch.tensor(trie.paths, device=device)]
    scale = plain.nan_to_num().abs().max().clamp(min=1e-6)
    tolerance = _TOLERANCE[model.dtype.itemsize]
    return bool(torch.allclose(tree / scale, plain / scale, rtol=0, atol=tolerance, equal_nan=True))
