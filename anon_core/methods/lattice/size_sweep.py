"""What every node of the lattice removes and costs, for many least class sizes at once.

One pass over the lattice serves every k, since a class set does not depend on k: each set is rolled
up once, from the node a single step below, and its classes are sorted by the sizes they reach.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.kernels.sweep_nodes import Priced, Totals, walk
from anon_core.methods.lattice.lattice import WORD_BITS, Lattice, Node
from anon_core.methods.lattice.node_cost import NodeCost
from anon_core.release.problem import Problem

#: Keys times nodes that one call of the kernel takes at most: cancelling waits for it.
_AT_ONCE = 8_000_000
_TIE = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeSweep:
    """Every node of a lattice, for several least class sizes.

    Attributes
    ----------
    limits : tuple of int
        The least class sizes, ascending.
    rows : int
        Rows of the table.
    shape : tuple of int
        The lattice's shape; arrays below are flat in its order.
    removed : int64 array of shape (nodes, limits)
        Rows in classes below the least size.
    classes, squares : int64 arrays of shape (nodes, limits)
        Number and Σ rows² of the classes that stay.
    loss : float64 array of shape (nodes, limits)
        Cost by the metric of cells; a suppressed row pays 1.
    """

    limits: tuple[int, ...]
    rows: int
    shape: Node
    removed: I64
    classes: I64
    squares: I64
    loss: F64

    def cost(self, metric: Metric) -> F64:
        """Return every node's cost by a metric of sizes, or by the metric of cells of the pass.

        Shape (nodes, limits).
        """
        if isinstance(metric, SizeCost):
            return metric.of_totals(self.classes, self.squares, self.removed, self.rows)
        return self.loss

    def satisfied(self, limit: int, budget: int) -> npt.NDArray[np.bool_]:
        """Return which nodes remove at most `budget` rows, and not all; shape (nodes,)."""
        removed = self.removed[:, self.limits.index(limit)]
        return (removed <= budget) & (removed < self.rows)

    def best(self, limit: int, budget: int, cost: F64) -> Node | None:
        """Return the cheapest node within the budget; among equals the lowest, then the first.

        Parameters
        ----------
        limit : int
            One of `limits`.
        budget : int
            Rows that may be suppressed.
        cost : float64 array of shape (nodes, limits)
        """
        own = np.where(self.satisfied(limit, budget), cost[:, self.limits.index(limit)], np.inf)
        least = own.min(initial=np.inf)
        if np.isinf(least):
            return None
        places = np.flatnonzero(own <= least + _TIE)
        nodes = np.stack(np.unravel_index(places, self.shape), axis=1)
        return tuple(int(n) for n in nodes[int(np.argmin(nodes.sum(axis=1)))])


def size_sweep(
    problem: Problem,
    limits: Sequence[int],
    context: Context,
    *,
    metric: CellCost | str = "loss",
    threads: int = 2,
) -> SizeSweep:
    """Count and price every node of the lattice for several least class sizes.

    Parameters
    ----------
    limits : sequence of int
        Least class sizes.
    metric : CellCost or str
        A metric of cells, or its name where nothing of it is set.
    threads : int
        Parts of the lattice that are walked at the same time; each holds as many class sets as
        there are quasi-identifiers.

    Raises
    ------
    BadPlan
        If the quasi-identifiers' values take more than one word, or the metric is none of cells.
    Cancelled
        If the person asked to stop.
    """
    lattice = Lattice(problem)
    cost = cast(Metric, find("metric", metric)()) if isinstance(metric, str) else metric
    if lattice.layout.words > 1 or not isinstance(cost, CellCost):
        raise BadPlan(
            "One pass for several k needs a metric of cells and values that fit into one word of "
            f"{WORD_BITS} bits; the metric is '{cost.name}', and the values take "
            f"{lattice.layout.words}.",
            remedy="Search once for every k instead, or use fewer quasi-identifiers.",
        )
    return _Walk(lattice, NodeCost(problem, cost), tuple(sorted(set(limits))), threads).all(context)


class _Walk:
    """The pass: the lattice in parts, and each part from its lowest node."""

    def __init__(
        self, lattice: Lattice, cost: NodeCost, limits: tuple[int, ...], threads: int
    ) -> None:
        self.lattice = lattice
        self.cost = cost
        self.limits = limits
        self.threads = threads
        # What shrinks most goes first: the sets that the inner attributes start from are small.
        self.order = np.argsort(-lattice.packing.leaves, kind="stable").astype(np.int64)
        self.outer = self._outer(len(lattice.at((0,) * len(lattice.heights)).count))
        self.dearer = np.concatenate(
            [np.diff(own, axis=0, prepend=own[:1]).ravel() for own in cost.prices]
        )
        self.bucket = np.searchsorted(limits, np.arange(limits[-1] + 1), side="right")
        removed, classes, squares = (
            np.zeros((lattice.size, len(limits)), dtype=np.int64) for _ in range(3)
        )
        spared = np.zeros((lattice.size, len(limits)), dtype=np.float64)
        self.totals = Totals(removed=removed, classes=classes, squares=squares, spared=spared)

    def _outer(self, keys: int) -> int:
        """Return how many attributes are fixed per part, so that no part takes long."""
        inside, outer = self.lattice.size, 0
        while outer < len(self.order) and inside * keys > _AT_ONCE:
            inside //= self.lattice.shape[self.order[outer]]
            outer += 1
        return outer

    def all(self, context: Context) -> SizeSweep:
        """Walk every part."""
        levels = [range(self.lattice.shape[d]) for d in self.order[: self.outer]]
        parts = math.prod(len(own) for own in levels)
        running: deque[Future[None]] = deque()
        with ThreadPoolExecutor(max(self.threads, 1)) as pool:
            for done, start in enumerate(itertools.product(*levels)):
                context.report(done / parts, "Pricing every node")
                # One part waits ready for every one that runs: no more are held.
                if len(running) >= 2 * self.threads:
                    running.popleft().result()
                running.append(pool.submit(self._work(start)))
            for part in running:
                part.result()
                context.check()
        rows, quasi, totals = self.lattice.problem.rows, len(self.order), self.totals
        static = self.lattice.sums(self.cost.static)
        dearer = totals.removed / rows - totals.spared / (rows * quasi)
        loss = static[:, None] + self.cost.removed_counts * dearer
        return SizeSweep(
            limits=self.limits,
            rows=rows,
            shape=self.lattice.shape,
            removed=totals.removed,
            classes=totals.classes,
            squares=totals.squares,
            loss=loss,
        )

    def _work(self, start: tuple[int, ...]) -> Callable[[], None]:
        """Return the walk of the part whose outer attributes are at given levels."""
        lattice = self.lattice
        node = [0] * len(self.order)
        for d, level in zip(self.order[: self.outer], start, strict=True):
            node[d] = level
        classes = lattice.at(tuple(node))
        price = np.zeros(len(classes.count), dtype=np.float64)
        for d, own in enumerate(self.cost.prices):
            price += own[node[d]][lattice.field(classes, d)]
        return partial(
            walk,
            Priced(np.ascontiguousarray(classes.words[:, 0]), classes.count, price),
            int(np.dot(node, lattice.packing.stride)),
            self.outer,
            self.order,
            lattice.packing,
            self.dearer,
            self.bucket,
            self.totals,
        )
