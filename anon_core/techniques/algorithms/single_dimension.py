"""Top-down partitioning of one dimension at a time, for all rows at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32
from anon_core.base.context import Context
from anon_core.base.errors import NotFound
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.partition.box_release import covered_outcome
from anon_core.methods.partition.merging import group_stats, keeping
from anon_core.methods.partition.mondrian_cuts import cut_by_tree, refuse_whole
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem

# One column cut into parts for all rows at once: widths, ways to split, and what parts cover.


class Dimension:
    """A column and the parts it is in at present.

    Attributes
    ----------
    rows : int64 array of shape (leaves,)
        Rows of the table per leaf.
    by_tree : bool
        Whether parts are nodes of the hierarchy, split into their children.
    weight : float
        Factor on widths.
    begin : int32 array of shape (leaves,)
        First leaf of the part of each leaf.
    """

    def __init__(
        self,
        *,
        hierarchy: Hierarchy,
        rows: npt.NDArray[np.int64],
        by_tree: bool,
        weight: float = 1.0,
    ) -> None:
        self.hierarchy, self.rows, self.by_tree, self.weight = hierarchy, rows, by_tree, weight
        self.begin: I32 = np.zeros(len(hierarchy.leaves), dtype=np.int32)
        self._closed: set[tuple[int, int]] = set()

    def leaves_of(self, part: int) -> npt.NDArray[np.int64]:
        """Return the leaves of a part, known by its first leaf, that rows have."""
        return np.flatnonzero((self.begin == part) & (self.rows > 0))

    def width_of(self, part: int) -> float:
        """Return a part's width; -1 where it holds one value or was found not to split.

        Numbers take the range of the part over that of the column, other columns the part's leaves
        over all. The missing value among others makes a part as wide as the column.
        """
        seen = self.leaves_of(part)
        if len(seen) < 2 or (part, int(np.count_nonzero(self.begin == part))) in self._closed:
            return -1.0
        hierarchy = self.hierarchy
        if hierarchy.measure is None:
            inside = np.flatnonzero(self.begin == part)
            return self.weight * categorical_width(len(inside), len(hierarchy.leaves))
        if np.isnan(hierarchy.measure[seen[-1]]):
            return self.weight
        domain = hierarchy.measure[(self.rows > 0) & ~np.isnan(hierarchy.measure)]
        ends = hierarchy.measure[seen[[0, -1]]]
        return self.weight * numeric_width(
            (float(ends[0]), float(ends[1])), (float(domain[0]), float(domain[-1]))
        )

    @property
    def widest(self) -> int:
        """First leaf of the widest part; among equals the first."""
        parts = np.unique(self.begin).tolist()
        return max(parts, key=lambda part: (self.width_of(part), -part))

    @property
    def width(self) -> float:
        """Width of the widest part; -1 where nothing can be split."""
        return self.width_of(self.widest)

    def close(self, part: int) -> None:
        """Remember that a part does not split."""
        self._closed.add((part, int(np.count_nonzero(self.begin == part))))

    def splits(self, part: int) -> list[I32]:
        """Return `begin` after each way to split a part, in the order to try them."""
        hierarchy, seen = self.hierarchy, self.leaves_of(part)
        if self.by_tree:
            # All children of the node or none: a child left out would lose its rows.
            inside = self.begin == part
            level = int(
                hierarchy.smallest_node(seen[:1].astype(np.int32), seen[-1:].astype(np.int32))[0]
            )
            return [np.where(inside, hierarchy.first_leaf[level - 1], self.begin)]
        missing = len(hierarchy.leaves) - 1 if hierarchy.has_missing else -1
        # No range holds the missing value with others: it is cut off first.
        alone = seen[-1] == missing
        bars = [int(seen[-2])] if alone else numeric_candidates(seen, self.rows[seen])
        return [
            np.where(
                (self.begin == part) & (np.arange(len(self.begin)) > bar), bar + 1, self.begin
            ).astype(np.int32)
            for bar in bars
        ]

    def covers(self) -> tuple[I32, I32]:
        """Return first and last leaf that the part of each leaf covers, (leaves,) each.

        From the first to the last value that rows have; what is published may be a node above.
        """
        low, high = self.begin.copy(), self.begin.copy()
        for part in np.unique(self.begin).tolist():
            inside = np.flatnonzero(self.begin == part)
            seen = self.leaves_of(part)
            ends = seen if len(seen) else inside
            low[inside], high[inside] = ends[0], ends[-1]
        return low, high


def numeric_width(part: tuple[float, float], domain: tuple[float, float]) -> float:
    """Return the width of a range of numbers as a share of the column's.

    Examples
    --------
    >>> numeric_width((0, 0), (0, 99999)), numeric_width((-10, 0), (-10, 10))
    (0.0, 0.5)
    """
    whole = domain[1] - domain[0]
    return (part[1] - part[0]) / whole if whole > 0 else 0.0


def categorical_width(values: int, domain: int) -> float:
    """Return the width of a set of values as a share of the column's.

    Examples
    --------
    >>> categorical_width(2, 2)
    1.0
    """
    return values / domain


def numeric_candidates(values: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> list[int]:
    """Return the values at which to cut (≤ goes left): median, first and third quartile.

    A value that would leave nothing on the right is left out; values repeat only once.

    Parameters
    ----------
    values : int64 array of shape (values,), ascending
    rows : int64 array of shape (values,)
        Rows of each value.

    Examples
    --------
    >>> numeric_candidates(np.array([0, 5, 9]), np.array([5, 1, 1]))
    [0, 5]
    """
    upto, total = np.cumsum(rows), int(rows.sum())
    found: list[int] = []
    for quarter in (2, 1, 3):
        at = int(np.searchsorted(4 * upto, quarter * total))
        value = int(values[at])
        if at < len(values) - 1 and value not in found:
            found.append(value)
    # Where ties fill a side, the next lower value still cuts.
    if not found:
        found.append(int(values[-2]))
    return found


def classes_of(problem: Problem, dimensions: Sequence[Dimension]) -> npt.NDArray[np.int64]:
    """Return the class of every quasi tuple, shape (runs,): the parts it is in."""
    codes = problem.frequency.run_codes
    columns = [dim.begin[codes[:, d]] for d, dim in enumerate(dimensions)]
    return dense_rank(columns, [len(dim.begin) for dim in dimensions])[0]


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class SingleDimension(Algorithm):
    """Single-dimensional top-down partitioning (Aalborg 2022, algorithms 1 to 3, corrected)."""

    name: ClassVar[str] = "single-dimension"
    title: ClassVar[str] = "Top-down, one dimension at a time"
    summary: ClassVar[str] = (
        "Starts with one class and splits the widest part of the widest column for all rows at "
        "once, while every class satisfies the privacy models. Equal values are always published "
        "alike."
    )
    offer: ClassVar[Offer] = Offer(
        when="When equal values should be published alike everywhere, but levels may differ."
    )
    shape: ClassVar[Shape] = Shape(approach="levels", forms_ranges=True)
    needs: ClassVar[Needs] = Needs(counts_people=True, merges=True)
    formula: ClassVar[str] = (
        "widest part first, width × weight; numbers at the median, first or third quartile with "
        "the best degree, categories into all children or not at all"
    )
    source: ClassVar[str] = "Aalborg 2022, Anonymization techniques, algorithms 1 to 3"

    weights: Mapping[str, float] = column_weights()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Split dimensions; see `Algorithm.run`."""
        weights = weights_by_column(problem, self.weights, self.name)
        dimensions = [
            Dimension(
                hierarchy=h,
                rows=problem.leaf_rows[h.column],
                by_tree=cut_by_tree(problem, h),
                weight=w,
            )
            for h, w in zip(problem.quasi_hierarchies, weights.tolist(), strict=True)
        ]
        if self._degree(problem, models, dimensions) is None:
            refuse_whole(problem, models)
            raise NotFound(
                "Not found: the classes that splitting starts from break a privacy model; smaller "
                "ones may satisfy it.",
                remedy="Choose the optimal search or Mondrian, or ask for less.",
                best=0.0,
                best_of="share of classes that keep it",
            )
        tried = 0
        while True:
            # 1. The widest part that can still be split; ties go to the column named first.
            tried += 1
            context.report(1.0 - 1.0 / tried, "Splitting columns")
            widest = max(range(len(dimensions)), key=lambda d: (dimensions[d].width, -d))
            dimension = dimensions[widest]
            if dimension.width < 0 or context.out_of_time():
                break
            # 2. Of the ways to split it that every class survives, the one of the best degree.
            part = dimension.widest
            best: tuple[float, npt.NDArray[np.int32]] | None = None
            widths = [one.width for one in dimensions] if context.listening else []
            ways: list[tuple[npt.NDArray[np.int32], float | None]] = []
            for split in dimension.splits(part):
                dimension.begin, before = split, dimension.begin
                degree = self._degree(problem, models, dimensions)
                dimension.begin = before
                ways.append((split, degree))
                if degree is not None and (best is None or degree > best[0]):
                    best = degree, split
            # 3. Where there is none the part stays whole.
            if best is None:
                dimension.close(part)
            else:
                dimension.begin = best[1]
            if context.listening:
                taken = dimension.begin if best is not None else None
                context.event(
                    "dimension", column=widest, part=part, width=widths, ways=ways, taken=taken
                )
        classes = classes_of(problem, dimensions)
        ends = [dimension.covers() for dimension in dimensions]
        codes = problem.frequency.run_codes[np.unique(classes, return_index=True)[1]]
        low = np.stack([ends[d][0][codes[:, d]] for d in range(len(ends))], axis=1)
        high = np.stack([ends[d][1][codes[:, d]] for d in range(len(ends))], axis=1)
        nodes = [dimension.by_tree for dimension in dimensions]
        return covered_outcome(problem, run_buckets(problem, classes), low, high, nodes)

    # Event "dimension" says of every part that was looked at: the number of the widest `column`,
    # the first leaf of its `part`, the `width` of each column's widest part, the `ways` to split it
    # (first leaf of the part of each leaf, and the degree, None where a class breaks a privacy
    # model), and which of them was `taken`, None where the part stays whole.

    def _degree(
        self, problem: Problem, models: Sequence[GroupModel], dimensions: Sequence[Dimension]
    ) -> float | None:
        """Return the degree that all classes reach, or None where one breaks a privacy model.

        The degree is the smallest number of distinct sensitive values of a class where privacy
        models look at values, and the smallest size of a class else.
        """
        groups = run_buckets(problem, classes_of(problem, dimensions))
        if not keeping(problem, models, groups).all():
            return None
        stats = group_stats(problem, models, groups)
        if stats.histograms:
            return float(min(h.distinct.min() for h in stats.histograms.values()))
        return float(stats.sizes.min())
