"""The editable table of roles, and how its words become roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from anon_core.base.errors import BadPlan, listing
from anon_core.data.role_suggestions import Suggestion
from anon_core.data.roles import Roles
from anon_core.job.profile import ColumnProfile

from ..charts.theme import ROLE_STYLE
from ..components.guard import handled
from ..session import state

#: Choice → the roles it stands for.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "identifier": ("identifier",),
    "person": ("person",),
    "quasi": ("quasi",),
    "sensitive": ("sensitive",),
    "both": ("quasi", "sensitive"),
    "insensitive": ("insensitive",),
    "left_out": (),
    "undecided": (),
}
_EPOCH = "roles/epoch"
_BASE = "roles/base"


def word(choice: str) -> str:
    """Return the sign and word of a choice."""
    if choice == "both":
        return f"{word('quasi')} and {word('sensitive')}"
    _, _, sign, name = ROLE_STYLE[choice]
    return f"{sign} {name}"


def as_roles(choices: Mapping[str, str]) -> Roles:
    """Return the roles that choices by column make, in the order of the columns.

    Raises
    ------
    BadPlan
        If several columns are to tell persons apart.
    """
    person = [n for n, c in choices.items() if "person" in CHOICES[c]]
    if len(person) > 1:
        raise BadPlan(
            f"{listing(person)} are both to tell persons apart; one column does.",
            remedy="Mark the others as identifiers: these are not published either.",
        )
    return Roles(
        identifier=tuple(n for n, c in choices.items() if "identifier" in CHOICES[c]),
        quasi=tuple(n for n, c in choices.items() if "quasi" in CHOICES[c]),
        sensitive=tuple(n for n, c in choices.items() if "sensitive" in CHOICES[c]),
        insensitive=tuple(n for n, c in choices.items() if "insensitive" in CHOICES[c]),
        person=person[0] if person else "",
    )


def left_out(choices: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that choices by column leave out."""
    return tuple(n for n, c in choices.items() if c == "left_out")


def as_choices(roles: Roles, left_out: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the choice of each column that makes these roles."""
    by_roles = {of: choice for choice, of in CHOICES.items() if of}
    return {
        n: by_roles[roles.of(n)] if roles.of(n) else "left_out" if n in left_out else "undecided"
        for n in names
    }


def take(choices: Mapping[str, str]) -> None:
    """Give the session's columns the roles that choices by column make; can be undone."""
    state.set_roles(as_roles(choices), left_out(choices))


def change(base: Mapping[str, str], edited: Mapping[int, Mapping[str, Any]]) -> dict[str, str]:
    """Return the choices after the editor's changes.

    Parameters
    ----------
    base : mapping of str to str
        Choice by column, as the editor was given it.
    edited : mapping of int to mapping
        The editor's changes: by position, the cells that differ.
    """
    names = list(base)
    after = dict(base)
    for place, cells in edited.items():
        if cells.get("Role") in CHOICES:
            after[names[int(place)]] = cells["Role"]
    return after


def editor(found: Sequence[ColumnProfile], suggested: Sequence[Suggestion]) -> None:
    """Draw the table; a changed cell changes the session's roles at once.

    The editor keeps its own changes, so its table must stay the same while they come from it.
    Whatever else changes the roles (undo, suggestions, another table) starts it anew.
    """
    names = [one.name for one in found]
    now = as_choices(state.roles(), state.left_out(), names)
    base: dict[str, str] = st.session_state.get(_BASE, {})
    key = f"roles/editor/{st.session_state.setdefault(_EPOCH, 0)}"
    edited = st.session_state.get(key, {}).get("edited_rows", {})
    if list(base) != names or change(base, edited) != now:
        base = now
        st.session_state[_BASE] = base
        st.session_state[_EPOCH] += 1
        key = f"roles/editor/{st.session_state[_EPOCH]}"
    st.data_editor(
        {
            "Column": names,
            "Role": list(base.values()),
            "Suggestion": [word(one.role) for one in suggested],
            "Why": [one.reason for one in suggested],
            "Unique values": [one.once_share * 100 for one in found],
        },
        key=key,
        hide_index=True,
        disabled=["Column", "Suggestion", "Why", "Unique values"],
        on_change=_take,
        args=(key,),
        height="content" if len(names) <= 20 else 720,
        column_config={
            "Column": st.column_config.TextColumn(width=140),
            "Role": st.column_config.SelectboxColumn(
                options=list(CHOICES),
                format_func=lambda choice: word(str(choice)),
                required=True,
                width=215,
            ),
            "Suggestion": st.column_config.TextColumn(width=135),
            "Why": st.column_config.TextColumn(width=320),
            "Unique values": st.column_config.NumberColumn(
                format="%.1f%%",
                width=80,
                help="Share of rows whose value no other row has: who knows it finds the row.",
            ),
        },
    )


@handled("Roles")
def _take(key: str) -> None:
    edited = st.session_state[key]["edited_rows"]
    take(change(st.session_state[_BASE], edited))
