"""Refusals before any weight, and a user's own engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay.core.capability import PROVIDERS, Capability, CapabilityError, provided_by
from assay.core.errors import AssayError, ConfigError, ModelError
from assay.core.pins import PathPin
from assay.core.spec import ModelSpec
from assay.models.runtime import Conversation, RuntimeConfig


def missing(tmp_path: Path, *, chat: str = "template") -> ModelSpec:
    """Return a spec whose checkpoint does not exist: whatever loads it fails on the folder."""
    source = PathPin(path=str(tmp_path / "not-there"))
    return ModelSpec(key="absent", family="none", source=source, licence="none", chat=chat)  # type: ignore[arg-type]


def echo(prompts: list[str], limit: int) -> list[str]:
    return [f"{prompt}!"[:limit] for prompt in prompts]


def reply(conversations: list[Conversation], limit: int) -> list[str]:
    return [turns[-1]["content"].upper()[:limit] for turns in conversations]


def halves(pairs: list[tuple[str, str]]) -> list[list[float]]:
    return [[-0.5] * len(continuation.split()) for _, continuation in pairs]


def test_a_missing_capability_is_refused_before_the_missing_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = missing(tmp_path)
    with pytest.raises(ModelError, match="no such model folder"):
        assay.compose(spec, "hf_local", want={"logprobs"})
    monkeypatch.setitem(PROVIDERS, Capability.LOGPROBS, ("another",))
    with pytest.raises(CapabilityError, match="logprobs is given by another"):
        assay.compose(spec, "hf_local", want={"logprobs"})
    with pytest.raises(ModelError, match="no such model folder"):
        assay.compose(spec, "hf_local", want={"generate"})


@pytest.mark.parametrize("key", ["qwen3-8b", "smollm2-135m"])
def test_the_missing_checkpoint_of_a_known_model(tmp_path: Path, key: str) -> None:
    runtime = RuntimeConfig(generate_fn=echo)
    gone = tmp_path / "gone"
    with pytest.raises(CapabilityError) as caught:
        assay.load(key, backend="engine", want={"logprobs"}, checkpoint=gone, runtime=runtime)
    assert caught.value.missing == (Capability.LOGPROBS,)
    with pytest.raises(ModelError, match="no such model folder"):
        assay.load(key, want=set(Capability), checkpoint=gone)


def test_a_refusal_imports_no_torch() -> None:
    script = """
import sys, assay
runtime = assay.RuntimeConfig(generate_fn=lambda prompts, limit: prompts)
try:
    assay.load("qwen3-8b", want={"logprobs"}, runtime=runtime)
except assay.CapabilityError as error:
    print(error)
    sys.exit("torch" in sys.modules or "transformers" in sys.modules)
sys.exit("was not refused")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("qwen3-8b: load needs logprobs")


def test_a_capability_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no runtime gives telepathy"):
        assay.compose(missing(tmp_path), want={"telepathy"})


def test_backends_are_named(tmp_path: Path) -> None:
    spec = missing(tmp_path)
    with pytest.raises(ConfigError, match="Did you mean 'hf_local'"):
        assay.compose(spec, "hf-local")
    with pytest.raises(ModelError, match="functions are not given"):
        assay.compose(spec, "engine")
    with pytest.raises(ModelError, match="functions are given"):
        assay.compose(spec, "hf_local", RuntimeConfig(generate_fn=echo))
    assert provided_by("hf_local") == set(Capability)


def test_an_engine_answers_in_order_and_says_what_it_gives(tmp_path: Path) -> None:
    spec = missing(tmp_path)
    runtime = RuntimeConfig(generate_fn=echo, chat_fn=reply, logprobs_fn=halves)
    model = assay.compose(spec, runtime=runtime)
    assert model.capabilities == set(Capability)
    answers = model.generate(["one", "two"], max_new_tokens=3)
    assert [(a.text, a.prompt, a.status) for a in answers] == [
        ("one", "one", "ok"),
        ("two", "two", "ok"),
    ]
    (answer,) = model.chat([[{"role": "user", "content": "hello"}]])
    assert answer.text == "HELLO"
    scores = model.score(["q", "q"], [" a", " a b"])
    assert [score.total for score in scores] == [-0.5, -1.0]
    assert [score.mean for score in scores] == [-0.5, -0.5]
    assert len(assay.registry.compatible_with(model)) == len(assay.registry)


