"""Partition by the cut that saves most of a cost of cells: where Mondrian may look before it cuts.

LeFevre et al. (2006) leave the choice of the attribute open and cut at the median. Here every cut
is priced by what both sides would publish, in all columns, and the cheapest is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .context import Context
from .costs import CellCost
from .kernels.gain import Limits, Prices, split_by_gain
from .kinds import GroupModel
from .partition import WORK, parts_in_order, watched_tuples
from .problem import Problem


def gain_parts(
    problem: Problem,
    models: Sequence[GroupModel],
    prices: Prices,
    context: Context,
    *,
    quartiles: bool = False,
) -> npt.NDArray[np.int64]:
    """Return the part of every quasi tuple of the table, shape (runs,).

    Parameters
    ----------
    problem : Problem
    models : sequence of GroupModel
    prices : Prices
        See `cell_prices`.
    context : Context
    quartiles : bool
        Cut ranges only at the first, second or third quartile, at whichever saves most.

    Raises
    ------
    Infeasible
        If not even the whole table as one part keeps the promises.
    BadPlan
        If cuts cannot be steered by a model.
    """
    tuples = watched_tuples(problem, models)
    limits = Limits(tuples.least, tuples.sensitive, tuples.distinct, tuples.share)
    size = len(tuples.count)
    order = np.arange(size, dtype=np.int64)
    stack = np.empty((size + 1, 2), dtype=np.int64)
    stack[0] = 0, size
    parts = np.empty((size, 2), dtype=np.int64)
    depth, found = 1, 0
    while depth:
        settled = int(parts[found - 1, 1]) if found else 0
        context.report(settled / size, "Partitioning")
        depth, found = split_by_gain(
            tuples.codes,
            tuples.count,
            order,
            stack,
            depth,
            parts,
            found,
            limits,
            prices,
            quartiles,
            WORK,
        )
    return tuples.per_run(parts_in_order(parts[:found], order))


def cell_prices(
    problem: Problem,
    metric: CellCost,
    as_nodes: Sequence[bool],
    weights: npt.NDArray[np.float64],
) -> Prices:
    """Return what cells cost that must cover two leaves, by a metric, as the kernels look it up.

    Parameters
    ----------
    problem : Problem
    metric : CellCost
        Its price of a range must grow with the distance of the ends.
    as_nodes : sequence of bool
        Per quasi-identifier, whether it publishes nodes of its hierarchy instead of ranges.
    weights : float64 array of shape (quasi,)
        Factor per quasi-identifier.
    """
    position: list[npt.NDArray[np.float64]] = []
    node_price: list[npt.NDArray[np.float64]] = []
    first_leaf: list[npt.NDArray[np.int64]] = []
    step: list[float] = []
    whole: list[float] = []
    for weight, hierarchy in zip(weights.tolist(), problem.quasi_hierarchies, strict=True):
        name, size = hierarchy.column, len(hierarchy.leaves)
        places = np.arange(size, dtype=np.int32)
        # The price of lo..hi is the distance of the ends, and a first step where they differ: NCP
        # counts a set's leaves from 2 on. Only leaves that rows have are ends.
        ends = np.flatnonzero(problem.leaf_rows[name][: size - hierarchy.has_missing] > 0)
        first, inner, last = ends[[0, len(ends) // 2, -1]] if len(ends) else (0, 0, 0)
        up = metric.price(problem, name, np.full(size, first, np.int32), places) * weight
        beyond = metric.price(
            problem, name, np.array([inner], np.int32), np.array([last], np.int32)
        )
        step.append(float(up[inner] + beyond[0] * weight - up[last]) if len(ends) > 2 else 0.0)
        position.append(np.where(places > first, up - step[-1], 0.0))
        everything = np.zeros(1, np.int32), np.array([size - 1], np.int32)
        whole.append(float(metric.price(problem, name, *everything)[0] * weight))
        levels = [hierarchy.bounds(level) for level in range(hierarchy.height + 1)]
        node_price += [
            metric.price(problem, name, lo, hi)[hierarchy.node(level)] * weight
            for level, (lo, hi) in enumerate(levels)
        ]
        first_leaf.append(hierarchy.first_leaf.ravel().astype(np.int64))
    sizes = np.array([len(h.leaves) for h in problem.quasi_hierarchies], dtype=np.int64)
    trees = np.array([len(tree) for tree in first_leaf], dtype=np.int64)
    missing = [len(h.leaves) - 1 if h.has_missing else -1 for h in problem.quasi_hierarchies]
    return Prices(
        by_node=np.array(as_nodes, dtype=np.bool_),
        position=np.concatenate(position),
        place_of=(np.cumsum(sizes) - sizes).astype(np.int64),
        step=np.array(step, dtype=np.float64),
        whole=np.array(whole, dtype=np.float64),
        missing=np.array(missing, dtype=np.int64),
        node_price=np.concatenate(node_price),
        first_leaf=np.concatenate(first_leaf),
        tree_offset=(np.cumsum(trees) - trees).astype(np.int64),
        leaves=sizes,
    )
