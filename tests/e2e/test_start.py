"""The dashboard opens in both colour schemes, with nothing from outside this machine.

Every other browser test opens it in the light one.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.e2e.browser import wait_for_app


@pytest.mark.parametrize("colour_scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_the_start_page_opens(page: Page, colour_scheme: str) -> None:
    page.goto("/")
    wait_for_app(page)
    scheme = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).colorScheme")
    assert scheme == colour_scheme
    assert page.get_by_test_id("stException").count() == 0
    assert page.requests_seen
