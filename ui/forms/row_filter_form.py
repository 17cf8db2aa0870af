"""Which rows are published: a comparison in three fields, or a condition as text."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.terms import in_figures
from anon_core.data.reading.notes import total_row
from anon_core.data.reading.row_filter import chosen, compared
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS
from ui.components.clicks import clicked
from ui.components.guard import handled, show_error
from ui.state import state
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

#: What a comparison is called, by its sign.
_SIGNS = {
    "=": "is",
    "<>": "is not",
    "in": "is one of",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
    "is missing": "is missing",
    "is not missing": "is not missing",
}
#: Values of a column that are offered in a list.
_MOST_OFFERED = 500


#: Whether a row that is called a total was said to be of a person, by the table's fingerprint.
_A_PERSON = "data/where/total_of"


def asks_of_total(data: Dataset) -> None:
    """Ask whether the first or last row, where it is called a total, is of a person."""
    found = state.once("total", data.fingerprint, lambda: total_row(data.columns))
    if found is None or st.session_state.get(_A_PERSON) == data.fingerprint:
        return
    column, text, row = found
    present = str(state.draft()["data"].get("where", "")).strip()
    with suppress(AnonError):  # what is wrong with a condition is said where it is
        if present and not chosen(data, present)[row - 1]:
            return
    without = compared(column, "<>", [text])
    if column.missing:
        without = f"({without} or {compared(column, 'is missing', [])})"
    st.warning(
        f"Row {row:,}, the {'first' if row == 1 else 'last'} one, says “{plain(text)}” in "
        f"{plain(column.name)}. Is it the total of the others? It would count as a person.",
        icon=":material/help:",
    )
    with st.container(horizontal=True, key="data/where/total"):
        leave_out = f"({present}) and {without}" if present else without
        st.button(
            "Leave this row out",
            key="data/where/total_out",
            icon=":material/filter_alt:",
            on_click=handled("A row of totals")(_set),
            args=(leave_out,),
        )
        st.button(
            "It is a person",
            key="data/where/total_kept",
            on_click=handled("A row of totals")(_is_person),
            args=(data.fingerprint,),
        )


def _is_person(fingerprint: str) -> None:
    st.session_state[_A_PERSON] = fingerprint


def row_filter_form(data: Dataset) -> None:
    """Draw the condition that holds, and a form for another; nothing changes before Apply."""
    present = str(state.draft()["data"].get("where", ""))
    if present.strip():
        _present(data, present)
    with st.popover("Filter rows"):
        _form(data, present)


def _form(data: Dataset, present: str) -> None:
    """Draw the fields of a condition, and the condition as text."""
    st.caption(
        "A condition chooses the rows to publish; the others are left out. Anyone who "
        "knows the condition knows that it holds for everyone in the release."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Column", data.names, **remembered("data/where/column"))
        column = data.column(name)
        sign = st.selectbox(
            "Comparison",
            [s for s in _SIGNS if s[0] not in "<>" or s == "<>" or KINDS[column.kind].measured],
            format_func=_SIGNS.__getitem__,
            **remembered("data/where/sign"),
        )
        values = _values(data, name, sign)
    asked = compared(column, sign, values) if values is not None else ""
    if asked and present.strip():
        asked = f"({present.strip()}) and {asked}"
    _apply(data, asked, "data/where/apply", "Keep only these rows")
    with st.expander("As text"):
        key = f"data/where/text/{present}"
        typed = st.text_area(
            "Condition",
            present,
            **remembered(key),
            help="Compare by = <> < <= > >=, in (…), between … and …, is missing; join by and, or, "
            "not and brackets. Texts and dates are in single quotes, odd names of columns in "
            "double quotes.",
            placeholder="sex = 'F' and (age > 30 or zip is missing)",
        )
        if typed.strip() != present.strip():
            _apply(data, typed, "data/where/apply_text", "Apply")


def _present(data: Dataset, condition: str) -> None:
    st.code(condition, language=None, wrap_lines=True)
    _count(data, condition)
    reading = state.draft()["data"]
    st.session_state["data/where/rest"] = reading.get("rest", "outside") == "population"
    st.checkbox(
        "The whole table is the population",
        key="data/where/rest",
        on_change=_set_rest,
        help="k-map, δ-presence and the journalist's risk then count all rows of the table.",
    )
    if clicked("Publish all rows", icon=":material/filter_alt_off:", key="data/where/remove"):
        _set("")
        st.rerun()


def _values(data: Dataset, name: str, sign: str) -> list[str] | None:
    """Draw the field of the value, or the values; None where none is given yet."""
    if sign.startswith("is "):
        return []
    column = data.column(name)
    key = f"data/where/value/{name}/{sign == 'in'}"
    if sign == "in":
        several = st.multiselect("Values", column.values[:_MOST_OFFERED], **remembered(key))
        return several or None
    if KINDS[column.kind].measured or len(column.values) > _MOST_OFFERED:
        one = st.text_input("Value", **remembered(key)).strip()
        return [one] if one else None
    chosen_one = st.selectbox("Value", column.values, index=None, **remembered(key))
    return None if chosen_one is None else [chosen_one]


def _apply(data: Dataset, condition: str, key: str, label: str) -> None:
    kept = _count(data, condition) if condition.strip() else 0
    removed = not condition.strip() and label == "Apply"
    if clicked(label, icon=":material/filter_alt:", key=key, disabled=not (kept or removed)):
        _set(condition)
        st.rerun()


def _count(data: Dataset, condition: str) -> int:
    """Say how many rows a condition chooses, or what is wrong with it; return how many, or 0."""
    try:
        kept = int(chosen(data, condition).sum())
    except AnonError as error:
        show_error(error)
        return 0
    st.caption(f"{kept:,} of {in_figures(data.rows, 'row')} {'is' if kept == 1 else 'are'} kept.")
    return kept


def _set(condition: str) -> None:
    reading = {k: v for k, v in state.draft()["data"].items() if k not in ("where", "rest")}
    rest = state.draft()["data"].get("rest", "outside")
    row_filter = {"where": condition.strip(), "rest": rest} if condition.strip() else {}
    state.update_draft(data=reading | row_filter)


@handled("Condition on rows")
def _set_rest() -> None:
    rest = "population" if st.session_state["data/where/rest"] else "outside"
    state.update_draft(data=state.draft()["data"] | {"rest": rest})
