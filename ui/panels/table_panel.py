"""The table panel: what is published beside what stood there, page by page or class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ..charts.chart_frame import Palette, palette
from ..session import chosen
from ..session.result_view import MISSING_TEXT, Facts
from . import group_panel, linked

if TYPE_CHECKING:
    import pandas as pd

PAGE = 100
_MOST_MARKED = 200
_HEIGHT = 560


def draw(facts: Facts, *, key: str, height: int = _HEIGHT) -> None:
    """Draw the panel: which side, which rows, and the rows with changed cells marked.

    Parameters
    ----------
    facts : Facts
    key : str
    height : int
        Pixels of a table of many rows.
    """
    if facts.permuted:
        group_panel.draw(facts, key=key)
        return
    colours = palette()
    hidden = facts.result.release.suppressed
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        side = st.segmented_control(
            "Side",
            ["Published", "Original"],
            default="Published",
            required=True,
            key=f"side-{key}",
            label_visibility="collapsed",
        )
        views = ["Pages", "Classes", *(["Suppressed rows"] if hidden else []), "Whole table"]
        view = st.segmented_control(
            "Rows",
            views,
            default="Pages",
            required=True,
            key=f"view-{key}",
            label_visibility="collapsed",
        )
    if view == "Suppressed rows":
        _hidden(facts, key, height)
    elif view == "Whole table":
        frame = facts.published if side == "Published" else facts.original
        st.dataframe(frame, lazy=True, hide_index=True, height=height, key=f"whole-{key}-{side}")
        st.caption(
            f"{len(frame):,} rows, smallest classes first; changed cells are not marked here."
        )
    elif view == "Classes":
        _one_class(facts, side, colours, key, height, row)
    else:
        _pages(facts, side, colours, key, height, row)


def _pages(
    facts: Facts, side: str, colours: Palette, key: str, height: int, row: DeltaGenerator
) -> None:
    frame = linked.only_chosen(facts, facts.published if side == "Published" else facts.original)
    pages = max(1, -(-len(frame) // PAGE))
    number = 1
    if pages > 1:
        number = int(
            row.number_input(
                f"Page (of {pages:,})",
                min_value=1,
                max_value=pages,
                step=1,
                key=f"page-{key}-{chosen.turn()}",
                width=130,
            )
        )
    start = (min(number, pages) - 1) * PAGE
    _rows(facts, frame.iloc[start : start + PAGE], side, colours, key, height)
    stop = min(start + PAGE, len(frame))
    st.caption(
        f"Rows {start + 1:,} to {stop:,} of {len(frame):,}, smallest classes first. {_legend(side)}"
        + (
            " Rows of other classes than the chosen ones are not shown."
            if chosen.now(facts)
            else ""
        )
    )


def _one_class(
    facts: Facts, side: str, colours: Palette, key: str, height: int, row: DeltaGenerator
) -> None:
    classes = len(facts.sizes)
    number = int(
        row.number_input(
            f"Class (1 is the smallest, {classes:,} the largest)",
            min_value=1,
            max_value=max(classes, 1),
            step=1,
            key=f"class-{key}",
            width=200,
        )
    )
    frame = facts.published if side == "Published" else facts.original
    start, stop = facts.page_starts[number - 1], facts.page_starts[number]
    shown = frame.iloc[int(start) : int(min(stop, start + _MOST_MARKED))]
    _rows(facts, shown, side, colours, key, height)
    size = int(stop - start)
    more = f"; the first {_MOST_MARKED} are shown" if size > _MOST_MARKED else ""
    st.caption(f"Class {number:,} has {size:,} rows{more}. {_legend(side)}")


def _hidden(facts: Facts, key: str, height: int) -> None:
    st.dataframe(facts.hidden, lazy=True, hide_index=True, height=height, key=f"hidden-{key}")
    total = facts.result.problem.rows
    st.caption(
        f"{len(facts.hidden):,} of {total:,} rows are not published: they stayed too rare. "
        "They are shown as they stand in the table."
    )


def _legend(side: str) -> str:
    if side == "Published":
        return "Marked cells are coarser than the original; all others are unchanged."
    return "Marked cells are the ones that are published coarser. Identifiers are left out."


def _rows(
    facts: Facts, frame: pd.DataFrame, side: str, colours: Palette, key: str, height: int
) -> None:
    import pandas as pd

    marks = _marks(facts, frame, side)
    frame = frame.reset_index(drop=True)
    for name in frame.columns[1:]:
        texts = pd.Series(np.asarray(frame[name], dtype=object))  # of these rows, not of all values
        frame[name] = texts.where(texts.notna() & (texts != ""), MISSING_TEXT)
    style = f"background-color: {colours.scale[1]}; color: {colours.ink}; font-weight: 600"
    styled = frame.style.apply(
        lambda column: [style if m else "" for m in marks.get(str(column.name), _none(column))]
    )
    st.dataframe(
        styled,
        hide_index=True,
        height=height if len(frame) > 11 else "auto",
        **linked.row_picker(facts, frame, f"rows-{key}-{side}"),
        column_config={
            facts.head: st.column_config.NumberColumn(format="localized", width="small")
        },
    )


def _none(column: Any) -> list[bool]:
    return [False] * len(column)


def _marks(facts: Facts, frame: pd.DataFrame, side: str) -> dict[str, list[bool]]:
    """Return, per quasi-identifier, which of the rows' cells are published coarser."""
    marks: dict[str, list[bool]] = {}
    if side == "Published":
        for name, coarse in facts.coarse.items():
            marks[name] = [text in coarse for text in frame[name]]
        return marks
    places = [int(n) - 1 for n in frame[facts.head]]
    release = facts.result.release
    persons = facts.persons
    if persons is None:
        return marks
    for name, codes in zip(persons.columns, persons.codes.T, strict=True):
        pool = release.vocabularies[name]
        wide = pool.lo < pool.hi
        marks[name] = [bool(wide[codes[facts.by_size[place]]]) for place in places]
    return marks
