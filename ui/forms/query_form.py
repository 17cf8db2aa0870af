"""Count queries of one's own: which columns a question is about, and what a row must show there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import streamlit as st

from anon_core.base.params import Parameter
from anon_core.data.values.kinds import KINDS
from ui.forms.column_form import limits_form
from ui.forms.draft_sync import follow
from ui.state import state
from ui.words.escaping import plain

_MOST = 20  # questions that are asked for here; a recipe may have more


def draw(parameter: Parameter, queries: Sequence[Mapping[str, object]], key: str) -> list[object]:
    """Draw every question, and one more to be asked; return what a recipe has of them.

    Parameters
    ----------
    parameter : Parameter
        Of kind ``queries``.
    queries : sequence of mapping of str to object
        As a recipe has it: per column a list of values, or ``low`` and ``high``.
    key : str
        Begins the keys of all its widgets.
    """
    data = state.typed_dataset()
    roles = state.roles()
    known = [n for n in (*roles.quasi, *roles.sensitive) if data is not None and n in data.names]
    if not known or len(queries) > _MOST:
        return list(queries)
    found: list[object] = []
    with st.expander(plain(parameter.label), expanded=bool(queries)):
        st.caption(
            plain(
                "How many rows match? Without a question of your own, random ones are asked. "
                "Choose values of a column to include it."
            )
        )
        for number in range(_MOST):
            given = queries[number] if number < len(queries) else {}
            asked = _question(number, given, known, f"{key}/{number}")
            if asked:
                found.append(asked)
            elif number >= len(queries):
                break
    return found


def _question(
    number: int, query: Mapping[str, object], known: Sequence[str], key: str
) -> dict[str, object]:
    """Draw one question; return it, empty where nothing is asked yet."""
    columns = st.multiselect(
        f"Question {number + 1} is about",
        [*known, *(name for name in query if name not in known)],
        default=follow(key, list(query)),
        key=key,
        placeholder="no column",
    )
    found: dict[str, object] = {}
    for name in columns:
        predicate = _predicate(name, query.get(name), f"{key}/{name}")
        if predicate:
            found[name] = predicate
    return found


def _predicate(name: str, predicate: object, key: str) -> object:
    """Draw limits of a column that is measured, or else a choice of its values."""
    data = state.typed_dataset()
    column = data.column(name) if data is not None and name in data.names else None
    listed = isinstance(predicate, list | tuple)
    if column is not None and KINDS[column.kind].measured and not listed:
        return limits_form(name, cast(Mapping[str, object], predicate or {}), key)
    named = [str(value) for value in cast(Sequence[object], predicate)] if listed else []
    values = list(column.values) if column is not None else []
    return st.multiselect(
        plain(f"{name}: one of"),
        list(dict.fromkeys((*values, *named))),
        default=follow(key, named),
        key=key,
        placeholder="no value",
    )
