"""Planned answers equal one-at-a-time answers on small random models of many architectures."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from models_oracle import TINY, build, generate, largest_difference
from transformers import AutoModelForCausalLM

from assay.core.model import Batch, Outcome, Request
from assay.core.spec import ModelSpec
from assay.models.backends.hf_local import HFLocal
from assay.models.plan import plan_batches, token_counts

Tiny = Callable[[str], tuple[Path, ModelSpec]]
NEW = 6


def _shard(seed: int, *, longest: int) -> list[Request]:
    """Return items with shared stems of several lengths: generations and scorings."""
    chance = random.Random(seed)
    requests: list[Request] = []
    common = tuple(chance.randrange(3, 97) for _ in range(2))
    for item in range(5):
        stem = common + tuple(chance.randrange(3, 97) for _ in range(chance.randrange(1, longest)))
        for n in range(4):
            tail = tuple(chance.randrange(3, 97) for _ in range(chance.randrange(1, 9)))
            requests.append(Request(f"g{item}{n}", f"gen{item}", stem + tail))
            requests.append(Request(f"s{item}{n}", f"ll{item}", stem, tail))
    return requests


def ask(
    runtime: HFLocal, requests: Sequence[Request], *, budget: int, share: bool = True
) -> list[Outcome]:
    """Plan and execute."""
    plan = plan_batches(requests, token_budget=budget, new_tokens=NEW)
    if not share:
        plan = [Batch(batch.kind, tuple((r,) for r in batch.requests)) for batch in plan]
    return [o for batch in plan for o in runtime.execute(batch, max_new_tokens=NEW)]


#: Architectures that cannot run a trie: a soft cap needs eager attention, a state cannot branch.
WITHOUT_TRIES = {"gemma2_softcap", "recurrent"}


@pytest.mark.parametrize("name", sorted(TINY))
def test_which_architectures_take_tries(tiny: Tiny, name: str) -> None:
    """A trie forwards exactly the floor; padded rows forward more, or share nothing."""
    runtime = HFLocal.load(*tiny(name), dtype="float32", device="cpu")
    requests = _shard(7, longest=20)
    plan = plan_batches(requests, token_budget=400, new_tokens=NEW)
    for batch in plan:
        runtime.execute(batch, max_new_tokens=NEW)
    forwarded, planned = runtime.stats.forwarded_tokens, token_counts(requests, plan).planned
    assert forwarded > planned if name in WITHOUT_TRIES else forwarded == planned


def _eager(name: str) -> HFLocal:
    """Return a runtime whose model has its own attention, so that it runs padded rows."""
    model = build(TINY[name])
    model.set_attn_implementation("eager")
    return HFLocal(model, limit=None)


@pytest.mark.parametrize("share", [True, False], ids=["shared", "unshared"])
@pytest.mark.parametrize("name", sorted(set(TINY) - WITHOUT_TRIES))
def test_padded_rows_equal_one_at_a_time(name: str, share: bool) -> None:
    requests = _shard(7, longest=20)
    outcomes = ask(_eager(name), requests, budget=150, share=share)
    _check(build(TINY[name]), requests, outcomes)


def _check(reference: Any, requests: Sequence[Request], outcomes: Sequence[Outcome]) -> None:
    assert [o.status for o in outcomes] == ["ok"] * len(requests)
    scored = [request for request in requests if request.continuation]
    assert largest_difference(reference, scored, outcomes) < 1e-4
    by_id = {outcome.id: outcome for outcome in outcomes}
    for request in requests:
        if request.continuation is None:
            assert by_id[request.id].token_ids == generate(reference, request, NEW, [2])


def test_an_architecture_that_ignores_the_trie_is_found_out() -> None:
    """A layer that drops what its attention is told makes the runtime fall back, and be right."""
    model = build(TINY["llama"])

    def forget(_: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return positional, {k: v for k, v in named.items() if k != "trie_layout"}

    model.model.layers[2].self_attn.register_forward_pre_hook(forget, with_kwargs=True)
    runtime = HFLocal(model, limit=None)
    requests = _shard(7, longest=20)
    outcomes = ask(runtime, requests, budget=150)
    _check(build(TINY["llama"]), requests, outcomes)
    assert runtime.stats.forwarded_tokens > token_counts(requests, []).floor


def _reference(folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()


@pytest.mark.parametrize("share", [True, False], ids=["shared", "unshared"])
@pytest.mark.parametrize("name", sorted(TINY))
def test_planned_equals_one_at_a_time(tiny: Tiny, name: str, share: bool) -> None:
    folder, spec = tiny(name)
    runtime = HFLocal.load(folder, spec, dtype="float32", device="cpu")
    reference = _reference(folder)
    requests = _shard(7, longest=20)
    outcomes = ask(runtime, requests, budget=150, share=share)
    _check(reference, requests, outcomes)


@pytest.mark.parametrize("name", ["llama", "gemma3_window"])
def test_request_order_changes_no_bit(tiny: Tiny, name: str) -> None:
    folder, spec = tiny(name)
    runtime = HFLocal.load(folder, spec, dtype="float32", device="cpu", threads=1)
    requests = _shard(8, longest=20)
    forwards = ask(runtime, requests, budget=150)
    assert ask(runtime, requests[::-1], budget=150) == forwards


def test_padded_rows_share_only_inside_a_window() -> None:
    """The padded rows above must cover both ways: with gaps inside rows, and without."""
    runtime = _eager("mistral_window")
    short = [Request(f"s{n}", "x", (5, 6, 7), (8, n)) for n in range(3, 6)]
    long = [Request(f"l{n}", "x", tuple(range(3, 20)), (8, n)) for n in range(3, 6)]
    ask(runtime, short, budget=99)
    assert runtime.stats.forwarded_tokens < runtime.stats.prompt_tokens
    runtime.stats.forwarded_tokens = runtime.stats.prompt_tokens = 0
    ask(runtime, long, budget=99)
    assert runtime.stats.forwarded_tokens == runtime.stats.prompt_tokens


def test_generations_end_at_any_of_the_end_tokens(tiny: Tiny) -> None:
    """Make a token that the model says anyway an end token: the answer stops before it."""
    folder, spec = tiny("llama")
    runtime = HFLocal.load(folder, spec, dtype="float32", device="cpu")
    requests = [r for r in _shard(9, longest=8) if r.continuation is None]
    free = {o.id: o for o in ask(runtime, requests, budget=150)}
    stop = free[requests[0].id].token_ids[2]
    model = build(TINY["llama"])
    model.generation_config.eos_token_id = [2, stop]
    ended = {o.id: o for o in ask(HFLocal(model, limit=None), requests, budget=150)}
    for request in requests:
        said = free[request.id].token_ids
        cut = said[: said.index(stop)] if stop in said else said
        assert ended[request.id].token_ids == cut
        finish = free[request.id].finish
        assert ended[request.id].finish == ("eos" if stop in said else finish)
    assert any(stop not in free[request.id].token_ids for request in requests)


def test_left_padding_changes_nothing(tiny: Tiny) -> None:
    """A short prompt beside a long one gets what it gets alone: positions count real tokens."""
    runtime = HFLocal.load(*tiny("qwen3"), dtype="float32", device="cpu")
    short = Request("short", "a", (5, 6), (7, 8, 9))
    long = Request("long", "b", tuple(range(3, 90)), (5,))
    (alone,) = ask(runtime, [short], budget=999)
    beside = {o.id: o for o in ask(runtime, [short, long], budget=999)}["short"]
    assert beside.logprobs == pytest.approx(alone.logprobs, abs=1e-5)


def test_a_prompt_without_room_is_too_long_and_never_cut(tiny: Tiny) -> None:
    folder, spec = tiny("llama")  # 256 positions
    runtime = HFLocal.load(folder, spec, dtype="float32", device="cpu")
    ids = tuple(3 + n % 90 for n in range(256))
    requests = [
        Request("fits", "a", ids[: 256 - NEW]),
        Request("long", "a", ids[: 257 - NEW]),
        Request("fits too", "b", ids[:250], ids[250:]),
        Request("long too", "b", ids, (3,)),
    ]
    by_id = {o.id: o for o in ask(runtime, requests, budget=2000)}
    assert {key: o.status for key, o in by_id.items()} == {
        "fits": "ok",
        "fits too": "ok",
        "long": "too_long",
        "long too": "too_long",
    }
    assert by_id["long"].token_ids == () == by_id["long too"].logprobs


def test_weights_that_are_not_numbers_give_nonfinite_and_no_score(tiny: Tiny) -> None:
    model = build(TINY["llama"])
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight[0, 0] = float("nan")
    requests = _shard(10, longest=8)
    outcomes = ask(HFLocal(model, limit=None), requests, budget=150)
    assert {o.status for o in outcomes} == {"nonfinite"}
    assert all(o.logprobs == () and o.token_ids == () for o in outcomes)


def test_one_bad_token_spoils_only_the_requests_that_hold_it(tiny: Tiny) -> None:
    model = build(TINY["llama"])
    with torch.no_grad():
        model.get_input_embeddings().weight[50] = float("nan")
        # Untied: the head stays sound, so that other requests can still be scored.
    requests = [
        Request("good", "a", (3, 4, 5), (6,)),
        Request("bad", "b", (3, 50, 5), (6,)),
        Request("bad tail", "a", (3, 4, 5), (50, 6)),
        Request("good words", "c", (3, 4, 5)),
        Request("bad words", "d", (50, 4)),
    ]
    by_id = {o.id: o.status for o in ask(HFLocal(model, limit=None), requests, budget=150)}
    assert {key for key, status in by_id.items() if status == "nonfinite"} == {
        "bad",
        "bad tail",
        "bad words",
    }


def test_bfloat16_runs_and_scores_are_float32(tiny: Tiny) -> None:
    folder, spec = tiny("llama")
    half = HFLocal.load(folder, spec, dtype="bfloat16", device="cpu")
    requests = [r for r in _shard(11, longest=12) if r.continuation]
    outcomes = ask(half, requests, budget=150)
    assert [o.status for o in outcomes] == ["ok"] * len(requests)
    assert 1e-5 < largest_difference(_reference(folder), requests, outcomes) < 1.0
    values = torch.tensor([v for o in outcomes for v in o.logprobs], dtype=torch.float64)
    assert (values != values.to(torch.bfloat16)).float().mean() > 0.9
