"""Learn in the browser: keys go one step each, and a click in the picture answers."""

from __future__ import annotations

import re
from typing import Literal

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


@pytest.mark.long
def test_a_dial_is_moved_by_keys_and_the_step_stays(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto("/Learn?lesson=costs&step=2&show=1")
    wait_for_app(page, seconds=60)
    words = page.locator(".st-key-learn-told")
    before = words.inner_text()
    page.get_by_role("group", name="k", exact=True).locator("input").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"step=2&show=1&set=3$"), timeout=30_000)
    wait_for_app(page)
    expect(words).not_to_have_text(before)
    expect(page.get_by_role("group", name="k", exact=True).locator("input")).to_be_focused()
    stage = page.locator(".lesson").bounding_box()
    assert stage is not None
    assert stage["y"] + stage["height"] <= 720


@pytest.mark.long
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_what_changes_from_step_to_step_moves_unless_motion_is_unwelcome(
    page: Page, motion: Literal["no-preference", "reduce"]
) -> None:
    page.add_init_script(
        "window.moved = 0; const own = Element.prototype.animate;"
        "Element.prototype.animate = function (...given) {"
        "  window.moved += this.dataset.part ? 1 : 0; return own.apply(this, given); }"
    )
    page.emulate_media(reduced_motion=motion)
    page.goto("/Learn?lesson=mondrian&step=3&show=1")
    wait_for_app(page, seconds=60)
    assert page.evaluate("window.moved") == 0  # the first picture is simply there
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Step 4 of 14")).to_be_visible()
    wait_for_app(page)
    assert (page.evaluate("window.moved") > 0) == (motion == "no-preference")


@pytest.mark.long
def test_words_and_pictures_point_to_each_other(page: Page) -> None:
    page.goto("/Learn?lesson=mondrian&step=2&show=1")
    wait_for_app(page, seconds=60)
    word = page.locator(".st-key-learn-told [data-points]").first
    word.hover()
    expect(word).to_have_class("pointed")
    part = page.locator(".lesson [data-part].pointed").first
    expect(part).to_be_visible()
    page.get_by_role("heading", level=3).hover()
    expect(page.locator(".pointed")).to_have_count(0)
    page.locator('.lesson [data-part="column:Zip"]').first.hover()
    expect(word).to_have_class("pointed")
