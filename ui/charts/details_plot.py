"""What lies behind a figure: an attack's curve or bars, and one in k over k."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.explain.answers.choice_of_k import Sizes
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


def k_chart(sizes: Sizes, colours: Palette) -> Chart:
    """Return the chance 1 in k with its threshold, and three sizes marked on it."""
    import pandas as pd
    import plotly.graph_objects as go

    most = max(sizes.needed, sizes.asked, sizes.reached, 10)
    line = sorted({*range(2, min(most, 30) + 1), *(most * i // 40 for i in range(2, 61)), most})
    line = [k for k in line if k >= 1]
    figure = columns(1)
    figure.add_trace(
        go.Scatter(
            x=line,
            y=[1 / k for k in line],
            mode="lines",
            name="1 in k",
            line={"color": colours.quasi, "width": 2},
            hovertemplate="k = %{x}: %{y:.2%}<extra></extra>",
        )
    )
    marks = (
        ("asked for", sizes.asked, "square", colours.ink),
        ("needed for the threshold", sizes.needed, "diamond", colours.warning),
        ("reached", sizes.reached, "circle", colours.sensitive),
    )
    for name, k, symbol, colour in marks:
        if k:
            figure.add_trace(
                go.Scatter(
                    x=[k],
                    y=[1 / k],
                    mode="markers",
                    name=f"{name}: {k:,}",
                    marker={"color": colour, "symbol": symbol, "size": 12},
                    hovertemplate=f"{name}: k = {k:,}, 1 in {k:,}<extra></extra>",
                )
            )
    figure.add_hline(
        y=sizes.threshold, line={"color": colours.warning, "width": 1.5, "dash": "dash"}
    )
    figure.update_xaxes(title_text="k (rows)", rangemode="tozero")
    figure.update_yaxes(title_text="chance, 1 in k", tickformat=".0%", rangemode="tozero")
    finish(figure, colours, height=260, legend=True)
    return Chart(
        title="Chance of picking a person of a class of k rows",
        figure=figure,
        numbers=pd.DataFrame({"k": line, "1 in k": [1 / k for k in line]}),
        note=f"Dashed line: your threshold ({sizes.threshold:g}). Values below it meet it.",
        formats={"1 in k": "percent"},
    )
