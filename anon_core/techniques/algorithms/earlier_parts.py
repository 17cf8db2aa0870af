"""The parts of an earlier release are taken over: nothing is searched, each row finds its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.params import choice, number
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, run_buckets
from anon_core.contracts.search_cost import CellCost, saving
from anon_core.methods.lattice.nodes import rows_allowed
from anon_core.methods.matching.composition import Classes
from anon_core.methods.matching.cut_tree import CutTree, cuts_between, hull
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.merging import keeping, merged_as_published
from anon_core.methods.partition.mondrian_cuts import cut_by_tree, refuse_whole
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class EarlierParts(Algorithm):
    """Carry out a partition that was decided on an earlier table (LeFevre et al. 2006).

    1. Find cuts that separate the parts of the earlier release; where parts overlap, a row goes
       into the first that covers it.
    2. From the whole table on, make a cut where rows on both sides keep the privacy models; else
       what it would have separated is one part. Or make all of them, and remove the parts that do
       not keep the privacy models, if they are within the budget.
    3. Each part publishes the range of its rows of today. Nothing is searched.
    """

    name: ClassVar[str] = "earlier-parts"
    title: ClassVar[str] = "Parts of an earlier release"
    summary: ClassVar[str] = (
        "Cuts the table where an earlier release was cut, without a search. Joins parts that "
        "became too small with neighbours, or removes them within the budget. Without an earlier "
        "release, the whole table is one part."
    )
    offer: ClassVar[Offer] = Offer(
        when="When a partition was decided on last month's table and is to be carried out on this "
        "one."
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True)
    needs: ClassVar[Needs] = Needs(earlier_parts=True, from_counts=True)
    formula: ClassVar[str] = "a cut of the earlier release is made ⇔ both sides satisfy the models"
    source: ClassVar[str] = "LeFevre et al. 2006, doi 10.1109/ICDE.2006.101"

    small: str = choice(
        default="join",
        options={
            "join": "joined with their neighbours",
            "remove": "removed, within what may be removed",
        },
        help="What to do with parts that no longer satisfy the privacy models. If nothing may be "
        "removed, such parts end the run.",
        label="Parts that became too small",
    )
    output: str = choice(
        default="mixed",
        options={
            "mixed": "Ranges of numbers, groups of the hierarchy else",
            "node": "Groups of the hierarchy",
            "set": "Ranges of numbers, sets of values else",
        },
        help="What a part publishes, as in the earlier release.",
        label="Cells",
    )
    metric: CellCost = saving(help="What parts that overlap save when they are joined.")
    max_suppression: float = number(
        default=0.0,
        low=0.0,
        high=1.0,
        help="Largest share of rows that may be removed: those of parts that break a "
        "privacy model, and those that none of several overlapping parts covers.",
        label="Rows that may be removed",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Take the parts over; see `Algorithm.run`.

        Raises
        ------
        Infeasible, NotFound
            If not even the whole table keeps the privacy models, or more rows would have to go than
            the budget allows.
        BadPlan
            If rows may be removed, and small parts are joined.
        """
        if self.small == "join" and self.max_suppression:
            raise BadPlan(
                f"{self.name}: small parts are joined, so no row is removed; max_suppression is "
                f"{self.max_suppression:g}.",
                remedy="Set small to 'remove', or max_suppression to 0.",
            )
        context.report(0.0, "Cutting where the earlier release was cut")
        nodes = [
            self.output == "node" or (self.output == "mixed" and cut_by_tree(problem, h))
            for h in problem.quasi_hierarchies
        ]
        tree, parts = earlier_cuts(problem)
        if self.small == "remove":
            node = tree.last(problem.frequency.run_codes, context)
            part = self._kept(problem, models, *placed(problem, tree, node, parts, context))
            return box_outcome(problem, run_buckets(problem, part), nodes)
        refuse_whole(problem, models)
        by_rows = [model for model in models if not model.scope.public]
        node = cut_while_kept(problem, by_rows, tree, context)
        part, outside = placed(problem, tree, node, parts, context)
        # Where parts overlap, a row that none covers begins as a part of its own.
        part[outside] = int(part.max(initial=0)) + 1 + np.arange(np.count_nonzero(outside))
        number = np.unique(part, return_inverse=True)[1].astype(np.int64)
        prices = cell_prices(problem, self.metric, nodes, np.ones(len(nodes)))
        groups = merged_as_published(
            problem, models, run_buckets(problem, number), prices, nodes, context
        )
        return box_outcome(problem, groups, nodes)

    def _kept(self, problem: Problem, models: Sequence[GroupModel], part: I64, outside: B1) -> I64:
        """Return the number of each quasi tuple's part, -1 where it is removed; shape (runs,)."""
        rows = problem.frequency.run_count
        number = np.unique(part, return_inverse=True)[1].astype(np.int64)
        good = keeping(problem, models, run_buckets(problem, number))
        lost = outside | ~good[number]
        allowed, gone = rows_allowed(problem, self.max_suppression), int(rows[lost].sum())
        if gone > allowed or lost.all():
            if not allowed:
                refuse_whole(problem, models)
            apart = int(rows[outside].sum())
            uncovered = f" and {apart:,} that no part covers" if apart else ""
            raise Infeasible(
                f"{gone:,} of {problem.rows:,} rows would have to go: {gone - apart:,} of parts of "
                f"the earlier release that no longer satisfy the privacy models{uncovered}. At "
                f"most {allowed:,} may.",
                remedy="Join such parts (small = 'join'), search for new parts, or allow more "
                "rows to be removed.",
                best=gone / max(problem.rows, 1),
                best_of="share of rows removed",
            )
        left = np.where(lost, -1, number)
        left[~lost] = np.unique(number[~lost], return_inverse=True)[1]
        return left


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
