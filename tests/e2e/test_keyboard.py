"""Results without a mouse: an officer's what-ifs by keys, and where one is is always seen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import carry_out, go, take_sample, wait_for_app

#: Presses of Tab after which something is out of reach.
MOST = 80
#: Whether the focus is seen: at the element, at the field or table that it is in, or in a
#: component's own root; the page itself and what was skipped to are no control.
_SEEN = """async () => {
  let at = document.activeElement;
  if (at === document.body || at.tagName === "MAIN") return "";
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const draws = one => {
    const look = getComputedStyle(one);
    const outlined = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) > 0;
    return outlined || look.boxShadow !== "none";
  };
  if (at.closest('[data-testid="stDataFrame"]') || draws(at)) return "";
  if ([...at.querySelectorAll("*")].some(draws)) return "";
  if (at.tagName === "INPUT") {  // the frame around it changes its colour, in a moment
    const border = one => {
      while (one && !parseFloat(getComputedStyle(one).borderTopWidth)) one = one.parentElement;
      return one && getComputedStyle(one).borderTopColor;
    };
    const rest = () => new Promise(done => setTimeout(done, 300));
    await rest();
    const held = border(at);
    const frame = document.querySelector(".st-key-what-if");
    if (held && held !== getComputedStyle(frame).borderTopColor) return "";
  }
  return at.outerHTML.slice(0, 160);
}"""


def reach(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus; the focus is seen at every step."""
    for _ in range(MOST):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
        unseen = page.evaluate(_SEEN)
        assert not unseen, f"the focus is not seen at {unseen}"
    pytest.fail(f"Tab does not reach {wanted}")


def pressed(page: Page, name: str | re.Pattern[str], within: str = "workspace") -> None:
    """Go to a button by Tab, and press it by Enter."""
    button = page.locator(f".st-key-{within}").get_by_role("button", name=name).first
    reach(page, button)
    page.keyboard.press("Enter")
    wait_for_app(page)


def typed(page: Page, label: str, value: str) -> None:
    """Go to a field of the bar by Tab, and type a number and Enter."""
    reach(page, page.locator(".st-key-what-if").get_by_label(label, exact=True))
    page.keyboard.press("Control+a")
    page.keyboard.type(value)
    page.keyboard.press("Enter")


@pytest.mark.slow
def test_the_whole_workspace_by_keyboard(page: Page) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    take_sample(page)
    go(page, "Run")
    page.locator(".st-key-advice").get_by_role("button", name="Use this").last.click()
    wait_for_app(page, seconds=60)
    carry_out(page)
    go(page, "Results")
    head, chosen = page.locator(".st-key-run-head"), page.locator(".st-key-chosen-bar")
    expect(head).to_contain_text("l = 8")

    typed(page, "k", "20")
    expect(head).to_contain_text("k = 20", timeout=60_000)
    wait_for_app(page)
    typed(page, "l", "6")
    expect(head).to_contain_text("l = 6", timeout=60_000)
    wait_for_app(page)

    reach(page, page.locator(".st-key-what-if").get_by_label("Technique"))
    page.keyboard.type("Mondrian")
    page.keyboard.press("Enter")
    expect(head).to_contain_text("Mondrian", timeout=60_000)
    wait_for_app(page)
    pressed(page, "Back to baseline")
    expect(head).not_to_contain_text("Mondrian", timeout=60_000)
    wait_for_app(page)

    pressed(page, "Larger class")
    expect(chosen).to_contain_text("Chosen: class 1")
    page.keyboard.press("Enter")  # the focus stays
    expect(chosen).to_contain_text("Chosen: class 2")
    wait_for_app(page)

    drawer = page.locator(".st-key-drawer-open")
    pressed(page, "Questions")
    expect(drawer).to_contain_text("Which k?")
    pills = drawer.get_by_test_id("stButtonGroup").locator("button")
    reach(page, pills.first)
    for _ in range(MOST):  # one stop of Tab, arrows within
        if "Which k?" in page.evaluate("() => document.activeElement.textContent"):
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    wait_for_app(page)
    expect(drawer).to_contain_text("Acceptable chance")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    wait_for_app(page)
    expect(chosen).to_contain_text("Chosen: class 2")  # the drawer was closed, and nothing else
    page.keyboard.press("Escape")
    expect(chosen).to_contain_text("No class is selected")
    wait_for_app(page)

    said = head.locator("p").first
    now = said.inner_text()
    page.keyboard.press("Alt+z")
    expect(said).not_to_have_text(now, timeout=60_000)
    wait_for_app(page)
    page.keyboard.press("Alt+Shift+z")
    expect(said).to_have_text(now, timeout=60_000)
