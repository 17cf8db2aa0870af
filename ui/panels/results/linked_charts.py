"""The tracks of Results, whose bins choose classes, and what a click on one comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from ui.charts import class_values
from ui.charts.chart_frame import Chart, Palette, Series, chosen_of, kept, vega
from ui.charts.tracks import PICKED, Binned, binned_of, offered, picked_bins, tracks, words_of
from ui.components.guard import handled
from ui.state import results, selection
from ui.state.result_view import Facts, facts
from ui.state.work.fragments import redraw_linked

KEY = "tracks"
#: Further tracks that a panel has room for.
MOST_MORE = 2
_MORE = "tracks/more"
_BIN = "bin"


def baseline() -> Facts | None:
    """Return what baseline A is drawn from; None without one."""
    base = results.baseline()
    return None if base is None else facts(base.result)


def of_run(run: Series, colours: Palette) -> Chart:
    """Return the tracks of a run with A behind it and the choice marked."""
    now = selection.now(run.facts)
    base = baseline()
    if now is None:
        return kept(tracks, [run], colours, base, None, selection.turn(), more())
    return tracks([run], colours, base, selection.mask(run.facts), selection.turn(), more())


def more() -> tuple[str, ...]:
    """Return the tracks that are drawn next to rows, guess and loss."""
    return tuple(st.session_state.get(_MORE, ()))


def choose_more(run: Series) -> None:
    """Draw the choice of further tracks."""
    names = offered(run.facts)

    @handled("Classes")
    def chosen_now() -> None:
        st.session_state[_MORE] = tuple(st.session_state[f"{_MORE}/choice"])
        redraw_linked()

    st.multiselect(
        "Further tracks, below rows, guess and loss",
        names,
        default=[name for name in more() if name in names],
        max_selections=MOST_MORE,
        key=f"{_MORE}/choice",
        on_change=chosen_now,
        placeholder="What metrics, attacks and values say of each class",
    )


def draw(run: Series, colours: Palette, chart: Chart) -> None:
    """Draw the tracks; a click chooses the classes of a bin."""

    @handled("The choice")
    def clicked() -> None:
        take(run.facts, binned_of(run, colours), chosen_of(KEY, PICKED, _BIN))

    vega(chart.figure, title=chart.title, key=KEY, on_pick=clicked)


def take(facts: Facts, part: Binned, ids: Sequence[str]) -> None:
    """Choose the classes of the bins that were clicked; a chosen bin is chosen no longer.

    Parameters
    ----------
    facts : Facts
    part : Binned
        The bins of the chart.
    ids : sequence of str
        What the browser has selected: nothing after a double click. What was selected at an
        earlier turn stays in it where someone adds to the choice.
    """
    if not ids:
        if selection.now(facts) is not None:
            selection.clear()
            redraw_linked()
        return
    bins = [at for at in picked_bins(ids, selection.turn()) if at < len(part)]
    if not bins:
        return
    adds = len(ids) > len(bins)
    mask = selection.mask(facts)
    here = np.concatenate([part.groups(facts, at) for at in bins])
    if mask[here].all():
        mask[here] = False
        if not adds:
            mask[:] = False
    else:
        if not adds:
            mask[:] = False
        mask[here] = True
    groups = np.flatnonzero(mask).astype(np.int64)
    told = words_of(facts, part, bins[0])
    alone = len(bins) == 1 and len(groups) == len(here)
    selection.choose(facts, groups, told if alone else f"{len(groups):,} {facts.noun[1]}")
    redraw_linked()


def lost(facts: Facts) -> Mapping[str, float]:
    """Return what the chosen classes lost on average, by metric; nothing where none is chosen."""
    now = selection.now(facts)
    if now is None:
        return {}
    weights = facts.hiding[now.groups].astype(np.float64)
    return {
        name: float(np.average(values[now.groups], weights=weights))
        for name, values in class_values.metrics(facts)
    }


def exposed(facts: Facts) -> Mapping[str, float]:
    """Return the highest chance of each attack among the chosen classes."""
    now = selection.now(facts)
    if now is None:
        return {}
    return {
        name: float(values[now.groups].max(initial=0.0))
        for name, values in class_values.attacks(facts)
    }
