"""The frame of every page: heading, sidebar with the way through, and what is missing to go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.installation import shipped
from anon_core.data.table import Dataset
from anon_core.explain.advice.table_facts import lacking
from anon_core.explain.text.phrases import size
from ui import this_machine
from ui.charts.theme import (
    ROLE_STYLE,
    RUN_STYLE,
    VERDICT_STYLE,
    grid,
    ink,
    muted,
    paper,
    role_colour,
    run_colour,
)
from ui.components import (
    clicks,
    decimal_comma,
    guard,
    link_clicks,
    reruns,
    typed_text,
    window,
)
from ui.components.guard import handled, panel
from ui.panels import icon_sidebar, login, session_panel
from ui.panels.run import progress_panel
from ui.state import pinning, results, state
from ui.state.sessions import kept_sessions, session_reruns
from ui.state.work import fragments, precompile_status, running
from ui.words.escaping import plain

__all__ = ["FURTHER", "STEPS", "Needs", "Step", "missing", "next_step", "page", "undo_button"]

Needs = Literal["nothing", "dataset", "roles", "result", "comparison"]
#: The page that a session began on.
_BEGUN = "shell/begun"
_CSS = """
[data-testid="stMainBlockContainer"] {padding: 2.6rem clamp(1rem, 2.5vw, 2.5rem) 3rem;
  max-width: none;}
[data-testid="stMain"] [data-testid="stMarkdownContainer"] > p {max-width: 56rem;}
[data-testid="stSidebar"] {transition: none !important;}
[data-testid="stSidebarUserContent"] {padding-bottom: 1.5rem;}
[data-testid="stSidebar"] [data-testid="stVerticalBlock"] {gap: .35rem;}
[data-testid="stSidebar"] .stPopover {margin-top: .4rem;}
[data-testid="stPageLink"] a {padding-top: .2rem; padding-bottom: .2rem;}
.stMain .stPageLink a * {white-space: normal; overflow: visible;}
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {color: MUTED; opacity: 1;}
button[data-testid^="stBaseButton-primary"]:not(:disabled) *,
.stMultiSelect span[title], .stMultiSelect span[title] + * {color: ON_PRIMARY; opacity: 1;}
.stSidebar .stPageLink * {opacity: 1;}
.stButtonGroup button[data-focused="true"] * {color: INK;}
[class*="st-key-vega-"] [data-testid="stElementToolbar"] {top: -7px !important; right: 0;
  padding: 0;}
:is(.st-key-vega-metrics, .st-key-vega-attacks, .st-key-vega-risk)
  [data-testid="stElementToolbar"] {top: 2px !important; left: 0; right: auto;}
[class*="st-key-vega-"] [data-testid="stElementToolbarButtonContainer"] {padding: 0;
  box-shadow: none;}
[class*="st-key-vega-"] button:is([aria-label^="Show data"], [aria-label^="Copy Vega-Lite"])
  {display: none;}
.aw-legend {font-size: .78rem; line-height: 1.2;}
[class*="st-key-head-"] > [data-testid]:not(:nth-child(2)) {flex: none; width: auto;}
[class*="st-key-chart-"] [class*="st-key-head-"] > [data-testid]:first-child {flex: 0 1 auto;
  min-width: 0;}
.stSidebar .stPageLink a[disabled] *, .stSidebar .stPageLink [aria-disabled="true"] *
  {color: MUTED;}
[data-testid="stPageLink"] a:focus-visible, [data-testid="stElementToolbar"] button:focus-visible
  {outline: 2px solid currentColor; outline-offset: 1px;}
.stMain .stPopover button[kind="tertiary"] * {color: MUTED;}
[class*="st-key-chart-"] [class*="st-key-head-"] .stPopover button > div {margin-right: 0;}
h1 {font-size: 1.7rem !important; padding-bottom: .6rem !important;}
h2 {font-size: 1.2rem !important; padding-top: .4rem !important;}
h3 {font-size: 1.05rem !important;}
:is(h4, h5, h6) {font-size: 1rem !important;}
[class*="st-key-start-sample-"] {margin-top: auto;}
.st-key-compare-runs button {min-width: 2.5rem; min-height: 2.5rem;}
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-long-"]) {flex: 1 1 21rem;
  min-width: min(100%, 21rem);}
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-half-"]) {flex: 1 1 13rem;
  min-width: min(100%, 13rem);}
