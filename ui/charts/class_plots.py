"""Charts of what classes hold of a sensitive value: one against the whole, and many in a row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from anon_core.explain.text.phrases import share
from ui.charts.chart_frame import Chart, Palette, Series, apart
from ui.charts.vega import LETTERS, SMALL, Vega, form, named
from ui.state.result_view import Facts

_MOST_VALUES = 14
#: Values and groups of the chart of what groups hold.
_HELD, _MOST_GROUPS = 12, 120
#: Share of a group from which on the colour is strongest.
_STRONGEST = 0.5


def sensitive_chart(runs: Sequence[Series], colours: Palette, column: str, number: int) -> Chart:
    """Return the shares of a sensitive column's values in one class of a run against the whole."""
    import pandas as pd
    import pyarrow as pa

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
    lines = pa.table(
        {
            "value": apart([value for value, _, _ in rows], 28),
            "inside": [here for _, here, _ in rows],
            "whole": [there for _, _, there in rows],
            "said": [f"{v}: {inside} {share(a)}, whole release {share(b)}" for v, a, b in rows],
        }
    )
    return Chart(
        title=f"Values of “{column}” in one {facts.noun[0]}",
        figure=Vega(
            spec=_shares_spec(colours, inside),
            data={"values": lines},
            height=40 + 20 * lines.num_rows,
        ),
        numbers=pd.DataFrame(
            [(v, here, there, here - there) for v, here, there in rows],
            columns=["value", inside, "whole release", "difference"],
        ),
        note=f"The dot is {inside}, the tick the whole release. The further from the tick, "
        f"the more someone's {facts.noun[0]} reveals about them.",
        formats={inside: "percent", "whole release": "percent", "difference": "%+.3f"},
    )


def most_different(run: Series, column: str) -> list[tuple[int, float]]:
    """Return the classes whose values differ most from the whole, with by how much."""
    differs = run.facts.difference(column)
    # Among equally different classes the larger one concerns more people.
    order = np.lexsort((-run.facts.sizes, -np.round(differs, 3)))[:20]
    return [(int(n), float(differs[n])) for n in order]


def held_chart(runs: Sequence[Series], colours: Palette, column: str) -> Chart:
    """Return the share of every sensitive value in each class, those that give most away first."""
    import pandas as pd

    facts = runs[0].facts
    one, many = facts.noun
    top, common = facts.surest(column)
    differs = facts.difference(column)
    drawn = np.lexsort((-differs, -np.round(top, 9)))[:_MOST_GROUPS]
    cells = _held(facts, column, drawn.tolist(), colours)
    some = f"{len(drawn):,} of {len(facts.sizes):,} " if len(drawn) < len(facts.sizes) else ""
    of = f" of {runs[0].heading}" if runs[0].heading else ""
    return Chart(
        title=f"What the {many}{of} hold of “{column}”",
        figure=Vega(
            spec=_held_spec(colours, f"{some}{many}, surest guess first", one),
            data={"cells": cells},
            height=50 + 19 * len(cells["value"].unique()),
        ),
        numbers=pd.DataFrame(
            {
                one: facts.numbers[drawn],
                "rows": facts.sizes[drawn],
                "most common value": [common[n] for n in drawn.tolist()],
                "its share": top[drawn],
                "difference to the whole": differs[drawn],
            }
        ),
        note=f"A column is a {one}, a line a value with its share of all rows. The stronger a "
        f"cell, the larger its share of the {one}, half or more the strongest: one strong cell is "
        "a sure guess.",
        formats={"its share": "percent", "difference to the whole": "%.3f"},
    )


def _held(facts: Facts, column: str, drawn: list[int], colours: Palette) -> Any:
    """Return a row for each value of each class that is drawn, from the commonest value."""
    import pyarrow as pa

    whole = facts.whole(column)
    held = [facts.within(column, n) for n in drawn]
    # Lines are for what the drawn classes hold most of; elsewhere they might all stay empty.
    weight = {v: sum(here.get(v, 0.0) for here in held) for v in whole}
    ranked = sorted(whole, key=lambda v: (-weight[v], -whole[v]))
    lines = _HELD if len(ranked) > _HELD + 1 else len(ranked)
    shown = sorted(ranked[:lines], key=lambda v: -whole[v])
    grid = [[here.get(v, 0.0) for here in held] for v in shown]
    names = [f"{v} · {share(whole[v])}" for v in shown]
    rest = ranked[len(shown) :]
    if rest:
        # Together they would look like a sure guess where each of them is a rare one.
        grid.append([max(here.get(v, 0.0) for v in rest) for here in held])
        names.append(f"one of {len(rest)} others · {share(sum(whole[v] for v in rest))}")
    numbers = [f"{n}" for n in facts.numbers[drawn].tolist()]
    return pa.Table.from_pylist(
        [
            {
                "value": name,
                "group": number,
                "share": part,
                "colour": colours.scale[round(4 * min(part / _STRONGEST, 1.0))],
                "said": f"{number}: {part:.1%} have {name} of all",
            }
            for name, line in zip(apart(names, 30), grid, strict=True)
            for number, part in zip(numbers, line, strict=True)
        ]
    )


@lru_cache(maxsize=16)
def _shares_spec(colours: Palette, inside: str) -> dict[str, Any]:
    import altair as alt

    base = named("values")
    y = alt.Y(
        "value:N",
        sort=None,
        axis=alt.Axis(
            labelOverlap=False, labelFlush=False, labelColor=colours.ink, title=None,
            labelFontSize=LETTERS, labelLimit=200, labelPadding=10, grid=True,
        ),
    )  # fmt: skip
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1], title="share of rows")

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)

    tips = [
        alt.Tooltip("value:N"),
        alt.Tooltip("inside:Q", format=".1%", title=inside),
        alt.Tooltip("whole:Q", format=".1%", title="whole release"),
    ]
    chart = alt.layer(
        base.mark_rule(strokeWidth=3, color=colours.grid).encode(
            y=y, x=x("inside"), x2="whole:Q", tooltip=tips
        ),
        base.mark_tick(
            orient="vertical", bandSize=11, thickness=3, color=colours.original
        ).encode(y=y, x=x("whole"), tooltip=tips),
        base.mark_point(filled=True, size=80, opacity=1, color=colours.sensitive).encode(
            y=y, x=x("inside"), tooltip=tips, description="said:N"
        ),
    )  # fmt: skip
    return form(chart, colours)


@lru_cache(maxsize=16)
def _held_spec(colours: Palette, axis: str, one: str) -> dict[str, Any]:
    import altair as alt

    chart = alt.layer(
        named("cells")
        .mark_rect(stroke=colours.paper, strokeWidth=0.5)
        .encode(
            x=alt.X(
                "group:N", sort=None,
                axis=alt.Axis(title=axis, labels=False, titleFontSize=SMALL),
            ),
            y=alt.Y(
                "value:N", sort=None,
                axis=alt.Axis(
                    labelOverlap=False, labelFlush=False, labelColor=colours.ink, title=None,
                    labelLimit=210,
                ),
            ),
            color=alt.Color("colour:N", scale=None, legend=None),
            description="said:N",
            tooltip=[
                alt.Tooltip("group:N", title=one),
                alt.Tooltip("value:N", title="value, its share of all"),
                alt.Tooltip("share:Q", format=".1%", title=f"share of the {one}"),
            ],
        )
    )  # fmt: skip
    return form(chart, colours)
