"""What browser tests share: waiting for Streamlit by what it shows, never by sleeping."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from ui.charts import theme

#: Whether Streamlit's `app` has run its script and shows all of it, as JavaScript.
IDLE = """
  app !== null
    && app.dataset.testConnectionState === "CONNECTED"
    && app.dataset.testScriptState === "notRunning"
    && app.querySelector('[data-stale="true"], [data-testid="stSkeleton"]') === null
"""
_SETTLED = f"""
() => {{
  const app = document.querySelector('[data-testid="stApp"]');
  const idle = {IDLE};
  const now = performance.now();
  if (!idle) {{ window.settledSince = undefined; return false; }}
  window.settledSince ??= now;
  return now - window.settledSince >= 250;
}}
"""

#: Milliseconds between two looks; a look at every frame would have frames drawn for it.
_POLLING = 50

SCHEMES = ("light", "dark")
#: Whether the page has a theme's quiet colour, and no chart the other's: charts follow the page.
_REDRAWN = """
([now, before]) =>
  [...document.querySelectorAll("style:not([data-turning])")].some(one =>
    one.textContent.includes("stCaptionContainer") && one.textContent.includes(now))
  && ![...document.querySelectorAll("svg.marks text")].some(one =>
    one.getAttribute("fill") === before)
  && ![...document.querySelectorAll("svg.marks")].some(one => one.style.filter)
  && document.querySelector("style[data-turning]") === null
"""
_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
#: Whether nothing is unread in the colours of the theme before: each chart of it is turned over
#: until it is drawn again, and side notes have the new quiet colour.
_TURNED = """
before => {
  const probe = document.createElement("span");
  probe.style.color = before;
  return ![...document.querySelectorAll("svg.marks")].some(one =>
      !one.style.filter
      && [...one.querySelectorAll("text")].some(text => text.getAttribute("fill") === before))
    && ![...document.querySelectorAll('[data-testid="stCaptionContainer"]')].some(one =>
      getComputedStyle(one).color === probe.style.color);
}
"""


def wait_for_app(page: Page, *, seconds: float = 30) -> None:
    """Wait until the page's script has run, and has stayed at rest for a quarter of a second.

    The rest covers the moment between an event in the browser and the run that it starts.
    """
    page.evaluate("() => { window.settledSince = undefined; }")
    page.wait_for_function(_SETTLED, timeout=seconds * 1000, polling=_POLLING)


def scheme_is(page: Page, scheme: str) -> None:
    """Change the theme, and wait until page and charts are drawn in it: a click before is lost."""
    light, dark = theme.VERDICT_STYLE["plain"][:2]
    page.emulate_media(color_scheme=scheme)  # pyright: ignore[reportArgumentType]
    page.evaluate(_FRAMES)  # a frame tells of the change before it is drawn
    assert page.evaluate(_TURNED, light if scheme == "dark" else dark)
    page.wait_for_function(
        _REDRAWN,
        arg=[light, dark] if scheme == "light" else [dark, light],
        timeout=30_000,
        polling=_POLLING,
    )
    wait_for_app(page)


def follow(page: Page, step: str) -> None:
    """Click a step in the sidebar, with the pointer taken off whatever it would be shown about."""
    page.mouse.move(0, 0)  # a tooltip is in the way for as long as the pointer rests
    page.get_by_test_id("stSidebar").get_by_role("link", name=step, exact=True).click()


def go(page: Page, step: str, *, title: str = "") -> None:
    """Go to a step by the sidebar, and wait until it is drawn."""
    follow(page, step)
    heading = page.get_by_role("heading", name=title or step, level=1, exact=True)
    heading.wait_for(timeout=60_000)  # `expect` would describe the whole page at every look
    wait_for_app(page, seconds=60)
    if step == "Run":  # what it recommends is tried first, and drawn then
        expect(page.get_by_text("Trying on")).to_have_count(0, timeout=120_000)
        wait_for_app(page, seconds=60)


def take_sample(page: Page, name: str = "hospital") -> None:
    """Load a sample from Start, which is open."""
    page.locator(f".st-key-card-{name}").get_by_role("button").first.click()
    wait_for_app(page, seconds=60)


def carry_out(page: Page) -> None:
    """Go to Run and carry out the plan."""
    go(page, "Run")
    released(page)


def released(page: Page, *words: str) -> None:
    """Run by the keyboard, and wait until Run says that it is released, and such words."""
    page.keyboard.press("Control+Enter")
    for said in ("Released in", *words):  # a first run may compile what it needs
        page.locator(".st-key-outcome").filter(has_text=said).wait_for(timeout=300_000)
    wait_for_app(page, seconds=60)
