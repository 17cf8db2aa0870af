"""How columns write dates and numbers: asked where a column may be read in two ways."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.data.reading import DATE_ORDERS, DECIMAL_MARKS
from anon_core.data.table import Dataset
from ui.components.guard import handled, show_error
from ui.state import loading, state
from ui.words.escaping import plain

_CHOICES = {"dates": DATE_ORDERS, "decimals": DECIMAL_MARKS}
_ASKED = {"dates": "{}: how are its dates written?", "decimals": "{}: what do its marks mean?"}
#: Questions that are drawn at once.
_MOST = 8


def questions(data: Dataset) -> dict[str, tuple[str, str]]:
    """Return by column what is asked of it, and what was answered; empty where nothing was."""
    options = state.draft()["data"]
    asked = {c.name: (c.undecided, "") for c in data.columns if c.undecided}
    for what in _CHOICES:
        answered: dict[str, str] = options.get(what, {})
        asked |= {name: (what, choice) for name, choice in answered.items() if name in data.names}
    return asked


def draw(data: Dataset) -> None:
    """Draw a question for each column that may be read in two ways, and what was answered."""
    error: AnonError | None = st.session_state.pop("data/notation_error", None)
    if error is not None:
        show_error(error, where="The table stays as it was read")
    asked = questions(data)
    open_ = [name for name, (_, answer) in asked.items() if not answer]
    if open_:
        st.warning(
            f"{len(open_)} {'column' if len(open_) == 1 else 'columns'} can be read in two ways, "
            "and every value fits both. Choose one, or leave the column out, to enable Run.",
            icon=":material/help:",
        )
    columns = st.columns(2)
    for place, (name, (what, answer)) in enumerate([*asked.items()][:_MOST]):
        choices = list(_CHOICES[what])
        key = f"data/notation/{name}"
        columns[place % 2].selectbox(
            _ASKED[what].format(plain(name)),
            choices,
            index=choices.index(answer) if answer else None,
            format_func=_CHOICES[what].__getitem__,
            placeholder="Choose",
            key=key,
            on_change=_settle,
            args=(name, what, key),
        )
    if len(asked) > _MOST:
        st.caption(f"{len(asked) - _MOST} more follow.")


@handled("How columns are written")
def _settle(name: str, what: str, key: str) -> None:
    choice: str | None = st.session_state[key]
    if choice is None:
        return
    try:
        loading.settle(name, what, choice)
    except AnonError as error:
        st.session_state["data/notation_error"] = error
        del st.session_state[key]
