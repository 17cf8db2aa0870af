"""Optimal full-domain search: every k-minimal node, and the best release by a chosen metric.

Classification walks the lattice from below; along a path of undecided nodes it searches in halves
(Kohlmayer et al. 2012, Flash). Monotone models decide whole sub-lattices at a time. The best node is
then found best-first by lower bounds that every evaluated node sharpens for its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from .. import vocabulary
from ..context import Context
from ..costs import CellCost, SizeCost
from ..errors import BadPlan, Infeasible, listing
from ..grouping import group_runs
from ..kinds import Algorithm, GroupModel, Metric
from ..lattice import Classes, Lattice, Node
from ..params import choice, number
from ..problem import Problem
from ..registry import find, register
from ..release import one_block
from ..results import Outcome, SearchAccount

_UNKNOWN, _SATISFIED, _FAILED = np.uint8(0), np.uint8(1), np.uint8(2)
_MOST_NODES = 5_000_000
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
    formula: ClassVar[str] = "min cost(node) over all nodes whose removed rows ≤ max_suppression · n"
    source: ClassVar[str] = "Samarati 2001, doi 10.1109/69.971193; Kohlmayer et al. 2012, doi 10.1109/SocialCom-PASSAT.2012.52"

    metric: str = choice(
        default="loss",
        options=("loss", "discernibility", "average-class-size", "ncp"),
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

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the lattice; see `Algorithm.run`."""
        search = _Search(
            problem=problem,
            models=models,
            cost=cast(Metric, find("metric", self.metric)()),
            budget=int(np.floor(self.max_suppression * problem.rows + 1e-9)),
            context=context,
        )
        search.classify()
        node = search.best()
        lattice = search.lattice
        run_class, first = lattice.runs_at(node)
        kept = search.kept_runs(node, run_class, len(first))
        numbers = np.cumsum(kept) - 1
        class_of_run = np.where(kept[run_class], numbers[run_class], -1).astype(np.int64)
        first = first[kept]
        vocabularies = {
            name: vocabulary.of_level(h, level)
            for name, h, level in zip(problem.quasi, lattice.hierarchies, node, strict=True)
        }
        codes = problem.frequency.run_codes[first]
        cells = {
            name: h.node(level)[codes[:, d]]
            for d, (name, h, level) in enumerate(
                zip(problem.quasi, lattice.hierarchies, node, strict=True)
            )
        }
        release = one_block(
            problem,
            group_runs(problem.frequency, class_of_run, len(first)),
            vocabularies,
            cells,
        )
        return Outcome(release=release, account=search.account(node))


