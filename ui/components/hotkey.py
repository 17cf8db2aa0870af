"""Ctrl+Enter wherever the focus is: radio buttons would keep it to themselves."""

from __future__ import annotations

from ui.components.listener import listener

#: What was being typed is taken over first (blur), then the button is pressed.
_JS = """
function listen() {
  const onKey = (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "Enter" || event.repeat) return;
    const button = document.querySelector(".st-key-run button");
    if (!button) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    setTimeout(() => {
      const now = document.querySelector(".st-key-run button");
      if (now && !now.disabled) now.click();
    }, 60);
  };
  window.addEventListener("keydown", onKey, true);
  return () => window.removeEventListener("keydown", onKey, true);
}
"""


def runs_anywhere() -> None:
    """Let Ctrl+Enter press the button with the key ``run`` from any field of the page."""
    listener("workbench_run_key", _JS)(key="run-key", height=1)
