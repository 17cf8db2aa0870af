"""Where the parts of an earlier release were cut, and where rows of today fall by these cuts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.methods.matching.composition import Classes
from anon_core.methods.matching.cut_tree import CutTree, cuts_between, hull
from anon_core.methods.partition.merging import keeping
from anon_core.release.problem import Problem


def earlier_cuts(problem: Problem) -> tuple[CutTree, Classes]:
    """Return cuts between the parts of the earlier release, and the parts that rows may fit.

    Raises
    ------
    Infeasible
        If no part of it can have a row of today.
    """
    earlier = problem.earlier
    if earlier is None:
        nothing = np.empty((0, len(problem.quasi)), dtype=np.int64)
        return cuts_between(nothing, nothing, nothing[:, 0]), _covering((), (), nothing[:, :0])
    low = np.zeros((len(earlier.size), len(problem.quasi)), dtype=np.int64)
    high = low.copy()
    there = np.ones(len(earlier.size), dtype=np.bool_)
    for d, (name, hierarchy) in enumerate(
        zip(problem.quasi, problem.quasi_hierarchies, strict=True)
    ):
        high[:, d] = len(hierarchy.leaves) - 1
        if name in earlier.columns:
            cover, cell = earlier.cover[name], earlier.cells[:, earlier.columns.index(name)]
            first, last, any_ = hull(cover)
            low[:, d], high[:, d] = first[cell], last[cell]
            there &= any_[cell]
    if not there.any():
        raise Infeasible(
            "No part of the earlier release has a value of today in each of its columns: it is of "
            "another table, or its columns changed places.",
            remedy="Give the release that the parts were decided on, or search for new parts.",
            best=0.0,
            best_of="rows in a part",
        )
    # A part of which today has no value separates nothing.
    parts = _covering(
        tuple(problem.quasi.index(name) for name in earlier.columns),
        [earlier.cover[name] for name in earlier.columns],
        earlier.cells[there],
    )
    return cuts_between(low[there], high[there], earlier.size[there]), parts


def _covering(places: tuple[int, ...], cover: Sequence[B1], cells: I32 | I64) -> Classes:
    nothing = np.empty(0, dtype=np.int64)
    return Classes(
        places=places,
        cover=cover,
        cells=cells.astype(np.int32),
        pool=np.arange(len(cells)),
        rows=np.ones(len(cells), dtype=np.int64),
        entry=nothing,
        value=nothing.astype(np.int32),
        count=nothing,
    )


def placed(
    problem: Problem, tree: CutTree, node: I64, parts: Classes, context: Context
) -> tuple[I64, B1]:
    """Take nodes in which parts overlap to pieces: each row into the first part that covers it.

    Parameters
    ----------
    node : int64 array of shape (runs,)
        The node of each quasi tuple.

    Returns
    -------
    part : int64 array of shape (runs,)
        Numbers of nodes, or beyond them where parts overlap.
    outside : bool array of shape (runs,)
        Which tuples of such a node no part covers.
    """
    codes = problem.frequency.run_codes
    boxes = np.bincount(tree.node, minlength=len(tree.column))
    several = np.flatnonzero((boxes > 1) & (tree.column < 0))
    part, outside = node.copy(), np.zeros(len(node), dtype=np.bool_)
    for own in several.tolist():
        at, inside = np.flatnonzero(node == own), np.flatnonzero(tree.node == own)
        few = _covering(parts.places, parts.cover, parts.cells[inside])
        found = np.full(len(at), len(inside), dtype=np.int64)
        for who, which in few.fitting(codes[at], context):
            np.minimum.at(found, who, which)
        outside[at] = found == len(inside)
        part[at] = np.where(outside[at], own, len(tree.column) + np.append(inside, 0)[found])
    return part, outside


def cut_while_kept(
    problem: Problem, models: Sequence[GroupModel], tree: CutTree, context: Context
) -> I64:
    """Return the node of each quasi tuple where cuts are made with models kept on both sides.

    Shape (runs,). The whole table is not asked.
    """
    codes = problem.frequency.run_codes
    node = np.zeros(len(codes), dtype=np.int64)
    going = np.ones(len(codes), dtype=np.bool_)
    while going.any():
        context.check()
        own = node[going]
        below = tree.below(own, codes[going])
        made = (below != own) & _good(problem, models, going, own, below)
        node[going] = np.where(made, below, own)
        going[going] = made
    return node


def _good(problem: Problem, models: Sequence[GroupModel], some: B1, node: I64, below: I64) -> B1:
    """Say of some tuples whether all parts that their node falls into keep the privacy models."""
    frequency = problem.frequency
    number = np.unique(below, return_inverse=True)[1]
    of_run = np.full(len(some), -1, dtype=np.int64)
    of_run[some] = number
    group = of_run[frequency.run]
    key = np.flatnonzero(group >= 0)
    groups = Buckets(key=key, group=group[key], count=frequency.count[key])
    bad = ~keeping(problem, models, groups)[number]
    return ~np.isin(node, node[bad])
