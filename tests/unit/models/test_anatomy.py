"""Parts found by watching a forward pass, against what the model computes with them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers as t
from models_oracle import TINY, build

from assay.core.errors import ModelError
from assay.models.anatomy import discover

_SIZE: dict[str, Any] = {"vocab_size": 97, "max_position_embeddings": 64}
_WIDE: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
_DEEP = {**_SIZE, **_WIDE, "intermediate_size": 48}
_CLIP: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "image_size": 16,
    "patch_size": 8,
}

#: Architecture → configuration, and where its layers are by reading its source.
PLACES: dict[str, tuple[t.PretrainedConfig, str, str | None]] = {
    **{name: (config, "model.layers", "model.norm") for name, config in TINY.items()},
    "recurrent": (TINY["recurrent"], "model.layers", "model.embedding_norm"),
    "gpt2": (
        t.GPT2Config(vocab_size=97, n_positions=64, n_embd=32, n_layer=3, n_head=4),
        "transformer.h",
        "transformer.ln_f",
    ),
    "opt": (
        t.OPTConfig(**_SIZE, **_WIDE, ffn_dim=48, word_embed_proj_dim=32),
        "model.decoder.layers",
        "model.decoder.final_layer_norm",
    ),
    "opt_without_final_norm": (
        t.OPTConfig(
            **_SIZE, **_WIDE, ffn_dim=48, word_embed_proj_dim=16, do_layer_norm_before=False
        ),
        "model.decoder.layers",
        None,
    ),
    "gpt_neox": (t.GPTNeoXConfig(**_DEEP), "gpt_neox.layers", "gpt_neox.final_layer_norm"),
    "bloom": (
        t.BloomConfig(vocab_size=97, hidden_size=32, n_layer=3, n_head=4),
        "transformer.h",
        "transformer.ln_f",
    ),
    "mamba": (
        t.MambaConfig(vocab_size=97, hidden_size=32, num_hidden_layers=3, state_size=8),
        "backbone.layers",
        "backbone.norm_f",
    ),
    "olmo_norm_without_weights": (t.OlmoConfig(**_DEEP), "model.layers", "model.norm"),
    "latent_attention": (
        t.DeepseekV3Config(
            **_DEEP,
            num_key_value_heads=4,
            moe_intermediate_size=16,
            n_routed_experts=4,
            num_experts_per_tok=2,
            n_group=2,
            topk_group=1,
            kv_lora_rank=8,
            q_lora_rank=8,
            qk_rope_head_dim=4,
            qk_nope_head_dim=4,
            v_head_dim=8,
            first_k_dense_replace=1,
        ),
        "model.layers",
        "model.norm",
    ),
}


def llava() -> Any:
    """Return a vision-language model whose vision tower is deeper than its decoder."""
    text = t.LlamaConfig(**_DEEP | {"num_hidden_layers": 2}, num_key_value_heads=2)
    vision = t.CLIPVisionConfig(**_CLIP)
    config = t.LlavaConfig(vision_config=vision, text_config=text, image_token_index=90)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return t.LlavaForConditionalGeneration(config).eval()


class Around(torch.nn.Module):
    """Somebody's own wrapper, which adds one `.model` to every path."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor) -> Any:
        return self.model(input_ids=input_ids).logits


class Listed(torch.nn.Module):
    """A mixture of experts that are modules of their own, as before they were fused."""

    def __init__(self, width: int, count: int):
        super().__init__()
        self.experts = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(count))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        first: torch.Tensor = self.experts[0](hidden)
        return first


