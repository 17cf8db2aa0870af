"""Single columns in the what-if bar: published at another level, left out, or put back."""

from __future__ import annotations

import streamlit as st

from anon_core.pipeline.result import Result
from ui.components.guard import handled
from ui.forms import level_bounds, run_form
from ui.panels.results import pending_result
from ui.state import results, state
from ui.state.work import what_if
from ui.words.escaping import plain

_NAME = "The what-if bar"
_BETWEEN = "what-if/between/{}"
_OPEN = "what-if/columns"


def draw() -> None:
    """Draw the button, and the columns once it is opened."""
    inside = st.popover("Columns", key=_OPEN, on_change="rerun")
    result = results.last()
    if not inside.open or result is None:
        return
    with inside, st.container(key="levels"):
        node = result.account.node
        technique = run_form.as_set(state.draft()["algorithm"])
        searched = technique.keeps_level_bounds() and not technique.needs.levels_parameter
        st.caption(
            "The search chooses a level between the two handles. Both on one level fix it."
            if searched
            else "A level is published as you choose it; the others stay as they are."
            if node is not None
            else "This technique has no level for a whole column. Leave one out, or choose a "
            "full-domain technique."
        )
        for name in result.problem.quasi:
            plain_row = not searched and node is None
            with st.container(
                horizontal=True, vertical_alignment="center" if plain_row else "bottom"
            ):
                if searched:
                    _between(result, name, None if node is None else node[name])
                elif node is not None:
                    _level(result, name, node[name])
                else:
                    st.markdown(plain(name), width=260)
                st.button(
                    "Leave out",
                    key=f"what-if/leave/{name}",
                    width="content",
                    disabled=len(result.problem.quasi) < 2 or not results.is_current(),
                    on_click=handled(_NAME)(what_if.leave_out),
                    args=(name,),
                )
        for name in what_if.left_out_here():
            st.button(
                f"Put {plain(name)} back",
                key=f"what-if/back/{name}",
                icon=":material/add:",
                width="content",
                on_click=handled(_NAME)(what_if.put_back),
                args=(name,),
            )


def is_open() -> bool:
    """Say whether the columns are shown."""
    return bool(st.session_state.get(_OPEN))


def _between(result: Result, name: str, now: int | None) -> None:
    """Draw the lowest and the highest level of a column as two handles."""
    with st.container(width=300):
        level_bounds.handles(
            name,
            result.level_rows(name),
            result.problem.hierarchies[name].height,
            state.draft().get("level_bounds", {}).get(name, {}),
            key=_BETWEEN.format(name),
            now=now,
            on_change=handled(_NAME)(pending_result.shown(_bounded)),
        )


def _bounded(name: str) -> None:
    result = results.last()
    if result is not None:
        low, high = st.session_state[_BETWEEN.format(name)]
        height = result.problem.hierarchies[name].height
        what_if.keep_within(name, level_bounds.bounds(low, high, height))


def _level(result: Result, name: str, now: int) -> None:
    """Draw the levels of a column with what its first value becomes at each."""
    rows = result.level_rows(name)
    height = result.problem.hierarchies[name].height
    key = f"what-if/level/{name}"
    st.session_state[key] = now

    st.selectbox(
        plain(name),
        range(height + 1),
        index=now,
        format_func=lambda level: level_bounds.level_named(level, rows, height),
        key=key,
        on_change=handled(_NAME)(pending_result.shown(_chosen)),
        args=(name,),
        width=260,
    )


def _chosen(name: str) -> None:
    what_if.publish_at(name, int(st.session_state[f"what-if/level/{name}"]))
