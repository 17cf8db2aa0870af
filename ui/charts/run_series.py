"""Runs as charts draw them: each with its letter, colour and symbol; all of a session as dots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from anon_core.base.terms import WORST_CHANCE
from anon_core.pipeline.result import Result
from ui.charts import theme
from ui.charts.chart_frame import Palette, Series
from ui.charts.vega import named
from ui.state import pinning
from ui.state.result_view import facts

if TYPE_CHECKING:
    import pyarrow as pa


def of_pins(pins: list[pinning.Pin]) -> list[Series]:
    """Return the pinned runs as series, in their own colours."""
    found: list[Series] = []
    for pin in pins:
        _, _, sign, symbol = theme.RUN_STYLE[pin.letter]
        found.append(
            Series(
                letter=pin.letter,
                title=pin.title,
                facts=facts(pin.result),
                colour=theme.run_colour(pin.letter),
                symbol=symbol,
                sign=sign,
            )
        )
    return found


def pin_of(result: Result) -> pinning.Pin | None:
    """Return the pin that holds a result."""
    return next((p for p in pinning.pins() if p.result is result), None)


def of_result(result: Result, colours: Palette) -> Series:
    """Return one result as a series: in its pin's colour, or in the page's own."""
    pin = pin_of(result)
    if pin is not None:
        return of_pins([pin])[0]
    return Series(letter="", title="", facts=facts(result), colour=colours.quasi)


#: The selection that a click on a dot makes.
PICKED = "run"
#: The column that identifies a choice of this drawing from one of an earlier drawing.
TURN = "turn"
HEIGHT = 62


def history_frame(
    figures: Sequence[tuple[float | None, float | None]],
    labels: Sequence[str],
    signs: Sequence[str],
    turn: int,
) -> pa.Table:
    """Return one row for each run that has both figures.

    Parameters
    ----------
    figures : sequence of (loss, worst chance)
    labels : sequence of str
        What each run is, for its tooltip.
    signs : sequence of {'now', 'baseline', 'run'}
    turn : int
        Another one after each change: a choice outlives its data, and must not mean another run.
    """
    import pyarrow as pa

    rows = [
        {PICKED: place, "lost": loss, "chance": chance, "settings": label, "sign": sign, TURN: turn}
        for place, ((loss, chance), label, sign) in enumerate(
            zip(figures, labels, signs, strict=True)
        )
        if loss is not None and chance is not None
    ]
    return pa.Table.from_pylist(rows)


@lru_cache(maxsize=16)
def history_spec(colours: Palette, now: str) -> dict[str, Any]:
    """Return the chart without its data, which changes with every run.

    Parameters
    ----------
    colours : Palette
    now : str
        Colour of the run that is shown, as other charts have it.
    """
    import altair as alt

    plain = alt.Axis(
        ticks=False,
        labels=False,
        domainColor=colours.grid,
        grid=False,
        titleColor=colours.muted,
        titleFontSize=10,
    )
    chart = (
        named("runs")
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X("lost:Q", title="loss", axis=plain, scale=alt.Scale(zero=False, padding=8)),
            y=alt.Y("chance:Q", title="chance", axis=plain, scale=alt.Scale(padding=8)),
            color=alt.Color(
                "sign:N",
                legend=None,
                scale=alt.Scale(
                    domain=["now", "baseline", "run"],
                    range=[now, colours.sensitive, colours.muted],
                ),
            ),
            shape=alt.Shape(
                "sign:N",
                legend=None,
                scale=alt.Scale(
                    domain=["now", "baseline", "run"], range=["square", "diamond", "circle"]
                ),
            ),
            key=alt.Key(f"{PICKED}:O"),  # dots stay where a run comes to them
            tooltip=[
                alt.Tooltip("settings:N"),
                alt.Tooltip("lost:Q", format=".3f", title="loss"),
                alt.Tooltip("chance:Q", format=".3f", title=WORST_CHANCE.lower()),
            ],
        )
        .add_params(
            alt.selection_point(name=PICKED, fields=[PICKED, TURN], on="click", toggle=False)
        )
        .properties(height=HEIGHT, background="transparent")
        .configure_view(stroke=None)
    )
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("data", None)
    return spec
