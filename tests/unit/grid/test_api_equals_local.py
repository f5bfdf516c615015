"""The same weights here and behind a server give the same records."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.core.capability import CapabilityError
from assay.core.spec import ModelSpec
from assay.grid.collect import collect
from assay.models.backends.hf_local import HFLocal
from assay.models.fetch import ModelFiles
from assay.models.render import Renderer
from support.api_jobs import GENERATION
from support.api_server import Server, serving
from support.embedded import embedded
from support.embedded_server import EmbeddedAnswers
from support.ports import free_port
from support.two_ways import collect_there, compare, job, records, served
from support.workspace import TINY_GRID

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def files(project: Path, assay_cache: Path) -> tuple[ModelSpec, ModelFiles]:
    return embedded(project, assay_cache)


@pytest.fixture(scope="module")
def local(files: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, HFLocal, Renderer]:
    """Return the shard as this process computes it, with the model and renderer that did."""
    spec, found = files
    folder = tmp_path_factory.mktemp("here")
    renderer = Renderer(found.folder, spec)
    model = HFLocal.load(found.folder, spec, dtype="float32", device="cpu", threads=1)
    collect(job(spec, TINY_GRID), folder, renderer, lambda: model)
    return folder, model, renderer


def test_records_of_a_server_are_those_of_its_weights(
    files: Any, local: tuple[Path, HFLocal, Renderer], tmp_path: Path
) -> None:
    here, model, renderer = local
    with serving(Server(EmbeddedAnswers(model, renderer))) as server:
        collect_there(job(served(files[0], server.url, "smollm2"), TINY_GRID), tmp_path)
    assert compare(here, tmp_path) < 1e-3
    for ours, theirs in zip(records(here), records(tmp_path), strict=True):
        for key, own in ours.observations.items():
            assert own.new_tokens == theirs.observations[key].new_tokens


@contextmanager
def program(command: list[str], port: int, log: Path, **settings: str) -> Iterator[str]:
    """Run a server as a program of its own and return its base URL once it is up."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1"} | settings
    with log.open("wb") as stream:
        running = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
    try:
        deadline = time.monotonic() + 150
        while not _is_up(f"http://127.0.0.1:{port}/health"):
            assert running.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        running.terminate()
        running.wait(30)


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def python() -> Path:
    """Return the Python of the vLLM environment."""
    named = os.environ.get("ASSAY_VLLM_PYTHON")
    if not named or not Path(named).exists():
        pytest.skip("no vLLM environment is at hand (set ASSAY_VLLM_PYTHON to its python)")
    return Path(named)


@pytest.mark.slow
def test_vllm_serve_gives_the_same_records(
    files: Any, local: tuple[Path, HFLocal, Renderer], python: Path, tmp_path: Path
) -> None:
    spec, found = files
    port = free_port()
    command = [str(python), "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(found.folder), "--served-model-name", "smollm2"]
    command += ["--dtype", "float32", "--max-model-len", "1024", "--enforce-eager"]
    command += ["--block-size", "32", "--host", "127.0.0.1", "--port", str(port)]
    settings = {"VLLM_CPU_OMP_THREADS_BIND": "0-1", "VLLM_CPU_NUM_OF_RESERVED_CPU": "0"}
    settings |= {"VLLM_CPU_KVCACHE_SPACE": "1", "PYTHONPATH": ""}
    with program(command, port, tmp_path / "log", **settings) as url:
        manifest = collect_there(job(served(spec, url, "smollm2"), TINY_GRID), tmp_path / "there")
    assert compare(local[0], tmp_path / "there") < 1e-3
    assert manifest.run["backend"]["usage"]["uncounted"] == 0


@pytest.mark.slow
def test_transformers_serve_generates_the_same_and_may_not_score(
    files: Any, local: tuple[Path, HFLocal, Renderer], tmp_path: Path
) -> None:
    for needed in ("fastapi", "uvicorn", "openai"):  # transformers[serving]
        pytest.importorskip(needed)
    spec, found = files
    port = free_port()
    command = [str(Path(sys.executable).parent / "transformers"), "serve", str(found.folder)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    with program([*command, "--device", "cpu"], port, tmp_path / "log") as url:
        there = served(spec, url, str(found.folder), concurrency=2)
        # It takes the wish for log-probabilities and gives none, without a word.
        with pytest.raises(CapabilityError, match="gives none with its completions"):
            collect_there(job(there, TINY_GRID), tmp_path / "refused")
        collect_there(job(there, GENERATION), tmp_path / "there")
    # It counts the end token, and calls an answer cut off whose end is the last token allowed.
    compare(local[0], tmp_path / "there", but="finish")
