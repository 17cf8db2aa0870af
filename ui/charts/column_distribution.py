"""How the rows spread over one column: bars, and their numbers one click away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from anon_core.data.table import Dataset
from anon_core.job.profile import Distribution, distribution

from ..words.explain import plain
from . import chart_frame as charts

if TYPE_CHECKING:
    import plotly.graph_objects as go

_BAR = 22
_HEIGHT = 320
_MOST_BARS = 15
_MOST_INTERVALS = 24
_FEW_ROWS = 5  # up to here a plotted axis has steps of less than one row


def draw(data: Dataset, name: str) -> None:
    """Draw the distribution of a column."""
    import pandas as pd

    column = data.column(name)
    found = distribution(column, most=_MOST_BARS if column.measure is None else _MOST_INTERVALS)
    if not found.bars:
        st.caption("Every value is missing.")
        return
    numbers = pd.DataFrame(
        {
            "Value": [bar.label for bar in found.bars],
            "Rows": [bar.rows for bar in found.bars],
            "Share": [bar.rows / data.rows * 100 for bar in found.bars],
        }
    )
    charts.show(
        charts.Chart(
            title=f"Rows by {'interval' if found.intervals else 'value'}",
            figure=_intervals(found) if found.intervals else _values(found),
            numbers=numbers,
            note=plain(_note(found, len(column.values))),
            formats={"Rows": "localized", "Share": "%.2f%%"},
        ),
        key="distribution",
    )


def _note(found: Distribution, distinct: int) -> str:
    words = [f"{distinct:,} distinct value{'s' if distinct != 1 else ''}"]
    if found.intervals:
        words.append("the upper end of an interval belongs to the next one")
    if found.other_values:
        words.append(
            f"the {len(found.bars)} most frequent are shown, the other {found.other_values:,} "
            f"stand in {found.other_rows:,} rows"
        )
    if found.missing:
        words.append(f"{found.missing:,} rows without a value have no bar")
    return "; ".join(words) + "."


def _values(found: Distribution) -> go.Figure:
    import plotly.graph_objects as go

    colours = charts.palette()
    figure = go.Figure(
        go.Bar(
            x=[bar.rows for bar in found.bars],
            y=list(range(len(found.bars))),
            orientation="h",
            marker_color=colours.original,
            text=[f"{bar.rows:,}" for bar in found.bars],
            textposition="outside",
            cliponaxis=False,
            textfont={"color": colours.ink, "size": 12},
            customdata=[charts.label(bar.label, 60) for bar in found.bars],
            hovertemplate="%{customdata}<br>%{x:,} rows<extra></extra>",
        )
    )
    charts.finish(figure, colours, height=max(4, len(found.bars)) * _BAR + 40)
    figure.update_yaxes(
        tickvals=list(range(len(found.bars))),
        ticktext=[charts.label(bar.label, 28) for bar in found.bars],
        autorange="reversed",
        showgrid=False,
        zeroline=False,
    )
    most = max(bar.rows for bar in found.bars)
    figure.update_xaxes(
        title_text="rows", range=[0, most * 1.12], tickformat=",d", dtick=row_step(most)
    )
    return figure


def _intervals(found: Distribution) -> go.Figure:
    import plotly.graph_objects as go

    colours = charts.palette()
    figure = go.Figure(
        go.Bar(
            x=list(range(len(found.bars))),
            y=[bar.rows for bar in found.bars],
            marker_color=colours.original,
            customdata=[bar.label for bar in found.bars],
            hovertemplate="%{customdata}<br>%{y:,} rows<extra></extra>",
        )
    )
    charts.finish(figure, colours, height=_HEIGHT)
    every = max(1, len(found.bars) // 8)
    places = list(range(0, len(found.bars), every))
    figure.update_layout(bargap=0.06)
    figure.update_xaxes(
        tickvals=[place - 0.5 for place in places],
        ticktext=[found.bars[place].label.split(" – ")[0] for place in places],
        ticks="outside",
        showgrid=False,
        zeroline=False,
    )
    most = max(bar.rows for bar in found.bars)
    figure.update_yaxes(
        title_text="rows", tickformat=",d", rangemode="tozero", dtick=row_step(most)
    )
    return figure


def row_step(most: int) -> int | None:
    """Return the step of an axis of rows: one where fractions would be written otherwise."""
    return 1 if most <= _FEW_ROWS else None
