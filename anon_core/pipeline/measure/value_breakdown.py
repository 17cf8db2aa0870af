"""A release value by value: whose rows were suppressed, who paid the loss, how a column is spread.

A release that loses little on the whole can lose most of the people of one value; anyone who
compares groups of people in it needs to know whom it shows less of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.contracts.metric import headline
from anon_core.data.column import Column
from anon_core.data.hierarchy.model import Hierarchy
from anon_core.methods.queries.count_queries import OTHERS, Parts, parts_of
from anon_core.methods.queries.query_answers import overlap
from anon_core.release.attack_result import Details
from anon_core.release.problem import Problem
from anon_core.release.release import Release

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result


def listed_columns(problem: Problem) -> tuple[str, ...]:
    """Return the columns that are listed value by value: quasi-identifiers, then sensitive."""
    return (*problem.quasi, *(n for n in problem.sensitive if n not in problem.quasi))


def who_pays(result: Result, column: str) -> Details | None:
    """Return the share of rows suppressed and the mean loss of the people of each value.

    Parameters
    ----------
    column : str
        A quasi-identifier or a sensitive column.

    Returns
    -------
    Details, or None
        Rows with ``value``, ``rows``, ``rows suppressed`` and ``mean loss``, shares from 0 to 1;
        None where losses were not measured, or the column's values were not distinguished when the
        table was counted. The loss is that of the cells, or where links are cut that of the groups;
        a suppressed row has lost all.
    """
    if not result.problem.tells_values(column):
        return None
    permuted = len(result.release.blocks) > 1
    measure = result.measures.get(headline("groups" if permuted else "cells"))
    if measure is None or measure.per_class is None:
        return None
    problem, grouping = result.problem, result.release.grouping
    leaf = _leaf(problem, column)[grouping.key]
    parts = parts_of(problem.hierarchies[column], _rows(problem, column))
    part, count = parts.part[leaf], grouping.count.astype(np.float64)
    gone = grouping.member < 0
    lost = np.ones(len(part), dtype=np.float64)
    lost[~gone] = measure.per_class[grouping.member[~gone]]
    number = len(parts.labels)
    rows, hidden, paid = (
        np.bincount(part, weights, number) for weights in (count, count * gone, count * lost)
    )
    return Details(
        title=f"Who pays, by {column}",
        rows=tuple(
            {
                "value": label,
                "rows": int(rows[at]),
                ROWS_SUPPRESSED: float(hidden[at] / rows[at]),
                "mean loss": float(paid[at] / rows[at]),
            }
            for at, label in enumerate(parts.labels)
            if rows[at] > 0
        ),
        x="value",
        y=(ROWS_SUPPRESSED, "mean loss"),
        drawn="bars",
        note="Of the people of each value: how many were removed, and what was lost of them on "
        "average, from 0, unchanged, to 1, everything suppressed.",
    )


def distribution(result: Result, column: str) -> Details:
    """Return how a column is spread before, and as an analyst would rebuild it after.

    Parameters
    ----------
    column : str
        A quasi-identifier or a sensitive column.

    Returns
    -------
    Details
        Rows with ``value``, ``before`` and ``after``: shares of the table's rows and of the
        published ones. A cell is spread evenly over the values it covers.
    """
    problem, release = result.problem, result.release
    hierarchy, rows = problem.hierarchies[column], _rows(problem, column)
    parts = parts_of(hierarchy, rows)
    was = None if problem.before is None else problem.before.columns.get(column)
    if was is not None:
        parts, rows, place = _before_changes(hierarchy, parts, was)
        number = len(parts.labels)
        before = np.bincount(place, rows, number) / max(problem.rows, 1)
    else:
        number = len(parts.labels)
        before = np.bincount(parts.part, rows, number) / max(problem.rows, 1)
    after = np.bincount(parts.part, _rebuilt(release, column), number)
    after = after / max(release.view.rows, 1)
    return Details(
        title=f"{column} before and after",
        rows=tuple(
            {"value": label, "before": float(before[at]), "after": float(after[at])}
            for at, label in enumerate(parts.labels)
        ),
        x="value",
        y=("before", "after"),
        drawn="bars",
        note="After: published rows, each cell spread evenly over the values it covers.",
    )


def _before_changes(hierarchy: Hierarchy, parts: Parts, was: Column) -> tuple[Parts, I64, I64]:
    """Return parts that hold also what a column had before its cells were changed.

    Returns
    -------
    parts : Parts
        Those that were given, with one more for values that occur no more, where it is needed.
    rows, part : int64 arrays of shape (values + 1,)
        Rows with each value that the column had, missing last, and the part it is in.
    """
    part = np.array([_part_of(hierarchy, parts, was, at) for at in range(len(was.values) + 1)])
    rows = np.append(was.counts, was.missing).astype(np.int64)
    if np.any(part[rows > 0] < 0) and OTHERS not in parts.labels:
        parts = Parts(labels=(*parts.labels, OTHERS), part=parts.part)
    if OTHERS in parts.labels:
        part[part < 0] = parts.labels.index(OTHERS)
    return parts, rows, np.maximum(part, 0)


def _part_of(hierarchy: Hierarchy, parts: Parts, was: Column, at: int) -> int:
    """Return the part of a column's former value by its place, missing last; -1 for none."""
    if at == len(was.values):
        return int(parts.part[hierarchy.missing_leaf]) if hierarchy.has_missing else -1
    leaf = hierarchy.code.get(was.values[at])
    if leaf is None and parts.ranges and was.measure is not None and hierarchy.measure is not None:
        numbers = hierarchy.measure[: len(hierarchy.leaves) - hierarchy.has_missing]
        leaf = min(int(np.searchsorted(numbers, was.measure[at])), len(numbers) - 1)
    return -1 if leaf is None else int(parts.part[leaf])


def _leaf(problem: Problem, column: str) -> I64:
    frequency = problem.frequency
    return frequency.codes[:, frequency.columns.index(column)].astype(np.int64)


def _rows(problem: Problem, column: str) -> I64:
    if not problem.tells_values(column):  # the frequency set tells its groups apart, not its values
        return problem.leaf_counts(column)
    leaves = len(problem.hierarchies[column].leaves)
    weights = problem.frequency.count
    return np.bincount(_leaf(problem, column), weights, leaves).astype(np.int64)


def _rebuilt(release: Release, column: str) -> F64:
    """Return the expected published rows with each leaf, shape (leaves,)."""
    view, hierarchy = release.view, release.problem.hierarchies[column]
    vocabulary = view.vocabularies[column]
    shown = view.rows_of_cells(column).astype(np.float64)
    leaves = np.arange(len(hierarchy.leaves), dtype=np.int32)
    found = np.empty(len(leaves), dtype=np.float64)
    for start in range(0, len(leaves), 512):  # a table of all leaves by all cells may not fit
        some = leaves[start : start + 512]
        found[start : start + 512] = overlap(hierarchy, vocabulary, some, some) @ shown
    return found
