"""Ask a language model to explain a report that is already written; it can change nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.core.errors import EvaluationError
from assay.core.files import write_json, write_text
from assay.core.identity import sha256_text
from assay.core.pins import Access, ApiPin
from assay.evaluation.evidence import Prompt
from assay.evaluation.llm import LLM
from assay.models.backends.api_client import Client, Unanswered
from assay.models.backends.api_replies import Malformed

ANSWER = "llm-analysis.md"
FACTS = "llm-analysis.json"
_ATTEMPTS = 3
_LONGEST = 100_000
_NOTE = "<!-- Written by {model}. It changed no figure, code or decision of the report. -->\n\n"


def explain(prompt: Prompt, llm: LLM, out: Path) -> list[Path]:
    """Ask for an explanation and write it to `out`; return the files.

    Raises
    ------
    ModelError
        If the key is missing, or the server refuses every request.
    EvaluationError
        If there is no usable answer; nothing is written then.
    """
    base, path = _split(llm.endpoint)
    pin = ApiPin(
        base_url=base,
        model=llm.model,
        access=Access(key_env=llm.api_key_env, timeout_s=llm.timeout_sec, attempts=_ATTEMPTS),
    )
    client = Client(pin, out / "llm-replies.jsonl", headers=llm.headers)
    try:
        text, usage = client.ask(None, path, _body(prompt.text, llm, path), _read)
    except Unanswered as error:
        raise EvaluationError(
            f"no explanation: {error}.",
            where=llm.endpoint,
            fix="the report is complete without one; run again with --llm to ask anew.",
        ) from error
    facts = {
        "model": llm.model,
        "endpoint": llm.endpoint,
        "promptSha256": sha256_text(prompt.text),
        "omitted": prompt.omitted,
        "usage": usage,
    }
    write_text(out / ANSWER, _NOTE.format(model=llm.model) + text.strip() + "\n")
    write_json(out / FACTS, facts)
    return [out / ANSWER, out / FACTS]


def _split(endpoint: str) -> tuple[str, str]:
    for path in ("responses", "chat/completions"):
        if endpoint.endswith(f"/{path}"):
            return endpoint.removesuffix(f"/{path}"), path
    raise EvaluationError("not an endpoint that can be asked.", where=endpoint)


def _body(prompt: str, llm: LLM, path: str) -> dict[str, Any]:
    if path == "responses":
        own = {"input": prompt, "store": False, "max_output_tokens": llm.max_output_tokens}
    else:
        own = {
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": llm.max_output_tokens,
        }
    return {"model": llm.model, **own, **llm.request}


def _read(reply: Mapping[str, Any]) -> tuple[str, Any]:
    """Return text and token usage of either protocol's reply."""
    text = reply.get("output_text") or _of_output(reply) or _of_choices(reply)
    if not isinstance(text, str) or not text.strip():
        raise Malformed("it holds no text")
    if len(text) > _LONGEST:
        raise Malformed(f"its text is longer than {_LONGEST} characters")
    return text, reply.get("usage")


def _of_output(reply: Mapping[str, Any]) -> str:
    items = reply.get("output")
    parts = [
        part.get("text", "")
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, Mapping)
        for part in (item.get("content") or [])
        if isinstance(part, Mapping) and part.get("type") == "output_text"
    ]
    return "".join(part for part in parts if isinstance(part, str))


def _of_choices(reply: Mapping[str, Any]) -> Any:
    try:
        return reply["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return None
