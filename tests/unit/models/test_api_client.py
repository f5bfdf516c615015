"""The HTTP client: keys, waits, refusals, and replies that are not what they should be."""

from __future__ import annotations

import json
import sys
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from assay.core.capability import Capability
from assay.core.errors import ConfigError, ModelError
from assay.core.pins import ApiPin
from assay.core.spec import ModelSpec
from assay.core.validation import validated
from assay.grid.job import load_backend
from assay.models.backends import api_client
from assay.models.backends.api import ApiModel
from assay.models.backends.api_client import Client, Unanswered
from assay.models.backends.api_replies import (
    Malformed,
    complaint,
    is_too_long,
    parse,
    read_chat,
    read_completion,
    read_echo,
)
from assay.models.words import WordRenderer, plan_words
from assay.records.journal import Journal
from support.api_server import Counting, Refusal, Server, serving

KEY = "sk-very-secret-1234567890"
BODY = {"model": "m", "prompt": "one two", "max_tokens": 2, "temperature": 0}


def pin(url: str, **access: Any) -> ApiPin:
    value = {"base_url": url, "model": "m", "access": {"timeout_s": 2, "attempts": 3} | access}
    return ApiPin.model_validate_json(json.dumps(value))


def entry(**source: Any) -> dict[str, Any]:
    whole = {"kind": "api", "base_url": "http://127.0.0.1:1/v1", "model": "m"} | source
    return {"key": "m", "family": "f", "licence": "none", "source": whole}


