"""The table panel of a permuted release: its tables side by side, group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from anon_core.explain.text.phrases import links, rows
from ui.charts.chart_frame import palette, table
from ui.panels import panel_head
from ui.panels.results import class_selection
from ui.state import selection
from ui.state.result_view import MISSING_TEXT, Facts
from ui.words.escaping import plain

if TYPE_CHECKING:
    import pandas as pd

#: Rows a page holds; a larger group has a page of its own, of which the first rows are marked.
PAGE = 60
_MOST_SHOWN = 200
_TITLES = {"release": "Release", "quasi": "Quasi-identifiers", "sensitive": "Sensitive values"}
_INTERNAL = "Original (internal)"


def title_of(name: str) -> str:
    """Return what a published table is called."""
    return _TITLES.get(name, name)


def draw(facts: Facts, *, key: str) -> None:
    """Draw the panel: which side, which groups, and their rows in bands of colour."""
    with panel_head.controls("Table", key="table"):
        side = panel_head.either("Side", ["Published", _INTERNAL], key=f"side-{key}")
        view = panel_head.either("Rows", ["Pages", "One group", "Whole tables"], key=f"view-{key}")
        frames = facts.tables if side == "Published" else {_INTERNAL: facts.original}
        if view == "Whole tables":
            start, stop, words = 0, len(facts.result.member), "All rows, smallest groups first."
        elif view == "One group":
            start, stop, words = _one_group(facts, key)
        elif selection.now(facts) is not None:
            frames = {
                title: class_selection.only_chosen(facts, frame) for title, frame in frames.items()
            }
            start, stop = 0, max(len(frame) for frame in frames.values())
            words = "Only rows of the chosen groups are shown."
        else:
            start, stop, words = _page(facts, key)
    if len(frames) == 1:  # else the table's own buttons would lie over the choice of a page
        st.caption(plain(words))
        words = ""
    _side_by_side(facts, frames, start, stop, whole=view == "Whole tables", key=f"{key}-{side}")
    if view == "One group" and stop > start:
        _guesses(facts, int(facts.by_size[np.searchsorted(facts.page_starts, start)]), key)
    if side == "Published":
        cells = (
            "Cells are coarsened group by group, and which of them is not marked"
            if facts.result.plan.algorithm.shape.coarsens
            else "Every cell is exact, so no cell is marked as changed"
        )
        st.caption(
            plain(f"{words} {links(facts.result)}".strip()),
            help=f"{cells}; and no published row is set against an original one, because the "
            "release does not say which belong together.",
        )
    else:
        st.caption(
            plain(f"{words} Internal view: the rows as your table links them.".strip())
            + " **None of these links is published.**"
        )


def _page(facts: Facts, key: str) -> tuple[int, int, str]:
    """Draw the choice of a page of whole groups; return its rows and what it holds."""
    breaks = page_breaks(facts)
    number = panel_head.stepper("Page", len(breaks) - 1, key=f"page-{key}")
    first, last = breaks[number - 1], breaks[number]
    starts = facts.page_starts
    words = f"Groups {first + 1:,} to {last:,} of {len(facts.sizes):,}, smallest first."
    return int(starts[first]), int(starts[last]), words


def page_breaks(facts: Facts) -> list[int]:
    """Return at which place, from the smallest group on, each page begins, and where all end."""
    starts = facts.page_starts
    found = [0]
    while found[-1] < len(facts.sizes):
        full = int(np.searchsorted(starts, starts[found[-1]] + PAGE, side="right")) - 1
        found.append(max(full, found[-1] + 1))
    return found


def _one_group(facts: Facts, key: str) -> tuple[int, int, str]:
    """Draw the choice of a group by its published number; return its rows and what it holds."""
    groups = len(facts.sizes)
    smallest = int(facts.numbers[facts.by_size[0]]) if groups else 1
    number = panel_head.stepper(
        "Group", max(groups, 1), key=f"group-{key}", first=smallest, more="as published"
    )
    place = int(facts.place[np.flatnonzero(facts.numbers == number)[0]]) if groups else 0
    start, stop = int(facts.page_starts[place]), int(facts.page_starts[place + 1])
    return start, stop, f"Group {number:,} has {rows(stop - start)}."


def guesses(facts: Facts, column: str, group: int) -> pd.DataFrame:
    """Return how sure a guess at a sensitive value is for someone known to be in a group.

    One row a value, the surest first: its rows c(v), its share c(v)/|G| of the group's rows, and
    its share of all rows, which is the guess without the release.
    """
    import pandas as pd

    within, whole = facts.within(column, group), facts.whole(column)
    size = int(facts.sizes[group])
    ranked = sorted(within, key=lambda value: (-within[value], value))
    return pd.DataFrame(
        {
            column: ranked,
            "rows, c(v)": [round(within[v] * size) for v in ranked],
            "share, c(v)/|G|": [within[v] for v in ranked],
            "share of all rows": [whole[v] for v in ranked],
        }
    )


def _guesses(facts: Facts, group: int, key: str) -> None:
    problem = facts.result.problem
    for column in problem.sensitive:
        if column in problem.quasi:
            continue
        st.markdown(f"**{plain(f'Guessing “{column}” in this group')}**")
        table(
            guesses(facts, column, group),
            key=f"guesses-{column}-{key}",
            formats={"share, c(v)/|G|": "percent", "share of all rows": "percent"},
        )
        st.caption(
            "Anyone who knows that a person is in this group guesses the value with the chance "
            "c(v)/|G|: the rows that show it, of all rows of the group."
        )


def _side_by_side(
    facts: Facts,
    frames: dict[str, pd.DataFrame],
    start: int,
    stop: int,
    *,
    whole: bool,
    key: str,
) -> None:
    # A table is at least wide enough for ticks, a group number and a value.
    widths = [max(len(frame.columns), 4) for frame in frames.values()]
    with st.container(key=f"stack-tables-{key}"):
        for column, (title, frame) in zip(
            st.columns(widths, gap="small"), frames.items(), strict=True
        ):
            with column:
                if len(frames) > 1:
                    st.markdown(f"**{plain(title_of(title))}**")
                if whole:
                    st.dataframe(
                        frame,
                        lazy=True,
                        height="stretch",
                        key=f"whole-{title}-{key}",
                        **class_selection.rows_look(facts, frame),
                    )
                else:
                    shown = frame.iloc[start : min(stop, start + _MOST_SHOWN)]
                    _banded(facts, shown, key=f"rows-{title}-{key}")
    if not whole and stop - start > _MOST_SHOWN:
        st.caption(f"The first {_MOST_SHOWN} rows of them are shown.")


def _banded(facts: Facts, frame: pd.DataFrame, *, key: str) -> None:
    colours = palette()
    frame = frame.reset_index(drop=True)
    numbers = frame[facts.head]
    # Neighbours differ, whichever numbers they have.
    band = (numbers != numbers.shift()).cumsum() % 2 == 1
    for name in frame.columns[1:]:
        texts = frame[name].astype(object)
        frame[name] = texts.where(texts.notna() & (texts != ""), MISSING_TEXT)
    style = f"background-color: {colours.scale[1]}; color: {colours.ink}"
    styled = frame.style.apply(lambda column: [style if b else "" for b in band.tolist()])
    st.dataframe(
        styled,
        height="stretch" if len(frame) > 8 else "auto",
        **class_selection.row_picker(facts, frame, key),
    )
