from __future__ import annotations

import pytest
import torch

from assay.models.backends.emulated import EmulatedLinear, emulate_bfloat16


@pytest.mark.parametrize("bias", [True, False])
def test_the_result_is_the_exact_one_rounded_once(bias: bool) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(576, 1536, bias=bias, dtype=torch.bfloat16)
    inputs = torch.randn(64, 576, dtype=torch.bfloat16)
    exact = torch.nn.functional.linear(
        inputs.double(), layer.weight.double(), layer.bias.double() if bias else None
    )
    emulated = EmulatedLinear(layer)(inputs)
    assert emulated.dtype == torch.bfloat16
    assert (emulated == exact.to(torch.bfloat16)).double().mean() > 0.999
    # The library's own bfloat16 product differs from the exact one no less often.
    own = layer(inputs)
    assert (own == emulated).double().mean() > 0.99


def test_only_bfloat16_linear_layers_are_replaced() -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 4, dtype=torch.bfloat16),
        torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)),
    )
    emulate_bfloat16(model)
    assert [type(m).__name__ for m in model.modules()][1:] == [
        "EmulatedLinear",
        "Sequential",
        "Linear",
        "LayerNorm",
    ]
