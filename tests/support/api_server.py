"""An OpenAI-compatible server on loopback, with faults laid over its answers on demand.

What answers is given: `Counting` is a small deterministic language model over words (its
log-probabilities are a function of the words before), `assay_answers` the embedded model.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str, dict[str, Any]], dict[str, Any]]
#: What may happen to one request; "ok" answers it.
FAULTS = (
    *("429", "429 date", "500", "503", "drop", "cut body", "no JSON", "two choices", "no choice"),
    *("lacking", "hang", "drip"),
)


@dataclass
class Server:
    """A running server.

    Attributes
    ----------
    asked : list of (path, body)
        Every request that was answered well, in order.
    fault : callable
        Number of a request, and how often the same words were sent before → what happens to it.
    headers : list of dict
        The headers of every request.
    """

    answer: Answer
    fault: Callable[[int, int], str] = lambda number, tries: "ok"
    delay: float = 0.0
    url: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    number: int = 0
    tries: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Refusal(Exception):
    """An HTTP error of the server: status, body."""


@contextmanager
def serving(server: Server, port: int = 0) -> Iterator[Server]:
    """Run `server` until the block ends."""

    class Handler(_Handler):
        state = server

    http = _Quiet(("127.0.0.1", port), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that has gone away is no error of the server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state = self.state
        with state.lock:
            number, state.number = state.number, state.number + 1
            state.headers.append(dict(self.headers))
            state.at_once += 1
            state.most_at_once = max(state.most_at_once, state.at_once)
            words = json.dumps([self.path, body])
            fault = state.fault(number, state.tries[words])
            state.tries[words] += 1
            state.faults[fault] += 1
        try:
            time.sleep(state.delay)
            self._reply(self.path.removeprefix("/v1/"), body, fault)
        finally:
            with state.lock:
                state.at_once -= 1

    def _reply(self, path: str, body: dict[str, Any], fault: str) -> None:
        try:
            reply = self.state.answer(path, body)
        except Refusal as error:
            status, words = error.args
            return self._send(status, json.dumps({"error": {"message": words}}).encode())
        match fault:
            case "429":
                return self._send(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0"})
            case "429 date":
                past = "Wed, 21 Oct 2015 07:28:00 GMT"
                return self._send(429, b'{"error": "slow"}', {"Retry-After": past})
            case "500" | "503":
                return self._send(int(fault), b"<html>Internal Server Error</html>")
            case "drop":
                return self._hang_up()
            case "hang":
                time.sleep(1.5)
                self.close_connection = True
                return None
            case "two choices":
                reply = {**reply, "choices": reply["choices"] * 2}
            case "no choice":
                reply = {**reply, "choices": []}
            case "lacking":
                (choice,) = reply["choices"]
                choice["logprobs" if "logprobs" in choice else "finish_reason"] = None
        content = json.dumps(reply).encode()
        if fault == "no JSON":
            content = content[: len(content) // 2]
        if fault == "cut body":
            self._send(200, content, cut=True)
        elif fault == "drip":
            self._send(200, content, pause=0.2)
        else:
            if fault == "ok":
                with self.state.lock:
                    self.state.asked.append((path, body))
            self._send(200, content)
        return None

    def _send(
        self,
        status: int,
        content: bytes,
        headers: dict[str, str] | None = None,
        *,
        cut: bool = False,
        pause: float = 0.0,
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            if pause:
                for start in range(0, len(content), 8):
                    self.wfile.write(content[start : start + 8])
                    self.wfile.flush()
                    time.sleep(pause)
            else:
                self.wfile.write(content[: len(content) // 2] if cut else content)
                self.wfile.flush()
        except OSError:
            pass  # the client has given up
        if cut:
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@dataclass
class Counting:
    """A deterministic language model over words: what follows is a hash of what came before.

    Parameters
    ----------
    shift : int
        Positions by which echoed log-probabilities are listed too early, as some servers do.
    logprobs : bool
        False ignores the wish for log-probabilities without a word.
    longest : int
        Words that it has positions for.
    """

    shift: int = 0
    logprobs: bool = True
    longest: int = 1000
    usage: bool = True

    def __call__(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        chat = path == "chat/completions"
        prompt = json.dumps(body["messages"]) if chat else body["prompt"]
        given = _words(prompt)
        limit = body.get("max_tokens") or body["max_completion_tokens"]
        if len(given) + limit > self.longest:
            message = f"This model's maximum context length is {self.longest} tokens."
            raise Refusal(400, message)
        new, finish = self._continue(given, limit)
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
        if chat:
            choice["message"] = {"role": "assistant", "content": "".join(new).strip()}
        else:
            echoed = given if body.get("echo") else []
            choice["text"] = "".join(echoed + new)
            if body.get("logprobs") is not None and self.logprobs:
                choice["logprobs"] = self._listed(given, new, bool(echoed))
        reply = {"model": body["model"], "system_fingerprint": "fp1", "choices": [choice]}
        if self.usage:
            reply["usage"] = {"prompt_tokens": len(given), "completion_tokens": len(new)}
        return reply

    def _continue(self, given: list[str], limit: int) -> tuple[list[str], str]:
        new: list[str] = []
        while len(new) < limit:
            number = _hash([*given, *new])
            if new and number % 7 == 0:
                return new, "stop"
            new.append(f" {'ABCD'[number % 4]}")
        return new, "length"

    def _listed(self, given: list[str], new: list[str], echoed: bool) -> dict[str, Any]:
        words = given + new
        values = [_logprob(words[:n], word) if n else None for n, word in enumerate(words)]
        if echoed and self.shift:
            values = [*values[self.shift :], *([-1.0] * self.shift)]
        start = 0 if echoed else len(given)
        return {"tokens": words[start:], "token_logprobs": values[start:]}


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def _hash(words: list[str]) -> int:
    return int(hashlib.sha256("".join(words).encode()).hexdigest()[:8], 16)


def _logprob(before: list[str], word: str) -> float:
    return -(_hash([*before, "|", word]) % 9973) / 1000
