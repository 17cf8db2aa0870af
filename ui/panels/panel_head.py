"""The one line above a panel's chart: its title, what the signs mean, its numbers, its drawer."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ..charts.chart_frame import Chart, Sign, legend, numbers
from ..components.guard import handled
from ..session.alone import redraw
from . import workspace


def details_of(title: str) -> str:
    """Return the name of the drawer of a panel, by the panel's title."""
    return f"{title} in detail"


def draw(title: str, *, of: str, chart: Chart, key: str, signs: Sequence[Sign]) -> None:
    """Draw the line.

    Parameters
    ----------
    title : str
        As it is shown.
    of : str
        The panel's own title, by which its drawer is named.
    chart : Chart
        Its numbers are one click away.
    key : str
    signs : sequence of (str, str, str)
        What is drawn, for the legend.
    """
    with st.container(key=f"head-{key}", horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(title, anchor=False, width="content")
        legend(signs)
        numbers(chart, key=key)
        st.button(
            "Details",
            key=f"details-{key}",
            type="tertiary",
            width="content",
            on_click=handled(title)(_open),
            args=(details_of(of),),
        )


def _open(drawer: str) -> None:
    workspace.open_drawer(drawer)
    redraw("further-panel")
