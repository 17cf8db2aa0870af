"""Counts with noise instead of rows: what is counted, what it spends, and the files.

A product of its own: nothing of it depends on the privacy models and the technique of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from anon_core.base.errors import AnonError, listing
from anon_core.base.terms import count
from anon_core.counts.counting import MOST_CELLS, MOST_EPSILON, Counts, files_of, noisy_counts
from anon_core.counts.noise import refuse_without_library
from anon_core.data.table import Dataset
from ui.components.downloads import download
from ui.components.guard import handled
from ui.state import noise_budget, state
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

PANEL = "Counts with noise"
_FIXED = "fixed"
_WAYS = {
    _FIXED: "Fixed beforehand, as the hierarchies list them",
    "own": "From this table, the common ones only",
}
#: Rows of the drawn counts that are shown.
_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be drawn; `missing` says what is still to be done before."""

    by: tuple[str, ...]
    levels: Mapping[str, int]
    fixed: bool
    epsilon: float
    delta: float
    clip: bool
    missing: str


def draw() -> None:
    """Draw the panel, closed until someone opens it."""
    if state.dataset() is None:
        return
    place = st.expander(
        "Publish counts with noise instead of rows", key="counts-with-noise", on_change="rerun"
    )
    if not place.open:  # what draws the noise takes a second to load
        return
    with place:
        st.markdown(
            "**Differential privacy for a table of counts.** The counts barely reveal whether any "
            "one row is in the table, whatever else an attacker knows; ε limits how much. This is "
            "independent of the technique above, needs no run, and publishes no row."
        )
        why = hindrance(state.roles().unit)
        if why:
            st.info(plain(why), icon=":material/block:")
            return
        if (data := state.released_dataset()) is None:
            return
        asked = _form(data)
        _draw_button(asked)
        _drawn()


def hindrance(person: str) -> str:
    """Return why counts cannot be drawn here, or an empty text."""
    if person:
        return (
            f"The budget is counted for one row, and '{person}' says that a person may have "
            "several: the counts would reveal more about a person than ε states. Use a "
            "table with one row per person."
        )
    try:
        refuse_without_library()
    except AnonError as error:
        return f"{error.message} {error.remedy}"
    return ""


def _form(data: Dataset) -> Asked:
    roles, levels = state.roles(), state.levels()
    way = st.radio(
        "Categories",
        list(_WAYS),
        format_func=_WAYS.__getitem__,
        **remembered("counts/way"),
        help="A category backed by a single row would reveal that row. With predefined "
        "categories, every category is published, including empty ones. Taken from the "
        "table, only categories with a noisy count above a threshold are published, "
        "which costs a δ.",
    )
    fixed = way == _FIXED
    named = [n for n in data.names if n not in roles.identifier]
    offered = [n for n in named if n in levels] if fixed else named
    if fixed and len(offered) < len(named):
        st.caption("Columns without a hierarchy have no categories that were fixed beforehand.")
    by = st.multiselect(
        "Count by", offered, **remembered(f"counts/by/{way}"), placeholder="Choose columns"
    )
    chosen = {name: _level(name, levels[name]) for name in by} if fixed else {}
    sure = not fixed or st.checkbox(
        "These hierarchies were made without looking at this table",
        **remembered("counts/sure"),
        help="Groups proposed from this table, such as ranges with equally many rows, "
        "depend on its rows: one more row could have given different groups.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        epsilon = st.number_input(
            "ε",
            min_value=0.01,
            max_value=float(MOST_EPSILON),
            value=0.5,
            step=0.1,
            format="%g",
            **remembered("counts/epsilon"),
            help="One row changes the chance of any outcome by at most the factor e^ε. Smaller "
            "is safer and noisier; counts are off by about 1/ε.",
        )
        delta = 0.0
        if not fixed:
            delta = st.number_input(
                "δ",
                min_value=1e-12,
                max_value=0.01,
                value=1e-6,
                format="%g",
                **remembered("counts/delta"),
                help="Chance that a category held by one row alone is named. Keep it far below 1 "
                f"divided by the number of rows, here 1/{max(data.rows, 1):,}.",
            )
    clip = st.checkbox(
        "Raise counts below 0 to 0",
        **remembered("counts/clip"),
        help="It costs no budget, since the noise is already drawn.",
    )
    if delta * data.rows >= 1:
        st.warning(
            f"δ must be below 1 divided by the number of rows, {data.rows:,}; this one "
            "protects no one."
        )
    missing = "Choose at least one column to count by." if not by else ""
    if not missing and not sure:
        missing = (
            "Confirm that the hierarchies were made without this table, or take the "
            "categories from it."
        )
    cells = 1
    for name, level in chosen.items():
        cells *= len({line[level] for line in levels[name]}) + 1
    if cells > MOST_CELLS:
        missing = f"That is {cells:,} categories; at most {MOST_CELLS:,} are counted."
    elif chosen:
        st.caption(f"At most {cells:,} counts, each with noise of its own.")
    return Asked(
        by=tuple(by),
        levels=chosen,
        fixed=fixed,
        epsilon=float(epsilon),
        delta=float(delta),
        clip=clip,
        missing=missing,
    )


