"""What the browser's window does to a page: it is narrow, turns dark or light, or is closed."""

from __future__ import annotations

from streamlit.components.v2 import component

from ui.components.listener import listener

#: Pixels of the window up to which the sidebar would take more than a third of it.
NARROW = 820
#: Streamlit itself folds it up on windows of 768 pixels and less.
_NARROWS = """
export default function () {
  const fold = () => {
    if (window.innerWidth > NARROW) return;
    const bar = document.querySelector('[data-testid="stSidebar"][data-collapsed="false"]');
    bar?.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  };
  const seen = window.matchMedia("(max-width: NARROWpx)");
  const turned = () => { if (seen.matches) fold(); };
  const waited = setTimeout(fold, 150);
  seen.addEventListener("change", turned);
  return () => { clearTimeout(waited); seen.removeEventListener("change", turned); };
}
"""
#: Milliseconds after which a chart that was not drawn again is left as it is.
_PATIENCE = 20_000
#: Milliseconds after which the page is asked for in the new colours, as long as it is not there.
_ASKED = (100, 1_500, 4_000, 9_000)
#: The frontend turns its own colours over at once; those that Python chose wait for a run. Until
#: then rules are copied with the new quiet colour, and a filter turns the light of charts over and
#: keeps their hues.
_TURNS = """
export default function ({ setTriggerValue }) {
  const QUIET = { light: "LIGHT", dark: "DARK" };
  const seen = window.matchMedia("(prefers-color-scheme: dark)");
  window.awRedraw = () => setTriggerValue("turned", true);  // of the component put in last
  const turned = () => {
    const [old, now] = seen.matches ? [QUIET.light, QUIET.dark] : [QUIET.dark, QUIET.light];
    const rgb = `rgb(${[1, 3, 5].map((at) => parseInt(old.slice(at, at + 2), 16)).join(", ")})`;
    const ink = `text[fill="${old}" i], text[style*="${rgb}"]`;
    const look = () => {
      for (const [one, copy] of rules)  // drawn again, or of a page that was left
        if (!one.isConnected || !one.textContent.includes(old)) copy.remove();
      for (const chart of document.querySelectorAll("svg.marks, .js-plotly-plot"))
        chart.style.filter = chart.querySelector(ink) ? "invert(1) hue-rotate(180deg)" : "";
    };
    window.awTurning?.();  // a change back ends the one before
    const rules = [...document.querySelectorAll("style")].filter(
      (one) => one.textContent.includes(old)
    ).map((one) => {
      const copy = document.createElement("style");
      copy.dataset.turning = "";
      copy.textContent = one.textContent.replaceAll(old, now);
      document.body.append(copy);
      return [one, copy];
    });
    const drawn = new MutationObserver(look);
    // A run can begin before the frontend knows its new theme, or be lost to one of a fragment.
    const asked = ASKED.map((after, turn) => setTimeout(() => {
      if (!turn || rules.some(([one]) => one.isConnected && one.textContent.includes(old)))
        window.awRedraw();
    }, after));
    const end = () => {
      drawn.disconnect();
      asked.forEach(clearTimeout);
      clearTimeout(late);
      for (const [, copy] of rules) copy.remove();
      window.awTurning = undefined;
    };
    const late = setTimeout(() => {
      end();
      for (const chart of document.querySelectorAll("svg.marks, .js-plotly-plot"))
        chart.style.filter = "";
    }, PATIENCE);
    window.awTurning = end;
    look();
    drawn.observe(document.body, { subtree: true, childList: true, attributeFilter: ["fill"] });
  };
  seen.addEventListener("change", turned);
  return () => seen.removeEventListener("change", turned);
}
"""
#: The browser asks in words of its own; it only does so where something was clicked or typed.
_LEAVES = """
function listen() {
  const ask = (event) => { event.preventDefault(); event.returnValue = true; };
  window.addEventListener("beforeunload", ask);
  return () => window.removeEventListener("beforeunload", ask);
}
"""


def folds_sidebar(page: str) -> None:
    """Let the sidebar fold up on a narrow window, once for each page that is opened."""
    script = _NARROWS.replace("NARROW", str(NARROW))
    component("workbench_narrow", js=script, html="<span></span>")(key=f"narrow-{page}", height=1)


def redraws(light: str, dark: str) -> None:
    """Let a change between light and dark draw the page again.

    Parameters
    ----------
    light, dark : str
        The quiet colour of every chart's letters in each theme, as ``#4B5563``: what still has the
        other one's is not drawn again yet.
    """
    script = _TURNS.replace("LIGHT", light).replace("DARK", dark)
    component(
        "workbench_theme",
        js=script.replace("PATIENCE", str(_PATIENCE)).replace("ASKED", str(list(_ASKED))),
        html="<span></span>",
    )(key="theme-change", height=1, on_turned_change=lambda: None)


def asks_first() -> None:
    """Let the browser ask before the page is left, closed or loaded again."""
    listener("workbench_leaving", _LEAVES)(key="leaving", height=1)
