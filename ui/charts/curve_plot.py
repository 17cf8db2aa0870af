"""What one parameter does over its range: loss, worst chance and suppressed rows of each value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from anon_core.base.terms import WORST_CHANCE
from ui.charts.chart_frame import Palette
from ui.charts.vega import named

if TYPE_CHECKING:
    import pyarrow as pa

#: The selection that a click makes, and the column that identifies it from one of an earlier
#: drawing.
PICKED, TURN = "picked", "turn"
HEIGHT = 50


@dataclass(frozen=True, kw_only=True)
class Stop:
    """One value of the parameter and what it comes to.

    Attributes
    ----------
    value : float
    loss, chance : float or None
        None where no release keeps the privacy models.
    gone : float
        Share of rows that are suppressed.
    said : str
        What the tooltip says of suppressed rows and classes.
    sign : {'', 'now', 'baseline'}
    looked_at : bool
        Whether anything is known of it; else it is marked alone.
    """

    value: float
    loss: float | None
    chance: float | None
    gone: float
    said: str
    sign: str = ""
    looked_at: bool = True


def curve_frame(stops: Sequence[Stop], turn: int, *, logarithmic: bool) -> pa.Table:
    """Return one row for each value, with the width on which a click means it."""
    import pyarrow as pa

    ordered = sorted((one for one in stops if one.looked_at), key=lambda one: one.value)
    at = [math.log2(one.value) if logarithmic else one.value for one in ordered]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(at)]
    margin = (at[-1] - at[0]) / 40 if len(at) > 1 else 0.5
    edges = [at[0] - margin, *middles, at[-1] + margin] if at else []

    def back(place: float) -> float:
        return 2**place if logarithmic else place

    rows = [
        {
            "value": one.value, "lo": back(edges[place]), "hi": back(edges[place + 1]),
            "loss": one.loss, "chance": one.chance, "gone": one.gone, "said": one.said,
            "sign": one.sign, TURN: turn, "known": True,
        }
        for place, one in enumerate(ordered)
    ] + [
        {"value": one.value, "lo": one.value, "hi": one.value, "loss": None, "chance": None,
         "gone": 0.0, "said": "", "sign": one.sign, TURN: turn, "known": False}
        for one in stops
        if not one.looked_at
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


@lru_cache(maxsize=16)
def curve_spec(colours: Palette, *, logarithmic: bool) -> dict[str, Any]:
    """Return the chart without its data, which grows value by value."""
    import altair as alt

    scale = alt.Scale(type="log", base=2, nice=False) if logarithmic else alt.Scale(nice=False)
    axis = alt.Axis(
        title=None, grid=False, ticks=False, domainColor=colours.grid, labelColor=colours.muted,
        labelFontSize=9, labelPadding=1, format=",~r", labelOverlap=True, tickCount=6,
    )  # fmt: skip
    x = alt.X("value:Q", scale=scale, axis=axis)
    low, high = alt.X("lo:Q", scale=scale, axis=axis), alt.X2("hi:Q")

    def share(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(zero=True, padding=3))

    # Marks stay when other data come, and only what differs is drawn.
    of_value = alt.Key("value:Q")
    every = named("curve")
    base = every.transform_filter("datum.known")  # a gap is where no release is possible
    gone = base.mark_rect(color=colours.muted, opacity=0.35, aria=False).encode(
        x=low,
        x2=high,
        y=alt.Y("gone:Q", axis=None, scale=alt.Scale(domain=[0, 1])),
        y2=alt.datum(0),
        key=of_value,
    )
    # What a value comes to is said by what answers to a click. A key would cut a line at each.
    lines = [
        alt.layer(
            base.mark_line(color=colour, strokeWidth=1.6, aria=False).encode(x=x, y=share(field)),
            base.mark_point(size=14, filled=True, opacity=1, color=colour, aria=False).encode(
                x=x, y=share(field), key=of_value
            ),
        )
        for field, colour in (("loss", colours.quasi), ("chance", colours.sensitive))
    ]
    marked = every.transform_filter("datum.sign != ''").mark_rule(strokeWidth=2, aria=False).encode(
        x=x,
        key=alt.Key("sign:N"),
        color=alt.Color(
            "sign:N",
            legend=None,
            scale=alt.Scale(domain=["now", "baseline"], range=[colours.ink, colours.sensitive]),
        ),
        strokeDash=alt.StrokeDash(
            "sign:N",
            legend=None,
            scale=alt.Scale(domain=["now", "baseline"], range=[[1, 0], [4, 2]]),
        ),
    )  # fmt: skip
    clicked = base.mark_rect(opacity=0, cursor="pointer").encode(
        x=low,
        x2=high,
        key=of_value,
        tooltip=[
            alt.Tooltip("value:Q", format="~g"),
            alt.Tooltip("loss:Q", format=".3f", title="loss"),
            alt.Tooltip("chance:Q", format=".3g", title=WORST_CHANCE.lower()),
            alt.Tooltip("said:N", title="search only, not verified"),
        ],
    )
    picked = alt.selection_point(name=PICKED, fields=["value", TURN], on="click", toggle=False)
    chart = (
        alt.layer(gone, *lines, marked, clicked.add_params(picked))
        .resolve_scale(y="independent")
        .properties(
            height=HEIGHT,
            background="transparent",
            padding={"left": 2, "right": 8, "top": 3, "bottom": 0},
        )
        .configure_view(stroke=None)
    )
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("data", None)
    return spec
