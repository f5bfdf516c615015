"""Tokens, seconds and scores of the collector beside other ways to ask the same requests.

One run asks one model the released grid's requests of the same items: in the planned batches of
`hf_local`; in transformers' own `generate` and full forwards, in batches of 16 as the requests come
and sorted by length; and, where their environments are named, in the hf backend of lm-eval and in
vLLM. It also measures how fast this machine multiplies matrices of the model's shapes, which is the
least time that the planned tokens can take. `hf_local` is timed before and after the others: where
the two differ, the machine was not quiet.

    ASSAY_VLLM_PYTHON=… python -m benchmarks.collect --items items.jsonl.gz --lm-eval …/bin/python
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from benchmarks.limit import Limit, measure
from benchmarks.rivals import BATCH, NEW, Measured, lm_eval, naive, vllm
from transformers import AutoModelForCausalLM

from assay.benchmarks.item import Item
from assay.config.registry import load_grid, load_model
from assay.core.cache import cache_root
from assay.core.model import Request
from assay.core.spec import ModelSpec
from assay.grid.questions import Question, Questioner
from assay.models.backends.hf_local import HFLocal
from assay.models.fetch import fetch_model
from assay.models.plan import plan_batches, token_counts
from assay.models.render import Renderer

UNSORTED = f"transformers, batch {BATCH}"


def questions_of(path: Path, count: int, spec: Any, renderer: Renderer) -> list[Question]:
    """Return the released grid's questions of the first `count` items with four options."""
    raw = path.read_bytes()
    lines = (gzip.decompress(raw) if path.suffix == ".gz" else raw).split(b"\n")
    rows = [row for row in map(json.loads, filter(None, lines)) if len(row["options"]) == 4]
    items = [
        Item(
            benchmark=row["benchmark"],
            native_id=row["id"],
            question=row["question"],
            options=row["options"],
            gold=row["gold"],
            accepts=[row["gold"]],
            cluster=row["id"],
        )
        for row in rows[:count]
    ]
    grid = load_grid(Path("config"), "released")
    return list(Questioner(spec, renderer, grid, {}, {"max_new_tokens": NEW}).ask(items))


def ours(
    runtime: HFLocal, requests: Sequence[Request], renderer: Renderer, budget: int
) -> Measured:
    """Run the planned batches."""
    plan = plan_batches(requests, token_budget=budget, new_tokens=NEW)
    seconds = {"generate": 0.0, "score": 0.0}
    before = runtime.stats.forwarded_tokens
    found = Measured(0, (0.0, 0.0))
    for batch in plan:
        started = time.perf_counter()
        outcomes = runtime.execute(batch, max_new_tokens=NEW)
        seconds[batch.kind] += time.perf_counter() - started
        for outcome in outcomes:
            if batch.kind == "generate":
                found.texts[outcome.id] = renderer.decode(outcome.token_ids)
                # The last token of a full answer is not run through the model.
                found.decoded += len(outcome.token_ids) - (outcome.finish == "length")
            else:
                found.scores[outcome.id] = sum(outcome.logprobs)
    found.tokens = runtime.stats.forwarded_tokens - before
    found.seconds = (seconds["generate"], seconds["score"])
    return found


HEADER = (
    "| | tokens/item | x ours | gen s/item | ll s/item | x ours | texts equal | score gap |",
    "|---|---|---|---|---|---|---|---|",
)


def row(name: str, one: Measured, first: Measured, items: int) -> str:
    """Return a line of the table; ratios and differences are to `first`."""
    equal = sum(one.texts.get(key) == text for key, text in first.texts.items())
    gap = max((abs(one.scores[k] - v) for k, v in first.scores.items()), default=0.0)
    generation, scoring = (value / items for value in one.seconds)
    return (
        f"| {name} | {one.tokens / items:,.0f} | {one.tokens / first.tokens:.2f} | "
        f"{generation:.2f} | {scoring:.3f} | {sum(one.seconds) / sum(first.seconds):.2f} "
        f"(ll {one.seconds[1] / first.seconds[1]:.2f}) | {equal}/{len(first.texts)} | {gap:.1e} |"
    )


