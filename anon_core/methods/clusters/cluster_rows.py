"""Clusters of similar tuples, each of at least k rows; tuples with equal cells stay together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context, part_of
from anon_core.base.errors import Infeasible
from anon_core.contracts.algorithm import Algorithm, Needs
from anon_core.contracts.min_group_size import smaller_k
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.contracts.search_cost import CellCost, saving
from anon_core.kernels.best_gain_split import Prices
from anon_core.kernels.cluster import (
    cheapest_runs,
    farthest,
    farthest_from_mean,
    grow_cluster,
    halve,
    take_nearest,
)
from anon_core.kernels.cuts import Counted, Cuts
from anon_core.kernels.rtree import Tree, insert, refine
from anon_core.methods.partition.best_gain import cell_prices, gain_parts
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.merging import least_size, merged_as_published
from anon_core.methods.partition.mondrian_cuts import (
    WORK,
    cut_by_tree,
    left_whole,
    normalized_positions,
    parts_in_order,
)
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem

_MOST = 4000  # tuples that are compared with each other; larger tables are cut into blocks first


@dataclass(frozen=True, kw_only=True)
class Clustering(Algorithm):
    """Clusters of similar tuples; what they leave over, or leave broken, joins the nearest."""

    needs: ClassVar[Needs] = Needs(merges=True, merges_by_public=True)

    metric: CellCost = saving(help="What similar rows lose least of when they publish one box.")
    weights: Mapping[str, float] = column_weights()

    @abstractmethod
    def clusters(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        k: int,
        prices: Prices,
        context: Context,
    ) -> npt.NDArray[np.int64]:
        """Return the cluster of every quasi tuple, shape (runs,); small ones are merged later."""

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form clusters and publish their boxes; see `Algorithm.run`."""
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        weights = weights_by_column(problem, self.weights, self.name)
        prices = cell_prices(problem, self.metric, nodes, weights)
        k = least_size(problem, models)
        refuse_fewer(problem, k)
        by_rows = [model for model in models if not model.scope.public]
        part = self.clusters(problem, by_rows, k, prices, part_of(context, 0.0, 0.9))
        # Privacy models beyond k rows, and what was left over: merge with the nearest.
        groups = merged_as_published(
            problem, models, run_buckets(problem, part), prices, nodes, part_of(context, 0.9, 1.0)
        )
        return box_outcome(problem, groups, nodes)


