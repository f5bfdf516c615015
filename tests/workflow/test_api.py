"""A model behind a server in the real workflow: no weights are fetched, a report comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.api_server import Counting, Server, serving
from support.secrets import spilled
from support.workspace import Workspace

pytestmark = pytest.mark.workflow


def test_a_served_model_ends_in_records_and_no_key_is_anywhere(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, token = "sk-workflow-0987654321", "hf_planted_1234567890"
    monkeypatch.setenv("ASSAY_TEST_KEY", key)
    monkeypatch.setenv("HF_TOKEN", token)
    space = Workspace.create(project, tmp_path / "w", tmp_path / "cache")
    with serving(Server(Counting())) as server:
        access = {"key_env": "ASSAY_TEST_KEY", "timeout_s": 5}
        source = {"kind": "api", "base_url": server.url, "model": "words-1", "access": access}
        entry = {"family": "words", "licence": "none", "source": source}
        space.config["define"]["models"] = {"served": entry}
        space.config["models"] = ["served"]
        space.config["benchmarks"] = [{"key": "mine"}]
        ran = space.snakemake("--until", "collect")
        assert ran.status == 0, ran.output
        assert not list((tmp_path / "cache").rglob("*.safetensors"))
        assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {key}"}
        shard = space.shard("served", "mine")
        before = (shard / "records.jsonl").read_bytes()
        # A finished shard is made again from what is on disk: nothing is asked twice.
        (shard / "manifest.json").unlink()
        asked = server.number
        space.config["define"]["models"]["served"]["source"]["access"]["concurrency"] = 2
        again = space.snakemake("--until", "collect")
        assert again.status == 0, again.output
        assert server.number == asked
    assert (shard / "records.jsonl").read_bytes() == before
    for secret in (key, token):
        assert spilled(space.root, secret) == []
        assert spilled(tmp_path / "cache", secret) == []
