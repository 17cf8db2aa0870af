"""The page is drawn again when the browser changes between light and dark."""

from __future__ import annotations

from streamlit.components.v2 import component

#: Milliseconds after which a chart that was not drawn again is left as it is.
_PATIENCE = 20_000
#: The frontend turns its own colours over at once; those that Python chose wait for a run. Until
#: a chart is drawn in the new ones, a filter turns its light over and keeps its hues.
_JS = """
export default function ({ setTriggerValue }) {
  const QUIET = { light: "LIGHT", dark: "DARK" };
  const seen = window.matchMedia("(prefers-color-scheme: dark)");
  const turned = () => {
    const old = QUIET[seen.matches ? "light" : "dark"];
    const rgb = `rgb(${[1, 3, 5].map((at) => parseInt(old.slice(at, at + 2), 16)).join(", ")})`;
    const ink = `text[fill="${old}" i], text[style*="${rgb}"]`;
    const look = () => {
      for (const chart of document.querySelectorAll("svg.marks, .js-plotly-plot"))
        chart.style.filter = chart.querySelector(ink) ? "invert(1) hue-rotate(180deg)" : "";
    };
    window.awTurning?.();  // a change back ends the one before
    const drawn = new MutationObserver(look);
    const end = () => { drawn.disconnect(); clearTimeout(late); window.awTurning = undefined; };
    const late = setTimeout(() => {
      end();
      for (const chart of document.querySelectorAll("svg.marks, .js-plotly-plot"))
        chart.style.filter = "";
    }, PATIENCE);
    window.awTurning = end;
    look();
    drawn.observe(document.body, { subtree: true, childList: true, attributeFilter: ["fill"] });
    setTimeout(() => setTriggerValue("turned", true), 100);
  };
  seen.addEventListener("change", turned);
  return () => seen.removeEventListener("change", turned);
}
"""


def redraws(light: str, dark: str) -> None:
    """Let a change between light and dark draw the page again.

    Parameters
    ----------
    light, dark : str
        The quiet colour of every chart's letters in each theme, as ``#4B5563``: what still has the
        other one's is not drawn again yet.
    """
    script = _JS.replace("LIGHT", light).replace("DARK", dark)
    component(
        "workbench_theme",
        js=script.replace("PATIENCE", str(_PATIENCE)),
        html="<span></span>",
    )(key="theme-change", height=1, on_turned_change=lambda: None)
