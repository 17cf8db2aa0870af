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
from ui.state.work.fragments import draws_alone, redraw_linked

KEY = "tracks"
#: Further tracks that a panel has room for.
MOST_MORE = 2
_MORE = "tracks/more"
_BIN = "bin"
#: The turn of a choice that the browser marks in the chart, and what its bins were named by.
_PICK = "tracks/pick"


def baseline() -> Facts | None:
    """Return what the baseline is drawn from; None without one."""
    base = results.baseline()
    return None if base is None else facts(base.result)


def of_run(run: Series, colours: Palette) -> Chart:
    """Return the tracks of a run with the baseline behind it and the choice marked.

    What was clicked in them is marked by the browser: they stay as they are.
    """
    if not draws_alone():
        st.session_state.pop(_PICK, None)  # a chart that is drawn again has nothing selected
    base, turn = baseline(), turn_of(run.facts)
    if selection.now(run.facts) is None or turn == _marked():
        return kept(tracks, [run], colours, base, None, turn, more())
    return tracks([run], colours, base, selection.mask(run.facts), turn, more())


def _marked() -> str:
    """Return what the bins were named by in which the browser marks the choice, if it does."""
    chosen_at, turn = st.session_state.get(_PICK, (None, ""))
    return turn if chosen_at == selection.turn() else ""


def turn_of(facts: Facts) -> str:
    """Return what bins are named by, unlike those of other releases and earlier choices."""
    of, marked = f"{id(facts.result.release)}.", _marked()
    return marked if marked.startswith(of) else f"{of}{selection.turn()}"


def more() -> tuple[str, ...]:
    """Return the tracks that are drawn next to rows, guess and loss."""
    return tuple(st.session_state.get(_MORE, ()))


def choose_more(run: Series) -> None:
    """Draw the choice of further tracks."""
    names = offered(run.facts)

    @handled("Classes")
    def chosen_now() -> None:
        st.session_state[_MORE] = tuple(st.session_state[f"{_MORE}/choice"])
        st.session_state.pop(_PICK, None)  # another form is drawn
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

    vega(chart.figure, title=chart.title, key=KEY, on_pick=clicked, placed=True)


def take(facts: Facts, part: Binned, ids: Sequence[str]) -> None:
    """Choose the classes of the bins that the browser has selected.

    Parameters
    ----------
    facts : Facts
    part : Binned
        The bins of the chart.
    ids : sequence of str
        What is selected: nothing after a double click. What was selected at an earlier turn
        stays in it where someone adds to a choice that was made elsewhere since.
    """
    turn = turn_of(facts)
    bins = [at for at in picked_bins(ids, turn) if at < len(part)]
    if not bins and (ids or selection.now(facts) is None):
        return
    here = [part.groups(facts, at) for at in bins]
    adds = len(ids) > len(bins)
    if adds and selection.now(facts) is not None:
        here.append(np.flatnonzero(selection.mask(facts)))
    groups = np.unique(np.concatenate(here)) if here else np.zeros(0, dtype=np.int64)
    label = words_of(facts, part, bins[0]) if len(here) == 1 else f"{len(groups):,} {facts.noun[1]}"
    selection.choose(facts, groups, label)
    if not adds:
        st.session_state[_PICK] = selection.turn(), turn
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