def test_an_engine_is_not_asked_what_it_cannot(tmp_path: Path) -> None:
    model = assay.compose(missing(tmp_path), runtime=RuntimeConfig(generate_fn=echo))
    with pytest.raises(CapabilityError, match=r"absent: score needs logprobs.*logprobs_fn"):
        model.score(["a"], ["b"])
    with pytest.raises(ModelError, match="no chat_fn"):
        model.chat([[{"role": "user", "content": "hello"}]])
    with pytest.raises(ModelError, match="engine of its own"):
        model.anatomy()
    assert [one.name for one in assay.registry.compatible_with(model)] == ["generation"]
    only = assay.compose(missing(tmp_path), runtime=RuntimeConfig(logprobs_fn=halves))
    with pytest.raises(CapabilityError, match="generate_fn or chat_fn"):
        only.generate(["a"])
    chats = assay.compose(missing(tmp_path), runtime=RuntimeConfig(chat_fn=reply))
    with pytest.raises(ModelError, match="no generate_fn: it only chats"):
        chats.generate(["a"])


def test_a_plain_model_gets_conversations_as_text(tmp_path: Path) -> None:
    spec = missing(tmp_path, chat="plain")
    model = assay.compose(spec, runtime=RuntimeConfig(generate_fn=echo))
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    (answer,) = model.chat([turns])
    assert answer.prompt == "Be brief.\n\nWhy?"
    assert answer.text == "Be brief.\n\nWhy?!"


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["one"], "1 answers for 2 prompts"),
        (["one", "two", "three"], "3 answers for 2 prompts"),
        (["one", None], "not a list of texts"),
        ("ab", "not a list of texts"),
    ],
)
def test_a_wrong_number_or_kind_of_answers_is_refused(
    tmp_path: Path, answers: list[str], message: str
) -> None:
    runtime = RuntimeConfig(generate_fn=lambda prompts, limit: answers)
    model = assay.compose(missing(tmp_path), runtime=runtime)
    with pytest.raises(ModelError, match=message):
        model.generate(["1", "2"])


@pytest.mark.parametrize("values", [[], [0.1], [float("nan")], [float("-inf"), -1.0]])
def test_an_impossible_log_probability_is_no_score(tmp_path: Path, values: list[float]) -> None:
    runtime = RuntimeConfig(logprobs_fn=lambda pairs: [values for _ in pairs])
    (score,) = assay.compose(missing(tmp_path), runtime=runtime).score(["a"], ["b"])
    assert score.status == "nonfinite"
    assert score.logprobs == ()
    assert score.total != score.total  # NaN


def test_scores_must_be_as_many_as_pairs(tmp_path: Path) -> None:
    runtime = RuntimeConfig(logprobs_fn=lambda pairs: [[-1.0]])
    model = assay.compose(missing(tmp_path), runtime=runtime)
    with pytest.raises(ModelError, match="1 answers came back for 2"):
        model.score(["a", "b"], ["c", "d"])


def test_a_single_text_is_not_taken_for_a_list_of_letters(tmp_path: Path) -> None:
    runtime = RuntimeConfig(generate_fn=echo, chat_fn=reply, logprobs_fn=halves)
    model = assay.compose(missing(tmp_path), runtime=runtime)
    refused: list[AssayError] = []
    for ask in (
        lambda: model.generate("hello"),
        lambda: model.chat([{"role": "user", "content": "hello"}]),  # type: ignore[list-item]
        lambda: model.score("a", "b"),
        lambda: model.score(["a", "b"], ["c"]),
    ):
        with pytest.raises(ModelError) as caught:
            ask()
        refused.append(caught.value)
    assert all(error.fix for error in refused)
