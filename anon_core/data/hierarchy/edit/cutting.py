"""Edit cut points: a cut is one thing that is on its level and on all below."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.intervals import Cuts, measure_of, settled
from anon_core.data.hierarchy.ranges import read_range
from anon_core.data.values.kinds import KINDS


def cuts_of(column: Column, rows: Sequence[Sequence[str]]) -> Cuts:
    """Return the cuts that a level table of a column of numbers or dates has.

    Where a label states where its interval begins, the cut is there, else at the first value.

    Raises
    ------
    BadHierarchy
        If the column has neither numbers nor dates, or a group is not an interval.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> age = encode("age", np.arange(3, dtype=np.int32), ["17", "42", "90"])
    >>> cuts_of(age, [["17", "10-39", "*"], ["42", "≥40", "*"], ["90", "≥40", "*"]])
    Cuts(levels=((10.0, 40.0),), open_bottom=False, open_top=True, style='range')
    """
    known = _paths(column, rows)
    paths = [row for _, row in known]
    between = range(1, len(paths[0]) - 1) if paths else range(0)
    ends = [(paths[0][level], paths[-1][level]) for level in between]
    return Cuts(
        levels=_nested(column, known),
        open_bottom=bool(ends) and all(first.startswith("<") for first, _ in ends),
        open_top=bool(ends) and all(last.startswith("≥") for _, last in ends),
        style="bracket" if any("[" in row[i] for row in paths for i in between) else "range",
    )


def cut_points(column: Column, rows: Sequence[Sequence[str]]) -> tuple[tuple[float, ...], ...]:
    """Return the cut points of each level of a level table, level 1 first, however many.

    Raises
    ------
    BadHierarchy
        If the column has neither numbers nor dates, or a group is not an interval.
    """
    return _nested(column, _paths(column, rows))


def _paths(column: Column, rows: Sequence[Sequence[str]]) -> list[tuple[float, Sequence[str]]]:
    """Return the rows of a level table in the order of what their values write, with that."""
    own = dict(zip(column.values, measure_of(column).tolist(), strict=True))
    measure = KINDS[column.kind].measure
    known = [(own[row[0]] if row[0] in own else measure(row[0]), row) for row in rows]
    return sorted((one for one in known if not math.isnan(one[0])), key=lambda one: one[0])


def _nested(
    column: Column, known: Sequence[tuple[float, Sequence[str]]]
) -> tuple[tuple[float, ...], ...]:
    """Return each level's own cuts and those of all levels above it."""
    measures = [measure for measure, _ in known]
    between = range(1, len(known[0][1]) - 1) if known else range(0)
    whole = all(measure.is_integer() for measure in measures)
    own = [_points(column, measures, [r[i] for _, r in known], i, whole=whole) for i in between]
    return tuple(tuple(sorted(set[float]().union(*own[i:]))) for i in range(len(own)))


def _points(
    column: Column, measures: Sequence[float], labels: Sequence[str], level: int, *, whole: bool
) -> set[float]:
    """Return the cuts of one level, from the label of each value in ascending order."""
    starts = [i for i, label in enumerate(labels) if i == 0 or label != labels[i - 1]]
    if len({labels[i] for i in starts}) < len(starts):
        raise BadHierarchy(
            f"Groups of '{column.name}' on level {level} are not intervals.",
            remedy="Groups of numbers and dates must be intervals that do not overlap.",
        )
    last = KINDS[column.kind].last
    found: set[float] = set()
    for i, after in pairwise([*starts, len(labels)]):
        low, high = read_range(labels[i], column.kind) or (math.nan, math.nan)
        before = measures[i - 1] if i else -math.inf
        stated = before < low <= measures[i]
        if i or (stated and low < measures[i]):
            found.add(low if stated else measures[i])
        # An empty interval may follow, so that this one's end is no other's beginning.
        end = (
            high + 1
            if whole and high.is_integer()
            else 0.0 + float(f"{math.nextafter(high, math.inf):.12g}")
        )
        upto = math.inf if after == len(labels) else measures[after]
        if measures[after - 1] < min(high, end) and end < math.inf and end <= min(upto, last):
            found.add(end)
    return found


