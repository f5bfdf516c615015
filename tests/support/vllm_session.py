"""Ask a real vLLM engine what a file says, and write down its answers.

Run by the Python of the vLLM environment, which has none of the test tools:
``python vllm_session.py QUESTIONS.json ANSWERS.json``.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assay.core.model import Batch, Outcome, Request
from assay.core.spec import ModelSpec
from assay.models.backends.vllm_engine import Settings
from assay.models.backends.vllm_offline import VLLMOffline
from assay.models.windows import plan_windows

NEW = 8


def requests_of(rows: list[dict[str, Any]]) -> list[Request]:
    return [
        Request(
            row["id"],
            row["group"],
            tuple(row["context"]),
            None if row["continuation"] is None else tuple(row["continuation"]),
        )
        for row in rows
    ]


def ask(model: VLLMOffline, windows: list[Batch]) -> dict[str, Any]:
    outcomes = [o for window in windows for o in model.execute(window, max_new_tokens=NEW)]
    return {outcome.id: asdict(outcome) for outcome in outcomes}


def shuffled(requests: list[Request]) -> list[Batch]:
    """Return the requests in no order and few at a time, scores before generations."""
    mixed = list(requests)
    random.Random(5).shuffle(mixed)
    windows: list[Batch] = []
    for kind in ("score", "generate"):
        kept = [r for r in mixed if (r.continuation is None) == (kind == "generate")]
        groups = [kept[n : n + 7] for n in range(0, len(kept), 7)]
        windows += [Batch(kind, tuple((r,) for r in group)) for group in groups]
    return windows


def odd(vocabulary: int, positions: int) -> Batch:
    """Return requests that an engine cannot answer, beside one that it can."""
    return Batch(
        "score",
        (
            (Request("outside", "odd", (5, vocabulary), (7,)),),
            (Request("long", "odd", (5,) * positions, (7,)),),
            (Request("sound", "odd", (5, 6), (7, 8)),),
        ),
    )


def killed(model: VLLMOffline, windows: list[Batch]) -> list[Outcome]:
    """Answer the first window while the engine's process is killed under it."""
    engine = model._engine
    answers = engine.answers

    def dying(asks: Any, *, new_tokens: int) -> Any:
        for number, found in enumerate(answers(asks, new_tokens=new_tokens)):
            if number == 3:
                (process,) = engine._engine.engine_core.resources.engine_manager.processes
                os.kill(process.pid, signal.SIGKILL)
            yield found

    engine.answers = dying
    return list(model.execute(windows[0], max_new_tokens=NEW))


def session(asked: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what is found, name by name."""
    spec = ModelSpec.model_validate_json(json.dumps(asked["spec"]))
    settings = Settings(Path(asked["folder"]), spec, "float32", "cpu", threads=2)
    model = VLLMOffline.load(settings)
    yield "end", sorted(model._engine.end)
    yield "positions", model._engine.positions
    requests = requests_of(asked["requests"])
    windows = plan_windows(requests, token_budget=100_000, new_tokens=NEW)
    yield "planned", ask(model, windows)
    yield "stats", asdict(model.stats)
    hard = odd(asked["vocabulary"], asked["positions"])
    yield "odd", [asdict(outcome) for outcome in model.execute(hard, max_new_tokens=NEW)]
    yield "shuffled", ask(model, shuffled(requests))
    yield "killed", [asdict(outcome) for outcome in killed(model, windows)]
    yield "restarts", model.stats.restarts
    full = Request("full", "odd", (5,) * (asked["positions"] - 2), (7, 8))
    yield "full", asdict(model.execute(Batch("score", ((full,),)), max_new_tokens=NEW)[0])
    model.close()


def main(questions: Path, answers: Path) -> None:
    found: dict[str, Any] = {}
    for name, value in session(json.loads(questions.read_text("utf-8"))):
        found[name] = value
        answers.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