def _level(name: str, lines: Sequence[Sequence[str]]) -> int:
    def level_label(level: int) -> str:
        labels = list(dict.fromkeys(line[level] for line in lines))
        return f"{level}: {len(labels):,} such as {labels[len(labels) // 2]}"

    heights = range(len(lines[0]))
    return st.selectbox(
        f"Level of {plain(name)}",
        heights,
        format_func=level_label,
        **remembered(f"counts/level/{name}"),
    )


def _draw_button(asked: Asked) -> None:
    before = noise_budget.of(_whole())
    with st.container(border=True, key="counts-budget"):
        st.markdown(
            f"**Budget.** Unit: one row, added or removed. This draw spends {_budget(asked)}. "
            + (
                f"Drawn from this table in this session: {count(len(before.budgets), 'time')}, "
                f"together ε = {before.epsilon:g}"
                + (f" and δ = {before.delta:g}" if before.delta else "")
                + f"; with this one ε = {before.epsilon + asked.epsilon:g}."
                if before.budgets
                else "Nothing drawn from this table in this session."
            )
        )
        st.caption(
            "Budgets add up over everything ever published about these rows, elsewhere "
            "too. The workbench knows only this session. Each draw spends budget again."
        )
    st.button(
        "Draw the counts",
        key="counts/draw",
        disabled=bool(asked.missing),
        help=asked.missing or None,
        on_click=_draw,
        args=(asked,),
    )
    if asked.missing:
        st.caption(f":material/block: {plain(asked.missing)}")


def _whole() -> str:
    """Return which table budgets add up over, whatever condition chooses its rows."""
    data = state.dataset()
    return "" if data is None else data.fingerprint


def _budget(asked: Asked) -> str:
    return f"ε = {asked.epsilon:g}" + (f" and δ = {asked.delta:g}" if asked.delta else "")


@handled(PANEL)
def _draw(asked: Asked) -> None:
    data = state.released_dataset()
    if data is None:
        return
    levels = state.levels()
    drawn = noisy_counts(
        data,
        [asked.by],
        epsilon=asked.epsilon,
        delta=asked.delta,
        hierarchies={name: levels[name] for name in asked.by} if asked.fixed else {},
        levels=asked.levels,
        clip=asked.clip,
    )
    noise_budget.enter(_whole(), drawn)


def _drawn() -> None:
    """Draw what was drawn last, and its files."""
    last = noise_budget.of(_whole()).last
    if last is None:
        return
    (table,) = last.tables
    st.markdown(f"**Drawn: {len(table.cells):,} counts by {plain(listing(table.by))}**")
    st.markdown(plain(last.sentence))
    if table.threshold:
        st.caption(f"Categories with a noisy count below {table.threshold:,} are left out.")
    st.dataframe(_frame(last), hide_index=True, height="content" if len(table.cells) < 9 else 320)
    if len(table.cells) > _SHOWN:
        st.caption(f"The first {_SHOWN}; the file has all.")
    with st.container(horizontal=True):
        for name, content in files_of(last).items():
            title = "Counts as CSV" if name.endswith(".csv") else "Guarantee as JSON"
            download(title, content, file=name, key=f"counts/get/{name}")


def _frame(found: Counts) -> pd.DataFrame:
    (table,) = found.tables
    rows = [(*cell, count) for cell, count in list(table.cells.items())[:_SHOWN]]
    columns = [*table.by, "count" if "count" not in table.by else "noisy count"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.replace({name: {"": "(missing)"} for name in table.by})
