"""Cut points in a browser: three nested levels of age by dragging, the same edits by keyboard."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import Locator, Page, expect

from anon_core.data.hierarchy import parse_levels
from tests.e2e.browser import go, wait_for_app
from tests.e2e.test_hierarchy_builder import build_of, saved


def people() -> bytes:
    draw = random.Random(7)
    rows = [
        f"{min(90, max(17, round(draw.gauss(41, 15))))},{draw.choice('FM')},{draw.choice('abc')}"
        for _ in range(600)
    ]
    return "\n".join(["age,sex,work", *rows, ""]).encode()


def open_age(page: Page) -> None:
    build_of(page, people(), "sex")
    page.locator(".st-key-hierarchies-column").get_by_text("age", exact=True).click()
    expect(page.locator('.cuts[data-column="age"]')).to_be_visible()
    wait_for_app(page)


def press(page: Page, name: str) -> None:
    before = rev(page)
    page.locator(f".cuts button[data-do={name}]").first.click()
    answered(page, before)


def rev(page: Page) -> int:
    return int(page.locator(".cuts").get_attribute("data-rev") or 0)


def answered(page: Page, before: int, edits: int = 1) -> None:
    """Wait until Python has answered so many edits."""
    page.wait_for_function(
        """wanted => {
          const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
            .map(one => one.shadowRoot?.querySelector('.cuts')).find(Boolean);
          return Number(host?.dataset.rev) >= wanted && !host.classList.contains('busy');
        }""",
        arg=before + edits,
    )
    wait_for_app(page)


def handle(page: Page, level: int, at: int) -> Locator:
    return page.locator(f'.cuts .handle[data-level="{level}"][data-at="{at}"]')


def cuts(page: Page, level: int) -> list[int]:
    found = page.locator(f'.cuts .handle[data-level="{level}"]')
    return [int(one.get_attribute("data-at") or 0) for one in found.all()]


def centre(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag_to(page: Page, level: int, old: int, new: int) -> None:
    """Drag a cut by the mouse until its own sign says where it is."""
    before = rev(page)
    x, y = centre(handle(page, level, old))
    one, other = (centre(page.locator(".cuts .mark").nth(i))[0] for i in (0, -1))
    low, high = (float(page.locator(".cuts .mark").nth(i).inner_text()) for i in (0, -1))
    to = x + (new - old) * (other - one) / (high - low)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(to, y + 2, steps=5)
    expect(page.locator(".cuts .ghost")).to_have_text(str(new))
    page.mouse.up()
    answered(page, before)
    expect(handle(page, level, new)).to_have_count(1)


@pytest.mark.slow
def test_age_is_cut_into_three_nested_levels_by_dragging(page: Page) -> None:
    open_age(page)
    expect(page.locator(".cuts .hint")).to_contain_text("no cuts yet")
    press(page, "rows")
    assert page.locator(".cuts .track").count() == 4
    press(page, "remove_level")
    assert page.locator(".cuts .track").count() == 3
    third = cuts(page, 3)
    assert set(third) < set(cuts(page, 2)) < set(cuts(page, 1))

    # A cut moves on every level it is on.
    old = third[0]
    drag_to(page, 3, old, old + 1)
    for level in (1, 2, 3):
        assert old + 1 in cuts(page, level)
        assert old not in cuts(page, level)
    only = next(at for at in cuts(page, 1) if at not in cuts(page, 2))
    drag_to(page, 1, only, only + 1)
    assert cuts(page, 3) == [old + 1, *third[1:]]
    rows = parse_levels(saved(page), "age")
    assert len(rows[0]) == 5
    assert any(row[1].startswith(f"{only + 1}-") or row[1] == str(only + 1) for row in rows)

    # Exact counts: each track adds up to the rows of the table.
    for track in page.locator(".cuts .track").all():
        titles = [one.get_attribute("title") or "" for one in track.locator(".part").all()]
        assert sum(int(t.split(": ")[1].split(" ")[0].replace(",", "")) for t in titles) == 600

    # Another page and back: the history is still there.
    go(page, "Run")
    go(page, "Hierarchies")
    page.locator(".st-key-hierarchies-column").get_by_text("age", exact=True).click()
    expect(handle(page, 3, old + 1)).to_have_count(1)
    press(page, "undo")
    assert only in cuts(page, 1)
    press(page, "undo")
    assert cuts(page, 3) == third
    press(page, "redo")
    assert old + 1 in cuts(page, 3)


@pytest.mark.long
@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_cuts_by_keyboard_alone(page: Page) -> None:
    open_age(page)
    page.locator(".cuts button[data-do=round]").focus()
    before = rev(page)
    page.keyboard.press("Enter")
    answered(page, before)
    status = page.locator(".cuts [role=status]")
    expect(status).to_contain_text("levels")
    first = cuts(page, 1)
    handle(page, 1, first[0]).focus()
    before = rev(page)
    page.keyboard.press("ArrowRight")
    answered(page, before)
    expect(handle(page, 1, first[0] + 1)).to_be_focused()
    expect(status).to_contain_text("rows")
    page.keyboard.press("PageDown")
    expect(handle(page, 1, first[1])).to_be_focused()
    page.keyboard.press("Delete")
    answered(page, before, 2)
    assert first[1] not in cuts(page, 1)
    page.keyboard.press("Insert")
    answered(page, before, 3)
    assert len(cuts(page, 1)) == len(first)
    page.keyboard.press("Enter")
    field = page.locator(".cuts .field")
    expect(field).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("nothing")
    page.keyboard.press("Enter")
    expect(page.locator(".cuts .note")).to_contain_text("no number")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    answered(page, before, 4)
    assert len(cuts(page, 1)) == len(first) - 1
    page.keyboard.press("ArrowDown")
    expect(page.locator('.cuts .handle[data-level="2"]:focus')).to_have_count(1)
    page.keyboard.press("Tab")  # leaves the cuts, however many there are
    expect(page.locator(".cuts .handle:focus")).to_have_count(0)
