"""The sidebar of a full page: a rail of icons, which a button opens over the page and closes again.

The rail is the sidebar itself with its words out of sight, so links keep their names and the keys
their order; a link's word shows next to it while the pointer or the focus is on it.
"""

from __future__ import annotations

import streamlit as st
from streamlit.components.v2 import component

from ui.charts.theme import grid, ink, paper

#: Pixels of the window from which on the sidebar is a rail.
FROM = 1000
#: Pixels of the rail.
WIDTH = 56
_LOOK = """
@media (min-width: FROMpx) {
  [data-testid="stSidebar"] {width: WIDTHpx !important; min-width: WIDTHpx !important;
    transform: none !important; visibility: visible !important; overflow: visible;}
  .stSidebar > div:not([data-testid="stSidebarContent"]),
  [data-testid="stSidebarHeader"], [data-testid="stExpandSidebarButton"] {display: none !important;}
  :is([data-testid="stHeader"], [data-testid="stToolbar"]) {background: transparent;
    pointer-events: none;}
  [data-testid="stToolbar"] button {pointer-events: auto;}
  [data-testid="stSidebarContent"] {position: absolute; inset: 0 auto 0 0; overflow: hidden auto;
    background: inherit; padding: 0 !important; scrollbar-gutter: auto !important;
    scrollbar-width: thin;
    z-index: 999990;}
  [data-testid="stSidebarUserContent"] {padding: 6px 8px 1rem !important;}
  :root[data-sidebar="open"] [data-testid="stSidebarContent"] {width: 300px;
    box-shadow: 8px 0 24px rgba(0, 0, 0, .25); border-right: 1px solid GRID;}
  :root[data-sidebar="open"] [data-testid="stSidebarUserContent"]
    {padding: 6px 24px 1rem 8px !important;}
  :root:not([data-sidebar="open"]) [data-testid="stSidebarContent"] {width: WIDTHpx;}
  :root:not([data-sidebar="open"]) [data-testid="stSidebarUserContent"]
    > div > .stVerticalBlock > [data-testid="stElementContainer"],
  :root:not([data-sidebar="open"]) [data-testid="stSidebarUserContent"] > div > .stVerticalBlock
    > [data-testid="stLayoutWrapper"]:not(:has(> :is(.st-key-steps, .st-key-further-steps,
    .st-key-rail, .st-key-under-way)))
    {position: absolute; width: 1px; height: 1px; overflow: hidden; visibility: hidden;}
  :root:not([data-sidebar="open"]) .st-key-under-way > [data-testid="stElementContainer"]:has(
    > .stButton, > [data-testid="stMarkdown"]),
  :root:not([data-sidebar="open"]) .st-key-under-way .stProgress [data-testid="stMarkdownContainer"]
    {display: none;}
  :root:not([data-sidebar="open"]) [data-testid="stSidebar"] [data-testid="stPageLink"] a
    {padding: .3rem .5rem; justify-content: center; gap: 0; margin: 0; min-width: 0;
    min-height: 34px;}
  :root:not([data-sidebar="open"]) [data-testid="stSidebar"] .st-key-steps a::after
    {right: .3rem; top: 72%; width: .2rem; height: .4rem; border-width: 0 1.5px 1.5px 0;}
  :root:not([data-sidebar="open"]) [data-testid="stSidebar"] [data-testid="stPageLink"] a
    [data-testid="stMarkdownContainer"] {position: absolute; width: 1px; height: 1px;
    overflow: hidden; clip-path: inset(50%); white-space: nowrap;}
  :root:not([data-sidebar="open"]) [data-testid="stSidebar"] [data-testid="stPageLink"]
    a:is(:hover, :focus-visible) [data-testid="stMarkdownContainer"] {position: fixed; left: 52px;
    width: auto; height: auto; overflow: visible; clip-path: none; z-index: 999991;
    padding: .15rem .6rem; border-radius: .4rem; background: INK; transform: translateY(-50%);}
  :root:not([data-sidebar="open"]) [data-testid="stSidebar"] [data-testid="stPageLink"]
    a:is(:hover, :focus-visible) [data-testid="stMarkdownContainer"] * {color: PAPER !important;}
}
@media (max-width: BELOWpx) {.st-key-rail {display: none;}}
"""
_HTML = """<button type="button" aria-expanded="false" aria-label="Show the whole sidebar">
<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path fill="none"
stroke="currentColor" stroke-width="2" stroke-linecap="round" d="M4 7h16M4 12h16M4 17h16"/></svg>
</button>"""
_CSS = """button {width: 40px; height: 32px; padding: 0; border: 0; border-radius: .5rem;
  background: transparent; color: var(--st-text-color); cursor: pointer; display: grid;
  place-items: center;}
button:hover {background: rgba(127, 127, 127, .18);}
button:focus-visible {outline: 2px solid currentColor; outline-offset: -2px;}"""
_JS = """
export default function ({ parentElement }) {
  const root = document.documentElement;
  const button = parentElement.querySelector("button");
  const show = (open) => {
    if (open) root.dataset.sidebar = "open"; else delete root.dataset.sidebar;
    button.setAttribute("aria-expanded", String(open));
    const word = open ? "Show icons only" : "Show the whole sidebar";
    button.setAttribute("aria-label", word);
    button.title = word;
  };
  const isOpen = () => root.dataset.sidebar === "open";
  const beyond = (event) => {
    const within = event.target.closest?.('[data-testid="stSidebar"], [data-baseweb]');
    if (isOpen() && !within) show(false);
  };
  const escaped = (event) => {
    if (event.key !== "Escape" || !isOpen()) return;
    show(false);
    button.focus();
  };
  show(isOpen());
  button.onclick = () => show(!isOpen());
  window.addEventListener("pointerdown", beyond);
  window.addEventListener("keydown", escaped);
  return () => {
    show(false);
    window.removeEventListener("pointerdown", beyond);
    window.removeEventListener("keydown", escaped);
  };
}
"""


def draw() -> None:
    """Draw the button on top of the sidebar, and make a rail of the rest."""
    look = _LOOK.replace("FROM", str(FROM)).replace("BELOW", str(FROM - 0.02))
    look = look.replace("WIDTH", str(WIDTH)).replace("GRID", grid())
    st.html(f"<style>{look.replace('INK', ink()).replace('PAPER', paper())}</style>")
    component("workbench_rail", js=_JS, html=_HTML, css=_CSS)(key="rail-button", height=32)
