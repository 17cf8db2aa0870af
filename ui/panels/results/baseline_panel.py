"""Pinned runs against a chosen baseline: how they are, what differs in choices and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from anon_core.base.terms import in_figures
from anon_core.explain.answers.differences import Difference, figure_differences, plan_differences
from anon_core.explain.text.phrases import against_threshold, chance, limited, share
from anon_core.explain.text.tiles import Tile, tiles
from anon_core.release.attack_result import AttackResult
from ui.charts.attack_plots import name_of
from ui.charts.chart_frame import Series, table
from ui.charts.metric_plots import loss_of_cells, title_of
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

if TYPE_CHECKING:
    import pandas as pd

#: Relative change below which figures are folded.
_LITTLE = 0.02
#: Runs up to which choices and figures have room next to each other.
_SIDE_BY_SIDE = 2
_SIGNS = {"good": "✓", "bad": "✕", "doubtful": "⚠", "plain": ""}


def choose(runs: Sequence[Series]) -> list[Series]:
    """Draw the choice of the baseline; return the runs with it first."""
    if len(runs) < 2:
        return list(runs)
    letters = [run.letter for run in runs]
    chosen = st.selectbox(
        "Baseline",
        letters,
        **remembered("baseline"),
        width=110,
    )
    return sorted(runs, key=lambda run: run.letter != chosen)


def standing(runs: Sequence[Series]) -> None:
    """Draw how runs are: the three figures of each, and its thresholds."""
    # Words wrap here: nothing of a threshold may be cut off on a narrow screen.
    title = "Results of these runs" if len(runs) > 1 else "Result of this run"
    st.table(standing_table(runs).map(plain), hide_index=True, alt=title)


def draw(runs: Sequence[Series]) -> None:
    """Draw what differs from the first run, in choices and in figures; what is equal is folded."""
    plans = plan_table(runs)
    with st.container(key="stack-differences"):
        # Every run is a column of the left table and two of the right one: of more than two
        # runs, each takes the whole width.
        side_by_side = len(runs) <= _SIDE_BY_SIDE
        left, right = (
            st.columns([2, 3], gap="medium") if side_by_side else (st.container(), st.container())
        )
    with left:
        st.markdown("**Chosen otherwise**")
        if len(plans):
            # Settings are words, which wrap here.
            st.table(plans.map(plain), hide_index=True, alt="Settings")
        else:
            st.caption("Only the random seed.")
    figures = figure_table(runs, least=_LITTLE)
    with right:
        st.markdown("**Figures, the largest change first**")
        if len(figures):
            changes = [name for name in figures.columns if name != "figure"]
            table(figures, key="figure-differences", wide="figure", right=changes)
        else:
            st.caption("No figure differs.")
        for label, rest in (
            (f"Differing by less than {share(_LITTLE)}", figure_table(runs, below=_LITTLE)),
            ("Equal in all", figure_table(runs, below=0)),
        ):
            if len(rest):
                with st.expander(f"{label}: {in_figures(len(rest), 'figure')}", type="compact"):
                    table(rest, key=f"figures-{label}", wide="figure")


def standing_table(runs: Sequence[Series]) -> pd.DataFrame:
    """Return a row for each tile and each threshold: how every run is, with sign and word."""
    import pandas as pd

    rows: list[dict[str, str]] = []
    found = [tiles(run.facts.result) for run in runs]
    for cells in zip(*found, strict=True):
        row = {"what": cells[0].name}
        for run, tile in zip(runs, cells, strict=True):
            row[run.heading] = f"{_SIGNS[tile.verdict]} {tile.figure} – {_briefly(tile)}".strip()
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
                row[run.heading] = "? no one to attack"
            else:
                sign = _SIGNS["good" if line.standing == "met" else "bad"]
                row[run.heading] = f"{sign} {line.standing}: {chance(attack.worst)}"
        rows.append(row)
    return pd.DataFrame(rows)


def _briefly(tile: Tile) -> str:
    """Return a tile's words without what the table says in rows of their own."""
    word = tile.word.removesuffix(".").replace(", by this attack alone", "")
    limit = "" if tile.of is None else f" of {chance(tile.of.threshold)}"
    return word.replace(f"your threshold{limit}", "your threshold")


def _limit(attack: AttackResult) -> str:
    return f"{name_of(attack)}, threshold {chance(attack.threshold)}"


def plan_table(runs: Sequence[Series]) -> pd.DataFrame:
    """Return one row for each choice in which a run differs from the first."""
    import pandas as pd

    first, *others = runs
    found = {
        run.letter: {
            d.what: d for d in plan_differences(first.facts.result.plan, run.facts.result.plan)
        }
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


def figure_table(
    runs: Sequence[Series], *, least: float = 0.0, below: float | None = None
) -> pd.DataFrame:
    """Return one row a figure that differs, the largest relative change first.

    What is not a number, such as whether a privacy model holds, has no change and comes first.

    Parameters
    ----------
    runs : sequence of Series
        The baseline first.
    least : float
        Relative change from which on figures are asked for.
    below : float or None
        Only those that changed by less; with 0 those that are equal in all runs.
    """
    import pandas as pd

    first, *others = runs
    found = {
        run.letter: {d.what: d for d in figure_differences(first.facts.result, run.facts.result)}
        for run in others
    }
    apart = {title_of(metric): name for metric, name in loss_of_cells(runs).items()}
    rows: list[tuple[float, dict[str, object]]] = []
    for what in dict.fromkeys(name for own in found.values() for name in own):
        values = {letter: own[what] for letter, own in found.items() if what in own}
        weight = max(d.weight for d in values.values())
        if (weight == 0) != (below == 0) or weight < least or (below and weight >= below):
            continue
        row: dict[str, object] = {"figure": apart.get(what, what), first.heading: _figure(values)}
        for run in others if weight else ():
            row[run.heading] = _figure(values, run.letter)
            row[f"{run.letter} against {first.letter}"] = _change(values.get(run.letter))
        rows.append((weight, row))
    rows.sort(key=lambda pair: -pair[0])
    return pd.DataFrame([row for _, row in rows])


def _change(difference: Difference | None) -> str:
    """Return how a figure changed, with an arrow and whether that is better."""
    if difference is None or not difference.change:
        return ""
    arrow = "▲" if difference.change > 0 else "▼"
    return f"{arrow} {_three(abs(difference.change))} {difference.turned}".strip()


def _three(value: float) -> str:
    """Return a number to three digits; a whole one keeps all of its own."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"


def _said(value: object) -> str:
    return "–" if value is None else str(value) or "(none)"


def _figure(differences: Mapping[str, Difference], letter: str = "") -> str:
    """Return a run's figure as text, the baseline's without a letter."""
    if not letter:
        value = next(iter(differences.values())).before
    else:
        value = differences[letter].now if letter in differences else None
    if value is None:
        return "–"
    return _three(value) if isinstance(value, int | float) else str(value)
