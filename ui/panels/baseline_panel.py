"""Pinned runs against a chosen baseline: how they stand, what differs in choices and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from anon_core.answers.differences import figure_differences, plan_differences
from anon_core.release.attack_result import AttackResult
from anon_core.words.phrases import against_threshold, chance, limited
from anon_core.words.tiles import tiles

from ..charts.attack_plots import name_of
from ..charts.chart_frame import Series, table
from ..words.explain import plain

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = 1_000_000  # figures from here on are told without a fraction, and never as a power of ten
_ONLY = "Only what differs"
_SIGNS = {"good": "✓", "bad": "✗", "doubtful": "?", "plain": ""}


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
    """Draw how runs stand, and what differs from the first: in choices, in figures."""
    heading = "How they stand" if len(runs) > 1 else "How it stands"
    st.markdown(f"**{heading}**")
    # Words wrap here: nothing of a threshold may be cut off on a narrow screen.
    st.table(standing_table(runs).map(plain), hide_index=True, alt=heading)
    if len(runs) < 2:
        return
    plans = plan_table(runs)
    st.markdown("**What was chosen otherwise**")
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


def standing_table(runs: Sequence[Series]) -> pd.DataFrame:
    """Return a row for each tile and each threshold: how every run stands, with sign and word."""
    import pandas as pd

    rows: list[dict[str, str]] = []
    found = [tiles(run.facts.result) for run in runs]
    for told in zip(*found, strict=True):
        row = {"what": told[0].name}
        for run, tile in zip(runs, told, strict=True):
            row[run.heading] = f"{_SIGNS[tile.verdict]} {tile.figure} – {tile.word}".strip()
        rows.append(row)
    limits = [{_limit(a): a for a in run.facts.attacks if limited(a)} for run in runs]
    for name in dict.fromkeys(n for own in limits for n in own):
        row = {"what": name}
        for run, own in zip(runs, limits, strict=True):
            attack = own.get(name)
            line = None if attack is None else against_threshold(attack)
            if attack is None or line is None:
                row[run.heading] = "? not run with this threshold"
            elif line.standing == "no threshold":
                row[run.heading] = "? nobody to attack"
            else:
                sign = _SIGNS["good" if line.standing == "met" else "bad"]
                row[run.heading] = f"{sign} {line.standing}: {chance(attack.worst)}"
        rows.append(row)
    return pd.DataFrame(rows)


def _limit(attack: AttackResult) -> str:
    return f"{name_of(attack)}, threshold {chance(attack.threshold)}"


def plan_table(runs: Sequence[Series]) -> pd.DataFrame:
    """Return one row for each choice in which a run differs from the first."""
    import pandas as pd

    first, *others = runs
    found = {
        run.letter: {d.what: d for d in plan_differences(first.facts.result, run.facts.result)}
        for run in others
    }
    rows: list[dict[str, object]] = []
    for what in dict.fromkeys(name for own in found.values() for name in own):
        before = next(own[what].before for own in found.values() if what in own)
        row: dict[str, object] = {"choice": what, first.heading: _said(before)}
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
    return "–" if value is None else str(value) or "(none)"


def _figure(value: object) -> str:
    """Return a figure as text: numbers and states stand in one column."""
    if value is None:
        return "–"
    if isinstance(value, int | float):
        return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:,.6g}"
    return str(value)