def move_cut(
    column: Column, cuts: Cuts, old: float, new: float, *, also: Sequence[str] = ()
) -> Cuts:
    """Return the cuts with one of them at another place, on every level it is on.

    `also` holds leaves that no row has.

    Raises
    ------
    BadHierarchy
        If there is no such cut, or another one is there already.
    """
    _known(cuts, old)
    new = settled(column, new, also=also)
    if new == old:
        return cuts
    if any(new in points for points in cuts.levels):
        raise BadHierarchy(
            "There is a cut at that place already.",
            remedy="Remove one of them, or stop next to it.",
        )
    moved = tuple(tuple(sorted(new if p == old else p for p in points)) for points in cuts.levels)
    return replace(cuts, levels=moved)


def add_cut(column: Column, cuts: Cuts, level: int, at: float, *, also: Sequence[str] = ()) -> Cuts:
    """Return the cuts with one more on `level` and on all levels below.

    `also` holds leaves that no row has.

    Raises
    ------
    BadHierarchy
        If it is outside of the data, or there already.
    """
    at, measure = settled(column, at, also=also), measure_of(column)
    if not 1 <= level <= len(cuts.levels):
        raise BadHierarchy(f"There is no level {level}.", remedy="Add a level first.")
    if at in cuts.levels[level - 1]:
        raise BadHierarchy("There is a cut at that place already.", remedy="Choose another place.")
    if not len(measure) or not measure[0] < at <= measure[-1]:
        raise BadHierarchy(
            "A cut there would make an empty group: no value of the table lies beyond it.",
            remedy="Cut between the smallest and the largest value.",
        )
    levels = tuple(
        tuple(sorted({*points, at})) if i < level else points
        for i, points in enumerate(cuts.levels)
    )
    return replace(cuts, levels=levels)


def names_of(column: Column, rows: Sequence[Sequence[str]]) -> tuple[dict[float, str], ...]:
    """Return what a level table calls its intervals, by where they begin, level 1 first.

    Raises
    ------
    BadHierarchy
        As `cuts_of`.
    """
    known = _paths(column, rows)
    found: list[dict[float, str]] = []
    for level, points in enumerate(_nested(column, known), start=1):
        begins = [-math.inf, *points]
        own: dict[float, str] = {}
        for measure, row in known:
            own.setdefault(begins[bisect_right(points, measure)], row[level])
        found.append(own)
    return tuple(found)


def with_names_kept(
    rows: Sequence[Sequence[str]], before: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return a level table whose groups are called as `before`, where they hold the same leaves.

    Parameters
    ----------
    rows, before : sequences of sequences of str
        Level tables over the same leaves, each with one top.

    Examples
    --------
    >>> with_names_kept([["1", "1-2"], ["2", "1-2"], ["3", "3"]],
    ...                 [["1", "low"], ["2", "low"], ["3", "high"]])
    [['1', 'low'], ['2', 'low'], ['3', 'high']]
    """
    named: dict[frozenset[str], dict[int, str]] = {}
    for level in range(1, len(before[0]) if before else 0):
        for label, inside in _groups(before, level).items():
            named.setdefault(inside, {})[level] = label
    every = [_groups(rows, level) for level in range(1, len(rows[0]) if rows else 1)]
    made = {label for groups in every for label in groups}
    kept = [list(row) for row in rows]
    for level, groups in enumerate(every, start=1):
        names: dict[str, str] = {}
        for label, inside in groups.items():
            known = named.get(inside, {})
            name = known.get(level) or next(iter(known.values()), label)
            # A name that another group has now would give one text two meanings.
            names[label] = label if name != label and name in made else name
        for row in kept:
            row[level] = names[row[level]]
    return kept


def _groups(rows: Sequence[Sequence[str]], level: int) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row[level], set()).add(row[0])
    return {label: frozenset(inside) for label, inside in found.items()}


def remove_cut(cuts: Cuts, level: int, at: float) -> Cuts:
    """Return the cuts without one of them on `level` and all above; below it stays.

    Raises
    ------
    BadHierarchy
        If there is no such cut.
    """
    _known(cuts, at)
    levels = tuple(
        tuple(p for p in points if p != at) if i >= level - 1 else points
        for i, points in enumerate(cuts.levels)
    )
    return replace(cuts, levels=levels)


def _known(cuts: Cuts, at: float) -> None:
    if not any(at in points for points in cuts.levels):
        raise BadHierarchy("There is no cut at that place.", remedy="Choose one of the cuts.")
