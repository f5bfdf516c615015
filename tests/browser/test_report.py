"""The report as a reader meets it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page

from assay.plots.tables import read_table
from assay.records.schema import Record
from assay.records.shard import read_shard
from support.reports import HOSTILE_OPTION, HOSTILE_QUESTION, HOSTILE_TEXT, SmallStudy

pytestmark = pytest.mark.browser
WIDTHS = (1280, 390)


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def names(page: Page, table: str) -> list[str]:
    return page.locator(f"#{table} tbody tr:visible th").all_inner_texts()


def item_ids(page: Page) -> list[str]:
    return [str(e.get_attribute("data-item")) for e in page.locator(".item-row").all()]


def records(study: SmallStudy, benchmark: str) -> dict[str, list[tuple[Record, dict[str, str]]]]:
    """Return item id → one (record, prompts by configuration) for each model."""
    found: dict[str, list[tuple[Record, dict[str, str]]]] = {}
    for folder in study.shards:
        shard = read_shard(folder)
        if shard.manifest.benchmark != benchmark:
            continue
        prompts = shard.prompts()
        for record in shard.records():
            own = {key: text for (item, key), text in prompts.items() if item == record.item_id}
            found.setdefault(record.item_id, []).append((record, own))
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_loads_quietly_and_fits(visit, study: SmallStudy, width: int, scheme: str) -> None:  # type: ignore[no-untyped-def]
    seen = visit(width=width, scheme=scheme)
    page = seen.page
    for sentence in json.loads(study.leaderboard.read_text("utf-8"))["sentences"]:
        assert page.get_by_text(sentence["text"], exact=True).is_visible()
    assert page.locator("[data-chart] svg").count() == 3
    assert page.locator("[data-chart=accuracy] svg path").count() > 3 * 26
    assert overflow(page) <= 0
    page.locator(".gallery summary").click()
    page.locator("details.card summary").first.click()
    assert overflow(page) <= 0
    assert seen.messages == []
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []


def test_charts_take_the_width_of_the_page(visit) -> None:  # type: ignore[no-untyped-def]
    page = visit(width=1280).page
    chart = page.locator("[data-chart=accuracy] svg")
    wide = chart.bounding_box()["width"]
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(
        "document.querySelector('[data-chart=accuracy] svg').getBoundingClientRect().width < 391"
    )
    assert wide > 900
    assert overflow(page) <= 0


def test_tables_sort(visit, study: SmallStudy) -> None:  # type: ignore[no-untyped-def]
    page = visit().page
    band = read_table(study.tables, "band")
    pooled = band[band["benchmark"] == "all"]
    button = page.locator("#leaderboard-table").get_by_role("button", name="Lowest")
    for ascending, word in ((False, "descending"), (True, "ascending")):
        button.click()
        heading = page.locator("#leaderboard-table th[aria-sort]")
        assert heading.get_attribute("aria-sort") == word
        expected = pooled.sort_values("min", ascending=ascending)["min"].tolist()
        shown = page.locator("#leaderboard-table tbody tr:visible td:nth-child(5)")
        assert shown.all_inner_texts() == [f"{100 * value:.1f}" for value in expected]
    page.locator("#leaderboard-table").get_by_role("button", name="Model").click()
    assert names(page, "leaderboard-table") == sorted(pooled["model"])


def test_one_choice_of_benchmark_moves_tables_and_charts(visit, study: SmallStudy) -> None:  # type: ignore[no-untyped-def]
    page = visit().page
    marks = "[data-chart=accuracy] svg .mark-symbol path"
    labels = page.locator(marks).first
    before = labels.get_attribute("aria-label")
    page.locator("#scope-pairs").select_option("mmlu")
    assert page.locator("#scope-leaderboard").input_value() == "mmlu"
    band = read_table(study.tables, "band")
    expected = band[band["benchmark"] == "mmlu"].sort_values("reference", ascending=False)
    shown = page.locator("#leaderboard-table tbody tr:visible td:nth-child(2)")
    assert shown.all_inner_texts() == [f"{100 * v:.1f}" for v in expected["reference"]]
    page.wait_for_function(
        "([marks, old]) => document.querySelector(marks).getAttribute('aria-label') !== old",
        arg=[marks, before],
    )


def test_findings_follow_the_choice_of_benchmark(visit, study: SmallStudy) -> None:  # type: ignore[no-untyped-def]
    page = visit().page
    findings = json.loads(study.leaderboard.read_text("utf-8"))["findings"]
    shown = page.locator("#finding-table tbody tr:visible td")
    assert shown.all_inner_texts() == [finding["reading"] for finding in findings["all"]]
    page.locator("#scope-findings").select_option("arc")
    assert shown.all_inner_texts() == [finding["reading"] for finding in findings["arc"]]


def test_distant_pairs_are_shown_on_demand(visit) -> None:  # type: ignore[no-untyped-def]
    page = visit().page
    assert len(names(page, "pair-table")) == 2
    page.locator("#all-pairs").check()
    assert len(names(page, "pair-table")) == 3


def test_filters_agree_with_the_tables(visit, study: SmallStudy) -> None:  # type: ignore[no-untyped-def]
    page = visit().page
    items = read_table(study.tables, "items")
    models = page.locator("#filter-model option").all_inner_texts()[1:]
    for letter, name in (("f", "fragile"), ("c", "robust-correct"), ("w", "robust-wrong")):
        page.locator("#filter-benchmark").select_option("arc")
        page.locator("#filter-model").select_option(label=models[1])
        page.locator("#filter-class").select_option(letter)
        wanted = items[
            (items["benchmark"] == "arc")
            & (items["model"] == models[1])
            & (items["item_class"] == name)
        ]
        assert set(item_ids(page)) == set(wanted["item_id"])
    page.locator("#filter-benchmark").select_option("")
    page.locator("#filter-model").select_option("")
    page.locator("#filter-class").select_option("")
    assert page.locator("#item-count").inner_text() == "28 of 28 items"
    assert items["item_id"].nunique() == 28
    page.locator("#filter-text").fill("ONERROR=")
    assert page.locator(".item-row").count() == 1
    page.locator("#filter-text").fill("nothing has this text")
    assert page.locator("#item-count").inner_text() == "0 of 28 items"


def test_fragile_items_come_first(visit, study: SmallStudy) -> None:  # type: ignore[no-untyped-def]
    shown = item_ids(visit().page)
    table = read_table(study.tables, "item_fragility")
    fragility = dict(zip(table["item_id"], table["fragility"], strict=True))
    values = [fragility[item] for item in shown]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("benchmark", ["arc", "mmlu"])
@pytest.mark.parametrize("place", [0, -1], ids=["embedded", "linked"])
def test_an_item_opens_with_every_prompt_and_answer(  # type: ignore[no-untyped-def]
    visit, study: SmallStudy, report: Path, benchmark: str, place: int
) -> None:
    seen = visit()
    page = seen.page
    page.locator("#filter-benchmark").select_option(benchmark)
    item = item_ids(page)[place]
    page.locator(f".item-row[data-item='{item}']").click()
    page.wait_for_selector(".answer")
    assert overflow(page) <= 0
    page.get_by_role("button", name="Open every answer and prompt").click()
    models = page.locator("#filter-model option").all_inner_texts()[1:]
    keys = json.loads(page.locator("#facts").text_content())["configurations"]
    body = page.locator("#item-body")
    for record, prompts in records(study, benchmark)[item]:
        assert body.locator("h3").text_content() == record.question
        assert body.locator(".options li span:nth-child(2)").all_text_contents() == [
            *record.options
        ]
        assert len(record.observations) == len(keys)
        for key, observation in record.observations.items():
            name = f"#answer-{models.index(record.model)}-{keys.index(key)}"
            answer = body.locator(name)
            assert answer.locator("code").first.text_content() == key
            assert answer.is_visible()
            if observation.text is not None:
                said = answer.locator(".said").text_content()
                assert said == (observation.text or "(empty)")
            if observation.scores is not None:
                cells = answer.locator("td:nth-child(3)").all_text_contents()
                assert cells == [f"{value:.3f}" for value in observation.scores.token if value]
            if key in prompts:
                assert answer.locator("pre").text_content() == prompts[key]
    assert seen.messages == []
    chunks = {url for url in seen.requests if "/items/" in url}
    assert len(chunks) == (0 if place == 0 else 1)


def test_hostile_text_is_only_text(visit, study: SmallStudy) -> None:  # type: ignore[no-untyped-def]
    seen = visit()
    page = seen.page
    page.locator("#filter-text").fill("window.planted")
    page.locator(".item-row").click()
    page.wait_for_selector(".answer")
    page.get_by_role("button", name="Open every answer and prompt").click()
    body = page.locator("#item-body")
    assert body.locator("h3").text_content() == HOSTILE_QUESTION
    assert HOSTILE_OPTION in body.locator(".options").text_content()
    said = body.locator(".said", has_text="window.planted").first
    assert said.text_content() == HOSTILE_TEXT
    assert said.locator("mark").text_content() == "A"  # offsets count characters, not UTF-16 units
    assert page.evaluate("window.planted") is None
    assert body.locator("img, svg, script").count() == 0
    assert seen.messages == []


def test_the_policy_stops_a_script_that_gets_in(visit) -> None:  # type: ignore[no-untyped-def]
    seen = visit()
    seen.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.planted = 5';"
        " document.body.append(s); }"
    )
    assert seen.page.evaluate("window.planted") is None
    assert any("Content Security Policy" in message for message in seen.messages)


def test_a_lost_chunk_is_explained(visit, report: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "moved"
    shutil.copytree(report, folder)
    shutil.rmtree(folder / "items")
    page = visit(folder=folder).page
    page.locator("#filter-benchmark").select_option("mmlu")
    page.locator(".item-row").last.click()
    page.wait_for_selector("#item-body .notice")
    assert 'keep the folder "items"' in page.locator("#item-body .notice").inner_text()
    page.locator("#item-close").click()
    page.locator(".item-row").first.click()  # the embedded ones still open
    page.wait_for_selector("#item-body .answer")


def test_keyboard_alone_opens_and_closes_an_item(visit) -> None:  # type: ignore[no-untyped-def]
    page = visit(width=390).page
    first = page.locator(".item-row").first
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer")
    assert page.evaluate("document.getElementById('item-dialog').contains(document.activeElement)")
    assert overflow(page) <= 0
    page.keyboard.press("Escape")
    assert not page.locator("#item-dialog").is_visible()
    assert first.evaluate("node => node === document.activeElement")


def test_next_and_previous_walk_the_filtered_list(visit) -> None:  # type: ignore[no-untyped-def]
    page = visit().page
    shown = item_ids(page)
    page.locator(".item-row").first.click()
    page.wait_for_selector(".answer")
    assert page.locator("#item-before").is_disabled()
    page.locator("#item-after").click()
    page.locator("#item-body .item-meta", has_text=shown[1]).wait_for()
    page.locator("#item-before").click()
    page.locator("#item-body .item-meta", has_text=shown[0]).wait_for()


def test_an_address_opens_its_item(visit, study: SmallStudy) -> None:  # type: ignore[no-untyped-def]
    item = sorted(records(study, "mmlu"))[0]
    page = visit(fragment=f"#item={item}").page
    page.wait_for_selector(".answer")
    assert item in page.locator("#item-body .item-meta").inner_text()


def test_pages_turn_and_a_filter_goes_back_to_the_first(visit) -> None:  # type: ignore[no-untyped-def]
    page = visit().page
    first = item_ids(page)
    assert len(first) == 25
    assert page.locator("#page-place").inner_text() == "1–25 of 28"
    assert page.locator("#page-before").is_disabled()
    page.locator("#page-after").click()
    assert len(item_ids(page)) == 3
    assert not set(item_ids(page)) & set(first)
    assert page.locator("#page-after").is_disabled()
    page.locator("#filter-benchmark").select_option("arc")
    assert not page.locator("#item-pager").is_visible()
    assert page.locator("#item-count").inner_text() == "14 of 28 items"


def test_it_prints_without_what_only_works_on_a_screen(visit) -> None:  # type: ignore[no-untyped-def]
    page = visit(scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible()
    assert not page.locator("#item-filter").is_visible()
    assert page.locator("#leaderboard-table").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
