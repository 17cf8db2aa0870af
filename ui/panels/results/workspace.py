"""How Results fits one window: its parts, their places, and the drawers over them.

All of the look is here. The workspace is as high as the window; the strip, the bar and the row
of drawers take what they need, and four panels of equal size share the rest and scroll inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.charts.theme import grid, muted, paper
from ui.components.guard import handled
from ui.state.work.fragments import redraw

#: Pixels of the window below which the parts are below each other, and the page scrolls.
NARROW = 1000
PANELS = ("panel-table", "panel-classes", "panel-metrics", "panel-attacks")
#: Panels of the page: the drawers, and what is chosen, which Esc clears where none is open.
FURTHER, CHOICE = "further-panel", "linked-bar"
_SHOW_IT = (FURTHER, CHOICE)
_OPEN = "drawer"
_LOOK = """<style>
[data-testid="stMainBlockContainer"] {padding: 0 1rem;}
.stMain h1 {position: absolute; top: 9px; left: 1rem;
  padding: 0 !important; font-size: 1.15rem !important; z-index: 1;}
[data-testid="stMainBlockContainer"] > .stVerticalBlock
  {gap: 0;}
[data-testid="stElementContainer"]:has(> .stHtml > style) {position: absolute;}
.st-key-workspace {gap: .5rem;}
.st-key-workspace p, .st-key-workspace [data-testid="stWidgetLabel"] p {font-size: .85rem;}
.st-key-run-head {padding: 4px 6rem 0 6.5rem; min-height: 40px; gap: .5rem; flex-wrap: nowrap;}
.st-key-run-head > [data-testid]:first-child {flex: 1 1 0; min-width: 0;}
.st-key-run-head > [data-testid]:not(:first-child) {flex: none;}
.st-key-run-head [data-testid="stMarkdownContainer"] p {white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis;}
.st-key-run-head button, .st-key-drawer-row button {min-height: 1.9rem; padding: 0 .6rem;}
.st-key-drawer-row {gap: .4rem; min-height: 1.9rem;}
.st-key-what-if {padding: .3rem .7rem .5rem;}
.st-key-what-if-row {gap: .6rem; flex-wrap: wrap;}
.st-key-what-if-fields {gap: .6rem;}
[data-testid="stLayoutWrapper"]:has(> .st-key-what-if-fields) {flex: 0 1 auto; width: auto;}
[data-testid="stLayoutWrapper"]:has(> .st-key-history) {flex: 0 0 16.75rem; width: auto;}
[data-testid="stLayoutWrapper"]:has(> .st-key-curve)
  {flex: 1.4 1 10rem; width: auto; min-width: 7.5rem;}
[data-testid="stLayoutWrapper"]:has(> .st-key-what-if-fields > :nth-child(8)) {flex-basis: 100%;}
:is(.st-key-curve, .st-key-history) [data-testid="stElementToolbar"] {display: none;}
.st-key-levels {gap: .3rem;}
.st-key-levels [data-testid="stHorizontalBlock"] {flex-wrap: nowrap;}
.st-key-history {display: grid !important; gap: 4px; align-items: end;
  grid-template-columns: 88px auto auto minmax(0, 1fr);}
.st-key-history > * {grid-row: 1; min-width: 0;}
.st-key-history > .st-key-history-dots {grid-area: 1 / 1 / 3; margin-right: .6rem;}
.st-key-history > [data-testid="stLayoutWrapper"] {grid-area: 2 / 2 / 3 / 5;}
.st-key-history .stButton button {min-height: 28px; height: 28px; padding: 0 .35rem;}
.st-key-history .stButton button p {font-size: .8rem !important;}
.st-key-history kbd {display: none;}
:is(.st-key-what-if-undo, .st-key-what-if-redo, .st-key-back:nth-child(n + 6))
  [data-testid="stMarkdownContainer"] {position: absolute; width: 1px; height: 1px;
  overflow: hidden; clip-path: inset(50%);}
