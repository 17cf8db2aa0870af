"""One in k over k, with the threshold, and what was asked for and reached."""

from __future__ import annotations

import pandas as pd

from anon_core.explain.answers.choice_of_k import Sizes
from ui.charts.chart_frame import Chart, Palette, columns, finish


def k_chart(sizes: Sizes, colours: Palette) -> Chart:
    """Return the chance 1 in k with its threshold, and three sizes marked on it."""
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
