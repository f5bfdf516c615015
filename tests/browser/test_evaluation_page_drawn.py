"""The evaluation page in a real browser: charts drawn, nothing wider than a telephone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from assay.core.validation import validated
from assay.evaluation.cycle import run_cycle
from assay.evaluation.manifest import CycleManifest
from assay.report.evaluation import write_page
from support.evaluation import two_arms

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cycle")
    report = run_cycle(validated(CycleManifest, two_arms(folder), where="m"), folder)
    other = report.model_copy(update={"cycle_id": "c2"})
    return write_page([report, other], folder / "evaluation.html")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_drawn_and_follows_the_chosen_cycle(
    browser: Browser, written: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844},
        color_scheme=scheme,  # type: ignore[arg-type]
        offline=True,
    )
    context.set_default_timeout(120_000)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(written.as_uri())
    for chart in ("capabilities", "regions", "uplifts", "guardrails"):
        page.wait_for_selector(f"[data-chart={chart}] svg")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("[data-chart=uplifts] svg path[aria-roledescription=circle]").count() > 2
    page.locator("#cycle-decisions").select_option("c2")
    assert page.locator("main div[data-scope=c1]:visible").count() == 0
    assert page.locator("main div[data-scope=c2]:visible").count() > 3
    assert said == []
    context.close()
