"""Every page: axe-core finds nothing against WCAG 2.2 AA beyond known exceptions; none is long.

Every run looks at each page in the light theme, and at Results in the dark one as well; `make
test-long` at all of them in both themes and two widths, with all that is folded up opened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.access import EXCEPTIONS, violations
from tests.e2e.browser import SCHEMES, carry_out, go, scheme_is, wait_for_app
from tests.e2e.test_pages import HALF, begin, checklist_is_one_screen, words_shown
from tests.e2e.test_walk import pin
from ui.panels import page_frame

PAGES = tuple(step.label for step in (*page_frame.STEPS[1:], *page_frame.FURTHER))
#: What a page is called by itself, where that isn't the step's name.
TITLES = {"Start": "Anonymity Workbench"}
#: What shows most of the theme's own colours.
DARK = "Results"
_UNFOLD = """
() => {
  const folded = [...document.querySelectorAll(
    '[data-testid="stMain"] details:not([open]) > summary')].filter(one => one.checkVisibility());
  folded.forEach(one => one.click());
  return folded.length;
}
"""
#: A fold is drawn once it is opened, and may hold folds of its own.
_DEPTH = 4
_DRAWER = ".st-key-drawers button"
_TAB = '[data-testid="stMain"] [role="tab"][aria-selected="false"]:visible'


def reach(page: Page, name: str, title: str = "") -> None:
    """Go to a page, also where the sidebar has folded up in a narrow window."""
    page.set_viewport_size({"width": 1360, "height": 900})
    wait_for_app(page)
    folded = page.get_by_test_id("stExpandSidebarButton")
    if folded.is_visible():
        folded.click()
    go(page, name, title=title)


def note(page: Page, seen: tuple[object, ...], found: dict[str, Any]) -> None:
    """Look at what is drawn now."""
    heading = page.get_by_role("heading", level=1).first.inner_text()
    broken, known = violations(page)
    found["known"] |= known
    for one in broken:
        key = (heading, one["rule"], one["at"])
        found["broken"].setdefault(key, {**one, "seen": []})["seen"].append(seen)


def look(
    page: Page,
    width: int,
    found: dict[str, Any],
    schemes: Sequence[str] = SCHEMES,
    *,
    unfolded: bool = False,
) -> None:
    """Look at the page that is open; `unfolded` also with every expander open, behind each tab."""
    page.set_viewport_size({"width": width, "height": 900})
    if unfolded:
        unfold(page)
    for scheme in schemes:
        scheme_is(page, scheme)
        note(page, (width, scheme), found)
    tabs = page.locator(_TAB).all_inner_texts() if unfolded else []
    for tab in tabs:
        page.get_by_test_id("stMain").get_by_role("tab", name=tab, exact=True).first.click()
        wait_for_app(page)
        unfold(page)
        note(page, (width, schemes[-1], tab), found)
    drawers = page.locator(_DRAWER).all_inner_texts() if unfolded else []
    for drawer in drawers:
        page.locator(_DRAWER).get_by_text(drawer, exact=True).click()
        wait_for_app(page)
        unfold(page)
        note(page, (width, schemes[-1], drawer), found)
        page.locator(".st-key-drawer-close button").click()
        wait_for_app(page)


def unfold(page: Page) -> None:
    """Open every fold that is seen, and those inside."""
    for _ in range(_DEPTH):
        if not page.evaluate(_UNFOLD):
            return
        wait_for_app(page)


def nothing_broken(found: dict[str, Any]) -> None:
    """Fail with all that was found."""
    assert not found["broken"], json.dumps(list(found["broken"].values()), indent=1)


@pytest.mark.slow
def test_every_page_is_short_and_can_be_used_by_everyone(page: Page) -> None:
    found: dict[str, Any] = {"broken": {}, "known": set()}
    begin(page)
    shown: dict[str, int] = {}
    for name in ("Start", *PAGES):
        if name == "Results":
            carry_out(page)
            pin(page, "A")
        go(page, name, title=TITLES.get(name, ""))
        if name in HALF:
            shown[name] = words_shown(page)
        if name == "Export":
            checklist_is_one_screen(page)
        note(page, (1360, "light"), found)
    scheme_is(page, "dark")
    go(page, DARK)
    note(page, (1360, "dark"), found)
    nothing_broken(found)
    assert shown.keys() == HALF.keys()
    assert {name: count for name, count in shown.items() if count > HALF[name]} == {}


@pytest.mark.long
def test_every_page_in_both_themes_and_widths_with_all_that_is_folded_up(page: Page) -> None:
    found: dict[str, Any] = {"broken": {}, "known": set()}
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(".st-key-card-toth-private").get_by_role("button").first.click()
    expect(page.get_by_test_id("stSidebar")).to_contain_text("Toth", timeout=30_000)
    wait_for_app(page)
    carry_out(page)
    pin(page, "A")
    for name in (*PAGES, "Start"):
        reach(page, name, TITLES.get(name, ""))
        for width in (1360, 800):
            look(page, width, found, unfolded=True)
    nothing_broken(found)
    gone = [one for place, one in enumerate(EXCEPTIONS) if place not in found["known"]]
    assert not gone, f"these exceptions occur no more: {gone}"


@pytest.mark.long
def test_recommendations_and_what_waits_for_a_reason(page: Page) -> None:
    found: dict[str, Any] = {"broken": {}, "known": set()}
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(".st-key-card-hospital").get_by_role("button").first.click()
    expect(page.get_by_test_id("stSidebar")).to_contain_text("Hospital", timeout=30_000)
    wait_for_app(page)
    go(page, "Run")
    expect(page.get_by_role("button", name="Use this").first).to_be_visible()
    page.get_by_role("button", name="Use this").first.click()
    wait_for_app(page)
    for width in (1360, 800):
        look(page, width, found)
    reach(page, "Run")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".st-key-outcome")).to_contain_text("Released", timeout=120_000)
    wait_for_app(page)
    for name in ("Results", "Export"):
        reach(page, name)
        for width in (1360, 800):
            look(page, width, found)
    nothing_broken(found)
