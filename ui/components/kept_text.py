"""Text that is kept even if the page is left in the moment it was typed.

A field of Streamlit's sends its value when it loses the focus. Where the same click leads to
another page, the run for the new page replaces the one for the value, and the value is lost. So the
click waits until Python has the text, and is carried out then.
"""

from __future__ import annotations

from ui.components.listener import listener

_JS = """
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


def keep_text(field: str, *, text: str) -> None:
    """Let a click that leaves the page wait until what was typed is kept.

    Parameters
    ----------
    field : str
        Key of the text area.
    text : str
        What is kept already.
    """
    listener("workbench_kept_text", _JS)(
        key=f"{field}-kept", data={"field": field, "text": text}, height=1
    )
