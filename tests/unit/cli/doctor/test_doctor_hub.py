"""A hub on loopback: pins that are there, gated, gone, or cannot be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.cli.doctor.check import Context
from assay.cli.doctor.hub import hub
from support.hub_server import Repo, serving
from support.ports import free_port

Make = Callable[..., Context]
SHA = "a" * 40


def study(*repos: str, revision: str = SHA) -> dict[str, Any]:
    entries = {
        f"m{number}": {
            "family": "f",
            "licence": "l",
            "source": {"kind": "hub", "repo": repo, "revision": revision},
        }
        for number, repo in enumerate(repos)
    }
    return {"models": list(entries), "define": {"models": entries}}


@pytest.mark.parametrize(
    ("repo", "revision", "token", "state", "detail"),
    [
        ("own/open", SHA, "", "ok", "1 repositories answer; HF_TOKEN is not set"),
        ("own/open", "b" * 40, "", "wrong", "refused: own/open (404)"),
        ("own/gated", SHA, "", "wrong", "refused: own/gated (401); HF_TOKEN is not set"),
        ("own/gated", SHA, "hf_secret", "wrong", "refused: own/gated (403); HF_TOKEN is set"),
        ("own/none", SHA, "", "wrong", "refused: own/none (401)"),
    ],
)
def test_what_the_hub_says(
    context: Make, repo: str, revision: str, token: str, state: str, detail: str
) -> None:
    repos = {
        ("model", "own/open"): Repo({SHA: {"config.json": b"{}"}}),
        ("model", "own/gated"): Repo({SHA: {"config.json": b"{}"}}, {"main": SHA}, gated=True),
    }
    repos["model", "own/open"].branches["main"] = SHA
    with serving(repos) as server:
        environment = {"HF_ENDPOINT": server.endpoint, "HF_TOKEN": token, "HF_HUB_OFFLINE": ""}
        found = hub(context(study(repo, revision=revision), environment=environment))
    assert (found.state, found.detail.startswith(detail)) == (state, True), found
    assert "hf_secret" not in repr(found)


def test_a_hub_that_cannot_be_reached(context: Make) -> None:
    environment = {"HF_ENDPOINT": f"http://127.0.0.1:{free_port()}", "HF_HUB_OFFLINE": ""}
    found = hub(context(study("own/open"), environment=environment))
    assert found.state == "wrong"
    assert "Connection refused" in found.detail


def test_nothing_is_asked_without_need(context: Make) -> None:
    with serving({}) as server:
        environment = {"HF_ENDPOINT": server.endpoint, "HF_HUB_OFFLINE": ""}
        assert hub(context({}, environment=environment)).state == "skipped"
        offline = study("own/open") | {"offline": True}
        assert hub(context(offline, environment=environment)).state == "skipped"
        assert hub(context(None, environment=environment)).state == "skipped"
        assert server.log == []
