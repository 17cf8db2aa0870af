"""Two columns against each other: the table and its release as maps on one scale."""

from __future__ import annotations

import numpy as np

from anon_core.pipeline.measure.column_statistics import TwoWay
from ui.charts.chart_frame import Chart, Palette, columns, finish, label

#: Labels of a column that are drawn; the numbers hold all of them.
MOST_DRAWN = 24


def two_way_chart(found: TwoWay, colours: Palette) -> Chart:
    """Return both tables as maps of the shares of rows, side by side on one scale of colours."""
    import pandas as pd
    import plotly.graph_objects as go

    first, second = found.columns
    rows, across = (
        np.sort(np.argsort(-found.before.sum(axis=axis), kind="stable")[:MOST_DRAWN])
        for axis in (1, 0)
    )
    figure = columns(2, subplot_titles=("before", "after"))
    tables = [table / max(float(table.sum()), 1.0) for table in (found.before, found.after)]
    top = max(float(table.max(initial=0)) for table in tables) or 1.0
    for place, (name, table, counts) in enumerate(
        zip(("before", "after"), tables, (found.before, found.after), strict=True), start=1
    ):
        figure.add_trace(
            go.Heatmap(
                z=table[np.ix_(rows, across)],
                customdata=counts[np.ix_(rows, across)],
                x=[label(found.labels[1][c], 16) for c in across.tolist()],
                y=[label(found.labels[0][r], 16) for r in rows.tolist()],
                zmin=0,
                zmax=top,
                colorscale=[
                    [at / (len(colours.scale) - 1), tone] for at, tone in enumerate(colours.scale)
                ],
                colorbar={"tickformat": ".0%", "title": {"text": "rows"}, "thickness": 12},
                showscale=place == 2,
                xgap=1,
                ygap=1,
                hovertemplate=f"{name}: %{{y}}, %{{x}}<br>%{{customdata:,.6~g}} rows, %{{z:.2%}}"
                "<extra></extra>",
            ),
            row=1,
            col=place,
        )
    figure.update_xaxes(title_text=second, type="category")
    figure.update_yaxes(type="category", autorange="reversed")
    figure.update_yaxes(title_text=first, row=1, col=1)
    finish(figure, colours, height=150 + 18 * min(len(rows), MOST_DRAWN))
    figure.update_layout(margin_t=36)  # room for the headings
    figure.update_annotations(font_size=13)
    cells = [
        {
            first: found.labels[0][a],
            second: found.labels[1][b],
            "before": float(found.before[a, b]),
            "after": float(found.after[a, b]),
        }
        for a, b in np.argwhere((found.before > 0) | (found.after > 0)).tolist()
    ]
    return Chart(
        title=f"{first} and {second}, before and after",
        figure=figure,
        numbers=pd.DataFrame(cells, columns=[first, second, "before", "after"]),
        note=_note(found, len(rows), len(across)),
        formats={"before": "%.6g", "after": "%.6g"},
    )


def _note(found: TwoWay, rows: int, across: int) -> str:
    parts = [
        f"Half the difference of shares: {found.total_variation:.3f}.",
        f"Cramér's V: {_figure(found.cramers_v[0])} before, {_figure(found.cramers_v[1])} after.",
        f"Cells without rows after: {len(found.emptied):,}."
        + (f" Suppressed rows: {found.removed:,}." if found.removed else ""),
    ]
    if found.spread:
        parts.append("Labels overlap: rows are spread evenly over the values of their cells.")
    if rows < len(found.labels[0]) or across < len(found.labels[1]):
        parts.append(f"The {MOST_DRAWN} most frequent labels are drawn.")
    return " ".join(parts)


def _figure(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"
