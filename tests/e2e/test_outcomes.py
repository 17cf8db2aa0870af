"""A generalization and a permutation side by side: the command line's numbers, and every question.

The recipes are carried out twice, by clicking and by the command line, and neither sees the other.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from anon_core.base.registry import family
from anon_core.base.secret import draw, spell
from anon_core.recipe.old_recipes import VERSION
from tests.e2e.browser import follow, go, released, wait_for_app
from tests.e2e.test_workspace import fits

CHECKOUT = Path(__file__).resolve().parents[2]
PATIENCE = 60_000
START = f"""\
version = {VERSION}
seed = "{spell(draw())}"
[roles]
quasi = ["age", "zip", "day"]
sensitive = ["disease"]
[hierarchies]
age = "age.csv"
zip = "zip.csv"
day = "day.csv"
"""
#: By letter: one level per column, found by the optimal search; and columns permuted apart.
RECIPES = {
    "A": START
    + """\
[algorithm]
name = "optimal"
max_suppression = 0.05
[[models]]
name = "k-anonymity"
k = 5
""",
    "B": START
    + """\
[algorithm]
name = "permutation"
partition = "mondrian"
[[models]]
name = "bucket-size"
k = 5
""",
}


def write_inputs(folder: Path) -> None:
    """Three age groups in two districts, one person apart from all; of days none is common."""
    rows = [
        (age, district + place % 3, day + 2 * place, ("flu", "cancer", "flu", "asthma")[place % 4])
        for age, district, day, people in ((31, 100, 0, 13), (47, 100, 1, 9), (62, 200, 40, 11))
        for place in range(people)
    ]
    rows.append((90, 300, 99, "gout"))
    lines = ["age,zip,day,disease", *(f"{a},{z},d{d:02d},{s}" for a, z, d, s in rows)]
    (folder / "table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    levels = {
        "age": {f"{a};{a // 10}0s;*" for a, *_ in rows},
        "zip": {f"{z};{z // 100}**;*" for _, z, *_ in rows},
        "day": {f"d{d:02d};*" for _, _, d, _ in rows},
    }
    for name, entry in levels.items():
        (folder / f"{name}.csv").write_text("\n".join(sorted(entry)) + "\n", encoding="utf-8")
    for letter, recipe in RECIPES.items():
        (folder / f"{letter}.toml").write_text(recipe, encoding="utf-8")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Return the folder of the recipes with the table and the hierarchies."""
    write_inputs(tmp_path)
    return tmp_path


