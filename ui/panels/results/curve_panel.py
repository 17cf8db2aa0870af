"""The curve under the parameter that is changed: what each of its values would come to."""

from __future__ import annotations

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
from ui.state.work import curve, what_if
from ui.state.work.background_points import Point
from ui.state.work.fragments import alone
from ui.state.work.time_left import duration

#: The fragment that draws it.
KEY = "curve-alone"
_NAME = "The curve"
_CHART = "curve/chart"
#: Milliseconds between two looks at what was found.
_LOOK_EVERY = 300


def draw(one: what_if.Setting, label: str) -> None:
    """Draw what is known of a parameter's values, and look at the others once the page is drawn."""
    turns: list[int] = []
    before = _in_a(one)

    def drawn() -> None:
        if len(turns) == 1 or curve.is_asked():  # the page is drawn; once, also where it fails
            curve.begin(one, before)
        turns.append(len(turns))
        _chart(one, label, before)
        waits = not turns[-1] and curve.at_once() and bool(curve.missing(one, before))
        if curve.is_running() or waits:
            another_look.soon("curve-look", milliseconds=_LOOK_EVERY)

    with st.container(key="curve", gap=None):
        alone(_NAME, drawn, key=KEY)


def _chart(one: what_if.Setting, label: str, before: float | None) -> None:
    colours = palette()
    points = sorted(curve.of(one).points.values(), key=lambda point: point.value)
    if len(points) < 2:
        _asks(one, label, before)
        return
    st.html(_head(label, colours))
    now = float(cast(float, one.value))
    stops = [
        Stop(
            value=point.value,
            loss=point.loss,
            chance=point.chance,
            gone=point.suppressed / max(point.rows, 1),
            said=_said(point),
            sign="now" if point.value == now else "A" if point.value == before else "",
        )
        for point in points
    ]
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


def _head(label: str, colours: Palette) -> str:
    marks = (
        f"<span style='color:{colours.quasi}'>━ loss</span> "
        f"<span style='color:{colours.sensitive}'>━ worst chance</span> "
        "<span>▮ suppressed</span> · not verified"
    )
    title = "Search only: nothing of it is recomputed until you click a value."
    return f"<div class='aw-curve-head' title='{title}'><b>{escape(label)}</b> {marks}</div>"


def _asks(one: what_if.Setting, label: str, before: float | None) -> None:
    """Draw the button that looks ahead where each search takes its time."""
    last = results.last()
    if last is None or curve.at_once() or curve.is_running():
        return
    many = len(curve.missing(one, before))
    st.button(
        f"Look ahead ({duration(last.took * many / 2)})",
        key="curve/ask",
        width="content",
        on_click=handled(_NAME)(curve.ask),
        help=f"Searches {many} values of {label}, and draws what each would come to. Nothing of "
        "it is verified.",
    )


def _in_a(one: what_if.Setting) -> float | None:
    """Return the parameter's value in baseline A; None where A has no such parameter."""
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
