"""Why is this row suppressed? Its class, what blocks it, and the cheapest remedy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.contracts.model import GroupModel
from anon_core.explain.answers import Answer, Cell, rows_said
from anon_core.explain.answers.steps import (
    NodeOf,
    chosen_node,
    classes_at,
    level_said,
    moved,
    required,
    step_at,
)
from anon_core.methods.lattice.nodes import Nodes
from anon_core.pipeline.result import Result


def suppressed_rows(result: Result) -> I64:
    """Return the rows of the table that are not published, counted from 0."""
    return np.flatnonzero(result.row_group < 0).astype(np.int64)


def suppressed_row(result: Result, row: int) -> Answer:
    """Say why a row is not published.

    Parameters
    ----------
    row : int
        Counted from 0, of the table as it was searched.

    Raises
    ------
    BadPlan
        If there is no such row, or it is published.
    """
    problem = result.problem
    if not 0 <= row < problem.rows:
        raise BadPlan(
            f"The table has no row {row + 1:,}.", remedy=f"Name one from 1 to {problem.rows:,}."
        )
    if result.row_group[row] >= 0:
        raise BadPlan(f"Row {row + 1:,} is published.", remedy="Name a row that is not.")
    run = int(problem.frequency.run[problem.frequency.row_key[row]])
    node = chosen_node(result)
    if node is None:
        alike = int(problem.frequency.run_count[run])
        return Answer(
            sentence=f"Row {row + 1:,} was suppressed by {result.plan.algorithm.title}. "
            f"{rows_said(alike)} of the table {'is' if alike == 1 else 'are'} equal to it in all "
            "quasi-identifiers, itself included.",
            note="The technique does not choose one level per column, so no class at the chosen "
            "levels can be shown, nor a next level as a remedy.",
        )
    own, sizes = classes_at(problem, node)
    size = int(sizes[own[run]])
    blocking = [m.title for m in required(result) if not _keeps(result, node, run, (m,))]
    start = f"At the chosen levels row {row + 1:,} is in a class of {rows_said(size)}"
    if not blocking:
        return Answer(
            sentence=f"{start}, which satisfies every privacy model by itself; it was suppressed "
            "with others that do not, or by chance."
        )
    remedies = _remedies(result, node, run)
    best = min(
        (r for r in remedies if r["keeps it"] == "yes"),
        key=lambda r: (float(r["loss then"] or 0), int(r["rows suppressed then"] or 0)),
        default=None,
    )
    cure = (
        "No single column raised by one level would keep it."
        if best is None
        else f"The cheapest remedy that keeps it: '{best['column']}' one level higher, where "
        f"{rows_said(int(best['rows suppressed then'] or 0))} would be suppressed in all and the "
        f"loss would be {best['loss then']:.4g}."
    )
    return Answer(
        sentence=f"{start}; {' and '.join(blocking)} blocks it. {cure}", rows=tuple(remedies)
    )


def _remedies(result: Result, node: NodeOf, run: int) -> list[dict[str, Cell]]:
    """Return, for every column that can be raised, what becomes of the row and of all others."""
    problem = result.problem
    found: list[dict[str, Cell]] = []
    for place, name in enumerate(problem.quasi):
        height = problem.hierarchies[name].height
        if node[place] == problem.level_bounds.get(name, (0, height))[1]:
            continue
        higher = moved(node, place, 1)
        own, sizes = classes_at(problem, higher)
        step = step_at(result, higher)
        found.append(
            {
                "column": name,
                "raised to": level_said(problem, name, higher[place]),
                "its class then": int(sizes[own[run]]),
                "keeps it": "yes" if _keeps(result, higher, run, required(result)) else "no",
                "rows suppressed then": step.removed,
                "loss then": step.loss,
            }
        )
    return found


def _keeps(result: Result, node: NodeOf, run: int, models: tuple[GroupModel, ...]) -> bool:
    """Say whether the class of a quasi tuple keeps these privacy models at these levels."""
    anywhere = replace(result.problem, level_bounds={})
    nodes = Nodes(anywhere, models, result.problem.rows, Context())
    release = nodes.release(node)
    frequency = result.problem.frequency
    entry = int(np.flatnonzero(frequency.run == run)[0])
    return bool(release.grouping.member[entry] >= 0)
