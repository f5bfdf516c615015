"""Files that runners wrote: ours of four sums, and real ones where the shared data are at hand."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from assay.core.errors import AssayError, EvaluationError
from assay.evaluation.adapters import ADAPTERS, Reading, read_records, register
from assay.evaluation.adapters.reading import find_adapter
from assay.evaluation.record import EvaluationRecord

RUNNERS = Path(__file__).parents[3] / "data" / "runners"


def records(path: Path, **options: object) -> list[EvaluationRecord]:
    return list(read_records(path, options=options))


def verdicts(found: list[EvaluationRecord]) -> list[bool | None]:
    return [record.success for record in found]


def samples(task: str) -> Path:
    (path,) = (RUNNERS / "lm_eval").glob(f"samples_{task}_*.jsonl")
    return path


def test_lm_eval_asks_which_of_two_filters() -> None:
    path = samples("toy_gen")
    assert find_adapter(path).name == "lm-eval"
    with pytest.raises(EvaluationError, match=r":5: .*strict-match and flexible-extract"):
        records(path)
    strict = records(path, filter="strict-match")
    assert verdicts(strict) == [False] * 4
    assert len({record.task_id for record in strict}) == 4
    assert {record.task_area for record in strict} == {"toy_gen"}
    with pytest.raises(EvaluationError, match="no metric bleu.*choose of exact_match"):
        records(path, filter="strict-match", metric="bleu")


def test_lm_eval_samples_that_were_appended_are_further_attempts(tmp_path: Path) -> None:
    path = tmp_path / samples("toy_mc").name
    path.write_text(2 * samples("toy_mc").read_text())
    found = records(path)
    assert len({record.task_id for record in found}) == 4
    assert [record.attempt for record in found] == [1] * 4 + [2] * 4


def test_lm_eval_samples_of_a_second_run_in_the_folder_are_further_attempts(
    tmp_path: Path,
) -> None:
    for day in (1, 2):
        shutil.copy(samples("toy_mc"), tmp_path / f"samples_toy_mc_2026-12-0{day}T00-00-00.jsonl")
    found = records(tmp_path)
    assert len({record.task_id for record in found}) == 4
    assert [record.attempt for record in found] == [1] * 4 + [2] * 4


def test_a_file_that_is_damaged_as_a_whole_is_counted(tmp_path: Path) -> None:
    for folder, name in (("lighteval", "details_x.parquet"), ("inspect", "b.eval")):
        shutil.copytree(RUNNERS / folder, tmp_path / folder)
        (tmp_path / folder / name).write_bytes(b"PK\x03\x04 no")
        reading = Reading(keep_going=True)
        assert list(read_records(tmp_path / folder, adapter=folder, reading=reading))
        assert name in str(reading.refused[0])


def test_lm_eval_pairs_on_the_document_not_on_the_prompt() -> None:
    text = samples("toy_mc").read_text()
    first = records(samples("toy_mc"))
    assert verdicts(first) == [True, False, False, False]
    for line in text.splitlines():
        sample = json.loads(line)
        found = next(r for r in first if r.trial_id == f"toy_mc/{sample['doc_id']}")
        assert found.task_id.endswith(sample["doc_hash"][:16])
        assert sample["prompt_hash"][:16] not in str(found.task_version)


def test_inspect_archive_with_zstandard_members() -> None:
    path = RUNNERS / "inspect" / "toy.eval"
    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}
    found = records(path)
    assert [(r.task_id, r.attempt) for r in found] == [
        (f"toy/{name}", epoch) for name in ("one", "three", "two") for epoch in (1, 2)
    ]
    # 7 fresh tokens, 10 from a cache, 2 made.
    assert {(r.input_tokens, r.cached_tokens, r.output_tokens) for r in found} == {(17, 10, 2)}
    assert {r.capability_tags for r in found} == {("letters",), ("digits",)}
    assert sum(bool(r.success) for r in found) == 4
    assert all(r.latency_ms is not None and r.latency_ms > 0 for r in found)


def test_inspect_json_tells_an_error_from_a_wrong_answer() -> None:
    found = records(RUNNERS / "inspect" / "toy_errors.json")
    broken = [record for record in found if record.task_id == "toy/three"]
    assert {r.failure_code for r in broken} == {"AGENT_EXECUTION_ERROR"}
    # An agent that broke has not passed.
    assert verdicts(broken) == [False, False]
    assert {r.score for r in broken} == {None}
    wrong = [r for r in found if r.failure_code == "FUNCTIONAL_VERIFIER_FAILED"]
    assert [(r.task_id, r.attempt) for r in wrong] == [("toy/two", 2)]


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    whole = (RUNNERS / "inspect" / "toy.eval").read_bytes()
    path = tmp_path / "log.eval"
    for cut in (10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(EvaluationError, match=r"log\.eval"):
            records(path)
    middle = len(whole) // 3
    path.write_bytes(whole[:middle] + bytes(200) + whole[middle + 200 :])
    with pytest.raises(EvaluationError, match=r"log\.eval"):
        records(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"task": "t"}, "status": "success"}')
        with archive.open("samples/1_epoch_1.json", "w", force_zip64=True) as member:
            for _ in range(600):
                member.write(bytes(1 << 20))
    with pytest.raises(EvaluationError, match="over 512 MiB"):
        records(path)


def test_lighteval() -> None:
    found = records(RUNNERS / "lighteval")
    assert find_adapter(RUNNERS / "lighteval").name == "lighteval"
    assert {r.task_id: r.success for r in found} == {
        "toy|0/0": True,
        "toy|0/1": False,
        "toy|0/2": True,
        "toy|0/3": True,
    }
    assert {r.output_tokens for r in found} == {3}
    with pytest.raises(EvaluationError, match="no metric 'em'"):
        records(RUNNERS / "lighteval", metric="em")


def test_harbor_arms_that_rename_tasks(shared: Path) -> None:
    baseline = records(shared / "data/harbor/codecontextbench_cc_sonnet46_baseline")
    (candidate,) = records(
        shared / "data/harbor/codecontextbench_cc_sonnet46_mcp",
        variant="mcp",
        taskId=r"^mcp_(.+)_[a-z0-9]+$",
    )
    assert [r.score for r in baseline] == [0.81, 1.0, 0.13]
    assert verdicts(baseline) == [False, True, False]
    assert (candidate.task_id, candidate.variant) == (baseline[0].task_id, "mcp")
    assert candidate.task_version != baseline[0].task_version
    (labelled,) = records(
        shared / "data/harbor/codecontextbench_cc_sonnet46_mcp",
        taskId="@config.environment.kwargs.label_task_id",
    )
    assert labelled.task_id == candidate.task_id
    assert verdicts(records(baseline_folder(shared), threshold=0.8)) == [True, True, False]


def baseline_folder(shared: Path) -> Path:
    return shared / "data/harbor/codecontextbench_cc_sonnet46_baseline"


def test_harbor_old_layout(shared: Path) -> None:
    reading = Reading()
    path = shared / "data/harbor/codecontextbench_archive_job_2026-02-01__18-03-04"
    (record,) = read_records(path, reading=reading)
    assert (record.latency_ms, record.total_tokens) == (18469.243, 78984)
    assert (reading.files, reading.missing) == (2, 0)
    assert record.cost_usd is None


def test_helm(shared: Path) -> None:
    found = records(shared / "data/peers/every_eval_ever/helm")
    assert len(found) == 20
    assert {r.task_area for r in found} == {
        "commonsense-dataset=hellaswag",
        "mmlu-subject=philosophy",
    }
    assert not any("model=" in r.task_id for r in found)
    quasi = records(shared / "data/peers/every_eval_ever/helm", metric="quasi_exact_match")
    assert len(quasi) == 20


def test_real_logs_of_lm_eval_and_inspect(shared: Path) -> None:
    peers = shared / "data/peers"
    assert len(records(next((peers / "every_eval_ever").glob("samples_*.jsonl")))) == 10
    (first, second) = records(peers / "inspect_ai")
    assert (first.capability_tags, first.total_tokens) == (("college_physics",), 156)
    assert second.result_path == "mmlu-summary-choices.eval"
    reading = Reading()
    (unscored,) = read_records(peers / "inspect_ai/log_tool_call_error.json", reading=reading)
    assert unscored.failure_code == "VERIFIER_RESULT_MISSING"
    assert reading.missing == 3


def test_no_adapter_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no such file"):
        records(tmp_path / "none")
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(EvaluationError, match="no adapter knows these files"):
        records(tmp_path / "a.txt")
    with pytest.raises(EvaluationError, match="no adapter 'x'"):
        list(read_records(tmp_path, adapter="x"))
    with pytest.raises(AssayError, match="treshold"):
        records(tmp_path / "a.txt", treshold=1)


def test_what_cannot_be_used_is_counted_with_keep_going(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
    (folder / "a" / "result.json").write_text('{"task_name": "t", "verifier_result": null}')
    (folder / "b" / "result.json").write_text('{"task_name": "t", ')
    reading = Reading(keep_going=True)
    (record,) = read_records(folder, adapter="harbor", reading=reading)
    assert record.failure_code == "VERIFIER_RESULT_MISSING"
    assert "result.json" in str(reading.refused[0])
    with pytest.raises(EvaluationError, match="no JSON"):
        records(folder)
    shutil.rmtree(folder)


class Mine:
    """An adapter of a user."""

    name = "mine"

    def sniff(self, path: Path) -> bool:
        return path.suffix == ".mine"

    def read(self, path: Path, reading: Reading):
        yield reading.record(str(path), task_id=path.stem, success=True)


def test_a_user_adds_an_adapter(tmp_path: Path) -> None:
    (tmp_path / "x.mine").write_text("")
    register(Mine())
    try:
        assert [r.task_id for r in records(tmp_path / "x.mine")] == ["x"]
        with pytest.raises(ValueError, match="'mine' already"):
            register(Mine())
    finally:
        del ADAPTERS["mine"]
