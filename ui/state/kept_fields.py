"""Fields that no recipe holds: what was typed is there on return, and is kept with the session.

Streamlit forgets a field that is not drawn. What belongs to a recipe is in the draft, and its
fields follow it (`ui.forms.draft_sync`); any other field is given its key by `remembered`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, TypeVar, cast

import streamlit as st

_KEYS, _NOTED = "fields/keys", "fields/noted"
#: Begins the keys of fields that are about no table.
_ANY_TABLE = ("other/", "learn/", "experiments/")
_TEXT = 1_000_000
_Number = TypeVar("_Number", int, float)


class Remembered(TypedDict):
    """Arguments of a field of Streamlit's."""

    key: str
    persist_state: Literal["session"]


def remembered(key: str) -> Remembered:
    """Return the arguments that let a field keep its value where it is not drawn.

    Parameters
    ----------
    key : str
        The field's. It also names what its choices depend on, where these are not of the table.

    Examples
    --------
    >>> remembered("other/k")
    {'key': 'other/k', 'persist_state': 'session'}
    """
    _keys()[key] = None
    return {"key": key, "persist_state": "session"}


def last_number(key: str, first: _Number) -> _Number:
    """Return the number that is in a field, for its `value`; `first` before any was typed.

    Streamlit fills a number field that is emptied with its `value`. With a constant there, a k of
    4 that is emptied would become the k of 2 the field began with; so it keeps the number it had.

    Examples
    --------
    >>> last_number("other/k", 2)
    2
    """
    now = st.session_state.get(key)
    return now if isinstance(now, type(first)) else first


def values() -> dict[str, Any]:
    """Return what is in the fields that were drawn in this session, as plain JSON."""
    # What a field followed when it was drawn last says whether it was changed since.
    names = [name for key in _keys() for name in (key, f"{key}/before")]
    found = {name: st.session_state[name] for name in names if name in st.session_state}
    return {key: value for key, value in found.items() if _is_plain(value)}


def noted() -> dict[str, Any]:
    """Return what `values` does, and what was in fields that have gone: whether anything changed.

    Streamlit lets the value of an unchanged field go where the field is not drawn: such a field
    is as it was.
    """
    st.session_state[_NOTED] = {**st.session_state.get(_NOTED, {}), **values()}
    return cast(dict[str, Any], st.session_state[_NOTED])


def checked(given: object) -> dict[str, Any]:
    """Return the fields of a session file.

    Raises
    ------
    TypeError
        If they are none.
    """
    if not isinstance(given, dict):
        raise TypeError("fields")
    fields = cast(dict[Any, Any], given)
    if not all(isinstance(key, str) and _is_plain(value) for key, value in fields.items()):
        raise TypeError("fields")
    return fields


def take_over(fields: Mapping[str, Any]) -> None:
    """Put what `values` returned into the fields, before any of them is drawn."""
    for key, value in fields.items():
        _keys()[key] = None
        st.session_state[key] = value


def forget_table() -> dict[str, Any]:
    """Let the fields go that are about a table, since another has other columns; return them."""
    found = {key: value for key, value in values().items() if not key.startswith(_ANY_TABLE)}
    st.session_state.pop(_NOTED, None)
    for key in [one for one in _keys() if not one.startswith(_ANY_TABLE)]:
        del _keys()[key]
        if key in st.session_state:
            del st.session_state[key]
    return found


def _keys() -> dict[str, None]:
    return cast(dict[str, None], st.session_state.setdefault(_KEYS, {}))


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(one, str | int | float) for one in cast(list[object], value))
    if isinstance(value, str):
        return len(value) <= _TEXT
    return value is None or isinstance(value, bool | int | float)