.st-key-history-list button {min-height: 32px; height: 32px; padding: 0 .5rem;}
.st-key-history-list button p, .st-key-what-if-fields input {font-size: .8rem !important;}
.st-key-what-if-fields [role="combobox"] {padding: 0 .4rem; text-overflow: ellipsis;}
body:has(.st-key-what-if-technique [aria-expanded="true"])
  [data-testid="stSelectboxVirtualDropdown"] {min-width: 19rem;}
[data-testid="stLayoutWrapper"]:has(> .st-key-curve .aw-curve-none) {flex-basis: 7.5rem;}
.st-key-curve {height: 66px; overflow: hidden; justify-content: flex-end;
  container-type: inline-size;}
@container (max-width: 16rem) {.aw-curve-head .aw-roomy {display: none;}}
.st-key-curve [data-testid="stVerticalBlock"] {gap: 0;}
.st-key-curve .st-key-curve-look {position: absolute;}
.aw-curve-head {font-size: .75rem; line-height: 1.3; color: MUTED; white-space: nowrap;
  overflow: hidden; text-overflow: ellipsis;}
.aw-curve-none {white-space: normal;}
.st-key-drawer-row > [data-testid="stLayoutWrapper"]:has(.st-key-drawers)
  {flex: 0 1 auto; width: auto;}
.st-key-drawers {gap: .4rem;}
.st-key-drawer-row [data-testid="stVerticalBlock"] {gap: 0;}
.st-key-drawer-row .st-key-drawer-open, .st-key-drawer-open [data-testid="stVerticalBlock"]
  {gap: .8rem;}
:is(.st-key-what-if-refused, .st-key-what-if-silent) {gap: .5rem;}
:is(.st-key-what-if-refused, .st-key-what-if-silent) > [data-testid]:first-child
  {flex: 1 1 16rem; width: auto;}
:is(.st-key-what-if-refused, .st-key-what-if-silent) button {min-height: 1.9rem;}
[class*="st-key-panel-"] [data-testid="stButtonGroup"] button {padding: .1rem .5rem;
  min-height: 1.75rem;}
[class*="st-key-panel-"] [data-testid="stButtonGroup"] button p {font-size: .8rem;}
[class*="st-key-panel-"] [data-testid="stHeading"] [data-testid="stMarkdownContainer"],
[class*="st-key-panel-"] > [data-testid="stElementContainer"] [data-testid="stCaptionContainer"]
  {margin-bottom: 0;}
[class*="st-key-head-"] {gap: .5rem; flex-wrap: nowrap; min-height: 1.75rem;}
[class*="st-key-head-"] button {min-height: 1.6rem; padding: 0 .3rem;}
[class*="st-key-panel-"] .aw-legend {text-align: right;}
[class*="st-key-head-"] h3 {font-size: 1rem !important; white-space: nowrap;}
.st-key-head-table {flex-wrap: wrap; gap: .3rem .5rem;}
.st-key-head-table [data-testid="stButtonGroup"] button {min-height: 1.6rem; height: 1.6rem;}
.st-key-head-table [data-testid="stNumberInputContainer"],
.st-key-head-table [data-testid="stNumberInputContainer"] * {height: 1.6rem; min-height: 0;}
.st-key-head-table input {padding: 0 .3rem; text-align: right; font-size: .8rem;}
[class*="st-key-step-"] button {padding: 0 !important; gap: 0;}
[class*="st-key-step-"] [data-testid="stMarkdownContainer"] p {font-size: 0 !important;}
.aw-of {font-size: .8rem; white-space: nowrap; color: MUTED;}
.aw-table-note {font-size: .76rem; line-height: 1.3; color: MUTED; padding-right: 6.7rem;
  font-variant-numeric: tabular-nums; display: -webkit-box; -webkit-box-orient: vertical;
  -webkit-line-clamp: 2; overflow: hidden;}
