"""Files for the reader's programs next to the release: a CSV in other marks, SPSS, Stata, Excel."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.pipeline.result import Result
from anon_core.recipe.dialect import Dialect
from anon_core.recipe.statistics_files import TYPED, typed_files
from ui.components.guard import show_error
from ui.state import results

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
    """Draw the choices and return the result with them; the recipe then declares the files."""
    left, right = st.columns(2, gap="medium")
    present = result.plan.dialect
    found = next((way for way, (_, dialect) in _WAYS.items() if dialect == present), _OWN)
    ways = [*_WAYS] if found != _OWN else [*_WAYS, _OWN]
    titles = {way: title for way, (title, _) in _WAYS.items()} | {_OWN: "As the recipe says"}
    choice = left.selectbox(
        "Also write a CSV file for the reader's spreadsheet",
        ways,
        index=ways.index(found),
        format_func=titles.__getitem__,
        key="export-dialect",
        help="The same rows with the separator, decimal mark, line ends and UTF-8 mark that a "
        "spreadsheet expects. The recipe then declares this file, and verification checks it.",
    )
    chosen = right.multiselect(
        "Also write files for programs",
        [*TYPED],
        default=[*result.plan.formats],
        format_func=lambda ending: f"{TYPED[ending][0]} (.{ending})",
        key="export-formats",
        help="The same rows, numbers as numbers. Labels of values that the file of the table had "
        "are given back to their codes in SPSS and Stata. Verification checks these files, too.",
    )
    formats = tuple(ending for ending in TYPED if ending in chosen)
    dialect = _WAYS[choice][1] if choice != _OWN else present
    if (dialect, formats) == (present, result.plan.formats):
        return result
    try:  # a row tells whether names and formats go together
        typed_files(formats, {n: t.slice(0, 1) for n, t in result.tables.items()}, result.meanings)
    except AnonError as error:
        show_error(error)
        return result
    return results.with_export(result, dialect, formats)
