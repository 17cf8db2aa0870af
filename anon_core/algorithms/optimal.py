"""Optimal full-domain search: every k-minimal node, and the best release by a chosen metric.

All nodes are classified first; the best is then found best-first by lower bounds, which every
evaluated node sharpens for the nodes above and below it. What is left out is proven worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from ..classify import SATISFIED, Classification
from ..context import Context, part_of
from ..costs import CellCost, SizeCost
from ..kinds import Algorithm, Approach, GroupModel, Metric
from ..lattice import Node
from ..node_cost import NodeCost
from ..nodes import rows_allowed
from ..params import choice, number
from ..problem import Problem
from ..registry import find, register
from ..results import Outcome, SearchAccount
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

    metric: str = choice(
        default="loss",
        options=("loss", "discernibility", "average-class-size", "ncp"),
        options_of="metric",
        help="What the best release loses least of.",
        label="Best by",
    )
    max_suppression: float = number(
        default=0.0,
        low=0.0,
        high=1.0,
        help="Largest share of rows that may be removed.",
        label="Suppression budget",
        unit="share of rows",
    )
    transformation: str = transformation_choice()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the lattice; see `Algorithm.run`."""
        nodes = Classification(
            problem,
            models,
            rows_allowed(problem, self.max_suppression),
            part_of(context, 0.0, 0.6),
            self.transformation,
        )
        nodes.decide()
        cost = cast(Metric, find("metric", self.metric)())
        best = _BestFirst(nodes, cost, part_of(context, 0.6, 1.0))
        node = best.search()
        return Outcome(
            release=nodes.release(node),
            account=SearchAccount(
                proven=True,
                cost=best.cost_found,
                node=nodes.names(node),
                minimal=tuple(nodes.original(n) for n in nodes.minimal()),
                nodes=nodes.lattice.size,
                checked=nodes.checked,
                inferred=nodes.lattice.size - nodes.checked,
                bounded=int(np.count_nonzero(nodes.status == SATISFIED)) - best.evaluated,
            ),
        )


class _BestFirst:
    """The cheapest satisfied node; among equals the lowest, then the first."""

    def __init__(self, nodes: Classification, cost: Metric, context: Context) -> None:
        self.nodes = nodes
        self.lattice = nodes.lattice
        self.problem = nodes.problem
        self.cost = cost
        self.context = context
        self.evaluated = 0
        self.cost_found = np.inf
        self._least = max(m.least_size() for m in nodes.models)
        self._dearest: dict[tuple[int, int], npt.NDArray[np.float64]] = {}
        priced = NodeCost(self.problem, cost)
        self._prices = priced.prices
        self.bound = np.zeros(self.lattice.shape, dtype=np.float64)
        # The sum of static prices bounds every node without a scan.
        for d, own in enumerate(priced.static):
            self.bound += self._along(d, own)

    def search(self) -> Node:
        """Return the best node."""
        # A node that is closed – failed, or evaluated – has the bound infinity, and keeps it.
        open_nodes = self.nodes.status == SATISFIED
        self.bound[~open_nodes] = np.inf
        total = int(np.count_nonzero(open_nodes))
        flat = self.bound.reshape(-1)
        winner: Node = self.lattice.top
        while True:
            place = int(np.argmin(flat))
            if np.isinf(flat[place]) or flat[place] > self.cost_found + _TIE:
                return winner
            node = self.nodes.node(place)
            self.evaluated += 1
            if self.evaluated % 16 == 0:
                self.context.report(self.evaluated / total, "Proving the best node")
            value = self._evaluate(node)
            flat[place] = np.inf
            ties = value <= self.cost_found + _TIE and (sum(node), node) < (sum(winner), winner)
            if value < self.cost_found - _TIE or ties:
                winner = node
            self.cost_found = min(value, self.cost_found)

    def _along(self, d: int, levels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return values per level of attribute `d`, shaped to be added to the whole lattice."""
        return levels.reshape([-1 if i == d else 1 for i in range(self.bound.ndim)])

    def _evaluate(self, node: Node) -> float:
        """Return a node's exact cost, and sharpen the bounds of the nodes above and below it."""
        classes, keep = self.nodes.keep_mask(node)
        rows, monotone = self.problem.rows, self.nodes.monotone
        removed = rows - int(classes.count[keep].sum())
        below = tuple(slice(None, n + 1) for n in node)
        if isinstance(self.cost, CellCost):
            if removed == 0:
                return float(self.bound[node])
            fields = [self.lattice.field(classes, d)[~keep] for d in range(len(node))]
            sharper = self._with_removed(node, fields, classes.count[~keep], removed)
            if monotone:
                np.maximum(self.bound[below], sharper, out=self.bound[below])
            return float(sharper[node])
        cost = cast(SizeCost, self.cost)
        if monotone:
            floor = cost.floor_below(removed, rows, self._least)
            np.maximum(self.bound[below], floor, out=self.bound[below])
        above = tuple(slice(n, None) for n in node)
        np.maximum(self.bound[above], cost.floor_above(classes.count, rows), out=self.bound[above])
        return cost.of_sizes(classes.count[keep], removed, rows)

    def _with_removed(
        self,
        node: Node,
        fields: Sequence[npt.NDArray[np.int64]],
        weight: npt.NDArray[np.int64],
        removed: int,
    ) -> npt.NDArray[np.float64]:
        """Return the node's cost at the node, and a bound for every node below it.

        The rows removed here are removed below as well, so that each pays 1 there. What is taken
        off for them at a lower level is the dearest price within their cell, an upper bound; at
        the node's own level it is exact.
        """
        rows = self.problem.rows
        scale = rows * len(node)
        found = np.full([n + 1 for n in node], removed / rows, dtype=np.float64)
        for d, (name, level) in enumerate(zip(self.problem.quasi, node, strict=True)):
            leaves = self._prices[d].shape[1]
            lost = np.bincount(fields[d], weights=weight.astype(np.float64), minlength=leaves)
            paid = self._prices[d][: level + 1] @ self.problem.leaf_rows[name]
            found += self._along(d, (paid - self._dearest_within(d, level) @ lost) / scale)
        return found

    def _dearest_within(self, d: int, level: int) -> npt.NDArray[np.float64]:
        """Return the highest price, at each level up to `level`, within every node of `level`.

        Shape (level + 1, leaves); a node's entry stands at its first leaf.
        """
        found = self._dearest.get((d, level))
        if found is None:
            first = self.lattice.hierarchies[d].first_leaf[level]
            found = np.zeros((level + 1, len(first)), dtype=np.float64)
            for step in range(level + 1):
                np.maximum.at(found[step], first, self._prices[d][step])
            self._dearest[d, level] = found
        return found
