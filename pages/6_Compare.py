"""Compare: pinned runs over shared axes, what differs, then the risk–utility frontier."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from anon_core.base.terms import PEOPLE_AT_RISK
from anon_core.explain.text.phrases import links
from anon_core.explain.text.plan_words import short_name
from ui.charts import run_series
from ui.charts.attack_plots import attack_bullets, risk_bullets
from ui.charts.chart_frame import Palette, Series, kept, palette, show, table
from ui.charts.metric_plots import column_heat, metric_bullets, what_is_lost
from ui.charts.tracks import nouns, tracks
from ui.components.clicks import clicked
from ui.components.guard import handled, panel
from ui.panels import session_panel
from ui.panels.compare import frontier_panel
from ui.panels.compare.compare_tables import all_figures, columns_said
from ui.panels.page_frame import next_step, page
from ui.panels.results import baseline_panel
from ui.panels.results.attack_panel import not_tested
from ui.panels.results.drawers import value_panel
from ui.panels.results.group_panel import title_of
from ui.state import pinning, results, state
from ui.state.kept_fields import remembered
from ui.state.sessions import reopening
from ui.state.work import running
from ui.state.work.fragments import once_opened
from ui.words.escaping import plain

MOST = 4
_RUNS, _OFFERED = "compare-runs", "compare/offered"


def columns_of(runs: list[Series], what: str) -> list[DeltaGenerator]:
    """Return a column for every run; on a narrow page they are below each other."""
    with st.container(key=f"stack-{what}"):
        return list(st.columns(len(runs)))


def heads(pins: list[pinning.Pin], runs: list[Series]) -> None:
    """Draw each run by its short name, which opens what it was and what can be done with it."""
    for pin, run in zip(pins, runs, strict=True):
        with (
            st.container(key=f"pin-{pin.letter}", width="content"),
            st.popover(plain(f"{run.heading} {short_name(pin.result.plan)}")),
        ):
            st.markdown(f"### {run.heading}")
            st.markdown(plain(pin.title))
            with st.container(horizontal=True):
                opens(pin)
                st.button(
                    "Unpin",
                    key=f"unpin-{pin.letter}",
                    type="tertiary",
                    on_click=handled("Runs")(pinning.unpin),
                    args=(pin.letter,),
                )


def opens(pin: pinning.Pin) -> None:
    """Draw the buttons that make a pinned run the result, and go on with it."""
    busy = running.is_running()
    ways = (("Open", "open", "pages/5_Results.py"), ("Export", "export", "pages/7_Export.py"))
    for label, key, target in ways:
        if clicked(
            label,
            key=f"{key}-{pin.letter}",
            disabled=busy,
            help="Restores this run and its settings.",
        ):
            reopening.open_pin(pin)
            st.switch_page(target)


def tables(runs: list[Series]) -> None:
    """Draw what every release says, column by column, and its first rows."""
    for column, run in zip(columns_of(runs, "tables"), runs, strict=True):
        with column:
            st.markdown(f"**{run.heading}** – what each column says")
            table(
                columns_said(run),
                key=f"said-{run.letter}",
                formats={"coarser cells": "percent"},
            )
            once_opened(
                "First rows",
                partial(first_rows, run),
                name="Table",
                key=f"first-rows-{run.letter}",
            )


def first_rows(run: Series) -> None:
    """Draw the first rows of a release."""
    for name, frame in run.facts.tables.items():
        if len(run.facts.tables) > 1:
            st.markdown(f"**{title_of(name)}**")
        table(frame.head(50), key=f"rows-{run.letter}-{name}")
    if run.facts.permuted:
        st.caption(plain(links(run.facts.result)))


def panels(runs: list[Series], colours: Palette) -> None:
    """Draw classes, metrics and attacks of all runs, each over one axis."""
    with st.container(key="stack-panels"):
        left, right = st.columns(2, gap="medium")
    for place, name, draw in (
        (left, nouns(runs)[1].capitalize(), groups),
        (right, "Metrics", metrics),
        (left, "Attacks", attacks),
        (right, PEOPLE_AT_RISK, people),
    ):
        with place, panel(name):
            draw(runs, colours)


def groups(runs: list[Series], colours: Palette) -> None:
    """Draw the classes of all runs over one axis."""
    show(kept(tracks, runs, colours), key="tracks", noted=False)


def metrics(runs: list[Series], colours: Palette) -> None:
    """Draw the metrics on one scale."""
    show(kept(metric_bullets, runs, colours), key="metrics", noted=False)
    lost = what_is_lost(runs)
    if lost:
        st.caption(lost)
    if not all(r.facts.permuted for r in runs):
        once_opened(
            "Column by column", partial(heat, runs, colours), name="Metrics", key="heat-fold"
        )


def heat(runs: list[Series], colours: Palette) -> None:
    """Draw what each column lost."""
    chart = kept(column_heat, runs, colours)
    if chart is None:
        st.caption("No metric here is measured by column.")
    else:
        show(chart, key="heat")


def attacks(runs: list[Series], colours: Palette) -> None:
    """Draw the attacks, and say what was not run."""
    show(kept(attack_bullets, runs, colours), key="attacks", noted=False)
    not_tested(runs)
    for run in runs:
        for sentence in run.facts.undefined:
            st.caption(plain(f"{run.heading}: not run – {sentence}"))


def people(runs: list[Series], colours: Palette) -> None:
    """Draw how many people each attack puts at risk."""
    show(kept(risk_bullets, runs, colours), key="risk", noted=False)


def figures(runs: list[Series]) -> None:
    """Draw every figure of the runs, by what it is of."""
    for what, values in all_figures(runs).items():
        st.markdown(f"**{what}**")
        table(values, key=f"figures-{what}", wide="figure")


def _add_new(offered: list[str]) -> None:
    """Choose runs that were pinned since, next to those that are chosen."""
    chosen: list[str] | None = st.session_state.get(_RUNS)
    new = [letter for letter in offered if letter not in st.session_state.get(_OFFERED, offered)]
    st.session_state[_OFFERED] = offered
    if chosen is not None and new:
        st.session_state[_RUNS] = [n for n in offered if n in chosen or n in new][:MOST]


def _shown_of(offered: list[str]) -> str:
    """Return the label of the choice of runs: how many are shown, where not all are."""
    chosen: list[str] = st.session_state.get(_RUNS) or offered[:MOST]
    shown = sum(letter in chosen for letter in offered)
    if shown == len(offered):
        return "Runs"
    return f"Runs: {shown} of {len(offered)} shown, click to add"


def compare(pins: list[pinning.Pin], colours: Palette) -> list[Series]:
    """Draw the comparison of the pinned runs that are chosen; return those runs."""
    chosen = pins
    with st.container(key="compare-head", horizontal=True, vertical_alignment="bottom"):
        if len(pins) > 1:
            offered = [p.letter for p in pins]
            _add_new(offered)
            letters = st.pills(
                _shown_of(offered),
                offered,
                selection_mode="multi",
                default=offered[:MOST],
                **remembered(_RUNS),
                width="content",
            )
            chosen = [p for p in pins if p.letter in letters] or pins[:1]
        runs = baseline_panel.choose(run_series.of_pins(chosen))
        by_letter = {pin.letter: pin for pin in chosen}
        chosen = [by_letter[run.letter] for run in runs]
        with panel("Runs"):
            heads(chosen, runs)
    if len(pins) == 1:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info("One run is pinned. Pin a second one on Results to compare them.")
            next_step("pages/5_Results.py", "Go to Results")
    with panel("How they stand"):
        baseline_panel.standing(runs)
    panels(runs, colours)
    if len(runs) > 1:
        st.subheader("Differences to the baseline", anchor=False)
        with panel("Differences to the baseline"):
            baseline_panel.draw(runs)
    once_opened(
        "Table: what each column says, and the first rows",
        partial(tables, runs),
        name="Table",
        key="tables-fold",
    )
    once_opened(
        "Value by value: statistics and two columns, before and after",
        partial(value_panel.compare, runs, colours),
        name="Value by value",
        key="values-fold",
    )
    once_opened(
        "All figures: what every run comes to, and how it differs from the first",
        partial(figures, runs),
        name="All figures",
        key="figures-fold",
    )
    return runs


running.settle()
if page("Compare", "⚖️"):
    tones = palette()
    pinned = pinning.pins()
    drawn: list[Series] = []
    if pinned:
        drawn = compare(pinned, tones)
    elif not session_panel.coming():
        with st.container(border=True):
            st.markdown("**No run is pinned yet.**")
            st.markdown(
                "Pin runs to compare them; each gets a letter (A, B, C, …). Press **P** or “Pin "
                "this run” on Results, change a setting, run again, and pin that one too."
            )
            next_step(
                "pages/5_Results.py" if results.last() is not None else "pages/4_Run.py",
                "Go to Results" if results.last() is not None else "Go to Run",
            )
    st.subheader("Risk–utility frontier", anchor=False)
    with st.container(key="frontier"):
        if state.dataset() is None or not state.roles().quasi:
            st.caption("It needs a table whose quasi-identifiers are marked.")
        else:
            frontier_panel.draw(drawn, tones)
    next_step("pages/7_Export.py", "Export")
