"""How soon one change on Results is seen, in a browser that is not seen: drawn, and verified."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

from anon_core.base.registry import find
from benchmarks.bench import Bench
from benchmarks.pages import PATIENCE, served, settled, since_click, tab
from benchmarks.timing import Row, shown, table
from tests.e2e.browser import carry_out, go, take_sample

#: Seconds within which a change is to be seen on a machine that does nothing else.
_HOSPITAL, _ADULT, _KNOWN, _VERIFIED = 0.35, 0.7, 0.4, 1.0
#: Values of k that are too large for the curve to have looked at.
_UNKNOWN = range(151, 164)
#: Notes when the strip, all four panels and the second computation of a k are there.
_WATCH = """
k => {
  const of = {};
  window.whatIf = of;
  const app = document.querySelector('[data-testid="stApp"]');
  const text = key => document.querySelector('.st-key-' + key)?.textContent ?? '';
  let changed = 0;
  const seen = new MutationObserver(() => { changed = performance.now(); });
  seen.observe(document.querySelector('.st-key-results-panels'),
    {subtree: true, childList: true, attributes: true, characterData: true});
  const begin = () => { of.begun ??= performance.now(); };
  addEventListener('keydown', event => { if (event.key === 'Enter') begin(); },
    {capture: true, once: true});
  const stale = at => app.querySelector(at + ' [data-stale="true"]') !== null;
  const look = () => {
    if (of.begun !== undefined) {
      const now = performance.now();
      const strip = text('strip');
      const head = text('run-head');
      const said = (words, where) => new RegExp(words + k + '(?![0-9])').test(where);
      const there = said('asked ', strip) && said('k = ', head);
      if (there && !stale('.st-key-workspace')) {
        of.drawn ??= now;
        if (now - of.drawn < 120) of.panels = Math.max(of.drawn, changed) - of.begun;
        if (strip.includes('second computation agrees')) of.verified ??= now - of.begun;
      }
      if (of.verified !== undefined && now - of.begun - of.verified > 150
          && app.dataset.testScriptState === 'notRunning') {
        seen.disconnect();
        of.done = true;
        return;
      }
    }
    requestAnimationFrame(look);
  };
  look();
}
"""


#: Whether another class is chosen than before; see `_OPEN` of `benchmarks.pages`.
_CHOSEN = """
before => document.querySelector('.st-key-chosen-bar').innerText.trim() !== before.trim()
"""
#: Notes how long after a click the chart itself has changed, in milliseconds.
_HIGHLIGHT = """
() => {
  window.highlight = undefined;
  const chart = document.querySelector('.st-key-vega-tracks svg.marks');
  let clicked;
  addEventListener('click', () => { clicked = performance.now(); }, {capture: true, once: true});
  const seen = new MutationObserver(() => {
    if (clicked === undefined) return;
    window.highlight = performance.now() - clicked;
    seen.disconnect();
  });
  seen.observe(chart, {subtree: true, attributes: true, attributeFilter: ['fill']});
}
"""


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """Seconds from Enter until all panels are drawn, and until they are verified."""

    panels: float
    verified: float


def what_if(bench: Bench, folder: Path) -> None:
    """Measure one change of k, a click on a class, and six quick steps."""
    times = 3 if bench.quick else 10
    print(f"\nLoad of this machine: {os.getloadavg()[0]:.1f}; medians of {times}.", flush=True)
    rows: list[Row] = []
    with served(folder) as (url, _), tab(url) as page:
        _open(page, "hospital")
        rows += _changes(bench, page, "hospital, optimal", _UNKNOWN[: times + 1], _HOSPITAL)
        rows += _class(page, times)
        rows.append(_steps(bench, page))
        rows += _changes(bench, page, "hospital, known", _looked_ahead(page, times), _KNOWN)
    with served(folder) as (url, _), tab(url) as page:
        _open(page, "adult")
        rows += _changes(bench, page, "Adult, optimal", _UNKNOWN[: times + 1], _ADULT)
        rows += _changes(bench, page, "Adult, known", _looked_ahead(page, times), _KNOWN)
        _technique(page, find("algorithm", "mondrian").title)
        rows += _changes(bench, page, "Adult, Mondrian", _UNKNOWN[: times + 1], _ADULT)
    print(table("One change on Results, from Enter", rows))


def _open(page: Page, sample: str) -> None:
    """Load a sample, carry out its plan, and open Results."""
    take_sample(page, sample)
    carry_out(page)
    go(page, "Results")


def _technique(page: Page, title: str) -> None:
    page.locator(".st-key-what-if").get_by_label("Technique").click()
    page.get_by_role("option", name=title, exact=True).click()
    expect(page.locator(".st-key-run-head")).to_contain_text(title, timeout=PATIENCE)
    settled(page)


def _change(page: Page, k: int) -> _Seen:
    page.evaluate(_WATCH, k)
    field = page.locator(".st-key-what-if").get_by_label("k", exact=True)
    field.fill(str(k))
    field.press("Enter")
    page.wait_for_function("() => window.whatIf.done", timeout=PATIENCE)
    seen = page.evaluate("() => window.whatIf")
    settled(page)
    return _Seen(panels=seen["panels"] / 1000, verified=seen["verified"] / 1000)


def _changes(bench: Bench, page: Page, what: str, ks: Sequence[int], limit: float) -> list[Row]:
    """Change k once to warm up, then to each value in turn."""
    if len(ks) < 2:
        return [_printed(Row(what=what, seconds=(), note="the curve knows nothing"))]
    _change(page, ks[0])
    seen = [_change(page, k) for k in ks[1:]]
    rows: list[Row] = []
    for name, most in (("panels", limit), ("verified", _VERIFIED)):
        seconds = tuple(getattr(one, name) for one in seen)
        within = "within" if statistics.median(seconds) <= most else "beyond"
        note = f"{within} {most:g} s"
        rows.append(_printed(Row(what=f"{what}: {name}", seconds=seconds, note=note)))
    bench.check(all(s.panels <= s.verified + 0.2 for s in seen), f"{what}: drawn, then verified")
    return rows


def _looked_ahead(page: Page, times: int) -> list[int]:
    """Return values of k that the curve has looked at, once it is done."""
    _change(page, 20)
    page.wait_for_timeout(1000)
    page.wait_for_function("() => !document.querySelector('.st-key-curve-look')", timeout=PATIENCE)
    settled(page)
    return [8, 10, 13, 16, 25, 32, 40, 50, 6, 4, 3][: times + 1]


def _class(page: Page, times: int) -> list[Row]:
    """Click on classes until the chart has marked them, and until the table has followed."""
    marked: list[float] = []
    followed: list[float] = []
    _change(page, 10)  # of the present values it leaves the most classes
    bins = page.locator(".st-key-vega-tracks .hits_marks path")
    chosen = page.locator(".st-key-chosen-bar")
    for place in range(times):
        before = chosen.inner_text()
        page.evaluate(_HIGHLIGHT)
        bins.nth(3 * place + 1).click()
        page.wait_for_function(_CHOSEN, arg=before, timeout=PATIENCE)
        followed.append(since_click(page))
        page.wait_for_function("() => window.highlight !== undefined", timeout=PATIENCE)
        marked.append(page.evaluate("() => window.highlight") / 1000)
        settled(page)
    rows: list[Row] = []
    for what, seconds, most in (("in the chart", marked, 0.02), ("in all panels", followed, 0.2)):
        note = f"{'within' if statistics.median(seconds) <= most else 'beyond'} {most:g} s"
        rows.append(
            _printed(Row(what=f"click on a class: {what}", seconds=tuple(seconds), note=note))
        )
    return rows


def _printed(row: Row) -> Row:
    """Print a row as it comes, since the whole table takes minutes."""
    median = shown(statistics.median(row.seconds)) if row.seconds else "–"
    print(f"  {row.what}: {median}  {row.note}", flush=True)
    return row


def _steps(bench: Bench, page: Page) -> Row:
    """Step up six times as fast as one can; no step waits for the one before."""
    _change(page, 20)
    up = page.locator(".st-key-what-if").get_by_test_id("stNumberInputStepUp").first
    for _ in range(6):
        up.click(delay=10)
    head = page.locator(".st-key-run-head")
    expect(head).to_contain_text("k = 26", timeout=PATIENCE)
    took = since_click(page)
    one = _change(page, 27)
    bench.check(took < 6 * one.verified, "six quick steps take less than six runs")
    return _printed(Row(what="six quick steps, from the last", seconds=(took,)))
