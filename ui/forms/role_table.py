"""The table of roles: columns are ticked, and get a role together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from anon_core.base.errors import BadPlan, listing
from anon_core.data.role_suggestions import Suggestion
from anon_core.data.roles import Roles
from anon_core.job.profile import ColumnProfile

from ..charts.theme import ROLE_STYLE, role_colour
from ..components.guard import handled
from ..session import state

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

#: Choice → the roles it stands for.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "identifier": ("identifier",),
    "person": ("person",),
    "household": ("household",),
    "quasi": ("quasi",),
    "sensitive": ("sensitive",),
    "both": ("quasi", "sensitive"),
    "insensitive": ("insensitive",),
    "left_out": (),
    "undecided": (),
}
PANEL = "Roles"
_ALL = "All columns"
_EPOCH, _SHOWN, _FIND = "roles/epoch", "roles/shown", "roles/find"
#: Characters that fit into a line of the widest column, and the height of a line and of its rims.
_LINE, _HIGH, _RIM = 38, 19, 16
_WIDTHS = {"Column": 135, "Role": 130, "Suggestion, and why": 285, "Unique values": 70}


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
        If several columns are to tell persons apart, or households.
    """
    told = {
        role: [n for n, c in choices.items() if role in CHOICES[c]]
        for role in ("person", "household")
    }
    for role, names in told.items():
        if len(names) > 1:
            raise BadPlan(
                f"{listing(names)} are both to tell {role}s apart; one column does.",
                remedy="Mark the others as identifiers: these are not published either.",
            )
    return Roles(
        identifier=tuple(n for n, c in choices.items() if "identifier" in CHOICES[c]),
        quasi=tuple(n for n, c in choices.items() if "quasi" in CHOICES[c]),
        sensitive=tuple(n for n, c in choices.items() if "sensitive" in CHOICES[c]),
        insensitive=tuple(n for n, c in choices.items() if "insensitive" in CHOICES[c]),
        person=next(iter(told["person"]), ""),
        household=next(iter(told["household"]), ""),
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

    Where one column becomes the person or household, the one that was becomes an identifier.
    """
    after = dict(base) | dict.fromkeys(columns, choice)
    if choice in ("person", "household"):
        before = [n for n, c in base.items() if c == choice and n not in columns]
        after |= dict.fromkeys(before, "identifier")
    return after


def editor(found: Sequence[ColumnProfile], suggested: Sequence[Suggestion]) -> None:
    """Draw the table, and above it the roles that the ticked columns can be given."""
    now = as_choices(state.roles(), state.left_out(), [one.name for one in found])
    shown = _shown(now)
    buttons = st.container(key="roles/give")
    if not shown:
        st.info("No column is like that.", icon=":material/search_off:")
        return
    told = {one.name: one for one in suggested}
    alone = {one.name: one.once_share * 100 for one in found}
    cells = {
        "Column": shown,
        "Role": [word(now[name]) for name in shown],
        "Suggestion, and why": [f"{word(told[n].role)}: {told[n].reason}" for n in shown],
        "Unique values": [alone[name] for name in shown],
    }
    high = row_height(cells)
    # What is ticked belongs to these rows with these roles; others start with nothing ticked.
    key = f"roles/grid/{st.session_state.setdefault(_EPOCH, 0)}/{hash(tuple(shown))}"
    event = st.dataframe(
        _coloured(cells, [now[name] for name in shown]),
        key=key,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        row_height=high,
        height=min(720, (high + 1) * len(shown) + 38),
        column_config={
            name: st.column_config.TextColumn(width=width)
            for name, width in _WIDTHS.items()
            if name != "Unique values"
        }
        | {
            "Unique values": st.column_config.NumberColumn(
                format="%.1f%%",
                width=_WIDTHS["Unique values"],
                help="Share of rows whose value no other row has: who knows it finds the row.",
            )
        },
    )
    rows = cast(Any, event).selection.rows
    ticked = [shown[row] for row in rows if row < len(shown)]
    with buttons:
        _give(now, ticked)


def _shown(now: Mapping[str, str]) -> list[str]:
    """Draw what is looked for, and return the columns to show."""
    left, right = st.columns(2)
    of = [*now.values()]
    present = [_ALL, *(choice for choice in CHOICES if choice in of)]
    if st.session_state.get(_SHOWN) not in present:
        st.session_state[_SHOWN] = _ALL  # the last column of a role has got another one
    wanted = left.selectbox(
        "Show",
        present,
        format_func=lambda c: f"{word(c)} ({of.count(c)})" if c in CHOICES else c,
        key=_SHOWN,
    )
    part = right.text_input("Find columns", key=_FIND, placeholder="Part of a name").casefold()
    return [n for n, c in now.items() if wanted in (_ALL, c) and part in n.casefold()]


def _give(now: Mapping[str, str], ticked: Sequence[str]) -> None:
    if ticked:
        st.caption(f"{len(ticked)} ticked; make {'it' if len(ticked) == 1 else 'them'}:")
    else:
        st.caption("Tick columns at their left (at the top all that are shown), then choose:")
    row = st.container(horizontal=True)
    for choice in CHOICES:
        row.button(
            word(choice),
            key=f"roles/give/{choice}",
            disabled=not ticked or (choice in ("person", "household") and len(ticked) > 1),
            on_click=handled(PANEL)(_take),
            args=(change(now, ticked, choice),),
        )


def _take(choices: Mapping[str, str]) -> None:
    take(choices)
    st.session_state[_EPOCH] += 1


def row_height(cells: Mapping[str, Sequence[object]]) -> int:
    """Return the height at which no text of the table is cut off."""
    lines = 1
    for name, width in _WIDTHS.items():
        fits = max(1, _LINE * width // _WIDTHS["Suggestion, and why"])
        longest = max(len(str(cell)) for cell in cells[name])
        lines = max(lines, -(-longest // fits)) if name != "Unique values" else lines
    return _RIM + _HIGH * min(lines, 6)


def _coloured(cells: Mapping[str, Sequence[object]], roles: Sequence[str]) -> Styler:
    """Return the table with each column's name and role in the colour of its role."""
    import pandas as pd

    def colours(row: pd.Series) -> list[str]:
        choice = roles[cast(int, row.name)]
        colour = role_colour("quasi" if choice == "both" else choice)
        own = f"color: {colour}; font-weight: 600"
        return [own if name in ("Column", "Role") else "" for name in cells]

    return pd.DataFrame(dict(cells)).style.apply(colours, axis=1)
