"""The form for the file that the reader's spreadsheet opens: which marks it expects."""

from __future__ import annotations

import streamlit as st

from anon_core.job.dialect import Dialect
from anon_core.job.result import Result
from ui.session import results

_NONE = "none"
_OWN = "own"
_WAYS: dict[str, tuple[str, Dialect | None]] = {
    _NONE: ("None", None),
    "comma": (
        "Excel with decimal commas (German, French, Spanish, …): 1,5;2,5",
        Dialect(separator=";", decimal=",", bom=True, line_end="crlf"),
    ),
    "point": (
        "Excel with decimal points (English, Chinese, …): 1.5,2.5",
        Dialect(separator=",", decimal=".", bom=True, line_end="crlf"),
    ),
    "tab": (
        "Tabs between cells, everything in quotes",
        Dialect(separator="\t", bom=True, line_end="crlf", quotes="all"),
    ),
}


def draw(result: Result) -> Result:
    """Draw the choice and return the result with it; the recipe then promises the file."""
    present = result.plan.dialect
    found = next((way for way, (_, dialect) in _WAYS.items() if dialect == present), _OWN)
    ways = [*_WAYS] if found != _OWN else [*_WAYS, _OWN]
    titles = {way: title for way, (title, _) in _WAYS.items()} | {_OWN: "As the recipe says"}
    choice = st.selectbox(
        "A CSV file for the reader's spreadsheet, besides",
        ways,
        index=ways.index(found),
        format_func=titles.__getitem__,
        key="export-dialect",
        help="The same rows with the separator, decimal mark, line ends and UTF-8 mark that a "
        "spreadsheet expects. The recipe then promises this file, and verification checks it.",
    )
    if choice == found:
        return result
    return results.with_dialect(result, _WAYS[choice][1])
