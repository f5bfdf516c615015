"""Out of memory: the batch is halved down to one request, and only that one fails."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models_oracle import TINY, build, largest_difference

from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome, Request
from assay.core.spec import ModelSpec
from assay.models.backends.hf_local import HFLocal
from assay.models.backends.memory import is_out_of_memory

NEW = 4


def _limited(tokens: int, attention: str = "sdpa") -> Any:
    """Return a model that has no memory for more than `tokens` (rows × width) at once."""
    model = build(TINY["llama"])
    model.set_attn_implementation(attention)

    def guard(_: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
        if named["input_ids"].numel() > tokens:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    model.model.register_forward_pre_hook(guard, with_kwargs=True)
    return model


def _groups(kind: str) -> Batch:
    tail = (lambda n: None) if kind == "generate" else (lambda n: (7 + n, 8, 9))
    groups = tuple(
        tuple(Request(f"{g}{n}", str(g), (5 + g, 6, 7, 8, 20 + n), tail(n)) for n in range(4))
        for g in range(3)
    )
    return Batch(kind, groups)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["generate", "score"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"], ids=["trie", "rows"])
@pytest.mark.parametrize("tokens", [11, 9, 7])
def test_smaller_batches_give_the_same_answers(kind: str, attention: str, tokens: int) -> None:
    batch = _groups(kind)
    if (kind, attention) == ("generate", "eager"):
        # Rows run one group after the other, and only single requests together.
        batch = Batch("generate", tuple((request,) for request in batch.requests))
    whole = HFLocal(build(TINY["llama"]), limit=None)
    small = HFLocal(_limited(tokens, attention), limit=None)
    expected = whole.execute(batch, max_new_tokens=NEW)
    got = small.execute(batch, max_new_tokens=NEW)
    assert whole.stats.splits == 0 < small.stats.splits
    assert [(o.id, o.status, o.token_ids) for o in got] == [
        (o.id, o.status, o.token_ids) for o in expected
    ]
    if kind == "score":
        assert largest_difference(build(TINY["llama"]), batch.requests, got) < 1e-4


def test_prompts_that_fit_and_rows_that_do_not_are_halved_by_groups() -> None:
    batch = _groups("generate")
    # A group's trie is 8 tokens, a step of all rows 12: only the joint decoding is too much.
    small = HFLocal(_limited(8), limit=None)
    got = small.execute(batch, max_new_tokens=NEW)
    assert {o.status for o in got} == {"ok"}
    assert small.stats.splits == 1
    # The prompts of the first attempt are run again, and counted again.
    assert small.stats.forwarded_tokens == 2 * 3 * 8
    whole = HFLocal(build(TINY["llama"]), limit=None).execute(batch, max_new_tokens=NEW)
    assert [o.token_ids for o in got] == [o.token_ids for o in whole]


def test_only_the_request_that_fits_nowhere_is_oom() -> None:
    (first, *rest) = _groups("score").groups
    huge = Request("huge", "huge", tuple(range(3, 43)), (5, 6))
    batch = Batch("score", (first, (huge,), *rest))
    outcomes = HFLocal(_limited(16), limit=None).execute(batch, max_new_tokens=NEW)
    assert [o.id for o in outcomes] == [r.id for r in batch.requests]
    failed = [o for o in outcomes if o.status != "ok"]
    assert [(o.id, o.status, o.logprobs) for o in failed] == [("huge", "oom", ())]
    assert "out of memory" in failed[0].detail


def test_nothing_fits() -> None:
    batch = _groups("generate")
    runtime = HFLocal(_limited(0), limit=None)
    outcomes = runtime.execute(batch, max_new_tokens=NEW)
    assert [o.status for o in outcomes] == ["oom"] * 12
    assert runtime.stats.splits == 9  # three groups of four


def test_another_fault_is_not_taken_for_memory() -> None:
    model = build(TINY["llama"])

    def fault(*_: Any) -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    model.model.register_forward_pre_hook(fault)
    with pytest.raises(RuntimeError, match="device-side assert"):
        HFLocal(model, limit=None).execute(_groups("score"), max_new_tokens=NEW)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 12 bytes"),
        RuntimeError("std::bad_alloc"),
    ],
)
def test_the_words_of_every_allocator(error: Exception) -> None:
    assert is_out_of_memory(error)
    assert not is_out_of_memory(ValueError(str(error)))


class _Forgetful(HFLocal):
    """A runtime that loses an answer."""

    def _answer(self, *arguments: Any) -> list[Outcome]:
        return super()._answer(*arguments)[1:]


def test_a_lost_outcome_is_an_error() -> None:
    with pytest.raises(ModelError, match="11 outcomes came back for 12 requests"):
        _Forgetful(build(TINY["llama"]), limit=None).execute(_groups("score"), max_new_tokens=NEW)


LIMITED = """
import resource, sys
from pathlib import Path
import torch
from transformers import AutoModelForCausalLM
from assay.core.model import Batch, Request
from assay.models.backends.hf_local import HFLocal

folder, kind, attention = sys.argv[1:4]
count, each = map(int, sys.argv[4:])
torch.set_num_threads(1)
model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation=attention).eval()
runtime = HFLocal(model, limit=None)
tail = (4, 5) if kind == "score" else None
warm = Batch(kind, ((Request("warm", "w", (3, 4), tail),),))
runtime.execute(warm, max_new_tokens=2)
with open("/proc/self/statm") as stream:
    used = int(stream.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20), resource.RLIM_INFINITY))
prompt = tuple(range(3, 96)) * 2
rows = [Request(str(n), str(n), (*prompt, 3 + n % 90), tail) for n in range(count)]
groups = tuple(tuple(rows[n : n + each]) for n in range(0, count, each))
outcomes = runtime.execute(Batch(kind, groups), max_new_tokens=2)
assert [o.id for o in outcomes] == [str(n) for n in range(count)]
assert {o.status for o in outcomes} == {"ok"}, outcomes[0]
assert all(outcomes[n].token_ids == outcomes[n + 90].token_ids for n in range(count - 90))
print(runtime.stats.splits)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit and /proc are Linux's")
@pytest.mark.parametrize(
    ("kind", "attention", "count", "each"),
    [
        pytest.param("score", "sdpa", 512, 1, id="score-trie"),
        pytest.param("score", "eager", 512, 1, id="score-rows"),
        pytest.param("generate", "eager", 512, 1, id="generate-rows"),
        # Prompts that are run one trie after the other leave little to refuse but the rows.
        pytest.param("generate", "sdpa", 2048, 1, id="generate-alone"),
        pytest.param("generate", "sdpa", 2048, 64, id="generate-tries"),
    ],
)
def test_a_real_memory_limit(
    tiny: Callable[[str], tuple[Path, ModelSpec]], kind: str, attention: str, count: int, each: int
) -> None:
    """The allocator itself refuses; the process goes on with smaller batches."""
    folder, _ = tiny("llama")
    arguments = [str(folder), kind, attention, str(count), str(each)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1
