"""The whole way in a browser: sample, roles, run, results, two pins, compare, export."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from anon_core.data.samples import sample
from tests.e2e.browser import go, released, scheme_is, wait_for_app
from tests.e2e.test_pages import compare_begins_on_the_first_screen

SAMPLE = sample("hospital")
QUASI = SAMPLE.quasi


LEVELS = ("One level per column", "Optimal full-domain search")
RANGES = ("Ranges per group", "Mondrian")


def run(page: Page, *, k: int, by: tuple[str, str]) -> None:
    """Set technique and k, run by the keyboard, and wait for the account."""
    approach, technique = by
    go(page, "Run")
    page.locator(".st-key-run-techniques button").first.click()
    page.locator(".st-key-run_form-approach").get_by_text(approach, exact=True).click()
    wait_for_app(page)
    page.get_by_test_id("stRadio").get_by_text(technique, exact=True).click()
    wait_for_app(page)
    page.keyboard.press("Escape")
    field = page.locator(".st-key-model-0 input").first
    field.fill(str(k))
    field.press("Enter")
    wait_for_app(page)
    released(page, f"k = {k} holds")


def pin(page: Page, letter: str) -> None:
    """Pin the result with the key P."""
    go(page, "Results")
    page.keyboard.press("p")
    expect(page.get_by_role("button", name=re.compile(f"Pinned as .* {letter}"))).to_be_visible()
    wait_for_app(page)


def download(page: Page, label: str) -> Download:
    """Click a download and wait for the file."""
    with page.expect_download() as coming:
        page.get_by_role("button", name=label, exact=True).click()
    return coming.value


def chooses_in_one_panel(page: Page) -> None:
    """Click a bin of the tracks, see its classes chosen everywhere, and go on by keyboard."""
    chosen = page.locator(".st-key-chosen-bar")
    bins = page.locator(".st-key-vega-tracks .hits_marks path")
    panels = page.locator(".st-key-results-panels")
    bins.last.click()
    expect(chosen).to_contain_text("Chosen: class", timeout=30_000)
    wait_for_app(page)
    expect(panels).to_contain_text(re.compile(r"of [\d,]+ chosen"))
    for panel in ("classes-chart", "metrics", "attacks"):
        expect(page.locator(f".st-key-head-{panel}")).to_contain_text("chosen")
    page.keyboard.press("Escape")
    expect(chosen).to_contain_text("No class is selected", timeout=30_000)
    wait_for_app(page)
    for scheme in ("dark", "light"):
        scheme_is(page, scheme)
        bins.last.click()
        expect(chosen).to_contain_text("Chosen: class", timeout=30_000)
        wait_for_app(page)
        bins.last.click()
        expect(chosen).to_contain_text("No class is selected", timeout=30_000)
        wait_for_app(page)


def ink(png: bytes) -> int:
    """Return how many different colours a screenshot has."""
    from PIL import Image

    return len(Image.open(io.BytesIO(png)).convert("RGB").getcolors(1 << 24) or ())


@pytest.mark.slow
def test_from_a_sample_to_the_files(page: Page, tmp_path: Path) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(f".st-key-card-{SAMPLE.name}").get_by_role("button").first.click()
    wait_for_app(page)
    go(page, "Roles")

    run(page, k=5, by=LEVELS)
    pin(page, "A")
    for panel in ("Table", re.compile(r"^\d+ classes$"), "Metrics", "Attacks"):
        expect(page.get_by_role("heading", name=panel, exact=True)).to_be_visible()
    for chart in ("tracks", "metrics", "attacks"):
        expect(page.locator(f".st-key-vega-{chart} svg.marks")).to_be_visible()
    chooses_in_one_panel(page)
    page.get_by_role("button", name="Verdicts and judgement").click()
    expect(page.get_by_text("Recomputed from the published file: k = 5 holds")).to_be_visible()
    page.get_by_label("Your judgement").fill("Released to one research unit.")
    page.get_by_label("Your judgement").blur()
    wait_for_app(page)
    page.get_by_role("button", name="Close Shortcut Esc").click()
    wait_for_app(page)
    page.locator(".st-key-head-metrics").get_by_text("Numbers").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_test_id("stDataFrame")).to_be_visible()
    page.keyboard.press("Escape")

    run(page, k=12, by=RANGES)
    pin(page, "B")

    go(page, "Compare")
    for letter, said in (("A", "Optimal full-domain search k 5"), ("B", "Mondrian k 12")):
        expect(page.locator(f".st-key-pin-{letter}")).to_contain_text(f"{letter} {said}")
    compare_begins_on_the_first_screen(page)
    page.locator(".st-key-heat-fold summary").click()
    for chart in ("tracks", "metrics", "heat", "attacks", "risk"):
        expect(page.locator(f".st-key-vega-{chart} svg.marks")).to_be_visible()

    go(page, "Export")
    # Nearly every row is unique over all that is published: nothing goes out before that is seen.
    button = page.get_by_role("button", name="Release as CSV", exact=True)
    expect(button).to_be_disabled()
    expect(page.get_by_label("Your judgement")).to_have_value("")
    reason = page.get_by_label("One reason for all that have none")
    reason.fill("A table of made-up people.")
    reason.press("Enter")
    page.get_by_role("button", name="Use it", exact=True).click()
    expect(button).to_be_enabled()
    table = tmp_path / "release.csv"
    download(page, "Release as CSV").save_as(table)
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == SAMPLE.rows
    assert not set(SAMPLE.identifier) & set(rows[0])
    assert min(Counter(tuple(row[q] for q in QUASI) for row in rows).values()) >= 12
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row.values())

    report = tmp_path / "report.html"
    download(page, "Report as HTML").save_as(report)
    # In a tab of its own: a dashboard that is left asks for its server again, and in vain.
    paper = page.context.new_page()
    paper.goto(report.as_uri())
    expect(paper.locator("#risk svg").first).to_be_visible()
    promise = re.compile("^Recomputed from the published file: k = 12 holds")
    expect(paper.get_by_role("cell", name=promise)).to_be_visible()
    # The pinned run that is not released is among what was tried, with its figures.
    expect(paper.get_by_role("cell", name=re.compile("^A: "))).to_be_visible()
    assert ink(paper.screenshot(full_page=True)) > 50
    # The report itself is the only thing that was opened next to the dashboard.
    page.requests_seen.remove(report.as_uri())


@pytest.mark.long
@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_a_sweep_is_stopped_in_the_dark(page: Page) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(f".st-key-card-{SAMPLE.name}").get_by_role("button").first.click()
    wait_for_app(page)
    run(page, k=5, by=RANGES)
    go(page, "Compare")
    page.get_by_role("button", name="Sweep", exact=True).click()
    main = page.get_by_test_id("stMain")
    stop = main.get_by_role("button", name=re.compile("^Cancel"))
    expect(stop).to_be_visible(timeout=30_000)
    stop.click()
    expect(page.get_by_text("The sweep was stopped")).to_be_visible(timeout=5_000)
    expect(stop).to_have_count(0)
