from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from assay.benchmarks.spec import BenchmarkSpec, Selection


def entry(**changes: Any) -> str:
    base = {
        "key": "mine",
        "source": {"kind": "path", "path": "items.jsonl"},
        "adapter": "generic",
        "licence": "CC0",
    }
    return json.dumps({**base, **changes})


def test_name_and_title_default_to_the_key() -> None:
    spec = BenchmarkSpec.model_validate_json(entry())
    assert (spec.name, spec.title) == ("mine", "mine")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exclude": ["of_the_abov"]}, "unknown flags"),
        ({"adapter": "arc"}, "labelled"),
        ({"keep_options": 4}, "truthfulqa adapter only"),
        ({"key": "a/b"}, "match pattern"),
        ({"colums": {}}, "not permitted"),
        ({"preprocessing": "2"}, "integer"),
        (
            {"source": {"kind": "hub", "repo": "a/b", "revision": "main"}},
            "'main' is not a commit",
        ),
    ],
)
def test_wrong_entries_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        BenchmarkSpec.model_validate_json(entry(**changes))


def test_identity_ignores_words_for_people() -> None:
    spec = BenchmarkSpec.model_validate_json(entry())
    same = BenchmarkSpec.model_validate_json(entry(title="Mine", licence="MIT", attribution="me"))
    assert spec.identity() == same.identity()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"filters": {"topic": "a*"}},
        {"exclude": ["of_the_above"]},
        {"option_counts": [4]},
        {"gold_seed": 1},
        {"preprocessing": 2},
        {"columns": {"question": "stem"}},
        {"source": {"kind": "path", "path": "other.jsonl"}},
    ],
)
def test_identity_holds_what_decides_the_items(changes: dict[str, Any]) -> None:
    changed = BenchmarkSpec.model_validate_json(entry(**changes))
    assert changed.identity() != BenchmarkSpec.model_validate_json(entry()).identity()


def test_selection_identity_leaves_out_what_the_rule_does_not_read() -> None:
    assert Selection(items=6, seed=1).identity() == Selection(items=6, seed=2).identity()
    assert Selection(items=6, salt="a").identity() != Selection(items=6, salt="b").identity()
    released = Selection(rule="released", items=6)
    assert released.identity() == {"items": 6, "pool": 5, "rule": "released", "seed": 1234}


def test_all_takes_no_number() -> None:
    with pytest.raises(ValidationError, match="takes no number"):
        Selection(rule="all", items=3)


def test_pins_name_everything_to_fetch(registry: dict[str, BenchmarkSpec]) -> None:
    assert len(registry["mmlu"].pins()) == 4
    assert registry["arc_challenge"].pins() == (registry["arc_challenge"].source,)


def test_import_is_light() -> None:
    code = (
        "import sys, assay.benchmarks.spec;"
        "heavy = {'pandas', 'pyarrow', 'torch', 'datasets', 'huggingface_hub', 'numpy'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
