"""Merge groups with their nearest until every group keeps every privacy model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.data.frequency import dense_rank
from anon_core.kernels.best_gain_split import Prices
from anon_core.kernels.boxes_of_groups import nearest_boxes
from anon_core.methods.partition.box_release import hulls_published, published_cells
from anon_core.methods.partition.public_boxes import PublicBoxes, public_boxes
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem

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
) -> Buckets:
    """Merge groups until the classes that they publish keep every privacy model; see `merged`.

    Groups that publish the same cells are one class. Where groups that keep a privacy model may
    break it together, such are made one group, and merging goes on.
    """
    public = public_boxes(problem, models, as_nodes, context, blank_above=blank_above)
    while True:
        groups = merged(problem, models, groups, prices, context, public)
        if all(model.unions_keep() for model in models):
            return groups
        low, high = hulls_published(problem, groups, blank_above)
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
