"""Optimal full-domain search: every k-minimal node, and the best release by a chosen metric.

The best node is found best-first by lower bounds, which every evaluated node sharpens for the nodes
above and below it; what is left out is proven worse. Where no row may be removed, or all minimal
nodes are asked for, every node is decided first. For a metric of class sizes with a budget all
nodes are counted in one pass where that takes seconds at most: bounds by sizes are weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from ..classify import FAILED, SATISFIED, UNKNOWN, Classification
from ..closing import walk_all
from ..context import Context, part_of
from ..costs import CellCost, SizeCost
from ..kernels.bounds import raise_below, removed_by_leaf, rows_kept, spared
from ..kinds import Algorithm, Approach, GroupModel, Metric
from ..lattice import Classes, Lattice, Node
from ..node_cost import NodeCost, best_by
from ..nodes import rows_allowed, suppression_budget
from ..params import flag
from ..problem import Problem
from ..registry import find, register
from ..results import Outcome, SearchAccount
from ..size_sweep import SizeSweep
from ..transformation import transformation_choice

_TIE = 1e-12


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Optimal(Algorithm):
    """One level per quasi-identifier for the whole table, proven best."""

    name: ClassVar[str] = "optimal"
    title: ClassVar[str] = "Optimal full-domain search"
    summary: ClassVar[str] = (
        "Chooses one hierarchy level per quasi-identifier for the whole table, removes the rows "
        "that stay too rare (within the budget), and proves that no other choice is better."
    )
    when: ClassVar[str] = (
        "When every value of a column should be published at the same level of detail, and the "
        "result must be provably the best of its kind."
    )
    formula: ClassVar[str] = "min cost(node) over nodes with removed rows ≤ max_suppression · n"
    source: ClassVar[str] = (
        "Samarati 2001, doi 10.1109/69.971193; Kohlmayer et al. 2012, "
        "doi 10.1109/SocialCom-PASSAT.2012.52"
    )
    approach: ClassVar[Approach] = "levels"

    counts_public: ClassVar[bool] = True

    metric: str = best_by()
    max_suppression: float = suppression_budget()
    transformation: str = transformation_choice()
    list_minimal: bool = flag(
        default=False,
        help="Also find every minimal choice of levels. Without removed rows they come for free; "
        "with a budget this takes several times longer.",
        label="List all minimal choices",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the lattice; see `Algorithm.run`."""
        nodes = Classification(
            problem,
            models,
            rows_allowed(problem, self.max_suppression),
            part_of(context, 0.0, 0.6),
            self.transformation,
        )
        cost = cast(Metric, find("metric", self.metric)())
        # Bounds by sizes are weak: where rows may go, one pass over all nodes is quicker.
        swept, floor = None, None
        if nodes.budget and isinstance(cost, SizeCost):
            swept = walk_all(nodes, nodes.status)
        if swept is not None:
            node, least = _cheapest(nodes, swept, cost)
        else:
            # Without removed rows prices are static, and deciding every node is the quickest way.
            if self.list_minimal or not nodes.budget or not nodes.monotone:
                nodes.decide()
            best = _BestFirst(nodes, cost, part_of(context, 0.6, 1.0))
            node, least, floor = best.search(), best.cost_found, best.floor
        decided = int(np.count_nonzero(nodes.status != UNKNOWN))
        complete = decided == nodes.lattice.size
        minimal = tuple(nodes.original(n) for n in nodes.minimal()) if complete else ()
        return Outcome(
            release=nodes.release(node),
            account=SearchAccount(
                proven=floor is None,
                cost=least,
                bound=floor,
                node=nodes.names(node),
                minimal=minimal,
                nodes=nodes.lattice.size,
                looked=nodes.looked(),
                checked=nodes.checked,
                inferred=decided - nodes.checked,
                bounded=nodes.lattice.size - decided if floor is None else 0,
            ),
        )


def _cheapest(nodes: Classification, swept: SizeSweep, cost: Metric) -> tuple[Node, float]:
    """Return the best of nodes that were all counted, and its cost."""
    (limit,) = swept.limits
    costs = swept.cost(cost)
    node = swept.best(limit, nodes.budget, costs)
    if node is None:
        nodes.refuse()
    return node, float(costs.reshape(swept.shape)[node])


