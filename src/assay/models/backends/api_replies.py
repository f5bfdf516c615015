"""What OpenAI-compatible servers send back, read strictly: a reply that lacks something is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.model import Finish

#: How servers say that a prompt does not fit (vLLM, OpenAI, SGLang, llama.cpp, TGI).
_TOO_LONG = re.compile(
    r"context.{0,20}(length|size|window)|input.{0,20}(too long|longer than)|too many tokens"
    r"|prompt.{0,20}too long|max_model_len",
    re.IGNORECASE | re.DOTALL,
)

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class Malformed(Exception):
    """A reply that is not what the protocol promises; it is asked for again."""


@dataclass(frozen=True, slots=True)
class Said:
    """A generated answer."""

    text: str
    finish: Finish
    prompt_tokens: int | None
    new_tokens: int | None


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens as texts with their natural-log probabilities; None where the server gives none."""

    texts: tuple[str, ...]
    logprobs: tuple[float | None, ...]


def parse(body: str) -> dict[str, Any]:
    """Return the JSON object in `body`; NaN and infinities stay as their names.

    Half of a surrogate pair (an emoji cut in two) is no text; it becomes U+FFFD.

    Raises
    ------
    Malformed
        If it is cut off or no object.
    """
    try:
        value = json.loads(body, parse_constant=str)
        if _HALF_PAIR.search(body):
            whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
            value = json.loads(whole.decode("utf-16", "replace"))
    except json.JSONDecodeError as error:
        raise Malformed(f"the body is not JSON: {error.msg} at character {error.pos}") from error
    if not isinstance(value, dict):
        raise Malformed("the body is no JSON object")
    return value


def complaint(body: str) -> str:
    """Return the server's own words in an error body, shortened."""
    try:
        value = parse(body)
    except Malformed:
        return " ".join(body.split())[:200]
    inner = value.get("error", value)
    words = inner.get("message") or inner.get("detail") if isinstance(inner, Mapping) else inner
    return " ".join(str(words or value).split())[:200]


def is_too_long(message: str) -> bool:
    """Tell whether a refusal says that prompt and answer exceed the model's positions."""
    return bool(_TOO_LONG.search(message))


def read_chat(reply: Mapping[str, Any]) -> Said:
    """Return the answer in a reply of chat/completions.

    Thoughts that the server parted from the answer are put back in front of it, in the tags that
    models use, so that they count like those of a model that runs here.
    """
    choice = _only_choice(reply)
    message = _object(choice, "message")
    text = _text(message.get("content") or message.get("refusal") or "")
    thoughts = _text(message.get("reasoning_content") or message.get("reasoning") or "")
    if thoughts:
        text = f"<think>{thoughts}</think>{text}" if text else f"<think>{thoughts}"
    return _said(reply, choice, text)


def read_completion(reply: Mapping[str, Any]) -> Said:
    """Return the continuation in a reply of completions."""
    choice = _only_choice(reply)
    if "text" not in choice:
        raise Malformed("the choice has no text")
    return _said(reply, choice, _text(choice["text"]))


def read_tokens(reply: Mapping[str, Any]) -> Tokens:
    """Return every token that a reply of completions lists, with its log-probability."""
    listed = _object(_only_choice(reply), "logprobs")
    texts, values = listed.get("tokens"), listed.get("token_logprobs")
    if not isinstance(texts, list) or not isinstance(values, list) or len(texts) != len(values):
        raise Malformed("tokens and their log-probabilities are not two lists of one length")
    return Tokens(tuple(map(str, texts)), tuple(None if v is None else _number(v) for v in values))


def read_echo(reply: Mapping[str, Any]) -> Tokens:
    """Return the tokens of the prompt alone; one more was generated, since some servers must."""
    tokens = read_tokens(reply)
    count = usage(reply).get("prompt_tokens")
    if not isinstance(count, int) or not 0 < count <= len(tokens.texts) <= count + 1:
        raise Malformed(
            f"{len(tokens.texts)} tokens are listed for a prompt of {count} and one new"
        )
    return Tokens(tokens.texts[:count], tokens.logprobs[:count])


def usage(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the usage object of a reply, empty where there is none."""
    value = reply.get("usage")
    return value if isinstance(value, Mapping) else {}


def _only_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    if reply.get("error"):  # some gateways fail with status 200
        raise Malformed(f"the server says: {complaint(json.dumps(reply))}")
    choices = reply.get("choices")
    if not isinstance(choices, Sequence) or isinstance(choices, str) or len(choices) != 1:
        count = len(choices) if isinstance(choices, list) else "no"
        raise Malformed(f"{count} choices came back for one request")
    (choice,) = choices
    if not isinstance(choice, Mapping):
        raise Malformed("the choice is no object")
    return choice


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = value.get(name)
    if not isinstance(inner, Mapping):
        raise Malformed(f"the choice has no {name}")
    return inner


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Malformed("the answer is no text")
    return value


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise Malformed(f"a log-probability is {value!r}") from error


def _said(reply: Mapping[str, Any], choice: Mapping[str, Any], text: str) -> Said:
    reason = choice.get("finish_reason")
    if not isinstance(reason, str):
        raise Malformed("the choice does not say why it ended")
    counts = [usage(reply).get(name) for name in ("prompt_tokens", "completion_tokens")]
    prompt, new = (count if isinstance(count, int) else None for count in counts)
    return Said(text, "length" if reason == "length" else "eos", prompt, new)
