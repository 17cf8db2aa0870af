"""A look in the background waits for what a person does, and gives way to a page that is opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from ui.components.another_look import SCRIPT

_PAGE = (
    '<div data-testid="stApp" data-test-script-state="notRunning">'
    '<a href="#there">A page</a><button>Do it</button></div>'
)
_BEGIN = """
source => import(URL.createObjectURL(new Blob([source], {type: "text/javascript"}))).then(one => {
  window.looks = 0;
  const component = {data: {turn: 1, after: 300}, setTriggerValue: () => { window.looks += 1; }};
  window.ends = one.default(component);
})
"""
_STATE = "state => { document.querySelector('div').dataset.testScriptState = state; }"


@pytest.fixture
def waiting(page: Page) -> Page:
    """Return a page at rest, on which a look is asked for in 300 milliseconds."""
    page.set_content(_PAGE)
    page.clock.install(time=0)
    page.clock.pause_at(1)
    page.evaluate(_BEGIN, SCRIPT)
    return page


def looks(page: Page, *, after: int) -> int:
    page.clock.run_for(after)
    return page.evaluate("window.looks")


def test_it_looks_once_the_time_is_over(waiting: Page) -> None:
    assert looks(waiting, after=290) == 0
    assert looks(waiting, after=20) == 1
    assert looks(waiting, after=5000) == 1


@pytest.mark.parametrize("act", ["key", "click"])
def test_it_waits_for_what_a_person_does(waiting: Page, act: str) -> None:
    looks(waiting, after=200)
    if act == "key":
        waiting.keyboard.press("p")
    else:
        waiting.locator("button").dispatch_event("click")
    assert looks(waiting, after=900) == 0
    assert looks(waiting, after=200) == 1


def test_it_waits_while_the_page_is_drawn(waiting: Page) -> None:
    waiting.evaluate(_STATE, "running")
    assert looks(waiting, after=2000) == 0
    waiting.evaluate(_STATE, "notRunning")
    assert looks(waiting, after=400) == 1


def test_it_gives_way_to_a_page_that_is_opened(waiting: Page) -> None:
    waiting.locator("a").dispatch_event("click")
    assert looks(waiting, after=5000) == 0


def test_it_ends_with_its_fragment(waiting: Page) -> None:
    waiting.evaluate("window.ends()")
    assert looks(waiting, after=5000) == 0
