"""A click waits for what was typed a moment before: on another page, and on a download.

A field of Streamlit's sends its value when it loses the focus, and the click that takes the focus
may lead to another page, whose run replaces the one for the value, or be that on a download, whose
file is still the one of the draw before. So the click waits until Python has the text, and until
the page is drawn, and is carried out then.
"""

from __future__ import annotations

from ui.components.listener import listener

_KEEPS = """
const MOST_WAIT = 5000;
let left = null;  // typed, and not known to Python yet
let link = null;  // clicked meanwhile

function go() {
  left = null;
  if (!link) return;
  const address = link.getAttribute("href");
  const alike = [...document.querySelectorAll("a")].find(
    (one) => one.getAttribute("href") === address && one.textContent === link.textContent);
  const to = link.isConnected ? link : alike;
  link = null;
  to?.click();
}

function listen({ data }) {
  if (left !== null && left === data.text) go();
  const onLeave = (event) => {
    const field = event.target;
    if (!(field instanceof HTMLTextAreaElement) || !field.closest(`.st-key-${data.field}`)) return;
    left = field.value === data.text ? null : field.value;
    if (left !== null) setTimeout(go, MOST_WAIT);
  };
  const onClick = (event) => {
    const to = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (left === null || !to || to.hasAttribute("download")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    link = to;
  };
  window.addEventListener("focusout", onLeave, true);
  window.addEventListener("click", onClick, true);
  return () => {
    window.removeEventListener("focusout", onLeave, true);
    window.removeEventListener("click", onClick, true);
  };
}
"""
_WAITS = """
const REST = 400, MOST_WAIT = 60000;
const DOWNLOAD = '[data-testid="stDownloadButton"]';
const FIELDS = 'input, textarea, [contenteditable="true"]';
const said = (field) => field.value ?? field.textContent;
const drawn = () =>
  document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";

function listen() {
  let before = null;
  let changed = -Infinity;
  const onEnter = (event) => {
    if (event.target.matches?.(FIELDS)) before = said(event.target);
  };
  const onLeave = (event) => {
    if (event.target.matches?.(FIELDS) && said(event.target) !== before)
      changed = performance.now();
  };
  const onClick = (event) => {
    const of = event.target.closest?.(DOWNLOAD);
    const button = of?.querySelector("button");
    if (!button || button.dataset.latest) return;
    if (drawn() && performance.now() - changed > REST) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const key = [...(of.closest('[class*="st-key-"]')?.classList ?? [])]
      .find((name) => name.startsWith("st-key-"));
    const since = performance.now();
    let rest = since;
    const look = () => {
      const now = performance.now();
      if (!drawn()) rest = now;
      if (now - rest < REST && now - since < MOST_WAIT) return setTimeout(look, 50);
      const there = button.isConnected
        ? button
        : key && document.querySelector(`.${CSS.escape(key)} ${DOWNLOAD} button`);
      if (!there || there.disabled) return;
      there.dataset.latest = "yes";
      there.click();
      delete there.dataset.latest;
    };
    look();
  };
  window.addEventListener("focusin", onEnter, true);
  window.addEventListener("focusout", onLeave, true);
  window.addEventListener("click", onClick, true);
  return () => {
    window.removeEventListener("focusin", onEnter, true);
    window.removeEventListener("focusout", onLeave, true);
    window.removeEventListener("click", onClick, true);
  };
}
"""


def keep_text(field: str, *, text: str) -> None:
    """Let a click that leaves the page wait until what was typed is kept.

    Parameters
    ----------
    field : str
        Key of the text area.
    text : str
        What is kept already.
    """
    listener("workbench_kept_text", _KEEPS)(
        key=f"{field}-kept", data={"field": field, "text": text}, height=1
    )


def waits() -> None:
    """Let a click on a download wait while the page is still drawn with what was just entered."""
    listener("workbench_latest_file", _WAITS)(key="latest-file", height=1)