def blocks(
    problem: Problem, models: Sequence[GroupModel], k: int, prices: Prices, context: Context
) -> npt.NDArray[np.int64]:
    """Return the block of every quasi tuple, shape (runs,): tuples are compared within blocks.

    Above a few thousand tuples, cuts make the blocks; a smaller table is one.
    """
    least = max(_MOST // 4, k) if len(problem.frequency.run_count) > _MOST else problem.rows
    return gain_parts(problem, models, prices, context, least=least)


_BATCH = 1000  # tuples inserted between two looks at the cancel button


def refuse_fewer(problem: Problem, k: int) -> None:
    """Refuse a table of fewer than k rows.

    Raises
    ------
    Infeasible
        If the table has fewer than k rows.
    """
    if problem.rows < k:
        raise Infeasible(
            f"Classes of {k:,} rows need at least {k:,} rows; the table has {problem.rows:,}.",
            remedy=smaller_k(problem.rows),
            best=float(problem.rows),
            best_of="rows",
        )


def standardised(problem: Problem, weights: F64) -> F64:
    """Return the quasi tuples as points of unit variance per attribute, shape (runs, quasi).

    Numbers and dates are by their value, categories by their place in the hierarchy's order,
    and the missing value beyond both. `weights` is of shape (quasi,).
    """
    codes, count = problem.frequency.run_codes, problem.frequency.run_count
    points = np.empty(codes.shape, dtype=np.float64)
    for d, hierarchy in enumerate(problem.quasi_hierarchies):
        at = normalized_positions(hierarchy)[codes[:, d]]
        at = at - np.average(at, weights=count)
        spread = float(np.sqrt(np.average(at * at, weights=count)))
        points[:, d] = at / spread * weights[d] if spread > 0 else 0.0
    return points


def k_members(problem: Problem, block: I64, k: int, prices: Prices, context: Context) -> I64:
    """Grow clusters one after the other, each seeded far from the last (Byun et al. 2007).

    Parameters
    ----------
    block : int64 array of shape (runs,)
        Clusters stay within these, each of which has k rows.

    Returns
    -------
    int64 array of shape (runs,)
        Cluster of each quasi tuple; the fewer than k rows left over in a block are clusters of
        their own, to be merged.
    """
    found = np.empty(len(block), dtype=np.int64)
    number = 0
    by_block = np.argsort(block, kind="stable")
    for own in np.split(by_block, np.flatnonzero(np.diff(block[by_block])) + 1):
        codes = np.ascontiguousarray(problem.frequency.run_codes[own])
        count = problem.frequency.run_count[own]
        group = np.full(len(own), -1, dtype=np.int64)
        last = 0
        while last >= 0:
            context.report(number / len(block), "Growing clusters")
            if context.out_of_time():  # what is not clustered yet is one more cluster
                group[group < 0] = number
                number += 1
                break
            seed = farthest(prices, codes, group, last)
            if seed < 0:
                break
            last = grow_cluster(prices, codes, count, group, number, seed, k)
            number += last >= 0
        left = np.flatnonzero(group < 0)
        group[left] = number + np.arange(len(left))
        number += len(left)
        found[own] = group
    return found


def average_vectors(points: F64, count: I64, k: int, context: Context) -> I64:
    """Group rows around the points farthest from the average (Domingo-Ferrer and Torra 2005).

    Parameters
    ----------
    points : float64 array of shape (tuples, attributes)
        Standardised, so that attributes weigh alike.
    count : int64 array of shape (tuples,)

    Returns
    -------
    int64 array of shape (tuples,)
        Group of each tuple: k rows, or as many more as its last tuple brings along. Fewer than k
        rows that are left over are groups of their own, to be merged.
    """
    group = np.full(len(count), -1, dtype=np.int64)
    left = np.arange(len(count), dtype=np.int64)
    size, number, rows = len(count), 0, int(count.sum())
    every = max(rows, 1)
    context.check()
    while rows >= 2 * k and not context.out_of_time():  # in time or not, the rest is one group
        if number % 64 == 0:
            context.report(1.0 - (rows / every) ** 2, "Averaging groups")  # passes get shorter
        # 1. The point farthest from the average, and those nearest to it.
        two = rows >= 3 * k
        seed = farthest_from_mean(points, count, left, size)
        size, far, taken = take_nearest(points, count, left, size, seed, k, group, number)
        number += 1
        rows -= taken
        # 2. The point farthest from that one, and those nearest to it.
        if two and rows >= 2 * k:
            size, _, taken = take_nearest(points, count, left, size, far, k, group, number)
            number += 1
            rows -= taken
    # 3. The rest is a group, or is merged with the nearest.
    rest = left[:size]
    group[rest] = number if rows >= k else number + np.arange(size)
    return group


def ordered_runs(problem: Problem, k: int, prices: Prices, context: Context) -> I64:
    """Cut the tuples, in the order of a space-filling curve, into the cheapest runs of k rows.

    The curve interleaves the bits of the columns' normalized positions (Z-order), as a bulk-loaded
    spatial index does (Iwuchukwu and Naughton 2007).

    Returns
    -------
    int64 array of shape (runs,)
    """
    context.report(0.0, "Ordering rows")
    codes = problem.frequency.run_codes
    bits = max(min(62 // codes.shape[1], 10), 1)
    key = np.zeros(len(codes), dtype=np.int64)
    for d, hierarchy in enumerate(problem.quasi_hierarchies):
        place = np.minimum(normalized_positions(hierarchy), 1.0)[codes[:, d]]
        cell = (place * ((1 << bits) - 1)).astype(np.int64)
        for b in range(bits):
            key |= ((cell >> b) & 1) << min(b * codes.shape[1] + codes.shape[1] - 1 - d, 62)
    order = np.argsort(key, kind="stable")
    found = np.empty(len(codes), dtype=np.int64)
    context.report(0.2, "Cutting the order")
    found[order] = cheapest_runs(
        prices, np.ascontiguousarray(codes[order]), problem.frequency.run_count[order], k
    )
    return found


def empty_tree(tuples: int, full: int) -> Tree:
    """Return a spatial index with room for some tuples, and none in it; see `insert`."""
    nodes = 2 * tuples + 1
    return Tree(
        attribute=np.full(nodes, -1, dtype=np.int64),
        cut=np.zeros(nodes, dtype=np.int64),
        child=np.full((nodes, 2), -1, dtype=np.int64),
        head=np.full(nodes, -1, dtype=np.int64),
        rows=np.zeros(nodes, dtype=np.int64),
        again=np.full(nodes, full, dtype=np.int64),
        following=np.full(tuples, -1, dtype=np.int64),
        leaf=np.full(tuples, -1, dtype=np.int64),
    )


def indexed_leaves(problem: Problem, k: int, full: int, prices: Prices, context: Context) -> I64:
    """Insert the tuples, in an order that is drawn, into a spatial index, and cut its leaves.

    Parameters
    ----------
    k : int
        Rows that every leaf and every part of it keeps.
    full : int
        Rows from which on a leaf is split for good; 2k or more.
    context : Context
        When time is up, what is left is inserted and no more is split.

    Returns
    -------
    int64 array of shape (runs,)
        Part of each quasi tuple (Iwuchukwu and Naughton 2007).
    """
    codes, count = problem.frequency.run_codes, problem.frequency.run_count
    order = context.generator.permutation(len(count)).astype(np.int64)
    tuples = Counted(codes, count)
    tree, nodes = empty_tree(len(count), full), 1
    for start in range(0, len(order), _BATCH):
        context.report(start / len(order) / 2, "Inserting rows")
        if context.out_of_time():
            tree.again[:] = problem.rows + 1
        some = order[start : start + _BATCH]
        nodes = insert(prices, tuples, tree, nodes, some, k, full)
    leaves = nodes
    for start in range(0, leaves, _BATCH):
        context.report(0.5 + start / leaves / 2, "Cutting leaves")
        if context.out_of_time():
            break
        nodes = refine(prices, tuples, tree, nodes, start, min(start + _BATCH, leaves), k)
    return np.unique(tree.leaf, return_inverse=True)[1].astype(np.int64)


def seeded_halves(problem: Problem, block: I64, k: int, prices: Prices, context: Context) -> I64:
    """Halve the table between two distant seeds, again and again (Xu et al. 2006, top-down).

    Parameters
    ----------
    block : int64 array of shape (runs,)
        Parts to begin with, each of which has k rows.

    Returns
    -------
    int64 array of shape (runs,)
    """
    codes, count = problem.frequency.run_codes, problem.frequency.run_count
    order = np.argsort(block, kind="stable").astype(np.int64)
    begin = np.flatnonzero(np.diff(block[order], prepend=-1))
    stack = np.empty((len(count) + 1, 2), dtype=np.int64)
    stack[: len(begin), 0] = begin
    stack[: len(begin), 1] = np.append(begin[1:], len(order))
    parts = np.empty((len(count), 2), dtype=np.int64)
    tuples, cuts = Counted(codes, count), Cuts(order, stack, parts)
    depth, found = len(begin), 0
    while depth:
        context.report(found / len(count), "Halving")
        if context.out_of_time():
            found = left_whole(stack, depth, parts, found)
            break
        depth, found = halve(prices, tuples, cuts, depth, found, k, WORK // 10)
    return parts_in_order(parts[:found], order)
