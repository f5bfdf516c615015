"""A model that a user has loaded: made fit to answer while it is asked, and put back after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome
from assay.models.backends.hf_local import HFLocal
from assay.models.backends.loading import Float32Head


class Borrowed(HFLocal):
    """A transformers model that belongs to somebody else.

    While it answers it is in eval mode, soft-capped attention is eager and logits are float32, as
    for a model loaded here; afterwards everything is as it was.
    """

    def __init__(self, model: Any, *, limit: int | None):
        own = _attention(model)
        super().__init__(model, limit=limit)
        text = model.config.get_text_config(decoder=True)
        capped = getattr(text, "attn_logit_softcapping", None) is not None
        # The sdpa path leaves a soft cap out without a word, which changes the scores.
        self._wanted = "eager" if capped else model.config._attn_implementation
        model.set_attn_implementation(own)

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        """Answer as `HFLocal` does."""
        with answering(self._model, self._wanted):
            return super().execute(batch, max_new_tokens=max_new_tokens)


def _attention(model: Any) -> dict[str, str]:
    """Return the attention of the model and of each of its parts, as it can be set again."""
    config = model.config
    parts = {"": config} | {name: getattr(config, name) for name in config.sub_configs}
    return {name: part._attn_implementation for name, part in parts.items() if part is not None}


def causal_model(model: Any) -> Any:
    """Return the transformers model with a language-modelling head in or around `model`.

    Adapters, parallel wrappers and a user's own classes are looked through; what they have put
    into the layers of the model stays in force.

    Raises
    ------
    ModelError
        If there is none.
    """
    from transformers import PreTrainedModel

    for module in model.modules():
        if isinstance(module, PreTrainedModel) and module.get_output_embeddings() is not None:
            return module
    raise ModelError(
        "there is no transformers model with a language-modelling head here.",
        where=type(model).__name__,
        fix="wrap what AutoModelForCausalLM gives; for anything else, give your own functions: "
        "RuntimeConfig(generate_fn=…, chat_fn=…, logprobs_fn=…).",
    )


@contextmanager
def answering(model: Any, attention: str) -> Iterator[None]:
    """Make `model` fit to answer with the given attention, and put everything back."""
    modes = [(module, module.training) for module in model.modules()]
    head = model.get_output_embeddings()
    own = _attention(model)
    try:
        if own[""] != attention:
            model.set_attn_implementation(attention)
        if type(head) is torch.nn.Linear and head.weight.dtype != torch.float32:
            model.set_output_embeddings(Float32Head(head))
        model.eval()
        yield
    finally:
        model.set_output_embeddings(head)
        if own[""] != attention:
            model.set_attn_implementation(own)
        for module, training in modes:
            module.training = training
