"""The groups of one run at a glance: as areas where sizes differ, as strips of values elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from anon_core.words.phrases import share

from ..session.result_view import Facts
from .chart_frame import Chart, Palette, Series, finish, label, labels, readable, write_all
from .treemap import treemap

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOST_GROUPS = 120
_MOST_VALUES = 12
_NUMBERED = 30
_WRITTEN = 12
#: Share of a group from which on the colour is strongest.
_STRONGEST = 0.5


def group_chart(runs: Sequence[Series], colours: Palette, height: int = 300) -> Chart:
    """Return the groups of one run in the way that tells more of them.

    Areas of equal size say nothing; where a sensitive value is protected, what the groups hold of
    it does.
    """
    facts = runs[0].facts
    names = [c for c in facts.result.problem.sensitive if c not in facts.result.problem.quasi]
    if names and about_equal(facts):
        return value_strip(runs, colours, names[0], height)
    return treemap(runs, colours, height)


def about_equal(facts: Facts) -> bool:
    """Say whether nine of ten people stand in groups of which none is twice as large as another."""
    sizes = np.sort(facts.sizes)
    if not len(sizes):
        return False
    people = np.cumsum(sizes) / sizes.sum()
    low, high = np.searchsorted(people, [0.05, 0.95])
    return bool(sizes[high] < 2 * sizes[low])


def value_strip(runs: Sequence[Series], colours: Palette, column: str, height: int = 300) -> Chart:
    """Return the share of every sensitive value in each group, those that give most away first."""
    import pandas as pd
    import plotly.graph_objects as go

    run = runs[0]
    facts = run.facts
    one, many = facts.noun
    top, common = facts.surest(column)
    apart = facts.difference(column)
    drawn = np.lexsort((-apart, -np.round(top, 9)))[:_MOST_GROUPS]
    whole = facts.whole(column)
    held = [facts.within(column, int(n)) for n in drawn]
    # Lines are for what the drawn groups hold most of; elsewhere they might all stay empty.
    weight = {v: sum(here.get(v, 0.0) for here in held) for v in whole}
    ranked = sorted(whole, key=lambda v: (-weight[v], -whole[v]))
    lines = _MOST_VALUES if len(ranked) > _MOST_VALUES + 1 else len(ranked)
    shown = sorted(ranked[:lines], key=lambda v: -whole[v])
    grid = [[here.get(v, 0.0) for here in held] for v in shown]
    names = [f"{v} · {share(whole[v])}" for v in shown]
    rest = ranked[len(shown) :]
    if rest:
        # Together they would look like a sure guess where each of them is a rare one.
        grid.append([max(here.get(v, 0.0) for v in rest) for here in held])
        names.append(f"one of {len(rest)} others · {share(sum(whole[v] for v in rest))}")
    heads = [f"{n}" for n in facts.numbers[drawn].tolist()]
    figure = go.Figure(
        go.Heatmap(
            z=[[v or None for v in line] for line in grid],
            x=heads,
            y=labels(names, 30),
            zmin=0,
            zmax=_STRONGEST,
            colorscale=[(i / 4, c) for i, c in enumerate(colours.scale)],
            showscale=False,
            xgap=1,
            ygap=1,
            hoverongaps=False,
            hovertemplate=f"{one} %{{x}}: %{{z:.1%}} have %{{y}} of all<extra></extra>",
        )
    )
    if len(drawn) <= _WRITTEN:
        _write(figure, grid, colours)
    some = f"{len(drawn):,} of {len(facts.sizes):,} " if len(drawn) < len(facts.sizes) else ""
    figure.update_xaxes(
        type="category",
        showgrid=False,
        showticklabels=len(drawn) <= _NUMBERED,
        tickangle=0,
        title_text=f"{some}{many}, surest guess first",
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    finish(figure, colours, height=max(height, 80 + 19 * len(grid)))
    of = f" of {run.heading}" if run.heading else ""
    return Chart(
        title=f"What the {many}{of} hold of “{column}”",
        figure=figure,
        numbers=pd.DataFrame(
            {
                one: facts.numbers[drawn],
                "rows": facts.sizes[drawn],
                "most common value": [common[n] for n in drawn.tolist()],
                "its share": top[drawn],
                "difference to the whole": apart[drawn],
            }
        ),
        note=f"A strip is a {one}, a line a value with its share of all rows; the {many} have "
        "about the same size. Stronger cells hold a larger share of "
        f"their {one}, half or more the strongest: one strong cell is a sure guess."
        + (f" Of the other values the {one}'s most common one counts." if rest else ""),
        formats={"its share": "percent", "difference to the whole": "%.3f"},
    )


def _write(figure: go.Figure, grid: Sequence[Sequence[float]], colours: Palette) -> None:
    """Write the shares into the cells, where there is room."""
    texts = [
        {
            # By place: a group's number would be read as a place too.
            "x": strip,
            "y": line,
            "text": label(share(value)),
            "font": {
                "color": readable(colours.scale[round(4 * min(value / _STRONGEST, 1.0))]),
                "size": 11,
            },
        }
        for line, shares in enumerate(grid)
        for strip, value in enumerate(shares)
        if value
    ]
    write_all(figure, texts)
