"""A shard from a server: whatever goes wrong on the way, the records are those of a quiet day."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.core.capability import CapabilityError
from assay.core.errors import ModelError
from assay.core.identity import canonical_json
from assay.grid.job import REPLIES
from assay.models.backends import api_client
from assay.records.journal import Journal
from assay.records.schema import Record
from assay.records.shard import read_shard
from support.api_jobs import GENERATION, api_job, run
from support.api_server import FAULTS, Counting, Server, serving

SHARD = ("records.jsonl", "prompts.parquet")


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults are many and all answered at once; how long a repeat waits has its own test."""
    monkeypatch.setattr(api_client, "_BACKOFF", lambda state: 0.01)
    monkeypatch.setattr(api_client, "_JITTER", lambda state: 0.0)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], Counter[str]]:
    """Return the files of an undisturbed shard, and every request that it took."""
    folder = tmp_path_factory.mktemp("quiet")
    with serving(Server(Counting())) as server:
        run(api_job(server.url, 20), folder)
    return files(folder), requests(server)


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SHARD}


def requests(server: Server) -> Counter[str]:
    return Counter(canonical_json([path, body]) for path, body in server.asked)


def records(folder: Path) -> list[Record]:
    return list(read_shard(folder).records())


def test_nothing_is_lost_or_doubled_under_faults(
    quiet: tuple[dict[str, bytes], Counter[str]], tmp_path: Path
) -> None:
    # Every third request fails, each kind of fault in its turn; the probe goes through.
    kinds = itertools.cycle(FAULTS)

    def fault(number: int, tries: int) -> str:
        return next(kinds) if number >= 2 and number % 3 == 0 and tries < 4 else "ok"

    with serving(Server(Counting(), fault)) as server:
        manifest = run(api_job(server.url, 20), tmp_path)
    assert set(server.faults) == {"ok", *FAULTS}
    undisturbed, asked = quiet
    assert files(tmp_path) == undisturbed
    # Every request was answered once, and none twice.
    assert requests(server) == asked
    injected = sum(count for kind, count in server.faults.items() if kind != "ok")
    backend = manifest.run["backend"]
    assert backend["retries"] == injected
    assert backend["requests"] == server.number
    assert backend["usage"]["replies"] == sum(asked.values()) - 2


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_survived(kind: str, tmp_path: Path) -> None:
    with serving(
        Server(Counting(), lambda n, tries: kind if n % 4 == 1 and tries < 4 else "ok")
    ) as server:
        job = api_job(server.url, 2, grid=GENERATION, timeout_s=0.6)
        run(job, tmp_path)
    assert server.faults[kind] >= 2
    seen = [o for record in records(tmp_path) for o in record.observations.values()]
    assert len(seen) == 8
    assert all(o.text and o.new_tokens and o.prompt_tokens for o in seen)


