"""Charts of equivalence classes: how large they are, what they say, how their values differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ui.charts import Chart, Palette, Series, columns, finish, label, labels, readable
from ui.facts import binned, size_edges
from ui.words import count

if TYPE_CHECKING:
    import pandas as pd

_MOST_TILES = 120
_MOST_VALUES = 14


def size_chart(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return how many people stand in classes of which size, with the line of the least size."""
    import pandas as pd
    import plotly.graph_objects as go

    largest = max(int(r.facts.sizes.max(initial=1)) for r in runs)
    edges = size_edges([r.facts.least for r in runs], largest)
    figure = columns(len(runs))
    tables: list[pd.DataFrame] = []
    for place, run in enumerate(runs, start=1):
        bins = binned(run.facts.sizes, edges)
        tables.append(bins if len(runs) == 1 else _with_run(bins, run))
        figure.add_trace(
            go.Bar(
                x=[_short(t) for t in bins["rows in the class"]],
                customdata=bins[["classes", "rows in the class"]],
                y=bins["people"],
                marker_color=run.colour,
                hovertemplate="Classes of %{customdata[1]} rows<br>%{y:,} people in "
                "%{customdata[0]:,} classes"
                "<extra></extra>",
            ),
            row=1,
            col=place,
        )
        line = edges.index(run.facts.least) - 0.5
        cell: dict[str, Any] = {"row": 1, "col": place}
        figure.add_vline(
            x=line, line={"color": colours.warning, "width": 2, "dash": "dash"}, **cell
        )
        # Written beside the line, where there is room: to the left of it stands no bar.
        figure.add_annotation(
            x=line,
            y=1,
            yref="y domain" if place == 1 else f"y{place} domain",
            xref="x" if place == 1 else f"x{place}",
            text=f"k = {run.facts.least}",
            showarrow=False,
            xanchor="left",
            yanchor="top",
            xshift=4,
            font={"color": colours.warning, "size": 13},
            bgcolor=colours.paper,
        )
        figure.update_xaxes(
            title_text="rows in the class", type="category", tickangle=-45, row=1, col=place
        )
    figure.update_yaxes(title_text="people", row=1, col=1)
    finish(figure, colours, height=270, runs=runs)
    return Chart(
        title="People by the size of their class",
        figure=figure,
        numbers=pd.concat(tables, ignore_index=True),
        note="A class is a set of rows that say the same in every quasi-identifier. Left of the "
        "dashed line stands nobody, if the promise holds.",
    )


def treemap(runs: Sequence[Series], colours: Palette, height: int = 300) -> Chart:
    """Return the classes of one run as areas, as large as the people in them."""
    import pandas as pd
    import plotly.graph_objects as go

    run = runs[0]
    facts = run.facts
    largest_first = facts.by_size[::-1]
    drawn = largest_first[:_MOST_TILES]
    rest = largest_first[_MOST_TILES:]
    sizes = facts.sizes[drawn].tolist()
    cells = [facts.cells(int(n)) for n in drawn]
    names = [f"class {int(facts.place[n]) + 1}" for n in drawn]
    titles = [", ".join(c.values()) or n for c, n in zip(cells, names, strict=True)]
    hover = [
        "<br>".join(f"{label(c, 30)}: {label(v, 60)}" for c, v in cell.items()) for cell in cells
    ]
    chance = [1 / size for size in sizes]
    shown = [f"{size:,}" for size in sizes]
    if len(rest):
        edges = size_edges([facts.least], int(facts.sizes[rest].max()))
        bins = binned(facts.sizes[rest], edges)
        for bounds, classes, people in bins[bins["people"] > 0].itertuples(index=False):
            names.append(f"others, {bounds} rows")
            titles.append(f"{count(classes, 'class', 'classes')} of {bounds} rows")
            hover.append(titles[-1])
            shown.append(f"{classes:,} classes<br>of {bounds}")
            sizes.append(int(people))
            chance.append(classes / people)
    steps = [_step(c) for c in chance]
    numbers = pd.DataFrame({"class": names, "rows": sizes, "says": titles, "chance": chance})
    figure = go.Figure(
        go.Treemap(
            ids=names,
            labels=[label(t, 90) for t in titles],
            text=shown,
            parents=[""] * len(names),
            values=sizes,
            customdata=hover,
            texttemplate="%{text}",
            hovertemplate="%{value:,} rows<br>%{customdata}<extra></extra>",
            marker={
                "colors": [colours.scale[s] for s in steps],
                "line": {"color": colours.paper, "width": 1},
            },
            textfont={"color": [readable(colours.scale[s]) for s in steps], "size": 12},
            tiling={"pad": 1},
            pathbar={"visible": False},
        )
    )
    finish(figure, colours, height=height)
    figure.update_layout(
        margin={"l": 0, "r": 0, "t": 0, "b": 0}, uniformtext={"minsize": 10, "mode": "hide"}
    )
    return Chart(
        title=f"Classes{' of ' + run.heading if run.heading else ''} by their rows",
        figure=figure,
        numbers=numbers,
        note="An area is a class with its rows, or many small ones together. The stronger the "
        "colour, the easier a person is picked out. Point at an area to read what it says.",
        formats={"chance": "%.4f"},
    )


def sensitive_chart(runs: Sequence[Series], colours: Palette, column: str, number: int) -> Chart:
    """Return the shares of a sensitive column's values in one class of a run against the whole."""
    import pandas as pd
    import plotly.graph_objects as go

    facts = runs[0].facts
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
    rows.reverse()
    names = labels([r[0] for r in rows], 28)
    figure = go.Figure()
    for name, _, (_, here, there) in zip(names, range(len(names)), rows, strict=True):
        figure.add_trace(
            go.Scatter(
                x=[here, there],
                y=[name, name],
                mode="lines",
                line={"color": colours.grid, "width": 3},
                hoverinfo="skip",
                showlegend=False,
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[r[2] for r in rows],
            y=names,
            mode="markers",
            name="whole release",
            marker={
                "color": colours.original,
                "symbol": "line-ns-open",
                "size": 14,
                "line": {"width": 3},
            },
            hovertemplate="whole release: %{x:.1%}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[r[1] for r in rows],
            y=names,
            mode="markers",
            name="this class",
            marker={"color": colours.sensitive, "symbol": "circle", "size": 11},
            hovertemplate="this class: %{x:.1%}<extra></extra>",
        )
    )
    figure.update_xaxes(title_text="share of rows", tickformat=".0%", range=[-0.02, 1.04])
    figure.update_yaxes(type="category")
    finish(figure, colours, height=90 + 24 * len(rows), legend=True)
    return Chart(
        title=f"Values of “{column}” in one class",
        figure=figure,
        numbers=pd.DataFrame(
            [(v, here, there, here - there) for v, here, there in reversed(rows)],
            columns=["value", "this class", "whole release", "difference"],
        ),
        note="Where the class differs much from the whole, finding someone's class already tells "
        "something about them.",
        formats={"this class": "percent", "whole release": "percent", "difference": "%+.3f"},
    )


def most_different(run: Series, column: str, count: int = 20) -> list[tuple[int, float]]:
    """Return the classes whose values differ most from the whole, with by how much."""
    apart = run.facts.difference(column)
    # Among equally different classes the larger one concerns more people.
    order = np.lexsort((-run.facts.sizes, -np.round(apart, 3)))[:count]
    return [(int(n), float(apart[n])) for n in order]


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


def _step(chance: float) -> int:
    return (
        4
        if chance >= 0.2
        else 3
        if chance >= 0.1
        else 2
        if chance >= 0.04
        else 1
        if chance >= 0.01
        else 0
    )
