"""What is chosen on Results: some classes of the release, whichever panel they were chosen in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st

from anon_core.pipeline.result import Result
from ui.state.result_view import Facts

_NOW, _TURN = "chosen/now", "chosen/turn"
#: How often each table was drawn afresh.
_AFRESH = "chosen/afresh"


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """Classes that are chosen, and by what.

    Attributes
    ----------
    of : object
        The release that they are classes of.
    title : str
        What was chosen, in words; plain text.
    groups : int64 array of shape (chosen,)
        Classes as `View` numbers them, ascending.
    row : int or None
        The row of the table that was chosen, counted from 0; None where none was.
    """

    of: object
    title: str
    groups: npt.NDArray[np.int64]
    row: int | None = None


def row_of(result: Result) -> int | None:
    """Return the row of the table that is chosen, counted from 0; None where none is."""
    found: Chosen | None = st.session_state.get(_NOW)
    return found.row if found is not None and found.of is result.release else None


def now(facts: Facts) -> Chosen | None:
    """Return what is chosen of a result; a choice of another release is none."""
    found: Chosen | None = st.session_state.get(_NOW)
    return found if found is not None and found.of is facts.result.release else None


def is_any() -> bool:
    """Say whether anything is chosen, of whichever release."""
    return _NOW in st.session_state


def title(facts: Facts) -> str:
    """Return what is chosen of a result in words; nothing where nothing is."""
    found = now(facts)
    return "" if found is None else found.title


def follow(facts: Facts) -> str:
    """Carry the choice over to the release that is shown now; return what it left behind.

    A row goes on into its class there. Classes are those of one release alone, so nothing is
    chosen of another, and what was is reported; going back to their release finds them chosen
    again.
    """
    found: Chosen | None = st.session_state.get(_NOW)
    if found is None or found.of is facts.result.release:
        return ""
    if found.row is not None and found.row < len(facts.result.row_group):
        choose_row(facts, found.row)
        return "" if now(facts) else f"Row {found.row + 1:,} is suppressed in this release."
    return f"The choice ended with the run before: {found.title}."


def turn() -> int:
    """Return how often something was chosen: fields that took part are drawn afresh each time."""
    return int(st.session_state.get(_TURN, 0))


def place(key: str) -> str:
    """Return the key of what can be clicked: another one once its own mark must be forgotten."""
    return f"{key}-{st.session_state.get(_AFRESH, {}).get(key, 0)}"


def afresh(key: str) -> None:
    """Forget which row of a table is marked by a click: it is no longer what is chosen."""
    times: dict[str, int] = st.session_state.setdefault(_AFRESH, {})
    times[key] = times.get(key, 0) + 1


def choose(
    facts: Facts,
    groups: npt.NDArray[np.int64],
    title: str,
    row: int | None = None,
) -> None:
    """Choose classes; none of them clears the choice."""
    clear()
    if len(groups):
        st.session_state[_NOW] = Chosen(
            of=facts.result.release, title=title, groups=np.unique(groups), row=row
        )


def clear() -> None:
    """Choose nothing."""
    st.session_state.pop(_NOW, None)
    st.session_state[_TURN] = turn() + 1


def choose_number(facts: Facts, number: int) -> None:
    """Choose the class that is shown under a number."""
    found = np.flatnonzero(facts.numbers == number)
    choose(facts, found, f"{facts.noun[0]} {number:,}")


def choose_row(facts: Facts, row: int) -> None:
    """Choose the class of a row of the table, counted from 0; a suppressed row has none."""
    group = int(facts.result.row_group[row])
    groups = np.array([group] if group >= 0 else [], dtype=np.int64)
    choose(facts, groups, f"{facts.noun[0]} of row {row + 1:,} of the table", row)


def mask(facts: Facts) -> npt.NDArray[np.bool_]:
    """Return for every class whether it is chosen, shape (classes,)."""
    found = np.zeros(len(facts.sizes), dtype=np.bool_)
    chosen = now(facts)
    if chosen is not None:
        found[chosen.groups] = True
    return found
