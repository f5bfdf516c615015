from __future__ import annotations

import ast
from pathlib import Path

import pytest

from assay.config import closure as module
from assay.config.closure import closure, code_digest


def reached(project: Path, script: str) -> set[str]:
    source = project / "src" / "assay"
    files = closure(project / "scripts" / script)
    return {p.resolve().relative_to(source).as_posix() for p in files if source in p.parents}


def test_collect_depends_on_what_decides_answers_and_not_on_plots(project: Path) -> None:
    files = reached(project, "collect.py")
    assert {"grid/collect.py", "grid/likelihood.py", "records/shard.py"} <= files
    assert {"models/backends/hf_local.py", "models/plan.py"} <= files
    assert any(name.startswith("extraction/") for name in files)
    assert not any(name.split("/")[0] in ("plots", "report", "leaderboard") for name in files)


def test_a_figure_does_not_depend_on_another(project: Path) -> None:
    files = reached(project, "plot_accuracy_band.py")
    assert "plots/accuracy_band.py" in files
    assert "plots/rank_volatility.py" not in files
    assert not any(name.split("/")[0] == "grid" for name in files)


def test_the_report_depends_on_its_templates(project: Path) -> None:
    names = {path.suffix for path in closure(project / "scripts" / "build_report.py")}
    assert {".py", ".css", ".js"} <= names


def whole(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def test_every_import_of_the_project_is_found(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [*project.glob("scripts/*.py"), *project.glob("src/**/*.py")]
    quick = {path: set(module._imports(path)) for path in files}
    monkeypatch.setattr(module, "_import_statements", whole)
    assert quick == {path: set(module._imports(path)) for path in files}


@pytest.mark.parametrize(
    "text",
    [
        "from assay.a import (\n    b,  # not c (yet)\n    d,\n)\n",
        "from assay.a import b, \\\n    d\n",
        "x = 1; from assay.a import b, d\n",
        "if True: from assay.a import b, d\n",
        "import os, assay.a.b, assay.a.d\n",
        "try:\n    import assay.a.b  # c\nexcept ImportError:\n    from assay.a import d\n",
        '"""Prose:\n\nfrom assay one learns\nimport assay or not\n"""\nfrom assay.a import b, d\n',
        "def f():\n\tfrom assay.a import b\n\tfrom assay.a import d as assay\n",
        "from assay.a import b\r\nfrom assay.a import d\r\n",
    ],
)
def test_imports_are_found_however_they_are_written(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.py"
    path.write_bytes(text.encode())
    found = set(module._imports(path)) - {"assay.a"}
    assert found == {"assay.a.b", "assay.a.d"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package of the same name, so that files can be edited."""
    source = tmp_path / "src" / "assay"
    (source / "deep").mkdir(parents=True)
    (source / "__init__.py").write_text("")
    (source / "deep" / "__init__.py").write_text("from assay.deep.leaf import f\n")
    (source / "deep" / "leaf.py").write_text("def f():\n    from assay.late import g\n")
    (source / "late.py").write_text("g = 1\n")
    (source / "other.py").write_text("h = 1\n")
    (tmp_path / "script.py").write_text("from assay import deep\n")
    monkeypatch.setattr(module, "SOURCE", source)
    return tmp_path


def digest_now(package: Path) -> str:
    module._content.cache_clear()
    module._reached.cache_clear()
    module._files.cache_clear()
    return code_digest(package / "script.py")


@pytest.mark.parametrize(
    ("file", "counts"),
    [("deep/leaf.py", True), ("late.py", True), ("deep/__init__.py", True), ("other.py", False)],
)
def test_an_edit_counts_where_it_can_be_imported(package: Path, file: str, counts: bool) -> None:
    before = digest_now(package)
    path = package / "src" / "assay" / file
    text = path.read_text()
    path.write_text(text + "\nextra = 1\n")
    assert (digest_now(package) != before) == counts
    path.write_text(text)
    assert digest_now(package) == before


def test_touch_and_move_change_nothing(package: Path, tmp_path: Path) -> None:
    before = digest_now(package)
    for path in package.rglob("*.py"):
        path.touch()
    assert digest_now(package) == before
