"""The curve under the parameter that is changed: what each of its values would come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import cast

import streamlit as st

from anon_core.explain.text.phrases import share
from ui.charts.chart_frame import Palette, palette, selected
from ui.charts.curve_plot import HEIGHT, PICKED, Stop, curve_frame, curve_spec
from ui.components import another_look
from ui.components.guard import handled
from ui.panels.results import pending_result
from ui.state import results
from ui.state.work import curve, running, what_if
from ui.state.work.background_points import Point
from ui.state.work.fragments import alone
from ui.state.work.time_left import duration

#: The fragment that draws it.
KEY = "curve-alone"
_NAME = "The curve"
_CHART = "curve/chart"
#: Milliseconds between two looks at what was found.
_LOOK_EVERY = 300


def draw(name_of: Callable[[what_if.Setting], str]) -> None:
    """Draw what is known of a parameter's values, and look at the others once the page is drawn.

    Parameters
    ----------
    name_of : callable
        Returns the name of the parameter for a person.
    """
    turns: list[object] = []

    def drawn() -> None:
        one = curve.setting()
        if one is None:
            return
        before, of = _in_baseline(one), _of(one)
        if turns and turns[0] != of:
            turns.clear()
        begins = len(turns) == 1 and not running.is_running()
        if begins or curve.is_asked():  # the page is drawn; once, also where it fails
            curve.begin(one, before)
        if begins or not turns:
            turns.append(of)
        waits = len(turns) == 1 and curve.at_once() and bool(curve.missing(one, before))
        waits = waits or curve.is_running()
        _chart(one, name_of(one), before, waits=waits)
        if waits:
            another_look.soon("curve-look", milliseconds=_LOOK_EVERY)

    def drawn_from() -> object:
        one = curve.setting()
        if one is None:
            return None
        points = curve.of(one).points
        drawable = len(points) > 1 and not curve.missing(one, _in_baseline(one))
        return _of(one), len(points), drawable or results.is_current()

    alone(
        _NAME,
        drawn,
        key=KEY,
        tells="verdict",
        drawn_from=drawn_from,
        block=lambda: {"key": "curve", "gap": None},
    )


def _of(one: what_if.Setting) -> object:
    """Return which curve it is, and what is marked in it."""
    return curve.of(one), one.value, _in_baseline(one)


def _chart(one: what_if.Setting, label: str, before: float | None, *, waits: bool) -> None:
    colours = palette()
    points = sorted(curve.of(one).points.values(), key=lambda point: point.value)
    if len(points) < 2 or all(point.loss is None for point in points):
        if waits or not _asks(one, label, before):
            why = "Looking ahead …" if waits else _why_none(label, len(points))
            st.html(f"<div class='aw-curve-head aw-curve-none'>{escape(why)}</div>")
        return
    st.html(_head(label, points, colours))
    now = float(cast(float, one.value))
    stops = [
        Stop(
            value=point.value,
            loss=point.loss,
            chance=point.chance,
            gone=point.suppressed / max(point.rows, 1),
            said=_said(point),
            sign="now" if point.value == now else "baseline" if point.value == before else "",
        )
        for point in points
    ]
    for sign, value in (("now", now), ("baseline", before)):
        if value is None or any(point.value == value for point in points):
            continue
        if points[0].value < value < points[-1].value:
            stops.append(
                Stop(
                    value=value, loss=None, chance=None, gone=0, said="", sign=sign, looked_at=False
                )
            )
    logarithmic = curve.logarithmic(one) and points[0].value > 0
    st.vega_lite_chart(
        curve_frame(stops, id(results.last()), logarithmic=logarithmic),
        dict(curve_spec(colours, logarithmic=logarithmic)),
        key=_CHART,
        on_select=handled(_NAME)(pending_result.shown(_clicked)),
        selection_mode=PICKED,
        theme=None,
        width="stretch",
        height=HEIGHT,
        alt=f"Loss, worst chance and suppressed rows over {label}, by the search alone",
    )


def _said(point: Point) -> str:
    if point.loss is None:
        return "no release keeps the models"
    gone = share(point.suppressed / max(point.rows, 1))
    many = "1 class" if point.classes == 1 else f"{point.classes:,} classes"
    return f"{many}, {gone} of rows suppressed"


def _head(label: str, points: Sequence[Point], colours: Palette) -> str:
    """Return what is drawn: of some runs the search alone knows no chance."""
    signs = [f"<span style='color:{colours.quasi}'>━ loss</span>"]
    if any(point.chance is not None for point in points):
        worst = "<span class='aw-roomy'>worst </span>chance"
        signs.append(f"<span style='color:{colours.sensitive}'>━ {worst}</span>")
    if any(point.suppressed for point in points):
        signs.append("<span class='aw-roomy'>▮ suppressed</span>")
    marks = f"{' '.join(signs)} · not verified"
    title = "Search only: nothing of it is recomputed until you click a value. Each line from 0."
    return f"<div class='aw-curve-head' title='{title}'><b>{escape(label)}</b> {marks}</div>"


def _why_none(label: str, known: int) -> str:
    """Return why there is no curve, in a line."""
    if known > 1:
        return f"No value of {label} that was tried keeps the privacy models."
    if not results.is_current():
        return f"The curve of {label} comes with the next release."
    return f"{label} has no other value to look at."


def _asks(one: what_if.Setting, label: str, before: float | None) -> bool:
    """Draw the button that looks ahead where each search takes its time; say whether it is."""
    last = results.last()
    many = len(curve.missing(one, before))
    if last is None or curve.at_once() or not many or not results.is_current():
        return False
    st.button(
        f"Look ahead ({duration(last.took * many / 2)})",
        key="curve/ask",
        width="content",
        on_click=handled(_NAME)(curve.ask),
        help=f"Searches {many} values of {label} and draws the result of each. Nothing of it "
        "is verified.",
    )
    return True


def _in_baseline(one: what_if.Setting) -> float | None:
    """Return the parameter's value in the baseline; None where that has no such parameter."""
    base = results.baseline()
    if base is None:
        return None
    draft = base.made_of["choices"]["draft"]
    tables = draft["models"] if one.table == "models" else [draft["algorithm"]]
    if one.place >= len(tables) or tables[one.place]["name"] != one.owner:
        return None
    value = tables[one.place].get(one.parameter.name, one.parameter.default)
    return float(value) if isinstance(value, int | float) else None


def _clicked() -> None:
    picked = selected(_CHART, PICKED)
    one = curve.setting()
    if picked and one is not None:
        value = float(picked[0]["value"])
        what_if.change(one, int(value) if one.parameter.kind == "integer" else value)