class Refusing(Counting):
    """Refuses everything, and repeats the key that it was sent."""

    status = 401

    def __call__(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(self.status, f"Incorrect API key provided: {KEY}")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"base_url": f"https://me:{KEY}@host/v1"}, "a base URL holds no user, key or query"),
        ({"base_url": f"https://host/v1?key={KEY}"}, "a base URL holds no user, key or query"),
        ({"base_url": "host/v1"}, "begins with http:// or https://"),
        ({"base_url": "http://host:99999/v1"}, "Port out of range"),
        ({"access": {"key_env": KEY}}, "name an environment variable in capitals"),
        ({"extra": {"api_key": KEY}}, "a key is no field of a request"),
        ({"extra": {"temperature": 1}}, "temperature is set by Assay"),
    ],
)
def test_an_entry_is_refused_without_showing_a_key(source: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        validated(ModelSpec, entry(**source), where="run.yaml", inside="define.models.m")
    assert KEY not in str(caught.value)


def test_how_a_server_may_be_asked_is_no_identity() -> None:
    plain = validated(ModelSpec, entry(), where="")
    tuned = validated(ModelSpec, entry(access={"key_env": "MY_KEY", "concurrency": 2}), where="")
    other = validated(ModelSpec, entry(model="n"), where="")
    assert plain.identity() == tuned.identity() != other.identity()
    assert "MY_KEY" not in json.dumps(tuned.identity())


def test_a_missing_key_is_named_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAY_TEST_KEY", raising=False)
    with serving(Server(Counting())) as server:
        with pytest.raises(ModelError, match="ASSAY_TEST_KEY does not hold a key"):
            Client(pin(server.url, key_env="ASSAY_TEST_KEY"), tmp_path / "replies")
    assert server.number == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_the_key_is_sent_and_kept_nowhere(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_TEST_KEY", KEY)
    monkeypatch.setattr(api_client, "_BACKOFF", lambda state: 0.0)
    answers = Refusing()
    answers.status = status
    with serving(Server(answers)) as server:
        client = Client(pin(server.url, key_env="ASSAY_TEST_KEY"), tmp_path / "replies")
        with pytest.raises((ModelError, Unanswered)) as caught:
            client.ask("a", "completions", BODY, read_completion)
        server.answer = Counting()
        client.ask("a", "completions", BODY, read_completion)
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    said = str(caught.value) + "".join(capfd.readouterr())
    assert KEY not in said + (tmp_path / "replies").read_text()
    assert str(status) in said


def test_a_key_that_a_reply_repeats_is_cut_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Parrot(Counting):
        def __call__(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
            return super().__call__(path, body) | {"system_fingerprint": KEY}

    monkeypatch.setenv("ASSAY_TEST_KEY", KEY)
    with serving(Server(Parrot())) as server:
        client = Client(pin(server.url, key_env="ASSAY_TEST_KEY"), tmp_path / "replies")
        client.ask("a", "completions", BODY, read_completion)
    (kept,) = Journal(tmp_path / "replies")
    assert kept["reply"]["system_fingerprint"] == "[key]"


def test_what_refuses_everything_ends_the_job_at_once(tmp_path: Path) -> None:
    spec = validated(ModelSpec, entry(), where="")
    words = WordRenderer(spec).render_chat([{"role": "user", "content": "one"}]).words
    from assay.core.model import Request

    (batch,) = plan_words([Request(f"r{n}", "g", (), words=words) for n in range(200)])
    with serving(Server(Refusing())) as server:
        spec = validated(ModelSpec, entry(base_url=server.url), where="")
        model = ApiModel.connect(spec, tmp_path / "replies", needed={Capability.GENERATE})
        with pytest.raises(ModelError, match=r"refuses every request \(HTTP 401\)"):
            model.execute(batch, max_new_tokens=2)
    assert server.number <= 3 * spec.source.access.concurrency  # type: ignore[union-attr]


def test_a_server_is_waited_for_as_long_as_it_asks() -> None:
    assert api_client._asked_wait("7") == 7
    assert api_client._asked_wait(formatdate(time.time() + 30)) == pytest.approx(30, abs=2)
    assert api_client._asked_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert api_client._asked_wait("soon") is None


def test_a_wait_that_is_too_long_counts_as_no_answer(tmp_path: Path) -> None:
    with serving(Server(Counting())) as server:
        client = Client(pin(server.url), tmp_path / "replies")
        failure = client._failure(429, api_client.httpx2.Headers({"Retry-After": "3600"}), "")
    assert str(failure) == "HTTP 429: the server asks to wait 3600 s"


def test_waits_grow_and_differ() -> None:
    class State:
        outcome = None

        def __init__(self, attempt: int):
            self.attempt_number = attempt

    waits = [[api_client._wait(State(n)) for _ in range(200)] for n in (1, 3, 9)]  # type: ignore[arg-type]
    assert [max(some) for some in waits] == sorted(max(some) for some in waits)
    assert max(waits[-1]) <= 30
    assert len(set(waits[0])) > 100, "threads that failed together do not come back together"


def test_a_credit_that_is_used_up_is_no_passing_failure(tmp_path: Path) -> None:
    client = Client(pin("http://127.0.0.1:1/v1"), tmp_path / "replies")
    text = '{"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}'
    failure = client._failure(429, api_client.httpx2.Headers({}), text)
    assert isinstance(failure, ModelError)
    assert "You exceeded your quota" in str(failure)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("assay.models.backends.api")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    spec = validated(ModelSpec, entry(), where="").model_dump(mode="json")
    parameters = json.dumps({"model": spec})
    with pytest.raises(ModelError, match=r"needs the package httpx2.*assay\[api\]"):
        load_backend(parameters, None, out=tmp_path, device="cpu", threads=1, gpus=None)


def test_nobody_listening_is_a_clear_failure(tmp_path: Path) -> None:
    client = Client(pin("http://127.0.0.1:9/v1", attempts=1), tmp_path / "replies")
    with pytest.raises(Unanswered, match="ConnectError"):
        client.ask("a", "completions", BODY, read_completion)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 1024 tokens. However, you requested 1100 tokens",
        "the request exceeds the available context size, try increasing it",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        "Input validation error: inputs must have less than 1024 tokens: prompt is too long",
    ],
)
def test_servers_say_too_long_in_many_ways(message: str) -> None:
    assert is_too_long(message)
    assert not is_too_long("HTTP 400: max_tokens must be at least 1")


def test_a_complaint_is_short_whatever_its_form() -> None:
    assert complaint('{"error": {"message": "no such model"}}') == "no such model"
    assert complaint('{"error": "slow"}') == "slow"
    assert complaint('{"detail": [{"msg": "bad"}]}') == "[{'msg': 'bad'}]"
    assert complaint("<html>\n  Bad Gateway </html>") == "<html> Bad Gateway </html>"
    assert len(complaint("x" * 5000)) == 200


def chat(message: Any, finish: Any = "stop") -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "B"}, "B"),
        ({"content": None}, ""),
        ({"content": None, "refusal": "I cannot."}, "I cannot."),
        ({"content": "B", "reasoning_content": "Hm."}, "<think>Hm.</think>B"),
        ({"content": None, "reasoning": "Hm, A or"}, "<think>Hm, A or"),
    ],
)
def test_thoughts_and_refusals_are_part_of_what_was_said(message: Any, text: str) -> None:
    assert read_chat(chat(message)).text == text


