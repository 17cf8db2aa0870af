"""Why is this column `*`? The next finer choice of levels, its cost, and the rows that it loses."""

from __future__ import annotations

import numpy as np

from anon_core.base.errors import BadPlan, listing
from anon_core.data.hierarchy import Hierarchy
from anon_core.explain.answers import Answer, Cell, rows_said
from anon_core.explain.answers.steps import chosen_node, level_said, moved, step_at
from anon_core.pipeline.result import Result


def hidden_columns(result: Result) -> tuple[str, ...]:
    """Return the quasi-identifiers of which some cell says nothing, in their order."""
    return tuple(name for name in result.problem.quasi if _hidden_rows(result, name))


def hidden_column(result: Result, column: str) -> Answer:
    """Say why a column says nothing, and what one step finer would cost.

    Parameters
    ----------
    column : str
        A quasi-identifier.

    Raises
    ------
    BadPlan
        If it is none.
    """
    problem = result.problem
    if column not in problem.quasi:
        raise BadPlan(
            f"'{column}' is not a quasi-identifier.",
            remedy=f"Name one: {listing(problem.quasi)}.",
        )
    hidden, published = _hidden_rows(result, column), result.release.view.rows
    if not hidden:
        return Answer(
            sentence=f"'{column}' is not suppressed: every published row says something of it."
        )
    node = chosen_node(result)
    if node is None:
        return _of_groups(result, column, hidden, published)
    place = problem.quasi.index(column)
    finer_level = _telling(problem.hierarchies[column], node[place])
    if finer_level is None:
        return Answer(
            sentence=f"'{column}' holds only one value, so its cells reveal nothing even unchanged."
        )
    here = step_at(result, node)
    finer = step_at(result, moved(node, place, finer_level - node[place]))
    rows: list[dict[str, Cell]] = [
        {
            "levels": words,
            "rows that have to go": step.removed,
            "rows that may go": step.budget,
            "loss of cells": step.loss,
        }
        for words, step in (
            (f"as chosen ({level_said(problem, column, node[place])})", here),
            (f"finer ({level_said(problem, column, finer_level)})", finer),
        )
    ]
    said = level_said(problem, column, node[place])
    start = f"'{column}' is at {said}, which says nothing, in all {rows_said(published)}."
    if finer.holds:
        lowest = problem.level_bounds.get(column, (0, 0))[0]
        chosen = f"{result.plan.algorithm.title} preferred another choice"
        if finer_level < lowest:
            chosen = f"the lowest level you allow is {lowest}"
        cost = f"loss {finer.loss:.4g} instead of {here.loss:.4g}"
        why = (
            f"The privacy models would also hold one step finer, with {rows_said(finer.removed)} "
            f"suppressed and {cost}; {chosen}."
        )
    else:
        why = (
            f"At the next finer level that says something, {rows_said(finer.removed)} would "
            f"be in classes that violate a privacy model, and {rows_said(finer.budget)} may be "
            f"suppressed. Without them the loss would be {finer.loss:.4g} instead of "
            f"{here.loss:.4g}."
        )
    return Answer(sentence=f"{start} {why}", rows=tuple(rows))


def _of_groups(result: Result, column: str, hidden: int, published: int) -> Answer:
    if result.release.grouping.published:
        words = "Links are cut within groups, and cells are made coarser group by group"
    else:
        words = "Levels or ranges are chosen group by group"
    return Answer(
        sentence=f"'{column}' says nothing in {rows_said(hidden)} of {published:,}: their "
        "groups contain values that only the whole column covers.",
        note=f"{words}, so there is no single finer level whose cost could be given.",
    )


def _telling(hierarchy: Hierarchy, level: int) -> int | None:
    """Return the next finer level that distinguishes any two values; None where there is none."""
    finer = [n for n in range(level) if len(hierarchy.labels[n]) > 1]
    return max(finer, default=None)


def _hidden_rows(result: Result, column: str) -> int:
    """Return the published rows whose cell covers every value of a column."""
    release = result.release
    vocabulary = release.vocabularies[column]
    last = len(result.problem.hierarchies[column].leaves) - 1
    if last <= 0 or column not in release.cells:
        return 0
    whole = (vocabulary.lo <= 0) & (vocabulary.hi >= last)
    return int(release.grouping.sizes[np.asarray(whole)[release.cells[column]]].sum())
