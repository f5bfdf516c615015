"""The arithmetic limit of this machine for one model: its matrix products alone, at full width."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import linear

from assay.core.model import Request
from assay.models.plan import token_counts

#: Rows of a product: enough that a wider one is no faster.
ROWS = 1024
REPEATS = 5


@dataclass(frozen=True)
class Limit:
    """What the products of a model cost at best.

    Attributes
    ----------
    rate : float
        Operations a second (a multiplication and an addition are two).
    token, logits : float
        Operations for one token in all layers, and for the logits after one token. Attention
        itself is not counted.
    """

    rate: float
    token: float
    logits: float

    def seconds(self, requests: Sequence[Request], decoded: int) -> float:
        """Return the least time for `requests`, of which `decoded` tokens are fed back.

        Every node of their token trie is run once, and every wanted distribution is made once.
        """
        nodes = token_counts(requests, []).floor
        wanted = {
            r.context + (r.continuation or (0,))[:n]
            for r in requests
            for n in range(len(r.continuation or (0,)))
        }
        tokens, logits = nodes + decoded, len(wanted) + decoded
        return (tokens * self.token + logits * self.logits) / self.rate


def measure(model: Any) -> Limit:
    """Time the products of a model's linear layers, each shape once, in its own number format.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model; its weights are not touched.
    """
    shapes = Counter(
        (layer.out_features, layer.in_features)
        for layer in model.base_model.modules()
        if isinstance(layer, torch.nn.Linear)
    )
    seconds = sum(count * _best(*shape, model.dtype) for shape, count in shapes.items())
    token = 2.0 * sum(count * rows * columns for (rows, columns), count in shapes.items())
    head = model.get_output_embeddings().weight
    return Limit(ROWS * token / seconds, token, 2.0 * head.numel())


@torch.inference_mode()
def _best(outputs: int, inputs: int, dtype: torch.dtype) -> float:
    weight = torch.randn(outputs, inputs).to(dtype)
    states = torch.randn(ROWS, inputs).to(dtype)
    found = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        linear(states, weight)
        found = min(found, time.perf_counter() - started)
    return found
