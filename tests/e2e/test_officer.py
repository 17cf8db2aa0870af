"""The way of a data protection officer: a clinic's file, and every word of theirs in a report."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from tests.e2e.browser import go, wait_for_app
from tests.pdf_text import pdf_text

NAMES = tuple(
    f"{first} {last}"
    for first in ("Dörte", "José", "Zoë", "Anna", "Käthe", "Erik", "Renée", "Émile")
    for last in ("García", "Schäfer", "O'Neill", "Weiß", "Kowalski", "Dupont")
)
HEAD = (
    "Patient-Nr;Name;Geburtsdatum;Geschlecht;PLZ;Aufnahme;Station;Diagnose ICD-10;Verweildauer;"
    "Kosten (€);Bemerkung"
)
#: What is typed: label on Export → the mark that has to be found. Those of several lines have two.
FIELDS = {
    "Title": "MARKTITLE",
    "Purpose": "MARKPURPOSE",
    "Recipient": "MARKRECIPIENT",
    "Controls, one per line": "MARKCONTROLA\nMARKCONTROLB",
    "Where the threshold comes from": "MARKTHRESHOLD",
    "Who may try, one per line": "MARKADVERSARY",
    "What they could join, one per line": "MARKSOURCE",
    "Harm to people, one per line": "MARKHARM",
    "Author": "MARKAUTHOR",
    "Approved by": "MARKAPPROVER",
    "Expert": "MARKEXPERT",
    "The expert's qualification": "MARKQUALIFIED",
    "Date": "2026-11-22",
    "Valid until": "2027-11-23",
    "What asks for a review, one per line": "MARKTRIGGER",
    "Which, one per line": "MARKEARLIER",
    "Your judgement": "MARKJUDGEMENT",
}
#: What of it may go with the release; the rest stays in the house.
PUBLIC = {
    "Title",
    "Purpose",
    "Controls, one per line",
    "Where the threshold comes from",
    "Approved by",
    "Date",
    "Valid until",
    "What asks for a review, one per line",
}
TABS = {
    "Threats and harm": ("Who may try", "What they could", "Harm to people"),
    "Decision": ("Author", "Approved by", "Expert", "The expert", "Date", "Valid", "What asks"),
}


def clinic(people: int = 260) -> bytes:
    """Return a table as a German clinic's export has it, in Windows-1252."""
    drawn = random.Random(11)
    lines = [HEAD]
    for number in range(people):
        name = drawn.choice(NAMES)
        born = f"{drawn.randint(1, 28):02d}/{drawn.randint(1, 12):02d}/{drawn.randint(1930, 2004)}"
        fixed = f"P{number:06d};{name};{born};{drawn.choice('mw')};80{drawn.randint(500, 540)}"
        for _ in range(drawn.choice((1, 1, 2, 3))):
            came = f"{drawn.randint(13, 28)}/{drawn.randint(1, 12):02d}/2024"
            ward = drawn.choice(("Chirurgie", "Gynäkologie", "Notaufnahme"))
            icd = drawn.choice(("I10", "E11.9", "F32.9", "S72.0", "J45.0", "O80", "I21.4", "B20"))
            cost = (
                "-9" if drawn.random() < 0.05 else f"{drawn.randint(800, 9000)},{number % 100:02d}"
            )
            note = f'"Pat. {name} klagt über Schmerzen; Überweisung Dr. Weiß"'
            lines.append(f"{fixed};{came};{ward};{icd};{drawn.randint(1, 9)};{cost};{note}")
    return ("\r\n".join(lines) + "\r\n").encode("cp1252")


def fill(page: Page, label: str, text: str) -> None:
    """Type into a field, and leave it."""
    field = page.get_by_label(label, exact=True).last
    field.fill(text)
    field.blur()
    wait_for_app(page)


def ran(page: Page) -> None:
    """Run by the keyboard, and wait for what it came to."""
    page.keyboard.press("Control+Enter")
    expect(page.locator(".st-key-outcome")).to_contain_text("Released", timeout=120_000)
    wait_for_app(page, seconds=60)


