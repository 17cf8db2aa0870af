"""Pages beside Results are short: what is looked at first is in sight, the rest one click away."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import go, wait_for_app

#: What a page shows without a click, and how far down it goes.
_SEEN = """() => {
  const main = document.querySelector('[data-testid="stMainBlockContainer"]');
  const words = main.innerText.split(/\\s+/).filter(word => /[A-Za-z0-9]/.test(word));
  const primary = main.querySelectorAll('[data-testid^="stBaseButton-primary"]');
  const height = Math.round(main.getBoundingClientRect().height);
  return {height, words: words.length, primary: primary.length};
}"""
#: Two screens, and half of the words that were shown once.
MOST_HIGH, MOST_WORDS = 1_800, 436


def begin(page: Page) -> None:
    """Load the sample of a hospital."""
    page.set_viewport_size({"width": 1360, "height": 900})
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(".st-key-card-hospital").get_by_role("button").first.click()
    wait_for_app(page, seconds=60)


@pytest.mark.slow
def test_run_fits_two_screens_and_its_drawers_open(page: Page) -> None:
    begin(page)
    go(page, "Run")
    seen = page.evaluate(_SEEN)
    assert seen["height"] <= MOST_HIGH
    assert seen["words"] <= MOST_WORDS
    assert seen["primary"] == 1
    assert 2 <= page.locator(".st-key-advice").get_by_role("button", name="Use this").count() <= 3
    for place in range(2):  # each was tried, and says what came of it
        expect(page.locator(f".st-key-advice-{place}")).to_contain_text("1 in ")
    first = page.locator(".st-key-advice-0")
    first.get_by_role("button", name="Use this").click()
    wait_for_app(page, seconds=60)
    expect(first.get_by_role("button", name="In use")).to_be_visible()

    page.locator(".st-key-model-more-0 button").first.click()
    drawer = page.get_by_test_id("stPopoverBody")
    expect(drawer).to_contain_text("Of columns")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)

    attackers = page.locator(".st-key-run-attackers")
    attackers.locator("summary").click()
    wait_for_app(page)
    field = page.get_by_role("spinbutton", name="Columns known at most")
    field.fill("2")
    field.press("Enter")
    wait_for_app(page)
    expect(attackers.locator("summary")).to_contain_text("1 changed: Uniqueness")
