"""Partition by the cut that saves most of a cost of cells: where Mondrian may look before it cuts.

LeFevre et al. (2006) leave the choice of the attribute open and cut at the median. Here every cut
is priced by what both sides would publish, in all columns, and the cheapest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.context import Context
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.contracts.search_cost import CellCost
from anon_core.kernels.best_gain_split import Prices, split_by_gain
from anon_core.kernels.cuts import Counted, Cuts, Limits
from anon_core.methods.partition.checked_cuts import asked_parts
from anon_core.methods.partition.merging import keeping
from anon_core.methods.partition.mondrian_cuts import (
    WORK,
    by_limits,
    left_whole,
    parts_in_order,
    watched_tuples,
    ways_to_cut,
)
from anon_core.release.problem import Problem


def gain_parts(
    problem: Problem,
    models: Sequence[GroupModel],
    prices: Prices,
    context: Context,
    *,
    quartiles: bool = False,
    start: npt.NDArray[np.int64] | None = None,
    least: int = 1,
) -> npt.NDArray[np.int64]:
    """Return the part of every quasi tuple of the table, shape (runs,).

    Parameters
    ----------
    prices : Prices
        See `cell_prices`.
    quartiles : bool
        Cut ranges only at the first, second or third quartile, at whichever saves most.
    start : int64 array of shape (runs,), optional
        Parts to begin with instead of the whole table, all of which keep the privacy models; -1
        leaves a tuple out.
    least : int
        Rows every part needs, where that is more than the models ask for.

    Raises
    ------
    Infeasible
        If not even the whole table as one part keeps the privacy models.
    BadPlan
        If cuts cannot be steered by a model.
    """
    tuples = watched_tuples(problem, models, whole=start is None)
    asked = not by_limits(models)
    limits = Limits(max(tuples.least, least), tuples.sensitive, tuples.distinct, tuples.share)
    size = len(tuples.count)
    first = np.zeros(tuples.runs, dtype=np.int64) if start is None else start
    own = first[tuples.run]
    order = np.argsort(own, kind="stable").astype(np.int64)
    order = order[np.count_nonzero(own < 0) :]
    begin = np.flatnonzero(np.diff(own[order], prepend=-1))
    stack = np.empty((size + 1, 2), dtype=np.int64)
    depth, found = len(begin), 0
    # The last of the stack is cut first: parts are settled from the first tuple on.
    stack[:depth, 0] = begin[::-1]
    stack[:depth, 1] = np.append(begin[1:], len(order))[::-1]
    parts = np.empty((size, 2), dtype=np.int64)
    counted, cuts = Counted(tuples.codes, tuples.count), Cuts(order, stack, parts)

    def cut(depth: int, found: int, work: int) -> tuple[int, int]:
        """Cut what is on the stack, about so much of it; return what is left, and parts found."""
        return split_by_gain(counted, cuts, depth, found, limits, prices, quartiles, work)

    def numbered(runs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the part of every quasi tuple, from runs of the order; -1 where it is in none."""
        part = np.full(size, -1, dtype=np.int64)
        part[order] = parts_in_order(runs, np.arange(len(order), dtype=np.int64))
        return tuples.per_run(part)

    if asked:
        whole = [(int(a), int(b)) for a, b in stack[:depth][::-1]]
        return _asked_gain(problem, models, whole, stack, cut, numbered, limits, prices, context)
    while depth:
        context.report(found / size, "Partitioning")
        if context.out_of_time():
            found = left_whole(stack, depth, parts, found)
            break
        depth, found = cut(depth, found, WORK)
    return numbered(parts[:found])


