"""What a lattice node costs by a metric, and static bounds that need no look at its classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.registry import part
from anon_core.contracts.group_stats import histogram
from anon_core.contracts.metric import Metric
from anon_core.contracts.search_cost import BEST_BY, CellCost, LabelCost, SizeCost
from anon_core.contracts.stop_rules import with_rows
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.lattice.lattice import Classes, Node
from anon_core.release.minimality_rule import Costs
from anon_core.release.problem import Problem


def best_by(*, also: type[Metric] | None = None) -> Any:
    """Declare the parameter that names the metric; every search by cost has the same.

    `also` is a kind of metric without bounds, for searches that need none.
    """
    bounded = (CellCost, SizeCost)
    return part(
        default="loss",
        families=["metric"],
        fits=lambda kind: issubclass(kind, bounded if also is None else (*bounded, also)),
        help="What the best release loses least of.",
        label=BEST_BY,
    )


def level_prices(problem: Problem, cost: CellCost, hierarchy: Hierarchy) -> npt.NDArray[np.float64]:
    """Return the weighted price of every leaf's node at every level, shape (levels, leaves)."""
    weight = cost.column_weights(problem)[problem.quasi.index(hierarchy.column)]
    rows: list[npt.NDArray[np.float64]] = []
    for level in range(hierarchy.height + 1):
        lo, hi = hierarchy.bounds(level)
        price = weight * cost.price(problem, hierarchy.column, lo, hi)
        rows.append(price[hierarchy.node(level)])
    return np.stack(rows)


def level_costs(problem: Problem, metric: Metric) -> Costs:
    """Return how a search that removes no row orders choices of levels; see `CheapestLevels`.

    Parameters
    ----------
    problem : Problem
        Its hierarchies are used, and no row.
    metric : Metric
        A `CellCost` or a `SizeCost`.
    """
    hierarchies = problem.quasi_hierarchies

    def of_table(
        codes: npt.NDArray[np.int32], count: npt.NDArray[np.int64]
    ) -> Callable[[Node], float]:
        priced = NodeCost(with_rows(problem, np.repeat(codes, count, axis=0)), metric)
        if priced.static:
            return priced.floor

        def of_sizes(node: Node) -> float:
            cells = [
                h.node(level)[codes[:, d]]
                for d, (h, level) in enumerate(zip(hierarchies, node, strict=True))
            ]
            member, first = dense_rank(cells, [len(h.leaves) for h in hierarchies])
            sizes = np.bincount(member, count, len(first)).astype(np.int64)
            return cast(SizeCost, metric).of_sizes(sizes, 0, int(count.sum()))

        return of_sizes

    return of_table


class NodeCost:
    """Prices nodes of the lattice of one problem.

    Attributes
    ----------
    metric : Metric
        A `CellCost`, `SizeCost` or `LabelCost`.
    prices : list of float64 arrays of shape (levels, leaves)
        Per attribute, for a `CellCost`; else empty.
    static : list of float64 arrays of shape (levels,)
        Per attribute, its part of the cost of a node that removes no row.
    weights : float64 array of shape (quasi,)
        What the attributes count; prices have it in them.
    removed_counts : float
        See `CellCost`.
    """

    def __init__(self, problem: Problem, metric: Metric) -> None:
        self.metric = metric
        self.problem = problem
        self.prices: list[npt.NDArray[np.float64]] = []
        self.static: list[npt.NDArray[np.float64]] = []
        self.weights = np.ones(len(problem.quasi))
        self.removed_counts = 1.0
        self._labels = -1
        if isinstance(metric, LabelCost):
            self._labels = problem.frequency.columns.index(metric.label_column(problem))
        if isinstance(metric, CellCost):
            self.weights = metric.column_weights(problem)
            self.removed_counts = metric.removed_counts
            scale = max(problem.rows * len(problem.quasi), 1)
            for hierarchy in problem.quasi_hierarchies:
                own = level_prices(problem, metric, hierarchy)
                self.prices.append(own)
                self.static.append(own @ problem.leaf_rows[hierarchy.column] / scale)

    def floor(self, node: Node) -> float:
        """Return a bound below the node's cost, without a look at its classes."""
        return float(sum(own[level] for own, level in zip(self.static, node, strict=False)))

    def of(
        self,
        node: Node,
        classes: Classes,
        keep: npt.NDArray[np.bool_],
        fields: list[npt.NDArray[np.int64]],
    ) -> float:
        """Return a node's exact cost.

        Parameters
        ----------
        keep : bool array of shape (classes,)
            Which of them stay.
        fields : list of int64 arrays of shape (classes,)
            First leaf of every class's cell, per attribute.
        """
        rows = self.problem.rows
        gone = classes.count[~keep]
        removed = int(gone.sum())
        if isinstance(self.metric, CellCost):
            if not removed:
                return self.floor(node)
            spared = sum(
                float(own[level][field[~keep]] @ gone)
                for own, level, field in zip(self.prices, node, fields, strict=True)
            )
            dearer = removed / rows - spared / (rows * len(node))
            return self.floor(node) + self.removed_counts * dearer
        if self._labels >= 0:
            # The classes of `_most` are numbered in the order of their cells; so are these.
            kept = keep[np.lexsort(fields[::-1])]
            return (rows - int(self._most(node)[kept].sum())) / rows
        return cast(SizeCost, self.metric).of_sizes(classes.count[keep], removed, rows)

    def _most(self, node: Node) -> npt.NDArray[np.int64]:
        """Return how many rows of each class have its most common label, shape (classes,)."""
        frequency, hierarchies = self.problem.frequency, self.problem.quasi_hierarchies
        member, first = dense_rank(
            [
                h.node(level)[frequency.run_codes[:, d]]
                for d, (h, level) in enumerate(zip(hierarchies, node, strict=True))
            ],
            [len(h.starts[level]) for h, level in zip(hierarchies, node, strict=True)],
        )
        labels = frequency.codes[:, self._labels]
        values = int(labels.max(initial=0)) + 1
        return histogram(
            member[frequency.run], labels, frequency.count, len(first), values
        ).most_alike
