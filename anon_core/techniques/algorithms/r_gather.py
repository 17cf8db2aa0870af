"""r-gather and r-cellular: clusters of at least k rows around centres, by their radius or cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context, part_of
from anon_core.base.errors import BadPlan
from anon_core.base.params import choice, number
from anon_core.base.registry import find, register
from anon_core.contracts.algorithm import Algorithm, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.contracts.search_cost import CellCost
from anon_core.methods.clusters.cluster_rows import blocks, refuse_fewer, standardised
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.merging import least_size, merged_as_published
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class RGather(Algorithm):
    """Balls around rows, each with at least r of them (Aggarwal et al. 2006).

    For a distance D:

    1. Every row has at least r rows within D, itself among them.
    2. Each row that no centre covers becomes a centre and covers all uncovered rows within D.
    3. A flow gives each centre r rows within D; the rest join the nearest centre within D.

    A D at which this works, and does not at the next smaller distance, is at most twice the least
    possible radius. A centre is a real row, so clusters publish what covers them instead.

    r-cellular goes on from there: clusters are moved, split and joined while that lowers the sum of
    size times radius and of a cost for each cluster. Nothing is proven of its sum.
    """

    name: ClassVar[str] = "r-gather"
    title: ClassVar[str] = "r-Gather"
    summary: ClassVar[str] = (
        "Groups at least k rows around each of several centres and keeps every row near its "
        "centre: at most twice as far as in the best clusters. Each cluster publishes values that"
        " cover it."
    )
    offer: ClassVar[Offer] = Offer(
        when="Use it where the worst row matters and a proven bound is wanted; never to lose least "
        "on average, and for tables of some thousand different rows only: larger ones are cut "
        "into blocks first, and the bound is of each block."
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True)
    formula: ClassVar[str] = (
        "min over clusters of ≥ r rows of the largest distance to a centre, within a factor 2"
    )
    source: ClassVar[str] = "Aggarwal et al. 2006, doi 10.1145/1142351.1142374"

    weights: Mapping[str, float] = column_weights()
    objective: str = choice(
        default="radius",
        options=("radius", "cellular"),
        help="The largest radius, with a bound; or r-cellular: size times radius of every cluster, "
        "and a cost for each, by a local search without one.",
        label="Objective",
    )
    cost: float = number(
        default=0.0,
        low=0.0,
        help="Cost of a cluster in r-cellular, in standard deviations: more makes fewer clusters.",
        label="Cost of a cluster",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Gather rows and publish what covers each cluster; see `Algorithm.run`."""
        if self.cost and self.objective == "radius":
            raise BadPlan(
                f"Clusters cost {self.cost:g}, and the objective is the largest radius alone.",
                remedy="Set objective to 'cellular', or leave the cost out.",
            )
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        weights = weights_by_column(problem, self.weights, self.name)
        prices = cell_prices(problem, cast(CellCost, find("metric", "ncp")()), nodes, weights)
        k = least_size(problem, models)
        refuse_fewer(problem, k)
        by_rows = [model for model in models if not model.scope.public]
        block = blocks(problem, by_rows, k, prices, part_of(context, 0.0, 0.1))
        frequency, points = problem.frequency, standardised(problem, weights)
        parts: list[tuple[I64, I64, I64]] = []
        first = 0
        for one in range(int(block.max(initial=-1)) + 1):
            context.report(0.1 + 0.8 * one / (int(block.max()) + 1), "Gathering rows")
            own = np.flatnonzero(block == one)
            far = distances(points[own])
            found = gathered(far, frequency.run_count[own], k, context)
            if self.objective == "cellular":
                found = cellular(found, far, k, self.cost, context)
            tuple_, centre = np.nonzero(found.rows)
            parts.append((own[tuple_], first + centre, found.rows[tuple_, centre]))
            first += len(found.centres)
        run, group, count = (np.concatenate(p) for p in zip(*parts, strict=True))
        buckets = dealt(problem, run, group, count)
        groups = merged_as_published(
            problem, models, buckets, prices, nodes, part_of(context, 0.9, 1.0)
        )
        return box_outcome(problem, groups, nodes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Gathered:
    """Clusters of points.

    Attributes
    ----------
    threshold : float
        The distance D within which every row is of its centre.
    centres : int64 array of shape (clusters,)
    rows : int64 array of shape (points, clusters)
        How many rows of each point are in each cluster.
    """

    threshold: float
    centres: I64
    rows: I64


def distances(points: F64) -> F64:
    """Return the distance of each two points, shape (points, points)."""
    found = np.zeros((len(points), len(points)))
    for d in range(points.shape[1]):
        found += (points[:, d, None] - points[None, :, d]) ** 2
    return np.sqrt(found)


def gathered(far: F64, count: I64, r: int, context: Context) -> Gathered:
    """Gather points at the least distance that a bisection finds.

    Parameters
    ----------
    far : float64 array of shape (points, points)
    count : int64 array of shape (points,)
        Rows of each point; together at least r.
    """
    # 1. No distance is enough at which some row has fewer than r rows around it.
    near = np.argsort(far, axis=1, kind="stable")
    upto = np.cumsum(count[near], axis=1)
    reach = far[np.arange(len(far)), near[np.arange(len(far)), (upto >= r).argmax(axis=1)]]
    every = np.unique(far)
    low = int(np.searchsorted(every, reach.max()))
    best = _at(far, count, r, float(every[low]))
    if best is not None:
        return best
    high = len(every) - 1
    best = _at(far, count, r, float(every[high]))  # one centre, and all rows within reach of it
    while high - low > 1:
        context.check()
        middle = (low + high) // 2
        found = _at(far, count, r, float(every[middle]))
        if found is None:
            low = middle
        else:
            high, best = middle, found
    if best is None:
        raise AssertionError("all rows are within the largest distance of any one")
    return best


def _at(far: F64, count: I64, r: int, distance: float) -> Gathered | None:
    """Return clusters within a distance, or None where it gives none of r rows each."""
    # 2. Each uncovered point covers all that are within the distance.
    open_ = np.ones(len(far), dtype=np.bool_)
    centres: list[int] = []
    for point in range(len(far)):
        if open_[point]:
            centres.append(point)
            open_ &= far[point] > distance
    within = far[:, centres] <= distance
    # 3. A flow from centres, r rows each, to points, as many as these have.
    wide, points = len(centres), len(far)
    point, centre = np.nonzero(within)
    start = np.concatenate([np.zeros(wide), 1 + centre, 1 + wide + np.arange(points)])
    end = np.concatenate(
        [1 + np.arange(wide), 1 + wide + point, np.full(points, 1 + wide + points)]
    )
    room = np.concatenate([np.full(wide, r), np.minimum(count[point], r), count])
    ends = (start.astype(np.int32), end.astype(np.int32))
    size = wide + points + 2
    graph = csr_array((room.astype(np.int32), ends), shape=(size, size))
    flow = maximum_flow(graph, 0, wide + points + 1)
    if flow.flow_value < r * wide:
        return None
    sent = flow.flow[1 : 1 + wide, 1 + wide : 1 + wide + points].toarray()
    rows = sent.T.astype(np.int64)
    nearest = np.where(within, far[:, centres], np.inf).argmin(axis=1)
    rows[np.arange(points), nearest] += count - rows.sum(axis=1)
    return Gathered(threshold=distance, centres=np.array(centres, dtype=np.int64), rows=rows)


def price(far: F64, centre: int, rows: I64, cost: float) -> float:
    """Return what a cluster costs in r-cellular: size times radius, and its own cost."""
    return float(rows.sum() * far[rows > 0, centre].max() + cost)


def cellular(found: Gathered, far: F64, r: int, cost: float, context: Context) -> Gathered:
    """Lower the sum of `price` by moves, until none does.

    A cluster takes another of its points as its centre, gives its farthest point to the nearest
    other cluster, is split, or is closed and its points given to the nearest others. Each keeps r
    rows.
    """
    cells = [(int(c), found.rows[:, i].copy()) for i, c in enumerate(found.centres)]
    better = True
    while better:
        better = False
        for cell in list(cells):
            context.check()
            if not any(cell is one for one in cells):  # another move has changed it
                continue
            others = [one for one in cells if one is not cell]
            for old, new in _moves(far, r, cell, others):
                gain = sum(price(far, *one, cost) for one in old)
                gain -= sum(price(far, *one, cost) for one in new)
                if gain > 1e-9:
                    cells = [one for one in cells if all(one is not gone for gone in old)] + new
                    better = True
                    break
    return Gathered(
        threshold=max(float(far[rows > 0, centre].max()) for centre, rows in cells),
        centres=np.array([centre for centre, _ in cells], dtype=np.int64),
        rows=np.stack([rows for _, rows in cells], axis=1),
    )


_Cell = tuple[int, I64]


def _moves(
    far: F64, r: int, cell: _Cell, others: list[_Cell]
) -> Iterator[tuple[list[_Cell], list[_Cell]]]:
    """Yield the cells that a move takes away, and those that it makes."""
    centre, rows = cell
    held = np.flatnonzero(rows)
    middle = int(held[far[np.ix_(held, held)].max(axis=0).argmin()])
    if middle != centre:
        yield [cell], [(middle, rows)]
    last = int(held[far[held, centre].argmax()])
    nearer = far[:, last] < far[:, centre]
    one, other = rows * ~nearer, rows * nearer
    if min(one.sum(), other.sum()) >= r:
        yield [cell], [(centre, one), (last, other)]
    if not others:
        return
    near = far[:, [c for c, _ in others]].argmin(axis=1)
    if rows.sum() - rows[last] >= r:
        to = others[near[last]]
        less, more = rows.copy(), to[1].copy()
        more[last] += less[last]
        less[last] = 0
        yield [cell, to], [(centre, less), (to[0], more)]
    taking = np.unique(near[held]).tolist()
    grown = [(others[n][0], others[n][1] + rows * (near == n)) for n in taking]
    yield [cell, *(others[n] for n in taking)], grown


def dealt(problem: Problem, run: I64, cluster: I64, rows: I64) -> Buckets:
    """Deal the rows of each quasi tuple, in the order of their keys, to its clusters.

    Parameters
    ----------
    run, cluster, rows : int64 arrays of shape (entries,)
        So many rows of the quasi tuple are in the cluster.
    """
    order = np.lexsort([cluster, run])
    # Rows in the order of keys are one line; where a key or a cluster's rows end, an entry does.
    key_end = np.cumsum(problem.frequency.count)
    part_end = np.cumsum(rows[order])
    ends = np.union1d(key_end, part_end)
    return Buckets(
        key=np.searchsorted(key_end, ends),
        group=cluster[order][np.searchsorted(part_end, ends)],
        count=np.diff(ends, prepend=0),
    )
