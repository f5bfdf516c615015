from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.benchmarks.snapshot import read_snapshot
from support.hub_server import Hub, Repo, serving

SHA, OTHER = "a" * 40, "b" * 40
CARD = b"""---
configs:
- config_name: multiple_choice
  data_files:
  - split: validation
    path: multiple_choice/validation-*
- config_name: generation
  data_files:
  - split: validation
    path: generation/validation-*
---
"""
MODEL_FILES = {
    "config.json": b"{}",
    "model.safetensors": b"weights",
    "tokenizer.json": b"{}",
    "tokenizer_config.json": b"{}",
    "chat_template.jinja": b"{{ messages }}",
    "pytorch_model.bin": b"pickle",
    "modeling.py": b"print('never')",
    "onnx/model.json": b"{}",
    "README.md": b"# A model",
}
#: Once, a script of a dataset's name made its rows.
SCRIPT = b"""
import datasets, os, pathlib
pathlib.Path(os.environ["HF_HOME"], "ran").write_text("ran")
class Scripted(datasets.GeneratorBasedBuilder):
    pass
"""
WEIGHTS = ["chat_template.jinja", "config.json", "model.safetensors", "tokenizer.json"]
WEIGHTS += ["tokenizer_config.json"]

Reader = Callable[[str], list[dict[str, Any]]]
Ask = Callable[..., list[Any]]


def parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


@pytest.fixture(scope="module")
def hub(normalised: Reader) -> Iterator[Hub]:
    """Serve the real TruthfulQA in two files, a gated copy of it, and two models."""
    rows = [
        {
            "question": row["question"],
            "mc1_targets": {
                "choices": row["options"],
                "labels": [int(place == row["gold"]) for place in range(len(row["options"]))],
            },
        }
        for row in normalised("truthfulqa_mc1.full.jsonl.gz")
    ]
    files = {
        "README.md": CARD,
        "multiple_choice/validation-00000-of-00002.parquet": parquet(rows[:400]),
        "multiple_choice/validation-00001-of-00002.parquet": parquet(rows[400:]),
        "generation/validation-00000-of-00001.parquet": parquet([{"question": "?"}]),
    }
    data = Repo({SHA: files}, {"main": SHA})
    pickled = {name: MODEL_FILES[name] for name in ("config.json", "pytorch_model.bin")}
    repos = {
        ("dataset", "me/truth"): data,
        ("dataset", "me/gated"): Repo(data.commits, data.branches, gated=True),
        ("dataset", "me/scripted"): Repo({SHA: {"scripted.py": SCRIPT}}, {"main": SHA}),
        ("model", "me/model"): Repo({SHA: MODEL_FILES, OTHER: pickled}, {"main": SHA}),
        ("model", "me/gated"): Repo({SHA: MODEL_FILES}, {"main": SHA}, gated=True),
    }
    with serving(repos) as running:
        yield running


