"""`assay.load` of a model behind a server: real HTTP on loopback."""

from __future__ import annotations

import json
import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import assay
from assay.core.capability import Capability, CapabilityError
from assay.core.errors import ConfigError, ModelError
from assay.core.pins import PathPin
from assay.core.spec import ModelSpec
from assay.models.runtime import RuntimeConfig
from support.api_server import Counting, Server, _logprob, _words, serving

TURN = {"role": "user", "content": "Which is a metal?"}


def test_a_roster_model_is_asked_where_it_is_served() -> None:
    with serving(Server(Counting())) as server:
        with assay.load("qwen3-8b", base_url=server.url, want={"logprobs"}) as model:
            assert model.capabilities == set(Capability)
            (said,) = model.chat([[TURN]], max_new_tokens=3)
            plain = model.generate(["one two", "three"], max_new_tokens=2)
            scores = model.score(["one two", "one two"], [" three four", " five"])
    sent = [(path, body) for path, body in server.asked if not body.get("echo")][-3:]
    assert {path for path, _ in sent} == {"chat/completions", "completions"}
    assert {body["model"] for _, body in sent} == {"Qwen/Qwen3-8B"}
    reference = Counting()
    for prompt, answer in zip(["one two", "three"], plain, strict=True):
        new, finish = reference._continue(_words(prompt), 2)
        assert answer.text == "".join(new)
        assert answer.finish == {"stop": "eos", "length": "length"}[finish]
    assert said.text
    assert said.prompt == TURN["content"]
    before = ["one", " two"]
    expected = (_logprob(before, " three"), _logprob([*before, " three"], " four"))
    assert scores[0].logprobs == pytest.approx(expected)
    assert scores[1].logprobs == pytest.approx([_logprob(before, " five")])


def test_log_probabilities_are_neither_proved_nor_given_unless_wanted() -> None:
    with serving(Server(Counting(logprobs=False))) as server:
        model = assay.load("smollm2-135m", backend="api", base_url=server.url, served_as="small")
        assert server.asked == []
        assert model.capabilities == {Capability.GENERATE}
        assert model.generate(["one"], max_new_tokens=1)[0].status == "ok"
        assert server.asked[0][1]["model"] == "small"
        with pytest.raises(CapabilityError, match="score needs logprobs"):
            model.score(["a"], [" b"])
        with pytest.raises(CapabilityError, match="load needs logprobs.*gives none"):
            assay.load("smollm2-135m", base_url=server.url, want={"logprobs"})


def test_shifted_log_probabilities_are_refused() -> None:
    with serving(Server(Counting(shift=1))) as server:
        with pytest.raises(CapabilityError, match="load needs logprobs"):
            assay.load("smollm2-135m", base_url=server.url, want={"logprobs"})


def test_replies_are_kept_where_the_user_says(tmp_path: Path) -> None:
    runtime = RuntimeConfig(replies=tmp_path / "replies.jsonl")
    with serving(Server(Counting())) as server:
        for _ in range(2):
            with assay.load("smollm2-135m", base_url=server.url, runtime=runtime) as model:
                found = model.generate(["one", "two"], max_new_tokens=2)
        assert len(server.asked) == 2
        assay.load("smollm2-135m", base_url=server.url).generate(["one", "two"], max_new_tokens=2)
        assert len(server.asked) == 4
    assert [answer.status for answer in found] == ["ok", "ok"]


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Server(Counting())) as server:
        with pytest.raises(ModelError, match="SERVED_KEY"):
            assay.load("smollm2-135m", base_url=server.url, key_env="SERVED_KEY")
        monkeypatch.setenv("SERVED_KEY", "secret-7")
        model = assay.load("smollm2-135m", base_url=server.url, key_env="SERVED_KEY")
        model.generate(["one"], max_new_tokens=1)
        assert server.headers[-1]["Authorization"] == "Bearer secret-7"


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    source = PathPin(path=str(tmp_path / "not-there"))
    weights = ModelSpec(key="mine", family="none", source=source, licence="none")
    with pytest.raises(ModelError, match="the backend is api and the model is not behind a server"):
        assay.compose(weights, "api")
    with pytest.raises(ModelError, match="hf_local and the model is behind a server"):
        assay.load("qwen3-8b", backend="hf_local", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ConfigError, match="base_url"):
        assay.load("qwen3-8b", base_url="127.0.0.1:8000")
    with pytest.raises(ModelError, match="behind a server, where its parts"):
        assay.load("qwen3-8b", base_url="http://127.0.0.1:1/v1").anatomy()


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed here")
def test_a_runtime_that_is_not_installed_says_how_before_anything_is_fetched(
    tmp_path: Path,
) -> None:
    with pytest.raises(ModelError, match="needs the package vllm.*environment of its own"):
        assay.load("qwen3-8b", backend="vllm_offline", checkpoint=tmp_path / "gone")


#: What the vLLM environment is asked to do; its prints are compared with this process's own.
SESSION = """
import json, assay
runtime = assay.RuntimeConfig(token_budget=65536, device="cpu", threads=2)
if __name__ == "__main__":
    with assay.load("smollm2-135m", backend="vllm_offline", runtime=runtime) as model:
        said = model.generate(["The capital of France is"], max_new_tokens=4)
        scores = model.score(["The capital of France is"] * 2, [" Paris", " Rome is"])
        print("FOUND", json.dumps([[a.text for a in said], [list(s.logprobs) for s in scores]]))
"""


@pytest.mark.slow
@pytest.mark.model
def test_vllm_is_loaded_by_name_and_leaves_in_peace(assay_cache: Path, tmp_path: Path) -> None:
    named = os.environ.get("ASSAY_VLLM_PYTHON")
    if not named or not Path(named).is_file():
        pytest.skip("no vLLM environment is at hand (set ASSAY_VLLM_PYTHON to its python)")
    script = tmp_path / "session.py"
    script.write_text(SESSION, "utf-8")
    done = subprocess.run([named, script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "terminate called" not in done.stderr
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("FOUND ")]
    texts, scores = json.loads(line.removeprefix("FOUND "))
    model = assay.load("smollm2-135m", runtime=RuntimeConfig(device="cpu"))
    assert texts == [a.text for a in model.generate(["The capital of France is"], max_new_tokens=4)]
    ours = model.score(["The capital of France is"] * 2, [" Paris", " Rome is"])
    for own, theirs in zip(ours, scores, strict=True):
        assert theirs == pytest.approx(list(own.logprobs), abs=2e-4)
