"""The form for how a file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import streamlit as st

from anon_core.data.reading import SEPARATORS, DataOptions
from anon_core.data.table import MISSING_TOKENS

_ENCODINGS = ("", "utf-8", "cp1252", "latin-1", "iso8859-15", "cp1250", "utf-16")


def reading_form(key: str, present: Mapping[str, object]) -> Callable[[], DataOptions]:
    """Draw separator, encoding and missing texts; return what makes the options of them.

    Parameters
    ----------
    key : str
        Tells this form's widgets from those of other forms.
    present : mapping of str to object
        The ``[data]`` table as it stands; it is where the form begins.
    """
    separators = ["", *SEPARATORS]
    given = str(present.get("separator", ""))
    if given not in separators:
        separators.append(given)
    encodings = [*_ENCODINGS]
    encoding_given = str(present.get("encoding", ""))
    if encoding_given not in encodings:
        encodings.append(encoding_given)
    tokens = [t for t in cast(Sequence[str], present.get("missing_values", MISSING_TOKENS)) if t]
    left, right = st.columns(2)
    separator = left.selectbox(
        "Separator",
        separators,
        index=separators.index(given),
        format_func=lambda mark: SEPARATORS.get(mark, mark) if mark else "Detect automatically",
        key=f"{key}/separator",
        help="The character between two cells of a text file.",
    )
    encoding = right.selectbox(
        "Encoding",
        encodings,
        index=encodings.index(encoding_given),
        format_func=lambda name: name or "Detect automatically",
        key=f"{key}/encoding",
        help="How letters beyond A to Z are written in a text file.",
    )
    missing = st.multiselect(
        "Texts that stand for a missing value",
        [*dict.fromkeys([*tokens, *(t for t in MISSING_TOKENS if t)])],
        default=tokens,
        accept_new_options=True,
        key=f"{key}/missing_values",
        help="An empty cell always does. Type a text and press Enter to add it, for example -9.",
    )
    kept = {"missing": str(present.get("missing", "keep")), "sample": present.get("sample", 1.0)}

    def made() -> DataOptions:
        return DataOptions.from_mapping(
            {
                "separator": separator,
                "encoding": encoding,
                "missing_values": ["", *missing],
                **kept,
            }
        )

    return made
