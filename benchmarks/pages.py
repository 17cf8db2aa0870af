"""How soon each page is drawn with a large table open, in a browser that is not seen."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from anon_core.base.registry import find
from anon_core.data.samples.adult import adult_path
from benchmarks.bench import Bench
from benchmarks.large_tables import MILLION, levels_of, names_of, plan_of, repeat_rows
from benchmarks.tables import Source
from benchmarks.timing import Row, table
from benchmarks.whole import CHECKOUT
from tests.e2e.browser import IDLE
from tests.e2e.conftest import CHROMIUM_ARGUMENTS, free_port

#: Every page, visited in turns, so that each is drawn again.
_STEPS = tuple(
    path.stem.partition("_")[2] for path in sorted((CHECKOUT / "pages").glob("[0-9]_*.py"))
)
PATIENCE = 300_000
#: Milliseconds after which a click on a step is taken for lost, and repeated.
_LOST = 20_000
#: Watches all that changes on the page: the last of it is when a page is drawn. A table draws
#: itself on a canvas at once, and what is in that for readers of screens comes later.
_WATCH = """
() => {
  const seen = ({target}) => !(target.parentElement ?? document.body).closest('canvas')
    && target.nodeName !== 'CANVAS';
  window.lastChange = performance.now();
  new MutationObserver(records => {
    if (records.some(seen)) window.lastChange = performance.now();
  }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  document.addEventListener('pointerdown', () => { window.begun = performance.now(); }, true);
}
"""
#: Whether a page is open, by its heading. Playwright's own `expect` writes down the whole page for
#: its message each time it has to look again: a tenth of a second, while the page is being drawn.
_OPEN = """
title => [...document.querySelectorAll('[data-testid="stMain"] h1')]
  .some(heading => heading.checkVisibility() && heading.textContent.trim() === title)
"""
_QUIET = 400
_SETTLED = f"""
() => {{
  const app = document.querySelector('[data-testid="stApp"]');
  const idle = {IDLE};
  return idle && performance.now() - window.lastChange >= {_QUIET};
}}
"""


def pages(bench: Bench, source: Source) -> None:
    """Measure loading a million rows, and how soon each page is drawn after a click."""
    folder = source.folder
    data = folder / "rows.csv"
    repeat_rows(source, MILLION, data)
    recipes: dict[str, Path] = {}
    for technique in ("mondrian", "optimal"):
        recipes[technique] = folder / f"rows-{technique}.toml"
        plan = plan_of(source, names_of(source), levels_of(source), technique, csv=True)
        own = {name: (folder / path).name for name, path in plan.hierarchies.items()}
        text = replace(plan, hierarchies=own).as_toml()
        recipes[technique].write_text(text, encoding="utf-8")
    levels = [Path(path) for path in levels_of(source).values()]
    with served(folder) as (url, server), tab(url) as page:
        before = gibibytes(server, "VmRSS")
        loaded = _load(page, data)
        most, now = (gibibytes(server, what) for what in ("VmHWM", "VmRSS"))
        what = f"load {data.stat().st_size / 2**20:,.0f} MiB of CSV"
        note = f"server at most {most:.2f} GiB, {now - before:.2f} GiB kept"
        rows = [Row(what=what, seconds=(loaded,), note=note)]
        for technique, recipe in recipes.items():  # two outcomes to compare
            visit(page, "Start", title="Anonymity Workbench")
            _open_recipe(page, [recipe, *levels])
            ran = _run(page, find("algorithm", technique).title)
            note = f"server at most {gibibytes(server, 'VmHWM'):.2f} GiB"
            rows.append(Row(what=f"run {recipe.stem}", seconds=(ran,), note=note))
            visit(page, "Results")
            page.keyboard.press("p")
            expect(page.get_by_role("button", name=re.compile("^Pinned as"))).to_be_visible()
            settled(page)
        for step in _STEPS:
            visit(page, step)  # what is imported when first needed
        drawn: dict[str, list[float]] = {step: [] for step in _STEPS}
        for _ in range(2 * bench.times):
            for step in _STEPS:
                drawn[step].append(visit(page, step))
        rows += [Row(what=f"draw {step}", seconds=tuple(drawn[step])) for step in _STEPS]
    print(table("Pages with 1,000,000 rows × 12 columns, from a click to the last change", rows))
    data.unlink()


def settled(page: Page) -> None:
    page.wait_for_function(_SETTLED, timeout=PATIENCE)


def since_click(page: Page) -> float:
    """Return the seconds from the last click to the last change of the page, once it is at rest."""
    settled(page)
    return page.evaluate("() => window.lastChange - window.begun") / 1000


def visit(page: Page, step: str, *, title: str = "") -> float:
    """Return the seconds from the last click on a step to its last change.

    A click without effect is repeated, and printed.
    """
    page.mouse.move(0, 0)
    link = page.get_by_test_id("stSidebar").get_by_role("link", name=step, exact=True)
    for tried in range(1, 6):
        link.click()
        try:
            page.wait_for_function(_OPEN, arg=title or step, timeout=_LOST)
        except PlaywrightTimeout:
            print(f"Click {tried} on {step} had no effect within {_LOST / 1000:.0f} s.", flush=True)
        else:
            return since_click(page)
    raise RuntimeError(f"{step} is not shown.")


def _load(page: Page, data: Path) -> float:
    began = time.perf_counter()
    page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(data)
    expect(page.get_by_test_id("stMain")).to_contain_text("1,000,000 rows", timeout=PATIENCE)
    settled(page)
    return time.perf_counter() - began - _QUIET / 1000


def _open_recipe(page: Page, files: Sequence[Path]) -> None:
    """Open a recipe with the hierarchies that it names."""
    page.get_by_test_id("stFileUploader").last.locator("input[type=file]").set_input_files(files)
    expect(page.get_by_text("The recipe was opened and fits the table.")).to_be_visible(
        timeout=PATIENCE
    )
    settled(page)


def _run(page: Page, title: str) -> float:
    """Carry out the plan, whose technique is called so: words of an earlier one may be there."""
    visit(page, "Run")
    expect(page.get_by_test_id("stMain").get_by_text(title, exact=True).first).to_be_visible()
    began = time.perf_counter()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name=re.compile("^Cancel")).first).to_be_visible()
    expect(page.locator(".st-key-outcome")).to_contain_text("Released", timeout=PATIENCE)
    took = time.perf_counter() - began
    settled(page)
    return took


@contextmanager
def served(home: Path) -> Generator[tuple[str, int]]:
    """Start the workbench with a home of its own; yield its address and the process's number."""
    port = free_port()
    environment = os.environ | {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "MALLOC_MMAP_THRESHOLD_": "1048576",  # as `make run` has it
    }
    if sample := adult_path():
        environment["ANONYMITY_WORKBENCH_CACHE"] = str(sample.parent)
    server = subprocess.Popen(
        [sys.executable, "-m", "anonymity_workbench", "serve", "--port", str(port)],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://localhost:{port}"
    try:
        deadline = time.monotonic() + 60
        while not answers(url):
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("The workbench did not start.")
            time.sleep(0.1)
        yield url, server.pid
    finally:
        server.terminate()
        server.wait()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False


@contextmanager
def tab(url: str) -> Generator[Page]:
    """Open the workbench in a browser: the one in CHROMIUM, or Debian's."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=list(CHROMIUM_ARGUMENTS),
        )
        page = browser.new_page(viewport={"width": 1360, "height": 900})
        page.goto(url)
        page.evaluate(_WATCH)
        settled(page)
        yield page
        browser.close()


def gibibytes(process: int, what: str) -> float:
    """Return a line of what Linux shows of a process's memory; not a number elsewhere."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{what}:"):
                return int(line.split()[1]) / 2**20
    return math.nan
