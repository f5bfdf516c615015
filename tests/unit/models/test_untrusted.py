"""Files of a model are a stranger's: what could run as code does not."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from assay.core.errors import ModelError
from assay.core.pins import HubPin, PathPin
from assay.core.spec import ModelSpec
from assay.models.backends.loading import load_causal
from assay.models.files import model_digest
from assay.models.render import Renderer, template_variables

Tiny = Callable[[str], tuple[Path, ModelSpec]]
CPU = torch.device("cpu")
SHA = "0123456789abcdef0123456789abcdef01234567"


class Touches:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def malicious(target: Path, trace: Path) -> None:
    """Write a pickle that leaves a trace when it is loaded, and prove that it would."""
    target.write_bytes(pickle.dumps({"weight": Touches(trace)}))
    pickle.loads(target.read_bytes())
    assert trace.exists()
    trace.unlink()


def copied(folder: Path, target: Path, *names: str) -> Path:
    target.mkdir()
    for name in names:
        shutil.copy(folder / name, target)
    return target


def test_a_pickle_instead_of_weights_does_not_run(tiny: Tiny, tmp_path: Path) -> None:
    folder, spec = tiny("llama")
    own = copied(folder, tmp_path / "own", "config.json")
    malicious(own / "pytorch_model.bin", tmp_path / "ran")
    with pytest.raises(ModelError, match=r"no \*\.safetensors.*pickled checkpoints are not"):
        load_causal(own, spec, dtype="float32", device=CPU)
    assert not (tmp_path / "ran").exists()


def test_a_pickle_beside_the_weights_is_not_read(tiny: Tiny, tmp_path: Path) -> None:
    folder, spec = tiny("llama")
    own = copied(folder, tmp_path / "own", "config.json", "model.safetensors")
    malicious(own / "pytorch_model.bin", tmp_path / "ran")
    assert load_causal(own, spec, dtype="float32", device=CPU).config.model_type == "llama"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("named", ["evil.bin", "../evil.safetensors", "/evil.safetensors"])
def test_an_index_that_leads_elsewhere_is_refused(tiny: Tiny, tmp_path: Path, named: str) -> None:
    folder, spec = tiny("llama")
    own = copied(folder, tmp_path / "own", "config.json")
    shutil.copy(folder / "model.safetensors", own / "part.safetensors")
    malicious(own / "evil.bin", tmp_path / "ran")
    weights = {"weight_map": {"model.embed_tokens.weight": named}}
    (own / "model.safetensors.index.json").write_text(json.dumps(weights), encoding="utf-8")
    with pytest.raises(ModelError, match="names .*evil.*no safetensors file of this folder"):
        load_causal(own, spec, dtype="float32", device=CPU)
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def with_code(tiny: Tiny, tmp_path: Path) -> tuple[Path, Path]:
    """A model whose configuration names code of its own, and the trace that the code leaves."""
    folder, _ = tiny("llama")
    own = copied(folder, tmp_path / "own", "model.safetensors")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["model_type"] = "of_a_stranger"
    classes = {"AutoConfig": "theirs.Config", "AutoModelForCausalLM": "theirs.Model"}
    (own / "config.json").write_text(json.dumps(config | {"auto_map": classes}), encoding="utf-8")
    trace = tmp_path / "ran"
    code = f"""
from pathlib import Path
from transformers import LlamaConfig, LlamaForCausalLM
Path({str(trace)!r}).touch()
class Config(LlamaConfig):
    model_type = "of_a_stranger"
class Model(LlamaForCausalLM):
    config_class = Config
"""
    (own / "theirs.py").write_text(code, encoding="utf-8")
    return own, trace


def pinned(**changes: Any) -> ModelSpec:
    source = HubPin(repo="me/model", revision=SHA)
    return ModelSpec(key="m", family="m", source=source, licence="none", chat="plain", **changes)


def test_code_of_a_model_does_not_run(with_code: tuple[Path, Path]) -> None:
    folder, trace = with_code
    with pytest.raises(ValueError, match="trust_remote_code"):
        load_causal(folder, pinned(), dtype="float32", device=CPU)
    assert not trace.exists()


def test_code_runs_for_an_entry_that_says_so(
    with_code: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, trace = with_code
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "m"))
    model = load_causal(folder, pinned(trust_remote_code=True), dtype="float32", device=CPU)
    assert type(model).__name__ == "Model"
    assert trace.exists()


def test_code_of_another_repository_is_refused(with_code: tuple[Path, Path]) -> None:
    folder, trace = with_code
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["auto_map"] = {"AutoModelForCausalLM": "someone/else--theirs.Model"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    entry = pinned(trust_remote_code=True)
    for load in (lambda: load_causal(folder, entry, dtype="float32", device=CPU), None):
        with pytest.raises(ModelError, match="another repository.*someone/else"):
            load() if load else Renderer(folder, entry)
    assert not trace.exists()


def test_an_adapter_that_leads_to_another_model_is_refused(with_code: tuple[Path, Path]) -> None:
    folder, _ = with_code
    base = json.dumps({"base_model_name_or_path": "someone/else", "peft_type": "LORA"})
    (folder / "adapter_config.json").write_text(base, encoding="utf-8")
    with pytest.raises(ModelError, match="an adapter, which leads to a base model"):
        load_causal(folder, pinned(), dtype="float32", device=CPU)
    with pytest.raises(ModelError, match="an adapter"):
        model_digest(folder)


def test_code_without_a_commit_is_refused() -> None:
    with pytest.raises(ValidationError, match="trust_remote_code needs a source of kind hub"):
        ModelSpec(
            key="m",
            family="m",
            source=PathPin(path="m"),
            licence="none",
            trust_remote_code=True,
        )
    with pytest.raises(ValidationError, match="'main' is not a commit"):
        HubPin(repo="me/model", revision="main")


ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ messages.__class__.__init__.__globals__ }}",
    "{{ (''|attr('__class__')).__mro__ }}",
    "{{ cycler.__init__.__globals__.os.system('touch ' ~ trace) }}",
    "{{ raise_exception.__globals__['__builtins__']['open'](trace, 'w') }}",
    "{{ '{0.__class__.__mro__}'.format('') }}",
    "{{ messages.append(1) }}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_a_chat_template_stays_in_its_sandbox(tmp_path: Path, template: str) -> None:
    trace = tmp_path / "ran"
    template = "{% set trace = '" + str(trace) + "' %}" + template
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"a": 0, "?": 1}, unk_token="?")),
        chat_template=template,
    )
    spec = pinned().model_copy(update={"chat": "template"})
    renderer = Renderer.of(tokenizer, spec, limit=None)
    with pytest.raises(ModelError, match="m: the chat template reaches for what no template may"):
        renderer.render_chat([{"role": "user", "content": "a"}])
    assert not trace.exists()


def test_looking_at_a_template_evaluates_nothing_of_it() -> None:
    found = template_variables("{{ (''|attr('__class__')) }}{{ enable_thinking }}")
    assert found == {"enable_thinking"}
