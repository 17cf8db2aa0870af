"""A release value by value of one column: how it is spread before and after, and who pays."""

from __future__ import annotations

from functools import partial

import streamlit as st

from anon_core.pipeline.measure.value_breakdown import columns_told, distribution, who_pays
from ui.charts.chart_frame import Palette, Series, show
from ui.charts.details_plot import details_chart
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
