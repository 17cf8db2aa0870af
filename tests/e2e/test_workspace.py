"""Results is one screen: nothing scrolls but the panels, and "k = 10" is one gesture."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import go, released, wait_for_app
from tests.often import EVERY

PANELS = ("panel-table", "panel-classes", "panel-metrics", "panel-attacks")
PARTS = ("strip", "what-if", "history", *PANELS)
#: Pixels that the steps may take next to a full page.
RAIL = 56
#: The words above a chart, by the chart's key.
_HEADS = {"tracks": "classes-chart", "metrics": "metrics", "attacks": "attacks"}
SIZES = ((1360, 900), (1920, 1080))
_MEASURE = """keys => {
  const main = document.querySelector('[data-testid="stMain"]');
  const box = key => {
    const seen = document.querySelector(".st-key-" + key).getBoundingClientRect();
    return [seen.left, seen.top, seen.right, seen.bottom];
  };
  return {
    boxes: Object.fromEntries(keys.map(key => [key, box(key)])),
    scrolls: [main, document.documentElement].map(e => e.scrollHeight - e.clientHeight),
    covered: [".st-key-run-head", ".st-key-strip .aw-tile"].filter(at => {
      const part = document.querySelector(at);
      const seen = part.getBoundingClientRect();
      return !part.contains(document.elementFromPoint(seen.left + 30, seen.top + 6));
    }),
    chips: (e => e.scrollHeight - e.clientHeight)(document.querySelector(".aw-chips")),
    cut: [...document.querySelectorAll(
      ".aw-text, .aw-curve-head, .aw-table-note, .st-key-what-if input, .st-key-run-head p")]
      .filter(e => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 4)
      .map(e => e.textContent || e.value),
    overflow: getComputedStyle(document.querySelector(".st-key-panel-metrics")).overflowY,
  };
}"""


def covers_no_head(page: Page) -> None:
    """See that what a chart offers when it is pointed at lies over none of the words above it."""
    for name in ("tracks", "metrics", "attacks"):
        chart = page.locator(f".st-key-vega-{name}")
        chart.hover(position={"x": 300, "y": 120})
        offered = chart.get_by_test_id("stElementToolbar")
        expect(offered).to_be_visible()
        box, head = (
            offered.bounding_box(),
            page.locator(f".st-key-head-{_HEADS[name]}").bounding_box(),
        )
        assert box is not None
        assert head is not None
        assert box["y"] >= head["y"] + head["height"]
    page.mouse.move(0, 0)


def measured(page: Page) -> dict[str, Any]:
    return page.evaluate(_MEASURE, list(PARTS))


def fits(page: Page, width: int, height: int) -> None:
    """See that every part lies inside the window, that the panels are equal, and nothing scrolls.

    Invariant of the page, whatever is drawn in its parts.
    """
    seen = measured(page)
    assert max(seen["scrolls"]) <= 0
    assert not seen["covered"]
    assert seen["chips"] <= 0
    assert seen["cut"] == []  # no word of the strip, the bar or the table's line
    for key, (left, top, right, bottom) in seen["boxes"].items():
        assert 0 <= left < right <= width, key
        assert 0 <= top < bottom <= height, key
    sizes = {
        (round(right - left), round(bottom - top))
        for left, top, right, bottom in (seen["boxes"][key] for key in PANELS)
    }
    assert len(sizes) == 1
    ((_, high),) = sizes
    assert high >= 200  # also while the bar says why something was refused
    assert seen["overflow"] == "auto"
    table, classes, metrics, attacks = (seen["boxes"][key] for key in PANELS)
    assert table[2] <= classes[0]
    assert table[3] <= metrics[1]
    assert metrics[2] <= attacks[0]


def rail_of_icons(page: Page) -> None:
    """See that the steps take no more than 56 pixels, keep their names, and open in one click."""
    sidebar = page.get_by_test_id("stSidebar")

    def reaches(part: Locator) -> float:
        box = part.bounding_box()
        assert box is not None
        return box["x"] + box["width"]

    assert reaches(sidebar) <= RAIL
    for step in ("Start", "Roles", "Run", "Compare", "Export", "Learn"):
        link = sidebar.get_by_role("link", name=step, exact=True)
        assert reaches(link) <= RAIL
        box = link.bounding_box()
        assert box is not None
        assert box["height"] >= 24
    expect(sidebar.get_by_text("quasi-identifier")).to_be_hidden()
    page.get_by_role("button", name="Show the whole sidebar").click()
    expect(sidebar.get_by_text("quasi-identifier")).to_be_visible()
    expect(sidebar.get_by_text("Session", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(sidebar.get_by_text("quasi-identifier")).to_be_hidden()
    assert reaches(page.get_by_test_id("stSidebarContent")) <= RAIL


@pytest.mark.often
@pytest.mark.slow
def test_invariant_results_is_one_screen_and_k_is_one_gesture(page: Page) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(".st-key-card-hospital").get_by_role("button").first.click()
    wait_for_app(page)
    go(page, "Run")
    for _ in range(2):  # the first run may have compiled what it needed
        released(page)
    go(page, "Results")
    for width, height in reversed(SIZES):
        page.set_viewport_size({"width": width, "height": height})
        wait_for_app(page)
        fits(page, width, height)
    rail_of_icons(page)

    covers_no_head(page)

    head = page.locator(".st-key-run-head")
    expect(head).to_contain_text("k = 5")
    field = page.locator(".st-key-what-if").get_by_label("k", exact=True)
    field.fill("25")
    field.press("Enter")  # the whole gesture
    expect(head).to_contain_text("k = 25", timeout=60_000)
    wait_for_app(page)
    expect(page.locator(".st-key-strip")).to_contain_text("asked 25")
    expect(page.locator(".st-key-strip")).to_contain_text("from 0.")
    expect(page.locator(".st-key-panel-metrics")).to_contain_text("▲ ")

    field.fill("1")
    field.press("Enter")
    nearest = page.get_by_role("button", name="Set k = 2", exact=True)
    expect(nearest).to_be_visible()
    expect(head).to_contain_text("k = 25")  # the last good result stays, and is greyed
    chart = page.locator(".st-key-panel-metrics").get_by_test_id("stVegaLiteChart")
    expect(chart).to_have_css("filter", "grayscale(1)")
    for width, height in reversed(SIZES) if EVERY else SIZES[:1]:
        page.set_viewport_size({"width": width, "height": height})
        wait_for_app(page)
        fits(page, width, height)
    page.get_by_role("button", name="Keep the settings of this result").click()
    expect(nearest).to_have_count(0)
    expect(chart).to_have_css("filter", "none")
    expect(field).to_have_value("25")

    page.get_by_role("button", name="Back to baseline", exact=True).click()
    expect(head).to_contain_text("k = 5", timeout=30_000)
    wait_for_app(page)
    expect(field).to_have_value("5")

    page.get_by_role("button", name="The search", exact=True).click()
    expect(page.locator(".st-key-drawer-open")).to_contain_text("Lattice", timeout=30_000)
    wait_for_app(page)
    fits(page, *SIZES[0])
    page.get_by_role("button", name="Close Shortcut Esc").click()
    expect(page.locator(".st-key-drawer-open")).to_have_count(0)

    up = page.locator(".st-key-what-if").get_by_test_id("stNumberInputStepUp").first
    for _ in range(6):  # no step waits for the one before, and none is lost
        up.click()
    expect(head).to_contain_text("k = 11", timeout=60_000)
    expect(page.locator(".st-key-strip")).to_contain_text("second computation agrees")
    wait_for_app(page)
    expect(field).to_have_value("11")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(head).not_to_contain_text("k = 11", timeout=60_000)

    page.locator(".st-key-what-if").get_by_role("button", name="Columns").click()
    levels = page.get_by_test_id("stPopoverBody")
    lowest = levels.get_by_role("slider").first
    lowest.focus()
    page.keyboard.press("End")  # the lowest level of the first column is its highest
    table = page.locator(".st-key-panel-table")
    expect(table).to_contain_text("age 4/4", timeout=60_000)
    expect(page.locator(".st-key-strip")).to_contain_text("second computation agrees")
    expect(levels.get_by_role("button", name="Leave out").first).to_be_enabled()
    page.keyboard.press("Escape")
    wait_for_app(page)

    page.set_viewport_size({"width": 900, "height": 900})  # one column, and the page scrolls
    wait_for_app(page)
    seen = measured(page)
    assert seen["scrolls"][0] > 0
    lefts = {round(seen["boxes"][key][0]) for key in PANELS}
    assert len(lefts) == 1

    page.set_viewport_size({"width": 700, "height": 900})  # the sidebar folds up by itself
    wait_for_app(page)
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    wait_for_app(page)
    fits(page, *SIZES[0])
    page.get_by_role("button", name="Pin this run").click(trial=True)  # nothing lies over it
