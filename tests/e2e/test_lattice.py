"""The lattice in a browser: a click takes a node in hand, and one more makes it the release."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import carry_out, go, take_sample, wait_for_app


@pytest.mark.long
def test_a_node_is_clicked_and_made_the_release(page: Page) -> None:
    page.goto("/")
    wait_for_app(page)
    take_sample(page)
    carry_out(page)
    go(page, "Results")
    page.get_by_role("button", name="The search", exact=True).click()
    panel = page.locator(".st-key-lattice-panel")
    release = panel.get_by_role("button", name="Make these levels the release")
    expect(release).to_be_disabled()
    # The most general node holds whenever any does, and is drawn on top.
    panel.locator(".st-key-plot-lattice").scroll_into_view_if_needed()
    points = panel.locator(".st-key-plot-lattice .scatterlayer .points path")
    expect(points.first).to_be_visible(timeout=30_000)  # it is drawn once its tab is opened
    top = points.evaluate_all(  # of hundreds, each of which would be asked for by itself
        """all => {
          const boxes = all.map((one) => one.getBoundingClientRect());
          const top = boxes.reduce((a, b) => (b.y < a.y ? b : a));
          return { x: top.x + top.width / 2, y: top.y + top.height / 2 };
        }"""
    )
    assert top["y"] > 0, "the top of the lattice is out of sight"
    page.mouse.click(top["x"], top["y"])
    wait_for_app(page)
    expect(release).to_be_enabled()
    release.click()
    expect(page.get_by_text("Chosen levels", exact=True).first).to_be_visible(timeout=60_000)
    wait_for_app(page)
    expect(panel).to_contain_text(re.compile("Chosen; satisfies the privacy models"))
    expect(release).to_be_disabled()