[class*="st-key-facing-"] > [data-testid]:first-child {flex: 3 1 20rem;}
[class*="st-key-facing-"] > [data-testid]:last-child {flex: 2 1 13rem;}
.st-key-steps a {position: relative;}
.st-key-steps a::after {position: absolute; right: .7rem; top: 50%;
  width: .3rem; height: .6rem; border: solid MUTED; border-width: 0 2px 2px 0;
  transform: translateY(-65%) rotate(45deg);}
.aw-roles {display: grid; grid-template-columns: 1.2rem 1.8rem 1fr; row-gap: .1rem;
  font-size: .875rem; line-height: 1.45;}
.aw-roles b {text-align: right; padding-right: .5rem; font-variant-numeric: tabular-nums;}
.aw-explained p {margin: .5rem 0;}
.aw-explained summary {cursor: pointer;}
.aw-explained pre {white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem;
  padding: .5rem .75rem; margin: .5rem 0; border-radius: .5rem;
  border: 1px solid GRID;}
.aw-explained details p {color: MUTED; font-size: .875rem;}
.stApp[data-test-connection-state="PINGING_SERVER"]::before {content: "Connecting again …";
  position: fixed; top: .6rem; left: 50%; transform: translateX(-50%); z-index: 999999;
  padding: .3rem 1rem; border-radius: .5rem; color: PAPER; background: INK;}
[data-testid="stDialog"] div:has(> [data-testid="stErrorCodeBlock"]) > :first-child {font-size: 0;}
[data-testid="stDialog"] div:has(> [data-testid="stErrorCodeBlock"]) > :first-child::after
  {font-size: 1rem; content: "The workbench does not answer. Start it again as you started it: "
  "this page then connects by itself.";}
