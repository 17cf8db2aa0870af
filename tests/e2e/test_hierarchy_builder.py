"""The hierarchy builder in a browser: by mouse alone, by keyboard alone, refused, undone, large."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from anon_core.data.hierarchy import parse_levels
from anon_core.data.samples import hierarchy_folder
from tests.e2e.browser import go, wait_for_app

MARITAL = parse_levels(
    (hierarchy_folder() / "adult" / "marital-status.csv").read_text(encoding="utf-8"), "marital"
)
#: Groups in the order in which they are made: level of the members, members, label.
GROUPS = [
    (0, ("Divorced", "Widowed"), "Formerly married"),
    (0, ("Married-AF-spouse", "Married-civ-spouse"), "Spouse present"),
    (0, ("Married-spouse-absent", "Separated"), "Spouse absent"),
    (1, ("Formerly married", "Never-married"), "Not married"),
    (1, ("Spouse present", "Spouse absent"), "Married"),
]


def table(values: Sequence[str], name: str = "marital-status") -> bytes:
    """Return a table in which the first values are the most frequent."""
    rows = [
        f"{value},{20 + (i * 7 + turn) % 50},{'FM'[(i + turn) % 2]}"
        for i, value in enumerate(values)
        for turn in range(1 + (len(values) - i) % 5)
    ]
    return "\n".join([f"{name},age,sex", *rows, ""]).encode()


def build_of(page: Page, content: bytes, column: str = "marital-status") -> None:
    """Load a table, take the suggested roles, and open the builder of a column."""
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator("input[type=file]").first.set_input_files(
        {"name": "table.csv", "mimeType": "text/csv", "buffer": content}
    )
    expect(page.get_by_test_id("stSidebar")).to_contain_text("table.csv", timeout=30_000)
    wait_for_app(page)
    go(page, "Roles")
    page.get_by_role("button", name="Apply suggestions").click()
    wait_for_app(page)
    go(page, "Hierarchies")
    page.locator(".st-key-hierarchies-column").get_by_text(column, exact=True).click()
    expect(page.locator(f'.tree[data-column="{column}"]')).to_be_visible()
    wait_for_app(page)


def rev(page: Page) -> int:
    return int(page.locator(".tree").get_attribute("data-rev") or 0)


def answered(page: Page, before: int, edits: int = 1) -> None:
    """Wait until Python has answered so many edits."""
    page.wait_for_function(
        """wanted => {
          const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
            .map(one => one.shadowRoot?.querySelector('.tree')).find(Boolean);
          return Number(host?.dataset.rev) >= wanted && !host.classList.contains('busy');
        }""",
        arg=before + edits,
    )


def node(page: Page, level: int, label: str) -> Locator:
    """Return a value or group by its label."""
    here = page.locator(f'.tree .node[id^="n-{level}-"]')
    return here.filter(has=page.locator(f'.text:text-is("{label}")'))


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 13)


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 8, start[1] + 3)
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def saved(page: Page, label: str = "Level file (CSV)") -> str:
    """Return the hierarchy as its file."""
    wait_for_app(page)
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name=label, exact=True).click()
    page.keyboard.press("Escape")
    return Path(coming.value.path()).read_text(encoding="utf-8")


def by_mouse(page: Page) -> None:
    for level, members, label in GROUPS:
        before = rev(page)
        page.keyboard.down("Control")
        for member in members:
            node(page, level, member).click(position={"x": 30, "y": 8})
        page.keyboard.up("Control")
        slot = page.locator(".tree .slot").bounding_box()
        assert slot is not None
        start = middle(node(page, level, members[0]))
        # Empty space next to the member where the level is there already, else the new column.
        there = node(page, level + 1, members[0])
        end = middle(there) if there.count() else (slot["x"] + slot["width"] / 2, start[1])
        drag(page, start, end)
        answered(page, before)
        field = page.locator(".tree .editor")
        expect(field).to_be_focused()
        page.keyboard.type(label)
        page.keyboard.press("Enter")
        answered(page, before, 2)
        expect(node(page, level + 1, label)).to_have_count(1)


def arrow_to(page: Page, level: int, label: str) -> None:
    """Go to a node by arrow keys alone."""
    wanted = node(page, level, label).get_attribute("id")
    frame = page.locator(".tree .frame")

    def at() -> str:
        return frame.get_attribute("aria-activedescendant") or ""

    for _ in range(9):
        now = int(at().split("-")[1])
        if now == level:
            break
        page.keyboard.press("ArrowRight" if now < level else "ArrowLeft")
    page.keyboard.press("Home")
    for _ in range(30):
        if at() == wanted:
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"{label} was not reached")


def by_keyboard(page: Page) -> None:
    page.locator(".tree .frame").focus()
    for level, members, label in GROUPS:
        before = rev(page)
        for member in members:
            arrow_to(page, level, member)
            page.keyboard.press("Space")
        page.keyboard.press("m")
        status = page.locator(".tree [role=status]")
        expect(status).to_contain_text("Picked up 2")
        page.keyboard.press("ArrowRight")
        expect(status).to_contain_text("New group of 2")
        page.keyboard.press("Enter")
        answered(page, before)
        expect(page.locator(".tree .editor")).to_be_focused()
        page.keyboard.type(label)
        page.keyboard.press("Enter")
        answered(page, before, 2)
        expect(status).to_contain_text(f"Renamed to “{label}”")


@pytest.mark.slow
def test_marital_status_by_mouse_and_by_keyboard_is_the_same(page: Page) -> None:
    build_of(page, table([row[0] for row in MARITAL]))
    by_mouse(page)
    dragged = saved(page)
    assert sorted(parse_levels(dragged, "x")) == sorted(MARITAL)

    # Everything is undone, also after another page was seen in between.
    go(page, "Run")
    go(page, "Hierarchies")
    page.locator(".st-key-hierarchies-column").get_by_text("marital-status", exact=True).click()
    expect(node(page, 2, "Not married")).to_have_count(1)
    page.locator(".tree .frame").focus()
    before = rev(page)
    for _ in range(2 * len(GROUPS)):
        page.keyboard.press("Control+z")
    answered(page, before, 2 * len(GROUPS))
    expect(page.locator(".tree .group")).to_have_count(0)
    expect(page.locator(".tree button[data-do=undo]")).to_be_disabled()
    for _ in range(2 * len(GROUPS)):
        page.keyboard.press("Control+y")
    answered(page, before, 4 * len(GROUPS))
    assert saved(page) == dragged

    page.get_by_role("button", name="Use value or *").click()
    expect(page.locator(".tree .group")).to_have_count(0)
    wait_for_app(page)
    by_keyboard(page)
    assert saved(page) == dragged


def made(page: Page, *members: str) -> None:
    """Group some values by the keyboard, keeping the suggested name."""
    before = rev(page)
    page.keyboard.down("Control")
    for member in members:
        node(page, 0, member).click(position={"x": 30, "y": 8})
    page.keyboard.up("Control")
    page.keyboard.press("g")
    answered(page, before)
    page.keyboard.press("Escape")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_refusals_stand_at_the_place_and_change_nothing(page: Page) -> None:
    script = "<script>alert(1)</script>"
    build_of(page, table(["Bonn", "Graz", "Linz", "Lyon", script], "city"), "city")
    expect(node(page, 0, script)).to_have_count(1)
    made(page, "Bonn", "Graz")
    expect(node(page, 1, "Bonn or Graz")).to_have_count(1)
    before = page.locator(".tree .plane").inner_text()
    for typed, words in (("x" * 2**20, "letters"), ("Linz", "twice on level 1"), (" ", "is empty")):
        node(page, 1, "Bonn or Graz").dblclick(position={"x": 20, "y": 8})
        at = rev(page)
        page.locator(".tree .editor").fill(typed)
        page.keyboard.press("Enter")
        answered(page, at)
        note = page.locator(".tree .note")
        expect(note).to_be_visible()
        expect(note).to_contain_text(words)
        expect(page.locator(".tree .editor")).to_be_focused()
        box, field = note.bounding_box(), page.locator(".tree .editor").bounding_box()
        assert box is not None
        assert field is not None
        assert abs(box["x"] - field["x"]) < 200
        assert 0 <= box["y"] - field["y"] < 80
        page.keyboard.press("Escape")
        expect(note).to_be_hidden()
    assert page.locator(".tree .plane").inner_text() == before
    at = rev(page)
    node(page, 1, "Bonn or Graz").dblclick(position={"x": 20, "y": 8})
    page.keyboard.type("<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    answered(page, at)
    expect(node(page, 1, "<img src=x onerror=alert(1)>")).to_have_count(1)
    assert page.locator(".tree img").count() == 0
    # Into its own members a group cannot go: nothing is asked for.
    box = middle(node(page, 0, "Bonn"))
    drag(page, middle(page.locator(".tree .group").first), box)
    expect(page.locator(".tree [role=status]")).to_contain_text("own level or below")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("viewport", [(840, 700)])
def test_a_file_that_lacks_values_asks_for_a_place(page: Page, tmp_path: Path) -> None:
    build_of(page, table(["Bonn", "Graz", "Linz", "Lyon"], "city"), "city")
    file = b"Bonn;Germany;*\nGraz;Austria;*\nOslo;Norway;*\n"
    load(page, "cities.csv", file)
    tray = page.locator(".tree .tray")
    expect(tray).to_contain_text("2 values of the table have no place yet")
    expect(node(page, 0, "Oslo")).to_have_count(1)
    before = rev(page)
    austria = middle(node(page, 1, "Austria"))
    drag(page, middle(tray.locator(".chip", has_text="Linz")), austria)
    answered(page, before)
    tray.get_by_role("button", name="Place all on their own").click()
    answered(page, before, 2)
    expect(tray).to_be_hidden()
    once = saved(page)
    assert parse_levels(once, "city") == [
        ["Bonn", "Germany", "*"],
        ["Graz", "Austria", "*"],
        ["Linz", "Austria", "*"],
        ["Oslo", "Norway", "*"],
        ["Lyon", "Lyon", "*"],
    ]
    page.get_by_role("button", name="Use value or *").click()
    expect(page.locator(".tree .group")).to_have_count(0)
    wait_for_app(page)
    load(page, "again.csv", once.encode())
    expect(node(page, 1, "Austria")).to_have_count(1)
    assert saved(page) == once


def load(page: Page, name: str, content: bytes) -> None:
    """Load a hierarchy file."""
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_test_id("stPopoverBody").locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )
    wait_for_app(page)
    page.keyboard.press("Escape")


def drawn_after(page: Page) -> float:
    """Return the milliseconds from the last release of the mouse to the builder's last drawing."""
    return float(page.locator(".tree").get_attribute("data-at") or "nan") - float(
        page.evaluate("() => window.releasedAt")
    )


