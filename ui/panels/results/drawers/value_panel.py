"""A release value by value: a column before and after, who pays, and what goes with what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.pipeline.measure.column_statistics import (
    STATISTICS,
    column_statistics,
    two_way,
)
from anon_core.pipeline.measure.value_breakdown import distribution, listed_columns, who_pays
from ui.charts.chart_frame import Palette, Series, show, table
from ui.charts.details_plot import details_chart
from ui.charts.two_way_plot import two_way_chart
from ui.state import state
from ui.state.kept_fields import remembered


def draw(run: Series, colours: Palette) -> None:
    """Draw the panel of one run; nothing where losses were not measured."""
    result = run.facts.result
    names = listed_columns(result.problem)
    column = st.selectbox("Column", names, **remembered("by-value"))
    halves = st.columns(2, gap="medium")
    spread = state.once(f"spread/{column}", result, partial(distribution, result, column))
    with halves[0]:
        show(details_chart([run], colours, spread), key=f"spread-{column}")
    pays = state.once(f"pays/{column}", result, partial(who_pays, result, column))
    if pays is not None:
        with halves[1]:
            show(details_chart([run], colours, pays), key=f"pays-{column}")
    _statistics([run], column)
    _pair(run, colours, column, [name for name in names if name != column])


def compare(runs: Sequence[Series], colours: Palette) -> None:
    """Draw statistics and two columns against each other, before and after in several runs."""
    own = [listed_columns(run.facts.result.problem) for run in runs]
    names = [name for name in own[0] if all(name in others for others in own)]
    if not names:
        st.caption("No column is published by all of these runs.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        column = st.selectbox("Column", names, **remembered("by-value-compared"), width=260)
        others = [name for name in names if name != column]
        other = None
        if others:
            other = st.selectbox(
                "Against", others, **remembered(f"compared-against-{column}"), width=260
            )
    _statistics(runs, column)
    if other is None:
        return
    with st.container(key="stack-two-way"):
        for run, place in zip(runs, st.columns(len(runs)), strict=True):
            with place:
                st.markdown(f"**{run.heading}**")
                _map(run, colours, column, other)


def _statistics(runs: Sequence[Series], column: str) -> None:
    import pandas as pd

    found = [
        state.once(
            f"statistics/{column}/{run.letter}",
            run.facts.result,
            partial(column_statistics, run.facts.result, column),
        )
        for run in runs
    ]
    after = [run.heading or "after" for run in runs]
    rows = [
        {"statistic": name, "before": _text(tell(found[0].before))}
        | {head: _text(tell(one.after)) for head, one in zip(after, found, strict=True)}
        for name, tell in STATISTICS.items()
        if tell(found[0].before) is not None
    ]
    gone = {head: f"{one.removed:,}" for head, one in zip(after, found, strict=True)}
    rows.append({"statistic": ROWS_SUPPRESSED, "before": "0", **gone})
    st.markdown("**Statistics**")
    table(pd.DataFrame(rows), key=f"statistics-{column}", right=("before", *after))
    if found[0].before.mean is not None:
        st.caption(
            "Ranges leave a statistic open: it lies between the two numbers."
            if all(one.after.mean is not None for one in found)
            else "Cells may hide missing values, so the release has no bounds for the mean."
        )


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _pair(run: Series, colours: Palette, column: str, others: list[str]) -> None:
    if not others:
        return
    other = st.selectbox("Against", others, **remembered(f"by-value-against-{column}"))
    _map(run, colours, column, other)


def _map(run: Series, colours: Palette, column: str, other: str) -> None:
    result = run.facts.result
    found = state.once(
        f"two-way/{column}/{other}/{run.letter}", result, partial(two_way, result, column, other)
    )
    if found is None:
        st.caption("The two columns have too many labels for a table.")
        return
    show(two_way_chart(found, colours), key=f"two-way-{column}-{other}-{run.letter}")
