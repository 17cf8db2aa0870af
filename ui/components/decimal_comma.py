"""A comma in a number field is obeyed or refused: a browser drops it, and makes 15 of 1,5.

It is the decimal mark where a field takes fractions. Whole numbers take neither comma nor point, in
which a browser would read 15,000 as 15: what is typed is then taken back, and the field says why.
"""

from __future__ import annotations

from streamlit.components.v2 import component

#: It listens once and for good, on whatever page.
_JS = """
const REST = 1200;
const MARKS = /[,.eE]/;
const fieldOf = (node) =>
  node instanceof HTMLInputElement && node.type === "number"
    && node.closest('[data-testid="stNumberInput"]') ? node : null;

function hear() {
  const own = new Intl.NumberFormat(navigator.language).format(1.5);
  if (own.includes(",")) return;  // this browser's fields read commas
  let refused = null, until = 0;
  const refuse = (field) => {
    [refused, until] = [field, performance.now() + REST];
    field.select();
    document.execCommand("delete");  // an empty field goes back to what it was
    field.setCustomValidity("A whole number, without point or comma, such as 15000.");
    field.reportValidity();
    setTimeout(() => field.setCustomValidity(""), 4 * REST);
  };
  window.addEventListener("beforeinput", (event) => {
    const field = fieldOf(event.target);
    const text = event.data ?? event.dataTransfer?.getData("text") ?? "";
    if (!field || !event.inputType.startsWith("insert")) return;
    if (refused === field && performance.now() < until) {  // the rest of the same number
      until = performance.now() + REST;
      event.preventDefault();
      return;
    }
    refused = null;
    field.setCustomValidity("");
    if (Number.isInteger(Number(field.step || 1))) {
      if (!MARKS.test(text)) return;
      event.preventDefault();
      refuse(field);
    } else if (text.includes(",")) {
      event.preventDefault();
      document.execCommand("insertText", false, text.replace(",", "."));
    }
  }, true);
  window.addEventListener("focusout", (event) => {
    if (event.target === refused) refused = null;
  }, true);
}

export default function () {
  if (window.workbench_decimal_comma) return;
  window.workbench_decimal_comma = true;
  hear();
}
"""


def reads() -> None:
    """Let number fields read a decimal comma, and refuse marks in whole numbers."""
    component("workbench_decimal_comma", js=_JS, html="<span></span>")(
        key="decimal-comma", height=1
    )
