"""Tokens, seconds and scores of the collector beside naive batching and beside lm-eval.

One run asks one model the released grid's requests of the same items three ways: the planned
batches of `hf_local`, transformers' own `generate` and full forwards in batches of 16, and the hf
backend of lm-eval (in an environment of its own, named by its interpreter). Prints one table.

    python -m benchmarks.collect --items items.jsonl.gz --count 4 --lm-eval /path/to/venv/bin/python
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from assay.benchmarks.item import Item
from assay.config.registry import load_grid, load_model
from assay.core.cache import cache_root
from assay.core.model import Request
from assay.grid.questions import Question, Questioner
from assay.models.backends.hf_local import HFLocal
from assay.models.fetch import fetch_model
from assay.models.plan import plan_batches, token_counts
from assay.models.render import Renderer

NEW = 8
BATCH = 16


@dataclass
class Measured:
    """What one way of asking took, and what it got.

    `texts` and `scores` (sum of the log-probabilities) are keyed by request id; `seconds` is
    (generation, scoring).
    """

    tokens: int
    seconds: tuple[float, float]
    texts: dict[str, str] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)


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
    found = Measured(0, (0.0, 0.0))
    for batch in plan:
        started = time.perf_counter()
        outcomes = runtime.execute(batch, max_new_tokens=NEW)
        seconds[batch.kind] += time.perf_counter() - started
        for outcome in outcomes:
            if batch.kind == "generate":
                found.texts[outcome.id] = renderer.decode(outcome.token_ids)
            else:
                found.scores[outcome.id] = sum(outcome.logprobs)
    found.tokens = runtime.stats.forwarded_tokens
    found.seconds = (seconds["generate"], seconds["score"])
    return found


@torch.inference_mode()
def naive(model: Any, requests: Sequence[Request], renderer: Renderer, sort: bool) -> Measured:
    """Run padded batches of 16: `generate`, and a full forward for every continuation."""
    found = Measured(0, (0.0, 0.0))
    started = time.perf_counter()
    asked = [request for request in requests if request.continuation is None]
    for part in _batches(asked, sort):
        ids, mask = _padded([list(request.context) for request in part], left=True)
        found.tokens += ids.numel()
        said = model.generate(ids, attention_mask=mask, do_sample=False, max_new_tokens=NEW)
        for request, row in zip(part, said[:, ids.shape[1] :].tolist(), strict=True):
            end = model.config.eos_token_id
            found.texts[request.id] = renderer.decode(row[: row.index(end)] if end in row else row)
    middle = time.perf_counter()
    for part in _batches([r for r in requests if r.continuation], sort):
        sequences = [[*r.context, *(r.continuation or ())][:-1] for r in part]
        ids, mask = _padded(sequences, left=False)
        found.tokens += ids.numel()
        table = model(input_ids=ids, attention_mask=mask).logits.float().log_softmax(-1)
        for row, request in enumerate(part):
            tokens = request.continuation or ()
            at = range(len(request.context) - 1, len(request.context) - 1 + len(tokens))
            found.scores[request.id] = float(table[row, list(at), list(tokens)].sum())
    found.seconds = (middle - started, time.perf_counter() - middle)
    return found


def _batches(requests: list[Request], sort: bool) -> Iterator[list[Request]]:
    ordered = sorted(requests, key=lambda r: -r.length) if sort else requests
    for start in range(0, len(ordered), BATCH):
        yield ordered[start : start + BATCH]


def _padded(sequences: list[list[int]], *, left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, sequences))
    fill: Callable[[list[int], int], list[int]] = lambda s, v: (  # noqa: E731
        [v] * (width - len(s)) + s if left else s + [v] * (width - len(s))
    )
    ids = torch.tensor([fill(sequence, 0) for sequence in sequences])
    return ids, torch.tensor([fill([1] * len(sequence), 0) for sequence in sequences])


def lm_eval(
    python: Path, folder: Path, questions: Sequence[Question], dtype: str, threads: int
) -> Measured:
    """Run the same prompts and the same token pairs through lm-eval's hf backend."""
    requests = [(question, request) for question in questions for request in question.requests]
    job = {
        "folder": str(folder),
        "dtype": dtype,
        "threads": threads,
        "batch": BATCH,
        "new": NEW,
        "prompts": [[r.id, q.prompt] for q, r in requests if r.continuation is None],
        "pairs": [[r.id, r.context, r.continuation] for _, r in requests if r.continuation],
    }
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "job.json").write_text(json.dumps(job), encoding="utf-8")
        worker = Path(__file__).with_name("lm_eval_worker.py")
        # -P: the folder of the worker holds modules named like those of the standard library.
        subprocess.run([str(python), "-P", str(worker), place], check=True)
        value = json.loads((Path(place) / "found.json").read_text("utf-8"))
    return Measured(value["tokens"], tuple(value["seconds"]), value["texts"], value["scores"])


