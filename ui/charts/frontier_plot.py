"""The frontier: what each point of a sweep loses for the risk that it leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.registry import family, find
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.contracts.metric import Metric
from anon_core.explain.text.phrases import chance
from anon_core.pipeline.sweep.points import Figure, Point, Risk
from anon_core.pipeline.sweep.variations import choice_words
from ui.charts import theme
from ui.charts.chart_frame import Chart, Palette, Series, finish, label
from ui.state.work.sweep import TECHNIQUE

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

#: Techniques have their own signs, so that they are not taken for pinned runs.
_LIGHT = ("#0072B2", "#AA3377", "#7A5C00", "#4B5563", "#B84A00", "#00696B")
_DARK = ("#56B4E9", "#E58BBB", "#E6C35C", "#A9B4C0", "#F0A868", "#5CC4BE")
_SIGNS = ("hexagon", "x", "cross", "pentagon", "diamond-tall", "hourglass")
#: Where their points are named, so that neighbouring lines do not write over each other.
_TEXT_PLACES = ("top center", "bottom center", "middle right", "middle left")
#: Risks that lie so many times apart are drawn on a logarithmic axis.
_FAR = 20


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What is drawn against what.

    Attributes
    ----------
    risk : str
        As in `Point.risks`.
    figure : {'worst', 'rate'}
    loss : str
        A metric's name.
    at_most : float
        The limit of the risk that is asked about.
    """

    risk: str
    figure: Figure
    loss: str
    at_most: float


def risk_title(name: str) -> str:
    """Return an attack, with its column, in words."""
    attack, _, column = name.partition(":")
    title = find("attack", attack).title
    return f"{title}: {column}" if column else title


def frontier_chart(
    points: Sequence[Point],
    runs: Sequence[Series],
    colours: Palette,
    axes: Axes,
    best: Point | None,
) -> Chart:
    """Return loss against risk, a line a technique, pinned runs as letters.

    Releases whose risk is not known are in a lane of their own; so do pinned runs.
    """
    from plotly.subplots import make_subplots

    drawn = [p for p in points if axes.loss in p.losses]
    uncounted = any(p.risk(axes.risk, axes.figure) is None for p in drawn) or any(
        _risk_of(run, axes) is None for run in runs
    )
    figure = make_subplots(
        rows=1,
        cols=2 if uncounted else 1,
        shared_yaxes=True,
        horizontal_spacing=0.02,
        column_widths=[0.84, 0.16] if uncounted else [1.0],
    )
    tones = _DARK if theme.dark() else _LIGHT
    for place, line in enumerate(_lines(drawn)):
        look = tones[place % len(tones)], _SIGNS[place % len(_SIGNS)], _TEXT_PLACES[place % 4]
        _add(figure, points, line, axes, look)
    for run in runs:
        _add_run(figure, run, axes)
    if best is not None:
        _ring(figure, best, axes, colours)
    _limit(figure, axes, colours, [_risk(p, axes) for p in drawn])
    if uncounted:
        figure.update_xaxes(
            title_text="no risk figure", showticklabels=False, showgrid=False, zeroline=False,
            range=[-0.6, 0.6], col=2,
        )  # fmt: skip
    figure.update_yaxes(title_text=_loss_title(axes.loss), rangemode="tozero", col=1)
    finish(figure, colours, height=440, legend=True)
    return Chart(
        title="Frontier: less risk is to the left, less loss is down",
        figure=figure,
        numbers=_numbers(points, axes),
        formats={"loss": "%.4f", "risk": "percent"},
        note="Every point is a verified release. A point is dominated if another one is both "
        "further left and further down."
        + (
            " Points at the right have no risk figure: the attack is not defined for them or was "
            "not run. That does not make them safe."
            if uncounted
            else ""
        ),
    )


def _risk(point: Point, axes: Axes) -> float | None:
    return point.risk(axes.risk, axes.figure)


def _risk_of(run: Series, axes: Axes) -> float | None:
    attack, _, column = axes.risk.partition(":")
    for found in run.facts.result.attacks:
        if found.attack == attack and found.column == column and not found.idle:
            return Risk(worst=found.worst, rate=found.rate).of(axes.figure)
    return None


def _lines(points: Sequence[Point]) -> list[list[Point]]:
    """Return the points technique by technique, each line in the order of its values."""
    lines: dict[object, list[Point]] = {}
    for point in points:
        lines.setdefault(point.choices.get(TECHNIQUE), []).append(point)
    return [
        sorted(line, key=lambda p: [str(type(v)) for v in _values(p)] + _values(p))
        for line in lines.values()
    ]


def _values(point: Point) -> list[Any]:
    return [value for path, value in point.choices.items() if path != TECHNIQUE]


def short(point: Point) -> str:
    """Return what is next to a point: what was varied next to the technique."""
    return ", ".join(str(value) for value in _values(point))


