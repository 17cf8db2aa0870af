"""The page is drawn again when the browser changes between light and dark."""

from __future__ import annotations

from streamlit.components.v2 import component

#: The frontend turns its own colours over at once; those that Python chose wait for a run.
_JS = """
export default function ({ setTriggerValue }) {
  const seen = window.matchMedia("(prefers-color-scheme: dark)");
  const turned = () => setTimeout(() => setTriggerValue("turned", true), 100);
  seen.addEventListener("change", turned);
  return () => seen.removeEventListener("change", turned);
}
"""


def redraws() -> None:
    """Let a change between light and dark draw the page again."""
    component("workbench_theme", js=_JS, html="<span></span>")(
        key="theme-change", height=1, on_turned_change=lambda: None
    )
