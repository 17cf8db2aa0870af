"""Hierarchies that come from elsewhere: the sample's, a file's; and the way back into a file."""

from __future__ import annotations

import streamlit as st

from anon_core.errors import AnonError
from anon_core.hierarchy import Hierarchy, levels_csv
from anon_core.samples import sample
from anon_core.table import Column

from . import loading, shell, state


def draw(column: Column) -> None:
    """Draw what replaces a column's hierarchy as a whole, and what saves it."""
    hierarchy = _fitting(column.name)
    name = column.name
    shipped = sample(state.sample_name()).hierarchies if state.sample_name() else {}
    with st.container(horizontal=True, vertical_alignment="center"):
        if name in shipped:
            st.button(
                "Use the sample's",
                key="hierarchies/shipped",
                icon=":material/inventory_2:",
                on_click=_take_shipped,
                args=(name,),
                help="The hierarchy that comes with this sample.",
            )
        st.button(
            "Use value or \\*",
            key="hierarchies/none",
            icon=":material/vertical_align_top:",
            disabled=name not in state.levels(),
            on_click=state.set_levels,
            args=(name, None),
            help="No levels between: a value is published as it is, or hidden as \\*.",
        )
        with st.popover("Load a file", icon=":material/upload:", key="hierarchies/load"):
            _upload(name)
        st.download_button(
            "Download",
            # Made when it is asked for, outside of the session: nothing may be looked up then.
            data="" if hierarchy is None else lambda: levels_csv(hierarchy),
            file_name=f"{name}.csv",
            mime="text/csv",
            key="hierarchies/download",
            disabled=hierarchy is None,
            icon=":material/download:",
            on_click="ignore",
            help="As a level file: one line a value, then its label on each level.",
        )
        shell.undo_button(key="hierarchies/undo")


def _upload(column: str) -> None:
    turn = st.session_state.setdefault("hierarchies/turn", 0)
    st.markdown(
        "One line a value: the value, then its label on each level, separated by `;` or `,`. "
        "The last label is the same for all, for example `*`."
    )
    chosen = st.file_uploader(
        "Level file (CSV)",
        type=["csv", "txt"],
        key=f"hierarchies/upload/{column}/{turn}",
        max_upload_size=64,
    )
    if chosen is None:
        return
    try:
        loading.load_levels(column, loading.Opened(name=chosen.name, content=chosen.getvalue()))
    except AnonError as error:
        shell.show_error(error, where="Nothing was changed")
        return
    st.session_state["hierarchies/turn"] = turn + 1
    st.rerun(scope="fragment")


def _fitting(column: str) -> Hierarchy | None:
    """Return the column's hierarchy, or None where it does not fit the column."""
    try:
        return loading.hierarchy_of(column)
    except AnonError:
        return None


def _take_shipped(column: str) -> None:
    state.set_levels(column, loading.shipped_levels(sample(state.sample_name()))[column])
