"""Why 69 when I asked for 5? One step finer on each column, and what fails there."""

from __future__ import annotations

import numpy as np

from anon_core.contracts.model import least_class
from anon_core.explain.answers import Answer, Cell, rows_said
from anon_core.explain.answers.steps import chosen_node, level_said, moved, step_at
from anon_core.pipeline.result import Result


def larger_than_asked(result: Result) -> Answer:
    """Say why the smallest class is larger than was asked for.

    Of one level per column: the column that comes nearest to standing one level lower, and the rows
    that fail there. Of groups that were formed one by one: the smallest group, and the best cut of
    it along each column by the order of its values.
    """
    people = result.problem.population
    asked = max(least_class(result.plan.models, people), 1)
    sizes = result.class_sizes
    if not len(sizes):
        return Answer(sentence="No row is published, so there is no smallest class.")
    reached = int(sizes.min())
    if reached <= asked:
        return Answer(
            sentence=f"The smallest class has {rows_said(reached)}: exactly what was asked for, "
            "so there is nothing left to explain."
        )
    node = chosen_node(result)
    if node is not None:
        return _of_levels(result, node, asked, reached)
    return _of_groups(result, asked, reached)


def _of_levels(result: Result, node: tuple[int, ...], asked: int, reached: int) -> Answer:
    rows: list[dict[str, Cell]] = []
    open_: list[str] = []
    bounded: list[str] = []
    for place, name in enumerate(result.problem.quasi):
        if node[place] == 0:
            continue
        step = step_at(result, moved(node, place, -1))
        rows.append(
            {
                "column": name,
                "one step finer": level_said(result.problem, name, node[place] - 1),
                "rows that would have to go": step.removed,
                "rows that may go": step.budget,
                "smallest class there": step.smallest,
                "loss there": step.loss,
            }
        )
        if step.holds:
            lowest = result.problem.level_bounds.get(name, (0, 0))[0]
            (bounded if node[place] == lowest else open_).append(name)
    start = f"You asked for {asked}, and the smallest class has {rows_said(reached)}."
    if not rows:
        return Answer(sentence=f"{start} Every column is at its finest level.")
    if open_:
        return Answer(
            sentence=f"{start} The levels could be finer: '{open_[0]}' can go one level lower "
            f"and the privacy models still hold. {result.plan.algorithm.title} chose otherwise, "
            "because "
            "it prefers other levels or does not try every combination.",
            rows=tuple(rows),
        )
    if bounded:
        return Answer(
            sentence=f"{start} '{bounded[0]}' could be one level finer and the privacy models "
            "still hold, but it is at the lowest level you allow.",
            rows=tuple(rows),
        )
    near = min(rows, key=lambda row: int(row["rows that would have to go"] or 0))
    gone = int(near["rows that would have to go"] or 0)
    return Answer(
        sentence=f"{start} A column's level moves all its values at once: one step finer on any "
        f"column fails. The nearest is '{near['column']}', where {rows_said(gone)} would have to "
        f"go and {rows_said(int(near['rows that may go'] or 0))} may.",
        rows=tuple(rows),
    )


def _of_groups(result: Result, asked: int, reached: int) -> Answer:
    """Look at the smallest group: the best cut along each column leaves how many on each side."""
    problem, grouping = result.problem, result.release.grouping
    seen = result.release.seen_group
    smallest = int(np.argmin(result.class_sizes))
    kept = grouping.member >= 0
    inside = np.zeros(len(grouping.member), dtype=np.bool_)
    inside[kept] = seen[grouping.member[kept]] == smallest
    codes = problem.frequency.codes[grouping.key[inside]]
    count = grouping.count[inside]
    rows: list[dict[str, Cell]] = []
    for place, name in enumerate(problem.quasi):
        side = best_cut(codes[:, place].tolist(), count.tolist())
        rows.append(
            {
                "column": name,
                "values in the smallest group": len(set(codes[:, place].tolist())),
                "rows on the smaller side of its best cut": side,
                "enough": "yes" if side >= asked else "no",
            }
        )
    start = f"You asked for {asked}, and the smallest group has {rows_said(reached)}."
    possible = [r for r in rows if r["enough"] == "yes"]
    if possible:
        why = (
            f"Along '{possible[0]['column']}' it could be cut into two of enough rows; another "
            "privacy model, or the way the technique cuts, prevents it."
        )
    else:
        why = (
            "Along no single column can it be cut in two by the order of the values with at least "
            f"{asked} rows on both sides."
        )
    return Answer(
        sentence=f"{start} {why}",
        rows=tuple(rows),
        note="Groups were formed one by one, so there is no finer level to compare with; only the "
        "smallest group is looked at, and only sizes of the two sides.",
    )


def best_cut(values: list[int], counts: list[int]) -> int:
    """Return the rows on the smaller side of the most even cut between two values.

    Examples
    --------
    >>> best_cut([1, 2, 2, 5], [1, 1, 1, 1]), best_cut([3, 3], [4, 4])
    (1, 0)
    """
    total = sum(counts)
    by_value: dict[int, int] = {}
    for value, count in zip(values, counts, strict=True):
        by_value[value] = by_value.get(value, 0) + count
    below, best = 0, 0
    for value in sorted(by_value):
        best = max(best, min(below, total - below))
        below += by_value[value]
    return best
