"""Lines of one figure each: a bar for now, a tick for the baseline, a diamond for what is chosen.

Every line says its value in words and how it is against the baseline. Several runs have a
bar each in every line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from ui.charts import theme
from ui.charts.chart_frame import Palette, Series, shortened
from ui.charts.vega import LETTERS, SMALL, Vega, form, named

if TYPE_CHECKING:
    import pyarrow as pa

#: How a figure changed since the baseline.
Tone = Literal["better", "worse", "same", ""]
#: Pixels of a line, of a line's share of each further run, and of the axis above the lines.
_LINE, _LANE, _HEAD = 16, 14, 34
_NAME = 30
#: Pixels that a bar is thick at most.
_THICK = 18
_ARROWS = {"up": "▲", "down": "▼"}


@dataclass(frozen=True, kw_only=True)
class Bullet:
    """One line of one run.

    Attributes
    ----------
    name : str
    value : str
        The value in words.
    short : str
        The name as it is drawn, where that is another one.
    share : float or None
        Where the bar ends, 0 to 1; None where there is no value.
    mean : float or None
        Where a darker bar inside it ends.
    before, chosen, limit, guess : float or None
        The baseline, what is chosen, the threshold, and guessing.
    change : str
        The baseline's value in words, behind an arrow.
    tone : {'better', 'worse', 'same', ''}
    more : str
        A second value in words.
    colour, lane : str
        Of the run; the lane is empty where there is one run alone.
    note : str
        What is said of the line when it is pointed at.
    """

    name: str
    value: str
    short: str = ""
    share: float | None = None
    mean: float | None = None
    before: float | None = None
    chosen: float | None = None
    limit: float | None = None
    guess: float | None = None
    change: str = ""
    tone: Tone = ""
    more: str = ""
    colour: str = ""
    lane: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Heads:
    """What is above the columns of words and the axis, and how wide the columns are."""

    value: str
    change: str = ""
    more: str = ""
    axis: str = ""
    percent: bool = False
    widths: tuple[int, int, int] = (92, 78, 44)


def changed(now: float, before: float, earlier: str, *, worse: bool | None) -> tuple[str, Tone]:
    """Return an arrow with the baseline's value in words, and the tone of the change.

    Parameters
    ----------
    now, before : float
    earlier : str
        The baseline's value in words.
    worse : bool or None
        Whether the figure became worse; None where it is neither.

    Examples
    --------
    >>> changed(0.3, 0.2, "0.2", worse=True), changed(1, 1, "1", worse=None)
    (('▲ 0.2', 'worse'), ('=', 'same'))
    """
    if now == before:
        return "=", "same"
    arrow = _ARROWS["up" if now > before else "down"]
    return f"{arrow} {earlier}", "same" if worse is None else "worse" if worse else "better"


def turned(change: str, tone: Tone) -> str:
    """Return how a figure is against the first of several runs, whose own value is drawn already.

    Examples
    --------
    >>> turned("▲ 0.2", "worse"), turned("▼ 3", "same"), turned("=", "same")
    ('▲ worse', '▼', '=')
    """
    word = tone if tone in ("better", "worse") else ""
    return f"{change[:1]} {word}".strip()


def against(runs: Sequence[Series], base: object) -> str:
    """Return what is above the changes: of one run the baseline, of several the first."""
    if len(runs) == 1:
        return "" if base is None else "baseline"
    return f"against {runs[0].letter}"


def bullets(lines: Sequence[Bullet], heads: Heads, colours: Palette, *, runs: int = 1) -> Vega:
    """Return the chart of some lines, from the top, several runs of a line after each other."""
    names = len(dict.fromkeys(one.name for one in lines))
    return Vega(
        spec=_spec(colours, heads, _tones(), runs),
        data={"lines": _frame(lines), "heads": _heads(heads)},
        height=_HEAD + names * (_LINE if runs == 1 else 6 + _LANE * runs),
        stretches=runs == 1,
    )


def _frame(lines: Sequence[Bullet]) -> pa.Table:
    import pyarrow as pa

    short = {one.name: shortened(one.short or one.name, _NAME) for one in lines}
    apart = len(set(short.values())) == len(short)  # two lines never fall together
    own = {field.name: [getattr(one, field.name) for one in lines] for field in fields(Bullet)}
    return pa.table(
        {
            **own,
            "line": [short[one.name] if apart else one.name for one in lines],
            "said": [_said(one) for one in lines],
            "order": list(range(len(lines))),
            # Colour alone tells no run.
            "label": [f"{one.lane}  {one.value}" if one.lane else one.value for one in lines],
        }
    )


def _said(one: Bullet) -> str:
    """Return a line in words."""
    parts = (f"{one.lane} {one.name}: {one.value}".strip(), one.change, one.note)
    return "; ".join(part for part in parts if part)


def _heads(heads: Heads) -> pa.Table:
    import pyarrow as pa

    return pa.table({"value": [heads.value], "change": [heads.change], "more": [heads.more]})


def _tones() -> tuple[str, str, str]:
    return theme.verdict_colour("good"), theme.verdict_colour("bad"), theme.muted()


@lru_cache(maxsize=32)
def _spec(colours: Palette, heads: Heads, tones: tuple[str, str, str], runs: int) -> dict[str, Any]:
    import altair as alt

    base = named("lines")
    y: dict[str, Any] = {
        "key": "order:O",  # marks stay when other data come, and only what differs is drawn
        "y": alt.Y(
            "line:N",
            # Names keep the places that they had in earlier data, unless they are given.
            sort=alt.EncodingSortField(field="order", op="min"),
            title=None,
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.1),
            axis=alt.Axis(
                labelOverlap=False,
                labelFlush=False,
                labelColor=colours.ink,
                labelFontSize=LETTERS,
                labelLimit=190,
                labelPadding=10,  # a mark at 0 reaches over the axis
            ),
        ),
    }
    if runs > 1:
        y["yOffset"] = alt.YOffset("lane:N", sort=None)
    axis = alt.Axis(
        orient="top",
        values=[0, 0.25, 0.5, 0.75, 1],
        format="%" if heads.percent else ".2~f",
        title=heads.axis,
        titlePadding=2,
        labelPadding=3,
        labelFlush=True,
    )

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)

    def thick(share: float) -> Any:
        """Few lines have much room each, of which bars take no more than they need."""
        return alt.expr(f"min(bandwidth('y{'Offset' * (runs > 1)}'), {_THICK}) * {share}")

    own = alt.Color("colour:N", scale=None, legend=None)
    tips = [
        alt.Tooltip("name:N", title="figure"),
        *([alt.Tooltip("lane:N", title="run")] if runs > 1 else []),
        alt.Tooltip("value:N", title=heads.value),
        *([alt.Tooltip("more:N", title=heads.more)] if heads.more else []),
        *([alt.Tooltip("change:N", title=heads.change)] if heads.change else []),
        alt.Tooltip("note:N", title="note"),
    ]
    layers: list[Any] = [
        # The whole line answers to the pointer, not the ink in it alone.
        base.mark_bar(color=colours.grid, opacity=0.35, cornerRadius=1, size=thick(1)).encode(
            **y, x=x("full"), tooltip=tips, description="said:N"
        ).transform_calculate(full="1"),
        base.mark_bar(cornerRadius=1, size=thick(1)).encode(
            **y, x=x("share"), color=own, tooltip=tips, opacity=alt.condition(
                "isValid(datum.mean)", alt.value(0.45), alt.value(0.95)
            ),
        ),
    ]  # fmt: skip
    inner = base.transform_filter("isValid(datum.mean)")
    layers.append(
        inner.mark_bar(cornerRadius=1, size=thick(0.5)).encode(
            **y, x=x("mean"), color=own, tooltip=tips
        )
    )

    def tick(field: str, colour: str, share: float, wide: int) -> Any:
        return (
            base.transform_filter(f"isValid(datum.{field})")
            .mark_tick(
                color=colour,
                opacity=1,
                thickness=wide,
                orient="vertical",
                size=thick(share),
                stroke=colours.paper,
                strokeWidth=1,
            )
            .encode(**y, x=x(field), tooltip=tips)
        )

    # A threshold is thinner and higher than the baseline: colour alone shows neither.
    layers += [tick("limit", colours.warning, 1.45, 4), tick("before", colours.sensitive, 1, 6)]
    layers += [
        base.transform_filter("isValid(datum.guess)")
        .mark_point(shape="circle", size=36, color=colours.ink, filled=False, strokeWidth=1.5)
        .encode(**y, x=x("guess"), tooltip=tips),
        base.transform_filter("isValid(datum.chosen)")
        .mark_point(
            shape="diamond", size=75, fill=colours.ink, stroke=colours.paper, strokeWidth=1,
            opacity=1,
        )
        .encode(**y, x=x("chosen"), tooltip=tips),
    ]  # fmt: skip
    across = 8
    toned = alt.Scale(domain=["better", "worse", "same", ""], range=[*tones, tones[2]])
    for field, width in zip(("value", "change", "more"), heads.widths, strict=True):
        if not getattr(heads, field):
            continue
        place = {"x": alt.value("width")}
        words = base.mark_text(align="left", baseline="middle", dx=across, fontSize=LETTERS)
        colour: Any = own if runs > 1 else alt.value(colours.ink)
        if field == "change":
            colour = alt.Color("tone:N", legend=None, scale=toned)
        text = "label" if field == "value" else field
        layers.append(words.encode(**y, **place, color=colour, text=f"{text}:N", tooltip=tips))
        layers.append(
            named("heads")
            .mark_text(align="left", baseline="bottom", dx=across, fontSize=SMALL)
            .encode(**place, y=alt.value(-3), text=f"{field}:N", color=alt.value(colours.muted))
        )
        across += width
    chart = alt.layer(*layers).resolve_scale(color="independent")
    return form(chart, colours)
