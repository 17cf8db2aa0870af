"""Tables: form and grid on the first screen, and all of it by keyboard."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.browser import go, take_sample, wait_for_app


def test_a_table_is_built_and_protected_by_keyboard(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1360, "height": 900})
    page.goto(app_url)
    wait_for_app(page, seconds=60)
    take_sample(page)
    go(page, "Tables")
    main = page.get_by_test_id("stMain")
    for seen in (page.locator(".st-key-tables-grid"), page.get_by_role("slider").last):
        box = seen.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900
    assert main.evaluate("main => main.scrollTop") == 0
    page.get_by_role("slider", name="Finest level of age").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(main).to_contain_text("465 cells · 7 sensitive")
    page.get_by_role("slider", name="fewer than").focus()
    page.keyboard.press("ArrowLeft")
    expect(main).to_contain_text("465 cells · 4 sensitive")
    wait_for_app(page)
    page.locator(".st-key-tables-protect").get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(main).to_contain_text("Each of 4 sensitive cells reaches its level", timeout=60_000)
    wait_for_app(page)
    drawer = page.locator("summary").filter(has_text="A query box")
    drawer.focus()
    page.keyboard.press("Enter")
    page.get_by_label("A", exact=True).fill("age = 7 and sex = 'M'")
    page.keyboard.press("Enter")
    expect(main).to_contain_text("General tracker")
    expect(main).to_contain_text("So the refused answer is 2")