def floor_line(limit: Limit, requests: Sequence[Request], first: Measured, items: int) -> str:
    """Return in words how far `first` is from the matrix products of its own tokens."""
    said = limit.seconds([r for r in requests if r.continuation is None], first.decoded) / items
    read = limit.seconds([r for r in requests if r.continuation], 0) / items
    return (
        f"matrix products of the model's shapes: {limit.rate / 1e9:.0f} GFLOP/s; the floor of the "
        f"trie and {first.decoded / items:.0f} decoded tokens an item take {said:.2f} + {read:.3f} "
        f"s/item at that rate, hf_local {sum(first.seconds) / items / (said + read):.2f} x as long"
    )


def others(
    arguments: argparse.Namespace,
    folder: Path,
    renderer: Renderer,
    questions: Sequence[Question],
) -> Iterator[tuple[str, Measured | Limit | None]]:
    """Yield (name, what it took) of every other way; None where its environment is not named."""
    requests = [request for question in questions for request in question.requests]
    settings: dict[str, Any] = {"dtype": arguments.dtype, "threads": arguments.threads}
    dtype = getattr(torch, arguments.dtype)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
    end = model.config.eos_token_id
    yield "limit", measure(model)
    yield f"{UNSORTED}, sorted", naive(model, requests, renderer, sort=True)
    yield UNSORTED, naive(model, requests, renderer, sort=False)
    del model
    python = arguments.lm_eval
    yield "lm-eval, hf", lm_eval(python, folder, questions, **settings) if python else None
    named = os.environ.get("ASSAY_VLLM_PYTHON")
    found = vllm(Path(named), folder, requests, renderer, end, **settings) if named else None
    yield "vLLM, own LLM", found


def setting(spec: ModelSpec, arguments: argparse.Namespace, requests: Sequence[Request]) -> str:
    """Return the first line: what is asked, and the tokens of three ways to ask it."""
    plan = plan_batches(requests, token_budget=arguments.budget, new_tokens=NEW)
    counts = token_counts(requests, plan)
    return (
        f"{spec.key}, {arguments.count} items, {arguments.dtype}, {arguments.threads} thread(s): "
        f"{counts.naive:,} prompt tokens naive, {counts.floor:,} floor of the trie, "
        f"{counts.planned:,} planned ({counts.planned / counts.floor:.3f} x floor)"
    )


def main(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    torch.set_num_threads(arguments.threads)
    spec = load_model(Path("config"), arguments.model, {})
    folder = fetch_model(spec, cache=cache_root(), offline=True).folder
    renderer = Renderer(folder, spec)
    questions = questions_of(arguments.items, arguments.count, spec, renderer)
    requests = [request for question in questions for request in question.requests]
    print(setting(spec, arguments, requests), *HEADER, sep="\n", flush=True)
    runtime = HFLocal.load(
        folder, spec, dtype=arguments.dtype, device="cpu", threads=arguments.threads
    )
    warm = Request("warm", "warm", tuple(range(5, 20)), (3, 4))
    runtime.execute(plan_batches([warm], token_budget=64)[0], max_new_tokens=1)
    first = ours(runtime, requests, renderer, arguments.budget)
    print(row("hf_local, planned", first, first, arguments.count), flush=True)
    notes: list[str] = []
    for name, found in others(arguments, folder, renderer, questions):
        if isinstance(found, Limit):
            notes.append(floor_line(found, requests, first, arguments.count))
        elif found is None:
            notes.append(f"{name}: skipped, its environment is not named")
        else:
            print(row(name, found, first, arguments.count), flush=True)
    again = ours(runtime, requests, renderer, arguments.budget)
    print(row("hf_local, planned, again", again, first, arguments.count), *notes, sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m", help="key of config/models.yaml")
    parser.add_argument("--items", type=Path, required=True, help="JSONL of items, may be gzipped")
    parser.add_argument("--count", type=int, default=4, help="items to ask")
    parser.add_argument("--budget", type=int, default=2048, help="token budget of a batch")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--lm-eval", type=Path, help="interpreter of an environment with lm-eval")
    main(parser.parse_args())