def table(measured: dict[str, Measured], items: int) -> Iterator[str]:
    """Yield the lines of the table; ratios and differences are to the first row."""
    first = next(iter(measured.values()))
    yield "| | tokens/item | x ours | gen s/item | ll s/item | x ours | texts equal | score gap |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, one in measured.items():
        equal = sum(one.texts.get(key) == text for key, text in first.texts.items())
        gap = max((abs(one.scores[k] - v) for k, v in first.scores.items()), default=0.0)
        generation, scoring = (value / items for value in one.seconds)
        slower = sum(one.seconds) / sum(first.seconds)
        yield (
            f"| {name} | {one.tokens / items:,.0f} | {one.tokens / first.tokens:.2f} | "
            f"{generation:.2f} | {scoring:.3f} | {slower:.2f} "
            f"(ll {one.seconds[1] / first.seconds[1]:.2f}) | {equal}/{len(first.texts)} | "
            f"{gap:.1e} |"
        )


def main(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    torch.set_num_threads(arguments.threads)
    spec = load_model(Path("config"), arguments.model, {})
    folder = fetch_model(spec, cache=cache_root(), offline=True).folder
    renderer = Renderer(folder, spec)
    questions = questions_of(arguments.items, arguments.count, spec, renderer)
    requests = [request for question in questions for request in question.requests]
    plan = plan_batches(requests, token_budget=arguments.budget, new_tokens=NEW)
    counts = token_counts(requests, plan)
    print(
        f"{spec.key}, {arguments.count} items, {arguments.dtype}, {arguments.threads} thread(s): "
        f"{counts.naive:,} prompt tokens naive, {counts.floor:,} floor of the trie, "
        f"{counts.planned:,} planned ({counts.planned / counts.floor:.3f} x floor)",
        flush=True,
    )
    runtime = HFLocal.load(
        folder, spec, dtype=arguments.dtype, device="cpu", threads=arguments.threads
    )
    warm = Request("warm", "warm", tuple(range(5, 20)), (3, 4))
    runtime.execute(plan_batches([warm], token_budget=64)[0], max_new_tokens=1)
    runtime.stats.forwarded_tokens = 0
    measured = {"hf_local, planned": ours(runtime, requests, renderer, arguments.budget)}
    print(*table(measured, arguments.count), sep="\n", flush=True)
    del runtime
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, arguments.dtype))
    for sort in [True, False] if arguments.unsorted else [True]:
        name = f"transformers, {'sorted' if sort else 'unsorted'} batch {BATCH}"
        measured[name] = naive(model.eval(), requests, renderer, sort)
    print(*list(table(measured, arguments.count))[3:], sep="\n", flush=True)
    del model
    if arguments.lm_eval:
        measured["lm-eval, hf"] = lm_eval(
            arguments.lm_eval, folder, questions, arguments.dtype, arguments.threads
        )
        print(list(table(measured, arguments.count))[-1], flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m", help="key of config/models.yaml")
    parser.add_argument("--items", type=Path, required=True, help="JSONL of items, may be gzipped")
    parser.add_argument("--count", type=int, default=4, help="items to ask")
    parser.add_argument("--budget", type=int, default=2048, help="token budget of a batch")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--unsorted", action="store_true", help="also time unsorted batches")
    parser.add_argument("--lm-eval", type=Path, help="interpreter of an environment with lm-eval")
    main(parser.parse_args())
