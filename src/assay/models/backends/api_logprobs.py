"""Log-probabilities of given text from a server: proved before they are believed.

A completions server may echo the prompt with log-probabilities. Some ignore the wish without a
word (`transformers serve`), some list them one token off (`llama_cpp.server`). Both would make a
ranking out of noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from assay.core.model import Outcome
from assay.core.pins import ApiPin
from assay.models.backends.api_client import Client, Unanswered
from assay.models.backends.api_replies import Malformed, Tokens, read_echo, read_tokens

#: Texts whose continuation a model is less than sure of, so that neighbours differ.
OPENERS = ("My favourite", "Once there was a", "1 7 2 9", "The")
NEW_TOKENS = 8
#: Nats by which a half-precision server may differ between generating a token and echoing it.
TOLERANCE = 0.2
#: Nats by which neighbouring tokens must differ somewhere for a shift to be told from none.
CONTRAST = 1.0


def echo_body(pin: ApiPin, text: str) -> dict[str, Any]:
    """Return the request for the log-probabilities of `text`.

    One token is generated: some servers take no 0, and one takes it for no limit.
    """
    return _body(pin, text, 1) | {"echo": True}


def _body(pin: ApiPin, text: str, limit: int) -> dict[str, Any]:
    asked = {"model": pin.model, "prompt": text, "max_tokens": limit, "logprobs": 1}
    return {**pin.extra, **asked, "temperature": 0, "stream": False}


def probe(client: Client) -> str | None:
    """Return why the server's log-probabilities of a prompt cannot be used, None if they can.

    The server generates a few tokens with their log-probabilities, then is given them as a prompt:
    both must agree token by token, where neighbours differ enough to tell a shift.
    """
    fault = "its tokens could not be told apart well enough to prove their log-probabilities"
    for opener in OPENERS:
        try:
            made = _tried(client, _body(client.pin, opener, NEW_TOKENS), _made)
            text = opener + "".join(made.texts)
            echoed = _tried(client, echo_body(client.pin, text), read_echo)
        except (Unanswered, Malformed) as error:
            return f"the server gives none with its completions ({error})"
        verdict = _verdict(made, echoed)
        if verdict is not None:
            return verdict or None
        fault = "the tokens that it generates are not those that it reads"
    return fault


def _tried(client: Client, body: dict[str, Any], read: Callable[[Any], Tokens]) -> Tokens:
    """Ask once for what the server may never give: a reply without it is not asked for again."""

    def tried(reply: Any) -> Tokens | Malformed:
        try:
            return read(reply)
        except Malformed as error:
            return error

    answer = client.ask(None, "completions", body, tried)
    if isinstance(answer, Malformed):
        raise answer
    return answer


def _made(reply: Any) -> Tokens:
    tokens = read_tokens(reply)
    if not tokens.texts or None in tokens.logprobs:
        raise Malformed("generated tokens have no log-probabilities")
    # The token that ended the answer is no text.
    ended = 1 if reply["choices"][0].get("finish_reason") == "stop" else 0
    count = len(tokens.texts) - ended
    return Tokens(tokens.texts[:count], tokens.logprobs[:count])


def _verdict(made: Tokens, echoed: Tokens) -> str | None:
    """Return a fault, "" for a proof, None where this text tells nothing."""
    count = len(made.texts)
    if count < 2 or echoed.texts[-count:] != made.texts:
        return None
    own = [value for value in made.logprobs if value is not None]
    tail = echoed.logprobs[-count:]
    if any(value is None for value in echoed.logprobs[1:]):
        return "the server echoes a prompt without log-probabilities"
    seen = [value for value in tail if value is not None]
    if max(abs(a - b) for a, b in zip(own, own[1:], strict=False)) < CONTRAST:
        return None
    if _apart(own, seen) <= TOLERANCE:
        return ""
    shifted = min(_apart(own[1:], seen[:-1]), _apart(own[:-1], seen[1:])) <= TOLERANCE
    how = "they are shifted by one token" if shifted else f"by up to {_apart(own, seen):.2f} nats"
    return f"log-probabilities of a prompt are not those of its tokens: {how}"


def _apart(a: Sequence[float], b: Sequence[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def pair_outcome(request: str, stem: Tokens, whole: Tokens) -> Outcome:
    """Return the log-probabilities of the tokens of `whole` that do not belong to `stem`.

    Where the tokens of the joined text do not extend the stem's, the pair is scored from their
    longest common prefix and flagged, as for a model that runs here.
    """
    shared = 0
    for one, other in zip(stem.texts, whole.texts, strict=False):
        if one != other:
            break
        shared += 1
    boundary = shared < len(stem.texts)
    shared = max(shared, 1)  # the first token of a text has no probability
    values = whole.logprobs[shared:]
    if not values or any(value is None for value in values):
        return Outcome(request, "backend_error", detail="tokens without a log-probability")
    logprobs = tuple(value for value in values if value is not None)
    if not all(map(math.isfinite, logprobs)):
        return Outcome(request, "nonfinite", detail="a log-probability is not a finite number")
    return Outcome(request, "ok", logprobs=logprobs, prompt_tokens=shared, boundary=boundary)
