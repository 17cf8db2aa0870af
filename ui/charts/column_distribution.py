"""How the rows spread over one column: bars, and their numbers one click away."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from anon_core.base.terms import in_figures
from anon_core.data.profile import Distribution, distribution
from anon_core.data.table import Dataset
from ui.charts import chart_frame
from ui.charts.vega import Vega, form, named

_DATA = "bars"
_BAR = 22
_HEIGHT = 320
_MOST_BARS = 15
_MOST_INTERVALS = 24


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
    chart_frame.show(
        chart_frame.Chart(
            title=f"Rows by {'interval' if found.intervals else 'value'}",
            figure=figure_of(found),
            numbers=numbers,
            note=_note(found, len(column.values)),
            formats={"Rows": "localized", "Share": "%.2f%%"},
        ),
        key="distribution",
    )


def figure_of(found: Distribution) -> Vega:
    """Return the bars of a distribution."""
    return _intervals(found) if found.intervals else _values(found)


def _note(found: Distribution, distinct: int) -> str:
    words = [f"{distinct:,} distinct value{'s' if distinct != 1 else ''}"]
    if found.intervals:
        words.append("the upper end of an interval belongs to the next one")
    if found.other_values:
        words.append(f"{len(found.bars):,} shown")
    if found.missing:
        verb = "has" if found.missing == 1 else "have"
        words.append(f"{in_figures(found.missing, 'row')} without a value {verb} no bar")
    return "; ".join(words) + "."


def _values(found: Distribution) -> Vega:
    """Return one bar a value, with its rows at the end."""
    import altair as alt
    import pyarrow as pa

    colours = chart_frame.palette()
    texts = chart_frame.labels([bar.label for bar in found.bars], 28)
    rows = [bar.rows for bar in found.bars]
    most = max(rows)
    y = alt.Y(
        "label:N",
        sort=None,
        title=None,
        scale=alt.Scale(paddingInner=0.25),
        axis=alt.Axis(labelLimit=220, labelOverlap=False, labelColor=colours.ink, labelPadding=6),
    )
    x = alt.X(
        "rows:Q",
        title="rows",
        scale=alt.Scale(domain=[0, most * 1.12], nice=False),
        axis=alt.Axis(format=",d", grid=True, tickMinStep=1),
    )
    base = named(_DATA)
    bars = base.mark_bar(color=colours.original).encode(x=x, y=y, **_spoken())
    written = base.mark_text(align="left", dx=4).encode(
        x=x, y=y, text=alt.Text("rows:Q", format=",")
    )
    frame = pa.table({"label": texts, "value": [b.label for b in found.bars], "rows": rows})
    height = max(4, len(rows)) * _BAR + 40
    spec = form(alt.layer(bars, written).properties(height=height - 40), colours)
    return Vega(spec=spec, data={_DATA: frame}, height=height)


def _intervals(found: Distribution) -> Vega:
    """Return one bar an interval, each of equally many possible values."""
    import altair as alt
    import pyarrow as pa

    colours = chart_frame.palette()
    rows = [bar.rows for bar in found.bars]
    starts = [bar.label.split(" – ")[0] for bar in found.bars]
    every = max(1, len(rows) // 8)
    places = list(range(0, len(rows), every))
    x = alt.X(
        "place:Q",
        title=None,
        scale=alt.Scale(domain=[0, len(rows)], nice=False),
        axis=alt.Axis(
            values=places,
            grid=False,
            ticks=True,
            labelExpr=f"{json.dumps(starts)}[datum.value]",
        ),
    )
    y = alt.Y("rows:Q", title="rows", axis=alt.Axis(format=",d", tickMinStep=1))
    bars = (
        named(_DATA)
        .mark_bar(color=colours.original)
        .encode(x=x, x2="end:Q", y=y, y2=alt.datum(0), **_spoken())
    )
    frame = pa.table(
        {
            "place": [place + 0.03 for place in range(len(rows))],
            "end": [place + 0.97 for place in range(len(rows))],
            "value": [bar.label for bar in found.bars],
            "rows": rows,
        }
    )
    spec = form(alt.layer(bars).properties(height=_HEIGHT - 40), colours, right=12)
    return Vega(spec=spec, data={_DATA: frame}, height=_HEIGHT)


def _spoken() -> dict[str, Any]:
    """Return what a bar says when it is pointed at, and to readers that cannot see it."""
    import altair as alt

    said = [alt.Tooltip("value:N", title="value"), alt.Tooltip("rows:Q", format=",")]
    return {"tooltip": said, "description": "value:N"}