@torch.inference_mode()
def last_layer_read_out(model: Any, whole: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits of `model`, and those that its discovered parts give from the last layer.

    `whole` is what is discovered: the model, or something around it.
    """
    found = discover(whole)
    kept: list[torch.Tensor] = []

    def keep(module: Any, read: Any, gave: Any) -> None:
        kept.append(gave[0] if isinstance(gave, tuple) else gave)

    handle = found.layers[-1].module.register_forward_hook(keep)
    ids = torch.tensor([[7, 8, 9, 10]])
    logits = model(input_ids=ids).logits
    handle.remove()
    hidden = kept[0] if found.final_norm is None else found.final_norm.module(kept[0])
    return logits, found.unembedding.module(hidden)


@pytest.mark.parametrize("name", sorted(PLACES))
def test_parts_are_where_the_architecture_keeps_them(name: str) -> None:
    config, layers, norm = PLACES[name]
    model = build(config)
    found = discover(model)
    count = config.num_hidden_layers
    assert [part.path for part in found.layers] == [f"{layers}.{n}" for n in range(count)]
    assert (found.final_norm.path if found.final_norm else None) == norm
    assert found.embedding.module is model.get_input_embeddings()
    assert found.unembedding.module is model.get_output_embeddings()
    ours, theirs = found.embedding.module.weight, found.unembedding.module.weight
    assert found.tied == (ours.data_ptr() == theirs.data_ptr())


@pytest.mark.parametrize("name", sorted(set(PLACES) - {"gemma2_softcap", "opt_without_final_norm"}))
def test_the_parts_compute_the_logits(name: str) -> None:
    """Last layer → final norm → unembedding is what the model itself gives (no cap behind it)."""
    model = build(PLACES[name][0])
    theirs, ours = last_layer_read_out(model, model)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_a_soft_cap_comes_after_the_unembedding() -> None:
    model = build(TINY["gemma2_softcap"])
    theirs, ours = last_layer_read_out(model, model)
    torch.testing.assert_close(5.0 * torch.tanh(ours / 5.0), theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("depth", [1, 2])
def test_wrappers_are_looked_through(depth: int) -> None:
    model = build(TINY["llama"])
    whole = model
    for _ in range(depth):
        whole = Around(whole) if depth == 1 else Double(whole)
    theirs, ours = last_layer_read_out(model, whole)
    torch.testing.assert_close(ours, theirs)
    assert discover(whole).layers[0].path == "model." * depth + "model.layers.0"


class Double(torch.nn.Module):
    """A wrapper that keeps what the one inside gives."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor) -> Any:
        return self.model(input_ids=input_ids)


def test_the_text_part_of_a_vision_language_model() -> None:
    model = llava()
    found = discover(model)
    paths = [part.path for part in found.layers]
    assert paths == [f"model.language_model.layers.{n}" for n in range(2)]
    assert found.final_norm is not None
    assert found.final_norm.path == "model.language_model.norm"
    theirs, ours = last_layer_read_out(model, model)
    torch.testing.assert_close(ours, theirs)


def test_a_submodel_is_found_in_itself() -> None:
    """The decoder of a vision-language model under the head of its own, as text-only loaders do."""
    whole = llava()
    text = t.LlamaForCausalLM(whole.config.text_config).eval()
    text.model = whole.model.language_model
    assert len(discover(text).layers) == 2


def test_fused_experts_are_found_by_layer() -> None:
    found = discover(build(TINY["mixture_of_experts"]))
    paths = [part.path for part in found.experts if part]
    assert paths == [f"model.layers.{n}.mlp.experts" for n in range(4)]
    assert all(part and part.module.gate_up_proj.ndim == 3 for part in found.experts)
    dense_first = discover(build(PLACES["latent_attention"][0])).experts
    assert dense_first[0] is None
    assert all(dense_first[1:])
    assert discover(build(TINY["llama"])).experts == (None,) * 4
    # A convolution has three axes too and is no expert.
    assert discover(build(TINY["recurrent"])).experts == (None,) * 4


def test_listed_experts_are_found_by_layer() -> None:
    model = build(TINY["mixture_of_experts"])
    model.model.layers[1].mlp = Listed(32, 4)
    found = discover(model)
    assert found.experts[1] is not None
    assert found.experts[1].path == "model.layers.1.mlp.experts"
    assert len(found.layers) == 4


def test_a_tied_embedding_is_tied_as_a_float32_copy_too() -> None:
    from assay.models.backends.loading import Float32Head

    model = build(TINY["gemma2_softcap"]).to(torch.bfloat16)
    model.set_output_embeddings(Float32Head(model.get_output_embeddings()))
    assert discover(model).tied
    with torch.no_grad():
        model.get_output_embeddings().weight[3, 3] += 1
    assert not discover(model).tied


def test_the_model_is_left_as_it_was() -> None:
    model = build(TINY["llama"]).train()
    discover(model)
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())


def test_a_model_without_layers_or_head_is_refused() -> None:
    with pytest.raises(ModelError, match="no list of decoder layers ran"):
        discover(Around(Logits()))


class Logits(torch.nn.Module):
    """An embedding and a head, with nothing between them."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(97, 8)
        self.head = torch.nn.Linear(8, 97)

    def forward(self, input_ids: torch.Tensor) -> Any:
        from types import SimpleNamespace

        return SimpleNamespace(logits=self.head(self.embed(input_ids)))
