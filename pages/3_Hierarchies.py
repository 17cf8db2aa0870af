"""Hierarchies: how each quasi-identifier becomes coarser, level by level."""

from __future__ import annotations

import streamlit as st

from anon_core.errors import AnonError
from anon_core.hierarchy import Hierarchy, levels_csv
from anon_core.profile import LevelEffect, level_effects, rows_per_leaf
from anon_core.samples import sample
from anon_core.table import Dataset
from ui import loading, shell, state, tree
from ui.explain import plain


def main() -> None:
    """Draw the page."""
    if not shell.page("Hierarchies", "🪜", needs="roles"):
        return
    try:
        data = state.typed_dataset()
    except AnonError as error:
        shell.show_error(error, where="A column cannot be read as its type; see Data")
        return
    if data is None:
        return
    st.write(
        "A hierarchy says how a value becomes coarser, level by level, up to one top that hides "
        "it. Searches choose among its levels; without one a value is kept or hidden entirely."
    )
    with st.container(key="stack-hierarchy"):
        left, right = st.columns([1, 3], gap="large")
    with left:
        column = _choose()
        shell.undo_button(key="hierarchies/undo")
    with right:
        _column(data, column)
    shell.next_step("pages/4_Run.py", "Choose a technique and run it")


def _choose() -> str:
    quasi = state.roles().quasi
    return st.radio(
        "Quasi-identifier",
        quasi,
        format_func=plain,
        captions=[_caption(name) for name in quasi],
        key="hierarchies/column",
    )


def _caption(column: str) -> str:
    rows = state.levels().get(column)
    if not rows:
        return "value or \\*"
    height = max(len(rows[0]) - 1, 1)
    return f"{height} level{'s' if height > 1 else ''} above {len(rows):,} values"


def _column(data: Dataset, column: str) -> None:
    st.header(plain(column), anchor=False)
    hierarchy: Hierarchy | None = None
    refused: AnonError | None = None
    try:
        hierarchy = loading.hierarchy_of(column)
    except AnonError as error:
        refused = error
    _sources(column, hierarchy)
    if refused is not None:
        shell.show_error(refused, where="The hierarchy does not fit the column as it is now")
        st.caption("Load another one, or choose “value or *”. Nothing can be run until then.")
    if hierarchy is None:
        return
    effects = state.once(
        "effects",
        (data.fingerprint, state.roles().quasi, column, state.level_fingerprint(column)),
        lambda: level_effects(data, state.roles().quasi, hierarchy),
    )
    levels, picture, table = st.tabs(["What each level does", "Tree", "Table"])
    with levels:
        _effects(data, hierarchy, effects)
    with picture:
        _tree(data, hierarchy)
    with table:
        _table(hierarchy)


def _sources(column: str, hierarchy: Hierarchy | None) -> None:
    shipped = sample(state.sample_name()).hierarchies if state.sample_name() else {}
    with st.container(horizontal=True, vertical_alignment="center"):
        if column in shipped:
            st.button(
                "Use the sample's",
                key="hierarchies/shipped",
                icon=":material/inventory_2:",
                on_click=_take_shipped,
                args=(column,),
                help="The hierarchy that comes with this sample.",
            )
        st.button(
            "Use value or \\*",
            key="hierarchies/none",
            icon=":material/vertical_align_top:",
            disabled=column not in state.levels(),
            on_click=state.set_levels,
            args=(column, None),
            help="No levels between: a value is published as it is, or hidden as \\*.",
        )
        if hierarchy is not None:
            st.download_button(
                "Download",
                data=lambda: levels_csv(hierarchy),
                file_name=f"{column}.csv",
                mime="text/csv",
                key="hierarchies/download",
                icon=":material/download:",
                on_click="ignore",
                help="As a level file: one line a value, then its label on each level.",
            )
        with st.popover("Load a file", icon=":material/upload:", key="hierarchies/load"):
            _upload(column)


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
    st.rerun()


def _take_shipped(column: str) -> None:
    state.set_levels(column, loading.shipped_levels(sample(state.sample_name()))[column])


def _effects(data: Dataset, hierarchy: Hierarchy, effects: tuple[LevelEffect, ...]) -> None:
    st.dataframe(
        {
            "Level": [one.level for one in effects],
            "Groups": [one.groups for one in effects],
            "For example": [_examples(hierarchy, one.level) for one in effects],
            "Classes": [one.classes for one in effects],
            "Unique rows": [one.unique for one in effects],
            "Unique share": [one.unique / data.rows * 100 for one in effects],
        },
        hide_index=True,
        height="content" if len(effects) <= 14 else 520,
        column_config={
            "Level": st.column_config.NumberColumn(width=60),
            "Groups": st.column_config.NumberColumn(
                format="localized", width=75, help="Groups that rows of the table stand in."
            ),
            "For example": st.column_config.TextColumn(width=190),
            "Classes": st.column_config.NumberColumn(
                format="localized",
                width=80,
                help="Distinct combinations of all quasi-identifiers.",
            ),
            "Unique rows": st.column_config.NumberColumn(
                format="localized", width=100, help="Rows that are alone with theirs."
            ),
            "Unique share": st.column_config.ProgressColumn(
                format="%.1f %%", min_value=0, max_value=100, width=140
            ),
        },
    )
    st.caption(
        "What this column's level does by itself, every other quasi-identifier left exactly as "
        "it is. Level 0 is the value as it stands in the table."
    )


def _examples(hierarchy: Hierarchy, level: int) -> str:
    labels = [text or "(missing)" for text in hierarchy.labels[level]]
    return " · ".join(labels[:3]) + (" …" if len(labels) > 3 else "")


def _tree(data: Dataset, hierarchy: Hierarchy) -> None:
    if len(hierarchy.leaves) > tree.MOST_LEAVES:
        st.caption(
            f"{len(hierarchy.leaves):,} values are too many for a picture; they are under Table."
        )
        return
    tree.draw(hierarchy, rows_per_leaf(data.column(hierarchy.column), hierarchy).tolist())


def _table(hierarchy: Hierarchy) -> None:
    rows = hierarchy.rows()
    st.dataframe(
        {
            "Value" if level == 0 else f"Level {level}": [row[level] or "(missing)" for row in rows]
            for level in range(hierarchy.height + 1)
        },
        hide_index=True,
        height=480 if len(rows) > 13 else "content",
    )


main()
