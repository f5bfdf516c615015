"""What the harness's own schema, and another project's reader of its logs, say of our files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.export import read_cells, write_lm_eval
from assay.leaderboard import load
from support.peers import run_peer

#: Judges a results file, or the lines of a samples file; prints the places of the errors.
SCHEMA = """
import json, sys
from pydantic import TypeAdapter, ValidationError
from lm_eval.result_schema import EvalResults, SampleResult
from lm_eval.utils import get_file_task_name, get_results_filenames, get_sample_results_filenames
places, tasks = set(), set()
results, line_of_samples = TypeAdapter(EvalResults), TypeAdapter(SampleResult)
def judge(kind, value):
    try:
        kind.validate_python(value)
    except ValidationError as error:
        places.update(str(part["loc"][0]) for part in error.errors())
for path in get_results_filenames(sys.argv[1:]):
    judge(results, json.load(open(path)))
for path in get_sample_results_filenames(sys.argv[1:]):
    tasks.add(get_file_task_name(path.rsplit("/", 1)[1]))
    for line in open(path):
        judge(line_of_samples, json.loads(line))
print(json.dumps([sorted(places), sorted(tasks)]))
"""


def judged(peer: Path, paths: list[Path], folder: Path) -> tuple[set[str], set[str]]:
    done = run_peer(peer, ["-c", SCHEMA, *map(str, paths)], folder=folder)
    assert done.returncode == 0, done.stderr
    places, tasks = json.loads(done.stdout)
    return set(places), set(tasks)


@pytest.mark.parametrize("source", ["twin", "odd"])
def test_the_harness_schema_accepts_it(
    source: str, request: pytest.FixtureRequest, tmp_path: Path, lm_eval: Path
) -> None:
    cells = read_cells([request.getfixturevalue(source)], allow_missing=True)
    paths = write_lm_eval(cells, tmp_path, created=1_800_000_000)
    places, tasks = judged(lm_eval, paths, tmp_path)
    # The schema has no room for the lists and mappings that a task's configuration is made of:
    # the next test shows that the harness's own files fail it in the same place.
    assert places <= {"configs"}
    results = next(path for path in paths if path.name.startswith("results_"))
    assert tasks == set(json.loads(results.read_text("utf-8"))["results"])


def test_the_harness_own_file_fails_where_ours_does(shared: Path, lm_eval: Path) -> None:
    real = sorted((shared / "data" / "peers" / "every_eval_ever").glob("results_*.json"))
    places, _ = judged(lm_eval, real, shared)
    assert "configs" in places


def test_the_schema_would_notice(odd: Path, tmp_path: Path, lm_eval: Path) -> None:
    paths = write_lm_eval(read_cells([odd], allow_missing=True), tmp_path, created=1)
    samples = next(path for path in paths if path.name.startswith("samples_"))
    samples.write_text(samples.read_text("utf-8").replace('"acc":', '"acc":"x","a":'), "utf-8")
    assert "acc" in judged(lm_eval, [samples], tmp_path)[0]


def test_another_projects_reader_converts_and_validates_it(
    odd: Path, tmp_path: Path, every_eval_ever: Path
) -> None:
    """Every Eval Ever reads logs of the harness; its validator then reads what came of ours."""
    write_lm_eval(read_cells([odd], allow_missing=True), tmp_path / "logs", created=1)
    convert = ["-m", "every_eval_ever.converters.lm_eval", "--log_path", "logs"]
    convert += ["--output_dir", "data", "--include_samples", "--source_organization_name", "us"]
    done = run_peer(every_eval_ever, convert, folder=tmp_path)
    assert "Converted 6 evaluation log(s)" in done.stdout, done.stderr
    validate = ["-m", "every_eval_ever.validator.validate", "data/*/*/*/*"]
    done = run_peer(every_eval_ever, validate, folder=tmp_path)
    assert done.returncode == 0, done.stdout
    rows = [
        json.loads(line)
        for path in tmp_path.glob("data/*/*/first/*_samples.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    # i2 under p0 is the one wrong answer of the first model, whichever metric is asked.
    wrong = [row for row in rows if not row["evaluation"]["is_correct"]]
    assert [row["evaluation_name"] for row in wrong] == ["odd_gen_f_p0/standard"]
    assert wrong[0]["input"]["raw"] == "What is i2? (gen|f|p0)"


def test_the_grids_bit_is_the_metric_per_token(twin: Path, tmp_path: Path) -> None:
    paths = write_lm_eval(read_cells([twin]), tmp_path, created=1)
    data = load(sorted(path.parent for path in twin.rglob("manifest.json")))
    compared = 0
    for path in (path for path in paths if path.name.startswith("results_")):
        results = json.loads(path.read_text("utf-8"))["results"]
        m = data.models.index(path.parent.name)
        for benchmark in data.benchmarks:
            items = data.benchmark_of == benchmark
            for c, way in enumerate(data.configurations):
                found = results[f"{benchmark}_{way.key.replace('|', '_')}"]
                metric = "acc_token,none" if way.scoring == "ll" else "acc,standard"
                bits = data.right[m, items, c][data.present[m, items, c]]
                assert found[metric] == pytest.approx(bits.mean())
                spread = found[metric.replace(",", "_stderr,")]
                # As the harness computes it: the sample's standard deviation over the root of n.
                assert spread == pytest.approx(np.std(bits, ddof=1) / np.sqrt(len(bits)))
                compared += 1
    assert compared == 2 * 2 * 26


def test_the_harness_metrics_keep_its_meaning(tmp_path: Path) -> None:
    """A long option wins per character, a short one in sum: `acc` and `acc_norm` disagree."""
    from .conftest import record, shard

    scores = {"sum": [-4.0, -3.0, -9.0], "token": [-2.0, -3.0, -9.0], "byte": [-0.1, -1.0, -9.0]}
    first = record("m", "i3", 3, ll={"scores": scores})
    first = first.model_copy(update={"options": ("a long option", "short", "third")})
    cells = read_cells([shard(tmp_path / "r", "m", [first])])
    paths = write_lm_eval(cells, tmp_path / "out", created=1)
    path = next(path for path in paths if path.name.startswith("samples_odd_ll"))
    line = json.loads(path.read_text("utf-8"))
    assert (line["acc"], line["acc_norm"], line["acc_token"]) == (0.0, 1.0, 1.0)
    assert line["arguments"]["gen_args_1"]["arg_1"] == " short"


def test_an_option_that_could_not_be_scored_never_wins(tmp_path: Path) -> None:
    from .conftest import record, shard

    nothing = {"status": "empty_option", "correct": False, "choice": None, "scores": None}
    cells = read_cells([shard(tmp_path / "r", "m", [record("m", "i3", 3, ll=nothing)])])
    paths = write_lm_eval(cells, tmp_path / "out", created=1)
    path = next(path for path in paths if path.name.startswith("samples_odd_ll"))
    line = json.loads(path.read_text("utf-8"))
    assert (line["acc"], line["acc_norm"], line["acc_token"]) == (0.0, 0.0, 0.0)
