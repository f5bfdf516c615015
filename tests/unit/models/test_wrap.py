"""A loaded model, wrapped: asked in words, answered as transformers does, and left as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as t
from models_oracle import TINY, build, generate, score
from test_anatomy import Around, llava
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import assay
from assay.core.errors import ModelError
from assay.core.model import Request
from assay.core.pins import HubPin, PathPin
from assay.core.spec import ModelSpec
from assay.models.backends.borrowed import answering
from assay.models.files import model_digest
from assay.models.render import Renderer

Tiny = Callable[[str], tuple[Path, ModelSpec]]
TEMPLATE = (
    "{% for m in messages %}{{ m.content }}|{% endfor %}"
    "{% if tools %}t{% endif %}{% if enable_thinking %}<think>{% endif %}>"
)


def words(template: str | None = None) -> Any:
    """Return a tokenizer of 97 single characters, without BOS."""
    letters = sorted({chr(n) for n in range(33, 33 + 93)} | {" "})
    vocabulary = {token: n for n, token in enumerate(["<p>", "<s>", "</s>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = t.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    fast.chat_template = template
    return fast


def ids(text: str) -> tuple[int, ...]:
    return tuple(words()(text)["input_ids"])


PROMPTS = ["a cat", "the dog and the cow", "x"]


def _same_as_one_at_a_time(model: Any, wrapped: Any) -> None:
    """Compare generations and scores with plain transformers calls on `model`."""
    answers = wrapped.generate(PROMPTS, max_new_tokens=5)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        expected = generate(model, Request("r", "g", ids(prompt)), 5, [2])
        assert (answer.status, answer.prompt) == ("ok", prompt)
        assert answer.text == words().decode(list(expected), skip_special_tokens=True)
    endings = [" sat", " ran far", "!"]
    scores = wrapped.score(["the cat"] * 3, endings)
    for ending, found in zip(endings, scores, strict=True):
        expected_logprobs = score(model, Request("r", "g", ids("the cat"), ids(ending)))
        assert found.logprobs == pytest.approx(expected_logprobs, abs=1e-4)
        assert found.total == pytest.approx(sum(expected_logprobs), abs=1e-3)


@pytest.mark.parametrize("name", sorted(TINY))
def test_answers_are_those_of_the_model_alone(name: str) -> None:
    model = build(TINY[name])
    wrapped = assay.wrap(model, words())
    assert model.config._attn_implementation == build(TINY[name]).config._attn_implementation
    reference = build(TINY[name])
    reference.set_attn_implementation("eager")
    _same_as_one_at_a_time(reference, wrapped)


def test_a_wrapper_and_a_vision_language_model_are_asked_in_words() -> None:
    model = build(TINY["llama"])
    _same_as_one_at_a_time(model, assay.wrap(Around(Around(model)), words()))
    vlm = llava()
    wrapped = assay.wrap(vlm, words())
    own = {part: getattr(vlm.config, part)._attn_implementation for part in vlm.config.sub_configs}
    _same_as_one_at_a_time(vlm, wrapped)
    assert own == {part: getattr(vlm.config, part)._attn_implementation for part in own}
    assert len(wrapped.anatomy().layers) == 2


def test_wrap_and_load_give_the_same(tiny: Tiny, tmp_path: Path) -> None:
    folder, spec = tiny("gemma2_softcap")
    words().save_pretrained(folder)
    loaded = assay.compose(spec, "hf_local", assay.RuntimeConfig(device="cpu"), {"logprobs"})
    wrapped = assay.wrap(t.AutoModelForCausalLM.from_pretrained(folder), words())
    assert loaded.generate(PROMPTS) == wrapped.generate(PROMPTS)
    pairs = (["the cat"] * 2, [" sat", " ran"])
    ours, theirs = loaded.score(*pairs), wrapped.score(*pairs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)
    paths = [part.path for part in loaded.anatomy().layers]
    assert paths == [part.path for part in wrapped.anatomy().layers]


def test_load_by_key_with_a_checkpoint_of_ones_own(tiny: Tiny) -> None:
    folder, _ = tiny("qwen3")
    words(TEMPLATE).save_pretrained(folder)
    model = assay.load("qwen3-0.6b", checkpoint=folder, want={"generate"})
    (answer,) = model.chat([[{"role": "user", "content": "hi"}]], max_new_tokens=2)
    assert answer.prompt == "hi|>"
    assert (model.spec.key, model.spec.source) == ("qwen3-0.6b", PathPin(path=str(folder)))


def test_everything_is_put_back_even_after_a_fault() -> None:
    model = build(TINY["gemma2_softcap"]).to(torch.bfloat16)
    model.train()
    model.model.layers[0].eval()
    model.set_attn_implementation("sdpa")
    head = model.get_output_embeddings()
    modes = [module.training for module in model.modules()]

    def ask() -> None:
        with answering(model, "eager"):
            assert not any(module.training for module in model.modules())
            assert model.config._attn_implementation == "eager"
            assert model(input_ids=torch.tensor([[5]])).logits.dtype == torch.float32
            raise RuntimeError("fault")

    with pytest.raises(RuntimeError, match="fault"):
        ask()
    assert model.get_output_embeddings() is head
    assert model.config._attn_implementation == "sdpa"
    assert [module.training for module in model.modules()] == modes


def test_dropout_of_a_model_in_training_spoils_no_answer() -> None:
    config = t.GPT2Config(
        vocab_size=97, n_positions=64, n_embd=32, n_layer=3, n_head=4, resid_pdrop=0.9
    )
    wrapped = assay.wrap(build(config).train(), words())
    first, again = (wrapped.score(["abc"], ["def"])[0].logprobs for _ in range(2))
    assert first == again


def test_what_has_no_room_is_said_and_the_rest_answered() -> None:
    wrapped = assay.wrap(build(TINY["llama"]), words())
    short, long = wrapped.generate(["abc", "a" * 256], max_new_tokens=4)
    assert (short.status, long.status, long.text) == ("ok", "too_long", "")
    assert "256 positions" in long.detail


def test_an_empty_prompt_is_named() -> None:
    wrapped = assay.wrap(build(TINY["llama"]), words())
    with pytest.raises(ModelError, match="prompt 1"):
        wrapped.generate(["abc", ""])
    with pytest.raises(ModelError, match="pair 0"):
        wrapped.score(["abc"], [""])


def test_what_is_no_causal_model_is_refused() -> None:
    with pytest.raises(ModelError, match="no transformers model with a language-modelling head"):
        assay.wrap(torch.nn.Linear(2, 2), words())
    with pytest.raises(ModelError, match="needs the model's tokenizer"):
        assay.wrap(build(TINY["llama"]), None)


#: Traits that the configurations of the small models were given.
TRAITS = {
    "llama": (),
    "llama_one_kv_head": (),
    "qwen3": (),
    "mistral_window": ("sliding_window",),
    "gemma3_window": ("sliding_window", "tied_embeddings"),
    "gemma2_softcap": ("sliding_window", "tied_embeddings"),
    "mixture_of_experts": ("mixture_of_experts",),
    "recurrent": ("tied_embeddings",),
}


@pytest.mark.parametrize("name", sorted(TRAITS))
def test_traits_are_read_off_the_model(name: str) -> None:
    assert assay.infer_spec(build(TINY[name])).traits == TRAITS[name]


def test_a_spec_is_inferred() -> None:
    model = build(TINY["llama"]).to(torch.bfloat16)
    spec = assay.infer_spec(model)
    assert (spec.key, spec.family, spec.chat) == ("llama", "llama", "plain")
    assert (spec.dtype, spec.quantisation) == ("bfloat16", "none")
    assert spec.source == PathPin(path="in memory")
    chatty = assay.infer_spec(model, words(TEMPLATE), key="mine")
    assert (chatty.key, chatty.chat) == ("mine", "template")
    assert chatty.traits == ("reasoning", "tool_calls")


def test_the_source_is_where_the_model_was_loaded(tiny: Tiny) -> None:
    folder, _ = tiny("llama")
    model = t.AutoModelForCausalLM.from_pretrained(folder)
    spec = assay.infer_spec(model)
    assert (spec.key, spec.source) == ("llama", PathPin(path=str(folder)))
    model.config._name_or_path = "Someone/Their-Model_7B"
    model.config._commit_hash = "a" * 40
    spec = assay.infer_spec(model)
    assert spec.source == HubPin(repo="Someone/Their-Model_7B", revision="a" * 40)
    assert spec.key == "their-model_7b"


def test_an_unknown_quantisation_is_refused() -> None:
    model = build(TINY["llama"])
    model.config.quantization_config = {"quant_method": "magic"}
    with pytest.raises(ModelError, match="quantised by 'magic'"):
        assay.infer_spec(model)
    model.config.quantization_config = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    assert assay.infer_spec(model).quantisation == "bnb-4bit"


def test_a_live_tokenizer_renders_as_its_folder_does(tmp_path: Path) -> None:
    build(TINY["llama"]).save_pretrained(tmp_path)
    words(TEMPLATE).save_pretrained(tmp_path)
    source = PathPin(path=str(tmp_path))
    spec = ModelSpec(key="k", family="f", source=source, licence="none")
    saved = Renderer(tmp_path, spec)
    live = Renderer.of(t.AutoTokenizer.from_pretrained(tmp_path), spec, limit=256)
    turns = [{"role": "user", "content": "hello"}]
    assert live.render_chat(turns) == saved.render_chat(turns)
    assert live.max_length == saved.max_length == 256
    assert saved.tokenizer_sha256 == model_digest(tmp_path, weights=False)["tokenizer"]
    assert live.tokenizer_sha256 is None
