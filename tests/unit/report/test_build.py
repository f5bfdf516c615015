"""The report folder: whole, deterministic, honest about what it leaves out."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AnalysisError, RecordError
from assay.core.seal import verify_seal
from assay.records.shard import read_shard
from assay.report.build import build_report
from assay.report.encode import script_hash
from assay.report.inputs import ReportOptions
from support.reports import HOSTILE_QUESTION, SmallStudy, write_study


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def unpack(packed: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def chunks(folder: Path) -> dict[str, Any]:
    """Return item id → detail from the index and from the linked files."""
    page = (folder / "index.html").read_text("utf-8")
    found = [unpack(packed) for packed in re.findall(r'data-chunk="[^"]+">([^<]+)<', page)]
    for path in sorted((folder / "items").glob("*.js")) if (folder / "items").exists() else []:
        match = re.fullmatch(r'Assay\.receive\("([^"]+)","([^"]+)"\);\n', path.read_text("utf-8"))
        assert match is not None
        assert match[1] == path.stem
        found.append(unpack(match[2]))
    return {item: detail for chunk in found for item, detail in chunk.items()}


class Outline(HTMLParser):
    """Collects what a browser would see: elements, scripts, links, text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append(values)
        self.links += [v for k in ("src", "href") if (v := values.get(k)) is not None]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    return parser


def test_two_builds_are_the_same_bytes(study: SmallStudy, tmp_path: Path) -> None:
    for name in ("one", "two"):
        build_report(**study.inputs, out=tmp_path / name, options=ReportOptions(item_budget=20_000))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_every_file_is_returned_and_old_ones_are_gone(study: SmallStudy, tmp_path: Path) -> None:
    build_report(**study.inputs, out=tmp_path, options=ReportOptions(item_budget=0))
    assert list((tmp_path / "items").glob("*.js"))
    files = build_report(**study.inputs, out=tmp_path)
    assert sorted(files) == sorted(tmp_path / name for name in contents(tmp_path))
    assert not (tmp_path / "items").exists()


@pytest.mark.parametrize("budget", [0, 20_000, 10_000_000])
def test_every_prompt_and_answer_is_there(study: SmallStudy, tmp_path: Path, budget: int) -> None:
    build_report(**study.inputs, out=tmp_path, options=ReportOptions(item_budget=budget))
    found = chunks(tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page)[1])  # type: ignore[index]
    for folder in study.shards:
        shard = read_shard(folder)
        prompts = shard.prompts()
        model = str(facts["models"].index(shard.manifest.model))
        for record in shard.records():
            detail = found[record.item_id]
            for key, observation in record.observations.items():
                seen = detail["models"][model][facts["configurations"].index(key)]
                assert seen["status"] == observation.status
                assert seen.get("text") == observation.text
                assert seen.get("correct") == observation.correct
                prompt = prompts.get((record.item_id, key))
                shown = seen.get("prompt")
                assert prompt == (None if shown is None else detail["prompts"][shown])


def test_what_a_killed_writer_left_is_not_in_the_report(study: SmallStudy, tmp_path: Path) -> None:
    build_report(**study.inputs, out=tmp_path / "whole")
    halves = [study.figures / ".rank.77.tmp.png", study.tables / ".pairs.77.tmp.csv"]
    for half in halves:
        half.write_bytes(b"half")
    build_report(**study.inputs, out=tmp_path / "again")
    for half in halves:  # the study is shared by tests
        half.unlink()
    assert contents(tmp_path / "again") == contents(tmp_path / "whole")


def test_verdict_comes_first_and_in_words(study: SmallStudy, tmp_path: Path) -> None:
    build_report(**study.inputs, out=tmp_path)
    text = "".join(outline((tmp_path / "index.html").read_text("utf-8")).text)
    sentences = json.loads(study.leaderboard.read_text("utf-8"))["sentences"]
    places = [text.index(sentence["text"]) for sentence in sentences]
    assert places == sorted(places)
    assert places[2] < text.index("Usable answers")


def test_nothing_is_loaded_from_elsewhere(study: SmallStudy, tmp_path: Path) -> None:
    build_report(**study.inputs, out=tmp_path)
    seen = outline((tmp_path / "index.html").read_text("utf-8"))
    for link in seen.links:
        assert link.startswith(("#", "files/", "data:image/png")), link
        if link.startswith("files/"):
            assert (tmp_path / link).is_file()


def test_hostile_text_adds_no_element(study: SmallStudy, tmp_path: Path) -> None:
    build_report(**study.inputs, out=tmp_path, options=ReportOptions(title="<script>x</script>"))
    page = (tmp_path / "index.html").read_text("utf-8")
    seen = outline(page)
    data = [s for s in seen.scripts if s.get("type") in ("application/json", "text/plain")]
    code = [script for script in seen.scripts if not script]
    assert len(code) + len(data) == len(seen.scripts)
    assert len(code) == page.count("<script>")
    assert "planted" not in page
    assert seen.tags.count("title") == 1


