"""Every page in both themes: axe-core finds nothing against WCAG 2.2 AA beyond known exceptions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.access import EXCEPTIONS, violations
from tests.e2e.browser import go, wait_for_app
from tests.e2e.test_walk import pin
from ui.charts import theme

PAGES = (
    "Data",
    "Roles",
    "Hierarchies",
    "Run",
    "Results",
    "Compare",
    "Export",
    "Learn",
    "Experiments",
)
SCHEMES = ("light", "dark")
#: What is drawn in a theme's own colours is drawn anew after the theme has changed.
_REDRAWN = """
(colour) => [...document.querySelectorAll("style")].some(one =>
  one.textContent.includes("stCaptionContainer") && one.textContent.includes(colour))
"""


def reach(page: Page, name: str, title: str = "") -> None:
    """Go to a page, also where the sidebar has folded up in a narrow window."""
    page.set_viewport_size({"width": 1360, "height": 900})
    wait_for_app(page)
    folded = page.get_by_test_id("stExpandSidebarButton")
    if folded.is_visible():
        folded.click()
    go(page, name, title=title)


def look(page: Page, width: int, found: dict[str, Any]) -> None:
    """Look at the page that is open in both themes."""
    page.set_viewport_size({"width": width, "height": 900})
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            _REDRAWN, arg=theme.VERDICT_STYLE["plain"][SCHEMES.index(scheme)], timeout=30_000
        )
        wait_for_app(page)
        heading = page.get_by_role("heading", level=1).first.inner_text()
        broken, known = violations(page)
        found["known"] |= known
        for one in broken:
            key = (heading, one["rule"], one["at"])
            found["broken"].setdefault(key, {**one, "seen": []})["seen"].append((width, scheme))


def look_at_all(page: Page, widths: tuple[int, ...]) -> None:
    """Make a run with a pin, and look at every page; each is opened once."""
    found: dict[str, Any] = {"broken": {}, "known": set()}
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(".st-key-card-toth-private").get_by_role("button").first.click()
    expect(page.get_by_test_id("stSidebar")).to_contain_text("Toth", timeout=30_000)
    wait_for_app(page)
    go(page, "Run")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".st-key-outcome")).to_contain_text("Released", timeout=120_000)
    wait_for_app(page)
    pin(page, "A")
    for name in PAGES:
        reach(page, name)
        for width in widths:
            look(page, width, found)
    reach(page, "Start", "Anonymity Workbench")
    for width in widths:
        look(page, width, found)
    assert not found["broken"], json.dumps(list(found["broken"].values()), indent=1)
    gone = [one for place, one in enumerate(EXCEPTIONS) if place not in found["known"]]
    assert not gone, f"these exceptions occur no more: {gone}"


@pytest.mark.slow
def test_every_page_in_both_themes(page: Page) -> None:
    look_at_all(page, (1360,))


@pytest.mark.long
def test_every_page_in_both_themes_and_widths(page: Page) -> None:
    look_at_all(page, (1360, 800))
