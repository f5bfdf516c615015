"""The runtime behind a server: an OpenAI-compatible API, asked in words over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from assay.core.capability import Capability, CapabilityError
from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome, Request, Words
from assay.core.spec import ModelSpec
from assay.models.backends.api_client import Client, Refused, Unanswered
from assay.models.backends.api_logprobs import echo_body, pair_outcome, probe
from assay.models.backends.api_replies import (
    Tokens,
    is_too_long,
    read_chat,
    read_completion,
    read_echo,
)
from assay.models.backends.api_usage import Usage, usage_of

T = TypeVar("T")

#: Requests that may fail one after another before the server counts as out of order.
OUTAGE = 20


@dataclass(frozen=True, slots=True)
class Stats:
    """What asking the server has taken.

    Attributes
    ----------
    requests, retries, reused : int
        HTTP requests of this execution, waits before a repeat, replies taken from disk.
    usage : Usage
        Tokens and cost of every reply that the shard keeps, killed executions included.
    """

    requests: int
    retries: int
    reused: int
    usage: Usage


class ApiModel:
    """A model behind a server (see `assay.core.model.Model`).

    Parameters
    ----------
    scores : bool
        Whether the server's log-probabilities proved right.
    """

    def __init__(self, spec: ModelSpec, client: Client, *, scores: bool):
        self._spec = spec
        self._client = client
        self._scores = scores
        self._failures = 0
        self._lock = threading.Lock()

    @classmethod
    def connect(
        cls,
        spec: ModelSpec,
        replies: Path,
        *,
        needed: Set[Capability],
        consumer: str = "the grid",
    ) -> ApiModel:
        """Get ready to ask; log-probabilities are put to the proof where they are needed.

        Parameters
        ----------
        replies : Path
            The file of replies.
        consumer : str
            What needs them, for the message if they are not given.

        Raises
        ------
        CapabilityError
            If the server's log-probabilities are absent or belong to other tokens.
        ModelError
            If the key is missing, or the server refuses everything.
        """
        if spec.served is None:
            raise ModelError("the model is not behind a server.", where=spec.key)
        client = Client(spec.served, replies)
        wanted = Capability.LOGPROBS in needed
        fault = probe(client) if wanted else None
        if fault:
            raise CapabilityError(consumer, spec.key, {Capability.LOGPROBS}, because=fault)
        return cls(spec, client, scores=wanted)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this server can give, as far as it was needed and proved."""
        proved = {Capability.LOGPROBS} if self._scores else set()
        return frozenset({Capability.GENERATE} | proved)

    @property
    def stats(self) -> Stats:
        """What asking has taken so far."""
        sent = self._client.counts
        kept = usage_of(self._client.replies, self._client.pin.access)
        return Stats(sent.requests, sent.retries, sent.reused, kept)

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        """Answer every request of `batch`, in its order.

        A request without a usable reply is `backend_error`; the others are answered all the same.

        Raises
        ------
        ModelError
            If the server refuses everything, or too many requests in a row got no reply: what was
            answered is kept.
        """
        if batch.kind == "generate":
            return self._each(batch.requests, lambda r: self._generate(r, max_new_tokens))
        # One request a stem: where the tokens of stem and option meet is read off its own tokens.
        first = {_words(request).text: request for request in batch.requests}
        stems = dict(zip(first, self._each([*first.values()], self._stem), strict=True))
        return self._each(batch.requests, lambda r: self._score(r, stems[_words(r).text]))

    def _each(self, requests: Sequence[Request], do: Callable[[Request], Any]) -> list[Any]:
        with ThreadPoolExecutor(self._client.pin.access.concurrency) as pool:
            futures = [pool.submit(do, request) for request in requests]
            try:
                return [future.result() for future in futures]
            except BaseException:
                # Also when interrupted: what is in flight ends, and nothing more is paid for.
                self._client.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _generate(self, request: Request, limit: int) -> Outcome:
        words, pin = _words(request), self._client.pin
        body: dict[str, Any] = {"model": pin.model, "temperature": 0, "stream": False, **pin.extra}
        body[pin.limit_field] = limit
        if words.messages:
            path, read = "chat/completions", read_chat
            body["messages"] = [{"role": r, "content": said} for r, said in words.messages]
            if self._spec.template_arguments:
                body["chat_template_kwargs"] = self._spec.template_arguments
        else:
            path, read = "completions", read_completion
            body["prompt"] = words.text
        said = self._asked(request.id, lambda: self._client.ask(request.id, path, body, read))
        if isinstance(said, Outcome):
            return said
        return Outcome(
            request.id,
            "ok",
            finish=said.finish,
            text=said.text,
            prompt_tokens=said.prompt_tokens,
            new_tokens=said.new_tokens,
        )

    def _stem(self, request: Request) -> Tokens | Outcome:
        return self._echo(request.id, f"{request.id}/stem", _words(request).text)

    def _score(self, request: Request, stem: Tokens | Outcome) -> Outcome:
        words = _words(request)
        if isinstance(stem, Outcome):
            return Outcome(request.id, stem.status, detail=stem.detail)
        whole = self._echo(request.id, request.id, words.text + (words.continuation or ""))
        return whole if isinstance(whole, Outcome) else pair_outcome(request.id, stem, whole)

    def _echo(self, request: str, name: str, text: str) -> Tokens | Outcome:
        body = echo_body(self._client.pin, text)
        return self._asked(request, lambda: self._client.ask(name, "completions", body, read_echo))

    def _asked(self, request: str, ask: Callable[[], T]) -> T | Outcome:
        """Return what `ask` gives, or the outcome that says why there is nothing."""
        try:
            answer = ask()
        except Refused as error:
            if is_too_long(str(error)):
                return Outcome(request, "too_long", detail=str(error))
            return self._failed(request, error)
        except Unanswered as error:
            return self._failed(request, error)
        with self._lock:
            self._failures = 0
        return answer

    def _failed(self, request: str, error: Exception) -> Outcome:
        with self._lock:
            self._failures += 1
            failures = self._failures
        if failures >= OUTAGE:
            raise ModelError(
                f"{failures} requests in a row got no answer; the last: {error}.",
                where=self._client.pin.base_url,
                fix="see whether the server is up, then run again: what was answered is kept.",
            ) from error
        return Outcome(request, "backend_error", detail=str(error))


def _words(request: Request) -> Words:
    if request.words is None:
        raise ModelError(
            "a server was asked in tokens.",
            where=request.id,
            fix="render the requests of a model behind a server with WordRenderer.",
        )
    return request.words
