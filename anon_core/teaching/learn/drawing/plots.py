"""Pictures over axes: rows as points in a plane, and bars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from markupsafe import Markup

from anon_core.teaching.learn.drawing.marks import (
    SIGNS,
    View,
    element,
    shortened,
    svg,
    text,
    wide_of,
)
from anon_core.teaching.learn.pictures import Bar, Bars, Box, Cut, Plane, Point, Scale

_DOT = 10
#: Where a value is in the drawing.
Place = Callable[[float], float]


def plane(shown: Plane, view: View) -> Markup:
    """Return the plane."""
    crowd = max([1, *(len(p) for p in _places(shown).values())])
    least = 34 + 20 * min(crowd, 3)
    step_x, step_y = _step(shown.across, least, 560), _step(shown.up, least, 420)
    names = [shortened(said) for _, said in shown.across.ticks]
    slanted = max(map(wide_of, names), default=0) > step_x
    left = 40 + max((wide_of(shortened(said)) for _, said in shown.up.ticks), default=0)
    below = 58 + (40 if slanted else 0)
    wide = step_x * (shown.across.high - shown.across.low)
    high = step_y * (shown.up.high - shown.up.low)

    def x(value: float) -> float:
        return left + (value - shown.across.low) * step_x

    def y(value: float) -> float:
        return 12 + (shown.up.high - value) * step_y

    inside = [element("rect", x=left, y=12, width=wide, height=high, class_="field")]
    for value, said in shown.across.ticks:
        turned = f"rotate(-40 {x(value):.1f} {high + 28:.1f})" if slanted else ""
        inside.append(
            text(
                x(value),
                high + 28,
                shortened(said),
                text_anchor="end" if slanted else "middle",
                transform=turned,
                class_="small",
            )
        )
    inside += [
        text(left - 8, y(v) + 4, shortened(said), text_anchor="end", class_="small")
        for v, said in shown.up.ticks
    ]
    inside += [_box(box, x, y, view) for box in shown.boxes]
    for (px, py), points in _places(shown).items():
        inside += _dots(points, x(px), y(py), view)
    inside += [_cut(cut, x, y) for cut in shown.cuts]
    inside.append(_name(shown.across, left + wide / 2, high + below - 6, view))
    inside.append(_name(shown.up, 12, 12 + high / 2, view, turned=True))
    said = f"{shown.title}: {len(shown.points)} rows over {shown.across.column} and "
    said += f"{shown.up.column}; parts of {', '.join(box.label for box in shown.boxes)}"
    return svg(left + wide + 12, high + below + 6, said, *inside)


def _step(scale: Scale, least: float, room: float) -> float:
    span = scale.high - scale.low
    return max(min(least, room / span), 18.0)


def _places(shown: Plane) -> dict[tuple[float, float], list[Point]]:
    found: dict[tuple[float, float], list[Point]] = defaultdict(list)
    for point in shown.points:
        found[point.x, point.y].append(point)
    return found


def _dots(points: list[Point], x: float, y: float, view: View) -> list[Markup]:
    """Return the points of one place, next to each other."""
    in_row = 3 if len(points) > 4 else 2 if len(points) > 1 else 1
    lines = -(-len(points) // in_row)
    found: list[Markup] = []
    for n, point in enumerate(points):
        px = x + (n % in_row - (min(in_row, len(points)) - 1) / 2) * (2 * _DOT + 1)
        py = y + (n // in_row - (lines - 1) / 2) * (2 * _DOT + 1)
        found.append(
            element(
                "g",
                element("circle", cx=px, cy=py, r=_DOT),
                text(px, py + 4, point.label, text_anchor="middle"),
                **view.marks(point.id, point.people, "dot", f"tone-{point.tone}"),
            )
        )
    return found


def _box(box: Box, x: Place, y: Place, view: View) -> Markup:
    left, right, top, bottom = x(box.x[0]), x(box.x[1]), y(box.y[1]), y(box.y[0])
    return element(
        "g",
        element("rect", x=left, y=top, width=right - left, height=bottom - top, rx=6),
        text(left + 5, top + 12, f"{SIGNS[box.tone]} {box.label}".strip(), class_="small"),
        **view.marks(box.id, box.people, "box", f"tone-{box.tone}"),
    )


def _cut(cut: Cut, x: Place, y: Place) -> Markup:
    if cut.along == "x":
        at, low, high = x(cut.at), y(cut.stretch[0]), y(cut.stretch[1])
        line = element("line", x1=at, x2=at, y1=low, y2=high)
        return element("g", line, class_="cut")
    at, low, high = y(cut.at), x(cut.stretch[0]), x(cut.stretch[1])
    line = element("line", x1=low, x2=high, y1=at, y2=at)
    return element("g", line, class_="cut")


def _name(scale: Scale, x: float, y: float, view: View, *, turned: bool = False) -> Markup:
    wide = wide_of(scale.column) + 16
    return element(
        "g",
        element("rect", x=x - wide / 2, y=y - 12, width=wide, height=20, rx=4),
        text(x, y + 3, scale.column, text_anchor="middle"),
        transform=f"rotate(-90 {x:.1f} {y:.1f})" if turned else "",
        **view.marks(scale.id, (), "axis"),
    )


_HIGH, _ROOM, _TOP = 28, 260, 24


def bars(shown: Bars, view: View) -> Markup:
    """Return horizontal bars."""
    most = max([bar.value for bar in shown.bars] + [shown.limit[0] if shown.limit else 0, 1e-9])
    left = 24 + max((wide_of(shortened(bar.label, 30)) for bar in shown.bars), default=40)
    right = max((wide_of(bar.text) for bar in shown.bars), default=40) + 36
    at = left + _ROOM * shown.limit[0] / most if shown.limit else None
    inside = [
        _bar(bar, (left, at), _TOP + n * _HIGH, _ROOM * bar.value / most, view)
        for n, bar in enumerate(shown.bars)
    ]
    bottom = _TOP + len(shown.bars) * _HIGH
    if at is not None:
        inside.append(
            element("line", x1=at, x2=at, y1=_TOP - 6, y2=bottom, class_="limit")
            + text(
                at,
                _TOP - 10,
                shown.limit[1] if shown.limit else "",
                text_anchor="middle",
                class_="small",
            )
        )
    said = "; ".join(f"{bar.label}: {bar.text}" for bar in shown.bars)
    unit = text(left, bottom + 14, shown.unit, class_="small quiet")
    return svg(left + _ROOM + right, bottom + 20, f"{shown.title}: {said}", *inside, unit)


def _bar(
    bar: Bar, sides: tuple[float, float | None], top: float, long: float, view: View
) -> Markup:
    left, limit = sides
    name = f"{'▶ ' if view.follows(bar.people) else ''}{shortened(bar.label, 30)}"
    label = f"{bar.text} {SIGNS[bar.tone]}".strip()
    at = left + long + 6
    if limit is not None and limit - wide_of(label) < at < limit + 6:
        at = limit + 6  # else the line of the limit would cross it
    return element(
        "g",
        text(left - 8, top + 17, name, text_anchor="end"),
        element("rect", x=left, y=top + 4, width=max(long, 1.0), height=_HIGH - 9, rx=3),
        text(at, top + 17, label),
        **view.marks(bar.id, bar.people, "bar", f"tone-{bar.tone}"),
    )