@pytest.fixture
def commands(inputs: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Carry out both recipes by the command line, while the pages do by clicking."""
    running = {
        letter: subprocess.Popen(
            [sys.executable, "-m", "anon_core", "run", f"{inputs / letter}.toml", "--data",
             str(inputs / "table.csv"), "--out", str(inputs / f"out-{letter}"), "--json"],
            cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        for letter in RECIPES
    }  # fmt: skip
    yield running
    for process in running.values():
        process.kill()
        process.communicate()


def pinned(page: Page, inputs: Path, letter: str, *extra: str) -> None:
    """Open a recipe with files next to it, run it, and pin what comes out."""
    files = [f"{letter}.toml", "age.csv", "zip.csv", "day.csv", *extra]
    recipes = page.get_by_test_id("stFileUploader").last.locator("input[type=file]")
    recipes.set_input_files([inputs / name for name in files])
    # The uploader is a new one once the recipe is open; its note may be that of the one before.
    turn = list(RECIPES).index(letter) + 1
    expect(page.locator(f".st-key-start-upload-{turn}")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("The recipe was opened and fits the table.")).to_be_visible()
    wait_for_app(page, seconds=60)
    go(page, "Run")
    released(page)
    go(page, "Results")
    page.keyboard.press("p")
    expect(page.get_by_role("button", name=re.compile(f"Pinned as .* {letter}"))).to_be_visible(
        timeout=PATIENCE
    )
    wait_for_app(page, seconds=60)


def asked(page: Page, question: str, answer: str) -> None:
    """Ask a question on Results by a click, and wait for its answer."""
    panel = page.locator(".st-key-questions-panel")
    if not panel.is_visible():
        page.get_by_role("button", name="Questions", exact=True).first.click()
    panel.get_by_text(question, exact=True).click()
    expect(panel).to_contain_text(re.compile(answer), timeout=PATIENCE)


def figures(page: Page) -> dict[str, dict[str, float]]:
    """Return what the table of all figures shows in the whole window, by letter and figure."""
    page.set_viewport_size({"width": 1360, "height": 2400})  # a table has the rows that are seen
    page.locator(".st-key-figures-fold summary").click()
    fold = page.locator(".st-key-figures-fold")
    grids = fold.get_by_test_id("stDataFrame").locator("table[role=grid]")
    expect(grids).to_have_count(4, timeout=PATIENCE)
    expect(grids.first.get_by_text("seconds")).to_have_count(1, timeout=PATIENCE)  # the last row
    places = {letter: 1 + place for place, letter in enumerate(RECIPES)}
    found: dict[str, dict[str, float]] = {letter: {} for letter in places}
    for grid in grids.all():
        heads, *rows = grid.evaluate(
            "grid => [...grid.rows].map(row => [...row.cells].map(cell => cell.textContent))"
        )
        assert all(heads[place].endswith(f" {letter}") for letter, place in places.items())
        for letter, place in places.items():
            found[letter] |= {
                row[0]: float(row[place]) for row in rows if row[place] not in ("", "–")
            }
    return found


def by_command(settings: dict[str, Any]) -> dict[str, float]:
    """Return the command line's figures under the names that the page gives them."""
    found: dict[str, float] = {
        "rows in the table": settings["rows"],
        "rows suppressed": settings["suppressed"],
        "classes or groups": settings["classes"],
        "smallest class or group": settings["smallest_class"],
    }
    found |= {family("metric")[name].title: value for name, value in settings["metrics"].items()}
    for attack in settings["attacks"]:
        title = family("attack")[attack["name"]].title.removesuffix(" re-identification")
        title += f": {attack['column']}" if attack["column"] else ""
        for words, key in (
            ("rate", "rate"),
            ("worst case", "worst"),
            ("people at risk", "at_risk"),
        ):
            found[f"{title}: {words}"] = attack[key]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("viewport", [(1360, 900)])
def test_two_outcomes_stand_side_by_side_and_are_asked(
    page: Page, inputs: Path, commands: dict[str, subprocess.Popen[bytes]]
) -> None:
    page.goto("/")
    wait_for_app(page, seconds=60)
    pinned(page, inputs, "A", "table.csv")
    # By the table above: 13, 9 and 11 people, and one of 90 years whom nobody resembles.
    asked(page, "Why is this row suppressed?", "row 34 is in a class of 1 row")
    asked(page, "Why 9 when I asked for 5?", "You asked for 5, and the smallest class has 9 rows")
    asked(page, "Which k?", "needs k = 5")
    asked(page, "Why is this column *?", "'day' is at level 1 of 1, which says nothing")
    asked(page, "Is this optimal?", "Yes, among choices of one level")
    asked(
        page,
        "What does someone learn who knows some columns?",
        "finds at least 9 rows that fit, and 11.24 on average; 0 of 33 are unique",
    )
    asked(
        page,
        "What is revealed about one person?",
        "13 rows fit, so the right one is picked 1 time in 13",
    )
    follow(page, "Start")
    wait_for_app(page, seconds=60)
    pinned(page, inputs, "B")
    asked(
        page,
        "What changed since the last run?",
        "Technique: Optimal full-domain search → Permutation anonymization",
    )
    page.get_by_role("button", name="Close Shortcut Esc").click()
    wait_for_app(page)
    fits(page, 1360, 900)  # also with columns that are permuted

    go(page, "Compare")
    for heading in ("Differences to the baseline", "Risk–utility frontier"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    page.locator(".st-key-tables-fold summary").click()
    expect(page.get_by_text("– what each column says")).to_have_count(2)
    wait_for_app(page)
    said = page.get_by_text("– what each column says")
    for pair in (
        [page.locator(f".st-key-pin-{letter}") for letter in RECIPES],
        [said.first, said.last],
    ):
        left, right = (place.bounding_box() for place in pair)
        assert left
        assert right
        assert left["y"] == pytest.approx(right["y"], abs=1)
        assert left["x"] + left["width"] <= right["x"]
    for chart in ("tracks", "metrics", "attacks"):
        expect(page.locator(f".st-key-vega-{chart} svg.marks")).to_be_visible()
    shown = figures(page)
    for letter, process in commands.items():
        expected = by_command(json.loads(process.communicate(timeout=PATIENCE / 1000)[0]))
        assert len(expected) > 25
        assert {n: shown[letter].get(n) for n in expected} == pytest.approx(expected)
