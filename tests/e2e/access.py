"""What axe-core finds on a page, less what Streamlit itself cannot do."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
#: Rules of WCAG 2.2, levels A and AA.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: Each entry says which rule, at which elements, and why it cannot be kept from here.
EXCEPTIONS: list[dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("access_exceptions.toml").read_text()
).get("exception", [])

_FIND = """
async ([tags, exceptions]) => {
  const answer = await axe.run(document, {
    runOnly: {type: "tag", values: tags}, resultTypes: ["violations"],
  });
  const found = [];
  for (const violation of answer.violations)
    for (const node of violation.nodes) {
      const target = node.target.flat();
      const element = target.length === 1 ? document.querySelector(target[0]) : null;
      const known = exceptions.findIndex(one => one.rule === violation.id
        && (element?.closest(one.selector) ?? node.html.includes(one.selector)));
      found.push({rule: violation.id, at: target.join(" > "), html: node.html.slice(0, 300),
        why: (node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? "", known});
    }
  return found;
}
"""


def violations(page: Page) -> tuple[list[dict[str, Any]], set[int]]:
    """Return what breaks a rule and is no exception, and the places of exceptions that occur."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate(_FIND, [TAGS, EXCEPTIONS])
    return [one for one in found if one["known"] < 0], {one["known"] for one in found} - {-1}
