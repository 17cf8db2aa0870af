"""Bounds below what any recoding can cost, for searches that do not look at everything.

Both look at a few columns at a time, in disjoint sets whose costs add up: what a release shows of a
few columns is a release of these columns, and keeps the same privacy models.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from anon_core.contracts.metric import Metric
from anon_core.contracts.model import least_class
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.data.frequency import dense_rank
from anon_core.kernels.roll_up import Raised, roll_up
from anon_core.methods.lattice.lattice import layout_of
from anon_core.methods.lattice.node_cost import NodeCost
from anon_core.methods.lattice.nodes import Nodes
from anon_core.release.problem import Problem

#: Combinations of levels that one set of columns may have: quick at first, then better.
SET_SIZES = (1, 60, 400, 1_500)


def row_bound(
    problem: Problem, metric: Metric, least: int, most: int, timely: Callable[[], bool]
) -> float:
    """Return a cost that no recoding by hierarchy nodes goes below, local ones included.

    Whatever is published of a row, at least `least` rows show the same. In some columns alone, its
    cells are therefore a combination of nodes that at least so many rows of the table fall into;
    the cheapest such combination is the least that the row pays there.

    Parameters
    ----------
    metric : Metric
        A `CellCost` or `SizeCost`.
    least : int
        Smallest class that may be published. A suppressed row costs no less than a suppressed one.
    most : int
        Combinations of levels that a set of columns may have.
    timely : callable
        Asked now and then; once it returns False the bound is left as it is.
    """
    if isinstance(metric, SizeCost):
        return metric.floor_below(0, problem.rows, least)
    if not problem.rows:
        return 0.0
    prices = NodeCost(problem, metric).prices
    total = 0.0
    for columns in _sets(problem, most):
        total += _rows_pay(problem, prices, columns, least, timely)
    return total / (problem.rows * len(problem.quasi))


def column_bound(nodes: Nodes, metric: Metric, most: int, timely: Callable[[], bool]) -> float:
    """Return a cost that no node of the lattice within the budget goes below.

    A node that holds also holds with other columns raised to their tops, and removes no more rows
    there; so each set of columns costs at least what its own best node does.

    Parameters
    ----------
    nodes : Nodes
        Must be nested.
    most : int
        Combinations of levels that a set of columns may have.
    timely : callable
        Asked now and then; once it returns False the bound is left as it is.
    """
    problem = nodes.problem
    if not isinstance(metric, CellCost):
        least = least_class(nodes.models, problem.population)
        return cast(SizeCost, metric).floor_below(0, problem.rows, least)
    cost = NodeCost(problem, metric)
    total = 0.0
    for columns in _sets(problem, most):
        found = np.inf
        levels = [range(problem.quasi_hierarchies[d].height + 1) for d in columns]
        for part in itertools.product(*levels):
            if not timely():
                return total
            paid = sum(float(cost.static[d][n]) for d, n in zip(columns, part, strict=True))
            if paid >= found:
                continue
            node = list(nodes.lattice.top)
            for d, level in zip(columns, part, strict=True):
                node[d] = level
            classes, keep = nodes.keep_mask(tuple(node))
            gone = classes.count[~keep]
            removed = int(gone.sum())
            if nodes.within(removed):
                # A suppressed row pays 1 in every column, instead of its cell's price, or a share
                # of what that leaves to 1.
                for d, level in zip(columns, part, strict=True):
                    spared = cost.prices[d][level][nodes.lattice.field(classes, d)[~keep]] @ gone
                    dearer = float(cost.weights[d]) * removed - float(spared)
                    paid += cost.removed_counts * dearer / (problem.rows * len(node))
                found = min(found, paid)
        if np.isfinite(found):
            total += found
    return total


def _sets(problem: Problem, most: int) -> list[list[int]]:
    """Part the columns into sets of few enough levels and values, those with most values first."""
    hierarchies = problem.quasi_hierarchies
    left = sorted(range(len(hierarchies)), key=lambda d: -len(hierarchies[d].leaves))
    found: list[list[int]] = []
    while left:
        chosen: list[int] = []
        nodes = 1
        for d in list(left):
            more = hierarchies[d].height + 1
            if not chosen or nodes * more <= most:
                chosen.append(d)
                left.remove(d)
                nodes *= more
        found.append(chosen)
    return found


def _rows_pay(
    problem: Problem,
    prices: Sequence[npt.NDArray[np.float64]],
    columns: Sequence[int],
    least: int,
    timely: Callable[[], bool],
) -> float:
    """Return what all rows together pay in some columns, at least."""
    hierarchies = [problem.quasi_hierarchies[d] for d in columns]
    sizes = [len(h.leaves) for h in hierarchies]
    codes = problem.frequency.run_codes[:, columns]
    rank, first = dense_rank(list(codes.T), sizes)
    count = np.bincount(rank, weights=problem.frequency.run_count).astype(np.int64)
    codes = codes[first]
    layout = layout_of(sizes)
    words = np.zeros((len(count), layout.words), dtype=np.int64)
    for i in range(len(columns)):
        words[:, layout.word[i]] |= codes[:, i].astype(np.int64) << layout.shift[i]
    offset = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    out, total, member = np.empty_like(words), np.empty_like(count), np.empty_like(count)
    cheapest = np.full(len(count), np.inf)
    # From below, since what is cheap already needs no look.
    nodes = sorted(itertools.product(*(range(h.height + 1) for h in hierarchies)), key=sum)
    for node in nodes:
        if not timely():
            return 0.0
        paid = np.zeros(len(count), dtype=np.float64)
        for i, (d, level) in enumerate(zip(columns, node, strict=True)):
            paid += prices[d][level][codes[:, i]]
        better = paid < cheapest
        if better.any():
            tables = [h.first_leaf[n] for h, n in zip(hierarchies, node, strict=True)]
            roll_up(
                words,
                count,
                np.zeros(layout.words, dtype=np.int64),
                layout.word,
                Raised(layout.shift, layout.mask, offset, np.concatenate(tables).astype(np.int64)),
                out,
                total,
                member,
            )
            better &= total[member] >= least
            cheapest[better] = paid[better]
    return float(cheapest @ count)
