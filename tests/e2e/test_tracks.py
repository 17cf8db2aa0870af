"""A class that is clicked in the tracks is chosen in all panels, and what becomes of that."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import carry_out, go, take_sample, wait_for_app

#: What answers to a click: a rectangle for each bin, over the whole height.
_BINS = ".st-key-vega-tracks .hits_marks path"
#: What is chosen is drawn in the colour of text, once in each track.
_MARKED = '.st-key-vega-tracks .bars_marks path[fill="#0F1720"]'
_GHOST = ".st-key-vega-tracks .lines_marks path"
_TRACKS = 3


def on_results(page: Page) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    take_sample(page)
    carry_out(page)
    go(page, "Results")


def asks_for(page: Page, k: int) -> None:
    """Type k into the bar, and wait for what it comes to."""
    field = page.locator(".st-key-what-if").get_by_label("k", exact=True)
    field.fill(str(k))
    field.press("Enter")
    head = page.locator(".st-key-run-head")
    now = page.get_by_role("button", name=re.compile(r"^Run \("))
    expect(head.get_by_text(f"k = {k} ").or_(now).first).to_be_visible(timeout=60_000)
    if now.count():  # a busy machine took more than two seconds for the run before
        now.click()
    expect(head).to_contain_text(f"k = {k} ", timeout=60_000)
    expect(page.locator(".st-key-strip")).to_contain_text("second computation agrees")
    wait_for_app(page, seconds=60)


def rows_shown(page: Page) -> Locator:
    return page.locator(".st-key-panel-table .aw-table-note")


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [(1360, 900)])
def test_a_click_on_a_class_is_seen_in_every_panel(page: Page) -> None:
    on_results(page)
    chosen = page.locator(".st-key-chosen-bar")
    bins, marked = page.locator(_BINS), page.locator(_MARKED)
    expect(rows_shown(page)).to_contain_text("1–60 of ")
    all_rows = rows_shown(page).text_content() or ""
    expect(marked).to_have_count(0)
    expect(page.locator(_GHOST)).to_have_count(0)

    bins.nth(30).click()
    expect(marked).to_have_count(_TRACKS)
    expect(chosen).to_contain_text("Chosen: class 31", timeout=30_000)
    wait_for_app(page)
    expect(marked).to_have_count(_TRACKS)
    expect(rows_shown(page)).not_to_have_text(all_rows)
    for panel in ("metrics", "attacks"):
        expect(page.locator(f".st-key-head-{panel}")).to_contain_text("chosen")

    bins.nth(50).click(modifiers=["Shift"])
    expect(chosen).to_contain_text("Chosen: 2 classes", timeout=30_000)
    wait_for_app(page)
    expect(marked).to_have_count(2 * _TRACKS)
    bins.nth(70).dblclick()
    expect(chosen).to_contain_text("No class is selected", timeout=30_000)
    wait_for_app(page)
    expect(marked).to_have_count(0)
    expect(rows_shown(page)).to_have_text(all_rows)

    bins.nth(30).click()
    expect(chosen).to_contain_text("Chosen: class 31", timeout=30_000)
    wait_for_app(page)
    bins.nth(30).click()  # what is chosen is chosen no longer
    expect(chosen).to_contain_text("No class is selected", timeout=30_000)
    expect(marked).to_have_count(0)
    wait_for_app(page)
    page.get_by_role("button", name="Larger class").click()
    expect(chosen).to_contain_text("Chosen: class 1 ", timeout=30_000)
    expect(marked).to_have_count(_TRACKS)
    wait_for_app(page)
    bins.nth(30).click()
    expect(chosen).to_contain_text("Chosen: class 31", timeout=30_000)
    wait_for_app(page)
    expect(marked).to_have_count(_TRACKS)
    page.locator(".st-key-vega-tracks svg.marks").evaluate("drawn => { drawn.dataset.seen = 1; }")
    asks_for(page, 25)
    expect(chosen).to_contain_text("The choice ended with the run before: class 31")
    expect(marked).to_have_count(0)
    expect(page.locator(_GHOST)).to_have_count(_TRACKS)  # the baseline lies behind each track
    expect(page.locator(".st-key-head-classes-chart")).to_contain_text("baseline (")
    # The chart took the new data, and was not drawn again.
    expect(page.locator(".st-key-vega-tracks svg.marks[data-seen]")).to_have_count(1)

    page.get_by_role("button", name="Choose a class").click()
    field = page.get_by_label("Choose a row of your table")
    field.fill("42")
    field.press("Enter")
    expect(chosen).to_contain_text("of row 42 of the table", timeout=30_000)
    wait_for_app(page)
    before = chosen.inner_text()
    page.keyboard.press("Escape")
    asks_for(page, 60)
    expect(chosen).to_contain_text("of row 42 of the table")  # it went on into its class there
    assert chosen.inner_text() != before
    expect(marked).to_have_count(_TRACKS)
