"""Merge groups with their nearest until every group, and its public people, keep every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, I64
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.data.frequency import dense_rank
from anon_core.kernels.best_gain_split import Prices
from anon_core.kernels.boxes_of_groups import nearest_boxes
from anon_core.kernels.overlap import covered, several
from anon_core.methods.partition.box_release import Linked, hulls_published, published_cells
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem

_TUPLES = 2_000  # of the public table, between two looks at the cancel button


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicBoxes:
    """Counts the public people of groups by the cells that `box_outcome` would publish of them.

    Attributes
    ----------
    blank_above : sequence of int or None
    linked : sequence of sequences of str
        As for `box_outcome`.
    """

    problem: Problem
    as_nodes: Sequence[bool]
    blank_above: Sequence[int] | None = None
    linked: Linked = ()
    context: Context

    def counted(self, groups: Buckets, models: Sequence[GroupModel]) -> tuple[I64, B1]:
        """Return the people of every group, and which groups share no one, (groups,) each.

        Who shares is looked at only where a privacy model about the public can be broken by
        merging; else no group is said to share anybody.
        """
        people = self.problem.population
        assert people is not None
        assert people.codes is not None
        assert people.tuple_count is not None
        low, high = hulls_published(self.problem, groups, self.blank_above, self.linked)
        vocabularies, cells = published_cells(self.problem, low, high, self.as_nodes)
        covers = [(people.cover(vocabularies[n]), cells[n]) for n in self.problem.quasi]
        first = np.stack([lo[own] for (lo, _), own in covers], axis=1)
        last = np.stack([hi[own] for (_, hi), own in covers], axis=1)
        count, shared = np.zeros(len(first), np.int64), np.zeros(len(first), np.bool_)
        apart = any(m.scope.public and not m.logic.monotone_merge for m in models)
        for start in range(0, len(people.codes), _TUPLES):
            self.context.check()
            codes = np.ascontiguousarray(people.codes[start : start + _TUPLES])
            covered(first, last, codes, people.tuple_count[start : start + _TUPLES], count)
            if apart:
                several(first, last, codes, shared)
        return count, ~shared


def public_boxes(
    problem: Problem,
    models: Sequence[GroupModel],
    as_nodes: Sequence[bool],
    context: Context,
    *,
    blank_above: Sequence[int] | None = None,
    linked: Linked = (),
) -> PublicBoxes | None:
    """Return what counts the people of groups; None where no privacy model asks for them."""
    people = problem.population
    if not any(m.scope.public for m in models) or people is None or people.codes is None:
        return None
    return PublicBoxes(
        problem=problem,
        as_nodes=as_nodes,
        blank_above=blank_above,
        linked=linked,
        context=context,
    )


def least_size(problem: Problem, models: Sequence[GroupModel]) -> int:
    """Return the size that groups are formed by, where public people are counted afterwards."""
    return max(
        m.least_class(problem.population) if m.scope.public else m.least_size() for m in models
    )


_PAIRS = 20_000_000  # pairs of boxes between two looks at the cancel button


def merged(
    problem: Problem,
    models: Sequence[GroupModel],
    groups: Buckets,
    prices: Prices,
    context: Context,
    public: PublicBoxes | None = None,
) -> Buckets:
    """Merge groups that break a privacy model with the group that pays least for it.

    `public` counts the people of the public table whom groups cover, for privacy models about them.

    Raises
    ------
    Infeasible
        If not even all rows as one group keep the privacy models.
    NotFound
        If merging can break a privacy model, and nothing was found.
    """
    while True:
        count = int(groups.group.max(initial=-1)) + 1
        broken = np.flatnonzero(~keeping(problem, models, groups, public))
        context.report(1.0 - len(broken) / max(count, 1), "Merging groups")
        if not len(broken):
            return groups
        decided = public is None and all(model.decided_by_whole() for model in models)
        if count == 1 and not decided:
            raise NotFound(
                "Not found: groups that break a privacy model were merged with their nearest, "
                "until one group held all rows, and it still breaks the model. Smaller groups "
                "may satisfy it.",
                remedy="Choose the optimal search or Mondrian, or ask for less.",
                best=0.0,
                best_of="classes that keep it",
            )
        if count == 1:
            raise Infeasible(
                "Not even the whole table as one class satisfies every privacy model.",
                remedy="Ask for less, or load more rows.",
                best=0.0,
                best_of="classes that keep it",
            )
        if context.out_of_time() and len(broken) > 1:
            # No time for the nearest of each: all that is broken is one group, merged at most once.
            label = np.arange(count, dtype=np.int64)
            label[broken] = broken[0]
            groups = regrouped(groups, np.unique(label, return_inverse=True)[1].astype(np.int64))
            continue
        low, high, size = boxes_of(problem, groups)
        nearest = np.empty(len(broken), dtype=np.int64)
        step = max(_PAIRS // count, 1)
        for start in range(0, len(broken), step):
            context.check()
            stop = min(start + step, len(broken))
            nearest_boxes(low, high, size, prices, broken, start, stop, nearest)
        joined = np.arange(count, dtype=np.int64)
        joined[broken] = nearest
        # Anyone who points at each other, directly or along a chain, becomes one group.
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        links = csr_array(
            (np.ones(count, dtype=np.int8), (np.arange(count), joined)), shape=(count, count)
        )
        label = connected_components(links, directed=False)[1].astype(np.int64)
        groups = regrouped(groups, label)


def merged_as_published(
    problem: Problem,
    models: Sequence[GroupModel],
    groups: Buckets,
    prices: Prices,
    as_nodes: Sequence[bool],
    context: Context,
    *,
    blank_above: Sequence[int] | None = None,
    linked: Linked = (),
) -> Buckets:
    """Merge groups until the classes that they publish keep every privacy model; see `merged`.

    Groups that publish the same cells are one class. Where groups that keep a privacy model may
    break it together, such are made one group, and merging goes on.
    """
    public = public_boxes(
        problem, models, as_nodes, context, blank_above=blank_above, linked=linked
    )
    while True:
        groups = merged(problem, models, groups, prices, context, public)
        if all(model.unions_keep() for model in models):
            return groups
        low, high = hulls_published(problem, groups, blank_above, linked)
        vocabularies, cells = published_cells(problem, low, high, as_nodes)
        label, first = dense_rank(
            [cells[n] for n in problem.quasi], [len(vocabularies[n].texts) for n in problem.quasi]
        )
        if len(first) == len(label):
            return groups
        groups = regrouped(groups, label)


def group_stats(problem: Problem, models: Sequence[GroupModel], groups: Buckets) -> GroupStats:
    """Return what models look at of groups: sizes, and histograms of the columns they need."""
    frequency = problem.frequency
    count = int(groups.group.max(initial=-1)) + 1
    needed = dict.fromkeys(name for model in models for name in model.needs(problem))
    return GroupStats(
        sizes=np.bincount(groups.group, weights=groups.count, minlength=count).astype(np.int64),
        histograms={
            name: histogram(
                groups.group,
                frequency.codes[groups.key, frequency.columns.index(name)],
                groups.count,
                count,
                len(problem.hierarchies[name].leaves),
                problem.hierarchies[name].missing_leaf,
            )
            for name in needed
        },
    )


def keeping(
    problem: Problem,
    models: Sequence[GroupModel],
    groups: Buckets,
    public: PublicBoxes | None = None,
) -> npt.NDArray[np.bool_]:
    """Return which groups keep every privacy model, shape (groups,)."""
    stats = group_stats(problem, models, groups)
    reference = reference_of(problem)
    kept = np.ones(len(stats.sizes), dtype=np.bool_)
    if public is not None:
        people, kept = public.counted(groups, models)
        stats = replace(stats, population=people)
    for model in models:
        kept &= model.per_group(stats, reference)
    return kept


def boxes_of(
    problem: Problem, groups: Buckets
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return first and last leaf, (groups, quasi) each, and rows (groups,) of every group."""
    codes = problem.frequency.run_codes[problem.frequency.run[groups.key]]
    order = np.argsort(groups.group, kind="stable")
    begin = np.searchsorted(groups.group[order], np.arange(int(groups.group.max()) + 1))
    return (
        np.minimum.reduceat(codes[order], begin, axis=0),
        np.maximum.reduceat(codes[order], begin, axis=0),
        np.add.reduceat(groups.count[order], begin),
    )


def regrouped(groups: Buckets, label: npt.NDArray[np.int64]) -> Buckets:
    """Return groups renamed by `label`, shape (groups,); equal labels become one group."""
    wide = int(label.max(initial=0)) + 1
    pair, entry = np.unique(groups.key * wide + label[groups.group], return_inverse=True)
    return Buckets(
        key=pair // wide,
        group=pair % wide,
        count=np.bincount(entry, weights=groups.count, minlength=len(pair)).astype(np.int64),
    )
