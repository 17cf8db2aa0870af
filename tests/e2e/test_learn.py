"""Learn in the browser: keys go one step each, and a click in the picture answers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import wait_for_app


@pytest.mark.long
def test_keys_and_clicks_go_through_a_lesson(page: Page) -> None:
    page.goto("/Learn?lesson=mondrian")
    wait_for_app(page, seconds=60)
    for step in ("step=2", "step=2&show=1", "step=3", "step=3&show=1", "step=4"):
        page.keyboard.press("ArrowRight")  # each press is one click, however many came before
        expect(page).to_have_url(re.compile(rf"{re.escape(step)}$"), timeout=30_000)
        wait_for_app(page)
    page.locator('[data-pick="column:Age"]').click()
    expect(page.get_by_text("Right: Age.")).to_be_visible(timeout=30_000)
    page.keyboard.press("End")
    expect(page.get_by_role("heading", name="Exercises")).to_be_visible(timeout=30_000)
    page.keyboard.press("Home")
    expect(page.get_by_text("Step 1 of 14")).to_be_visible(timeout=30_000)