def test_why_an_answer_ended() -> None:
    reasons = ("stop", "length", "content_filter", "tool_calls")
    ends = [read_chat(chat({"content": ""}, reason)).finish for reason in reasons]
    assert ends == ["eos", "length", "eos", "eos"]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": None},
        {"choices": "x"},
        {"choices": ["x"]},
        {"choices": [{"finish_reason": "stop"}]},
        chat({"content": ["B"]}),
        chat({"content": "B"}, None),
    ],
)
def test_a_reply_that_lacks_something_is_none(reply: Any) -> None:
    with pytest.raises(Malformed):
        read_chat(reply)


@pytest.mark.parametrize(
    ("tokens", "values", "count"),
    [
        (["a", "b"], [None], 1),
        (["a", "b"], [None, -1.0], 3),
        (["a", "b", "c", "d"], [None, -1.0, -1.0, -1.0], 2),
        (["a", "b"], [None, "x"], 2),
        (["a", "b"], [None, -1.0], None),
    ],
)
def test_an_echo_with_wrong_counts_is_none(tokens: Any, values: Any, count: Any) -> None:
    listed = {"logprobs": {"tokens": tokens, "token_logprobs": values}}
    with pytest.raises(Malformed):
        read_echo({"choices": [listed], "usage": {"prompt_tokens": count}})


def test_infinities_and_nan_are_read_and_kept(tmp_path: Path) -> None:
    reply = parse('{"choices": [{"logprobs": {"tokens": ["a", "b", "c"], "token_logprobs":'
                  ' [null, -Infinity, NaN]}}], "usage": {"prompt_tokens": 3}}')  # fmt: skip
    first, second, third = read_echo(reply).logprobs
    assert first is None
    assert second == float("-inf")
    assert third != third
    Journal(tmp_path / "replies").append([{"key": "k", "reply": reply}])


def test_half_an_emoji_is_text_that_can_be_kept(tmp_path: Path) -> None:
    cut, whole = (
        parse(json.dumps(chat({"content": text}))) for text in ("B \ud83d", "B \N{GRINNING FACE}")
    )
    assert read_chat(cut).text == "B \N{REPLACEMENT CHARACTER}"
    assert read_chat(whole).text == "B \N{GRINNING FACE}"
    Journal(tmp_path / "replies").append([{"key": "k", "reply": cut}])


def test_a_failure_with_status_200_says_why() -> None:
    with pytest.raises(Malformed, match="the server says: upstream is busy"):
        read_chat({"error": {"message": "upstream is busy"}})


def test_a_kept_reply_that_can_no_longer_be_read_is_asked_anew(tmp_path: Path) -> None:
    with serving(Server(Counting())) as server:
        for _ in range(2):
            Client(pin(server.url), tmp_path / "replies").ask("a", "completions", BODY, dict)
        assert server.number == 1
        client = Client(pin(server.url), tmp_path / "replies")
        with pytest.raises(Unanswered):
            client.ask("a", "completions", BODY, read_chat)
    assert server.number == 1 + 3


def test_conversations_that_read_alike_have_different_digests() -> None:
    renderer = WordRenderer(validated(ModelSpec, entry(), where=""))
    one = renderer.render_chat([{"role": "user", "content": "system: x\n\nuser: y"}])
    two = renderer.render_chat(
        [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]
    )
    assert one.text == two.text
    assert one.sha256 != two.sha256


def test_no_option_is_scored_after_a_conversation() -> None:
    renderer = WordRenderer(validated(ModelSpec, entry(), where=""))
    renderer.render_chat([{"role": "user", "content": "A or B?"}])
    with pytest.raises(ModelError, match="cannot be scored after a conversation"):
        renderer.encode_pair("A or B?", " A")