@pytest.mark.slow
@pytest.mark.long
def test_five_thousand_values_stay_usable(page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    values = [f"{i:05d}" for i in range(0, 50_000, 10)]
    build_of(page, table(values, "zip"), "zip")
    page.evaluate(
        "() => addEventListener('pointerup', () => window.releasedAt = performance.now(), true)"
    )
    mounts: list[float] = []
    for _ in range(2):
        for column in ("sex", "zip"):
            page.locator(".st-key-hierarchies-column").get_by_text(column, exact=True).click()
            expect(page.locator(f'.tree[data-column="{column}"]')).to_be_visible()
            wait_for_app(page)
        mounts.append(drawn_after(page))
    assert page.locator(".tree .node").count() < 400  # only what is in sight
    drops: list[float] = []
    for turn in range(4):
        one, other = values[2 * turn : 2 * turn + 2]
        before = rev(page)
        node(page, 0, one).click(position={"x": 30, "y": 8})
        node(page, 0, other).click(position={"x": 30, "y": 8}, modifiers=["Control"])
        slot = page.locator(".tree .slot").bounding_box()
        assert slot is not None
        start = middle(node(page, 0, one))
        there = node(page, 1, one)
        drag(page, start, middle(there) if there.count() else (slot["x"] + 30, start[1]))
        answered(page, before)
        drops.append(drawn_after(page))
        page.keyboard.press("Escape")
    page.locator(".tree .search").fill(values[-1])
    expect(node(page, 0, values[-1])).to_be_visible()
    with capsys.disabled():
        sys.stdout.write(
            f"\n5,000 values, from letting the mouse go to the answer drawn, least of several: "
            f"mounted {min(mounts):.0f} ms, dropped {min(drops):.0f} ms\n"
        )


#: The contrast of every text in the builder with what is behind it, the least first.
CONTRASTS = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = one => {
    for (let at = one; at; at = at.parentElement ?? at.getRootNode().host) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const root = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
    .map(one => one.shadowRoot?.querySelector(".tree")).find(Boolean);
  const found = [];
  for (const one of root.querySelectorAll("*")) {
    const own = [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !one.getClientRects().length || one.closest(".unseen")) continue;
    const [a, b] = [light(rgba(getComputedStyle(one).color)), light(behind(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, `${one.className} ${one.textContent.slice(0, 30)}`]);
  }
  return found.sort((one, other) => one[0] - other[0]);
}
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_every_text_can_be_read(page: Page) -> None:
    build_of(page, table(["Bonn", "Graz", "Linz", "Lyon", "Oslo"], "city"), "city")
    made(page, "Bonn", "Graz")
    made(page, "Linz", "Lyon")
    page.locator(".tree summary").click()
    node(page, 0, "Graz").click(position={"x": 30, "y": 8})
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".tree .ghost")).to_contain_text("Move “Graz” into “Linz or Lyon”")
    least, where = page.evaluate(CONTRASTS)[0]
    assert least >= 4.5, where
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("F2")
    at = rev(page)
    page.keyboard.type("Oslo")
    page.keyboard.press("Enter")
    answered(page, at)
    expect(page.locator(".tree .note")).to_be_visible()
    least, where = page.evaluate(CONTRASTS)[0]
    assert least >= 4.5, where