.aw-table-note > span:not(.aw-levels) {white-space: nowrap; margin-right: .5rem;}
.st-key-chosen-bar {justify-content: flex-end; gap: .4rem;}
.st-key-chosen-smaller button, .st-key-chosen-larger button {padding: 0 .1rem; gap: 0;}
.st-key-chosen-smaller [data-testid="stMarkdownContainer"] p,
.st-key-chosen-larger [data-testid="stMarkdownContainer"] p {font-size: 0 !important;}
.st-key-what-if [data-testid="stWidgetLabel"] {min-height: 1.2rem; margin-bottom: 0;}
.st-key-results-panels > [data-testid] {min-width: 0;}
[class*="st-key-panel-"] {padding: .35rem .7rem .6rem;}
[class*="st-key-panel-"], [class*="st-key-panel-"] [data-testid="stVerticalBlock"] {gap: .45rem;}
[class*="st-key-panel-"] h3 {padding: 0 !important;}
.st-key-panel-table [data-testid="stCaptionContainer"] p {font-size: .76rem; line-height: 1.35;}
.st-key-drawer-open [data-testid="stHorizontalBlock"]:has(> * > .stPopover, > * > * > .stPopover)
  {flex-wrap: nowrap;}
.st-key-drawer-open {position: fixed; top: 0; right: 0; bottom: 0; width: min(64rem, 94vw);
  z-index: 999991; overflow-y: auto; padding: .8rem 1.2rem 2rem; background: PAPER;
  border-left: 1px solid GRID; box-shadow: -8px 0 24px rgba(0, 0, 0, .25);}
@media (max-width: BELOWpx) {
  .st-key-drawer-row {flex-wrap: wrap;}
  .st-key-drawer-row > [data-testid="stLayoutWrapper"]:has(.st-key-chosen-bar) {flex: 1 1 100%;}
  .stMain h1
    {position: static; margin: 3.75rem 0 1.2rem;}
  .st-key-run-head {flex-wrap: wrap; padding: 0;}
  .st-key-what-if-fields {gap: .4rem;}
  .st-key-run-head > [data-testid]:first-child {flex: 1 1 100%;}
}
@media (min-width: WIDEpx) {
  .stMain {overflow: hidden;}
  .stMain::before {box-shadow: none !important;}
  [data-testid="stMainBlockContainer"] > .stVerticalBlock {height: calc(100dvh - .5rem);}
  [data-testid="stLayoutWrapper"]:has(> .st-key-workspace) {flex: 1 1 0; min-height: 0;}
  [data-testid="stMainBlockContainer"] > .stVerticalBlock > .stElementContainer .stAlert
    {margin: 4px 0 0 6.5rem; width: auto;}
  .st-key-workspace {height: 100%; min-height: 0; flex-wrap: nowrap;}
  .st-key-workspace > [data-testid] {flex: none;}
  .st-key-workspace > [data-testid="stLayoutWrapper"]:has(> .st-key-results-panels)
    {flex: 1 1 0; min-height: 0;}
  .st-key-results-panels {display: grid !important; gap: .5rem; height: 100%; min-height: 0;
    grid-template: repeat(2, minmax(0, 1fr)) / repeat(2, minmax(0, 1fr));}
  .st-key-results-panels > [data-testid] {min-height: 0; height: 100%;}
  [class*="st-key-panel-"] {height: 100%; overflow: auto; flex-wrap: nowrap;}
  [class*="st-key-panel-"] > [data-testid] {flex: none;}
  .st-key-panel-table > [data-testid="stLayoutWrapper"],
  .st-key-panel-table > [data-testid="stLayoutWrapper"] > .stVerticalBlock
    {flex: 1 1 0; min-height: 0; display: flex; flex-direction: column;}
  .st-key-panel-table > * > * > [data-testid="stElementContainer"]:has(.stDataFrame)
    {flex: 1 1 0; min-height: 8rem;}
  [data-testid="stLayoutWrapper"]:has(> [class*="st-key-stack-tables-"]),
  .st-key-panel-table [class*="st-key-stack-tables-"],
  .st-key-panel-table [class*="st-key-stack-tables-"] > [data-testid="stLayoutWrapper"],
  .st-key-panel-table .stColumn > .stVerticalBlock,
  .st-key-panel-table .stColumn > * > [data-testid="stElementContainer"]:has(> * > .stDataFrame)
    {flex: 1 1 0; min-height: 0; display: flex; flex-direction: column;}
  .st-key-panel-table .stColumn {display: flex; flex-direction: column;}
  .st-key-panel-table [class*="st-key-stack-tables-"] [data-testid="stHorizontalBlock"]
    {flex: 1 1 0; min-height: 8rem;}
  .st-key-panel-table :is([data-testid="stFullScreenFrame"], [data-testid="stDataFrame"])
    {height: 100%;}
  .st-key-panel-table :is([data-testid="stDataFrameResizable"], .stDataFrameGlideDataEditor)
    {min-height: 0 !important;}
  .st-key-results-panels > * > :not(.st-key-panel-table) >
    [data-testid="stLayoutWrapper"]:last-child,
  .st-key-results-panels > * > :not(.st-key-panel-table) > :last-child > .stVerticalBlock,
  .st-key-results-panels [data-testid="stLayoutWrapper"]:has(> [class*="st-key-vega-"])
    {flex: 1 0 auto; display: flex; flex-direction: column;}
  [class*="st-key-panel-"] [class*="st-key-vega-"] {contain: size; height: auto !important;
    flex: 1 0 auto;}
}
</style>"""

#: The look of figures that are still those of before. As a rule that asks whether the workspace
#: holds a refusal (`:has`), it cost a third of what a browser does for each change of a setting.
_REFUSED = """<span hidden></span><style>
.st-key-workspace.st-key-workspace :is(.st-key-strip .aw-tile,
  [class*="st-key-panel-"]) {border-style: dashed; border-color: MUTED;}
