"""Statistics of columns before and after: what an analyst of a release can still work out.

A published range does not say which of its values a row has, so the statistics of a release are
bounds: every table that could have been published like this has its mean between them. None of it
is for the public edition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I64
from anon_core.methods.queries.count_queries import parts_of
from anon_core.methods.queries.pair_tables import expected
from anon_core.methods.queries.query_answers import overlap
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import Vocabulary

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result

#: Rows or columns up to which a two-way table is made; a larger one is no table to be read.
MOST_LABELS = 400


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """A statistic that lies between two numbers; they are equal where it is known."""

    low: float
    high: float

    def __str__(self) -> str:
        """Show the number, or both ends."""
        low, high = f"{self.low:,.6g}", f"{self.high:,.6g}"
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, kw_only=True)
class ColumnStatistics:
    """One column of a table.

    Attributes
    ----------
    rows, missing, distinct : int
        Rows with a value, rows without one, and texts that differ.
    mode : str
        The most frequent text; the first of several.
    minimum, maximum, mean, median, deviation : Bounded or None
        None for columns that are not numbers, and where a cell may hide a missing value: how many
        values there are is then unknown. The deviation divides by the number of values less one.
    weight : float or None
        Sum of the survey weights of rows with a value; None without weights, and where a row's cell
        in the release is not known to be its own.
    weighted_mean : Bounded or None
        By these weights.
    """

    rows: int
    missing: int
    distinct: int
    mode: str
    minimum: Bounded | None = None
    maximum: Bounded | None = None
    mean: Bounded | None = None
    median: Bounded | None = None
    deviation: Bounded | None = None
    weight: float | None = None
    weighted_mean: Bounded | None = None


@dataclass(frozen=True, kw_only=True)
class BeforeAndAfter:
    """One column of a table and of its release, and how many rows were suppressed between."""

    column: str
    before: ColumnStatistics
    after: ColumnStatistics
    removed: int


def column_statistics(result: Result, column: str) -> BeforeAndAfter:
    """Return the statistics of a column before and after.

    Parameters
    ----------
    column : str
        A quasi-identifier or a sensitive column.
    """
    problem, release = result.problem, result.release
    hierarchy = problem.hierarchies[column]
    leaves = np.arange(len(hierarchy.leaves), dtype=np.int32)
    is_number = problem.dataset.column(column).kind == "number"
    numbers = hierarchy.measure if is_number else None
    missing = np.zeros(len(leaves), dtype=np.bool_)
    missing[len(leaves) - 1 :] = hierarchy.has_missing
    if numbers is not None:
        numbers = _exact(numbers, hierarchy.leaves)
    before = _before_changes(problem, column) or _statistics(
        hierarchy.leaves,
        problem.leaf_counts(column),
        leaves,
        leaves,
        missing,
        numbers,
        None,
        _weights(result, column, before=True),
    )
    vocabulary = release.view.vocabularies[column]
    after = _statistics(
        vocabulary.texts,
        release.view.rows_of_cells(column),
        vocabulary.lo,
        vocabulary.hi,
        missing,
        numbers,
        vocabulary.shown,
        _weights(result, column, before=False),
    )
    return BeforeAndAfter(
        column=column, before=before, after=after, removed=problem.rows - release.view.rows
    )


def _weights(result: Result, column: str, *, before: bool) -> F64 | None:
    """Return the weight of the rows with each leaf, or with each published text; None without."""
    problem, release = result.problem, result.release
    if not problem.roles.weight or (problem.before and column in problem.before.columns):
        return None
    whose = problem.dataset.column(problem.roles.weight)
    assert whose.measure is not None  # each weight is a number from 1 up
    weight = whose.measure[whose.codes]
    own, hierarchy = problem.dataset.column(column), problem.hierarchies[column]
    leaf = np.array([*(hierarchy.code[v] for v in own.values), len(hierarchy.leaves) - 1])
    cell = leaf[own.codes]
    if before:
        return np.bincount(cell, weight, minlength=len(hierarchy.leaves)).astype(np.float64)
    vocabulary, kept = release.view.vocabularies[column], result.row_group >= 0
    if column in release.cells:
        cell = release.cells[column][np.maximum(result.row_group, 0)]
    elif tuple(vocabulary.texts) != tuple(hierarchy.leaves) or len(release.view.blocks) > 1:
        return None
    found = np.bincount(cell[kept], weight[kept], minlength=len(vocabulary.texts))
    return found.astype(np.float64)


def _before_changes(problem: Problem, column: str) -> ColumnStatistics | None:
    """Return the statistics of what a column had before its cells were changed; None without."""
    was = None if problem.before is None else problem.before.columns.get(column)
    if was is None:
        return None
    places = np.arange(len(was.values) + 1, dtype=np.int32)  # missing is the last
    numbers = None
    if was.kind == "number" and was.measure is not None:
        numbers = _exact(np.append(was.measure, np.nan), [*was.values, ""])
    return _statistics(
        [*was.values, ""],
        np.append(was.counts, was.missing).astype(np.int64),
        places,
        places,
        places == len(was.values),
        numbers,
        None,
    )


def _statistics(
    texts: Sequence[str],
    count: I64,
    lo: np.ndarray[tuple[int], np.dtype[np.int32]],
    hi: np.ndarray[tuple[int], np.dtype[np.int32]],
    missing: B1,
    numbers: F64 | npt.NDArray[np.object_] | None,
    shown: F64 | None,
    weights: F64 | None = None,
) -> ColumnStatistics:
    here = count > 0
    last = np.int32(len(missing) - 1)
    is_missing = missing[lo] & (lo == hi)
    may_hide = bool((here & missing[hi] & (lo < last)).any())
    valued = here & ~is_missing
    found = ColumnStatistics(
        rows=int(count[valued].sum()),
        missing=int(count[is_missing].sum()),
        distinct=int(valued.sum()),
        mode=texts[int(np.where(valued, count, -1).argmax())] if valued.any() else "",
    )
    if weights is not None:
        found = replace(found, weight=float(weights[valued].sum()))
    if numbers is None or may_hide or not valued.any():
        return found
    low, high = numbers[lo[valued]], numbers[hi[valued]]
    if shown is not None:
        present = shown[valued]
        own = _exact(present, [text for text, here in zip(texts, valued, strict=True) if here])
        low, high = np.where(np.isnan(present), low, own), np.where(np.isnan(present), high, own)
    if any(math.isnan(end) for end in (*low.tolist(), *high.tolist())):
        return found
    weight = count[valued]
    rows = int(weight.sum())
    spread = spread_bounds(low.astype(np.float64), high.astype(np.float64), weight)
    by = None if weights is None else weights[valued]
    return replace(
        found,
        weighted_mean=None
        if by is None
        else Bounded(low=float(low @ by / by.sum()), high=float(high @ by / by.sum())),
        minimum=Bounded(low=_plain(low.min()), high=_plain(high.min())),
        maximum=Bounded(low=_plain(low.max()), high=_plain(high.max())),
        mean=Bounded(low=_mean(low, weight), high=_mean(high, weight)),
        median=Bounded(low=_median(low, weight), high=_median(high, weight)),
        deviation=None
        if rows < 2
        else Bounded(
            low=float(np.sqrt(spread.low / (rows - 1))),
            high=float(np.sqrt(spread.high / (rows - 1))),
        ),
    )


def _exact(values: F64, texts: Sequence[str]) -> F64 | npt.NDArray[np.object_]:
    """Return numbers as fractions where floats would lose digits of them; others as they are."""
    if not np.any(np.abs(np.nan_to_num(values)) >= 2.0**53):
        return values
    found = values.astype(np.object_)
    for place in np.flatnonzero(~np.isnan(values)).tolist():
        found[place] = Fraction(texts[place].strip().replace(",", "."))
    return found


def _plain(number: float | Fraction) -> float:
    """Return a fraction as a whole number where it is one."""
    whole = isinstance(number, Fraction) and number.denominator == 1
    return int(number) if whole else float(number)


def _mean(values: F64 | npt.NDArray[np.object_], weight: I64) -> float:
    return _plain(cast(float, (values @ weight) / int(weight.sum())))


def _median(values: F64 | npt.NDArray[np.object_], weight: I64) -> float:
    order = np.argsort(values, kind="stable")
    until = np.cumsum(weight[order])
    rows = int(until[-1])
    middle = [
        int(np.searchsorted(until, place, side="right")) for place in ((rows - 1) // 2, rows // 2)
    ]
    one, other = values[order][middle]
    return _plain((one + other) / 2)


def spread_bounds(low: F64, high: F64, weight: I64) -> Bounded:
    """Return the least and greatest sum of squared distances from the mean.

    Parameters
    ----------
    low, high : float64 arrays of shape (cells,)
        Between which the value of each row with that cell lies.
    weight : int64 array of shape (cells,)
        Rows with that cell.

    Notes
    -----
    The sum for a fixed centre is least where each value is the one nearest to it, and greatest
    where each is the farthest; the best centre is found on either piecewise quadratic curve. The
    least sum is reached. The greatest is an upper bound: that it is reached by some table is left
    open.

    Examples
    --------
    >>> ages = np.array([30.0, 41, 52]), np.array([31.0, 42, 52]), np.array([3, 3, 2])
    >>> print(spread_bounds(*ages))
    534 to 600
    """
    middle = (low + high) / 2

    def nearest(centre: float) -> F64:
        return np.clip(centre, low, high)

    def farthest(centre: float) -> F64:
        return np.where(middle > centre, high, low)

    rows = float(weight.sum())
    if np.array_equal(low, high):  # nothing is open, as in every table before its release
        known = float((low - float(low @ weight) / rows) ** 2 @ weight)
        return Bounded(low=known, high=known)
    found: list[float] = []
    for choose in (nearest, farthest):
        left, right = float(low.min()), float(high.max())
        for _ in range(200):  # the mean of what is chosen minus the centre falls: halve
            centre = (left + right) / 2
            if centre in (left, right):
                break
            if float(choose(centre) @ weight) / rows > centre:
                left = centre
            else:
                right = centre
        found.append(min(float((choose(c) - c) ** 2 @ weight) for c in (left, right)))
    return Bounded(low=found[0], high=found[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoWay:
    """Two columns against each other, before and after, at the labels that were published.

    Attributes
    ----------
    before, after : float64 arrays of shape (first labels, second labels)
        Rows; after, those that are expected where links are cut or labels overlap.
    removed : int
        Suppressed rows: they are in no cell of `after`.
    emptied : tuple of (str, str)
        Cells that had rows and have none.
    total_variation : float
        Half the sum of the differences between the cells' shares.
    chi_square, cramers_v : (float, float)
        Before and after; NaN where a table has a single row or column.
    spread : bool
        Whether labels overlap, so that rows are spread evenly over the values of their cells.
    """

    columns: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    before: F64
    after: F64
    removed: int
    emptied: tuple[tuple[str, str], ...]
    total_variation: float
    chi_square: tuple[float, float]
    cramers_v: tuple[float, float]
    spread: bool


def two_way(result: Result, first: str, second: str) -> TwoWay | None:
    """Return two columns against each other, before and after.

    Returns
    -------
    TwoWay, or None
        None where the table of the two has too many labels, or the columns' values were not
        distinguished when the table was counted.
    """
    problem, release = result.problem, result.release
    if not (problem.tells_values(first) and problem.tells_values(second)):
        return None
    one, two = _Side.of(release, first), _Side.of(release, second)
    if max(len(one.labels), len(two.labels)) > MOST_LABELS:
        return None
    frequency = problem.frequency
    at = [frequency.columns.index(name) for name in (first, second)]
    before = np.zeros((len(one.labels), len(two.labels)))
    places = tuple(
        side.of_leaf[frequency.codes[:, a]] for side, a in zip((one, two), at, strict=True)
    )
    np.add.at(before, places, frequency.count)
    pairs = expected(release.view, first, second)
    after = one.of_cell.T @ (pairs @ two.of_cell)
    kept = [np.flatnonzero((before + after).any(axis=axis)) for axis in (1, 0)]
    before, after = (table[np.ix_(*kept)] for table in (before, after))
    labels = [
        tuple(side.labels[at] for at in some.tolist())
        for side, some in zip((one, two), kept, strict=True)
    ]
    gone = np.argwhere((before > 0) & (after <= 1e-9))
    chi = [_association(table) for table in (before, after)]
    return TwoWay(
        columns=(first, second),
        labels=(labels[0], labels[1]),
        before=before,
        after=after,
        removed=problem.rows - release.view.rows,
        emptied=tuple((labels[0][a], labels[1][b]) for a, b in gone.tolist()),
        total_variation=total_variation(before, after),
        chi_square=(chi[0][0], chi[1][0]),
        cramers_v=(chi[0][1], chi[1][1]),
        spread=one.spread or two.spread,
    )


def total_variation(before: F64, after: F64) -> float:
    """Return half the sum of the differences between the shares of two tables' cells.

    Examples
    --------
    >>> round(total_variation(np.array([3.0, 1.0]), np.array([1.0, 1.0])), 2)
    0.25
    """
    shares = [table / table.sum() if table.sum() else table for table in (before, after)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _association(table: F64) -> tuple[float, float]:
    """Return χ² and Cramér's V of the rows and columns that hold something."""
    from scipy.stats import chi2_contingency
    from scipy.stats.contingency import association

    some = table[np.ix_(table.any(axis=1), table.any(axis=0))]
    if min(some.shape, default=0) < 2:
        return float("nan"), float("nan")
    chi = float(cast(float, chi2_contingency(some, correction=False)[0]))
    rows = float(some.sum())
    # `association` takes whole numbers; an expected table has shares of rows.
    whole = np.allclose(some, np.round(some))
    v = (
        float(association(np.round(some).astype(np.int64), method="cramer"))
        if whole
        else float(np.sqrt(chi / rows / (min(some.shape) - 1)))
    )
    return chi, v


