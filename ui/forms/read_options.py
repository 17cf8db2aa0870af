"""The form for how a file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from anon_core.data.reading import SEPARATORS, DataOptions, file_kind
from anon_core.data.table import MISSING_TOKENS
from ui.state import loading
from ui.state.kept_fields import remembered

_ENCODINGS = ("", "utf-8", "cp1252", "latin-1", "iso8859-15", "cp1250", "utf-16")
_SHOWN = {"labels": "labels (Female)", "codes": "codes (2)"}


def reading_form(
    key: str,
    present: Mapping[str, object],
    file: loading.Opened | None = None,
) -> Callable[[], DataOptions | None]:
    """Draw how a file is read, as far as its format leaves that open; return what makes options.

    Parameters
    ----------
    key : str
        Distinguishes this form's widgets from those of other forms.
    present : mapping of str to object
        The ``[data]`` table as it is; it is where the form begins.
    file : Opened, optional
        The file that is to be read, once there is one.

    Returns
    -------
    callable
        Returns None while a sheet has yet to be chosen.
    """
    kind = "text" if file is None else file_kind(file.content)
    given = DataOptions.from_mapping(present)
    chosen: dict[str, object] = {}
    if kind == "spreadsheet" and file is not None:
        chosen |= _sheet(key, given, loading.sheets_of(file))
    if kind == "statistics":
        chosen |= _labels(key, given)
    if kind == "text":
        chosen |= _text(key, given)
    tokens = [text for text in given.missing_values if text]
    missing = st.multiselect(
        "Texts that stand for a missing value",
        [*dict.fromkeys([*tokens, *(t for t in MISSING_TOKENS if t)])],
        default=tokens,
        accept_new_options=True,
        **remembered(f"{key}/missing_values"),
        help="An empty cell always does. Type a text and press Enter to add it, for example -9.",
    )
    kept = ("missing", "missing_in", "kinds_found", "sample", "dates", "decimals", "where", "rest")
    kept += ("benchmark",)
    chosen |= {name: getattr(given, name) for name in kept}
    if chosen.get("sheet", "") is None:
        return lambda: None
    return lambda: DataOptions.from_mapping({**chosen, "missing_values": ["", *missing]})


def _text(key: str, given: DataOptions) -> dict[str, object]:
    separators = ["", *SEPARATORS]
    if given.separator not in separators:
        separators.append(given.separator)
    encodings = [*_ENCODINGS]
    if given.encoding not in encodings:
        encodings.append(given.encoding)
    left, right = st.columns(2)
    separator = left.selectbox(
        "Separator",
        separators,
        index=separators.index(given.separator),
        format_func=lambda mark: SEPARATORS.get(mark, mark) if mark else "Detect automatically",
        **remembered(f"{key}/separator"),
        help="The character between two cells of a text file.",
    )
    encoding = right.selectbox(
        "Encoding",
        encodings,
        index=encodings.index(given.encoding),
        format_func=lambda name: name or "Detect automatically",
        **remembered(f"{key}/encoding"),
        help="How letters beyond A to Z are written in a text file.",
    )
    return {"separator": separator, "encoding": encoding}


def _sheet(key: str, given: DataOptions, sheets: Sequence[str]) -> dict[str, object]:
    left, right = st.columns(2)
    sheet: str | None = given.sheet if not sheets else None
    if sheets:
        sheet = left.selectbox(
            "Sheet",
            sheets,
            index=sheets.index(given.sheet) if given.sheet in sheets else None,
            placeholder="Choose the sheet",
            **remembered(f"{key}/sheet"),
            help="Several sheets of the workbook hold cells; one of them is read.",
        )
    row = right.number_input(
        "Row of the header (0: detect)",
        min_value=0,
        value=given.header_row,
        **remembered(f"{key}/header_row"),
        help="Counted from 1. Detected is the first row with two cells or more, below any title.",
    )
    return {"sheet": sheet, "header_row": row}


def _labels(key: str, given: DataOptions) -> dict[str, object]:
    shown = st.radio(
        "Values that have labels are read as",
        list(_SHOWN),
        index=list(_SHOWN).index(given.value_labels),
        format_func=lambda choice: _SHOWN[choice],
        horizontal=True,
        **remembered(f"{key}/value_labels"),
        help="A column is read as labels if each of its values has one. Both are kept.",
    )
    return {"value_labels": shown, "encoding": given.encoding}
