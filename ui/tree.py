"""A hierarchy as a picture: levels from left to right, every group as tall as its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from anon_core.hierarchy import Hierarchy

from . import charts

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: More values than this are shown as a table only.
MOST_LEAVES = 200
_ROW = 22
#: Letters that fit beside each other over all levels.
_LETTERS = 95
_WINDOW = 520
_HEAD = 40


def draw(hierarchy: Hierarchy, rows: Sequence[int]) -> None:
    """Draw a hierarchy of at most `MOST_LEAVES` values.

    Parameters
    ----------
    hierarchy : Hierarchy
    rows : sequence of int
        Rows of the table at each leaf.
    """
    figure = _figure(hierarchy, rows)
    tall = len(hierarchy.leaves) * _ROW + _HEAD
    with st.container(height=min(tall + 24, _WINDOW), border=False):
        st.plotly_chart(
            figure,
            key="hierarchy-tree",
            theme=None,
            config={"displayModeBar": False},
            alt="Groups of every level; the same is under Table.",
        )


def _figure(hierarchy: Hierarchy, rows: Sequence[int]) -> go.Figure:
    import plotly.graph_objects as go

    colours = charts.palette()
    figure = go.Figure()
    room = max(10, _LETTERS // (hierarchy.height + 1))
    upto = [0]
    for count in rows:
        upto.append(upto[-1] + count)
    for level in range(hierarchy.height + 1):
        lo, hi = (bound.tolist() for bound in hierarchy.bounds(level))
        held = [upto[b + 1] - upto[a] for a, b in zip(lo, hi, strict=True)]
        figure.add_bar(
            orientation="h",
            y=[(a + b) / 2 for a, b in zip(lo, hi, strict=True)],
            width=[b - a + 1 for a, b in zip(lo, hi, strict=True)],
            x=[1.0] * len(lo),
            base=[float(level)] * len(lo),
            marker={
                "color": colours.scale[0],
                "line": {"color": colours.paper, "width": 2},
            },
            customdata=[
                [charts.label(text or "(missing)", 80), b - a + 1, count]
                for text, a, b, count in zip(hierarchy.labels[level], lo, hi, held, strict=True)
            ],
            hovertemplate=(
                "%{customdata[0]}<br>%{customdata[1]:,} values, %{customdata[2]:,} rows"
                "<extra></extra>"
            ),
        )
        figure.add_scatter(
            mode="text",
            x=[level + 0.03] * len(lo),
            y=lo,  # beside its first value, so that a tall group is named where it begins
            text=[charts.label(text or "(missing)", room) for text in hierarchy.labels[level]],
            textposition="middle right",
            textfont={"color": colours.ink, "size": 12},
            hoverinfo="skip",
        )
    charts.finish(figure, colours, height=len(hierarchy.leaves) * _ROW + _HEAD)
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_yaxes(visible=False, range=[len(hierarchy.leaves) - 0.5, -0.5])
    figure.update_xaxes(
        side="top",
        showgrid=False,
        zeroline=False,
        range=[0, hierarchy.height + 1],
        tickvals=[level + 0.5 for level in range(hierarchy.height + 1)],
        ticktext=[f"level {level}" for level in range(hierarchy.height + 1)],
    )
    return figure
