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

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        """Answer as `HFLocal` does."""
        with answering(self._model):
            return super().execute(batch, max_new_tokens=max_new_tokens)


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
def answering(model: Any) -> Iterator[None]:
    """Make `model` fit to answer, and put everything back."""
    modes = [(module, module.training) for module in model.modules()]
    head = model.get_output_embeddings()
    attention = model.config._attn_implementation
    text = model.config.get_text_config(decoder=True)
    capped = getattr(text, "attn_logit_softcapping", None) is not None and attention != "eager"
    try:
        if capped:  # the sdpa path leaves the soft cap out without a word
            model.set_attn_implementation("eager")
        if type(head) is torch.nn.Linear and head.weight.dtype != torch.float32:
            model.set_output_embeddings(Float32Head(head))
        model.eval()
        yield
    finally:
        model.set_output_embeddings(head)
        if capped:
            model.set_attn_implementation(attention)
        for module, training in modes:
            module.training = training
