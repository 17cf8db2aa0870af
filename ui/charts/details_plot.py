"""What lies behind a figure of an attack: a curve or bars, as the attack says."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.release.attack_result import Details
from ui.charts.chart_frame import Chart, Palette, Series, columns, finish

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")


def details_chart(runs: Sequence[Series], colours: Palette, details: Details) -> Chart:
    """Return the details of one run's attack as a chart; what is only a table has no marks.

    Parameters
    ----------
    runs : sequence of Series
        One.
    colours : Palette
    details : Details
    """
    import pandas as pd
    import plotly.graph_objects as go

    run = runs[0]
    numbers = pd.DataFrame([dict(row) for row in details.rows])
    figure = columns(1)
    tones = (run.colour, colours.original, colours.sensitive, colours.quasi, colours.muted)
    for place, name in enumerate(details.y):
        tone, symbol = tones[place % len(tones)], _SYMBOLS[place % len(_SYMBOLS)]
        shape = "%{y:.2%}" if details.shares else "%{y:,}"
        hover = f"{details.x} %{{x}}: {shape}<extra>{name}</extra>"
        if details.drawn == "bars":
            trace = go.Bar(
                x=numbers[details.x],
                y=numbers[name],
                name=name,
                marker={"color": tone, "pattern": {"shape": "" if not place else "/"}},
                hovertemplate=hover,
            )
        else:
            trace = go.Scatter(
                x=numbers[details.x],
                y=numbers[name],
                name=name,
                mode="lines+markers",
                line={"color": tone, "width": 2, "dash": "solid" if not place else "dot"},
                marker={"symbol": symbol, "size": 9},
                hovertemplate=hover,
            )
        figure.add_trace(trace)
    if details.shares and details.drawn == "bars":  # small shares of many values are to be seen
        figure.update_yaxes(rangemode="tozero", tickformat=".0%")
    elif details.shares:
        figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%")
    figure.update_xaxes(title_text=details.x)
    if pd.api.types.is_integer_dtype(numbers[details.x]) and numbers[details.x].nunique() <= 12:
        figure.update_xaxes(tickvals=numbers[details.x].unique())  # there is no half a column
    figure.update_layout(barmode="group")
    finish(figure, colours, height=260, runs=runs, legend=len(details.y) > 1)
    formats = dict.fromkeys(details.y, "percent") if details.shares else {}
    return Chart(
        title=details.title, figure=figure, numbers=numbers, note=details.note, formats=formats
    )
