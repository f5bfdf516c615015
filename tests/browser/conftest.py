"""A report in a real browser that may not reach any network."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from assay.report.build import build_report
from assay.report.inputs import ReportOptions
from support.reports import SmallStudy, write_study

#: Small enough that each benchmark has answers inside the index and beside it.
OPTIONS = ReportOptions(item_budget=24_000, chunk_size=60_000)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Visit:
    """A page, what it said on the console and what it asked for."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Visit]


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    """Three models, two benchmarks, one hostile item."""
    return write_study(tmp_path_factory.mktemp("study"), items=14)


@pytest.fixture(scope="session")
def report(study: SmallStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with the most fragile items in its index and the others in chunks beside it."""
    out = tmp_path_factory.mktemp("report")
    build_report(**study.inputs, out=out, options=OPTIONS)
    index = (out / "index.html").read_text("utf-8")
    assert "data-chunk=" in index
    assert list((out / "items").glob("*.js"))
    return out


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; skip where there is none."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no chromium on the path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, report: Path) -> Iterator[Open]:
    """Return a function that opens the report at a width and waits until its items are listed."""
    contexts = []

    def open_report(
        *, width: int = 1280, scheme: str = "light", folder: Path = report, fragment: str = ""
    ) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme=scheme,  # type: ignore[arg-type]
            offline=True,
        )
        contexts.append(context)
        context.set_default_timeout(120_000)  # a busy machine is no failure
        found = Visit(context.new_page())
        found.page.on("console", lambda message: found.messages.append(message.text))
        found.page.on("pageerror", lambda error: found.messages.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto((folder / "index.html").as_uri() + fragment)
        found.page.wait_for_selector(".item-row")
        found.page.wait_for_selector("[data-chart=gaps] svg")
        return found

    yield open_report
    for context in contexts:
        context.close()
