"""The packaged roster and a user's entries over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import assay
from assay.config.registry import load_model
from assay.core.errors import ConfigError
from assay.core.files import read_json
from assay.core.pins import HubPin, PathPin

#: Before traits came: what decides a model's answers, and so a run's name, is the same.
SMOLLM3 = {
    "chat": "template",
    "dtype": None,
    "quantisation": "none",
    "source": {
        "config": None,
        "files": {},
        "kind": "hub",
        "repo": "HuggingFaceTB/SmolLM3-3B",
        "revision": "a07cc9a04f16550a088caea529712d1d335b0ac1",
        "split": None,
    },
    "template_arguments": {},
    "trust_remote_code": False,
}


def test_the_roster_has_thirty_models_and_more() -> None:
    specs = assay.list_specs()
    assert len(specs) >= 34
    assert len({spec.key for spec in specs}) == len(specs)
    assert len({spec.family for spec in specs}) >= 10


def test_every_revision_is_a_shared_pin(shared: Path) -> None:
    pins = {entry["hub"]: entry["sha"] for entry in read_json(shared / "data/pins.json")["models"]}
    hub = [spec.source for spec in assay.list_specs() if isinstance(spec.source, HubPin)]
    assert len(hub) >= 30
    assert all(pins[pin.repo] == pin.revision for pin in hub)


def test_traits_are_no_part_of_a_models_identity() -> None:
    spec = assay.get_spec("smollm3-3b")
    assert spec.traits == ("reasoning",)
    assert spec.identity() == SMOLLM3


def test_specs_by_trait() -> None:
    thinking = {spec.key for spec in assay.list_specs(trait="reasoning")}
    assert {"qwen3-8b", "smollm3-3b", "granite3.3-2b"} <= thinking
    assert "qwen3-4b" not in thinking


@pytest.fixture
def own(tmp_path: Path) -> Path:
    entries: dict[str, Any] = {
        "mine": {
            "family": "llama",
            "licence": "mine",
            "source": {"kind": "path", "path": "m"},
        },
        "qwen3-8b": {
            "family": "qwen3",
            "licence": "Apache-2.0",
            "source": {"kind": "path", "path": "q"},
        },
    }
    path = tmp_path / "models.yaml"
    path.write_text(yaml.safe_dump(entries))
    return path


def test_own_entries_extend_the_roster_and_come_first(own: Path) -> None:
    assert assay.get_spec("mine", models=own).source == PathPin(path="m")
    assert assay.get_spec("qwen3-8b", models=own).source == PathPin(path="q")
    assert isinstance(assay.get_spec("qwen3-8b").source, HubPin)
    assert len(assay.list_specs(models=own)) == len(assay.list_specs()) + 1


def test_a_run_files_entry_comes_before_both(own: Path) -> None:
    entry = {"family": "x", "licence": "x", "source": {"kind": "path", "path": "run"}}
    found = load_model(own.parent, "qwen3-8b", {"qwen3-8b": entry})
    assert found.source == PathPin(path="run")
    assert load_model(own.parent, "qwen3-8b", {}).source == PathPin(path="q")
    assert isinstance(load_model(own.parent, "qwen3-0.6b", {}).source, HubPin)


def test_an_unknown_key_is_refused_with_the_nearest(own: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'qwen3-8b'"):
        assay.get_spec("qwen3-8B")
    with pytest.raises(ConfigError, match="use one of: .*mine"):
        assay.get_spec("nothing", models=own)
    with pytest.raises(ConfigError, match="hers"):
        load_model(own.parent, "nothing", {"hers": {}})


def test_a_wrong_entry_names_the_key(own: Path) -> None:
    own.write_text("mine: {family: llama, licence: x, source: {kind: hub, repo: a/b}}")
    with pytest.raises(ConfigError, match=r"mine.source.*revision"):
        assay.get_spec("mine", models=own)