def test_what_never_gets_an_answer_is_missing_and_asked_again(tmp_path: Path) -> None:
    broken = "What is 1 plus 1?"

    class Sometimes(Counting):
        def __call__(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
            reply = super().__call__(path, body)
            if broken in canonical_json(body) and self.usage:
                reply["choices"] = []
            return reply

    answers = Sometimes()
    with serving(Server(answers)) as server:
        job = api_job(server.url, 3, grid=GENERATION, attempts=2)
        with pytest.raises(ModelError, match="4 observations are missing"):
            run(job, tmp_path)
        assert not (tmp_path / "manifest.json").exists()
        manifest = run(job, tmp_path, keep_missing=True)
        lost = [o for r in records(tmp_path) for o in r.observations.values() if o.correct is None]
        assert {(o.status, o.detail) for o in lost} == {
            ("backend_error", "unusable reply: 0 choices came back for one request")
        }
        assert manifest.run["observations_reused"] == 8
        answers.usage = False
        server.asked.clear()
        again = run(job, tmp_path)
        assert len(server.asked) == 4, "only what was missing is asked"
        assert not any("backend_error" in counts for counts in again.statuses.values())


def test_a_server_that_is_down_ends_the_job_and_keeps_what_it_said(tmp_path: Path) -> None:
    with serving(Server(Counting(), lambda n, _: "ok" if n < 10 else "503")) as server:
        job = api_job(server.url, 20, grid=GENERATION, attempts=2, concurrency=2)
        with pytest.raises(ModelError, match=r"20 requests in a row got no answer.*HTTP 503"):
            run(job, tmp_path)
        assert server.number < 10 + 2 * (20 + 2) + 4, "the rest was not asked"
        server.fault = lambda n, _: "ok"
        manifest = run(job, tmp_path)
    assert manifest.run["backend"]["reused"] == 10
    assert max(requests(server).values()) == 1


def test_a_prompt_that_does_not_fit_is_a_status_and_the_shard_goes_on(tmp_path: Path) -> None:
    with serving(Server(Counting(longest=15))) as server:
        manifest = run(api_job(server.url, 3), tmp_path)
    counts = manifest.statuses
    assert counts["gen|letter_plain|p0"] == {"too_long": 3}
    assert "too_long" not in counts["ll|cloze"]
    detail = records(tmp_path)[0].observations["gen|letter_plain|p0"].detail
    assert "maximum context length" in detail


@pytest.mark.parametrize(
    ("answers", "because"),
    [
        (Counting(logprobs=False), "gives none with its completions"),
        (Counting(shift=1), "shifted by one token"),
        (Counting(shift=3), "are not those of its tokens"),
        (Counting(usage=False), "gives none with its completions"),
    ],
)
def test_log_probabilities_that_do_not_prove_right_are_refused_before_an_item_is_asked(
    answers: Counting, because: str, tmp_path: Path
) -> None:
    with serving(Server(answers)) as server:
        with pytest.raises(CapabilityError, match=because) as caught:
            run(api_job(server.url, 2), tmp_path)
        assert server.number <= 2, "what is never given is not asked for again"
        assert "api where the server's echo proves right" in str(caught.value)
        assert "plus" not in canonical_json([body for _, body in server.asked])
        # Without likelihood configurations there is nothing to prove.
        manifest = run(api_job(server.url, 2, grid=GENERATION), tmp_path)
    assert manifest.rows == 2


def test_scores_are_those_of_the_continuation(tmp_path: Path) -> None:
    with serving(Server(Counting())) as server:
        run(api_job(server.url, 2), tmp_path)
    answers = Counting()
    for record in records(tmp_path):
        scores = record.observations["ll|cloze"].scores
        assert scores is not None
        for option, total in zip(record.options, scores.sum, strict=True):
            body = {"model": "", "prompt": f"{record.question} {option}", "max_tokens": 1}
            listed = answers("completions", body | {"echo": True, "logprobs": 1})["choices"][0]
            words = len(option.split())
            values = listed["logprobs"]["token_logprobs"][:-1][-words:]
            assert total == pytest.approx(sum(values))


def test_a_merged_boundary_is_flagged(tmp_path: Path) -> None:
    glued = json.loads(json.dumps(api_job("http://x", 1).grid.model_dump()))
    glued["likelihood"]["formats"]["cloze"]["continuation"] = "{option}"
    with serving(Server(Counting())) as server:
        run(api_job(server.url, 2, grid=glued), tmp_path)
    for record in records(tmp_path):
        assert record.observations["ll|cloze"].flags == ("boundary",)
        assert record.observations["gen|letter_plain|p0"].flags == ()


def test_a_killed_job_goes_on_where_it_was(
    quiet: tuple[dict[str, bytes], Counter[str]], tmp_path: Path, project: Path
) -> None:
    undisturbed, asked = quiet
    environment = os.environ | {"PYTHONPATH": f"{project / 'src'}:{project / 'tests'}"}
    with serving(Server(Counting(), delay=0.05)) as server:
        command = [sys.executable, "-m", "support.api_jobs", server.url, "20", str(tmp_path)]
        kept = 0
        for share in (0.2, 0.5):  # killed twice
            victim = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 30
            while len(server.asked) < share * sum(asked.values()):
                assert time.monotonic() < deadline
                assert victim.poll() is None
                time.sleep(0.005)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            before, kept = kept, len(Journal(tmp_path / REPLIES))
            assert kept > before
        time.sleep(0.2)  # what the server still answers to nobody
        server.asked.clear()
        server.delay = 0.0
        manifest = run(api_job(server.url, 20), tmp_path)
    assert files(tmp_path) == undisturbed
    # What was on disk is not asked, and not paid for, again.
    probe = 2
    assert len(server.asked) == sum(asked.values()) - kept
    assert manifest.run["backend"]["usage"]["replies"] == sum(asked.values()) - probe


def test_requests_are_concurrent_up_to_the_limit(tmp_path: Path) -> None:
    with serving(Server(Counting(), delay=0.2)) as server:
        run(api_job(server.url, 5, grid=GENERATION, concurrency=5), tmp_path)
    assert server.most_at_once == 5


def test_tokens_and_cost_are_recorded(tmp_path: Path) -> None:
    prices = {"usd_per_million_prompt_tokens": 2.0, "usd_per_million_new_tokens": 10.0}
    with serving(Server(Counting())) as server:
        manifest = run(api_job(server.url, 2, **prices), tmp_path)
    usage = manifest.run["backend"]["usage"]
    seen = [o for r in records(tmp_path) for o in r.observations.values() if o.text is not None]
    new = sum(o.new_tokens or 0 for o in seen)
    scored = 2 * (1 + 4)
    assert usage["new_tokens"] == new + scored
    assert usage["usd"] == pytest.approx((usage["prompt_tokens"] * 2 + (new + scored) * 10) / 1e6)
    assert usage["served"] == ("words-1 fp1",)
    assert manifest.provenance["thinking"] == "unseen"
    assert manifest.provenance["tokens"] == {}


def test_what_is_sent_is_what_the_entry_says(tmp_path: Path) -> None:
    with serving(Server(Counting())) as server:
        job = api_job(server.url, 1, grid=GENERATION)
        assert job.spec.served is not None
        extra = {"reasoning_effort": "none", "seed": 7}
        changes = {"extra": extra, "limit_field": "max_completion_tokens"}
        source = job.spec.served.model_copy(update=changes)
        flags = {"source": source, "template_arguments": {"enable_thinking": False}}
        run(replace(job, spec=job.spec.model_copy(update=flags)), tmp_path)
    (question,) = {record.question for record in records(tmp_path)}
    assert len(server.asked) == 4
    for path, body in server.asked:
        (turn,) = body.pop("messages")
        assert turn["role"] == "user"
        assert turn["content"].startswith(f"Question: {question}\n")
        assert (path, body) == (
            "chat/completions",
            {
                "model": "words-1",
                "max_completion_tokens": 4,
                "temperature": 0,
                "stream": False,
                "chat_template_kwargs": {"enable_thinking": False},
                **extra,
            },
        )


def test_a_base_model_continues_plain_text(tmp_path: Path) -> None:
    with serving(Server(Counting())) as server:
        job = api_job(server.url, 1, grid=GENERATION)
        run(replace(job, spec=job.spec.model_copy(update={"chat": "plain"})), tmp_path)
    (record,) = records(tmp_path)
    prompts = read_shard(tmp_path).prompts()
    sent = {body["prompt"]: path for path, body in server.asked}
    assert set(sent.values()) == {"completions"}
    assert set(sent) == {prompts[record.item_id, key] for key in record.observations}
    assert all(o.text and o.text.startswith(" ") for o in record.observations.values())


def test_the_same_words_are_asked_once_for_each_observation(tmp_path: Path) -> None:
    # Two formats that read alike are two observations: one answer never stands for both.
    twice = json.loads(json.dumps(GENERATION))
    twice["generation"]["formats"]["copy"] = twice["generation"]["formats"]["letter_plain"]
    with serving(Server(Counting())) as server:
        run(api_job(server.url, 1, grid=twice), tmp_path)
    assert sorted(requests(server).values()) == [1, 1, 2, 2]
