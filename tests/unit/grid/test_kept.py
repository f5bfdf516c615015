"""A model that stays loaded between jobs: real keepers, real weights, real signals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import ModelError
from assay.core.host import started
from assay.core.model import Batch, Model, Outcome
from assay.grid import kept as module
from assay.grid.collect import collect
from assay.grid.job import load_backend
from assay.grid.keepers import keeper_folder, running
from assay.grid.kept import KeptModel, kept_or_loaded, name_of
from assay.models.render import Renderer
from assay.records.manifest import Manifest
from support.embedded import ITEMS, embedded
from support.two_ways import job
from support.workspace import TINY_GRID

pytestmark = pytest.mark.model


@pytest.fixture
def keepers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder of keepers with a short name; those left in it are ended."""
    folder = Path(tempfile.mkdtemp(prefix="keep", dir="/tmp"))
    monkeypatch.setenv("ASSAY_KEEPERS", str(folder))
    yield folder
    for path in folder.glob("*.sock"):
        if (process := running(path)) is not None:
            os.kill(process[0], signal.SIGKILL)
    shutil.rmtree(folder)


@dataclass
class Asked:
    """The embedded model as jobs get it."""

    parameters: str
    folder: Path
    renderer: Renderer
    spec: Any
    digests: dict[str, str]

    def model(self, reuse_s: float = 600, **changes: Any) -> Model:
        options = {"device": "cpu", "threads": 1, "gpus": None} | changes
        return kept_or_loaded(
            *(self.parameters, self.folder, self.digests),
            out=self.folder,
            code="c",
            reuse_s=reuse_s,
            **options,
        )

    def collect(self, folder: Path, load: Callable[[], Any], items: Sequence[Any]) -> Manifest:
        return collect(
            replace(job(self.spec, TINY_GRID, items), token_budget=200), folder, self.renderer, load
        )


@pytest.fixture(scope="module")
def asked(project: Path, assay_cache: Path) -> Asked:
    spec, files = embedded(project, assay_cache)
    identity = {"backend": "hf_local", "model": {"dtype": "float32"}}
    parameters = {"identity": identity, "model": spec.model_dump(mode="json")}
    renderer = Renderer(files.folder, spec)
    return Asked(json.dumps(parameters), files.folder, renderer, spec, dict(files.digests))


def process(model: Any) -> tuple[int, str]:
    found = running(model._path)
    assert found is not None
    return found


def ended(pid: int, start: str, within: float = 10.0) -> bool:
    deadline = time.monotonic() + within
    while started(pid) == start and time.monotonic() < deadline:
        time.sleep(0.05)
    return started(pid) != start


OTHERS = ("SIGTERM", "another model")


class Murdered:
    """A kept model whose keeper is killed before the second batch."""

    def __init__(self, model: Any):
        self.model, self.capabilities, self.asked = model, model.capabilities, 0

    @property
    def stats(self) -> Any:
        return self.model.stats

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        self.asked += 1
        if self.asked == 2:
            os.kill(process(self.model)[0], signal.SIGKILL)
        outcomes: Sequence[Outcome] = self.model.execute(batch, max_new_tokens=max_new_tokens)
        return outcomes


def test_two_benchmarks_one_load_and_the_records_of_two_loads(
    asked: Asked, keepers: Path, tmp_path: Path
) -> None:
    def loaded() -> Model:
        options = {"device": "cpu", "threads": 1, "gpus": None}
        return load_backend(asked.parameters, asked.folder, out=tmp_path, **options)

    models: list[Any] = []
    for number, items in enumerate((ITEMS[:1], ITEMS[1:2])):
        models.append(asked.model())
        kept = asked.collect(tmp_path / f"kept{number}", lambda: models[-1], items)
        alone = asked.collect(tmp_path / f"alone{number}", loaded, items)
        for name in ("records.jsonl", "prompts.parquet"):
            found = [(tmp_path / f"{how}{number}" / name).read_bytes() for how in ("kept", "alone")]
            assert found[0] == found[1]
        did, did_alone = kept.run["backend"], alone.run["backend"]
        assert did["jobs_of_this_model"] == number + 1
        assert (did["load_s"] > 0) == (number == 0)
        for count in ("prompt_tokens", "forwarded_tokens", "new_tokens", "splits"):
            assert did[count] == did_alone[count]
        models[-1].close()
    assert process(models[0]) == process(models[1])


