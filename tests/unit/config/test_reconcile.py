from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.config import Study, code_digest, load_study
from assay.config.reconcile import reconcile


@pytest.fixture
def study(project: Path, tmp_path: Path) -> Iterator[Study]:
    """A study of this project whose results lie in a folder of the test's own."""
    before = Path.cwd()
    os.chdir(tmp_path)
    for name in ("config", "scripts", "src"):
        (tmp_path / name).symlink_to(project / name)
    yield load_study(Path("config/config.yaml"))
    os.chdir(before)


def seal(study: Study, **changes: object) -> Path:
    plan = study.present[0]
    path = plan.folder / "manifest.json"
    path.parent.mkdir(parents=True)
    value = {
        "spec": plan.parameters,
        "code": code_digest(Path("scripts/collect.py")),
        "statuses": {"gen|letter_plain|p0": {"ok": 5}},
    }
    path.write_text(json.dumps(value | changes))
    return path


def test_a_seal_that_agrees_stays(study: Study) -> None:
    path = seal(study)
    assert reconcile(study) == []
    assert path.exists()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spec": "{}"}, "other parameters"),
        ({"code": "0"}, "other code than collect.py"),
        ({"statuses": {"k": {"ok": 4, "oom": 1}}}, "1 observations have no answer"),
    ],
)
def test_a_stale_seal_is_deleted_with_its_reason(
    study: Study, changes: dict[str, object], reason: str
) -> None:
    path = seal(study, **changes)
    ((stale, said),) = reconcile(study)
    assert (stale, path.exists()) == (path, False)
    assert reason in said


def test_an_unreadable_seal_is_stale(study: Study) -> None:
    path = seal(study)
    path.write_text("{")
    assert reconcile(study) == [(path, "it cannot be read")]


def test_missing_observations_may_be_kept(study: Study) -> None:
    path = seal(study, statuses={"k": {"backend_error": 2}})
    runtime = study.config.runtime.model_copy(update={"keep_missing": True})
    kept = Study(
        study.config.model_copy(update={"runtime": runtime}),
        study.models,
        study.benchmarks,
        study.grid,
    )
    assert reconcile(kept) == []
    assert path.exists()
