"""The points of a sweep: the frontier, the least loss within a limit, and each point as a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from anon_core.base.registry import find
from anon_core.base.thresholds import USUAL_THRESHOLDS
from anon_core.explain.text.phrases import chance, rows
from anon_core.pipeline.sweep.points import (
    Figure,
    Least,
    Point,
    common_losses,
    known_risks,
    least_loss,
)
from ui.charts.chart_frame import Palette, Series, picked, show
from ui.charts.frontier_plot import Axes, frontier_chart, risk_title
from ui.components.clicks import clicked
from ui.components.guard import handled
from ui.state.kept_fields import last_number, remembered
from ui.state.work import sweep
from ui.words.escaping import plain

_IN_HAND = "frontier/in_hand"
_KEY = "frontier"
_FIGURES: dict[Figure, str] = {"worst": "worst person", "rate": "all people, on average"}
_AT_MOST = USUAL_THRESHOLDS["public"].chance


def draw(runs: Sequence[Series], colours: Palette) -> None:
    """Draw the points that there are, and what is asked of them."""
    points = sweep.points()
    if not points:
        return
    risks = known_risks(points)
    if risks:
        axes = _axes(risks, points)
        answer = least_loss(
            points, loss=axes.loss, risk=axes.risk, at_most=axes.at_most, figure=axes.figure
        )
        _answer(answer, points, axes)
        show(
            frontier_chart(points, runs, colours, axes, answer.point),
            key=_KEY,
            on_pick=_take_in_hand,
        )
        _in_hand(points, axes)
    refused = [p for p in points if p.status != "released"]
    if refused:
        with st.expander(f"No release ({len(refused)})"):
            for point in refused:
                st.markdown(f"- {plain(f'{point.title}: {point.why}')}")


def _axes(risks: Sequence[str], points: Sequence[Point]) -> Axes:
    """Draw the two questions: which risk, and at most how much; and which measure of loss."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        risk = st.selectbox(
            "Which risk", risks, format_func=risk_title, **remembered("frontier-risk")
        )
        figure = st.selectbox(
            "Of whom",
            list(_FIGURES),
            format_func=_FIGURES.__getitem__,
            **remembered("frontier-figure"),
        )
        at_most = st.number_input(
            "At most",
            min_value=0.0,
            max_value=1.0,
            value=last_number("frontier-at-most", _AT_MOST),
            step=0.01,
            format="%.3f",
            **remembered("frontier-at-most"),
            width=130,
        )
        loss = st.selectbox(
            "Loss measured by",
            common_losses(points),
            format_func=lambda n: find("metric", n).title,
            **remembered("frontier-loss"),
        )
    return Axes(risk=risk, figure=figure, loss=loss, at_most=float(at_most))


def _answer(answer: Least, points: Sequence[Point], axes: Axes) -> None:
    """Say which point loses least within the limit, with a button that opens it."""
    asked = f"{risk_title(axes.risk)} ({_FIGURES[axes.figure]}) at most {axes.at_most:g}"
    with st.container(border=True, key="frontier-answer"):
        if answer.point is not None:
            risk = answer.point.risk(axes.risk, axes.figure)
            st.markdown(
                f"The least loss with {plain(asked)}: **{plain(answer.point.title)}** – loss "
                f"{answer.point.losses[axes.loss]:.4g}, risk {plain(chance(risk or 0.0))}, "
                f"{rows(answer.point.suppressed)} suppressed. {answer.within} of "
                f"{sum(p.status == 'released' for p in points)} releases are within the limit."
            )
            _open(answer.point, key="answer", label="Open it in Results")
        else:
            nearest = answer.nearest
            near = ""
            if nearest is not None:
                lowest = nearest.risk(axes.risk, axes.figure) or 0.0
                near = f" The lowest has **{plain(nearest.title)}**: {plain(chance(lowest))}."
            st.markdown(f"No release has {plain(asked)}.{near}")
        if answer.uncounted:
            of = answer.uncounted[0]
            st.caption(
                plain(
                    f"{len(answer.uncounted)} of the releases do not count here: they have no "
                    f"risk figure, such as {of.title}: {of.why_unknown(axes.risk)}"
                )
            )


def _in_hand(points: Sequence[Point], axes: Axes) -> None:
    """Draw one point as the run that it is: opened, pinned or exported."""
    released = [i for i, p in enumerate(points) if p.status == "released"]
    if st.session_state.get(_IN_HAND) not in released:
        st.session_state[_IN_HAND] = released[0]
    st.session_state[_IN_HAND] = st.session_state[_IN_HAND]  # kept while it was not drawn
    point = points[
        st.selectbox(
            "Selected point (or click one on the chart)",
            released,
            format_func=partial(_title, points),
            key=_IN_HAND,
        )
    ]
    risk = point.risk(axes.risk, axes.figure)
    words = chance(risk) if risk is not None else f"no figure – {point.why_unknown(axes.risk)}"
    st.markdown(
        plain(
            f"Loss {point.losses[axes.loss]:.4g}; {risk_title(axes.risk)}: {words}; "
            f"{rows(point.suppressed)} suppressed; {point.seconds:.2f} s."
        )
    )
    for note in point.notes:
        st.caption(plain(note))
    with st.container(horizontal=True):
        _open(point, key="point", label="Open in Results")
        if point.result is not None:
            st.button("Pin", key="point-pin", on_click=handled("Runs")(sweep.pin), args=(point,))
            if clicked("Export", key="point-export") and sweep.take(point) is not None:
                st.switch_page("pages/7_Export.py")
    if point.result is None:
        st.caption("This run was not stored (too many points). Opening it goes to Run.")


def _open(point: Point, *, key: str, label: str) -> None:
    if clicked(label, key=f"{key}-open", disabled=sweep.is_running()):
        kept = sweep.take(point) is not None
        st.switch_page("pages/5_Results.py" if kept else "pages/4_Run.py")


def _title(points: Sequence[Point], place: int) -> str:
    return points[place].title


@handled("Frontier")
def _take_in_hand() -> None:
    place = picked(_KEY)
    if isinstance(place, int):
        st.session_state[_IN_HAND] = place
