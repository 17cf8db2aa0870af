"""What steers a search: prices of cells, functions of class sizes, and outvoted labels."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import part
from anon_core.contracts.metric import Metric, MetricNeeds
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: Label of what a search is judged by; the cheapest release it finds wins.
BEST_BY = "Best by"


class CellCost(Metric):
    """A mean of prices per cell; a suppressed row pays 1 in each, or as `removed_counts` says.

    Prices depend only on the cell's cover, so the cost of a lattice node without suppression is a
    sum of one number per attribute and level: an exact bound that needs no scan.
    """

    needs: ClassVar[MetricNeeds] = MetricNeeds(from_groups=True)
    #: Whether the price of a range is the distance of its ends, and a first step where they
    #: differ: then cuts and clusterings look it up.
    by_distance: ClassVar[bool] = False
    #: Whether prices follow from the hierarchies alone, and tell nothing of the table.
    by_domain: ClassVar[bool] = False

    #: What a suppressed cell pays of what its price at the published level leaves to 1.
    removed_counts: float = 1.0

    def column_weights(self, problem: Problem) -> npt.NDArray[np.float64]:
        """Return what each quasi-identifier counts, 1 on average; shape (quasi,)."""
        return np.ones(len(problem.quasi))

    @abstractmethod
    def price(
        self, problem: Problem, column: str, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        """Return the price in [0, 1] of cells that cover leaves lo..hi; same shape as `lo`."""

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Return the mean price over the table's rows and quasi-identifiers.

        By column it is not weighted.
        """
        sizes = release.grouping.sizes
        rows = max(problem.rows, 1)
        gone = release.suppressed
        per_class = np.zeros(len(sizes), dtype=np.float64)
        per_column: dict[str, float] = {}
        weights = self.column_weights(problem)
        for name, weight in zip(problem.quasi, weights.tolist(), strict=True):
            cells = release.by_cover(name, partial(self.price, problem, name))
            per_class += weight * cells
            lost = gone if self.removed_counts == 1 else self._of_removed(problem, release, name)
            per_column[name] = float((cells @ sizes + lost) / rows)
        total = float(np.mean(weights * list(per_column.values())))
        return Measure(
            metric=self.name,
            value=total,
            share=total,
            per_class=per_class / len(problem.quasi),
            per_column=per_column,
        )

    def not_defined_for(self, release: Release) -> str:
        """Refuse rows that were removed from a release whose columns have no one level."""
        if self.removed_counts == 1 or not release.suppressed:
            return ""
        if all(_level(release, name) is not None for name in release.problem.quasi):
            return ""
        return (
            "What a suppressed row costs less than everything is its cells at the levels of their "
            "columns, and columns of this release have no one level."
        )

    def _of_removed(self, problem: Problem, release: Release, name: str) -> float:
        """Return what the suppressed cells of a column pay, at the level of the column."""
        level, hierarchy = _level(release, name), problem.hierarchies[name]
        if level is None:
            return float(release.suppressed)
        grouping, frequency = release.grouping, problem.frequency
        gone = grouping.member < 0
        leaf = frequency.codes[grouping.key[gone], frequency.columns.index(name)]
        lo, hi = hierarchy.bounds(level)
        own = self.price(problem, name, lo, hi)[hierarchy.node(level)[leaf]]
        return float((own + self.removed_counts * (1 - own)) @ grouping.count[gone])


def _level(release: Release, name: str) -> int | None:
    """Return the one level of a column; None where its cells are at several, or at none."""
    levels = np.unique(release.vocabularies[name].level)
    return int(levels[0]) if len(levels) == 1 and levels[0] >= 0 else None


def domain_share(
    problem: Problem, column: str, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]:
    """Return (leaves − 1) / (|A| − 1) of cells that cover leaves lo..hi; 0 for one value."""
    hierarchy = problem.hierarchies[column]
    covered = hierarchy.leaf_count(lo, hi)
    return np.maximum(covered - 1, 0) / max(hierarchy.size - 1, 1)


class SizeCost(Metric):
    """A function of the sizes of classes and of how many rows are suppressed."""

    needs: ClassVar[MetricNeeds] = MetricNeeds(from_groups=True)
    #: Whether it is Σ of squared sizes and n for every suppressed row, as k-Optimize bounds it.
    of_squares: ClassVar[bool] = False

    @abstractmethod
    def of_sizes(self, sizes: npt.NDArray[np.int64], removed: int, rows: int) -> float:
        """Return the cost of classes with `sizes` (shape (classes,)) and `removed` further rows."""

    @abstractmethod
    def of_totals(
        self,
        classes: npt.NDArray[np.int64],
        squares: npt.NDArray[np.int64],
        removed: npt.NDArray[np.int64],
        rows: int,
    ) -> npt.NDArray[np.float64]:
        """Return what `of_sizes` returns, for many nodes at once.

        Parameters
        ----------
        classes, squares, removed : int64 arrays of one shape
            Number of classes, Σ of their squared sizes, and further rows that are suppressed.
        rows : int
            Rows of the table.
        """

    @abstractmethod
    def floor_above(self, sizes: npt.NDArray[np.int64], rows: int) -> float:
        """Return a bound for every node above one with these classes, none of them removed."""

    @abstractmethod
    def floor_below(self, removed: int, rows: int, least: int) -> float:
        """Return a bound no node below costs less than, given what is removed at a node.

        Below a node at least the same rows are suppressed; kept classes have `least` rows or more.
        """

    @abstractmethod
    def share_of(self, value: float, rows: int) -> float:
        """Return the cost brought to [0, 1]: every row its own class is 0, nothing left is 1."""

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Measure the classes as an attacker sees them (equal cells are one class)."""
        sizes = release.view.group_size
        value = self.of_sizes(sizes, release.suppressed, problem.rows)
        return Measure(
            metric=self.name,
            value=value,
            share=self.share_of(value, problem.rows),
            also=self.also(sizes, release.suppressed, problem.rows),
        )

    def also(self, sizes: npt.NDArray[np.int64], removed: int, rows: int) -> dict[str, float]:
        """Return other published forms of the metric by name."""
        return {}


class LabelCost(Metric):
    """Rows that are suppressed or outvoted by their class's labels, as a share of all rows.

    Finer classes outvote no more rows than coarser ones: the rows outvoted in the parts of a class
    are a bound for the class itself.
    """

    @abstractmethod
    def label_column(self, problem: Problem) -> str:
        """Return the sensitive column of labels.

        Raises
        ------
        BadPlan
            If there is none.
        """


def labels_of(problem: Problem) -> tuple[str, ...]:
    """Return the columns that can be labels: sensitive ones that are not quasi-identifiers."""
    return tuple(name for name in problem.sensitive if name not in problem.quasi)


def saving(*, default: str = "ncp", help: str) -> Any:
    """Declare what cuts and clusterings save: a price of cells that goes by distance."""
    return part(
        default=default,
        families=["metric"],
        fits=lambda kind: issubclass(kind, CellCost) and kind.by_distance,
        help=help,
        label="Saving",
    )
