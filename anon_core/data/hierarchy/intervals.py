"""Hierarchies of numbers and dates from cut points: every level parts the line into intervals.

A cut is the first value of the interval that begins there. A level's cuts are on every level
below it, too, so that levels nest by construction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadHierarchy, listing
from anon_core.data.column import Column
from anon_core.data.hierarchy.model import Rows, tidied
from anon_core.data.values.kinds import KINDS

#: Most decimals of a grid; numbers with more are taken as spread without one.
_MOST_DECIMALS = 9


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equally spaced points that all values of a column are among.

    Attributes
    ----------
    step : float
        From one point to the next.
    first : float
        The smallest value.
    places : int64 array of shape (values,)
        Steps from the first value to each, exactly.
    """

    step: float
    first: float
    places: npt.NDArray[np.int64]


def grid_of(measure: npt.NDArray[np.float64]) -> Grid | None:
    """Return the widest grid that ascending, different numbers are on; None where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> grid_of(np.array([1.1, 1.3, 2.1])).step, grid_of(np.array([10.0, 25.0, 40.0])).step
    (0.2, 15.0)
    >>> grid_of(np.array([0.0, 2.0**0.5])) is None
    True
    """
    if len(measure) < 2:
        return None
    largest = float(np.max(np.abs(measure)))
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10.0**decimals
        if not largest * scale < 2.0**53:
            return None
        units = np.rint(measure * scale)
        # A decimal is the quotient of two numbers that are exact.
        if np.array_equal(units / scale, measure):
            apart = (units - units[0]).astype(np.int64)
            step = int(np.gcd.reduce(apart[1:]))
            return Grid(step=step / scale, first=float(measure[0]), places=apart // step)
    return None


LabelStyle = Literal["range", "bracket"]
#: More cuts on a level than this are no groups any more.
MOST_CUTS = 1000


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """Nested cut points and how their intervals are written.

    Attributes
    ----------
    levels : tuple of tuples of float
        Cut points of level 1 (the finest) and up; those of a level are among those below it.
    open_bottom, open_top : bool
        Write the first interval as ``<20`` and the last as ``≥80`` (bottom and top coding) rather
        than with the smallest and largest leaf of the hierarchy.
    style : {'range', 'bracket'}
        ``20-29`` where all values are whole and none is negative, or always ``[20, 30)``.
    """

    levels: tuple[tuple[float, ...], ...]
    open_bottom: bool = False
    open_top: bool = False
    style: LabelStyle = "range"

    def __post_init__(self) -> None:
        """Refuse cuts that are in no order or do not nest.

        Raises
        ------
        BadHierarchy
            Naming the level, and the remedy.
        """
        if self.style not in get_args(LabelStyle):
            raise BadHierarchy(
                f"Intervals cannot be written in the style {self.style!r}.",
                remedy=f"Use one of {listing(get_args(LabelStyle))}.",
            )
        plain = tuple(tuple(float(point) for point in points) for points in self.levels)
        object.__setattr__(self, "levels", plain)
        for level, points in enumerate(self.levels, start=1):
            if not all(math.isfinite(point) for point in points):
                raise BadHierarchy(
                    f"Level {level} has a cut that is not a number.", remedy="Remove that cut."
                )
            if len(points) > MOST_CUTS:
                raise BadHierarchy(
                    f"Level {level} has {len(points)} cuts; at most {MOST_CUTS} are allowed.",
                    remedy="Use wider intervals.",
                )
            if any(after <= before for before, after in pairwise(points)):
                raise BadHierarchy(
                    f"The cuts of level {level} do not ascend, so its intervals would overlap.",
                    remedy="Every cut must be larger than the one before.",
                )
            if level > 1 and (crossing := set(points) - set(self.levels[level - 2])):
                raise BadHierarchy(
                    f"Level {level} has {len(crossing)} "
                    f"{'cut' if len(crossing) == 1 else 'cuts'} inside groups of level "
                    f"{level - 1}, so their intervals would overlap.",
                    remedy=f"Cut level {level - 1} there too; every level joins groups of the one "
                    "below.",
                )

    def as_mapping(self) -> dict[str, Any]:
        """Return the cuts as plain values (JSON)."""
        return {
            "levels": [list(points) for points in self.levels],
            "open_bottom": self.open_bottom,
            "open_top": self.open_top,
            "style": self.style,
        }

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Cuts:
        """Return cuts from what `as_mapping` returned.

        Raises
        ------
        BadHierarchy
            If a level has something else than ascending, nested numbers.
        """
        try:
            levels = tuple(tuple(float(p) for p in points) for points in given["levels"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadHierarchy(
                "The cuts are not lists of numbers.", remedy="Give a list of numbers per level."
            ) from error
        return cls(
            levels=levels,
            open_bottom=bool(given.get("open_bottom", False)),
            open_top=bool(given.get("open_top", False)),
            style=given.get("style", "range"),
        )


@dataclass(frozen=True, kw_only=True)
class Interval:
    """One interval of a level: from `low` up to, and without, `high`.

    Attributes
    ----------
    low, high : float
        Infinite at an end without a cut.
    rows, values : int
        Rows of the table and distinct values in it, exactly.
    """

    low: float
    high: float
    label: str
    rows: int
    values: int


def cut(column: Column, cuts: Cuts, *, also: Sequence[str] = ()) -> Rows:
    """Return the level table that cut points make of a column of numbers or dates.

    Intervals that no value lies in leave no trace in it.

    Parameters
    ----------
    also : sequence of str
        Values to keep in the table although no row has them.

    Raises
    ------
    BadHierarchy
        If the column has neither numbers nor dates.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> age = encode("age", np.arange(5, dtype=np.int32), ["17", "23", "41", "82", "90"])
    >>> for row in cut(age, Cuts(levels=((20, 40, 80), (40,)), open_top=True)):
    ...     print(row)
    ('17', '17-19', '17-39', '*')
    ('23', '20-39', '17-39', '*')
    ('41', '40-79', '≥40', '*')
    ('82', '≥80', '≥40', '*')
    ('90', '≥80', '≥40', '*')
    """
    measure = measure_of(column)
    values: Sequence[str] = column.values
    reach = reach_of(column, also)
    if also:
        read = KINDS[column.kind].measure
        known = dict(zip(measure.tolist(), column.values, strict=True))
        known = {read(text): text for text in also} | known
        ordered = sorted(known.items())
        measure, values = np.array([m for m, _ in ordered]), [text for _, text in ordered]
    levels: list[Sequence[str]] = [values]
    for points in _effective(reach, cuts):
        labels = _labels(column, reach, points, cuts)
        place = np.searchsorted(points, measure, side="right")
        levels.append([labels[i] for i in place.tolist()])
    return tidied(list(zip(*levels, strict=True)))


def intervals(
    column: Column, cuts: Cuts, *, also: Sequence[str] = ()
) -> tuple[tuple[Interval, ...], ...]:
    """Return every interval of every level, level 1 first, with exact counts.

    Labels reach as far as the values of the column, and `also` those that no row has.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> age = encode("age", np.array([0, 0, 1], dtype=np.int32), ["17", "23"])
    >>> [(one.label, one.rows) for one in intervals(age, Cuts(levels=((20,),)))[0]]
    [('17-19', 2), ('20-23', 1)]
    """
    measure, reach = measure_of(column), reach_of(column, also)
    found: list[tuple[Interval, ...]] = []
    for points in _effective(reach, cuts):
        place = np.searchsorted(points, measure, side="right")
        rows = np.bincount(place, weights=column.counts, minlength=len(points) + 1)
        values = np.bincount(place, minlength=len(points) + 1)
        bounds = [-math.inf, *points, math.inf]
        found.append(
            tuple(
                Interval(low=low, high=high, label=label, rows=int(r), values=int(v))
                for (low, high), label, r, v in zip(
                    pairwise(bounds),
                    _labels(column, reach, points, cuts),
                    rows,
                    values,
                    strict=True,
                )
            )
        )
    return tuple(found)


# ---- labels --------------------------------------------------------------------------------------


def measure_of(column: Column) -> npt.NDArray[np.float64]:
    """Return what a column's values measure, such as numbers or days, ascending.

    Raises
    ------
    BadHierarchy
        If it has neither.
    """
    if not KINDS[column.kind].measured:
        raise BadHierarchy(
            f"'{column.name}' has neither numbers nor dates, so it cannot be cut.",
            remedy="Group its values, or declare the column as number on Data.",
        )
    return np.zeros(0) if column.measure is None else column.measure


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How far the leaves of a hierarchy reach: its labels hold for them, not for the rows alone.

    Attributes
    ----------
    low, high : float
        The smallest and the largest; 0 where there is none.
    whole : bool
        Whether all are whole numbers.
    empty : bool
        Whether there is none.
    """

    low: float
    high: float
    whole: bool
    empty: bool


def reach_of(column: Column, also: Sequence[str] = ()) -> Reach:
    """Return how far a column's values reach, together with leaves that no row has.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> age = encode("age", np.arange(2, dtype=np.int32), ["17", "98"])
    >>> reach_of(age, ["0", "17", "120"])
    Reach(low=0.0, high=120.0, whole=True, empty=False)
    """
    measure = measure_of(column)
    if also:
        own, read = set(column.values), KINDS[column.kind].measure
        unseen = np.array([read(text) for text in also if text not in own], dtype=np.float64)
        measure = np.concatenate([measure, unseen[np.isfinite(unseen)]])
    if not len(measure):
        return Reach(low=0.0, high=0.0, whole=True, empty=True)
    return Reach(
        low=float(measure.min()),
        high=float(measure.max()),
        whole=bool(np.all(measure == np.floor(measure))),
        empty=False,
    )


def is_whole(column: Column) -> bool:
    """Return whether all values of a column are whole numbers."""
    return reach_of(column).whole


def settled(column: Column, at: float, *, also: Sequence[str] = ()) -> float:
    """Return where a cut takes effect: among whole numbers, at the next whole one."""
    return _settled(reach_of(column, also), at)


def _settled(reach: Reach, at: float) -> float:
    if not math.isfinite(at):
        raise BadHierarchy("A cut must be a number.", remedy="Choose a place on the line.")
    return float(math.ceil(at)) if reach.whole else float(at)


def _effective(reach: Reach, cuts: Cuts) -> list[list[float]]:
    """Return each level's cuts where they act, without those that an open end makes meaningless."""
    if reach.empty:
        return [list(points) for points in cuts.levels]
    low = reach.low if cuts.open_bottom else -math.inf
    high = reach.high if cuts.open_top else math.inf
    placed = [sorted({_settled(reach, point) for point in points}) for points in cuts.levels]
    return [[p for p in points if low < p <= high] for points in placed]


def _labels(column: Column, reach: Reach, points: Sequence[float], cuts: Cuts) -> list[str]:
    """Return the label of every interval between `points`, in order."""
    low, high = reach.low, reach.high
    if not points:
        return ["*"]
    kind = KINDS[column.kind]
    write, joint = kind.write, kind.joint
    whole = not kind.dense and reach.whole and all(p.is_integer() for p in points)
    # A dash between two ends would be taken for the sign of a number below 0.
    dashed = cuts.style == "range" and min(low, *points) >= 0
    ranged = whole and (dashed or not kind.brackets)

    def between(first: float, after: float, *, ends: bool) -> str:
        if ranged:
            last = after if ends else after - 1
            return write(first) if last <= first else f"{write(first)}{joint}{write(last)}"
        return f"[{write(first)}, {write(after)}{']' if ends else ')'}"

    opening, closing = f"<{write(points[0])}", f"≥{write(points[-1])}"
    if not cuts.open_bottom and low < points[0]:
        opening = between(low, points[0], ends=False)
    if not cuts.open_top and high >= points[-1]:
        closing = between(points[-1], high, ends=True)
    inner = [between(a, b, ends=False) for a, b in pairwise(points)]
    return [opening, *inner, closing]
