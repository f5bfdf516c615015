from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ModelError
from assay.core.model import Batch, Request
from assay.models.backends.engine_asks import (
    MOST_NEXT,
    Answer,
    Ask,
    asks_of,
    outcomes_of,
    take,
)
from assay.models.backends.vllm_engine import answer_of

END = frozenset({2})


def batch(*requests: Request, kind: str = "score") -> Batch:
    return Batch("score" if kind == "score" else "generate", tuple((r,) for r in requests))


tokens = st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple)
scores = st.lists(st.tuples(tokens, tokens), min_size=1, max_size=20).map(
    lambda rows: [Request(f"r{n}", "g", *row) for n, row in enumerate(rows)]
)


@given(scores)
def test_every_score_is_asked_exactly_once(requests: list[Request]) -> None:
    asks = asks_of(batch(*requests))
    assert sorted(r.id for ask in asks for r in ask.members) == sorted(r.id for r in requests)
    assert len({ask.id for ask in asks}) == len(asks)
    for ask in asks:
        for request in ask.members:
            assert request.continuation is not None
            assert ask.prompt + request.continuation[-1:] == request.context + request.continuation
        assert ask.scores_prompt == (len(ask.members[0].continuation or ()) > 1)
        assert len(set(ask.next_tokens)) == len(ask.next_tokens) == len(ask.members)


def test_labels_of_one_context_are_one_ask_and_a_replicate_is_its_own() -> None:
    labels = [Request(f"{n}", "g", (1, 1), (n,)) for n in range(4)]
    again = Request("again", "g", (1, 1), (0,))
    other = Request("other", "g", (1, 2), (0,))
    asks = asks_of(batch(*labels, again, other))
    assert [[r.id for r in ask.members] for ask in asks] == [[*"0123"], ["again"], ["other"]]
    assert asks[0].next_tokens == (0, 1, 2, 3)


def test_an_ask_names_no_more_tokens_than_an_engine_takes() -> None:
    many = [Request(f"{n}", "g", (1,), (n,)) for n in range(MOST_NEXT + 5)]
    assert [len(ask.members) for ask in asks_of(batch(*many))] == [MOST_NEXT, 5]


def test_generations_are_never_merged() -> None:
    twins = [Request("a", "g", (1, 2)), Request("b", "g", (1, 2))]
    assert [ask.id for ask in asks_of(batch(*twins, kind="generate"))] == ["a", "b"]


def test_an_answer_that_was_not_asked_or_comes_twice_is_refused() -> None:
    found: dict[str, Answer] = {}
    take({"a"}, found, "a", Answer((1,)))
    with pytest.raises(ModelError, match="answered twice"):
        take({"a"}, found, "a", Answer((1,)))
    with pytest.raises(ModelError, match="b: the engine answered what was not asked"):
        take({"a"}, found, "b", Answer((1,)))


ONE = Request("one", "g", (5, 6), (7,))
THREE = Request("three", "g", (5, 6), (7, 8, 9))


def score(request: Request, answer: Answer) -> tuple[str, tuple[float, ...]]:
    (outcome,) = outcomes_of(Ask(request.id, request.context, (request,)), answer, limit=1, end=END)
    return outcome.status, outcome.logprobs


def test_a_continuation_is_read_from_prompt_and_next_token() -> None:
    answer = Answer((0,), next_logprobs={0: -9.0, 9: -3.0}, prompt_logprobs=(-8.0, -1.0, -2.0))
    assert score(THREE, answer) == ("ok", (-1.0, -2.0, -3.0))
    assert score(ONE, Answer((0,), next_logprobs={7: -0.5})) == ("ok", (-0.5,))


@pytest.mark.parametrize(
    "answer",
    [
        Answer((0,), next_logprobs={0: -1.0}, prompt_logprobs=(-8.0, -1.0, -2.0)),
        Answer((0,), next_logprobs={9: -1.0}, prompt_logprobs=(-1.0, -2.0)),
        Answer((0,), next_logprobs={9: -1.0}),
        Answer((0,)),
        Answer((), fault="refused by the engine"),
    ],
)
def test_a_missing_log_probability_is_an_error_and_no_guess(answer: Answer) -> None:
    assert score(THREE, answer) == ("backend_error", ())


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_numbers_that_are_not_finite_are_a_status(bad: float) -> None:
    assert score(ONE, Answer((0,), next_logprobs={7: bad}))[0] == "nonfinite"
    assert score(THREE, Answer((0,), next_logprobs={9: -1.0}, prompt_logprobs=(-1, bad, -1)))[
        0
    ] == ("nonfinite")
    (outcome,) = outcomes_of(
        Ask("g", (1,), (Request("g", "g", (1,)),)), Answer((4, 5), (-1.0, bad)), limit=2, end=END
    )
    assert outcome.status == "nonfinite"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((4, 2), ("ok", (4,), "eos")),
        ((2,), ("ok", (), "eos")),
        ((4, 5, 6), ("ok", (4, 5, 6), "length")),
        ((4, 5, 2), ("ok", (4, 5), "eos")),
        ((4,), ("backend_error", (), None)),
        ((), ("backend_error", (), None)),
    ],
)
def test_how_a_generation_ends(said: tuple[int, ...], expected: object) -> None:
    ask = Ask("g", (1,), (Request("g", "g", (1,)),))
    (outcome,) = outcomes_of(ask, Answer(said, (-0.5,) * len(said)), limit=3, end=END)
    assert (outcome.status, outcome.token_ids, outcome.finish) == expected


def output(prompt: list[int], scored: object, token_ids: list[int], positions: object) -> object:
    completion = SimpleNamespace(token_ids=token_ids, logprobs=positions)
    return SimpleNamespace(
        outputs=[completion],
        prompt_token_ids=prompt,
        prompt_logprobs=scored,
        num_cached_tokens=None,
    )


def entry(**logprobs: float) -> dict[int, SimpleNamespace]:
    return {int(name[1:]): SimpleNamespace(logprob=value) for name, value in logprobs.items()}


def test_reading_an_engine_output() -> None:
    """The shape that vLLM 0.32 returns: nothing for the first prompt token, the sampled first."""
    raw = output(
        [5, 6, 7], [None, entry(t6=-1.0), entry(t7=-2.0)], [34], [entry(t34=-3.3, t9=-9.0)]
    )
    answer = answer_of(raw)
    assert answer.prompt_logprobs == [-1.0, -2.0]
    assert answer.next_logprobs == {34: -3.3, 9: -9.0}
    assert (answer.token_ids, answer.chosen, answer.cached) == ((34,), (-3.3,), 0)


def test_a_row_of_another_request_in_an_engine_output_is_noticed() -> None:
    """A stale row names other tokens than the prompt's: too few are left, which is an error."""
    raw = output([5, 6, 7], [None, entry(t6=-1.0), entry(t8=-2.0)], [34], [entry(t34=-1, t9=-1)])
    assert score(Request("x", "g", (5, 6), (7, 9)), answer_of(raw))[0] == "backend_error"
