"""One HTTP client for OpenAI-compatible servers: bounded, patient, and never paying twice.

A reply that can be read is on disk before anything is made of it, keyed by the whole request. A
job that was killed takes it from there.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_when_event_set,
    wait_random_exponential,
)

from assay.core.errors import ModelError
from assay.core.identity import digest
from assay.core.pins import ApiPin
from assay.models.backends.api_replies import Malformed, complaint, parse
from assay.records.journal import Journal

T = TypeVar("T")

#: Longest wait that a server may ask for before its request counts as unanswered, in seconds.
LONGEST_WAIT_S = 120.0
#: Largest body that is read: a reply to one request is kilobytes.
LARGEST_BODY = 16 << 20
_BACKOFF = wait_random_exponential(multiplier=0.5, max=30)
_JITTER = wait_random_exponential(multiplier=0.25, max=1)
#: Statuses that another try may mend.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
#: Statuses that every further request would meet too.
_FATAL = frozenset({401, 402, 403, 404, 405})
_FIXES = {
    401: "check the key in the environment variable that access.key_env names.",
    402: "the account has no credit left; what was answered is kept.",
    403: "check what the key may be used for.",
    404: "check base_url and model; most base URLs end in /v1.",
}


class Unanswered(Exception):
    """A request that got no usable reply, for good; the message says why."""


class Refused(Unanswered):
    """A request that the server refuses as such."""


class _Passing(Unanswered):
    """A failure that another try may mend."""

    def __init__(self, what: str, wait_s: float | None = None):
        super().__init__(what)
        self.wait_s = wait_s


@dataclass(slots=True)
class Counts:
    """What this execution sent: HTTP requests, repeats among them, and replies taken from disk."""

    requests: int = 0
    retries: int = 0
    reused: int = 0


class Client:
    """Sends requests and keeps their replies (see `ask`); any number of threads may use it.

    Parameters
    ----------
    replies : Path
        The file of replies.
    headers : mapping, optional
        Further headers of every request; the key's own comes from the environment.

    Raises
    ------
    ModelError
        If the environment variable of the key is not set.
    """

    def __init__(self, pin: ApiPin, replies: Path, headers: Mapping[str, str] | None = None):
        self.pin = pin
        self.counts = Counts()
        self.replies = Journal(replies)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._key = _key(pin)
        self._http = httpx2.Client(
            headers={**(headers or {}), **self._authorization()},
            timeout=httpx2.Timeout(pin.access.timeout_s, connect=min(10, pin.access.timeout_s)),
            limits=httpx2.Limits(max_connections=pin.access.concurrency),
        )

    def stop(self) -> None:
        """Let requests under way end and repeat none."""
        self._stop.set()

    def ask(
        self,
        request: str | None,
        path: str,
        body: Mapping[str, Any],
        read: Callable[[Mapping[str, Any]], T],
    ) -> T:
        """Return what `read` makes of the reply to `body`, from disk where it was asked before.

        Parameters
        ----------
        request : str or None
            Id of the request. Two requests are asked apart even where they say the same, as a
            repeated configuration must be. None keeps no reply.
        read : callable
            Raises `Malformed` for a reply that lacks something; it is then asked for again.

        Raises
        ------
        Unanswered
            If there is no usable reply after the allowed attempts, or the server refuses this
            request.
        ModelError
            If every request would fail: the key, the address or the model's name is wrong.
        """
        key = digest([request, self.pin.base_url, path, dict(body)], length=24)
        if request is not None and key in self.replies:
            try:
                value = read(self.replies.get(key)["reply"])
            except Malformed:
                pass  # kept by code that read it less strictly: asked anew
            else:
                with self._lock:
                    self.counts.reused += 1
                return value
        started = time.monotonic()
        retrying = Retrying(
            retry=retry_if_exception_type(_Passing),
            stop=stop_after_attempt(self.pin.access.attempts) | stop_when_event_set(self._stop),
            wait=_wait,
            sleep=self._sleep,
            reraise=True,
        )
        reply, value = retrying(lambda: self._attempt(path, body, read))
        if request is not None:
            seconds = round(time.monotonic() - started, 3)
            entry = {"key": key, "request": request, "seconds": seconds, "reply": reply}
            with self._lock:
                self.replies.append([entry])
        return value

    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _sleep(self, seconds: float) -> None:
        with self._lock:
            self.counts.retries += 1
        self._stop.wait(seconds)

    def _attempt(
        self, path: str, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T]
    ) -> tuple[dict[str, Any], T]:
        with self._lock:
            self.counts.requests += 1
        try:
            status, headers, text = self._post(path, body)
            if status != 200:
                raise self._failure(status, headers, text)
            reply = parse(text)
            return reply, read(reply)
        except httpx2.TimeoutException as error:
            raise _Passing(f"no reply within {self.pin.access.timeout_s:g} s") from error
        except httpx2.RequestError as error:
            raise _Passing(self._without_key(f"{type(error).__name__}: {error}")) from error
        except Malformed as error:
            raise _Passing(f"unusable reply: {error}") from error

    def _post(self, path: str, body: Mapping[str, Any]) -> tuple[int, httpx2.Headers, str]:
        """Send one request; its whole body has to come within the timeout, however it drips."""
        deadline = time.monotonic() + self.pin.access.timeout_s
        content = json.dumps(body).encode("ascii")
        headers = {"Content-Type": "application/json"}
        url = f"{self.pin.base_url}/{path}"
        with self._http.stream("POST", url, content=content, headers=headers) as response:
            received = bytearray()
            for chunk in response.iter_bytes():
                received += chunk
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the body took too long")
                if len(received) > LARGEST_BODY:
                    raise Malformed(f"the body is larger than {LARGEST_BODY} bytes")
            text = self._without_key(received.decode("utf-8", "replace"))
            return response.status_code, response.headers, text

    def _failure(self, status: int, headers: httpx2.Headers, text: str) -> Exception:
        said = complaint(text)
        if status in _FATAL or 300 <= status < 400 or "insufficient_quota" in text:
            # A refusal of the key may quote the key: its words are left out.
            words = "" if status in (401, 403) else f": {said}"
            return ModelError(
                f"the server refuses every request (HTTP {status}){words}.",
                where=self.pin.base_url,
                fix=_FIXES.get(status, "see what the server says."),
            )
        if status not in _PASSING and status < 500:
            return Refused(f"HTTP {status}: {said}")
        wait_s = _asked_wait(headers.get("Retry-After"))
        if wait_s is not None and wait_s > LONGEST_WAIT_S:
            return Unanswered(f"HTTP {status}: the server asks to wait {wait_s:.0f} s")
        return _Passing(f"HTTP {status}: {said}", wait_s)

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def _key(pin: ApiPin) -> str | None:
    name = pin.access.key_env
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise ModelError(
            f"the environment variable {name} does not hold a key.",
            where=pin.base_url,
            fix=f"export {name}=… in the shell that runs Assay; leave key_env out for no key.",
        )
    return key


def _wait(state: RetryCallState) -> float:
    """Wait as long as the server asks and a little more, else longer each time, at random."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, _Passing) and error.wait_s is not None:
        return error.wait_s + _JITTER(state)
    return _BACKOFF(state)


def _asked_wait(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header names, as a number or as a date."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
