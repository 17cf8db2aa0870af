"""The table of roles, column by column or for several that are ticked; findings to confirm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from anon_core.base.errors import BadPlan, listing
from anon_core.data.profile import ColumnProfile
from anon_core.data.roles.findings import Finding
from anon_core.data.roles.roles import Roles
from anon_core.data.roles.suggestions import Suggestion
from ui.charts.theme import ROLE_STYLE, role_colour
from ui.components import ROLES
from ui.components.guard import handled
from ui.state import confirmations, state
from ui.words.escaping import plain

#: Choice → the roles it represents.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "identifier": ("identifier",),
    "person": ("person",),
    "household": ("household",),
    "quasi": ("quasi",),
    "sensitive": ("sensitive",),
    "both": ("quasi", "sensitive"),
    "insensitive": ("insensitive",),
    "left_out": (),
    "weight": ("weight",),
    "undecided": (),
}
#: Roles that one column has at most.
_ALONE = ("person", "household", "weight")
#: In a cell a letter chooses, so that words begin differently where they can.
_WORDS = {"both": "both: quasi, sensitive"}
_SHORT = {"both": "both", "quasi": "quasi"}


def word(choice: str) -> str:
    """Return the sign and word of a choice."""
    if choice == "both":
        return f"{word('quasi')} and {word('sensitive')}"
    _, _, sign, name = ROLE_STYLE[choice]
    return f"{sign} {name}"


def _sign(choice: str) -> str:
    return "".join(ROLE_STYLE[role][2] for role in CHOICES[choice] or (choice,))


def as_roles(choices: Mapping[str, str]) -> Roles:
    """Return the roles that choices by column make, in the order of the columns.

    Raises
    ------
    BadPlan
        If several columns are to have a role that one column has.
    """
    columns_of = {role: [n for n, c in choices.items() if role in CHOICES[c]] for role in _ALONE}
    for role, names in columns_of.items():
        if len(names) > 1:
            what = "give the weight of rows" if role == "weight" else f"identify {role}s"
            raise BadPlan(
                f"{listing(names)} both {what}; choose one column.",
                remedy="Leave the others out, or mark them as identifiers: these are not "
                "published either.",
            )
    return Roles(
        identifier=tuple(n for n, c in choices.items() if "identifier" in CHOICES[c]),
        quasi=tuple(n for n, c in choices.items() if "quasi" in CHOICES[c]),
        sensitive=tuple(n for n, c in choices.items() if "sensitive" in CHOICES[c]),
        insensitive=tuple(n for n, c in choices.items() if "insensitive" in CHOICES[c]),
        person=next(iter(columns_of["person"]), ""),
        household=next(iter(columns_of["household"]), ""),
        weight=next(iter(columns_of["weight"]), ""),
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


def change(base: Mapping[str, str], columns: Sequence[str], choice: str) -> dict[str, str]:
    """Return the choices after some columns got another one.

    Where one column becomes the person or household, the one that was becomes an identifier; where
    it becomes the weight, the one that was is left out.
    """
    after = dict(base) | dict.fromkeys(columns, choice)
    if choice in _ALONE:
        before = [n for n, c in base.items() if c == choice and n not in columns]
        after |= dict.fromkeys(before, "left_out" if choice == "weight" else "identifier")
    return after


def editor(found: Sequence[ColumnProfile], suggested: Sequence[Suggestion]) -> None:
    """Draw the table; a role is chosen in a cell, or for all columns that are ticked."""
    ROLES.draw(message(found, suggested), key="roles/table", edited=edited)


def message(found: Sequence[ColumnProfile], suggested: Sequence[Suggestion]) -> dict[str, Any]:
    """Return what the table draws, as plain values.

    Parameters
    ----------
    found : sequence of ColumnProfile
    suggested : sequence of Suggestion
    """
    now = as_choices(state.roles(), state.left_out(), [one.name for one in found])
    suggestion_of = {one.name: one for one in suggested}
    data = state.dataset()
    return {
        # Another table, or another theme, is drawn from the start.
        "table": f"{data.fingerprint if data is not None else ''}/{role_colour('quasi')}",
        "choices": [
            {
                "key": choice,
                "sign": _sign(choice),
                "word": _WORDS.get(choice) or ROLE_STYLE[choice][3],
                "short": _SHORT.get(choice) or ROLE_STYLE[choice][3],
                "colour": role_colour("quasi" if choice == "both" else choice),
                "alone": choice in _ALONE,
            }
            for choice in CHOICES
        ],
        "columns": [
            {
                "name": one.name,
                "role": now[one.name],
                "suggested": word(suggestion_of[one.name].role),
                "why": suggestion_of[one.name].reason,
                "alone": f"{one.once_share:.1%}",
            }
            for one in found
        ],
    }


def edited(asked: Mapping[str, Any]) -> None:
    """Give the named columns the role that was chosen; what is no column or role is nothing.

    Parameters
    ----------
    asked : mapping
        ``columns`` and ``choice``.

    Raises
    ------
    BadPlan
        If several columns are to have a role that one column has.
    """
    data = state.dataset()
    now = as_choices(state.roles(), state.left_out(), () if data is None else data.names)
    columns = [name for name in asked.get("columns", ()) if name in now]
    choice = str(asked.get("choice", ""))
    if columns and choice in CHOICES:
        take(change(now, columns, choice))


PANEL = "Findings to confirm"


def draw_findings() -> None:
    """Draw every finding with what can be done about it; those confirmed can be taken back."""
    waiting, settled, hidden = confirmations.waiting(), confirmations.settled(), state.redacted()
    if waiting:
        named = "One thing was" if len(waiting) == 1 else f"{len(waiting)} things were"
        st.warning(
            f"{named} found that no privacy model covers. Fix or confirm each to enable Run; what "
            "you confirm is written into the recipe and the report.",
            icon=":material/front_hand:",
        )
    text_columns = {one.column for one in confirmations.found() if one.what == "text"}
    for one in waiting:
        _finding(one, coarser=one.what in ("unique", "day") and one.column not in text_columns)
    if not settled and not hidden:
        return
    with st.container(border=True):
        for one in settled:
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.markdown(f":material/done: Confirmed: {plain(one.sentence)}")
            _click(right, "Take back", confirmations.taken_back, one, key=_key("back", one))
        for column, by in hidden.items():
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.markdown(
                f":material/ink_eraser: Words of {plain(', '.join(by))} are redacted in "
                f"**{plain(column)}**."
            )
            _click(right, "Keep them", confirmations.keep_names, column, key=f"redacted/{column}")


def _finding(one: Finding, *, coarser: bool) -> None:
    with st.container(border=True):
        st.markdown(f"**{plain(one.column)}** – {plain(one.sentence)} {plain(one.remedy)}")
        with st.container(horizontal=True):
            here = st.container(horizontal=True)
            if one.what == "repeats":
                _click(here, "It is the person", _become, one, "person", key=_key("person", one))
                _click(
                    here,
                    "Every row is a person of its own",
                    confirmations.confirmed,
                    one,
                    key=_key("confirm", one),
                )
                return
            if one.what == "names":
                _click(
                    here,
                    "Redact these words",
                    confirmations.redact,
                    one.column,
                    one.identifiers,
                    key=_key("redact", one),
                )
            if coarser:
                _click(
                    here, "Make it a quasi-identifier", _become, one, "quasi", key=_key("q", one)
                )
            _click(here, "Leave it out", _become, one, "left_out", key=_key("out", one))
            _click(
                here, "Publish it all the same", confirmations.confirmed, one, key=_key("yes", one)
            )


def _become(one: Finding, choice: str) -> None:
    data = state.dataset()
    names = () if data is None else data.names
    now = as_choices(state.roles(), state.left_out(), names)
    take({**now, one.column: choice})


def _key(what: str, one: Finding) -> str:
    return f"finding/{what}/{one.what}/{one.column}"


def _click(
    where: DeltaGenerator, label: str, act: Callable[..., None], *args: object, key: str
) -> None:
    where.button(label, key=key, on_click=handled(PANEL)(act), args=args)
