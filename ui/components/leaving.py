"""A word before the page is closed or loaded again, which ends the session with all its work."""

from __future__ import annotations

from ui.components.listener import listener

#: The browser asks in words of its own; it only does so where something was clicked or typed.
_JS = """
function listen() {
  const ask = (event) => { event.preventDefault(); event.returnValue = true; };
  window.addEventListener("beforeunload", ask);
  return () => window.removeEventListener("beforeunload", ask);
}
"""


def asks_first() -> None:
    """Let the browser ask before the page is left, closed or loaded again."""
    listener("workbench_leaving", _JS)(key="leaving", height=1)