def test_a_killed_keeper_is_replaced_and_the_records_are_the_same(
    asked: Asked, keepers: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = asked.model()
    asked.collect(tmp_path / "whole", lambda: first, ITEMS[:2])  # type: ignore[arg-type]
    before = process(first)
    first.close()  # type: ignore[attr-defined]
    second = Murdered(asked.model())
    asked.collect(tmp_path / "killed", lambda: second, ITEMS[:2])  # type: ignore[arg-type]
    assert second.asked >= 2
    assert process(second.model) != before
    assert "the process that keeps the model ended" in capfd.readouterr().err
    for name in ("records.jsonl", "prompts.parquet"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
    kept = process(second.model)
    with pytest.raises(ModelError, match="the process that keeps the model failed"):
        second.model.execute("no batch", max_new_tokens=1)
    assert "AttributeError" in capfd.readouterr().err
    assert ended(*kept)


@pytest.mark.slow
def test_keepers_that_die_again_and_again_stop_the_job(
    asked: Asked, keepers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_DEATHS", 0)
    model = Murdered(asked.model())
    with pytest.raises(ModelError, match="1 processes that kept the model ended"):
        asked.collect(tmp_path, lambda: model, ITEMS)


def test_what_the_runtime_refuses_is_the_jobs_error_and_the_keepers_end(
    asked: Asked, keepers: Path
) -> None:
    with pytest.raises(ModelError, match="cuda: there is no cuda device here. Fix: set"):
        asked.model(device="cuda")
    (path,) = keepers.glob("*.lock")
    deadline = time.monotonic() + 10
    while running(path) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(path) is None


@pytest.mark.slow
def test_a_keeper_leaves_when_nobody_comes_and_tidies_up(asked: Asked, keepers: Path) -> None:
    model = asked.model(reuse_s=0.1)
    kept = process(model)
    assert not ended(*kept, within=2.0), "a job is there, however long it takes"
    model.close()  # type: ignore[attr-defined]
    assert ended(*kept)
    assert [path.suffix for path in keepers.iterdir()] == [".lock"]


@pytest.mark.parametrize(
    "how", ["runner", *(pytest.param(how, marks=pytest.mark.slow) for how in OTHERS)]
)
def test_a_keeper_leaves_when_it_is_not_wanted(
    asked: Asked, keepers: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    runner = subprocess.Popen(["sleep", "600"])
    monkeypatch.setattr(os, "getppid", lambda: runner.pid)
    model = asked.model(reuse_s=600)
    kept = process(model)
    model.close()  # type: ignore[attr-defined]
    if how == "another model":
        other = asked.model(threads=2)
        assert started(kept[0]) != kept[1], "its memory was free before the other loaded"
        assert process(other) != kept
    runner.kill()
    runner.wait()
    if how == "SIGTERM":
        os.kill(kept[0], signal.SIGTERM)
    assert ended(*kept)


@pytest.mark.slow
def test_jobs_at_the_same_time_have_a_keeper_each(asked: Asked, keepers: Path) -> None:
    one, two = asked.model(), asked.model()
    assert process(one) != process(two)
    assert len(list(keepers.glob("*.sock"))) == 2


def test_without_reuse_nothing_is_kept(asked: Asked, keepers: Path) -> None:
    assert not isinstance(asked.model(reuse_s=0), KeptModel)
    assert list(keepers.iterdir()) == []


def test_weights_that_are_not_those_of_the_run_are_refused(asked: Asked, keepers: Path) -> None:
    other = replace(asked, digests=asked.digests | {"weights": "0" * 64})
    for reuse_s in (0, 600):
        with pytest.raises(ModelError, match="not what was fetched: weights changed"):
            other.model(reuse_s=reuse_s)
    assert list(keepers.iterdir()) == []


def test_a_folder_that_others_can_reach_is_refused(keepers: Path) -> None:
    assert keeper_folder() == keepers
    keepers.chmod(0o755)
    with pytest.raises(ModelError, match="not this user's alone"):
        keeper_folder()


def test_a_folder_whose_name_leaves_no_room_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_KEEPERS", str(tmp_path / ("long" * 20)))
    with pytest.raises(ModelError, match="longer than 80 bytes"):
        keeper_folder()


def test_a_keeper_is_named_by_all_that_is_loaded_and_by_no_benchmark(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"device": "cpu", "threads": 1, "gpus": 0}

    def name(**changes: Any) -> str:
        given: dict[str, Any] = {"parameters": asked.parameters, "folder": Path("/m")}
        given |= {"digests": {"weights": "w"}, "code": "c", "options": options}
        return name_of(**given | changes)

    value = json.loads(asked.parameters)
    other = json.dumps({**value, "benchmark": "b", "grid": {}, "run": "0"})
    assert name(parameters=other) == name()
    half = {**value, "identity": {**value["identity"], "model": {"dtype": "bfloat16"}}}
    names = [
        name(),
        name(parameters=json.dumps(half)),
        name(folder=Path("/n")),
        name(digests={"weights": "v"}),
        name(code="d"),
        name(options=options | {"threads": 2}),
    ]
    for variable in ("SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES", "VLLM_CPU_KVCACHE_SPACE"):
        monkeypatch.setenv(variable, "7")
        names.append(name())
    assert len(set(names)) == len(names)