[data-testid="stDialog"] [data-testid="stErrorCodeBlock"] {display: none;}
[data-testid="stFileUploaderDropzoneInstructions"] * {white-space: normal; overflow: visible;}
@media (max-width: 1000px) {
  [class*="st-key-form-"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    > [data-testid="stColumn"]:first-child {min-width: 15rem;}
  [class*="st-key-stack-"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    {flex-wrap: wrap; row-gap: 1rem;}
  [class*="st-key-stack-"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    > [data-testid="stColumn"] {flex: 1 1 100%; min-width: 100%;}
  .st-key-stack-samples > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    > [data-testid="stColumn"] {flex: 1 1 13rem; min-width: min(100%, 13rem);}
}
"""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the way: its page, its name and icon, and what it cannot do without."""

    page: str
    label: str
    icon: str
    needs: Needs


STEPS: tuple[Step, ...] = (
    Step(page="app.py", label="Start", icon="home", needs="nothing"),
    Step(page="pages/1_Data.py", label="Data", icon="table", needs="dataset"),
    Step(page="pages/2_Roles.py", label="Roles", icon="badge", needs="dataset"),
    Step(page="pages/3_Hierarchies.py", label="Hierarchies", icon="account_tree", needs="roles"),
    Step(page="pages/4_Run.py", label="Run", icon="play_arrow", needs="roles"),
    Step(page="pages/5_Results.py", label="Results", icon="bar_chart", needs="result"),
    Step(page="pages/6_Compare.py", label="Compare", icon="compare", needs="comparison"),
    Step(page="pages/7_Export.py", label="Export", icon="download", needs="result"),
)
#: Pages that belong to no step.
FURTHER: tuple[Step, ...] = (
    Step(page="pages/10_Tables.py", label="Tables", icon="grid_on", needs="dataset"),
    Step(page="pages/11_Other_releases.py", label="Other releases", icon="hub", needs="nothing"),
    Step(page="pages/8_Learn.py", label="Learn", icon="school", needs="nothing"),
    Step(page="pages/9_Experiments.py", label="Experiments", icon="science", needs="nothing"),
)

#: Pages that fill the window: the sidebar is a rail next to them.
_FULL = ("Results",)
#: What is missing → (what to say, page that provides it, label of the link).
_MISSING: dict[str, tuple[str, str, str]] = {
    "dataset": (
        "There is no table yet. Choose a sample or load your own file on Start.",
        "app.py",
        "Choose a table",
    ),
    "roles": (
        "No quasi-identifier yet, so there is nothing to protect. On Roles, mark what each column "
        "reveals to an attacker.",
        "pages/2_Roles.py",
        "Mark the columns",
    ),
    "result": (
        "No result yet. Choose a technique and its privacy models on Run, and start it.",
        "pages/4_Run.py",
        "Go to Run",
    ),
}


def page(title: str, icon: str, *, needs: Needs = "nothing") -> bool:
    """Draw the frame of a page and return whether the page can do its work.

    Parameters
    ----------
    title : str
    icon : str
        An emoji; a material icon would be fetched from elsewhere.
    needs : {'nothing', 'dataset', 'roles', 'result', 'comparison'}
        What the page cannot do without; a comparison is content with pinned runs. Where it is
        missing, the next step is named and linked.
    """
    guard.keep_values_out_of_the_log()
    guard.after_panels(kept_sessions.save)
    clicks.begin_page(title)
    fragments.begin_page()
    this_machine.stay()  # also where Streamlit was started without `serve`
    st.set_page_config(
        page_title=f"{title} · Anonymity Workbench",
        page_icon=icon,
        layout="wide",
        initial_sidebar_state="auto",
    )
    # Streamlit writes white on the primary colour, too pale for that in the dark theme.
    colours = {
        "MUTED": muted(),
        "ON_PRIMARY": paper(),
        "PAPER": paper(),
        "GRID": grid(),
        "INK": ink(),
    }
    look = re.sub("|".join(colours), lambda found: colours[found[0]], _CSS)
    with reruns.on_every_page():
        st.html(f"<style>{look}</style>")
    login.gate()
    session_panel.begin()
    running.settle()  # also where the run ended while another page was open
    if title in ("Run", "Results"):
        running.seen()
    _sidebar(title, needed=missing(needs))
    st.title(title, anchor=False)
    guard.tell("")
    begun = st.session_state.setdefault(_BEGUN, title)
    with reruns.on_every_page(), st.sidebar:
        window.redraws(*VERDICT_STYLE["plain"][:2])
        typed_text.waits()
        link_clicks.hears()
        decimal_comma.reads()
        window.folds_sidebar(title)
        if state.dataset() is not None and not kept_sessions.is_kept():
            window.asks_first()
    session_panel.restored(title)
    absent = missing(needs)
    if not absent:
        return True
    if absent == "dataset" and begun == title:
        st.info(
            "This is a new session. Start lists the sessions that are kept on this machine, and "
            "opens session files and the zip from Export.",
            icon=":material/info:",
        )
    if absent == "result" and session_panel.coming():
        return False
    words, target, label = _MISSING[absent]
    with st.container(border=True):
        st.write(words)
        next_step(target, label)
    return False


def missing(needs: Needs) -> str:
    """Return the first thing that is missing for `needs`, or an empty text."""
    if needs == "nothing" or (needs == "comparison" and pinning.pins()):
        return ""
    if state.dataset() is None:
        return "dataset"
    if needs == "dataset":
        return ""
    if needs in ("result", "comparison"):
        return "" if results.last() is not None else (missing("roles") or "result")
    return "" if state.roles().quasi else "roles"


def next_step(page: str, label: str) -> None:
    """Draw the link to the page that comes next."""
    if (shipped() / page).is_file():
        st.page_link(page, label=label, icon=":material/arrow_forward:")


def undo_button(*, key: str) -> None:
    """Draw the button that takes back the last change of roles, hierarchies or options."""
    st.button(
        "Undo",
        key=key,
        icon=":material/undo:",
        disabled=not state.can_undo(),
        on_click=_undo,
        help="Take back the last change of a type, a role, a hierarchy or an option.",
    )


@handled()
def _undo() -> None:
    state.undo()


def _sidebar(title: str, *, needed: str) -> None:
    with reruns.on_every_page(), st.sidebar, panel():
        with st.container(key="rail"):  # it is on every page, so that no link changes its place
            if title in _FULL:
                icon_sidebar.draw()
        st.markdown("**Anonymity Workbench**")
        _table_facts()
        login.line()
        st.divider()
        steps = _shipped(STEPS)
        _links("steps", steps)
        _ticks(steps)
        locked = [step for step in STEPS if missing(step.needs)]
        if locked and missing(locked[0].needs) != needed:  # else the page itself says it
            st.caption(f"{locked[0].label}: {_lacking(missing(locked[0].needs))}")
        st.divider()
        _links("further-steps", _shipped(FURTHER))
        session_panel.draw()
        # What comes and goes is below all links: none moves under anyone who is about to click it.
        precompile_status.line(state.dataset())
        progress_panel.draw(title)
        if pinning.pins():
            st.divider()
            st.caption("Pinned runs")
            for pin in pinning.pins():
                _, _, sign, _ = RUN_STYLE[pin.letter]
                left, right = st.columns([1, 6], vertical_alignment="center")
                left.html(
                    f'<b style="color:{run_colour(pin.letter)};white-space:nowrap">'
                    f"{sign} {pin.letter}</b>"
                )
                right.caption(plain(pin.title))


def _of_all(data: Dataset) -> str:
    """Say how many rows are published, where a condition chooses them; the page says what fails."""
    try:
        released = state.released_dataset()
    except AnonError:
        return ""
    return "" if released is None or released.rows == data.rows else f"{released.rows:,} of "


def _table_facts() -> None:
    data = state.dataset()
    if data is None:
        st.caption("No table yet")
        return
    st.markdown(plain(state.dataset_title()))
    st.caption(_of_all(data) + size(data.rows, len(data.columns), " × "))
    roles = state.roles()
    counts = {
        "identifier": len(roles.identifier),
        "quasi": len(roles.quasi),
        "sensitive": len(roles.sensitive),
        "insensitive": len(roles.insensitive),
    }
    rest = {"left_out": len(state.left_out()), "undecided": len(state.undecided())}
    alone = {"person": roles.person, "household": roles.household, "weight": roles.weight}
    rest = {**{role: int(name != "") for role, name in alone.items()}, **rest}
    counts |= {role: number for role, number in rest.items() if number}
    cells: list[str] = []
    for role, count in counts.items():
        _, _, sign, word = ROLE_STYLE[role]
        word += "s" if count != 1 and word.endswith("identifier") else ""
        colour = role_colour(role)
        cells.append(
            f'<span style="color:{colour}" aria-hidden="true">{sign}</span><b>{count}</b>'
            f'<span style="color:{colour}">{word}</span>'
        )
    st.html(f'<div class="aw-roles">{"".join(cells)}</div>')


def _links(key: str, steps: Sequence[Step]) -> None:
    """Draw links to pages in one container, since a browser redraws each at every change."""
    with st.container(key=key):
        for step in steps:
            absent = missing(step.needs)
            st.page_link(
                step.page,
                label=step.label,
                icon=f":material/{step.icon}:",
                disabled=bool(absent),
                help=_lacking(absent) if absent else None,
                width="stretch",
            )


def _ticks(steps: Sequence[Step]) -> None:
    """Mark the links of the steps that are done."""
    places = [f":nth-child({at})" for at, step in enumerate(steps, 1) if _done(step)]
    st.html(f"<style>.st-key-steps > :is({', '.join(places)}) a::after {{content: ''}}</style>")


def _shipped(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if (shipped() / step.page).is_file()]


def _lacking(absent: str) -> str:
    """Return what is missing, in words: a result may be on its way."""
    if absent == "result" and session_reruns.under_way():
        return "The results of this session have not been recomputed yet."
    return _MISSING[absent][0]


def _done(step: Step) -> bool:
    data = state.dataset()
    if data is None:
        return False
    quasi = state.roles().quasi
    if step.label in ("Start", "Data"):
        return True
    if step.label == "Roles":
        return bool(quasi) and not state.undecided()
    if step.label == "Hierarchies":
        return bool(quasi) and not lacking(data, quasi, state.levels())
    if step.label in ("Run", "Results"):
        return results.is_current() or results.first() is not None
    return step.label == "Compare" and len(pinning.pins()) > 1