def _asked_gain(
    problem: Problem,
    models: Sequence[GroupModel],
    whole: list[tuple[int, int]],
    stack: npt.NDArray[np.int64],
    cut: Callable[[int, int, int], tuple[int, int]],
    numbered: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]],
    limits: Limits,
    prices: Prices,
    context: Context,
) -> npt.NDArray[np.int64]:
    """Take the cheapest cut of every part as long as both sides keep models that are asked about.

    Where one of them does not, other attributes are cut at their medians: see `asked_parts`.
    """
    frequency = problem.frequency
    done: list[tuple[int, int]] = []
    waiting, rows = whole, max(problem.rows, 1)
    while waiting:
        settled = sum(b - a for a, b in done)
        context.report(settled / rows, "Partitioning")
        if context.out_of_time():
            break
        pieces: list[list[tuple[int, int]]] = []
        for part in waiting:
            stack[0] = part
            depth, _ = cut(1, 0, 1)
            pieces.append([(int(a), int(b)) for a, b in stack[:depth]])
        tried = [p for part, own in zip(waiting, pieces, strict=True) for p in own or [part]]
        every = sorted([*done, *tried])
        of_run = numbered(np.array(every, dtype=np.int64))[frequency.run]
        inside = np.flatnonzero(of_run >= 0)
        kept = keeping(
            problem,
            models,
            Buckets(key=inside, group=of_run[inside], count=frequency.count[inside]),
        )
        good = dict(zip(every, kept.tolist(), strict=True))
        next_: list[tuple[int, int]] = []
        for part, own in zip(waiting, pieces, strict=True):
            if own and all(good[p] for p in own):
                next_ += own
            else:
                done.append(part)
        waiting = next_
    part = numbered(np.array(sorted([*done, *waiting]), dtype=np.int64))
    of_run = part[frequency.run]
    inside = np.flatnonzero(of_run >= 0)
    keys = Buckets(key=inside, group=of_run[inside], count=frequency.count[inside])
    ways = ways_to_cut(problem, prices.by_node.tolist(), None)
    found = np.full(len(of_run), -1, dtype=np.int64)
    found[inside] = asked_parts(problem, models, keys, ways, context, least=limits.least)
    return found[frequency.run_start]


def cell_prices(
    problem: Problem,
    metric: CellCost,
    as_nodes: Sequence[bool],
    weights: npt.NDArray[np.float64],
) -> Prices:
    """Return the table of prices of cells that cover two leaves, for the kernels.

    Parameters
    ----------
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


def suppression_prices(problem: Problem, levels: Sequence[int], weights: F64) -> Prices:
    """Return prices of cells that must be suppressed because nodes at a level differ.

    Parameters
    ----------
    weights : float64 array of shape (quasi,)
        What a suppressed cell of each column costs.
    """
    nodes = zip(problem.quasi_hierarchies, levels, strict=True)
    return prices_where_unequal([h.first_leaf[level] for h, level in nodes], weights)


def prices_where_unequal(nodes: Sequence[I32 | I64], weights: F64) -> Prices:
    """Return prices of cells that cover codes of different nodes.

    Parameters
    ----------
    nodes : sequence of integer arrays of shape (codes,)
        Per attribute, the node of each code; nodes and codes ascend together.
    weights : float64 array of shape (attributes,)
    """
    sizes = np.array([len(own) for own in nodes], dtype=np.int64)
    zeros = [np.zeros(size, dtype=np.int64) for size in sizes.tolist()]
    # Two levels each: the nodes as they are, which cost nothing, and everything.
    both = zip((own.astype(np.int64) for own in nodes), zeros, strict=True)
    each = zip(sizes.tolist(), weights.tolist(), strict=True)
    return Prices(
        by_node=np.ones(len(sizes), dtype=np.bool_),
        position=np.concatenate(zeros).astype(np.float64),
        place_of=(np.cumsum(sizes) - sizes).astype(np.int64),
        step=np.zeros(len(sizes), dtype=np.float64),
        whole=weights,
        missing=np.full(len(sizes), -1, dtype=np.int64),
        node_price=np.concatenate([np.repeat([0.0, weight], size) for size, weight in each]),
        first_leaf=np.concatenate([part for pair in both for part in pair]),
        tree_offset=(2 * (np.cumsum(sizes) - sizes)).astype(np.int64),
        leaves=sizes,
    )
