"""From a model folder to a causal language model on a device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from transformers.utils.logging import disable_progress_bar

from assay.core.errors import ModelError
from assay.core.spec import DType, ModelSpec
from assay.models.backends.attention import choose_attention
from assay.models.backends.emulated import emulate_bfloat16, has_bfloat16
from assay.models.files import refuse_foreign_code, weight_files


def pick_device(wanted: str) -> torch.device:
    """Return the device for "auto" (CUDA, then MPS, then CPU) or for an explicit name.

    Raises
    ------
    ModelError
        If the named device is not there.
    """
    if wanted == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    device = torch.device(wanted)
    absent = (device.type == "cuda" and not torch.cuda.is_available()) or (
        device.type == "mps" and not torch.backends.mps.is_available()
    )
    if absent:
        raise ModelError(
            f"there is no {device.type} device here.",
            where=wanted,
            fix="set the device to auto or cpu.",
        )
    return device


class Float32Head(torch.nn.Module):
    """The unembedding of a half-precision model, computed in float32.

    A bfloat16 logit near 20 is a multiple of 1/8, so that two labels tie often, and a tie always
    falls to the lower token id: a preference for "A" that is arithmetic and not the model's.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, head: torch.nn.Linear):
        super().__init__()
        self.register_buffer("weight", head.weight.detach().float(), persistent=False)
        bias = None if head.bias is None else head.bias.detach().float()
        self.register_buffer("bias", bias, persistent=False)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return float32 logits (…, vocabulary) of hidden states (…, width)."""
        wide = hidden.to(device=self.weight.device, dtype=torch.float32)
        return torch.nn.functional.linear(wide, self.weight, self.bias)


def load_causal(folder: Path, spec: ModelSpec, *, dtype: DType, device: torch.device) -> Any:
    """Load the model in `folder` in eval mode; nothing is downloaded.

    Only safetensors are read, and code that comes with a checkpoint runs only if its registry
    entry says `trust_remote_code: true`. Logits are float32 whatever the dtype.

    Raises
    ------
    ModelError
        If there are no safetensors, or the quantisation is not what the entry says or needs
        another device.
    """
    weight_files(folder)
    if spec.trust_remote_code:
        refuse_foreign_code(folder)
    disable_progress_bar()  # a line a tensor in the log of every job
    options: dict[str, Any] = {
        "dtype": getattr(torch, dtype),
        "use_safetensors": True,
        "local_files_only": True,
        "trust_remote_code": spec.trust_remote_code,
        "quantization_config": _quantisation(folder, spec, dtype, device),
    }
    if device.type == "cuda":
        options["device_map"] = "auto" if spec.gpus > 1 else {"": device}
    options = {name: value for name, value in options.items() if value is not None}
    model = AutoModelForCausalLM.from_pretrained(folder, **options).eval()
    if device.type != "cuda":
        model = model.to(device)
    choose_attention(model)
    head = model.get_output_embeddings()
    if dtype != "float32" and type(head) is torch.nn.Linear:
        model.set_output_embeddings(Float32Head(head))
    if dtype == "bfloat16" and not has_bfloat16(device):
        emulate_bfloat16(model)
    return model


def _quantisation(folder: Path, spec: ModelSpec, dtype: DType, device: torch.device) -> Any:
    """Return the quantisation to apply on load; None for dense or already quantised weights."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    own = (config.get("quantization_config") or {}).get("quant_method")
    if spec.quantisation == "none" and own is None:
        return None
    if spec.quantisation == "none":
        raise ModelError(
            f"the checkpoint is quantised ({own}) but its entry says `quantisation: none`.",
            where=spec.key,
            fix="name the quantisation in the entry: it is part of what the model is.",
        )
    if device.type != "cuda":
        raise ModelError(
            f"`quantisation: {spec.quantisation}` needs a CUDA device, not {device.type}.",
            where=spec.key,
            fix="run this entry on a GPU, or use the unquantised entry.",
        )
    if spec.quantisation == "bnb-8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    if spec.quantisation == "bnb-4bit":
        return BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=getattr(torch, dtype),
        )
    if own is None:
        raise ModelError(
            f"the entry says `quantisation: {spec.quantisation}` but the checkpoint is dense.",
            where=spec.key,
            fix="pin a checkpoint that is quantised, or use bnb-4bit or bnb-8bit.",
        )
    return None
