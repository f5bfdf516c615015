"""The vLLM runtime around a scripted engine: order, matching, refusals, death. No vLLM needed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import pytest

from assay.core.capability import Capability
from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome, Request
from assay.models.backends.engine_asks import Answer, Ask
from assay.models.backends.vllm_engine import EngineDied
from assay.models.backends.vllm_offline import MOST_RESTARTS, VLLMOffline

Fault = Callable[[list[tuple[str, Answer]]], list[tuple[str, Answer]]]


def logprob(prompt: Sequence[int], token: int) -> float:
    """Return a number that depends on the whole prompt, as a model's does."""
    return -float((sum((n + 1) * t for n, t in enumerate(prompt)) + 7 * token) % 89 + 1)


class Scripted:
    """An engine that answers out of order, dies at chosen prompts, or has a fault laid over it."""

    vocabulary, positions, end = 100, 30, frozenset({2})

    def __init__(self, *, poison: int | None = None, fault: Fault | None = None):
        self.poison, self.fault, self.dead = poison, fault, False
        self.closed = 0
        self.cache: set[tuple[int, ...]] = set()
        self.asked: list[list[str]] = []

    def answers(self, asks: Sequence[Ask], *, new_tokens: int) -> Iterator[tuple[str, Answer]]:
        self.asked.append([ask.id for ask in asks])
        found = [(ask.id, self.answer(ask, new_tokens)) for ask in asks]
        random.Random(len(asks)).shuffle(found)
        by_id = {ask.id: ask for ask in asks}
        for name, answer in self.fault(found) if self.fault else found:
            if name in by_id and self.poison in by_id[name].prompt:
                raise EngineDied("the engine's process ended.")
            yield name, answer

    def answer(self, ask: Ask, new_tokens: int) -> Answer:
        prompt = ask.prompt
        if not ask.next_tokens:
            said = tuple((sum(prompt) + n) % 50 + 3 for n in range(new_tokens))
            cached = len(prompt) - 1 if prompt in self.cache else 1
            self.cache.add(prompt)
            return Answer(said, (-1.0,) * new_tokens, cached=cached)
        inner = [logprob(prompt[:n], prompt[n]) for n in range(1, len(prompt))]
        return Answer(
            (1,),
            next_logprobs={token: logprob(prompt, token) for token in ask.next_tokens},
            prompt_logprobs=inner if ask.scores_prompt else (),
        )

    def forget(self) -> None:
        self.cache.clear()
        if self.dead:
            raise EngineDied("the engine's process ended.")

    def close(self) -> None:
        self.closed += 1


def runtime(**script: object) -> VLLMOffline:
    return VLLMOffline(lambda: Scripted(**script), dtype="float32", limit=40)  # type: ignore[arg-type]


SCORES = [Request(f"s{n}", "g", (5, n), (n % 7, n % 3, 9)[: n % 3 + 1]) for n in range(20)]
PROMPTS = [Request(f"p{n}", "g", (5, n)) for n in range(20)]


def ask(model: VLLMOffline, requests: Sequence[Request]) -> dict[str, Outcome]:
    kind = "generate" if requests[0].continuation is None else "score"
    batch = Batch("generate" if kind == "generate" else "score", tuple((r,) for r in requests))
    outcomes = model.execute(batch, max_new_tokens=3)
    assert [outcome.id for outcome in outcomes] == [request.id for request in requests]
    return {outcome.id: outcome for outcome in outcomes}


def test_answers_that_come_out_of_order_go_to_their_requests() -> None:
    model = runtime()
    for request, outcome in zip(SCORES, ask(model, SCORES).values(), strict=True):
        whole = request.context + (request.continuation or ())
        start = len(request.context)
        expected = tuple(logprob(whole[:n], whole[n]) for n in range(start, len(whole)))
        assert outcome.logprobs == expected
    for request, outcome in zip(PROMPTS, ask(model, PROMPTS).values(), strict=True):
        first = sum(request.context) % 50 + 3
        assert outcome.token_ids == (first, *((sum(request.context) + n) % 50 + 3 for n in (1, 2)))
    assert model.capabilities == {Capability.GENERATE, Capability.LOGPROBS}
    assert model.stats.new_tokens == 60
    assert model.stats.prompt_tokens - model.stats.forwarded_tokens == 20


def test_an_answer_left_out_is_an_error_of_its_request_only() -> None:
    found = ask(runtime(fault=lambda answers: answers[1:]), PROMPTS)
    assert sorted(o.status for o in found.values()) == ["backend_error"] + ["ok"] * 19


