"""Pages next to Results are short: what is looked at first is in sight, the rest one click away."""

from __future__ import annotations

import random
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import go, take_sample, wait_for_app

#: What a page shows without a click, and how far down it goes.
_SEEN = """() => {
  const main = document.querySelector('[data-testid="stMainBlockContainer"]');
  const of = text => text.split(/\\s+/).filter(word => /[A-Za-z0-9]/.test(word)).length;
  const drawn = [...main.querySelectorAll("svg text")].map(one => one.textContent);
  const words = of(main.innerText), prose = words - of(drawn.join(" "));
  const primary = main.querySelectorAll('[data-testid^="stBaseButton-primary"]');
  const height = Math.round(main.getBoundingClientRect().height);
  const elements = [...main.querySelectorAll('[data-testid="stElementContainer"]')]
    .filter(one => one.getBoundingClientRect().top < innerHeight).length;
  return {height, words, prose, primary: primary.length, elements};
}"""
#: Two screens, and half of the words that were shown once.
MOST_HIGH, MOST_WORDS = 1_800, 436
#: Half of the words that other pages of the hospital's table showed once, those of charts left out.
HALF = {
    "Start": 193,
    "Data": 42,
    "Roles": 99,
    "Hierarchies": 87,
    "Results": 509,
    "Export": 265,
    "Learn": 410,
}
#: Elements of Streamlit that begin in the first window of a page; each costs a message and time.
MOST_ELEMENTS = 60
#: Columns of a wide table.
WIDE = 300


def begin(page: Page) -> None:
    """Load the sample of a hospital."""
    page.set_viewport_size({"width": 1360, "height": 900})
    page.goto("/")
    wait_for_app(page, seconds=60)
    take_sample(page)


@pytest.mark.slow
def test_run_fits_two_screens_and_its_drawers_open(page: Page) -> None:
    begin(page)
    go(page, "Run")
    seen = page.evaluate(_SEEN)
    assert seen["height"] <= MOST_HIGH
    assert seen["words"] <= MOST_WORDS
    assert seen["primary"] == 1
    assert 0 < seen["elements"] < MOST_ELEMENTS
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
    expect(field).to_be_visible()
    wait_for_app(page)  # the click begins a run, which on a busy machine begins late
    field.fill("2")
    field.press("Enter")
    wait_for_app(page)
    expect(attackers.locator("summary")).to_contain_text("1 changed: Uniqueness")


def words_shown(page: Page) -> int:
    """Return how many words the open page shows without its charts; it has few elements."""
    seen = page.evaluate(_SEEN)
    assert 0 < seen["elements"] < MOST_ELEMENTS
    return seen["prose"]


