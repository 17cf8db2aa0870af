"""Where a column's hierarchy is built: by dragging values into groups."""

from __future__ import annotations

from typing import Any

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.terms import in_figures
from anon_core.data.column import Column
from ui import components
from ui.components.guard import show_error
from ui.panels import page_frame
from ui.panels.hierarchies import cut_panel, label_warnings
from ui.state import drafts
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

#: More values than this are no picture any more, however few of them are in sight.
MOST_VALUES = 20_000


def builder(column: Column) -> bool:
    """Draw the builder of a column; return whether its hierarchy fits the column.

    The builder's own undo covers proposals and files too; only where nothing is built by hand is
    there a button of the page.

    Parameters
    ----------
    column : Column
        As its declared type reads it.
    """
    try:
        message = drafts.message(column)
    except AnonError as error:
        show_error(error, where="The hierarchy no longer fits the column")
        st.caption("Load another one, or choose “value or \\*”. Runs are blocked until then.")
        page_frame.undo_button(key="hierarchies/undo")
        return False
    label_warnings.draw(column)
    line = _line(column) if cut_panel.can_be_cut(column) and _by_cuts(column) else None
    if line is not None:
        components.CUTS.draw(
            line,
            key=f"cuts/{column.name}",
            edited=lambda asked: cut_panel.edit(column, asked),
        )
        if message["unplaced"]:
            many = len(message["unplaced"])
            st.caption(
                f"{in_figures(many, 'value')} {'has' if many == 1 else 'have'} no place yet; the "
                "next change of a cut gives every value one."
            )
        return not message["unplaced"]
    if len(message["leaves"]) > MOST_VALUES:
        st.info(
            f"{len(message['leaves']):,} values are more than can be grouped by hand; at most "
            f"{MOST_VALUES:,} are drawn. Take a proposal, or load a file."
        )
        page_frame.undo_button(key="hierarchies/undo")
        return not message["unplaced"]
    components.TREE.draw(
        message,
        key=f"tree/{column.name}",
        edited=lambda asked: drafts.edit(column, asked),
    )
    if message["unplaced"]:
        st.caption("The hierarchy takes effect once every value is assigned.")
    return not message["unplaced"]


def _line(column: Column) -> dict[str, Any] | None:
    """Return the line of cuts, or say why these groups cannot be drawn on one."""
    try:
        return cut_panel.message(column)
    except AnonError as error:
        st.info(plain(f"{error.message} They are shown as groups here."))
        return None


def _by_cuts(column: Column) -> bool:
    """Let a person choose how numbers and dates are grouped; return whether by cut points."""
    ways = ("Cut points", "Groups")
    chosen = st.segmented_control(
        "Build by",
        ways,
        default=ways[0],
        required=True,
        **remembered(f"hierarchies/way/{column.name}"),
        label_visibility="collapsed",
    )
    return chosen != ways[1]