@dataclass(frozen=True, kw_only=True, eq=False)
class _Side:
    """One column of a two-way table: its labels, and where leaves and cells belong.

    `of_leaf` is an int64 array of shape (leaves,), `of_cell` a float64 array of shape (cells,
    labels).
    """

    labels: tuple[str, ...]
    of_leaf: I64
    of_cell: F64
    spread: bool

    @classmethod
    def of(cls, release: Release, column: str) -> _Side:
        hierarchy, vocabulary = (
            release.problem.hierarchies[column],
            release.view.vocabularies[column],
        )
        shown = np.flatnonzero(release.view.rows_of_cells(column) > 0)
        order = shown[np.argsort(vocabulary.lo[shown], kind="stable")]
        lo, hi = vocabulary.lo[order], vocabulary.hi[order]
        if (lo[1:] > hi[:-1]).all():
            return cls._apart(hierarchy.leaves, vocabulary, order)
        parts = parts_of(hierarchy, release.problem.leaf_counts(column))
        leaves = np.arange(len(hierarchy.leaves), dtype=np.int32)
        of_part = np.zeros((len(parts.labels), len(vocabulary.texts)))
        for start in range(0, len(leaves), 512):  # a table of all leaves by all cells may not fit
            some = leaves[start : start + 512]
            np.add.at(
                of_part,
                parts.part[start : start + 512],
                overlap(hierarchy, vocabulary, some, some),
            )
        return cls(
            labels=tuple(parts.labels),
            of_leaf=np.asarray(parts.part, dtype=np.int64),
            of_cell=of_part.T,
            spread=True,
        )

    @classmethod
    def _apart(cls, leaves: Sequence[str], vocabulary: Vocabulary, order: I64) -> _Side:
        """Return the side of a column whose published cells cover different values each.

        Values that nobody published has are labels of their own.
        """
        of_leaf = np.full(len(leaves), -1, dtype=np.int64)
        for place, entry in enumerate(order.tolist()):
            of_leaf[vocabulary.lo[entry] : vocabulary.hi[entry] + 1] = place
        labels = [vocabulary.texts[entry] for entry in order.tolist()]
        for leaf in np.flatnonzero(of_leaf < 0).tolist():
            of_leaf[leaf] = len(labels)
            labels.append(leaves[leaf])
        of_cell = np.zeros((len(vocabulary.texts), len(labels)))
        of_cell[order, np.arange(len(order))] = 1
        return cls(labels=tuple(labels), of_leaf=of_leaf, of_cell=of_cell, spread=False)


#: The statistics of a column in the order in which they are shown, by their names for people.
STATISTICS: dict[str, Callable[[ColumnStatistics], object]] = {
    "rows with a value": lambda s: s.rows,
    "missing": lambda s: s.missing,
    "distinct values": lambda s: s.distinct,
    "most frequent": lambda s: s.mode,
    "minimum": lambda s: s.minimum,
    "maximum": lambda s: s.maximum,
    "mean": lambda s: s.mean,
    "median": lambda s: s.median,
    "standard deviation": lambda s: s.deviation,
    "sum of weights": lambda s: None if s.weight is None else Bounded(low=s.weight, high=s.weight),
    "weighted mean": lambda s: s.weighted_mean,
}