.st-key-workspace.st-key-workspace :is(.st-key-strip .aw-strip,
  .st-key-results-panels :is([data-testid="stVegaLiteChart"], canvas, .aw-legend, .aw-table-note))
  {filter: grayscale(1);}
</style>"""


def look() -> None:
    """Draw the look of the page."""
    words = {
        "WIDE": NARROW,
        "BELOW": NARROW - 0.02,
        "PAPER": paper(),
        "GRID": grid(),
        "MUTED": muted(),
    }
    made = _LOOK
    for word, value in words.items():
        made = made.replace(word, str(value))
    st.html(made)


def look_refused() -> None:
    """Let figures and panels look like those of before a change that was refused."""
    st.html(_REFUSED.replace("MUTED", muted()))


def panels() -> list[DeltaGenerator]:
    """Return the places of the four panels."""
    with st.container(key="results-panels"):
        return [st.container(border=True, key=key) for key in PANELS]


def drawers(names: Sequence[str]) -> None:
    """Draw the buttons that open a drawer each."""
    for name in names:
        st.button(
            name,
            key=f"open-{name}",
            type="secondary",
            width="content",
            on_click=handled("Further")(open_drawer),
            args=(name,),
        )


def drawer(name: str, draw: Callable[[], None]) -> None:
    """Draw what a drawer holds while it is open; nothing of a closed one is made."""
    if not is_open(name):
        return
    with st.container(key="drawer-open"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
        ):
            st.subheader(name, anchor=False, width="content")
            st.button(
                "Close",
                key="drawer-close",
                icon=":material/close:",
                shortcut="Esc",
                width="content",
                on_click=handled("Further")(close),
            )
        draw()


def is_open(name: str) -> bool:
    """Say whether a drawer is open."""
    return st.session_state.get(_OPEN) == name


def is_any_open() -> bool:
    """Say whether any drawer is open."""
    return _OPEN in st.session_state


def open_drawer(name: str) -> None:
    """Open a drawer, and close the one that was open."""
    st.session_state[_OPEN] = name
    redraw(*_SHOW_IT)


def close() -> None:
    """Close the drawer that is open."""
    st.session_state.pop(_OPEN, None)
    redraw(*_SHOW_IT)