def test_an_answer_too_many_stops_the_job() -> None:
    with pytest.raises(ModelError, match="answered twice"):
        ask(runtime(fault=lambda answers: answers + answers[:1]), PROMPTS)
    with pytest.raises(ModelError, match="not asked"):
        ask(runtime(fault=lambda answers: [*answers, ("else", Answer((1,)))]), PROMPTS)


def test_no_room_and_no_such_token_are_refused_before_the_engine_sees_them() -> None:
    requests = [
        Request("fits", "g", (5,) * 28, (5, 5)),
        Request("cache", "g", (5,) * 29, (5, 5)),
        Request("model", "g", (5,) * 39, (5, 5)),
        Request("token", "g", (5, 100), (5,)),
        Request("last", "g", (5,), (100,)),
    ]
    found = ask(runtime(), requests)
    expected = ["ok", "oom", "too_long", "backend_error", "backend_error"]
    assert [outcome.status for outcome in found.values()] == expected
    assert ask(runtime(), [Request("g", "g", (5,) * 28)])["g"].status == "oom"
    assert ask(runtime(), [Request("g", "g", (5,) * 27)])["g"].status == "ok"


@pytest.mark.parametrize("requests", [PROMPTS, SCORES])
def test_a_request_that_kills_the_engine_is_found_and_the_rest_answered(
    requests: list[Request],
) -> None:
    model = runtime(poison=13)
    found = ask(model, requests)
    broken = [name for name, outcome in found.items() if outcome.status != "ok"]
    assert broken == [requests[13].id]
    assert found[broken[0]].status == "backend_error"
    assert "process ended" in found[broken[0]].detail
    assert 1 <= model.stats.restarts <= 5


def test_counts_do_not_depend_on_what_was_asked_before() -> None:
    model = runtime()
    long = [Request(f"l{n}", "g", (5, n, 7)) for n in range(4)]
    forwarded = []
    for _ in range(2):
        before = model.stats.forwarded_tokens
        ask(model, long)
        forwarded.append(model.stats.forwarded_tokens - before)
    assert forwarded == [8, 8]


def test_an_engine_that_dies_between_two_batches_is_replaced() -> None:
    engines: list[Scripted] = []

    def start() -> Scripted:
        engines.append(Scripted())
        return engines[-1]

    model = VLLMOffline(start, dtype="float32", limit=40)
    before = ask(model, PROMPTS)
    engines[0].dead = True
    assert ask(model, PROMPTS) == before
    assert (len(engines), engines[0].closed, model.stats.restarts) == (2, 1, 1)


def test_an_engine_that_always_dies_stops_the_job() -> None:
    model = runtime(poison=5)
    with pytest.raises(EngineDied, match="process ended"):
        ask(model, PROMPTS)
    assert model.stats.restarts == MOST_RESTARTS + 1


def test_scores_that_depend_on_the_order_are_not_believed() -> None:
    """The bug of vLLM 42019: a request's rows stem from the one before."""

    def stale(answers: list[tuple[str, Answer]]) -> list[tuple[str, Answer]]:
        rows = [answer for _, answer in answers]
        moved = [
            Answer(a.token_ids, next_logprobs=a.next_logprobs, prompt_logprobs=b.prompt_logprobs)
            if len(a.prompt_logprobs) == len(b.prompt_logprobs)
            else a
            for a, b in zip(rows, [rows[-1], *rows], strict=False)
        ]
        return [(name, answer) for (name, _), answer in zip(answers, moved, strict=True)]

    three = [Request(f"s{n}", "g", (5, n), (7, 8, 9)) for n in range(12)]
    with pytest.raises(ModelError, match="in another order"):
        ask(runtime(fault=stale), three)
    model = runtime()
    ask(model, three)
    assert model.stats.order_difference == 0.0


def test_the_order_is_checked_once_and_backwards() -> None:
    engine = Scripted()
    model = VLLMOffline(lambda: engine, dtype="float32", limit=None)
    ask(model, SCORES)
    ask(model, SCORES)
    assert [len(asked) for asked in engine.asked] == [20, 8, 20]
    several = [r.id for r in SCORES if len(r.continuation or ()) > 1]
    assert engine.asked[1] == several[:8][::-1]


def test_a_model_of_nans_gets_statuses_and_no_scores() -> None:
    def spoil(answers: list[tuple[str, Answer]]) -> list[tuple[str, Answer]]:
        nan = float("nan")
        return [
            (
                name,
                Answer(
                    answer.token_ids,
                    next_logprobs=dict.fromkeys(answer.next_logprobs or {}, nan),
                    prompt_logprobs=[nan for _ in answer.prompt_logprobs],
                ),
            )
            for name, answer in answers
        ]

    found = ask(runtime(fault=spoil), SCORES)
    assert {outcome.status for outcome in found.values()} == {"nonfinite"}
