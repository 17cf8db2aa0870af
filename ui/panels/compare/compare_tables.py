"""Pinned runs as tables: every figure side by side with its difference to the first run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anon_core.base.terms import ROWS_SUPPRESSED
from ui.charts.attack_plots import name_of
from ui.charts.chart_frame import Series
from ui.charts.metric_plots import metric_names, title_of
from ui.charts.tracks import nouns

if TYPE_CHECKING:
    import pandas as pd


def figures(run: Series, others: Sequence[Series] = ()) -> dict[str, float]:
    """Return a run's figures by name, each exactly as in its JSON; named alike in `others`."""
    return {n: v for group in _by_group(run, others or [run]).values() for n, v in group.items()}


def _by_group(run: Series, runs: Sequence[Series]) -> dict[str, dict[str, float]]:
    """Return a run's figures by what they are of, then by name, as they are called in `runs`."""
    one, many = nouns(runs)
    result = run.facts.result
    figures = run.facts.figures
    release: dict[str, float] = {
        "rows in the table": figures["rows"],
        ROWS_SUPPRESSED: figures["suppressed"],
        many: figures["classes"],
        f"smallest {one}": figures["smallest_class"],
        "seconds": result.took,
    }
    measured = [n for n in metric_names(runs) if n in figures["metrics"]]
    metrics: dict[str, float] = {title_of(name): figures["metrics"][name] for name in measured}
    attacks: dict[str, float] = {}
    for attack in run.facts.attacks:
        name = name_of(attack)
        attacks[f"{name}: rate"] = attack.rate
        attacks[f"{name}: worst case"] = attack.worst
        attacks[f"{name}: people at risk"] = attack.at_risk
        if any(a.undecided for r in runs for a in r.facts.attacks if name_of(a) == name):
            attacks[f"{name}: not decided, treated as exposed"] = attack.undecided
    values: dict[str, float] = {}
    for column in result.problem.sensitive:
        if column not in result.problem.quasi and len(run.facts.sizes):
            apart = run.facts.difference(column)
            sizes = run.facts.sizes
            values[f"{column}: mean difference of a {one} to the whole"] = float(
                (apart * sizes).sum() / sizes.sum()
            )
    return {
        "The release": release,
        "Metrics": metrics,
        "Attacks": attacks,
        "Sensitive values": values,
    }


def all_figures(runs: Sequence[Series]) -> dict[str, pd.DataFrame]:
    """Return one row a figure, by what it is of: its value in every run, and the difference.

    Differences are to the first run.
    """
    groups = [_by_group(run, runs) for run in runs]
    found = {name: _table(runs, [of[name] for of in groups]) for name in groups[0]}
    return {name: table for name, table in found.items() if len(table)}


def _table(runs: Sequence[Series], values: Sequence[dict[str, float]]) -> pd.DataFrame:
    import pandas as pd

    first = runs[0].letter
    rows: list[dict[str, object]] = []
    for name in dict.fromkeys(n for v in values for n in v):
        row: dict[str, object] = {"figure": name}
        for run, v in zip(runs, values, strict=True):
            row[f"{run.sign} {run.letter}"] = v.get(name)
        for run, v in list(zip(runs, values, strict=True))[1:]:
            here, there = v.get(name), values[0].get(name)
            gap = here - there if here is not None and there is not None else None
            row[f"{run.letter} − {first}"] = gap
        rows.append(row)
    return pd.DataFrame(rows)


def columns_said(run: Series) -> pd.DataFrame:
    """Return what the release says of every quasi-identifier: values, and cells made coarser."""
    import numpy as np
    import pandas as pd

    result = run.facts.result
    sizes = result.release.grouping.sizes
    node = result.account.node or {}
    rows: list[dict[str, object]] = []
    for name in result.problem.quasi:
        pool = result.release.vocabularies[name]
        cells = result.release.cells[name]
        wide = (pool.lo < pool.hi)[cells]
        total = max(int(sizes.sum()), 1)
        used = np.unique(cells)
        row: dict[str, object] = {"column": name}
        if node:
            row["level"] = node.get(name)
        row |= {
            "values": len({pool.texts[i] for i in used.tolist()}),
            "coarser cells": float(sizes[wide].sum()) / total,
        }
        if run.facts.permuted:
            block = next(b for b in result.release.blocks if name in b)
            row["linked with"] = ", ".join(n for n in block if n != name) or "nothing"
        rows.append(row)
    return pd.DataFrame(rows)
