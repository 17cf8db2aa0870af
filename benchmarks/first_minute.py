"""The first minute on a new machine, and every page after it: a fresh clone and empty caches."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from benchmarks.bench import Bench
from benchmarks.pages import PATIENCE, gibibytes, settled, tab, visit
from benchmarks.pages import answers as is_answering
from benchmarks.timing import Row, table
from benchmarks.whole import CHECKOUT
from tests.e2e.conftest import free_port

#: Seconds at most: until the server answers, from the sample's click to Results, and a page.
_ANSWER, _RESULTS, _PAGE = 30, 10, 0.3
#: Runs after which a server may hold no more memory than after the first few.
_RUNS, _FEW, _QUICK = 30, 5, 10


def first_minute(bench: Bench, folder: Path) -> None:
    """Measure `make run` in a fresh clone, the first result, pages and memory from then on."""
    with _cloned(folder) as (url, began, make):
        while not is_answering(url):
            if make.poll() is not None or time.monotonic() - began > 600:
                raise RuntimeError("The workbench did not start.")
            time.sleep(0.1)
        answered = time.monotonic() - began
        server = _server_below(make.pid)
        rows = [Row(what="make run → the server answers", seconds=(answered,), note=_most(_ANSWER))]
        began = time.monotonic()
        with tab(url) as page:
            first = time.monotonic() - began
            rows.append(Row(what="first page", seconds=(first,)))
            rows += _first_result(page)
            rows += _warm(bench, page, "hospital")
            rows += _again_and_again(page, server, _QUICK if bench.quick else _RUNS)
            visit(page, "Start", title="Anonymity Workbench")
            if page.locator(".st-key-card-adult").count():
                _take(page, "adult")
                _carry_out(page)
                rows += _warm(bench, page, "Adult")
    print(table("The first minute: a fresh clone, empty caches, one browser", rows))


@contextmanager
def _cloned(folder: Path) -> Iterator[tuple[str, float, subprocess.Popen[bytes]]]:
    """Start what is committed from a clone of its own; yield address, beginning and process."""
    clone, port = folder / "clone", free_port()
    subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
    kept = {"NUMBA_CACHE_DIR", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "ANONYMITY_WORKBENCH_CACHE"}
    environment = {name: value for name, value in os.environ.items() if name not in kept}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data")}
    began = time.monotonic()
    make = subprocess.Popen(
        ["make", "--silent", "run", f"PORT={port}"],
        cwd=clone,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield f"http://localhost:{port}", began, make
    finally:
        os.killpg(make.pid, signal.SIGTERM)
        make.wait()


def _server_below(process: int) -> int:
    """Return the youngest process below one that has no other below it and serves."""
    found = process
    while children := Path(f"/proc/{found}/task/{found}/children").read_text().split():
        lines = {c: Path(f"/proc/{c}/cmdline").read_bytes() for c in children}
        serving = [int(c) for c, line in lines.items() if b"serve" in line or b"streamlit" in line]
        if not serving:
            break
        found = serving[0]
    return found


def _most(seconds: float) -> str:
    return f"at most {seconds:g} s"


def _take(page: Page, sample: str) -> None:
    page.locator(f".st-key-card-{sample}").get_by_role("button").first.click()
    expect(page.get_by_test_id("stMain")).to_contain_text("is loaded:", timeout=PATIENCE)
    settled(page)


def _carry_out(page: Page) -> float:
    """Carry out the plan from the sidebar on; return the seconds from the key to the outcome."""
    visit(page, "Run")
    began = time.monotonic()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".st-key-outcome")).to_contain_text("Released", timeout=PATIENCE)
    return time.monotonic() - began


def _first_result(page: Page) -> list[Row]:
    began = time.monotonic()
    _take(page, "hospital")
    taken = time.monotonic() - began
    ran = _carry_out(page)
    outcome = time.monotonic() - began
    visit(page, "Results")
    whole = time.monotonic() - began
    return [
        Row(what="  the sample is read, its page drawn", seconds=(taken,)),
        Row(what="  Run is drawn", seconds=(outcome - ran - taken,)),
        Row(what="  Ctrl+Enter → the outcome", seconds=(ran,)),
        Row(what="  Results is drawn", seconds=(whole - outcome,)),
        Row(what="the sample's click → Results", seconds=(whole,), note=_most(_RESULTS)),
    ]


def _warm(bench: Bench, page: Page, name: str) -> list[Row]:
    """Visit the pages of a table in turns, after each was seen once."""
    steps = ("Data", "Roles", "Hierarchies", "Run", "Results", "Compare", "Export")
    for step in steps:
        visit(page, step)
    drawn: dict[str, list[float]] = {step: [] for step in steps}
    for _ in range(bench.times):
        for step in steps:
            drawn[step].append(visit(page, step))
    note = _most(_PAGE)
    return [Row(what=f"{name}: {step}", seconds=tuple(drawn[step]), note=note) for step in steps]


def _again_and_again(page: Page, server: int, runs: int) -> list[Row]:
    """Carry out one plan after the other; memory may not grow with them."""
    rows: list[Row] = []
    seconds: list[float] = []
    for run in range(1, runs + 1):
        visit(page, "Run")
        began = time.monotonic()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(500)  # until the run has begun; the last outcome is still shown
        settled(page)
        seconds.append(time.monotonic() - began)
        visit(page, "Results")
        if run in (_FEW, runs):
            note = f"server {gibibytes(server, 'VmRSS'):.2f} GiB"
            rows.append(Row(what=f"hospital after {run} runs", seconds=tuple(seconds), note=note))
    return rows
