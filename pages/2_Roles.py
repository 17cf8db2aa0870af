"""Roles: what each column is to an attacker, and how unique that makes the rows."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.data.profile import ColumnProfile, Uniqueness, profile, uniqueness
from anon_core.data.roles.suggestions import Suggestion, suggested
from anon_core.data.table import Dataset
from anon_core.explain.text.phrases import few, share
from ui.components.guard import handled, panel, show_error
from ui.forms import role_table
from ui.panels import identifier_panel, page_frame
from ui.state import confirmations, state
from ui.words.escaping import plain

_APPLIED = "roles/applied"
#: As high for one line as for two, so that nothing below moves when a role is chosen.
_LOOK = """<style>.st-key-unique-rows {min-height: 3.4rem; gap: 0;}</style>"""
_EXPLAINED = (
    "**Identifiers** (names, ID numbers) are never published. **Person** is the ID column of a "
    "table with several rows per person; it is not published, and privacy models and attacks then "
    "count people instead of rows. **Household** groups people who live together; each household "
    "counts as one. **Weight** is how many people a row of a survey represents; it is not "
    "published. **Quasi-identifiers**, such as age and ZIP code, are what an attacker may know "
    "of a person; they are generalized, or their links are cut. **Sensitive** columns are what no "
    "attacker should learn; they are published and protected. **Insensitive** columns are "
    "published unchanged. **Left out** columns are neither published nor used. **Undecided** "
    "columns block Run, so nothing is published by accident.\n\n"
    "**Hints of the law**, never a judgement: HIPAA (45 CFR 164.514, United States, since 2003) "
    "lists 18 kinds of identifiers; *Columns that identify* looks for them. GDPR article 9 "
    "(European Union, since 2018) lists special categories, such as health, religion and origin: "
    "mark these as sensitive. Directive 95/46/EC applied until then."
)


def main() -> None:
    """Draw the page."""
    if not page_frame.page("Roles", "🎭", needs="dataset"):
        return
    try:
        data, released = state.typed_dataset(), state.released_dataset()
    except AnonError as error:
        show_error(error, where="The table cannot be read as chosen; see Data")
        return
    if data is None or released is None:
        return
    found = state.once("profile", data.fingerprint, lambda: profile(data))
    proposed = state.once("suggested", data.fingerprint, lambda: suggested(data))
    with st.container(key="unique-rows"), panel("How unique the rows are"):
        st.html(_LOOK)
        _uniqueness(released)
    with panel("Suggestions"):
        _buttons(proposed, released)
    with panel("Roles"):
        role_table.editor(found, proposed)
    with panel("What is undecided"):
        _undecided()
    with panel(role_table.PANEL):
        role_table.draw_findings()
    with panel("What is published exactly"):
        _published(data, found)
    page_frame.next_step(
        "pages/3_Hierarchies.py", "Choose how each quasi-identifier becomes coarser"
    )


def _buttons(suggested: tuple[Suggestion, ...], data: Dataset) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Apply suggestions",
            icon=":material/auto_fix_high:",
            key="roles/apply",
            on_click=handled("Suggestions")(_apply),
            args=(suggested,),
            help="Give every column the suggested role; what is unknown stays undecided. Can be "
            "undone.",
        )
        undecided = state.undecided()
        st.button(
            "Leave out what is undecided",
            icon=":material/block:",
            key="roles/leave_out",
            disabled=not undecided,
            on_click=handled("Roles")(state.set_roles),
            args=(state.roles(), (*state.left_out(), *undecided)),
            help="Columns without a role are neither published nor used. Can be undone.",
        )
        page_frame.undo_button(key="roles/undo")
        if state.roles().quasi:
            with st.popover("What each contributes", type="tertiary"):
                _contributions(_found(data))
        identifier_panel.draw(data)
        with st.popover("What the roles mean", icon=":material/help:", type="tertiary"):
            st.markdown(_EXPLAINED)
    said, made = st.session_state.get(_APPLIED, ("", None))
    if said and made == (state.roles(), state.left_out()):
        st.success(said, icon=":material/auto_fix_high:")


def _apply(suggested: tuple[Suggestion, ...]) -> None:
    """Give every column the role that was suggested, and say what came of it."""
    given = [one for one in suggested if one.role != "undecided"]
    role_table.take({one.name: one.role for one in suggested})
    roles = dict.fromkeys(one.role for one in given)
    parts = [f"{sum(one.role == r for one in given)} {role_table.word(r)}" for r in roles]
    said = f"{len(given)} of {len(suggested)} columns have the suggested role: {', '.join(parts)}."
    rest = [plain(one.name) for one in suggested if one.role == "undecided"]
    if rest:
        said += f" There is no suggestion for {few(rest)}: decide below."
    st.session_state[_APPLIED] = (said, (state.roles(), state.left_out()))


def _uniqueness(data: Dataset) -> None:
    quasi = state.roles().quasi
    if not quasi:
        st.markdown(
            ":material/info: No quasi-identifier is marked yet. Apply the suggestions, or mark at "
            "least one column that an attacker could know."
        )
        return
    found = _found(data)
    most = found.most
    those = "this quasi-identifier" if len(quasi) == 1 else f"these {len(quasi)} quasi-identifiers"
    line = (
        f"With {those}, **{share(found.share)} of {found.counted} are unique** "
        f"({found.unique:,} of {found.rows:,})"
    )
    if most:
        without = (found.unique - found.contribution[most]) / found.rows
        line += (
            f"; **{plain(most)}** contributes most: without it, {share(without)} would be unique."
        )
    else:
        line += "."
    st.markdown(line)


def _found(data: Dataset) -> Uniqueness:
    quasi, person = state.roles().quasi, state.roles().unit
    return state.once(
        "unique rows",
        (data.fingerprint, quasi, person),
        lambda: uniqueness(data, quasi, person),
    )


def _contributions(found: Uniqueness) -> None:
    order = sorted(found.contribution, key=lambda name: -found.contribution[name])
    fewer, part = (
        f"Fewer unique {found.counted} if it were dropped",
        f"Share of all {found.counted}",
    )
    st.dataframe(
        {
            "Quasi-identifier": order,
            fewer: [found.contribution[name] for name in order],
            part: [found.contribution[name] / found.rows * 100 for name in order],
        },
        hide_index=True,
        column_config={
            fewer: st.column_config.NumberColumn(format="localized"),
            part: st.column_config.ProgressColumn(format="%.1f%%", min_value=0, max_value=100),
        },
    )
    st.caption("A column contributes nothing if another column carries the same information.")


def _undecided() -> None:
    """Name the columns that still block Run."""
    names = state.undecided()
    if names:
        st.warning(
            f"Still undecided: {few([plain(name) for name in names])}. Give each a role or "
            "leave it out to enable Run.",
            icon=":material/help:",
        )


def _published(data: Dataset, found: tuple[ColumnProfile, ...]) -> None:
    """Say what the insensitive columns, which are published exactly, add to the risk."""
    roles = state.roles()
    exact = roles.exact(data)
    if not roles.quasi or not exact:
        return
    asked = {one.column for one in confirmations.found() if one.what == "unique"}
    telling = [
        one
        for one in found
        if one.name in exact and one.name not in asked and one.once_share >= 0.05
    ]
    if telling:
        names = ", ".join(f"{plain(one.name)} ({share(one.once_share)})" for one in telling[:5])
        st.warning(
            f"Published unchanged, although many of their values are unique: {names}. Anyone who "
            "knows one of these values can find the row. Mark them as quasi-identifiers, or leave "
            "them out.",
            icon=":material/fingerprint:",
        )


main()
