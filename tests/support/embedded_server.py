"""The embedded model behind an OpenAI-compatible server: the same weights, reached over HTTP."""

from __future__ import annotations

import threading
from typing import Any

from assay.core.model import Batch, Outcome, Request
from assay.models.backends.hf_local import HFLocal
from assay.models.render import Renderer


class EmbeddedAnswers:
    """Answers chat/completions, and completions with echo, by a model in this process."""

    def __init__(self, model: HFLocal, renderer: Renderer):
        self._model, self._renderer = model, renderer
        self._lock = threading.Lock()

    def __call__(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer one request; one at a time, as the model takes them."""
        chat = path == "chat/completions"
        if chat:
            given = self._renderer.render_chat(body["messages"]).token_ids
        else:
            given = self._renderer.render_plain(body["prompt"]).token_ids
        made = self._ask(Request("new", "g", tuple(given)), body["max_tokens"])
        text = self._renderer.decode(made.token_ids)
        finish = {"eos": "stop", "length": "length"}[made.finish or "length"]
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
        if chat:
            choice["message"] = {"role": "assistant", "content": text}
        else:
            choice["text"] = (body["prompt"] if body.get("echo") else "") + text
            choice["logprobs"] = self._listed(given, made.token_ids, bool(body.get("echo")))
        counts = {"prompt_tokens": len(given), "completion_tokens": len(made.token_ids)}
        return {"model": body["model"], "choices": [choice], "usage": counts}

    def _listed(self, given: Any, new: Any, echoed: bool) -> dict[str, Any]:
        whole = (*given, *new)
        scored = self._ask(Request("all", "g", whole[:1], whole[1:]), 1)
        start = 0 if echoed else len(given)
        texts = [self._renderer.decode([token]) for token in whole]
        return {"tokens": texts[start:], "token_logprobs": [None, *scored.logprobs][start:]}

    def _ask(self, request: Request, limit: int) -> Outcome:
        kind = "generate" if request.continuation is None else "score"
        with self._lock:
            batch = Batch(kind, ((request,),))  # type: ignore[arg-type]
            (outcome,) = self._model.execute(batch, max_new_tokens=limit)
        return outcome
