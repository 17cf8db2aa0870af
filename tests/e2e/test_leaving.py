"""What is typed or loaded is not lost without a word, however the page is left."""

from __future__ import annotations

from itertools import pairwise

from playwright.sync_api import Dialog, Page, expect

from tests.e2e.browser import follow, wait_for_app

DRAWER = "Verdicts and judgement"
FIELD = "Your judgement"
PATIENCE = 60_000
WAY = ("Learn", "Experiments", "Other releases", "Learn", "Other releases")


def test_a_judgement_typed_and_left_at_once_stays_also_after_a_reload(page: Page) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator(".st-key-card-toth-private").get_by_role("button").first.click()
    expect(page.get_by_text("is loaded: 8 rows")).to_be_visible(timeout=PATIENCE)
    wait_for_app(page)
    quiet = page.get_by_test_id("stSidebar").get_by_test_id("stCaptionContainer").first
    for scheme, colour in (("dark", "rgb(169, 180, 192)"), ("light", "rgb(75, 85, 99)")):
        page.emulate_media(color_scheme=scheme)  # the system's setting changes meanwhile
        expect(quiet).to_have_css("color", colour)
    follow(page, "Run")
    expect(page.get_by_role("heading", name="Run", exact=True)).to_be_visible(timeout=PATIENCE)
    wait_for_app(page)
    page.locator(".st-key-run button").click()
    expect(page.get_by_text("Released in")).to_be_visible(timeout=PATIENCE)

    for step, text in (("Results", "Under contract. "), ("Export", "One year only.")):
        follow(page, step)
        if step == "Results":
            page.get_by_role("button", name=DRAWER).click()
        field = page.get_by_label(FIELD)
        expect(field).to_be_visible(timeout=PATIENCE)
        wait_for_app(page)
        field.focus()
        page.keyboard.press("Control+End")
        page.keyboard.type(text)
        follow(page, "Roles")
        expect(page.get_by_role("heading", name="Roles", exact=True)).to_be_visible(
            timeout=PATIENCE
        )
    follow(page, "Results")
    expect(page.get_by_label(FIELD)).to_have_value(
        "Under contract. One year only.", timeout=PATIENCE
    )
    wait_for_app(page)

    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.reload()  # the session is kept, so nothing is asked, and it comes back
    wait_for_app(page, seconds=60)
    said = page.get_by_text("was restored; its 1 run is")
    expect(said).to_be_visible(timeout=PATIENCE)
    title = page.get_by_role("heading", name="Results", exact=True)
    wait_for_app(page, seconds=60)
    left, right = title.bounding_box(), said.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"], "what was restored covers the title"
    beyond = page.locator(".stMain").evaluate("main => main.scrollHeight - main.clientHeight")
    assert beyond == 0, "the workspace scrolls"
    page.get_by_role("button", name=DRAWER).click(timeout=PATIENCE)
    expect(page.get_by_label(FIELD)).to_have_value(
        "Under contract. One year only.", timeout=PATIENCE
    )
    assert asked == []
    page.get_by_role("button", name="Show the whole sidebar").click()
    page.get_by_test_id("stSidebar").get_by_text("Session", exact=True).click()
    delete = page.get_by_role("button", name="Delete kept sessions")
    expect(delete).to_be_visible(timeout=PATIENCE)
    wait_for_app(page, seconds=60)  # the run of the session ends meanwhile, and draws all again
    delete.click()
    expect(page.get_by_text("This session was deleted")).to_be_visible(timeout=PATIENCE)
    wait_for_app(page)
    page.reload()  # now it is lost, so the browser asks
    wait_for_app(page, seconds=60)
    assert asked == ["beforeunload"]
    expect(page.get_by_text("This is a new session.")).to_be_visible(timeout=PATIENCE)


def test_a_click_while_the_links_are_put_in_again_is_carried_out(page: Page) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    bar = page.get_by_test_id("stSidebar")
    boxes = {name: bar.get_by_role("link", name=name, exact=True).bounding_box() for name in WAY}
    bar.get_by_role("link", name=WAY[0], exact=True).evaluate("link => { link.wasThere = true; }")
    for first, then in pairwise(WAY):
        for name in (first, then):
            box = boxes[name]
            assert box is not None
            page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.wait_for_timeout(150 if name == then else 0)
            page.mouse.up()
            page.wait_for_timeout(100 if name == first else 0)
        title = page.get_by_role("heading", name=then, level=1, exact=True)
        expect(title).to_be_visible(timeout=PATIENCE)
        wait_for_app(page)
    stayed = bar.get_by_role("link", name=WAY[0], exact=True).evaluate("link => link.wasThere")
    assert stayed, "the sidebar was put in again with each page"
    # As where the page that is left asks for a run in the same moment: Streamlit opens no page.
    page.evaluate(
        "() => document.addEventListener('click', one => { one.stopPropagation();"
        " one.preventDefault(); }, { capture: true, once: true })"
    )
    follow(page, WAY[0])
    title = page.get_by_role("heading", name=WAY[0], level=1, exact=True)
    expect(title).to_be_visible(timeout=PATIENCE)
