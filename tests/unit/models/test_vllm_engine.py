from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import ModelError
from assay.core.pins import PathPin
from assay.core.spec import ModelSpec
from assay.models.backends.vllm_engine import (
    Settings,
    environment,
    quantisation_of,
    step_tokens,
)


@pytest.fixture
def entry(tmp_path: Path) -> Any:
    def build(quantisation: str = "none", method: str | None = None, **config: Any) -> ModelSpec:
        if method:
            config["quantization_config"] = {"quant_method": method}
        (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
        source = PathPin(path=str(tmp_path))
        return ModelSpec(
            key="m", family="f", source=source, licence="none", quantisation=quantisation
        )

    return build


@pytest.mark.parametrize(
    ("wanted", "own", "told"),
    [
        ("none", None, None),
        ("bnb-4bit", None, "bitsandbytes"),
        ("bnb-4bit", "bitsandbytes", None),
        ("fp8", None, "fp8"),
        ("fp8", "fp8", None),
        ("awq", "awq", None),
        ("gptq", "gptq", None),
    ],
)
def test_quantisation_is_passed_through(
    entry: Any, tmp_path: Path, wanted: str, own: str | None, told: str | None
) -> None:
    assert quantisation_of(tmp_path, entry(wanted, own)) == told


@pytest.mark.parametrize(
    ("wanted", "own", "message"),
    [
        ("none", "awq", "quantised (awq)"),
        ("awq", None, "is dense"),
        ("gptq", None, "is dense"),
        ("gptq", "awq", "quantised (awq)"),
        ("fp8", "gptq", "quantised (gptq)"),
        ("bnb-8bit", None, "no `quantisation: bnb-8bit`"),
    ],
)
def test_an_entry_that_says_otherwise_is_refused(
    entry: Any, tmp_path: Path, wanted: str, own: str | None, message: str
) -> None:
    with pytest.raises(ModelError, match="m: ") as caught:
        quantisation_of(tmp_path, entry(wanted, own))
    assert message in str(caught.value)


def test_a_large_vocabulary_takes_shorter_steps(entry: Any, tmp_path: Path) -> None:
    entry(vocab_size=49_152)
    assert 1024 < step_tokens(tmp_path, "cpu") < step_tokens(tmp_path, "cuda") <= 8192
    entry(text_config={"vocab_size": 262_144})
    assert 256 <= step_tokens(tmp_path, "cpu") < 512
    entry()
    assert step_tokens(tmp_path, "cpu") >= 256


def test_the_environment_binds_as_many_cores_as_the_job_has(
    entry: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    settings = Settings(tmp_path, entry(), "float32", threads=2, batch_invariant=True)
    found = environment(settings, [7, 3, 5])
    assert found["VLLM_CPU_OMP_THREADS_BIND"] == "3,5"
    assert found["VLLM_BATCH_INVARIANT"] == "1"
    assert found["VLLM_NO_USAGE_STATS"] == "1"
    assert found["VLLM_CPU_KVCACHE_SPACE"] == "1"
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "40")
    assert environment(settings, [0])["VLLM_CPU_KVCACHE_SPACE"] == "40"
    assert environment(Settings(tmp_path, entry(), "float32"), [0])["VLLM_BATCH_INVARIANT"] == "0"
    split = Settings(tmp_path, entry(), "float32", threads=4, tensor_parallel=2)
    assert environment(split, range(8))["VLLM_CPU_OMP_THREADS_BIND"] == "0,2|1,3"
