"""A release value by value: a column before and after, who pays, and what goes with what."""

from __future__ import annotations

from functools import partial

import streamlit as st

from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.pipeline.measure.before_and_after import (
    STATISTICS,
    column_statistics,
    two_way,
)
from anon_core.pipeline.measure.value_breakdown import columns_told, distribution, who_pays
from ui.charts.chart_frame import Palette, Series, show, table
from ui.charts.details_plot import details_chart
from ui.charts.two_way_plot import two_way_chart
from ui.state import state


def draw(run: Series, colours: Palette) -> None:
    """Draw the panel of one run; nothing where losses were not measured."""
    result = run.facts.result
    names = columns_told(result.problem)
    st.subheader("Value by value", anchor=False)
    column = st.selectbox("Column", names, key="by-value")
    halves = st.columns(2, gap="medium")
    spread = state.once(f"spread/{column}", result, partial(distribution, result, column))
    with halves[0]:
        show(details_chart([run], colours, spread), key=f"spread-{column}")
    pays = state.once(f"pays/{column}", result, partial(who_pays, result, column))
    if pays is not None:
        with halves[1]:
            show(details_chart([run], colours, pays), key=f"pays-{column}")
    _statistics(run, column)
    _pair(run, colours, column, [name for name in names if name != column])


def _statistics(run: Series, column: str) -> None:
    import pandas as pd

    result = run.facts.result
    found = state.once(f"statistics/{column}", result, partial(column_statistics, result, column))
    rows = [
        {"statistic": name, "before": _text(tell(found.before)), "after": _text(tell(found.after))}
        for name, tell in STATISTICS.items()
        if tell(found.before) is not None
    ]
    rows.append({"statistic": ROWS_SUPPRESSED, "before": "0", "after": f"{found.removed:,}"})
    st.markdown("**Statistics**")
    table(pd.DataFrame(rows), key=f"statistics-{column}", right=("before", "after"))
    if found.before.mean is not None:
        st.caption(
            "Ranges leave a statistic open: it lies between the two numbers."
            if found.after.mean is not None
            else "Cells may hide missing values, so the release has no bounds for the mean."
        )


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _pair(run: Series, colours: Palette, column: str, others: list[str]) -> None:
    if not others:
        return
    result = run.facts.result
    other = st.selectbox("Against", others, key=f"by-value-against-{column}")
    found = state.once(f"two-way/{column}/{other}", result, partial(two_way, result, column, other))
    if found is None:
        st.caption("The two columns have too many labels for a table.")
        return
    show(two_way_chart(found, colours), key=f"two-way-{column}-{other}")
