"""The dashboard opens in both colour schemes, with nothing from outside this machine.

Every other browser test opens it in the light one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import wait_for_app
from tests.e2e.conftest import served


@pytest.mark.parametrize("colour_scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_the_start_page_opens(page: Page, colour_scheme: str) -> None:
    page.goto("/")
    wait_for_app(page)
    scheme = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).colorScheme")
    assert scheme == colour_scheme
    assert page.get_by_test_id("stException").count() == 0
    assert page.requests_seen


_WORDS = """
([of, part, words]) => {
  const found = document.querySelector(of);
  return found !== null && getComputedStyle(found, part).content.includes(words);
}
"""


def test_a_page_whose_server_has_ended_says_so_in_words_of_its_own(
    browser: Browser, tmp_path: Path
) -> None:
    tab = browser.new_page()
    with served(tmp_path) as url:
        tab.goto(url)
        wait_for_app(tab)
    tab.wait_for_function(_WORDS, arg=[".stApp", "::before", "Connecting again"])
    tab.get_by_role("dialog").wait_for()
    told = "[data-testid=stDialog] div:has(> [data-testid=stErrorCodeBlock]) > :first-child"
    tab.wait_for_function(_WORDS, arg=[told, "::after", "The workbench does not answer"])
    expect(tab.get_by_text("streamlit run")).to_be_hidden()
    tab.close()
