"""What a source printed and what was measured, on shared axes."""

from __future__ import annotations

from typing import Any

from anon_core.teaching.experiments import Figure, Printed, Report
from anon_core.teaching.experiments.chart import shown
from anon_core.teaching.experiments.result_files import rows_of
from ui.charts import theme
from ui.charts.chart_frame import Chart, Palette, finish, label


def experiment_chart(report: Report, figure: Figure, colours: Palette) -> Chart:
    """Draw one figure of an experiment: the source's numbers as bands, ours as lines."""
    import pandas as pd
    import plotly.graph_objects as go

    plot = go.Figure()
    points = [p for p in report.points if p.figure == figure.name]
    scale = 100.0 if figure.unit == "share" else 1.0
    names = list(dict.fromkeys(p.series for p in points))
    styles = list(theme.RUN_STYLE)
    for place, name in enumerate(names):
        own = sorted((p for p in points if p.series == name), key=lambda p: p.x)
        letter = styles[place % len(styles)]
        colour, symbol = theme.run_colour(letter), theme.RUN_STYLE[letter][3]
        beyond = own[0].beyond
        plot.add_trace(
            go.Scatter(
                x=[p.x for p in own],
                y=[p.y * scale for p in own],
                name=label(f"{name}{' (not in the source)' if beyond else ''}"),
                mode="markers" if figure.places else "lines+markers",
                line={"color": colour, "width": 2, "dash": "dash" if beyond else "solid"},
                marker={"color": colour, "symbol": symbol, "size": 9},
                customdata=[[label(p.note), shown(p.y, figure.unit)] for p in own],
                hovertemplate="%{x}: %{customdata[1]} %{customdata[0]}<extra>%{fullData.name}"
                "</extra>",
            )
        )
    ends = [p.x for p in points] or [0.0, 1.0]
    for one in report.experiment.printed:
        if one.figure == figure.name:
            place = names.index(one.series) if one.series in names else -1
            colour = theme.run_colour(styles[place % len(styles)]) if place >= 0 else colours.muted
            _source(plot, one, (min(ends), max(ends)), figure, colour)
    title = figure.y + (" (%)" if figure.unit == "share" else "")
    plot.update_xaxes(title_text=label(figure.x))
    plot.update_yaxes(title_text=label(title))
    if figure.log:
        plot.update_yaxes(type="log")
    else:
        plot.update_yaxes(rangemode="tozero")
    if figure.places:
        places = list(range(len(figure.places)))
        plot.update_xaxes(tickvals=places, ticktext=[label(p, 18) for p in figure.places])
    else:
        plot.update_xaxes(tickvals=sorted({p.x for p in points}))
    rows = pd.DataFrame(rows_of(report, figure))
    rows = rows.rename(columns={"x": figure.x, "low": figure.y, "high": "up to"})
    rows[figure.x] = rows[figure.x].astype(str)
    return Chart(
        title=figure.title,
        figure=finish(plot, colours, height=320, legend=True),
        numbers=rows,
        note="Dotted lines and bands are what the source printed, in the colour of their "
        "series. Solid lines were measured here; dashed ones are additions that the "
        "source does not have.",
    )


def _source(
    plot: Any, one: Printed, ends: tuple[float, float], figure: Figure, colour: str
) -> None:
    import plotly.graph_objects as go

    scale = 100.0 if figure.unit == "share" else 1.0
    low, high = one.low * scale, one.high * scale
    name = label(f"source: {one.series}, {one.words}")
    if one.at is not None:
        plot.add_trace(
            go.Scatter(
                x=[one.at],
                y=[high],
                name="source" if figure.places else name,
                showlegend=not figure.places or one.at == 0,
                mode="markers",
                marker={"color": colour, "symbol": "x-thin-open", "size": 14},
                error_y={"type": "data", "array": [0.0], "arrayminus": [high - low]},
                hovertemplate="%{y}<extra>%{fullData.name}</extra>",
            )
        )
        return
    if low < high:
        plot.add_shape(
            type="rect",
            x0=0,
            x1=1,
            xref="x domain",
            y0=low,
            y1=high,
            fillcolor=colour,
            opacity=0.12,
            line_width=0,
            layer="below",
        )
    plot.add_trace(
        go.Scatter(
            x=[*ends, None, *ends] if 0 < low < high else list(ends),
            y=[high, high, None, low, low] if 0 < low < high else [high, high],
            name=name,
            mode="lines",
            line={"color": colour, "width": 2, "dash": "dot"},
            hovertemplate="%{y}<extra>%{fullData.name}</extra>",
        )
    )
