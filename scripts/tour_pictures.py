"""Make the pictures of README.md and docs/tour.md from the sample hospital.

The dashboard runs next to it:

ANONYMITY_WORKBENCH_SESSIONS=off .venv/bin/python -m anonymity_workbench serve --port 8501
CHROMIUM=$(sh scripts/chromium.sh) .venv/bin/python scripts/tour_pictures.py http://localhost:8501
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

DOCS = Path(__file__).resolve().parent.parent / "docs"
MOST_BYTES = 150_000
WINDOW, WIDE = ViewportSize(width=1280, height=860), ViewportSize(width=1360, height=900)
#: What a page is drawn with is at rest: no script runs, nothing is drawn again.
_AT_REST = """
() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning"
  && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]')
"""


def rest(page: Page) -> None:
    """Wait until the page is drawn."""
    page.wait_for_timeout(800)
    page.wait_for_function(_AT_REST, timeout=60_000)
    page.wait_for_timeout(400)


def picture(page: Page, name: str) -> None:
    """Write what the window shows."""
    rest(page)
    shown = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    path = DOCS / f"{name}.webp"
    shown.save(path, quality=82, method=6)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path.name} has {path.stat().st_size} bytes; at most {MOST_BYTES}.")


def go(page: Page, name: str) -> None:
    """Open a step by the sidebar."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible(timeout=60_000)
    rest(page)


def results_in_both_themes(page: Page) -> None:
    """Write how Results looks in a tall window, in the light theme and in the dark."""
    page.set_viewport_size(WIDE)
    schemes: tuple[Literal["dark", "light"], ...] = ("dark", "light")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        go(page, "Run")
        go(page, "Results")
        page.mouse.move(0, 0)
        picture(page, f"results-{scheme}")
    page.set_viewport_size(WINDOW)


def main(url: str) -> None:
    """Walk from the sample to the files, and take a picture of every step."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport=WINDOW, color_scheme="light", base_url=url)
        page.goto("/")
        expect(page.get_by_text("Try a sample")).to_be_visible(timeout=60_000)
        picture(page, "tour/start")
        page.locator(".st-key-card-hospital").get_by_role("button").first.click()
        expect(page.get_by_test_id("stSidebar").get_by_role("link", name="Roles")).to_be_enabled()
        rest(page)
        for name in ("Roles", "Hierarchies", "Run"):
            go(page, name)
            expect(page.get_by_text("Trying on")).to_have_count(0, timeout=60_000)
            rest(page)
            picture(page, f"tour/{name.lower()}")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".st-key-outcome")).to_contain_text("Released", timeout=120_000)
        go(page, "Results")
        picture(page, "tour/results")
        results_in_both_themes(page)
        page.keyboard.press("p")
        for name in ("Compare", "Export"):
            go(page, name)
            picture(page, f"tour/{name.lower()}")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
