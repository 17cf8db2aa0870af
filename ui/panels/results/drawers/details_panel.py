"""What lies behind a figure: its curves, bars and tables, below each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from anon_core.release.attack_result import Details
from ui.charts.chart_frame import Palette, Series, show, table
from ui.charts.details_plot import details_chart
from ui.state.work.fragments import once_opened
from ui.words.escaping import plain

if TYPE_CHECKING:
    import pandas as pd


def draw(run: Series, colours: Palette, details: Sequence[Details], key: str) -> None:
    """Draw what lies behind a figure of a run, closed at first; nothing where nothing does.

    Parameters
    ----------
    run : Series
    colours : Palette
    details : sequence of Details
    key : str
        Of the widgets; each figure has its own.
    """
    if details:
        once_opened(
            "Details",
            lambda: _figures(run, colours, details, key),
            name="Details",
            key=f"details-{key}",
        )


def _figures(run: Series, colours: Palette, blocks: Sequence[Details], key: str) -> None:
    import pandas as pd

    for place, details in enumerate(blocks):
        name = f"details-{key}-{place}"
        if details.drawn == "table":
            st.markdown(f"**{plain(details.title)}**")
            frame = pd.DataFrame([dict(row) for row in details.rows])
            table(frame, key=name, formats=dict.fromkeys(_counts(frame), "localized"))
            if details.note:
                st.caption(plain(details.note))
        else:
            show(details_chart([run], colours, details), key=name)


def _counts(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame.select_dtypes("integer").columns]
