"""Roles: what each column is to an attacker, and how unique that makes the rows."""

from __future__ import annotations

import streamlit as st

from anon_core.errors import BadInput
from anon_core.profile import ColumnProfile, Uniqueness, profile, uniqueness
from anon_core.suggest import Suggestion, suggest_roles
from anon_core.table import Dataset
from ui import assigning, shell, state
from ui.explain import plain
from ui.words import share

_EXPLAINED = (
    "**Identifiers** (names, numbers of persons) are left out of every release. "
    "**Quasi-identifiers** are what an attacker may know of a person, such as age and ZIP code; "
    "they are made coarser, or their links to the rest are cut. **Sensitive** columns are what "
    "nobody must learn; they stay and are protected. **Insensitive** columns are published exactly "
    "as they are."
)


def main() -> None:
    """Draw the page."""
    if not shell.page("Roles", "🎭", needs="dataset"):
        return
    try:
        data = state.typed_dataset()
    except BadInput as error:
        shell.show_error(error, where="A column cannot be read as its type; see Data")
        return
    if data is None:
        return
    st.markdown(_EXPLAINED)
    found = state.once("profile", data.fingerprint, lambda: profile(data))
    suggested = state.once("suggested", data.fingerprint, lambda: suggest_roles(data))
    _uniqueness(data)
    _buttons(suggested)
    assigning.editor(found, suggested)
    _published(data, found)
    shell.next_step("pages/3_Hierarchies.py", "Choose how each quasi-identifier becomes coarser")


def _buttons(suggested: tuple[Suggestion, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Apply suggestions",
            icon=":material/auto_fix_high:",
            key="roles/apply",
            on_click=state.set_roles,
            args=(assigning.as_roles({one.name: one.role for one in suggested}),),
            help="Give every column the suggested role; can be undone.",
        )
        shell.undo_button(key="roles/undo")
        st.caption("Double-click a role, or press Enter on it, to change it.")


def _uniqueness(data: Dataset) -> None:
    quasi = state.roles().quasi
    if not quasi:
        st.info(
            "No quasi-identifier is marked yet. Apply the suggestions, or mark at least one "
            "column that an attacker could know.",
            icon=":material/info:",
        )
        return
    found = state.once("uniqueness", (data.fingerprint, quasi), lambda: uniqueness(data, quasi))
    most = found.most
    those = "this quasi-identifier" if len(quasi) == 1 else f"these {len(quasi)} quasi-identifiers"
    line = (
        f"With {those}, **{share(found.share)} of rows are unique** ({found.unique:,} of "
        f"{found.rows:,})"
    )
    if most:
        without = (found.unique - found.contribution[most]) / found.rows
        line += (
            f"; **{plain(most)}** contributes most: without it, {share(without)} would be unique."
        )
    else:
        line += "."
    with st.container(border=True):
        st.markdown(line)
        with st.expander("What each quasi-identifier contributes"):
            _contributions(found)


def _contributions(found: Uniqueness) -> None:
    order = sorted(found.contribution, key=lambda name: -found.contribution[name])
    st.dataframe(
        {
            "Quasi-identifier": order,
            "Unique rows fewer without it": [found.contribution[name] for name in order],
            "Share of all rows": [found.contribution[name] / found.rows * 100 for name in order],
        },
        hide_index=True,
        column_config={
            "Unique rows fewer without it": st.column_config.NumberColumn(format="localized"),
            "Share of all rows": st.column_config.ProgressColumn(
                format="%.1f%%", min_value=0, max_value=100
            ),
        },
    )
    st.caption("A column can contribute nothing because another one says the same.")


def _published(data: Dataset, found: tuple[ColumnProfile, ...]) -> None:
    """Say what the insensitive columns, which are published exactly, add to the risk."""
    roles = state.roles()
    exact = roles.insensitive(data)
    if not roles.quasi or not exact:
        return
    telling = [one for one in found if one.name in exact and one.once_share >= 0.05]
    if telling:
        names = ", ".join(f"{plain(one.name)} ({share(one.once_share)})" for one in telling[:5])
        st.warning(
            f"Published exactly although many rows have a value of their own: {names}. Whoever "
            "knows such a value finds the row. Consider marking them as quasi-identifiers.",
            icon=":material/fingerprint:",
        )


main()
