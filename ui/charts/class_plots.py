"""Charts of classes and groups: how large they are, what they say, how their values differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .chart_frame import Chart, Palette, Series, apart, columns, finish
from .rows_chart import Item, Mark, Plot, Rows, Span
from .size_bins import binned, size_edges

if TYPE_CHECKING:
    import pandas as pd

_MOST_VALUES = 14


def nouns(runs: Sequence[Series]) -> tuple[str, str]:
    """Return what rows that stand together are called in these runs, one and many."""
    found = dict.fromkeys(r.facts.noun for r in runs)
    if len(found) == 1:
        return next(iter(found))
    return ("class or group", "classes or groups")


def size_chart(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return how many people stand in classes of which size, with the line of the least size."""
    import pandas as pd
    import plotly.graph_objects as go

    largest = max(int(r.facts.hiding.max(initial=1)) for r in runs)
    counted = " or ".join(dict.fromkeys(r.facts.result.counted for r in runs))
    edges = size_edges([r.facts.least for r in runs], largest)
    figure = columns(len(runs))
    tables: list[pd.DataFrame] = []
    highest = 1
    noun = nouns(runs)
    for place, run in enumerate(runs, start=1):
        bins = binned(run.facts.hiding, edges, noun, counted)
        one, many = run.facts.noun
        highest = max(highest, int(bins["people"].max()))
        tables.append(bins if len(runs) == 1 else _with_run(bins, run))
        figure.add_trace(
            go.Bar(
                x=[_short(t) for t in bins[f"{counted} in the {noun[0]}"]],
                customdata=bins[[noun[1], f"{counted} in the {noun[0]}"]],
                y=bins["people"],
                marker_color=run.colour,
                hovertemplate=f"{many.capitalize()} of %{{customdata[1]}} {counted}<br>"
                f"%{{y:,}} people in %{{customdata[0]:,}} {many}<extra></extra>",
            ),
            row=1,
            col=place,
        )
        figure.update_xaxes(
            title_text=f"{counted} in the {one}", type="category", tickangle=-45, row=1, col=place
        )
        if run.facts.least < 2:  # any size is allowed
            continue
        line = edges.index(run.facts.least) - 0.5
        cell: dict[str, Any] = {"row": 1, "col": place}
        figure.add_vline(
            x=line, line={"color": colours.warning, "width": 2, "dash": "dash"}, **cell
        )
        # Written beside the line, above the bars.
        figure.add_annotation(
            x=line,
            y=1,
            yref="y domain" if place == 1 else f"y{place} domain",
            xref="x" if place == 1 else f"x{place}",
            text=f"{run.facts.least_name} = {run.facts.least}",
            showarrow=False,
            xanchor="left",
            yanchor="top",
            xshift=4,
            font={"color": colours.warning, "size": 13},
            bgcolor=colours.paper,
        )
    figure.update_yaxes(title_text="people", row=1, col=1)
    figure.update_yaxes(range=[0, 1.18 * highest])
    finish(figure, colours, height=270, runs=runs)
    meaning = [
        "A class is a set of rows with identical quasi-identifiers."
        if not all(r.facts.permuted for r in runs)
        else "",
        "A group is a set of rows with one published number, among which links are cut."
        if any(r.facts.permuted for r in runs)
        else "",
        "If the promise holds, nobody is left of the dashed line."
        if any(r.facts.least > 1 for r in runs)
        else "The promises name no least size.",
    ]
    return Chart(
        title=f"People by the size of their {noun[0]}",
        figure=figure,
        numbers=pd.concat(tables, ignore_index=True),
        note=" ".join(m for m in meaning if m),
    )


def sensitive_chart(runs: Sequence[Series], colours: Palette, column: str, number: int) -> Chart:
    """Return the shares of a sensitive column's values in one class of a run against the whole."""
    import pandas as pd

    facts = runs[0].facts
    inside = f"this {facts.noun[0]}"
    whole = facts.whole(column)
    within = facts.within(column, number)
    ranked = sorted(whole, key=lambda v: -max(whole[v], within.get(v, 0.0)))
    rows = [(v, within.get(v, 0.0), whole[v]) for v in ranked[:_MOST_VALUES]]
    if len(ranked) > _MOST_VALUES:
        rest = ranked[_MOST_VALUES:]
        rows.append(
            (
                f"{len(rest)} other {'value' if len(rest) == 1 else 'values'}",
                sum(within.get(v, 0.0) for v in rest),
                sum(whole[v] for v in rest),
            )
        )
    names = apart([r[0] for r in rows], 28)
    lines: dict[str, list[Item]] = {
        name: [
            Span(low=min(here, there), high=max(here, there), colour=colours.grid, width=3),
            Mark(
                at=there,
                shape="line-ns-open",
                colour=colours.original,
                tip=f"whole release: {there:.1%}",
            ),
            Mark(at=here, shape="circle", colour=colours.sensitive, tip=f"{inside}: {here:.1%}"),
        ]
        for name, (_, here, there) in zip(names, rows, strict=True)
    }
    return Chart(
        title=f"Values of “{column}” in one {facts.noun[0]}",
        figure=Rows(
            names=tuple(names),
            plots=(Plot(lines=lines),),
            low=-0.02,
            high=1.04,
            ticks={0: "0%", 0.25: "25%", 0.5: "50%", 0.75: "75%", 1: "100%"},
            axis="share of rows",
            legend=(
                ("line-ns-open", colours.original, "whole release"),
                ("circle", colours.sensitive, inside),
            ),
            height=24,
        ),
        numbers=pd.DataFrame(
            [(v, here, there, here - there) for v, here, there in rows],
            columns=["value", inside, "whole release", "difference"],
        ),
        note=f"Where the {facts.noun[0]} differs much from the whole, finding someone's "
        f"{facts.noun[0]} already tells something about them.",
        formats={inside: "percent", "whole release": "percent", "difference": "%+.3f"},
    )


def most_different(run: Series, column: str, count: int = 20) -> list[tuple[int, float]]:
    """Return the classes whose values differ most from the whole, with by how much."""
    differs = run.facts.difference(column)
    # Among equally different classes the larger one concerns more people.
    order = np.lexsort((-run.facts.sizes, -np.round(differs, 3)))[:count]
    return [(int(n), float(differs[n])) for n in order]


def _with_run(frame: pd.DataFrame, run: Series) -> pd.DataFrame:
    found = frame.copy()
    found.insert(0, "run", run.letter)
    return found


def _short(bounds: str) -> str:
    """Return "1,000–1,999" as "1–2k", so that it fits under a bar."""
    if "," not in bounds:
        return bounds
    ends = [int(part.replace(",", "")) for part in bounds.split("–")]
    low, high = ends[0], ends[-1] + 1
    scale, sign = (1_000_000, "M") if low >= 1_000_000 else (1_000, "k")
    if (low % scale and low >= scale) or len(ends) == 1:
        return bounds
    return f"{low / scale:g}–{high / scale:g}{sign}"