def test_the_policy_admits_exactly_the_scripts_of_the_page(
    study: SmallStudy, tmp_path: Path
) -> None:
    build_report(**study.inputs, out=tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    said = html.unescape(policy[1])
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert sorted(re.findall(r"'sha256-[^']+'", said)) == sorted(map(script_hash, scripts))
    assert said.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in said
    assert "connect-src" not in said


def test_texts_without_a_licence_are_nowhere(tmp_path: Path) -> None:
    closed = write_study(tmp_path / "study", items=4, licence="CC BY-NC-SA 4.0")
    build_report(**closed.inputs, out=tmp_path / "report", options=ReportOptions(item_budget=9_000))
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    items = unpack(re.search(r'id="item-list">([^<]+)<', page)[1])  # type: ignore[index]
    everything = json.dumps([items, chunks(tmp_path / "report")]) + page
    for folder in closed.shards:
        for record in read_shard(folder).records():
            assert record.question not in everything
            assert not any(option in everything for option in record.options)
    assert "Texts of arc are left out" in page
    assert "licence: CC BY-NC-SA 4.0" in page
    assert [item["c"] for item in items]


def test_the_run_file_may_show_them_all_or_none(study: SmallStudy, tmp_path: Path) -> None:
    for policy in ("all", "none"):
        options = ReportOptions(embed_items=policy, licences={"arc": "internal"})  # type: ignore[arg-type]
        build_report(**study.inputs, out=tmp_path, options=options)
        found = json.dumps(chunks(tmp_path))
        assert ("which word was drawn" in found) == (policy == "all")


def test_missing_shards_are_named_in_every_section_of_results(tmp_path: Path) -> None:
    partial = write_study(tmp_path / "study", items=4, absent=[("twin-02", "mmlu")])
    build_report(**partial.inputs, out=tmp_path / "report")
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    for section in ("verdict", "leaderboard", "plots", "items", "checks", "provenance"):
        part = page.split(f'<section id="{section}"')[1].split("</section>")[0]
        assert "twin-02 × mmlu" in part, section


def test_a_page_over_its_limit_is_refused(study: SmallStudy, tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="more than"):
        build_report(**study.inputs, out=tmp_path, options=ReportOptions(index_limit=100_000))
    assert not (tmp_path / "index.html").exists()


def test_shards_of_another_study_are_refused(study: SmallStudy, tmp_path: Path) -> None:
    inputs = {**study.inputs, "shards": study.shards[1:]}
    with pytest.raises(AnalysisError, match="twin-01 × arc"):
        build_report(**inputs, out=tmp_path)


def test_an_edited_shard_is_refused_by_name(study: SmallStudy, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(study.shards[0], copy)
    with (copy / "records.jsonl").open("ab") as stream:
        stream.write(b" \n")
    with pytest.raises(RecordError, match=r"copy/records\.jsonl"):
        build_report(**{**study.inputs, "shards": [copy, *study.shards[1:]]}, out=tmp_path / "out")


def test_numbers_of_another_version_are_refused(study: SmallStudy, tmp_path: Path) -> None:
    other = tmp_path / "leaderboard.json"
    other.write_text('{"schema_version": 1, "study": "x"}')
    with pytest.raises(AnalysisError, match="not the numbers of this version"):
        build_report(**{**study.inputs, "leaderboard": other}, out=tmp_path / "out")


def test_one_model_makes_a_report_without_pairs(tmp_path: Path) -> None:
    single = write_study(tmp_path / "study", models=1, items=4, benchmarks=("arc",))
    build_report(**single.inputs, out=tmp_path / "report")
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert "there is no pair to compare" in page
    assert 'data-chart="gaps"' not in page
    assert 'data-chart="ranks"' not in page
    assert "– to –" not in page


def test_the_script_reads_the_specification_and_seals_every_file(
    study: SmallStudy, tmp_path: Path, project: Path
) -> None:
    spec = json.dumps({"report": {"title": "A & B", "embed_items": "none"}, "licences": {}})
    out, seal = tmp_path / "report", tmp_path / "seal.json"
    command = [sys.executable, str(project / "scripts" / "build_report.py")]
    command += ["--leaderboard", str(study.leaderboard), "--tables", str(study.tables)]
    command += ["--figures", str(study.figures), "--shards", *map(str, study.shards)]
    command += ["--out", str(out), "--seal", str(seal), "--spec", spec]
    subprocess.run(command, check=True)
    assert len(verify_seal(seal).files) == len(contents(out))
    page = (out / "index.html").read_text("utf-8")
    assert "<h1>A &amp; B</h1>" in page
    assert HOSTILE_QUESTION not in page
