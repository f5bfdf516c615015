"""Whether the pinned repositories of a model hub can be had; asked only if the study has some."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator

from assay.cli.doctor.check import Check, Context, listed
from assay.core.pins import HubPin

_HUB = "https://huggingface.co"
#: Seconds for one answer.
_PATIENCE = 10


def hub(context: Context) -> Check:
    """Ask the hub for every repository of the study at its pinned commit, without a download."""
    if context.study is None:
        return Check("hub", "skipped", "the run file is wrong")
    pins = sorted({*_pins(context)})
    if not pins:
        return Check("hub", "skipped", "nothing of the study comes from a hub")
    if context.study.config.offline or context.environment.get("HF_HUB_OFFLINE") == "1":
        return Check("hub", "skipped", "offline: only what is in the cache is used")
    refused = []
    for kind, repo, revision in pins:
        status = _status(context, f"{kind}/{repo}/revision/{revision}")
        if status == 200:
            # Everybody may see a gated repository, and not everybody its files.
            status = _status(context, f"{kind}/{repo}/auth-check")
        if isinstance(status, str):
            advice = "fetch where the network is (fetching is local), or set HF_ENDPOINT."
            return Check("hub", "wrong", f"cannot be reached: {status}", advice)
        if status != 200:
            refused.append(f"{repo} ({status})")
    token = "HF_TOKEN is set" if context.environment.get("HF_TOKEN") else "HF_TOKEN is not set"
    if refused:
        advice = "401 and 403: accept the terms on its page and set HF_TOKEN; 404: check the pin."
        return Check("hub", "wrong", f"refused: {listed(refused)}; {token}", advice)
    return Check("hub", "ok", f"{len(pins)} repositories answer; {token}")


def _pins(context: Context) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, repository, commit) of everything that comes from a hub."""
    assert context.study is not None
    for model in context.study.models:
        if isinstance(model.source, HubPin):
            yield "models", model.source.repo, model.source.revision
    for benchmark in context.study.benchmarks:
        source = benchmark.spec.source
        if isinstance(source, HubPin):
            yield "datasets", source.repo, source.revision


def _status(context: Context, path: str) -> int | str:
    """Return the HTTP status of a question to the hub, or why there is none."""
    endpoint = context.environment.get("HF_ENDPOINT", _HUB).rstrip("/")
    request = urllib.request.Request(f"{endpoint}/api/{path}")
    token = context.environment.get("HF_TOKEN")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        return str(getattr(error, "reason", error))
