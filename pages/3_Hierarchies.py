"""Hierarchies: how each quasi-identifier becomes coarser, level by level."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.data.table import Dataset
from ui.components.guard import panel, show_error
from ui.panels import page_frame
from ui.panels.hierarchies import hierarchy_files, level_panel, many_hierarchies_panel
from ui.panels.hierarchies.hierarchy_builder import builder
from ui.state import state
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

#: Columns that are listed in sight; more would push what is edited out of the window.
_IN_SIGHT = 30


def main() -> None:
    """Draw the page."""
    if not page_frame.page("Hierarchies", "🪜", needs="roles"):
        return
    try:
        data, released = state.typed_dataset(), state.released_dataset()
    except AnonError as error:
        show_error(error, where="The table cannot be read as chosen; see Data")
        return
    if data is None or released is None:
        return
    _choice(data, released)
    page_frame.next_step("pages/4_Run.py", "Choose a technique and run it")


@st.fragment
@panel("Hierarchies")
def _choice(data: Dataset, released: Dataset) -> None:
    """Draw everything that an edit changes; an edit draws no more than this again."""
    roles = state.roles()
    with panel(many_hierarchies_panel.PANEL):
        many_hierarchies_panel.draw(roles.quasi)
    # What a sensitive column can be published as is chosen on Run.
    columns = (*roles.quasi, *(n for n in roles.sensitive if n not in roles.quasi))
    column = _column(columns)
    if column not in roles.quasi:
        st.caption(
            "Published exactly unless you choose a level on Run; searches never generalize a "
            "sensitive column."
        )
    files = st.container()
    with st.container(key="stack-hierarchy"):
        left, right = st.columns([13, 5], gap="medium")
    fits = False
    with left, panel("Builder"):  # first, since it is what the hand is waiting for
        fits = builder(data.column(column))
    with files, panel("Hierarchy"):
        hierarchy_files.draw(data, column)
    if fits and column in roles.quasi:
        with right, panel("What each level does"):
            level_panel.draw(released, column)


def _column(columns: tuple[str, ...]) -> str:
    """Draw the choice of a column: all in sight, or a list to type in where they are many."""
    help_text = (
        "A hierarchy generalizes a value level by level, up to one top that hides it. "
        "Searches choose among its levels; without one, a value is kept or suppressed."
    )
    if len(columns) > _IN_SIGHT:
        labels = {name: f"{name} · {_caption(name)}" for name in columns}
        return st.selectbox(
            "Column",
            columns,
            format_func=labels.__getitem__,
            **remembered("hierarchies/column"),
            help=help_text,
            width=420,
        )
    return st.radio(
        "Column",
        columns,
        format_func=plain,
        captions=[_caption(name).replace("*", "\\*") for name in columns],
        **remembered("hierarchies/column"),
        horizontal=True,
        help=help_text,
    )


def _caption(column: str) -> str:
    rows = state.levels().get(column)
    sensitive = column not in state.roles().quasi
    if not rows:
        return "sensitive, exact" if sensitive else "value or *"
    height = max(len(rows[0]) - 1, 1)
    height_text = f"{height} level{'s' if height > 1 else ''}"
    return f"sensitive, {height_text}" if sensitive else height_text


main()
