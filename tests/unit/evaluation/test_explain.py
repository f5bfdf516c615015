"""The optional explanation, by a real server on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError, EvaluationError, ModelError
from assay.evaluation.evidence import build_prompt, redact
from assay.evaluation.explain import explain
from assay.evaluation.llm import LLM
from support.api_server import Refusal, Server, serving

KEY = "sk-very-secret-1234567890"
REPORT = {
    "cycleId": "c1",
    "inputs": [{"path": "never shown"}],
    "diagnosis": {
        "overall": {"attempts": 20},
        "taskTable": [{"taskId": "never shown"}],
        "weakCapabilities": [{"capability": f"tag-{n:02}", "note": "x" * 60} for n in range(40)],
    },
    "decisions": [{"hypothesisId": "H1", "decision": "deploy"}],
}


class Explains:
    """Answers in either protocol, and remembers what it was asked."""

    def __call__(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "responses":
            part = {"type": "output_text", "text": "Deploy **nothing**."}
            output = [{"type": "reasoning"}, {"type": "message", "content": [part]}]
            return {"output": output, "usage": {"total_tokens": 9}}
        return {"choices": [{"message": {"content": "Deploy **nothing**."}}]}


class Refuses:
    """Refuses and repeats the key."""

    def __call__(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(401, f"Incorrect API key provided: {KEY}")


def llm(url: str, path: str = "responses", **more: Any) -> LLM:
    return LLM(endpoint=f"{url}/{path}", model="m", api_key_env="LLM_KEY", timeout_sec=2, **more)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_KEY", KEY)


@pytest.mark.parametrize("path", ["responses", "chat/completions"])
def test_an_answer_is_kept_beside_the_report(tmp_path: Path, path: str) -> None:
    prompt = build_prompt(REPORT, max_tokens=9000)
    with serving(Server(Explains())) as server:
        chosen = llm(server.url, path, headers={"X-Team": "a"}, request={"seed": 7})
        files = explain(prompt, chosen, tmp_path)
    assert "Deploy **nothing**." in (tmp_path / "llm-analysis.md").read_text()
    facts = json.loads((tmp_path / "llm-analysis.json").read_text())
    assert facts["model"] == "m"
    assert sorted(files) == sorted(tmp_path.iterdir())
    ((asked, body),) = server.asked
    assert asked == path
    assert body["seed"] == 7
    assert prompt.text in json.dumps(body, ensure_ascii=False).encode().decode("unicode_escape")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["X-Team"] == "a"
    assert KEY not in "".join(path.read_text() for path in files)


def test_a_passing_fault_is_survived_and_a_lasting_one_is_named(tmp_path: Path) -> None:
    prompt = build_prompt(REPORT, max_tokens=9000)
    faults = {0: "429"}
    with serving(Server(Explains(), fault=lambda n, _: faults.get(n, "ok"))) as server:
        explain(prompt, llm(server.url), tmp_path / "a")
        assert server.number == 2
    with (
        serving(Server(Explains(), fault=lambda n, _: "no JSON")) as server,
        pytest.raises(EvaluationError, match="the report is complete without one"),
    ):
        explain(prompt, llm(server.url), tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_refused_key_is_named_and_not_shown(tmp_path: Path) -> None:
    prompt = build_prompt(REPORT, max_tokens=9000)
    with serving(Server(Refuses())) as server, pytest.raises(ModelError) as error:
        explain(prompt, llm(server.url), tmp_path)
    assert "401" in str(error.value)
    assert KEY not in str(error.value)


def test_a_missing_key_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLM_KEY")
    with pytest.raises(AssayError, match="LLM_KEY does not hold a key"):
        explain(build_prompt(REPORT, max_tokens=9000), llm("http://127.0.0.1:9/v1"), tmp_path)


@pytest.mark.parametrize("limit", [9000, 2500, 1000])
def test_the_evidence_keeps_its_limit_and_says_what_it_left_out(limit: int) -> None:
    prompt = build_prompt(REPORT, max_tokens=limit)
    assert len(prompt.text.encode()) <= limit
    shown = prompt.text.count('"tag-')
    assert shown + prompt.omitted.get("weakCapabilities", 0) == 40
    assert '"decision":"deploy"' in prompt.text
    assert "never shown" not in prompt.text


def test_a_limit_that_nothing_fits_is_refused() -> None:
    with pytest.raises(EvaluationError, match="raise llm.maxInputTokens"):
        build_prompt(REPORT, max_tokens=500)


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "hf_abcdefghijklmnop",
        "ghp_0123456789abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "Bearer abcdef1234567890",
        "password=hunter2hunter2",
        "ann@example.org",
        "/home/ann/project",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
    ],
)
def test_secrets_are_redacted_wherever_they_stand(secret: str) -> None:
    told = redact({"a": [f"see {secret} here"], f"key {secret}": 1})
    assert secret not in json.dumps(told)
    assert told["a"][0].startswith("see [redacted]")


def test_what_the_environment_keeps_secret_is_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_DB_PASSWORD", "correct horse battery")
    assert redact("say correct horse battery now") == "say [redacted] now"


def test_plain_figures_pass_unchanged() -> None:
    value = {"rate": 0.5, "tag": "input-validation", "n": None, "task": "a/b-c_1", "ok": True}
    assert redact(value) == value
