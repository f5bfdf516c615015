"""Attention for trie-packed tokens, and without copies of grouped heads on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from assay.models.backends.layout import Layout

#: Name under which transformers finds it; it holds "sdpa" so that the same support check applies.
ASSAY_SDPA = "assay_sdpa"


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    trie_layout: Layout | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend as transformers' "sdpa" does, or along the paths of a trie.

    Parameters
    ----------
    query : Tensor
        (rows, query heads, new tokens, head size); one row for a trie.
    key, value : Tensor
        (rows, key-value heads, all tokens, head size).
    attention_mask : Tensor or None
        Boolean, (rows, 1, new tokens, all tokens); ignored for a trie, whose layout says it all.
    trie_layout : Layout, optional
        Which keys the tokens of a trie see.

    Returns
    -------
    Tensor
        (rows, new tokens, query heads, head size), and None for the attention weights.
    """
    if trie_layout is None:
        return _sdpa(module, query, key, value, attention_mask, scaling, **kwargs)
    mask = trie_layout.mask(kwargs.get("sliding_window")).to(query.device)
    found, _ = _sdpa(
        module,
        trie_layout.chunked(query),
        trie_layout.gathered(key),
        trie_layout.gathered(value),
        mask,
        scaling,
    )
    return trie_layout.joined(found), None


def _sdpa(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float | None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend with the kernel's own grouped heads where that is possible under a mask.

    transformers repeats the keys and values for every query head as soon as there is a mask, since
    CUDA kernels need it. The CPU kernel does not, gives the same bits, and a decoding step of
    96 rows takes a fifth of the time.
    """
    if mask is None or query.device.type != "cpu" or kwargs.get("position_bias") is not None:
        attended: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, mask, scaling=scaling, **kwargs
        )
        return attended
    found = scaled_dot_product_attention(
        query, key, value, attn_mask=mask, scale=scaling, enable_gqa=True
    )
    return found.transpose(1, 2).contiguous(), None


def choose_attention(model: Any) -> bool:
    """Give `model` the attention that suits it; return whether it is `attend`.

    Models with a soft cap on their attention get transformers' eager attention: the sdpa path
    leaves the cap out without a word, which changes the scores.
    """
    config = model.config.get_text_config(decoder=True)
    if getattr(config, "attn_logit_softcapping", None) is not None:
        model.set_attn_implementation("eager")
    elif model.config._attn_implementation == "sdpa":
        model.set_attn_implementation(ASSAY_SDPA)
    return bool(model.config._attn_implementation == ASSAY_SDPA)


AttentionInterface.register(ASSAY_SDPA, attend)
AttentionMaskInterface.register(ASSAY_SDPA, sdpa_mask)
