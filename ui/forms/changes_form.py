"""Identifiers and values that are changed before rows are grouped; the key that some ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.registry import family
from anon_core.contracts.change import Change
from anon_core.methods.changes.keyed import parse_key
from ui.components.guard import show_error
from ui.forms.draft_sync import follow, place
from ui.forms.parameter_forms import parameter_form
from ui.state import state
from ui.state.work.fragments import folded
from ui.words.escaping import changed, plain, what_is_this

_NONE = ""
#: Changes that are asked for here; a recipe may have more.
_MOST = 12


def draw() -> list[dict[str, Any]]:
    """Draw a drawer with every change and room for one more; return the recipe's list."""
    return folded(
        _label,
        lambda: _each(state.draft()),
        lambda: held(state.draft()),
        key="run/changes",
    )


def _label(draft: dict[str, Any]) -> str:
    names = [plain(", ".join(one["columns"])) for one in held(draft)]
    return f"Identifiers and changed values · {changed(names, usual='as they are')}"


def held(draft: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what `draw` returns where no one changes anything."""
    return list(cast("Sequence[dict[str, Any]]", draft.get("changes", [])))


def _each(draft: dict[str, Any]) -> list[dict[str, Any]]:
    present = held(draft)
    if len(present) > _MOST:
        return present
    st.caption(
        "Changes are made before rows are grouped. Privacy models about classes are "
        "not defined on a replaced column: equal published cells are no crowd, since "
        "none of them need be its person's own."
    )
    found: list[dict[str, Any]] = []
    for number in range(_MOST):
        given = present[number] if number < len(present) else {}
        one = _one(number, given)
        if one is None:
            if number >= len(present):
                break
            continue
        found.append(one)
    if any(_kinds()[str(one["name"])].effect.needs_key for one in found):
        _key()
    return found


def _kinds() -> dict[str, type[Change]]:
    known = cast("dict[str, type[Change]]", family("change"))
    return dict(sorted(known.items(), key=lambda own: own[1].title.casefold()))


def _one(number: int, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Draw one change; None where it is no change (any more)."""
    kinds = _kinds()
    options = [_NONE, *kinds]
    with st.container(border=True, key=f"change-{number}"):
        key = f"changes/{number}"
        first, second = st.columns(2, vertical_alignment="bottom")
        with first:
            chosen = st.selectbox(
                "Change" if given else "Add a change",
                options,
                index=place(options, follow(key, str(given.get("name", _NONE)))),
                key=key,
                format_func=lambda name: kinds[name].title if name else "no change",
            )
        if not chosen:
            return None
        kind = kinds[chosen]
        named = [str(n) for n in given.get("columns", [])]
        known = list(dict.fromkeys((*_columns(kind), *named)))
        with second:
            where = f"{key}/{chosen}/columns"
            columns = st.multiselect(
                "Columns",
                known,
                default=follow(where, named),
                key=where,
                placeholder="no column",
            )
        st.caption(plain(f"{kind.when} {kind.leaves}"))
        own = given if given.get("name") == chosen else {}
        values = {n: v for n, v in own.items() if n not in ("name", "columns")}
        parameters = parameter_form(kind, values, key=key, sensitive=state.roles().sensitive)
        what_is_this(kind)
    return {"name": chosen, "columns": columns, **parameters}


def _columns(kind: type[Change]) -> list[str]:
    """Return the columns whose role allows a change, in the table's order."""
    roles, data = state.roles(), state.dataset()
    names = () if data is None else data.names
    return [n for n in names if roles.of(n) and all(role in kind.of_roles for role in roles.of(n))]


def _key() -> None:
    """Draw the field of the secret key, which no file ever holds."""
    typed = st.text_input(
        "Secret key (64 hexadecimal digits)",
        value=follow("changes/key", state.secret_key()),
        key="changes/key",
        type="password",
        help="32 random bytes, for example from `openssl rand -hex 32`. Keep the key away from "
        "the release and give it again for every run that must have the same pseudonyms. It stays "
        "in this session and is never stored.",
    )
    state.hold_key(typed)
    if typed:
        try:
            parse_key(typed)
        except AnonError as error:
            show_error(error)