class _BestFirst:
    """The cheapest satisfied node; among equals the lowest, then the first.

    Where the nodes were not decided before, the search decides those it needs to: a node that fails
    closes all below it, and one that holds is priced at once.
    """

    def __init__(self, nodes: Classification, cost: Metric, context: Context) -> None:
        self.nodes = nodes
        self.lattice = nodes.lattice
        self.problem = nodes.problem
        self.cost = cost
        self.context = context
        self.evaluated = 0
        self.cost_found = np.inf
        #: What no node goes below, where time ran out before the best was proven.
        self.floor: float | None = None
        self.winner: Node = self.lattice.top
        self._least = max(m.least_size() for m in nodes.models)
        priced = NodeCost(self.problem, cost)
        self._prices = priced.prices
        self._scale = self.problem.rows * max(len(self.lattice.heights), 1)
        self._paid = [own * self._scale for own in priced.static]
        self._within: _Within | None = None
        # The sum of static prices bounds every node without a scan.
        static = priced.static or [np.zeros(levels) for levels in self.lattice.shape]
        self._flat = self.lattice.sums([own.copy() for own in static])
        self.bound = self._flat.reshape(self.lattice.shape)
        self._stride = np.array(self.bound.strides, dtype=np.int64) // self.bound.itemsize

    def search(self) -> Node:
        """Return the best node.

        Raises
        ------
        Infeasible
            If no node is satisfied.
        """
        self.context.report(0.0, "Proving the best node")
        # A node that is closed – failed, or evaluated – has the bound infinity, and keeps it.
        status = self.nodes.status
        self.bound[status == FAILED] = np.inf
        if status[self.lattice.top] == UNKNOWN:
            self._examine(self.lattice.top)
            if status[self.lattice.top] == FAILED:
                self.nodes.refuse()
            self._descend()
        total = int(np.count_nonzero(np.isfinite(self._flat)))
        while True:
            place = int(np.argmin(self._flat))
            if np.isinf(self._flat[place]) or self._flat[place] > self.cost_found + _TIE:
                return self.winner
            self.context.report(min(self.evaluated / max(total, 1), 1.0), "Proving the best node")
            if np.isfinite(self.cost_found) and self.context.out_of_time():
                self.floor = min(float(self._flat[place]), self.cost_found)
                return self.winner
            node = self.nodes.node(place)
            self._examine(self._highest(node))

    def _descend(self) -> None:
        """Lower one level at a time from the top: a good release to measure bounds against."""
        at, cost = self.lattice.top, self.cost_found
        while True:
            self.context.check()
            below = [(*at[:d], at[d] - 1, *at[d + 1 :]) for d in range(len(at)) if at[d]]
            found = [(self._examine(node), node) for node in below if np.isfinite(self.bound[node])]
            if not found or min(found)[0] > cost:
                return
            cost, at = min(found)

    def _highest(self, node: Node) -> Node:
        """Climb from a node through nodes that may still win, as far as that goes.

        The highest is looked at first: it is cheap to roll up, where it fails all below it fail,
        and where it holds, the rows it removes sharpen the bounds of all below it.
        """
        at = list(node)
        most = self.cost_found + _TIE
        climbing = True
        while climbing:
            climbing = False
            for d, height in enumerate(self.lattice.heights):
                if at[d] < height:
                    at[d] += 1
                    bound = self.bound[tuple(at)]
                    if bound <= most and np.isfinite(bound):  # at first any cost may win
                        climbing = True
                        break
                    at[d] -= 1
        return tuple(at)

    def _examine(self, node: Node) -> float:
        """Decide and price a node; close it, and sharpen the bounds of the nodes around it.

        Returns its cost, infinity where it does not keep the promises within the budget.
        """
        nodes = self.nodes
        nodes.checked += int(nodes.status[node] == UNKNOWN)
        self.evaluated += 1
        classes, keep = nodes.keep_mask(node)
        removed = self.problem.rows - rows_kept(classes.count, keep)
        below = tuple(slice(None, n + 1) for n in node)
        if not nodes.note(node, removed):
            if nodes.monotone:
                nodes.status[below] = FAILED
                self.bound[below] = np.inf
            nodes.status[node] = FAILED
            self.bound[node] = np.inf
            return np.inf
        if nodes.status[node] == UNKNOWN:
            nodes.status[tuple(slice(n, None) for n in node)] = SATISFIED
        value = self._price(node, classes, keep, removed)
        self.bound[node] = np.inf
        ties = value <= self.cost_found + _TIE and (sum(node), node) < (
            sum(self.winner),
            self.winner,
        )
        if value < self.cost_found - _TIE or ties:
            self.winner = node
        self.cost_found = min(value, self.cost_found)
        return value

    def _price(
        self, node: Node, classes: Classes, keep: npt.NDArray[np.bool_], removed: int
    ) -> float:
        """Return a satisfied node's cost, and sharpen the bounds of the nodes above and below."""
        rows, monotone = self.problem.rows, self.nodes.monotone
        if isinstance(self.cost, CellCost):
            if not removed:
                paid = zip(self._paid, node, strict=True)
                return sum(float(own[level]) for own, level in paid) / self._scale
            return self._with_removed(node, classes, keep, removed)
        cost = cast(SizeCost, self.cost)
        if monotone:
            below = tuple(slice(None, n + 1) for n in node)
            floor = cost.floor_below(removed, rows, self._least)
            np.maximum(self.bound[below], floor, out=self.bound[below])
        above = tuple(slice(n, None) for n in node)
        np.maximum(self.bound[above], cost.floor_above(classes.count, rows), out=self.bound[above])
        return cost.of_sizes(classes.count[keep], removed, rows)

    def _with_removed(
        self, node: Node, classes: Classes, keep: npt.NDArray[np.bool_], removed: int
    ) -> float:
        """Return the cost of a node that removes rows, and bound every node below it.

        The rows removed here are removed below as well, so that each pays 1 there. What is taken
        off for them at a lower level is the dearest price within their cell, an upper bound; at
        the node's own level it is exact.
        """
        if self._within is None:
            self._within = _dearest_within(self.lattice, self._prices)
        table, offset, leaves = self._within
        layout = self.lattice.layout
        at = np.array(node, dtype=np.int64)
        quasi = len(node)
        part = np.empty((quasi, max(self.lattice.shape)), dtype=np.float64)
        start = np.cumsum(leaves) - leaves
        rows = np.empty(int(leaves.sum()), dtype=np.float64)
        removed_by_leaf(
            classes.words,
            classes.count,
            keep,
            layout.word[:quasi],
            layout.shift[:quasi],
            layout.mask[:quasi],
            start,
            rows,
        )
        spared(rows, start, leaves, at, table, offset[np.arange(quasi), at], part)
        for d, own in enumerate(self._paid):
            part[d, : len(own)] = (own - part[d, : len(own)]) / self._scale
        base = removed / self.problem.rows
        if self.nodes.monotone:
            raise_below(self._flat, self._stride, at, part, base)
        return base + float(part[np.arange(quasi), at].sum())


#: Flat table, place of each attribute and level in it, leaves of each attribute.
_Within = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


def _dearest_within(lattice: Lattice, prices: Sequence[npt.NDArray[np.float64]]) -> _Within:
    """Return the highest price, at each level up to a given one, within every node of that level.

    Per attribute and level a table of shape (level + 1, leaves); a node's entry stands at its first
    leaf.
    """
    tables: list[npt.NDArray[np.float64]] = []
    offset = np.zeros((len(prices), max(lattice.shape)), dtype=np.int64)
    at = 0
    for d, (hierarchy, own) in enumerate(zip(lattice.hierarchies, prices, strict=True)):
        for level in range(hierarchy.height + 1):
            found = np.zeros((level + 1, own.shape[1]), dtype=np.float64)
            starts = hierarchy.starts[level]
            found[:, starts] = np.maximum.reduceat(own[: level + 1], starts, axis=1)
            (read,) = lattice.read_off([found], d)
            tables.append(read.ravel())
            offset[d, level] = at
            at += read.size
    leaves = np.array([lattice.leaves(d) for d in range(len(prices))], dtype=np.int64)
    return np.concatenate(tables), offset, leaves
