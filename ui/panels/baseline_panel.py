"""Pinned runs against a chosen baseline: what differs in their recipes, and in every figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from anon_core.answers.differences import figure_differences, plan_differences

from ..charts.chart_frame import Series, table

if TYPE_CHECKING:
    import pandas as pd

_ONLY = "Only what differs"


def choose(runs: Sequence[Series]) -> list[Series]:
    """Draw the choice of the baseline; return the runs with it first."""
    if len(runs) < 2:
        return list(runs)
    letters = [run.letter for run in runs]
    chosen = st.selectbox(
        "Baseline, which the others are compared with", letters, key="baseline", width=320
    )
    return sorted(runs, key=lambda run: run.letter != chosen)


def draw(runs: Sequence[Series]) -> None:
    """Draw what differs from the first run: in the recipes, then in the figures."""
    if len(runs) < 2:
        return
    plans = plan_table(runs)
    st.markdown("**What differs in the recipes**")
    if len(plans):
        table(plans, key="plan-differences")
    else:
        st.caption("Nothing but the secret that chance starts from.")
    st.markdown("**Metrics, attacks and promises**")
    only = st.toggle(_ONLY, value=True, key="baseline-only")
    figures = figure_table(runs, only=only)
    if len(figures):
        table(figures, key="figure-differences")
    else:
        st.caption("No figure differs.")


def plan_table(runs: Sequence[Series]) -> pd.DataFrame:
    """Return one row for each place of the recipe in which a run differs from the first."""
    import pandas as pd

    first, *others = runs
    found = {
        run.letter: {d.what: d for d in plan_differences(first.facts.result, run.facts.result)}
        for run in others
    }
    rows: list[dict[str, object]] = []
    for what in dict.fromkeys(name for own in found.values() for name in own):
        before = next(own[what].before for own in found.values() if what in own)
        row: dict[str, object] = {"in the recipe": what, first.heading: _said(before)}
        for run in others:
            own = found[run.letter].get(what)
            row[run.heading] = _said(before if own is None else own.now)
        rows.append(row)
    return pd.DataFrame(rows)


def figure_table(runs: Sequence[Series], *, only: bool) -> pd.DataFrame:
    """Return one row a figure: its value in every run, and the change from the first.

    What is no number, such as whether a promise holds, has no change and is told as it is.
    """
    import pandas as pd

    first, *others = runs
    found = {
        run.letter: {d.what: d for d in figure_differences(first.facts.result, run.facts.result)}
        for run in others
    }
    rows: list[dict[str, object]] = []
    for what in dict.fromkeys(name for own in found.values() for name in own):
        told = {letter: own[what] for letter, own in found.items() if what in own}
        if only and all(d.before == d.now for d in told.values()):
            continue
        before = next(iter(told.values())).before
        row: dict[str, object] = {"figure": what, first.heading: _figure(before)}
        for run in others:
            own = told.get(run.letter)
            now = None if own is None else own.now
            row[run.heading] = _figure(now)
            change = None if own is None else own.change
            row[f"{run.letter} − {first.letter}"] = change
        rows.append(row)
    return pd.DataFrame(rows)


def _said(value: object) -> str:
    return "–" if value is None else str(value)


def _figure(value: object) -> str:
    """Return a figure as text: numbers and states stand in one column."""
    if value is None:
        return "–"
    return f"{value:,.6g}" if isinstance(value, int | float) else str(value)
