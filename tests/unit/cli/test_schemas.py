from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from assay.cli.schemas import schema_text, schemas


@pytest.mark.parametrize("name", sorted(schemas()))
def test_a_schema_file_is_what_its_model_says(project: Path, name: str) -> None:
    written = (project / "workflow/schemas" / name).read_text("utf-8")
    assert written == schema_text(schemas()[name]), "run `make schemas`"


def test_there_is_no_schema_without_a_model(project: Path) -> None:
    assert {path.name for path in (project / "workflow/schemas").iterdir()} == set(schemas())


def test_the_run_schema_accepts_the_default_and_refuses_a_typo(project: Path) -> None:
    run = yaml.safe_load((project / "config/config.yaml").read_text("utf-8"))
    jsonschema.validate(run, schemas()["run.schema.json"])
    with pytest.raises(jsonschema.ValidationError, match="modles"):
        jsonschema.validate(run | {"modles": []}, schemas()["run.schema.json"])
