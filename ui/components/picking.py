"""Marks of plain charts that can be clicked, or reached and pressed by keyboard.

One listener serves all charts of a page: a chart stays what it is, HTML that only the browser lays
out. The tabulator leads into a chart, arrows lead from mark to mark. A chart that is drawn anew
gives its mark the focus again, unless the focus has gone elsewhere meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from .guard import handled
from .listener import listener

_JS = """
const STEPS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

function mark(target) {
  return target instanceof Element ? target.closest("[data-pick]") : null;
}

function marks(one) {
  return one.closest(".aw-chart").querySelectorAll("[data-pick]");
}

function middle(one) {
  const box = one.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}

// The next mark of the chart in a direction: what lies aside counts more than what lies ahead.
function next(one, [right, down]) {
  const from = middle(one);
  let best = null;
  let least = Infinity;
  for (const other of marks(one)) {
    const [x, y] = middle(other).map((at, axis) => at - from[axis]);
    const ahead = x * right + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * right);
    if (ahead < 1 || ahead + 4 * aside >= least) continue;
    least = ahead + 4 * aside;
    best = other;
  }
  return best;
}

function focus(one) {
  for (const other of marks(one)) other.tabIndex = other === one ? 0 : -1;
  one.focus({ preventScroll: true });
}

let held = null;  // the mark that has the focus, or had it when its chart was drawn anew

function listen({ setTriggerValue }) {
  const onClick = (event) => {
    const one = mark(event.target);
    if (one) setTriggerValue("pick", one.dataset.pick);
  };
  const onKey = (event) => {
    const one = mark(event.target);
    const step = STEPS[event.key];
    if (!one || !step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const other = next(one, step);
    if (other) focus(other);
  };
  const onFocus = (event) => { held = mark(event.target)?.dataset.pick ?? null; };
  const onPointer = (event) => { if (!mark(event.target)) held = null; };
  const anew = new MutationObserver(() => {
    if (held === null || document.activeElement !== document.body) return;
    const found = document.querySelector(`[data-pick="${CSS.escape(held)}"]`);
    if (found) focus(found);
  });
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  document.addEventListener("focusin", onFocus);
  document.addEventListener("pointerdown", onPointer, true);
  anew.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("click", onClick);
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("focusin", onFocus);
    document.removeEventListener("pointerdown", onPointer, true);
    anew.disconnect();
  };
}
"""


def listens(picked: Callable[[str], None], *, name: str, key: str) -> None:
    """Let clicks on the marks of this page's charts be told.

    Parameters
    ----------
    picked : callable
        Gets the `place` of the `Pick` that was clicked, before anything is drawn.
    name : str
        Of the panel, for a person: where an error is told.
    key : str
    """

    @handled(name)
    def told() -> None:
        place = st.session_state[key].get("pick")
        if isinstance(place, str):
            picked(place)

    listener("workbench_picking", _JS)(key=key, on_pick_change=told, height=1)