def got(page: Page, label: str) -> bytes:
    """Click a download and return the file."""
    with page.expect_download(timeout=60_000) as coming:
        page.get_by_role("button", name=label, exact=True).click()
    download: Download = coming.value
    return Path(download.path()).read_bytes()


def words(content: bytes, ending: str) -> str:
    """Return what a report says, as one text without blanks."""
    if ending != "pdf":
        text = content.decode()
        if ending == "json":
            assert json.loads(text)
        return re.sub(r"\s+", "", text)
    return re.sub(r"\s+", "", pdf_text(content))


def marks(label: str) -> list[str]:
    return FIELDS[label].split("\n")


def state_everything(page: Page) -> None:
    """Type a mark into every field that Export has."""
    for label in FIELDS:
        if label == "Which, one per line":
            page.get_by_role("tab", name="Release", exact=True).click()
            page.get_by_text("These are out", exact=True).click()
            wait_for_app(page)
        for tab, labels in TABS.items():
            if label.startswith(labels):
                page.get_by_role("tab", name=tab, exact=True).click()
        fill(page, label, FIELDS[label])


@pytest.mark.slow
def test_the_officer_finds_every_word_in_all_reports(page: Page, tmp_path: Path) -> None:
    table = tmp_path / "klinik.csv"
    table.write_bytes(clinic())
    page.goto("/")
    wait_for_app(page, seconds=60)
    page.locator("input[type=file]").first.set_input_files(table)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("klinik.csv", timeout=60_000)
    wait_for_app(page, seconds=60)
    go(page, "Data")
    expect(page.get_by_text("The file was read as Latin-1 (Windows-1252)")).to_be_visible()

    go(page, "Roles")
    page.get_by_role("button", name="Apply suggestions").click()
    wait_for_app(page)
    page.get_by_role("button", name="Leave out what is undecided").click()
    wait_for_app(page)

    go(page, "Run")
    page.get_by_role("button", name="Use this", exact=True).first.click()
    ran(page)  # at once: the browser may not have heard yet of what was set
    go(page, "Results")
    page.keyboard.press("p")
    expect(page.get_by_role("button", name=re.compile("Pinned as .* A"))).to_be_visible()
    wait_for_app(page)
    go(page, "Run")
    first = page.locator(".st-key-model-0 input").first
    first.fill("12")
    first.press("Enter")
    wait_for_app(page)
    ran(page)

    go(page, "Export")
    state_everything(page)
    open_ = page.get_by_label(re.compile("^Reason [0-9]+: why"))
    many = open_.count()
    assert many > 1
    open_.first.fill("MARKFIRSTREASON")
    open_.first.blur()
    wait_for_app(page)
    every = page.get_by_label("One reason for all that have none")
    every.fill("MARKREASON")
    every.press("Enter")
    wait_for_app(page)
    page.get_by_role("button", name="Use it", exact=True).click()
    wait_for_app(page)
    assert [open_.nth(at).input_value() for at in range(many)] == [
        "MARKFIRSTREASON",
        *["MARKREASON"] * (many - 1),
    ]
    expect(page.get_by_text("each has its reason")).to_be_visible()

    house = [mark for label in FIELDS for mark in marks(label)] + ["MARKFIRSTREASON", "MARKREASON"]
    public = [mark for label in FIELDS if label in PUBLIC for mark in marks(label)]
    for ending in ("html", "json", "pdf"):
        answer = words(got(page, f"Report as {ending.upper()}"), ending)
        assert not [mark for mark in house if mark not in answer], ending
        assert "A:Mondrian" in answer, "the pinned run is an alternative"
        out = words(got(page, f"Public report as {ending.upper()}"), ending)
        assert not [mark for mark in public if mark not in out], ending
        assert not [mark for mark in house if mark not in public and mark in out], ending

    # The click that leaves a field asks for the file that holds what was typed into it.
    page.get_by_role("tab", name="Release", exact=True).click()
    page.get_by_label("Title", exact=True).fill("MARKLAST")
    assert "MARKLAST" in words(got(page, "Report as HTML"), "html")

    page.get_by_role("button", name="Session").click()
    saved = json.loads(got(page, "Save session"))
    assert saved["context"]["release"]["title"] == "MARKLAST"
    assert [run["letter"] for run in saved["runs"]] == ["", "A"]
