"""Other ways to ask the same requests: transformers in batches, lm-eval's hf backend, vLLM."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from assay.core.model import Request
from assay.grid.questions import Question
from assay.models.render import Renderer

NEW = 8
BATCH = 16


@dataclass
class Measured:
    """What one way of asking took, and what it got.

    `texts` and `scores` (sum of the log-probabilities) are keyed by request id; `seconds` is
    (generation, scoring), `decoded` how many generated tokens were run through the model.
    """

    tokens: int
    seconds: tuple[float, float]
    texts: dict[str, str] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    decoded: int = 0


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
            found.texts[request.id] = _text(renderer, row, model.config.eos_token_id)
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
    job = _job(folder, [request for _, request in requests], dtype, threads)
    job["prompts"] = [[r.id, q.prompt] for q, r in requests if r.continuation is None]
    value = _elsewhere(python, "lm_eval_worker.py", job)
    return Measured(value["tokens"], tuple(value["seconds"]), value["texts"], value["scores"])


def vllm(
    python: Path,
    folder: Path,
    requests: Sequence[Request],
    renderer: Renderer,
    end: int,
    dtype: str,
    threads: int,
) -> Measured:
    """Run the same tokens through vLLM's own `LLM`; all requests are handed over at once."""
    value = _elsewhere(python, "vllm_worker.py", _job(folder, requests, dtype, threads))
    texts = {name: _text(renderer, ids, end) for name, ids in value["ids"].items()}
    return Measured(value["tokens"], tuple(value["seconds"]), texts, value["scores"])


def _job(folder: Path, requests: Sequence[Request], dtype: str, threads: int) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "dtype": dtype,
        "threads": threads,
        "batch": BATCH,
        "new": NEW,
        "prompts": [[r.id, r.context] for r in requests if r.continuation is None],
        "pairs": [[r.id, r.context, r.continuation] for r in requests if r.continuation],
    }


def _elsewhere(python: Path, worker: str, job: dict[str, Any]) -> Any:
    """Run a worker of this folder in another environment and return what it found."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "job.json").write_text(json.dumps(job), encoding="utf-8")
        # -P: the folder of the worker holds modules named like those of the standard library.
        command = [str(python), "-P", str(Path(__file__).with_name(worker)), place]
        subprocess.run(command, check=True)
        return json.loads((Path(place) / "found.json").read_text("utf-8"))


def _text(renderer: Renderer, ids: list[int], end: int) -> str:
    return renderer.decode(ids[: ids.index(end)] if end in ids else ids)
