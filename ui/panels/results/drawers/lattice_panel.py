"""The lattice behind a result: looked at, and any choice of levels in it made the release."""

from __future__ import annotations

from typing import TypeVar, cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.registry import find
from anon_core.contracts.algorithm import by_levels
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.explain.text.phrases import in_a_sentence
from anon_core.methods.lattice.lattice_picture import LatticePicture, Pictured, lattice_picture
from anon_core.pipeline.result import Result
from ui.charts.chart_frame import palette, picked, show
from ui.charts.lattice_plot import (
    height_chart,
    level_words,
    node_chart,
    node_name,
    node_numbers,
    standing,
)
from ui.components.clicks import clicked
from ui.components.guard import handled, panel, show_error
from ui.state import results, state
from ui.state.work import running
from ui.words.escaping import plain

_IN_HAND = "lattice/in_hand"
_OF = "lattice/of"
_KEY = "lattice"
_T = TypeVar("_T", str, float)


def applies(result: Result) -> bool:
    """Say whether a result is a choice of one level per column."""
    return result.account.node is not None and bool(result.problem.quasi)


@st.fragment
@panel("Lattice")
def draw(result: Result) -> None:
    """Draw the lattice of a result, and the choice of levels in hand."""
    with st.container(border=True, key="lattice-panel"):
        st.subheader("Lattice", anchor=False)
        stopped = running.error()
        if stopped is not None:  # the bar says so too, but an open drawer may cover it
            show_error(stopped)
        picture = state.once("lattice-picture", result, lambda: _picture(result))
        metric = find("metric", picture.metric).title
        chosen = next(i for i, node in enumerate(picture.nodes) if node.chosen)
        if st.session_state.get(_OF) is not result:
            st.session_state[_OF] = result
            st.session_state[_IN_HAND] = chosen
        # Streamlit forgets a widget's value when it was not drawn for a while.
        st.session_state[_IN_HAND] = at = int(st.session_state.get(_IN_HAND, chosen))
        colours = palette()
        if not picture.whole and picture.by_height:
            show(height_chart(picture, colours), key="lattice-heights")
        show(
            node_chart(result.problem, picture, metric, at, colours),
            key=_KEY,
            on_pick=_take_in_hand,
        )
        node = picture.nodes[
            st.selectbox(
                "Selected levels",
                range(len(picture.nodes)),
                format_func=lambda i: (
                    node_name(picture, picture.nodes[i])
                    + (" (chosen)" if picture.nodes[i].chosen else "")
                ),
                key=_IN_HAND,
            )
        ]
        _in_hand(result, picture, node, metric)


def _in_hand(result: Result, picture: LatticePicture, node: Pictured, metric: str) -> None:
    named = zip(picture.columns, node.levels, strict=True)
    levels = [
        f"**{plain(c)}** {plain(level_words(result.problem, c, level))}" for c, level in named
    ]
    st.markdown("  \n".join(levels))
    words = standing(picture, node)
    numbers = ", ".join(node_numbers(picture, node, in_a_sentence(metric)))
    st.markdown(plain(f"{words[:1].upper()}{words[1:]}: {numbers}."))
    against = _against(node)
    if clicked(
        "Make these levels the release",
        key="lattice-release",
        disabled=bool(against),
        help=plain(against)
        or "Runs the technique “Chosen levels” with the current privacy models.",
    ):
        _release(result, picture, node)
    if against:
        st.caption(plain(against))


@handled("Lattice")
def _take_in_hand() -> None:
    place = picked(_KEY)
    if isinstance(place, int):
        st.session_state[_IN_HAND] = place


def _against(node: Pictured) -> str:
    """Return why a node cannot be made the release now, or an empty text."""
    if node.chosen:
        return "The release already has these levels."
    if node.holds is False:
        return "These levels do not satisfy the privacy models within the budget."
    if not results.is_current():
        return "Settings have changed since this run; run again first."
    if running.is_running():
        return "A run is under way."
    return ""


def _release(result: Result, picture: LatticePicture, node: Pictured) -> None:
    named = zip(picture.columns, node.levels, strict=True)
    share = _setting(result, "max_suppression", 0.0) if picture.budget else 0.0
    state.update_draft(algorithm=by_levels(dict(named), share))
    try:
        running.start()
    except AnonError as error:
        show_error(error)
        return
    st.rerun()


def _picture(result: Result) -> LatticePicture:
    asked = getattr(result.plan.algorithm, "metric", None)
    metric = asked if isinstance(asked, CellCost | SizeCost) else None
    with st.spinner("Counting the classes of the lattice's nodes"):
        return lattice_picture(
            result.problem,
            result.plan.models,
            result.account,
            Context(),
            max_suppression=_setting(result, "max_suppression", 0.0),
            transformation=_setting(result, "transformation", "AG_TS"),
            metric=metric,
        )


def _setting(result: Result, name: str, default: _T) -> _T:
    return cast(_T, result.plan.algorithm.as_mapping().get(name, default))
