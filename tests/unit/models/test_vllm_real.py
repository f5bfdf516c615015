"""A real vLLM engine on real items, beside the transformers runtime."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from assay.core.model import Outcome, Request
from assay.models.backends.hf_local import HFLocal, _end_tokens
from assay.models.plan import plan_batches
from assay.models.render import Renderer
from support.embedded import embedded

pytestmark = [pytest.mark.slow, pytest.mark.model]

NEW = 8
#: Nats between the two runtimes on one token, in float32 (4.2e-5 measured).
BOUND = 2e-4


@pytest.fixture(scope="session")
def vllm_python() -> Path:
    """Return the Python of the vLLM environment; skip where there is none."""
    named = os.environ.get("ASSAY_VLLM_PYTHON")
    if not named or not Path(named).is_file():
        pytest.skip("no vLLM environment is at hand (set ASSAY_VLLM_PYTHON to its python)")
    return Path(named)


def questions(renderer: Renderer, items: Sequence[dict[str, Any]]) -> list[Request]:
    """Ask for letters in two orders, and score options and labels."""
    requests: list[Request] = []
    for item in items:
        name, options = item["id"], item["options"]
        stem = f"Question: {item['question']}\n"
        for order in ("0123", "3210"):
            lines = "\n".join(f"{x}. {options[int(n)]}" for x, n in zip("ABCD", order, strict=True))
            turn = {"role": "user", "content": f"{stem}{lines}\nAnswer with the letter only:"}
            ids = renderer.render_chat([turn]).token_ids
            requests.append(Request(f"{name}/gen/{order}", name, ids))
            for n, label in enumerate("ABCD"):
                pair = renderer.encode_pair(f"{stem}{lines}\nAnswer:", f" {label}")
                assert len(pair.continuation_ids) == 1
                place = f"{name}/label/{order}"
                requests.append(
                    Request(f"{place}/{n}", name, pair.context_ids, pair.continuation_ids)
                )
        for n, option in enumerate(options):
            pair = renderer.encode_pair(f"{stem}Answer:", f" {option}")
            requests.append(
                Request(f"{name}/ll/{n}", name, pair.context_ids, pair.continuation_ids)
            )
    return requests


class Both:
    """The same requests answered by both runtimes."""

    def __init__(self, requests: list[Request], ours: dict[str, Outcome], found: dict[str, Any]):
        self.requests, self.ours, self.found = requests, ours, found


@pytest.fixture(scope="session")
def both(
    vllm_python: Path,
    project: Path,
    assay_cache: Path,
    real_items: Callable[[str, int], list[dict[str, Any]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Both:
    spec, files = embedded(project, assay_cache)
    renderer = Renderer(files.folder, spec)
    items = real_items("arc_challenge.full.jsonl.gz", 4) + real_items("mmlu.full.jsonl.gz", 2)
    requests = questions(renderer, items)
    runtime = HFLocal.load(files.folder, spec, dtype="float32", device="cpu", threads=2)
    plan = plan_batches(requests, token_budget=2048, new_tokens=NEW)
    ours = {o.id: o for batch in plan for o in runtime.execute(batch, max_new_tokens=NEW)}
    folder = tmp_path_factory.mktemp("vllm")
    asked = {
        "spec": spec.model_dump(mode="json"),
        "folder": str(files.folder),
        "vocabulary": runtime.module.config.get_text_config(decoder=True).vocab_size,
        "positions": renderer.max_length,
        "requests": [asdict(request) for request in requests],
    }
    (folder / "questions.json").write_text(json.dumps(asked), "utf-8")
    subprocess.run(
        [
            vllm_python,
            project / "tests/support/vllm_session.py",
            folder / "questions.json",
            folder / "answers.json",
        ],
        env=os.environ | {"PYTHONPATH": str(project / "src"), "HF_HUB_OFFLINE": "1"},
        check=True,
        timeout=900,
    )
    found = json.loads((folder / "answers.json").read_text("utf-8"))
    assert found["end"] == sorted(_end_tokens(runtime._model))
    return Both(requests, ours, found)


def test_scores_are_those_of_hf_local(
    both: Both, record_property: Callable[[str, object], None]
) -> None:
    apart = 0.0
    for request in both.requests:
        theirs = both.found["planned"][request.id]
        assert theirs["status"] == "ok", theirs
        if request.continuation is not None:
            ours = both.ours[request.id].logprobs
            pairs = zip(ours, theirs["logprobs"], strict=True)
            apart = max(apart, *(abs(x - y) for x, y in pairs))
    record_property("largest_difference", apart)
    print(f"largest difference of one token: {apart:.2e} nats")
    assert apart < BOUND


def test_texts_are_those_of_hf_local(both: Both) -> None:
    asked = [request.id for request in both.requests if request.continuation is None]
    theirs = both.found["planned"]
    ours = {name: (list(both.ours[name].token_ids), both.ours[name].finish) for name in asked}
    assert {name: (theirs[name]["token_ids"], theirs[name]["finish"]) for name in asked} == ours
    assert {finish for _, finish in ours.values()} == {"eos", "length"}


def test_every_request_is_answered_once_in_any_order(both: Both) -> None:
    """Scores before generations, few at a time, shuffled: nothing but the last digits moves."""
    planned, shuffled = both.found["planned"], both.found["shuffled"]
    assert set(planned) == set(shuffled) == {request.id for request in both.requests}
    for name, outcome in planned.items():
        again = shuffled[name]
        assert again["token_ids"] == outcome["token_ids"]
        assert again["logprobs"] == pytest.approx(outcome["logprobs"], abs=BOUND)
    assert 0 <= both.found["stats"]["order_difference"] < BOUND


def test_the_prefix_cache_is_used(both: Both) -> None:
    stats = both.found["stats"]
    print(f"{stats['forwarded_tokens']} of {stats['prompt_tokens']} prompt tokens forwarded")
    assert stats["forwarded_tokens"] < 0.8 * stats["prompt_tokens"]


def test_what_cannot_be_asked_is_named_and_the_rest_answered(both: Both) -> None:
    outside, long, sound = both.found["odd"]
    assert (outside["status"], long["status"]) == ("backend_error", "too_long")
    assert "outside the model's" in outside["detail"]
    assert sound["status"] == "ok"


def test_a_request_that_fills_every_position_is_answered(both: Both) -> None:
    assert both.found["positions"] == 8192
    assert both.found["full"]["status"] == "ok"
    assert len(both.found["full"]["logprobs"]) == 2


def test_a_killed_engine_is_replaced_and_nothing_is_lost(both: Both) -> None:
    killed = {outcome["id"]: outcome for outcome in both.found["killed"]}
    first = {r.id for r in both.requests if r.continuation is None}
    assert set(killed) == first
    assert {o["status"] for o in killed.values()} == {"ok"}
    assert all(
        killed[name]["token_ids"] == both.found["planned"][name]["token_ids"] for name in first
    )
    assert both.found["restarts"] == 1
