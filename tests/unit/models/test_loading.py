"""Devices, number formats and quantisation are as asked, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from assay.core.capability import Capability
from assay.core.errors import ModelError
from assay.core.spec import ModelSpec
from assay.models.backends.attention import ASSAY_SDPA
from assay.models.backends.hf_local import HFLocal
from assay.models.backends.loading import load_causal, pick_device

Tiny = Callable[[str], tuple[Path, ModelSpec]]
CPU = torch.device("cpu")


def test_auto_takes_the_best_device_there_is() -> None:
    best = "cuda" if torch.cuda.is_available() else "cpu"
    if not torch.backends.mps.is_available():
        assert pick_device("auto").type == best


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError, match="no cuda device.*auto or cpu"):
        pick_device("cuda:0")


def test_the_entry_overrides_the_runs_dtype(tiny: Tiny) -> None:
    folder, spec = tiny("llama")
    entry = spec.model_copy(update={"dtype": "bfloat16"})
    runtime = HFLocal.load(folder, entry, dtype="float32", device="cpu")
    assert runtime._model.dtype == torch.bfloat16
    assert runtime.capabilities == {Capability.GENERATE, Capability.LOGPROBS}
    assert runtime.stats.load_s > 0


@torch.inference_mode()
@pytest.mark.parametrize("name", ["llama", "gemma2_softcap"])
def test_half_precision_logits_are_computed_in_float32(tiny: Tiny, name: str) -> None:
    model = load_causal(*tiny(name), dtype="bfloat16", device=CPU)
    ids = torch.arange(3, 40)[None]
    logits = model(input_ids=ids, use_cache=False).logits
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    exact = hidden.double() @ model.get_input_embeddings().weight.double().T
    if name == "llama":  # its head is not tied to its embedding
        exact = (
            hidden.double()
            @ load_causal(*tiny(name), dtype="bfloat16", device=CPU)
            .get_output_embeddings()
            .weight.double()
            .T
        )
    else:
        exact = 5.0 * torch.tanh(exact / 5.0)
    assert hidden.dtype == torch.bfloat16
    assert logits.dtype == torch.float32
    torch.testing.assert_close(logits.double(), exact, atol=1e-4, rtol=1e-5)


def test_attention_is_grouped_on_a_cpu_and_eager_under_a_soft_cap(tiny: Tiny) -> None:
    plain = load_causal(*tiny("llama"), dtype="float32", device=CPU)
    capped = load_causal(*tiny("gemma2_softcap"), dtype="float32", device=CPU)
    assert plain.config._attn_implementation == ASSAY_SDPA
    assert capped.config._attn_implementation == "eager"


@pytest.mark.parametrize("kind", ["bnb-4bit", "bnb-8bit", "awq", "gptq", "fp8"])
def test_quantisation_is_refused_on_a_cpu(tiny: Tiny, kind: str) -> None:
    folder, spec = tiny("llama")
    entry = spec.model_copy(update={"quantisation": kind})
    with pytest.raises(ModelError, match=f"llama: .*{kind}.*needs a CUDA device, not cpu"):
        load_causal(folder, entry, dtype="float32", device=CPU)


def test_a_quantised_checkpoint_must_be_named_as_such(tiny: Tiny, tmp_path: Path) -> None:
    folder, spec = tiny("llama")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["quantization_config"] = {"quant_method": "awq"}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match=r"quantised \(awq\).*`quantisation: none`"):
        load_causal(tmp_path, spec, dtype="float32", device=CPU)


def test_pickled_weights_are_not_loaded(tiny: Tiny, tmp_path: Path) -> None:
    folder, spec = tiny("llama")
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"no \*\.safetensors"):
        load_causal(tmp_path, spec, dtype="float32", device=CPU)
