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


def test_imports_are_found_wherever_a_statement_may_stand(project: Path) -> None:
    files = [*(project / "src").rglob("*.py"), *(project / "scripts").glob("*.py")]
    assert len(files) > 300
    for path in files:
        everywhere = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                everywhere |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
            elif isinstance(node, ast.Import):
                everywhere |= {alias.name for alias in node.names}
        own = {name for name in everywhere if name.split(".")[0] == "assay"}
        assert set(module._imports(path)) == own, path


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
    module._name.cache_clear()
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
