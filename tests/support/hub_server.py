"""A loopback server that speaks the part of the Hugging Face Hub's protocol Assay uses.

It serves repositories from memory: information, tree listings, and files with the headers that the
client libraries check (commit, etag, size). Gated repositories list their files and refuse them.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

_TYPES = {"datasets": "dataset", "models": "model"}


@dataclass
class Repo:
    """A repository: commits (40 hex digits → path → bytes) and branches."""

    commits: dict[str, dict[str, bytes]]
    branches: dict[str, str] = field(default_factory=dict)
    gated: bool = False


@dataclass
class Hub:
    """The running server; `log` holds every request as (method, path)."""

    repos: dict[tuple[str, str], Repo]
    endpoint: str = ""
    log: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def serving(repos: dict[tuple[str, str], Repo]) -> Iterator[Hub]:
    """Serve `repos` ((type, "owner/name") → repository) on a free port of the loopback device."""
    hub = Hub(repos)

    class Handler(_Handler):
        state = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Refusal(Exception):
    def __init__(self, status: int, code: str):
        self.status, self.code = status, code


class _Handler(BaseHTTPRequestHandler):
    state: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_POST(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""

    def _answer(self, *, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.state.log.append((self.command, path))
        length = int(self.headers.get("Content-Length") or 0)
        asked = self.rfile.read(length)
        try:
            if path.startswith("/api/"):
                self._send(200, json.dumps(self._api(path, asked)).encode(), {}, body=body)
            else:
                content, headers = self._file(path)
                self._send(200, content, headers, body=body)
        except _Refusal as refusal:
            text = json.dumps({"error": refusal.code}).encode()
            self._send(refusal.status, text, {"X-Error-Code": refusal.code}, body=body)

    def _send(self, status: int, content: bytes, headers: dict[str, str], *, body: bool) -> None:
        wanted = self.headers.get("Range")
        if status == 200 and body and wanted:
            start, _, end = wanted.removeprefix("bytes=").partition("-")
            stop = int(end) + 1 if end else len(content)
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            status, content = 206, content[int(start) : stop]
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def _repo(self, kind: str, name: str, revision: str) -> tuple[Repo, str]:
        repo = self.state.repos.get((kind, name))
        if repo is None:
            raise _Refusal(401, "RepoNotFound")
        commit = repo.branches.get(revision, revision)
        if commit not in repo.commits:
            raise _Refusal(404, "RevisionNotFound")
        return repo, commit

    def _refuse_if_gated(self, repo: Repo) -> None:
        if repo.gated:
            raise _Refusal(403 if self.headers.get("Authorization") else 401, "GatedRepo")

    def _api(self, path: str, asked: bytes) -> Any:
        _, _, plural, *parts = path.split("/")
        if plural not in _TYPES or len(parts) < 2:
            raise _Refusal(404, "EntryNotFound")
        owner, name, *rest = parts
        if rest == ["auth-check"]:
            repo, _ = self._repo(_TYPES[plural], f"{owner}/{name}", "main")
            self._refuse_if_gated(repo)
            return {}
        action, revision = (rest[0], rest[1]) if len(rest) > 1 else ("revision", "main")
        repo, commit = self._repo(_TYPES[plural], f"{owner}/{name}", revision)
        files = repo.commits[commit]
        if action == "revision":
            siblings = [{"rfilename": file} for file in files]
            gated = "auto" if repo.gated else False
            base = {"id": f"{owner}/{name}", "sha": commit, "private": False, "tags": []}
            return {**base, "gated": gated, "siblings": siblings, "downloads": 0, "likes": 0}
        if action == "tree":
            return _entries(files, "/".join(rest[2:]))
        if action == "paths-info":
            paths = json.loads(asked)["paths"]
            everything = {entry["path"]: entry for entry in _entries(files, "")}
            return [everything[file] for file in paths if file in everything]
        raise _Refusal(404, "EntryNotFound")

    def _file(self, path: str) -> tuple[bytes, dict[str, str]]:
        before, _, after = path.partition("/resolve/")
        kind = "dataset" if before.startswith("/datasets/") else "model"
        revision, _, file = after.partition("/")
        repo, commit = self._repo(kind, before.removeprefix("/datasets").lstrip("/"), revision)
        self._refuse_if_gated(repo)
        if file not in repo.commits[commit]:
            raise _Refusal(404, "EntryNotFound")
        content = repo.commits[commit][file]
        etag = hashlib.sha256(content).hexdigest()
        return content, {"ETag": f'"{etag}"', "X-Repo-Commit": commit, "Accept-Ranges": "bytes"}


def _entries(files: dict[str, bytes], under: str) -> list[dict[str, Any]]:
    """Return the recursive listing of files and folders below `under`."""
    prefix = f"{under}/" if under else ""
    entries: dict[str, dict[str, Any]] = {}
    for path, content in files.items():
        if not path.startswith(prefix):
            continue
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder.startswith(prefix):
                oid = hashlib.sha1(folder.encode()).hexdigest()
                entries[folder] = {"type": "directory", "path": folder, "oid": oid, "size": 0}
        oid = hashlib.sha1(content).hexdigest()
        entries[path] = {"type": "file", "path": path, "oid": oid, "size": len(content)}
    return list(entries.values())
