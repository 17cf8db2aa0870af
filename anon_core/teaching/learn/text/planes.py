"""People as points in the plane of two quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anon_core.release.problem import Problem
from anon_core.teaching.learn.pictures import Box, Cut, Plane, Point, Scale, Tone, group_tone
from anon_core.teaching.learn.text.tables import people_of
from anon_core.teaching.learn.text.words import rows_said
from anon_core.teaching.learn.trace import Trace


def scale(problem: Problem, column: str) -> Scale:
    """Return a quasi-identifier as an axis: the values of rows, evenly spaced, in their order."""
    hierarchy = problem.hierarchies[column]
    seen = sorted(set(codes_of(problem, column)))
    ticks = tuple((float(i), hierarchy.leaves[leaf]) for i, leaf in enumerate(seen))
    return Scale(column=column, low=-0.5, high=len(seen) - 0.5, ticks=ticks)


def places_of(problem: Problem, column: str) -> tuple[int, ...]:
    """Return where every row is on the axis of a column."""
    codes = codes_of(problem, column)
    seen = sorted(set(codes))
    return tuple(seen.index(code) for code in codes)


def codes_of(problem: Problem, column: str) -> tuple[int, ...]:
    """Return the leaf of every row."""
    return tuple(problem.leaf_codes(column).tolist())


def plane(
    trace: Trace,
    title: str,
    together: Sequence[int],
    *,
    axes: tuple[str, str] | None = None,
    cuts: Sequence[Cut] = (),
    tones: Mapping[int, Tone] | None = None,
    boxes: bool = True,
    note: str = "",
) -> Plane:
    """Return all rows over two columns, and the box around each group."""
    across, up = axes or (trace.quasi[0], trace.quasi[min(1, len(trace.quasi) - 1)])
    x, y = places_of(trace.problem, across), places_of(trace.problem, up)
    points = tuple(
        Point(
            id=f"row:{row}",
            x=x[row],
            y=y[row],
            label=str(row + 1),
            people=(row,),
            tone=(tones or {}).get(row, group_tone(together[row])),
        )
        for row in range(trace.rows)
    )
    found: list[Box] = []
    for group in sorted({g for g in together if g >= 0}) if boxes else ():
        mine = people_of(together, group)
        found.append(
            Box(
                id=f"part:{group}",
                x=(min(x[r] for r in mine) - 0.42, max(x[r] for r in mine) + 0.42),
                y=(min(y[r] for r in mine) - 0.42, max(y[r] for r in mine) + 0.42),
                label=rows_said(len(mine)),
                tone=group_tone(group),
                people=mine,
            )
        )
    return Plane(
        title=title,
        across=scale(trace.problem, across),
        up=scale(trace.problem, up),
        points=points,
        boxes=tuple(found),
        cuts=tuple(cuts),
        note=note,
    )
