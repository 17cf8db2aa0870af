"""On a narrow window the sidebar folds up when a page is opened, so that the page has the width."""

from __future__ import annotations

from streamlit.components.v2 import component

#: Pixels of the window up to which the sidebar would take more than a third of it.
NARROW = 820
#: Streamlit itself folds it up on windows of 768 pixels and less.
_JS = """
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


def folds_sidebar(page: str) -> None:
    """Let the sidebar fold up on a narrow window, once for each page that is opened."""
    script = _JS.replace("NARROW", str(NARROW))
    component("workbench_narrow", js=script, html="<span></span>")(key=f"narrow-{page}", height=1)
