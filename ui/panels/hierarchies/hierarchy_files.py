"""What replaces a column's hierarchy as a whole, and the ways into a file."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.data.hierarchy import Hierarchy, levels_csv
from anon_core.data.hierarchy.files.json_file import hierarchy_json
from anon_core.data.hierarchy.files.relations import relations_text
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from ui.components.downloads import download, later
from ui.components.guard import handled, show_error
from ui.panels.hierarchies import hierarchy_proposals
from ui.state import loading, state


def draw(data: Dataset, name: str) -> None:
    """Draw proposals, the sample's own, no hierarchy at all, import and export."""
    shipped = sample(state.sample_name()).hierarchies if state.sample_name() else {}
    with st.container(horizontal=True, vertical_alignment="center"):
        hierarchy_proposals.menu(data, data.column(name))
        # Another key is another popover, closed: what was imported is not covered by it.
        turn = st.session_state.setdefault("hierarchies/turn", 0)
        with st.popover("Import", icon=":material/upload:", key=f"hierarchies/load/{turn}"):
            _upload(name)
        with st.popover("Export", icon=":material/download:", key="hierarchies/save"):
            _save(name)
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
            on_click=handled("Hierarchy")(state.set_levels),
            args=(name, None),
            help="No levels in between: a value is published unchanged, or suppressed as \\*.",
        )


def _upload(column: str) -> None:
    turn = st.session_state.setdefault("hierarchies/turn", 0)
    st.markdown(
        "- **Level file**, as ARX writes it: one line a value, then its label on each level, "
        "separated by `;` or `,`; the last label is the same for all, for example `*`.\n"
        "- **Text**: lines such as `Root : Europe, Asia` and `Europe : Bonn, Graz`.\n"
        "- **JSON**, as it is exported here."
    )
    chosen = st.file_uploader(
        "Hierarchy file",
        type=["csv", "txt", "json"],
        key=f"hierarchies/upload/{column}/{turn}",
        max_upload_size=64,
    )
    st.caption("Values missing from the file appear in the builder as unassigned.")
    if chosen is None:
        return
    try:
        loading.load_levels(column, loading.Opened(name=chosen.name, content=chosen.getvalue()))
    except AnonError as error:
        show_error(error, where="Nothing was changed")
        return
    st.session_state["hierarchies/turn"] = turn + 1
    st.rerun(scope="fragment")


def _save(column: str) -> None:
    hierarchy = _fitting(column)
    if hierarchy is None:
        st.write("There is nothing to export until the hierarchy fits the column.")
        return
    for label, suffix, mime, write in (
        ("Level file (CSV)", "csv", "text/csv", levels_csv),
        ("Parent : child text", "txt", "text/plain", relations_text),
        ("JSON", "json", "application/json", hierarchy_json),
    ):
        download(
            label,
            later(write, hierarchy),
            file=f"{column}.{suffix}",
            mime=mime,
            key=f"hierarchies/save/{suffix}",
            width="stretch",
        )
    st.caption("Importing any of them gives the same hierarchy again.")


def _fitting(column: str) -> Hierarchy | None:
    """Return the column's hierarchy, or None where it does not fit the column."""
    try:
        return loading.hierarchy_of(column)
    except AnonError:
        return None


@handled("Hierarchy")
def _take_shipped(column: str) -> None:
    state.set_levels(column, loading.shipped_levels(sample(state.sample_name()))[column])
