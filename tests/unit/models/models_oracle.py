"""What one request gets alone: plain transformers calls, no cache, no padding, no sharing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import transformers as t

from assay.core.model import Outcome, Request

_SMALL: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
    # Wide enough that attention, positions and padding matter to every logit.
    "initializer_range": 0.3,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_SLIDING = ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]

#: One configuration for each kind of attention and cache that the runtime tells apart.
TINY: dict[str, t.PretrainedConfig] = {
    "llama": t.LlamaConfig(**_SMALL),
    "llama_one_kv_head": t.LlamaConfig(**_SMALL | {"num_key_value_heads": 1}),
    "qwen3": t.Qwen3Config(**_SMALL),
    "mistral_window": t.MistralConfig(**_SMALL, sliding_window=12),
    "gemma3_window": t.Gemma3TextConfig(
        **_SMALL, sliding_window=12, layer_types=_SLIDING, query_pre_attn_scalar=8
    ),
    "gemma2_softcap": t.Gemma2Config(
        **_SMALL,
        sliding_window=64,
        attn_logit_softcapping=2.0,
        final_logit_softcapping=5.0,
        query_pre_attn_scalar=8,
    ),
    "mixture_of_experts": t.MixtralConfig(
        **_SMALL, num_local_experts=4, num_experts_per_tok=2, sliding_window=None
    ),
    "recurrent": t.Lfm2Config(
        **{k: v for k, v in _SMALL.items() if k != "head_dim"},
        layer_types=["conv", "full_attention", "conv", "full_attention"],
    ),
}


def build(config: t.PretrainedConfig) -> Any:
    """Return a model of `config` with random weights from a fixed seed."""
    with torch.random.fork_rng():
        torch.manual_seed(20240726)
        return t.AutoModelForCausalLM.from_config(config).eval()


@torch.inference_mode()
def score(model: Any, request: Request) -> list[float]:
    """Return the log-probability of each continuation token from one full forward."""
    continuation = list(request.continuation or ())
    ids = torch.tensor([[*request.context, *continuation]])
    # One row of logits more than tokens to score: the last predicts what comes after them.
    rows = model(input_ids=ids, use_cache=False, logits_to_keep=len(continuation) + 1).logits[0]
    table = rows.float().log_softmax(-1)
    return [float(table[n, token]) for n, token in enumerate(continuation)]


@torch.inference_mode()
def generate(model: Any, request: Request, limit: int, end: Sequence[int]) -> tuple[int, ...]:
    """Return the greedy answer, one full forward a token, without the end token."""
    ids = list(request.context)
    for _ in range(limit):
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].float()
        token = int(logits.argmax())
        if token in end:
            break
        ids.append(token)
    return tuple(ids[len(request.context) :])


def largest_difference(
    model: Any, requests: Sequence[Request], outcomes: Sequence[Outcome]
) -> float:
    """Return the largest absolute difference between outcomes and the reference (nats)."""
    by_id = {outcome.id: outcome for outcome in outcomes}
    return max(
        abs(ours - theirs)
        for request in requests
        for ours, theirs in zip(by_id[request.id].logprobs, score(model, request), strict=True)
    )