@dataclass(kw_only=True)
class _Search:
    problem: Problem
    models: Sequence[GroupModel]
    cost: Metric
    budget: int
    context: Context
    lattice: Lattice = field(init=False)
    status: npt.NDArray[np.uint8] = field(init=False)
    checked: int = 0
    inferred: int = 0
    evaluated: int = 0
    best_cost: float = np.inf
    least_removed: tuple[int, Node | None] = (-1, None)
    prices: list[npt.NDArray[np.float64]] = field(default_factory=list[npt.NDArray[np.float64]])
    dearest: dict[tuple[int, int], npt.NDArray[np.float64]] = field(
        default_factory=dict[tuple[int, int], npt.NDArray[np.float64]]
    )

    def __post_init__(self) -> None:
        needed = dict.fromkeys(name for m in self.models for name in m.needs(self.problem))
        self.lattice = Lattice(self.problem, list(needed))
        if self.lattice.size > _MOST_NODES:
            raise BadPlan(
                f"The lattice of {listing(self.problem.quasi)} has {self.lattice.size:,} nodes; "
                f"the optimal search takes at most {_MOST_NODES:,}.",
                remedy="Use fewer quasi-identifiers or hierarchies with fewer levels, or choose "
                "Mondrian.",
            )
        self.status = np.zeros(self.lattice.shape, dtype=np.uint8)
        self.monotone = all(m.monotone_merge and m.monotone_suppress for m in self.models)

    # -- classification -------------------------------------------------------------------------

    def keep_mask(self, node: Node) -> tuple[Classes, npt.NDArray[np.bool_]]:
        """Return a node's classes and which of them keep every promise."""
        classes, stats = self.lattice.stats(node)
        keep = self.models[0].per_group(stats)
        for model in self.models[1:]:
            keep = keep & model.per_group(stats)
        return classes, keep

    def satisfied(self, node: Node) -> bool:
        """Check one node against the budget."""
        self.checked += 1
        if self.checked % 16 == 0:
            self.context.check()
        classes, keep = self.keep_mask(node)
        removed = self.problem.rows - int(classes.count[keep].sum())
        if self.least_removed[1] is None or removed < self.least_removed[0]:
            self.least_removed = (removed, node)
        # A release without rows keeps every promise and is of no use to anyone.
        return removed <= self.budget and removed < self.problem.rows

    def classify(self) -> None:
        """Decide every node: satisfied or failed."""
        if not self.monotone:
            for node in self.lattice.nodes():
                self.status[node] = _SATISFIED if self.satisfied(node) else _FAILED
        else:
            height = self._heights()
            total = sum(self.lattice.heights)
            for step in range(total + 1):
                self.context.report(0.6 * step / max(total, 1), "Searching the lattice")
                for place in np.flatnonzero((height == step) & (self.status == _UNKNOWN).ravel()):
                    node = self._node(int(place))
                    if self.status[node] == _UNKNOWN:
                        self._decide_path(self._path_up(node))
        self.inferred = self.lattice.size - self.checked
        if not np.any(self.status == _SATISFIED):
            self._refuse()

    def _heights(self) -> npt.NDArray[np.int16]:
        """Return every node's height, flat, in the lattice's order."""
        found = np.zeros(self.lattice.shape, dtype=np.int16)
        for d, levels in enumerate(self.lattice.shape):
            wide = [-1 if i == d else 1 for i in range(found.ndim)]
            found += np.arange(levels, dtype=np.int16).reshape(wide)
        return found.ravel()

    def _node(self, place: int) -> Node:
        return tuple(int(n) for n in np.unravel_index(place, self.lattice.shape))

    def _path_up(self, node: Node) -> list[Node]:
        """Return a chain of undecided nodes from `node` upwards, one level at a time."""
        path = [node]
        at = list(node)
        climbing = True
        while climbing:
            climbing = False
            for d in range(len(at)):
                if at[d] < self.lattice.heights[d]:
                    at[d] += 1
                    if self.status[tuple(at)] == _UNKNOWN:
                        path.append(tuple(at))
                        climbing = True
                        break
                    at[d] -= 1
        return path

    def _decide_path(self, path: list[Node]) -> None:
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            node = path[middle]
            if self.satisfied(node):
                self.status[tuple(slice(n, None) for n in node)] = _SATISFIED
                high = middle - 1
            else:
                self.status[tuple(slice(None, n + 1) for n in node)] = _FAILED
                low = middle + 1

    def _refuse(self) -> None:
        removed, node = self.least_removed
        rows = self.problem.rows
        levels = (
            ", ".join(f"{c} at level {n}" for c, n in self.lattice.names(node).items())
            if node is not None
            else ""
        )
        raise Infeasible(
            f"No choice of levels keeps the promises with at most {self.budget} of {rows} rows "
            f"removed; the best removes {removed} ({removed / rows:.1%}: {levels}).",
            remedy="Allow more suppression, ask for less, or add a more general level to a "
            "hierarchy.",
            best=removed / rows,
        )

    # -- the best node ----------------------------------------------------------------------------

    def best(self) -> Node:
        """Return the cheapest satisfied node; among equals the lowest, then the first."""
        # A node that is closed – failed, or evaluated – has the bound infinity, and keeps it.
        bound = self._first_bounds()
        bound[self.status != _SATISFIED] = np.inf
        flat = bound.reshape(-1)
        total = int(np.count_nonzero(self.status == _SATISFIED))
        least = max(m.least_size() for m in self.models)
        winner: Node | None = None
        while True:
            place = int(np.argmin(flat))
            if np.isinf(flat[place]) or flat[place] > self.best_cost + _TIE:
                break
            node = self._node(place)
            self.evaluated += 1
            if self.evaluated % 16 == 0:
                self.context.report(0.6 + 0.4 * self.evaluated / total, "Proving the best node")
            value = self._evaluate(node, bound, least)
            flat[place] = np.inf
            if (
                winner is None
                or value < self.best_cost - _TIE
                or (value <= self.best_cost + _TIE and (sum(node), node) < (sum(winner), winner))
            ):
                winner = node
            self.best_cost = min(value, self.best_cost)
        assert winner is not None  # classify() raised if nothing is satisfied
        return winner

    def _first_bounds(self) -> npt.NDArray[np.float64]:
        """Return a lower bound per node that needs no scan: the sum of static prices."""
        bound = np.zeros(self.lattice.shape, dtype=np.float64)
        if isinstance(self.cost, CellCost):
            self.prices = [self._prices(self.cost, d) for d in range(len(self.lattice.shape))]
            scale = self.problem.rows * len(self.prices)
            for d, name in enumerate(self.problem.quasi):
                per_level = self.prices[d] @ self.problem.leaf_rows[name] / scale
                bound += per_level.reshape([-1 if i == d else 1 for i in range(bound.ndim)])
        return bound

    def _prices(self, cost: CellCost, d: int) -> npt.NDArray[np.float64]:
        """Return the price of every leaf at every level, shape (levels, leaves)."""
        hierarchy = self.lattice.hierarchies[d]
        rows: list[npt.NDArray[np.float64]] = []
        for level in range(hierarchy.height + 1):
            lo, hi = hierarchy.bounds(level)
            rows.append(cost.price(self.problem, hierarchy.column, lo, hi)[hierarchy.node(level)])
        return np.stack(rows)

    def _evaluate(self, node: Node, bound: npt.NDArray[np.float64], least: int) -> float:
        """Return a node's exact cost, and sharpen the bounds of the nodes above and below it."""
        classes, keep = self.keep_mask(node)
        rows = self.problem.rows
        removed = rows - int(classes.count[keep].sum())
        below = tuple(slice(None, n + 1) for n in node)
        above = tuple(slice(n, None) for n in node)
        if isinstance(self.cost, CellCost):
            if removed == 0:
                return float(bound[node])
            gone = ~keep
            weight = classes.count[gone]
            scale = rows * len(self.prices)
            sharper = np.full(bound[below].shape, removed / rows, dtype=np.float64)
            for d, name in enumerate(self.problem.quasi):
                # What the kept rows pay at every level at or below the node's: the rows removed
                # here are removed there as well, so this bounds every node below.
                leaf = self.lattice.field(classes, d)[gone]
                lost = np.bincount(leaf, weights=weight, minlength=self.prices[d].shape[1])
                paid = self.prices[d][: node[d] + 1] @ self.problem.leaf_rows[name]
                paid = paid - self._floor_of_removed(d, node[d], lost)
                sharper += (paid / scale).reshape([-1 if i == d else 1 for i in range(bound.ndim)])
            value = float(sharper[node])
            if self.monotone:
                np.maximum(bound[below], sharper, out=bound[below])
            return value
        cost = cast(SizeCost, self.cost)
        value = cost.of_sizes(classes.count[keep], removed, rows)
        if self.monotone:
            np.maximum(bound[below], cost.floor_below(removed, rows, least), out=bound[below])
        if cost.grows:
            np.maximum(bound[above], cost.floor_above(classes.count, rows), out=bound[above])
        return value

    def _floor_of_removed(
        self, d: int, level: int, lost: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the most that removed rows can have paid at each level up to `level`.

        `lost` counts removed rows per node of attribute `d` (at its first leaf). At `level` the
        answer is exact; below it a node's dearest part stands for all of it.
        """
        dearest = self.dearest.get((d, level))
        if dearest is None:
            first = self.lattice.hierarchies[d].first_leaf[level]
            dearest = np.zeros((level + 1, len(first)), dtype=np.float64)
            for step in range(level + 1):
                np.maximum.at(dearest[step], first, self.prices[d][step])
            self.dearest[d, level] = dearest
        return dearest @ lost

    # -- what is told -----------------------------------------------------------------------------

    def kept_runs(
        self, node: Node, run_class: npt.NDArray[np.int64], classes: int
    ) -> npt.NDArray[np.bool_]:
        """Return which of the numbered classes of a node keep every promise."""
        entries, keep = self.keep_mask(node)
        lo = [h.first_leaf[n] for h, n in zip(self.lattice.hierarchies, node, strict=True)]
        kept = {
            tuple(row)
            for row in np.stack(
                [self.lattice.field(entries, d)[keep] for d in range(len(node))], axis=1
            ).tolist()
        }
        codes = self.problem.frequency.run_codes
        first = np.zeros(classes, dtype=np.int64)
        first[run_class] = np.arange(len(run_class))
        cells = np.stack([lo[d][codes[first, d]] for d in range(len(node))], axis=1).tolist()
        return np.array([tuple(row) in kept for row in cells], dtype=np.bool_)

    def account(self, node: Node) -> SearchAccount:
        """Tell what the search did."""
        open_nodes = int(np.count_nonzero(self.status == _SATISFIED)) - self.evaluated
        return SearchAccount(
            proven=True,
            cost=self.best_cost,
            node=self.lattice.names(node),
            minimal=self.minimal(),
            nodes=self.lattice.size,
            checked=self.checked,
            inferred=max(self.inferred, 0),
            bounded=max(open_nodes, 0),
        )

    def minimal(self) -> tuple[Node, ...]:
        """Return every satisfied node with no satisfied node directly below it."""
        satisfied = self.status == _SATISFIED
        has_lower = np.zeros(satisfied.shape, dtype=np.bool_)
        for d in range(satisfied.ndim):
            ahead = tuple(slice(1, None) if i == d else slice(None) for i in range(satisfied.ndim))
            behind = tuple(slice(None, -1) if i == d else slice(None) for i in range(satisfied.ndim))
            has_lower[ahead] |= satisfied[behind]
        found = np.argwhere(satisfied & ~has_lower)
        return tuple(tuple(int(n) for n in row) for row in found)
