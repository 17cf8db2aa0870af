"""Optimal full-domain search: every k-minimal node, and the best release by a chosen metric.

The best node is found best-first by lower bounds, which every evaluated node sharpens for the nodes
above and below it; what is left out is proven worse. Where no row may be suppressed, or all minimal
nodes are asked for, every node is decided first. For a metric of class sizes with a budget all
nodes are counted in one pass where that takes seconds at most: bounds by sizes are weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context, gap, part_of
from anon_core.base.params import flag
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service, Shape
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel, least_class
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.contracts.stop_rules import replay, stop_limits
from anon_core.kernels.bounds import highest, raise_below, removed_by_leaf, rows_kept, spared
from anon_core.methods.lattice.lattice import Classes, Lattice, Node
from anon_core.methods.lattice.lattice_decisions import FAILED, SATISFIED, UNKNOWN, Classification
from anon_core.methods.lattice.node_cost import NodeCost, best_by, level_costs, level_prices
from anon_core.methods.lattice.node_decisions import walk_all
from anon_core.methods.lattice.nodes import MOST_LISTED, rows_allowed, suppression_budget
from anon_core.methods.lattice.recoding_models import transformation_choice
from anon_core.methods.lattice.size_sweep import SizeSweep
from anon_core.release.minimality_rule import CheapestLevels
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem

_TIE = 1e-12
#: Tuples from which a node is first asked whether it fails by far.
_MANY = 20_000
#: Times the budget of rows from which on a node fails by far.
_BY_FAR = 1.5


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Optimal(Algorithm):
    """One level per quasi-identifier for the whole table, proven best.

    1. Where no row may go and privacy models are monotone, decide every node: one decides many.
    2. Look first at the node with the lowest bound, and price it where it keeps the privacy models.
    3. Whatever it says of the nodes above and below it sharpens their bounds, or closes them.
    4. The search is over once no bound is below the best cost; among equals the lowest node wins.
    """

    name: ClassVar[str] = "optimal"
    title: ClassVar[str] = "Optimal full-domain search"
    summary: ClassVar[str] = (
        "Chooses one hierarchy level per quasi-identifier for the whole table, suppresses rows "
        "that are too rare (within the budget), and proves that no other choice is better."
    )
    offer: ClassVar[Offer] = Offer(
        when="When every value of a column should be published at the same level of detail, and "
        "the result must be provably the best of its kind.",
        serves={
            "statistics": Service(
                place=3,
                why="Every column has one level of detail in the whole table, so counts can be "
                "compared, and no other choice of levels loses less.",
                settings={"max_suppression": 0.02},
                most_nodes=200_000,
            ),
            "training": Service(
                place=5,
                why="Every value is written in the same way in the whole table, so that it is one "
                "category to a learner, and no other choice of levels loses less.",
                settings={"max_suppression": 0.02},
                most_nodes=200_000,
            ),
            "sharing": Service(
                place=4,
                why="Every column has one level of detail, which is easy to describe and to "
                "analyse, and no other choice of levels loses less.",
                settings={"max_suppression": 0.02},
                most_nodes=200_000,
            ),
            "teaching": Service(
                place=1,
                why="Every column has one level of its hierarchy, so students can see at once what "
                "was done, and follow the search on Learn.",
                settings={"max_suppression": 0.02},
                most_nodes=200_000,
            ),
        },
        met_at=1,
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True)
    needs: ClassVar[Needs] = Needs(from_counts=True, counts_people=True, counts_public=True)
    formula: ClassVar[str] = "min cost(node) over nodes with suppressed rows ≤ max_suppression · n"
    source: ClassVar[str] = (
        "Samarati 2001, doi 10.1109/69.971193; Kohlmayer et al. 2012, "
        "doi 10.1109/SocialCom-PASSAT.2012.52"
    )

    metric: Metric = best_by()
    max_suppression: float = suppression_budget()
    transformation: str = transformation_choice()
    list_minimal: bool = flag(
        default=False,
        help="Also find every minimal choice of levels. Without suppressed rows they come for "
        "free; with a budget this takes several times longer.",
        label="List all minimal choices",
    )

    def best_levels(self) -> tuple[Metric, float] | None:
        """Return metric and budget, where every node may be chosen and rows may go."""
        return (self.metric, self.max_suppression) if self.transformation == "AG_TS" else None

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the lattice; see `Algorithm.run`."""
        nodes = Classification(
            problem,
            models,
            rows_allowed(problem, self.max_suppression),
            part_of(context, 0.0, 0.6),
            self.transformation,
        )
        cost = self.metric
        # Bounds by sizes are weak: where rows may go, one pass over all nodes is quicker.
        swept, floor = None, None
        if nodes.budget and isinstance(cost, SizeCost):
            swept = walk_all(nodes, nodes.status)
        if swept is not None:
            node, least = _cheapest(nodes, swept, cost)
        else:
            # Without suppressed rows prices are static, and deciding every node is the quickest way
            # where one node decides many and few need to be looked at.
            quick = nodes.monotone and not nodes.budget and not nodes.together
            if self.list_minimal or quick:
                nodes.decide()
            best = _BestFirst(nodes, cost, part_of(context, 0.6, 1.0))
            node, least, floor = best.search(), best.cost_found, best.floor
        decided = int(np.count_nonzero(nodes.status != UNKNOWN))
        complete = decided == nodes.lattice.size
        minimal = tuple(nodes.original(n) for n in nodes.minimal()) if complete else ()
        asked = complete and self.list_minimal
        on_paths = tuple(nodes.original(n) for n in nodes.locally_minimal()) if asked else ()
        stopped = self._stopped(problem, models, nodes, node) if floor is None else None
        return Outcome(
            release=replace(nodes.release(node), stopped=stopped),
            account=SearchAccount(
                proven=floor is None,
                cost=least,
                bound=floor,
                node=nodes.names(node),
                minimal=minimal,
                locally_minimal=on_paths,
                nodes=nodes.lattice.size,
                looked=nodes.looked(),
                checked=nodes.checked,
                inferred=decided - nodes.checked,
                bounded=nodes.lattice.size - decided if floor is None else 0,
            ),
        )

    def _stopped(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        nodes: Classification,
        node: Node,
    ) -> CheapestLevels | None:
        """Return what is public of the search, where no row may go: all before it fails."""
        limits = stop_limits(problem, models)
        if limits is None or nodes.budget or self.transformation not in ("AG_TS", "AG"):
            return None
        prices = None
        if isinstance(self.metric, CellCost) and self.metric.by_domain:
            prices = tuple(level_prices(problem, self.metric, h) for h in problem.quasi_hierarchies)
        return CheapestLevels(
            **limits,
            levels=nodes.original(node),
            prices=prices,
            costs=level_costs(problem, self.metric),
            again=replay(self, problem, models),
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

    Where the nodes were not decided before, the search decides those it needs to: a node that holds
    is priced at once, and one that fails closes all below it, where the privacy models are monotone
    or too many rows are in classes that hold no good one.
    """

    def __init__(self, nodes: Classification, cost: Metric, context: Context) -> None:
        self.nodes = nodes
        self.lattice = nodes.lattice
        self.problem = nodes.problem
        self.cost = cost
        self.context = context
        self.cost_found = np.inf
        #: What no node goes below, where time ran out before the best was proven.
        self.floor: float | None = None
        self.winner: Node = self.lattice.top
        self._least = least_class(nodes.models, nodes.problem.population)
        # Anyone who listens, or is informed of every node, gets exact figures.
        listed = context.listening or self.lattice.size <= MOST_LISTED
        many = len(nodes.problem.frequency.run_count) >= _MANY
        self._quick = many and not listed and self._least > 1
        priced = NodeCost(self.problem, cost)
        self._prices = priced.prices
        self._removed_counts = priced.removed_counts
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
        bottom = (0,) * len(self.lattice.top)
        self.bound[status == FAILED] = np.inf
        if status[self.lattice.top] == UNKNOWN:
            self._examine(self.lattice.top)
            if status[self.lattice.top] == SATISFIED:
                if self._quick and (gone := self._too_small(bottom)):
                    self.nodes.checked += 1  # a bound from the first second on
                    self._close_below(self._climbed(bottom, gone))
                self._descend()
        while True:
            place = int(np.argmin(self._flat))
            if np.isinf(self._flat[place]) or self._flat[place] > self.cost_found + _TIE:
                if np.isinf(self.cost_found):
                    self.nodes.refuse()
                return self.winner
            floor = self._bound_of(place)
            # Bounds rise to the best cost while it falls.
            share = 1 - gap(self.cost_found, floor) if np.isfinite(self.cost_found) else 0.0
            self.context.report(share, "Proving the best node")
            if np.isfinite(self.cost_found) and self.context.enough():
                self.floor = floor
                return self.winner
            self._examine(self._highest(place))

    def _bound_of(self, place: int) -> float:
        """Return the bound of all nodes, given where the lowest is, and tell it."""
        floor = min(float(self._flat[place]), self.cost_found)
        if np.isfinite(self.cost_found):
            self.context.found(self.cost_found, floor, self.cost.title)
        return floor

    def _descend(self) -> None:
        """Lower one level at a time from the top: a good release to measure bounds against."""
        at, cost = self.lattice.top, self.cost_found
        while True:
            self.context.check()
            below = [(*at[:d], at[d] - 1, *at[d + 1 :]) for d in range(len(at)) if at[d]]
            found: list[tuple[float, Node]] = []
            for node in below:
                self._bound_of(int(np.argmin(self._flat)))
                if self.context.enough():
                    return
                if np.isfinite(self.bound[node]):
                    found.append((self._examine(node), node))
            if not found or min(found)[0] > cost:
                return
            cost, at = min(found)

    def _highest(self, place: int) -> Node:
        """Return the highest node above a place of the lattice that may still win.

        It is looked at first: it is cheap to roll up, where it fails all below it fail, and where
        it holds, the rows it suppresses sharpen the bounds of all below it.
        """
        most = self.cost_found + _TIE  # at first any cost may win
        height = self.lattice.packing.height
        return self.lattice.node(highest(self._flat, self._stride, height, place, most))

    def _examine(self, node: Node) -> float:
        """Decide and price a node; close it, and sharpen the bounds of the nodes around it.

        Returns its cost, infinity where it does not keep the privacy models within the budget.
        """
        nodes, rows = self.nodes, self.problem.rows
        nodes.checked += int(nodes.status[node] == UNKNOWN)
        if self._quick and (gone := self._too_small(node)):
            self._close_below(self._climbed(node, gone))
            return np.inf
        judged = nodes.judged(node)
        classes, keep = judged.classes, judged.keep
        removed = rows - rows_kept(classes.count, keep)
        good = judged.exact and nodes.note(node, removed)
        # Rows that are suppressed here whatever they are merged with are so at every node below.
        gone = removed
        if judged.possible is not keep:
            gone = rows - rows_kept(classes.count, judged.possible)
        if not (good if nodes.monotone else nodes.within(gone)):
            self._close_below(node)
        elif gone and not (good and nodes.nested):
            self._bound_below(node, classes, judged.possible, gone)
        self.bound[node] = np.inf
        if not good:
            nodes.status[node] = FAILED
            return np.inf
        if nodes.status[node] == UNKNOWN:
            above = tuple(slice(n, None) if nodes.monotone else slice(n, n + 1) for n in node)
            nodes.status[above] = SATISFIED
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

    def _too_small(self, node: Node) -> int:
        """Estimate the rows in classes that no privacy model lets stay; 0 where they may all go.

        Where they may not, they may at no node below.
        """
        limit = min(self.nodes.budget, self.problem.rows - 1)
        found = self.lattice.rows_in_small(node, self._least, limit)
        return found if found > limit else 0

    def _climbed(self, node: Node, gone: int) -> Node:
        """Return a node above one that fails by far, which fails as well: it closes more.

        It may cost more than the best one found, so that no search would look at it for itself.
        """
        free = [d for d in range(len(node)) if node[d] < self.lattice.heights[d]]
        while free and gone > _BY_FAR * self.nodes.budget:
            self.context.check()
            gains = [self._open_neighbours(node, d) for d in free]
            if not max(gains):
                break
            d = free[int(np.argmax(gains))]
            above = (*node[:d], node[d] + 1, *node[d + 1 :])
            self.nodes.checked += 1
            if more := self._too_small(above):
                node, gone = above, more
            if not more or node[d] == self.lattice.heights[d]:
                free.remove(d)
        return node

    def _open_neighbours(self, node: Node, d: int) -> int:
        """Count the nodes that may win and would be closed by raising an attribute of a node."""
        neighbours = tuple(
            slice(n + 1, n + 2) if at == d else slice(None, n + 1) for at, n in enumerate(node)
        )
        return int(np.count_nonzero(self.bound[neighbours] <= self.cost_found + _TIE))

    def _close_below(self, node: Node) -> None:
        below = tuple(slice(None, n + 1) for n in node)
        self.nodes.status[below] = FAILED
        self.bound[below] = np.inf

    def _price(
        self, node: Node, classes: Classes, keep: npt.NDArray[np.bool_], removed: int
    ) -> float:
        """Return a satisfied node's cost, and sharpen the bounds of the nodes above and below."""
        rows, nested = self.problem.rows, self.nodes.nested
        if isinstance(self.cost, CellCost):
            if not removed:
                paid = zip(self._paid, node, strict=True)
                return sum(float(own[level]) for own, level in paid) / self._scale
            part = self._with_removed(node, classes, keep)
            if nested:
                self._raise_below(node, part, removed)
            gone = self._removed_counts * removed / rows
            return gone + float(part[np.arange(len(node)), node].sum())
        cost = cast(SizeCost, self.cost)
        if nested:
            self._bound_below(node, classes, keep, removed)
        above = tuple(slice(n, None) for n in node)
        np.maximum(self.bound[above], cost.floor_above(classes.count, rows), out=self.bound[above])
        return cost.of_sizes(classes.count[keep], removed, rows)

    def _bound_below(
        self, node: Node, classes: Classes, stay: npt.NDArray[np.bool_], gone: int
    ) -> None:
        """Bound every node below one, where classes that do not `stay` are removed there too."""
        if isinstance(self.cost, CellCost):
            self._raise_below(node, self._with_removed(node, classes, stay), gone)
            return
        below = tuple(slice(None, n + 1) for n in node)
        floor = cast(SizeCost, self.cost).floor_below(gone, self.problem.rows, self._least)
        np.maximum(self.bound[below], floor, out=self.bound[below])

    def _raise_below(self, node: Node, part: npt.NDArray[np.float64], gone: int) -> None:
        at = np.array(node, dtype=np.int64)
        least = self._removed_counts * gone / self.problem.rows
        raise_below(self._flat, self._stride, at, part, least)

    def _with_removed(
        self, node: Node, classes: Classes, keep: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        """Return what each attribute costs at each level up to a node's, shape (quasi, levels).

        That is next to 1, or what it counts, for every row that is suppressed at the node: it is
        removed below as well.
        What is taken off for it at a lower level is the dearest price within its cell, an upper
        bound; at the node's own level it is exact.
        """
        if self._within is None:
            self._within = _dearest_within(self.lattice, self._prices)
        table, offset = self._within
        packing, leaves = self.lattice.packing, self.lattice.packing.leaves
        at = np.array(node, dtype=np.int64)
        quasi = len(node)
        part = np.empty((quasi, max(self.lattice.shape)), dtype=np.float64)
        start = np.cumsum(leaves) - leaves
        rows = np.empty(int(leaves.sum()), dtype=np.float64)
        removed_by_leaf(
            classes.words,
            classes.count,
            keep,
            packing.word,
            packing.shift,
            packing.mask,
            start,
            rows,
        )
        spared(rows, start, leaves, at, table, offset[np.arange(quasi), at], part)
        for d, own in enumerate(self._paid):
            spared_here = self._removed_counts * part[d, : len(own)]
            part[d, : len(own)] = (own - spared_here) / self._scale
        return part


#: Flat table, and place of each attribute and level in it.
_Within = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def _dearest_within(lattice: Lattice, prices: Sequence[npt.NDArray[np.float64]]) -> _Within:
    """Return the highest price, at each level up to a given one, within every node of that level.

    Per attribute and level a table of shape (level + 1, leaves); a node's entry is at its first
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
    return np.concatenate(tables), offset