def _add(
    figure: go.Figure,
    points: Sequence[Point],
    line: Sequence[Point],
    axes: Axes,
    look: tuple[str, str, Any],
) -> None:
    """Draw one technique: its points with a risk as a line, the others in the lane."""
    import plotly.graph_objects as go

    colour, sign, position = look
    known = family("algorithm")
    name = str(line[0].choices.get(TECHNIQUE, ""))
    title = known[name].title if name in known else "This plan"
    for lane, part in enumerate(
        (
            [p for p in line if _risk(p, axes) is not None],
            [p for p in line if _risk(p, axes) is None],
        )
    ):
        if not part:
            continue
        figure.add_trace(
            go.Scatter(
                x=[0.0] * len(part) if lane else [_risk(p, axes) for p in part],
                y=[p.losses[axes.loss] for p in part],
                name=label(title),
                legendgroup=name,
                showlegend=not lane or all(_risk(p, axes) is None for p in line),
                mode="markers+text" if lane else "lines+markers+text",
                text=_names(part, axes),
                textposition="middle right" if lane else position,
                textfont={"color": colour, "size": 11},
                line={
                    "color": colour,
                    "width": 1.5,
                    "dash": "dot" if part[0].permuted else "solid",
                },
                marker={"color": colour, "symbol": sign, "size": 11},
                customdata=[[points.index(p), label(_hover(p, axes))] for p in part],
                hovertemplate="%{customdata[1]}<extra></extra>",
            ),
            row=1,
            col=lane + 1,
        )


def _hover(point: Point, axes: Axes) -> str:
    risk = _risk(point, axes)
    words = f"{point.title} – loss {point.losses[axes.loss]:.4g}, "
    words += chance(risk) if risk is not None else f"no risk figure: {point.why_unknown(axes.risk)}"
    return f"{words} – {point.suppressed:,} {ROWS_SUPPRESSED}"


def _names(line: Sequence[Point], axes: Axes) -> list[str]:
    """Return what is next to each point; points that fall together are named together."""
    together: dict[tuple[float | None, float], list[str]] = {}
    places = [(_risk(p, axes), p.losses[axes.loss]) for p in line]
    for point, place in zip(line, places, strict=True):
        together.setdefault(place, []).append(short(point))
    return [", ".join(together.pop(place, [])) for place in places]


def _add_run(figure: go.Figure, run: Series, axes: Axes) -> None:
    import plotly.graph_objects as go

    measure = run.facts.result.measures.get(axes.loss)
    if measure is None:
        return
    risk = _risk_of(run, axes)
    figure.add_trace(
        go.Scatter(
            x=[0.0 if risk is None else risk],
            y=[measure.value],
            mode="markers+text",
            text=[f"<b>{run.letter}</b>"],
            textposition="middle left" if risk is None else "middle right",
            textfont={"color": run.colour, "size": 14},
            marker={"color": run.colour, "symbol": run.symbol, "size": 13},
            name=f"run {run.letter}",
            hovertemplate=f"run {run.letter}: loss %{{y:.4f}}<extra></extra>",
        ),
        row=1,
        col=2 if risk is None else 1,
    )


def _ring(figure: go.Figure, best: Point, axes: Axes, colours: Palette) -> None:
    """Draw a ring around the point that is the answer."""
    import plotly.graph_objects as go

    figure.add_trace(
        go.Scatter(
            x=[_risk(best, axes)],
            y=[best.losses[axes.loss]],
            mode="markers",
            marker={
                "color": colours.ink,
                "symbol": "circle-open",
                "size": 22,
                "line": {"width": 2},
            },
            name="least loss within the limit",
            hoverinfo="skip",
        ),
        row=1,
        col=1,
    )


def _limit(figure: go.Figure, axes: Axes, colours: Palette, risks: Sequence[float | None]) -> None:
    """Draw the limit that is asked about, and choose the axis by the spread of the risks."""
    known = [risk for risk in risks if risk is not None]
    far = bool(known) and min(known) > 0 and max(known) / min(known) > _FAR
    title = label(
        f"{risk_title(axes.risk)}: "
        + ("worst person" if axes.figure == "worst" else "all people, on average")
    )
    figure.update_xaxes(title_text=title, tickformat=".1~%", col=1)
    if far:
        ticks = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]
        figure.update_xaxes(type="log", tickvals=ticks, col=1)
    else:
        figure.update_xaxes(rangemode="tozero", col=1)
    if axes.at_most <= 0 and far:  # no place on this axis
        return
    line = {"color": colours.warning, "width": 1.5, "dash": "dash"}
    at = axes.at_most
    figure.add_shape(type="line", x0=at, x1=at, y0=0, y1=1, xref="x", yref="y domain", line=line)
    figure.add_annotation(
        text=f"at most {at:g}",
        x=math.log10(at) if far else at,
        y=1,
        xref="x",
        yref="y domain",
        xanchor="left",
        yanchor="top",
        showarrow=False,
        font={"color": colours.warning, "size": 12},
    )


def _loss_title(name: str) -> str:
    kind = cast(type[Metric], find("metric", name))
    unit = kind.scale.unit
    return label(
        f"{kind.title} ({'0 unchanged, 1 everything suppressed' if unit == 'share' else unit})"
    )


def _numbers(points: Sequence[Point], axes: Axes) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "point": choice_words(p.choices),
                "loss": p.losses.get(axes.loss),
                "risk": _risk(p, axes),
                ROWS_SUPPRESSED: p.suppressed if p.status == "released" else None,
                "seconds": round(p.seconds, 2),
                "why not": p.why or (p.why_unknown(axes.risk) if _risk(p, axes) is None else ""),
                "notes": " ".join(p.notes),
            }
            for p in points
        ]
    )