@pytest.fixture
def ask(hub: Hub, tmp_path: Path, project: Path) -> Ask:
    """Return a function that runs operations in one process and returns what they gave."""

    def run(*operations: list[Any], **environment: str) -> list[Any]:
        places = {
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "PYTHONPATH": f"{project}/tests:{project}/src",
        }
        done = subprocess.run(
            [sys.executable, "-m", "support.hub_client"],
            input=json.dumps(
                [[name, str(tmp_path / "cache"), *rest] for name, *rest in operations]
            ),
            env={**os.environ, **places, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def pin(repo: str = "me/truth", revision: str = SHA, **changes: Any) -> dict[str, Any]:
    base = {"repo": repo, "revision": revision, "config": "multiple_choice", "split": "validation"}
    return {**base, **changes}


def spec(**changes: Any) -> dict[str, Any]:
    base = {"key": "truth", "source": {"kind": "hub", **pin()}, "split": "validation"}
    return {**base, "adapter": "truthfulqa", "licence": "Apache-2.0", **changes}


def test_fetch_once_then_offline_without_the_hub_libraries(
    ask: Ask, hub: Hub, normalised: Reader
) -> None:
    (digests,) = ask(["fetch", pin(), False])
    assert sorted(digests) == [
        "multiple_choice/validation-00000-of-00002.parquet",
        "multiple_choice/validation-00001-of-00002.parquet",
    ]
    before = len(hub.log)
    rows, modules = ask(
        ["rows", pin(), True], ["imported"], HF_HUB_OFFLINE="1", HF_ENDPOINT="http://127.0.0.1:9"
    )
    assert modules == []
    assert len(hub.log) == before
    real = normalised("truthfulqa_mc1.full.jsonl.gz")
    assert [row["question"] for row in rows] == [row["question"] for row in real]
    assert [row["mc1_targets"]["choices"] for row in rows] == [row["options"] for row in real]


def test_a_second_fetch_asks_the_hub_nothing(ask: Ask, hub: Hub) -> None:
    ask(["fetch", pin(), False])
    before = len(hub.log)
    ask(["fetch", pin(), False])
    assert len(hub.log) == before


def test_what_cannot_be_fetched_says_why(ask: Ask) -> None:
    errors = ask(
        ["fetch", pin("me/gated"), False],
        ["fetch", pin(revision=OTHER), False],
        ["fetch", pin("me/nothing"), False],
        ["fetch", pin(split="test"), False],
        ["fetch", pin(config="mc"), False],
        ["fetch", pin(files={"data/x.parquet": "0" * 64}), False],
        ["fetch", pin(), True],
        ["model", pin("me/gated"), False],
        ["model", pin("me/model", OTHER), False],
        ["resolve", "me/truth", "dataset", "no-such-branch"],
    )
    expected = [
        "is gated: its owner wants its terms accepted first. Fix: accept them",
        f"has no revision {OTHER}. Fix: run `assay pin",
        "there is no such repository, or it is private",
        "there is no split 'test'. Fix: use one of: validation",
        "Available: ['multiple_choice', 'generation']",
        "the pin names the file 'data/x.parquet'",
        "its fetch never came to its end. Fix: fetch it once with a connection",
        "is gated",
        "has no weights in safetensors format",
        "has no revision no-such-branch",
    ]
    for answer, words in zip(errors, expected, strict=True):
        assert words in answer["error"], answer


def test_a_token_that_was_not_granted_access_is_gated_too(ask: Ask) -> None:
    (answer,) = ask(["fetch", pin("me/gated"), False], HF_TOKEN="hf_x")
    assert "is gated" in answer["error"]


def test_no_connection_says_so(ask: Ask) -> None:
    closed = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_ETAG_TIMEOUT": "2"}
    answers = ask(["fetch", pin(), False], ["resolve", "me/truth", "dataset", "main"], **closed)
    assert all("check connection, HF_ENDPOINT" in answer["error"] for answer in answers)
    (answer,) = ask(["fetch", pin(), False], HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set" in answer["error"]


def test_a_missing_file_is_refused_offline_and_fetched_again_online(
    ask: Ask, tmp_path: Path
) -> None:
    (digests,) = ask(["fetch", pin(), False])
    (lost, *_) = (tmp_path / "cache").rglob("validation-00001-of-00002.parquet")
    lost.resolve().unlink()
    lost.unlink(missing_ok=True)
    refused, again = ask(["rows", pin(), True], ["fetch", pin(), False])
    assert f"{lost}: a file of me/truth is missing" in refused["error"]
    assert again == digests


def test_an_altered_file_is_refused_by_name(ask: Ask, tmp_path: Path) -> None:
    ask(["fetch", pin(), False])
    (file, *_) = (tmp_path / "cache").rglob("validation-00000-of-00002.parquet")
    content = bytearray(file.read_bytes())
    content[99] ^= 1
    file.resolve().write_bytes(content)
    for answer in ask(["rows", pin(), True], ["fetch", pin(), False]):
        assert f"{file}: a file of me/truth was altered after it was fetched" in answer["error"]


def test_digests_in_the_pin_are_checked(ask: Ask) -> None:
    (digests,) = ask(["fetch", pin(), False])
    name = next(iter(digests))
    right, wrong = pin(files=digests), pin(files={**digests, name: "0" * 64})
    good, bad = ask(["fetch", right, True], ["fetch", wrong, True])
    assert good == digests
    assert f"{name} has sha256 {digests[name]}, the pin says 0000" in bad["error"]


def test_a_branch_is_shown_as_its_commit(ask: Ask) -> None:
    assert ask(
        ["resolve", "me/truth", "dataset", "main"], ["resolve", "me/model", "model", "main"]
    ) == [SHA, SHA]


def test_a_model_is_weights_configuration_and_tokenizer_only(ask: Ask, hub: Hub) -> None:
    fetched, offline = ask(["model", pin("me/model"), False], ["model", pin("me/model"), True])
    assert fetched == offline == WEIGHTS
    assert not [path for _, path in hub.log if path.endswith((".bin", ".py")) and "model" in path]


def test_code_of_a_model_is_fetched_where_its_entry_says_so(ask: Ask) -> None:
    """And kept apart in the list of what was fetched: the same pin without the flag has none."""
    plain, coded, offline, tampered = ask(
        ["model", pin("me/model"), False],
        ["model", pin("me/model"), False, True],
        ["model", pin("me/model"), True, True],
        ["model", pin("me/model", files={"modeling.py": "0" * 64}), True, True],
    )
    assert plain == WEIGHTS
    assert coded == offline == sorted([*WEIGHTS, "modeling.py"])
    assert "modeling.py has sha256" in tampered["error"]


def test_a_script_of_a_dataset_does_not_run(ask: Ask, tmp_path: Path) -> None:
    (answer,) = ask(["fetch", pin("me/scripted", config=None), False])
    assert "me/scripted" in answer["error"]
    assert not list(tmp_path.rglob("ran"))


def test_an_altered_weight_is_refused(ask: Ask, tmp_path: Path) -> None:
    ask(["model", pin("me/model"), False])
    (file, *_) = (tmp_path / "cache").rglob("model.safetensors")
    file.resolve().write_bytes(b"weighty")
    (answer,) = ask(["model", pin("me/model"), True])
    assert f"{file}: a file of me/model was altered" in answer["error"]


def test_truthfulqa_snapshots_from_the_hub(ask: Ask, tmp_path: Path) -> None:
    """817 items by default; 679 under the released rule: 684 with four options, less five."""
    whole, released = ask(
        ["snapshot", spec(), {"rule": "all"}, str(tmp_path / "all")],
        ["snapshot", spec(), {"rule": "released"}, str(tmp_path / "released")],
    )
    assert whole["selected"]["items"] == 817
    assert whole["spec"]["gold_seed"] == 0
    assert released["selected"]["items"] == 679
    assert released["excluded"] == {"2 options": 43, "3 options": 90}
    assert released["files"]["fewshot.jsonl"]["rows"] == 5
    items = read_snapshot(tmp_path / "released").items
    assert {len(item.options) for item in items} == {4}
    shares = [sum(item.gold == place for item in items) / 679 for place in range(4)]
    assert all(0.18 < share < 0.32 for share in shares), shares
