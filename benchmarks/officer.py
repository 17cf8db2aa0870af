"""Ten what-ifs of a privacy officer on Results: gestures, and seconds until the answer is seen."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from anon_core.data.samples import sample
from benchmarks.bench import Bench
from benchmarks.pages import PATIENCE, served, tab
from benchmarks.timing import Row, table
from tests.e2e.browser import carry_out, go, take_sample, wait_for_app

#: Whether the parts that answer say something else than before, and a word, if one is expected.
_ANSWERED = """
([keys, before, word]) => {
  const shown = keys.map(key => document.querySelector('.st-key-' + key)?.textContent ?? '').join();
  const stale = document.querySelector('.st-key-workspace [data-stale="true"]');
  return !stale && shown !== before && shown.includes(word);
}
"""
_SHOWN = (
    "keys => keys.map(key => document.querySelector('.st-key-' + key)?.textContent ?? '').join()"
)
#: What is clicked until it is gone, on the way back; and gestures that any way back takes at most.
_BACK = ("drawer-close", "chosen-clear", "what-if-undo")
_MOST_GESTURES = 30
_KEYS = ("run-head", "strip", "panel-table", "chosen-bar")


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A what-if: gestures before the last one, and that one; what is then seen."""

    name: str
    before: Sequence[Callable[[Page], None]]
    last: Callable[[Page], None]
    word: str = ""

    @property
    def gestures(self) -> int:
        return len(self.before) + 1


def officer(bench: Bench, folder: Path) -> None:
    """Ask each what-if ten times, each time from the settings before it."""
    times = 3 if bench.quick else 10
    print(f"\nLoad of this machine: {os.getloadavg()[0]:.1f}; medians of {times}.", flush=True)
    register = folder / "register.csv"
    sample("hospital").frame()[["age", "sex", "zip"]].to_csv(register, index=False)
    rows: list[Row] = []
    with served(folder) as (url, _), tab(url) as page:
        take_sample(page)
        go(page, "Run")
        page.locator(".st-key-advice").get_by_role("button", name="Use this").last.click()
        wait_for_app(page, seconds=60)
        carry_out(page)
        go(page, "Results")
        wait_for_app(page, seconds=60)
        for asked in _all(register):
            rows.append(_row(page, asked, times))
            middle = statistics.median(rows[-1].seconds)
            print(f"  {asked.name}: {middle:.2f} s", flush=True)
    print(table("What-ifs of an officer, from the last gesture", rows))


def _row(page: Page, asked: _Asked, times: int) -> Row:
    seconds: list[float] = []
    first = page.locator(".st-key-run-head").inner_text()
    for _ in range(times):
        for gesture in asked.before:
            gesture(page)
            wait_for_app(page, seconds=60)
        before = page.evaluate(_SHOWN, list(_KEYS))
        page.evaluate("() => { window.asked = performance.now(); }")
        asked.last(page)
        page.wait_for_function(_ANSWERED, arg=[list(_KEYS), before, asked.word], timeout=PATIENCE)
        seconds.append(page.evaluate("() => performance.now() - window.asked") / 1000)
        wait_for_app(page, seconds=60)
        _restore(page, first)
    note = f"{asked.gestures} gesture{'s' * (asked.gestures > 1)}"
    return Row(what=asked.name, seconds=tuple(seconds), note=note)


def _restore(page: Page, first: str) -> None:
    """Close what is open, clear what is chosen, and undo, until the first run is shown as it was.

    One gesture at a time, each once the page is at rest; a button may go while it is looked at.
    """
    ways = [page.locator(f".st-key-{key} button").first for key in _BACK]
    popover = page.get_by_test_id("stPopoverBody")
    for _ in range(_MOST_GESTURES):
        wait_for_app(page, seconds=60)
        if popover.count():
            page.keyboard.press("Escape")
            with suppress(PlaywrightError):
                popover.first.wait_for(state="detached", timeout=2000)
            continue
        way = next((one for one in ways if one.count() and one.is_enabled()), None)
        if way is None:
            break
        with suppress(PlaywrightError):
            way.click(timeout=3000)
    if (shown := page.locator(".st-key-run-head").inner_text()) != first:
        raise RuntimeError(f"The first run was not restored: {shown!r} instead of {first!r}.")


def _typed(label: str, value: str) -> Callable[[Page], None]:
    def gesture(page: Page) -> None:
        field = page.locator(".st-key-what-if").get_by_label(label, exact=True)
        field.fill(value)
        field.press("Enter")

    return gesture


def _button(name: str, within: str = "workspace") -> Callable[[Page], None]:
    def gesture(page: Page) -> None:
        page.locator(f".st-key-{within}").get_by_role("button", name=name).first.click()

    return gesture


def _in_popover(name: str) -> Callable[[Page], None]:
    def gesture(page: Page) -> None:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name=name).first.click()

    return gesture


def _technique(page: Page) -> None:
    page.locator(".st-key-what-if").get_by_label("Technique").click()
    page.keyboard.type("Mondrian")


def _coarser(page: Page) -> None:
    """Move the lower handle of the last column to its highest level."""
    page.get_by_test_id("stPopoverBody").get_by_role("slider").nth(-2).focus()
    page.keyboard.press("End")


def _row_typed(page: Page) -> None:
    field = page.get_by_test_id("stPopoverBody").get_by_label("Choose a row of your table")
    field.fill("101")
    field.press("Enter")


def _view(name: str) -> Callable[[Page], None]:
    def gesture(page: Page) -> None:
        page.locator(".st-key-drawer-open").get_by_text(name, exact=True).first.click()

    return gesture


def _threshold(page: Page) -> None:
    page.locator(".st-key-drawer-open").get_by_role("combobox").first.click()
    page.get_by_role("option").nth(1).click()


def _given(register: Path) -> Callable[[Page], None]:
    def gesture(page: Page) -> None:
        page.locator(".st-key-drawer-open input[type=file]").set_input_files(register)

    return gesture


def _all(register: Path) -> tuple[_Asked, ...]:
    details = _button("Details", "panel-attacks")
    knows = _view("What they know")
    return (
        _Asked(name="k", before=(), last=_typed("k", "20"), word="k = 20"),
        _Asked(name="l", before=(), last=_typed("l", "6"), word="l = 6"),
        _Asked(name="budget", before=(), last=_typed("Budget (share)", "0.3")),
        _Asked(
            name="technique",
            before=(_technique,),
            last=lambda page: page.keyboard.press("Enter"),
            word="Mondrian",
        ),
        _Asked(
            name="a column left out",
            before=(_button("Columns", "what-if"),),
            last=_in_popover("Leave out"),
            word="left out",
        ),
        _Asked(name="a coarser level", before=(_button("Columns", "what-if"),), last=_coarser),
        _Asked(
            name="a register",
            before=(details, knows, _view("A table of it")),
            last=_given(register),
        ),
        _Asked(name="another threshold of attackers", before=(details, knows), last=_threshold),
        _Asked(
            name="a person, by row",
            before=(_button("Choose a class"),),
            last=_row_typed,
            word="Chosen",
        ),
        _Asked(
            name="back",
            before=(_typed("k", "25"),),
            last=_button("Back to baseline"),
            word="k = 12",
        ),
    )
