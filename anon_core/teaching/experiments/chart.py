"""A figure as SVG: what the source printed and what was measured, on shared axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anon_core.teaching.experiments.experiment import Figure, Printed
from anon_core.teaching.experiments.points import Point
from anon_core.teaching.learn.drawing.marks import element, svg, text, wide_of

_WIDE, _HIGH, _LEFT, _TOP, _BELOW = 640.0, 300.0, 70.0, 32.0, 46.0
_TONES = ("a", "b", "c", "d", "e", "f")
#: Signs of series, drawn as text so that colour never is alone.
_SIGNS = ("●", "■", "◆", "▲", "▼", "★")


@dataclass(frozen=True, kw_only=True)
class Axes:
    """Where figures are on the paper.

    Attributes
    ----------
    low_x, high_x, low_y, high_y : float
        Ends of the axes; of a logarithmic one, their logarithms.
    """

    low_x: float
    high_x: float
    low_y: float
    high_y: float
    log: bool

    def x(self, value: float) -> float:
        """Return pixels from the left."""
        return _LEFT + (value - self.low_x) / (self.high_x - self.low_x) * (_WIDE - _LEFT - 16)

    def y(self, value: float) -> float:
        """Return pixels from the top."""
        at = math.log10(max(value, 1e-12)) if self.log else value
        at = min(max(at, self.low_y), self.high_y)
        return _TOP + (self.high_y - at) / (self.high_y - self.low_y) * (_HIGH - _TOP)


def chart(figure: Figure, points: Sequence[Point], printed: Sequence[Printed]) -> Markup:
    """Return a figure as a drawing, its legend below."""
    names = list(dict.fromkeys(p.series for p in points))
    axes = _axes(figure, points, printed)
    inside = [*_grid(figure, axes, points)]
    inside += [_source(one, axes, figure, _tone(one.series, names)) for one in printed]
    high = _HIGH + _BELOW
    for place, name in enumerate(names):
        own = sorted((p for p in points if p.series == name), key=lambda p: p.x)
        inside.append(_line(own, axes, place, joined=not figure.places))
        sign, tone = _SIGNS[place % len(_SIGNS)], _TONES[place % len(_TONES)]
        beyond = " (not in the source)" if own[0].beyond else ""
        said = text(_LEFT, high + 6, f"{sign} {name}{beyond}", class_=f"own tone-{tone}")
        inside.append(said)
        high += 18
    for one in printed:
        value = _range(one, figure)
        where = "" if one.at is None else f" at {one.at:g}"
        tone = _tone(one.series, names)
        said = f"▒ source, {one.series}{where}: {value}"
        inside.append(text(_LEFT, high + 6, said, class_=f"own {tone}"))
        high += 18
    description = "; ".join(
        f"{p.series} {shown(p.x, '')}: {shown(p.y, figure.unit)}" for p in points
    )
    return svg(_WIDE, high + 4, f"{figure.title}: {description}", *inside)


def shown(value: float, unit: str) -> str:
    """Return a figure as it is written next to an axis and in tables.

    Examples
    --------
    >>> shown(0.9395, "share"), shown(6460.0, ""), shown(0.0312, "")
    ('93.95 %', '6,460', '0.0312')
    """
    if unit == "share":
        return f"{round(100 * value, 2):g} %"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _brief(value: float, unit: str) -> str:
    """Return a number next to an axis, where there is little room.

    Examples
    --------
    >>> _brief(2e7, ""), _brief(1500.0, ""), _brief(0.5, "share")
    ('20M', '1,500', '50 %')
    """
    return shown(value, unit) if abs(value) < 1e6 else f"{value / 1e6:g}M"


def _range(one: Printed, figure: Figure) -> str:
    low, high = (shown(value, figure.unit) for value in (one.low, one.high))
    return low if low == high else f"{low} to {high}"


def _axes(figure: Figure, points: Sequence[Point], printed: Sequence[Printed]) -> Axes:
    xs = [p.x for p in points] + [one.at for one in printed if one.at is not None]
    ys = [p.y for p in points] + [y for one in printed for y in (one.low, one.high)]
    ys = [y for y in ys if y > 0] if figure.log else [*ys, 0.0]
    low_x, high_x = (min(xs), max(xs)) if xs else (0.0, 1.0)
    room = (high_x - low_x) * 0.04 or 0.5
    low, high = (min(ys), max(ys)) if ys else (0.0, 1.0)
    if figure.log:
        low, high = math.floor(math.log10(low)), math.ceil(math.log10(high) + 1e-9)
    else:
        high += (high - low) * 0.06
    return Axes(
        low_x=low_x - room,
        high_x=high_x + room,
        low_y=low,
        high_y=high if high > low else low + 1.0,
        log=figure.log,
    )


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two.

    Examples
    --------
    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 12) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _grid(figure: Figure, axes: Axes, points: Sequence[Point]) -> list[Markup]:
    values = ticks(axes.low_y, axes.high_y)
    if axes.log:
        values = [10.0**n for n in range(int(axes.low_y), int(axes.high_y) + 1)]
    found: list[Markup] = []
    for value in values:
        y = axes.y(value)
        found.append(element("line", x1=_LEFT, x2=_WIDE - 16, y1=y, y2=y, class_="link"))
        found.append(text(_LEFT - 6, y + 4, _brief(value, figure.unit), text_anchor="end"))
    for value in sorted({p.x for p in points}):
        named = figure.places[int(value)] if figure.places else shown(value, "")
        found.append(text(axes.x(value), _HIGH + 18, named, text_anchor="middle", class_="small"))
    middle = (_LEFT + _WIDE - 16) / 2
    found.append(text(middle, _HIGH + 36, figure.x, text_anchor="middle", class_="quiet"))
    found.append(text(4, _TOP - 14, figure.y, class_="small quiet"))  # above the topmost number
    return found


def _tone(series: str, names: Sequence[str]) -> str:
    """Return the class that gives what is printed of a series that series' colour."""
    if series not in names:
        return "tone-quiet"
    return f"tone-{_TONES[names.index(series) % len(_TONES)]}"


def _source(one: Printed, axes: Axes, figure: Figure, tone: str) -> Markup:
    """Return what the source printed: a band over the whole width, or a bar at its place."""
    top, bottom = axes.y(one.high), axes.y(one.low)
    left, right = _LEFT, _WIDE - 16
    if one.at is not None:
        left, right = axes.x(one.at) - 12, axes.x(one.at) + 12
    said = f"source, {one.series}: {_range(one, figure)}"
    thick = max(bottom - top, 3.0)
    return element(
        "rect",
        element("title", said),
        x=left,
        y=min(top, bottom - thick / 2 if thick == 3.0 else top),
        width=right - left,
        height=thick,
        class_=f"source {tone}",
    )


def _line(own: Sequence[Point], axes: Axes, place: int, *, joined: bool) -> Markup:
    tone, sign = _TONES[place % len(_TONES)], _SIGNS[place % len(_SIGNS)]
    spots = [(axes.x(p.x), axes.y(p.y)) for p in own]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    half = wide_of(sign) / 2
    return element(
        "g",
        element("polyline", points=path, class_="beyond" if own[0].beyond else "")
        if joined
        else Markup(""),
        *[text(x - half + 1, y + 4.5, sign, class_="own") for x, y in spots],
        class_=f"series tone-{tone}",
    )