@pytest.mark.slow
def test_roles_shows_fifteen_columns_and_nothing_jumps(page: Page) -> None:
    drawn = random.Random(1)
    lines = [",".join(f"column_{place}" for place in range(WIDE))]
    lines += [",".join(str(drawn.randrange(9)) for _ in range(WIDE)) for _ in range(60)]
    page.set_viewport_size({"width": 1360, "height": 900})
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator("input[type=file]").first.set_input_files(
        {"name": "wide.csv", "mimeType": "text/csv", "buffer": "\n".join(lines).encode()}
    )
    side = page.get_by_test_id("stSidebar")
    expect(side).to_contain_text("wide.csv", timeout=60_000)
    wait_for_app(page, seconds=60)
    go(page, "Roles")
    rows = page.locator(".roles tbody tr")
    expect(rows).to_have_count(WIDE)
    boxes = [box for row in rows.all()[:40] if (box := row.bounding_box()) is not None]
    frame = page.locator(".roles .frame").bounding_box()
    assert frame is not None
    assert max(box["height"] for box in boxes) <= 36
    bottom = min(900, frame["y"] + frame["height"])
    assert sum(box["y"] + box["height"] <= bottom for box in boxes) >= 15

    def role(place: int) -> Locator:
        return page.locator(f'.roles tr[data-name="column_{place}"] select')

    def top(place: int) -> float:
        box = role(place).bounding_box()
        assert box is not None
        return box["y"]

    role(200).scroll_into_view_if_needed()
    before = top(200)
    role(200).focus()
    page.keyboard.press("q")  # a letter chooses in a cell
    expect(side).to_contain_text("1quasi-identifier", timeout=30_000)
    wait_for_app(page)
    assert top(200) == before
    expect(role(200)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("5")  # a number chooses in a row
    expect(role(201)).to_have_value("sensitive")
    wait_for_app(page)
    page.get_by_label("Tick column_205", exact=True).click()
    page.get_by_label("Tick column_209", exact=True).click(modifiers=["Shift"])
    page.keyboard.press("8")  # and for all that are ticked
    expect(side).to_contain_text("5left out", timeout=30_000)
    wait_for_app(page)
    assert top(200) == before
    page.get_by_label("Find columns by a part of their name").fill("_29")
    expect(page.locator(".roles tbody tr:visible")).to_have_count(11)
    page.get_by_label("Find columns by a part of their name").fill("")
    page.get_by_label("Show the columns of one role").select_option("left_out")
    expect(page.locator(".roles tbody tr:visible")).to_have_count(5)


def compare_begins_on_the_first_screen(page: Page) -> None:
    """See that the first charts of Compare are drawn there, and lists are folded."""
    for chart in ("tracks", "metrics"):
        box = page.locator(f".st-key-chart-{chart}").bounding_box()
        assert box is not None
        assert box["y"] + 200 <= 900
    which = page.locator(".st-key-frontier")
    expect(which).to_contain_text("Optimal full-domain search, Mondrian")
    expect(which).not_to_contain_text("Anatomy")  # the list is folded
    page.locator(".st-key-sweep-which button").first.click()
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text("Anatomy")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def checklist_is_one_screen(page: Page) -> None:
    """See that the checklist of Export is, and each reason next to what it is for."""
    seen = page.locator(".st-key-checklist").bounding_box()
    assert seen is not None
    assert seen["y"] + seen["height"] <= 900
    reasons = page.locator(".st-key-checklist").get_by_label(re.compile("^Reason [0-9]+: why"))
    assert reasons.count() > 1
    for place in range(reasons.count()):  # what does not hold, and why it goes out, in one line
        line = page.locator(f".st-key-facing-{place}")
        expect(line.get_by_label(re.compile("^Reason"))).to_be_visible()
        field = line.get_by_label(re.compile("^Reason")).bounding_box()
        words = line.get_by_test_id("stMarkdownContainer").first.bounding_box()
        assert field is not None
        assert words is not None
        assert field["x"] >= words["x"] + words["width"]


@pytest.mark.slow
def test_start_opens_a_table_and_its_recipe_dropped_together(page: Page) -> None:
    page.set_viewport_size({"width": 1360, "height": 900})
    page.goto("/")
    wait_for_app(page, seconds=60)
    zone = page.locator("input[type=file]")
    expect(zone).to_have_count(1)
    recipe = (
        '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n[algorithm]\nname = "mondrian"\n'
        '[[models]]\nname = "k-anonymity"\nk = 3\n'
    )
    table = "age,ill\n" + "".join(f"{20 + place},{place % 4}\n" for place in range(40))
    zone.set_input_files(
        [
            {"name": "r.txt", "mimeType": "text/plain", "buffer": recipe.encode()},
            {"name": "t.csv", "mimeType": "text/csv", "buffer": table.encode()},
        ]
    )
    expect(page.get_by_text("The recipe was opened and fits the table.")).to_be_visible(
        timeout=60_000
    )
    wait_for_app(page)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("t.csv")
    page.locator("input[type=file]").set_input_files(
        [{"name": "cat.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n\x00\x00"}]
    )
    expect(page.get_by_text("'cat.png' cannot be opened here")).to_be_visible(timeout=30_000)
    expect(page.get_by_test_id("stFileUploaderFile")).to_have_count(0)
