"""Bars from 0 with their figures, and the line of a privacy model."""

from __future__ import annotations

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
from anon_core.teaching.learn.pictures import Bar, Bars

_HIGH, _ROOM, _TOP = 28, 260, 24


def bars(shown: Bars, view: View) -> Markup:
    """Return horizontal bars."""
    most = max([bar.value for bar in shown.bars] + [shown.limit[0] if shown.limit else 0, 1e-9])
    left = 24 + max((wide_of(shortened(bar.label, 30)) for bar in shown.bars), default=40)
    right = max((wide_of(bar.text) for bar in shown.bars), default=40) + 36
    inside = [
        _bar(bar, left, _TOP + n * _HIGH, _ROOM * bar.value / most, view)
        for n, bar in enumerate(shown.bars)
    ]
    bottom = _TOP + len(shown.bars) * _HIGH
    if shown.limit:
        at = left + _ROOM * shown.limit[0] / most
        inside.append(
            element("line", x1=at, x2=at, y1=_TOP - 6, y2=bottom, class_="limit")
            + text(at, _TOP - 10, shown.limit[1], text_anchor="middle", class_="small")
        )
    said = "; ".join(f"{bar.label}: {bar.text}" for bar in shown.bars)
    unit = text(left, bottom + 14, shown.unit, class_="small quiet")
    return svg(left + _ROOM + right, bottom + 20, f"{shown.title}: {said}", *inside, unit)


def _bar(bar: Bar, left: float, top: float, long: float, view: View) -> Markup:
    name = f"{'▶ ' if view.follows(bar.people) else ''}{shortened(bar.label, 30)}"
    return element(
        "g",
        text(left - 8, top + 17, name, text_anchor="end"),
        element("rect", x=left, y=top + 4, width=max(long, 1.0), height=_HIGH - 9, rx=3),
        text(left + long + 6, top + 17, f"{bar.text} {SIGNS[bar.tone]}".strip()),
        **view.marks(bar.id, bar.people, "bar", f"tone-{bar.tone}"),
    )
