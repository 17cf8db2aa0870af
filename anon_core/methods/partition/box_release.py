"""Turn parts of the table into a release: each part publishes its own box, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anon_core.contracts.partitioner import Buckets
from anon_core.data.frequency import dense_rank
from anon_core.kernels.boxes_of_groups import widen_boxes
from anon_core.release.grouping import Grouping
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem
from anon_core.release.release import one_block
from anon_core.release.vocabulary import Vocabulary, of_boxes

#: Columns of which the others are suppressed where the first is, each in one of them at most.
Linked = Sequence[Sequence[str]]


def box_outcome(
    problem: Problem,
    parts: Buckets,
    as_nodes: Sequence[bool],
    *,
    blank_above: Sequence[int] | None = None,
    linked: Linked = (),
) -> Outcome:
    """Publish every part's box.

    Parameters
    ----------
    parts : Buckets
        Every part from 0 on has a key; -1 removes rows.
    as_nodes : sequence of bool
        Per quasi-identifier, whether it publishes nodes of its hierarchy instead of ranges.
    blank_above : sequence of int, optional
        Suppress cells: per quasi-identifier, publish the node at this level, and the top where the
        nodes of a part differ.
    linked : sequence of sequences of str
        Columns of which the others are suppressed where the first is.
    """
    low, high = hulls_published(problem, parts, blank_above, linked)
    return covered_outcome(problem, parts, low, high, as_nodes)


def hulls_published(
    problem: Problem,
    parts: Buckets,
    blank_above: Sequence[int] | None = None,
    linked: Linked = (),
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the hulls of parts, widened to the nodes that cells are suppressed above."""
    low, high = hulls(problem, parts)
    if blank_above is not None:
        for d, (hierarchy, level) in enumerate(
            zip(problem.quasi_hierarchies, blank_above, strict=True)
        ):
            ends, node = hierarchy.bounds(level)[1], hierarchy.node(level)
            one, other = node[low[:, d]], node[high[:, d]]
            last = len(hierarchy.leaves) - 1
            low[:, d] = np.where(one == other, hierarchy.starts[level][one], 0)
            high[:, d] = np.where(one == other, ends[other], last)
    last = [len(hierarchy.leaves) - 1 for hierarchy in problem.quasi_hierarchies]
    for leader, *others in linked:
        d = problem.quasi.index(leader)
        blank = (low[:, d] == 0) & (high[:, d] == last[d]) & (last[d] > 0)
        for own in map(problem.quasi.index, others):
            low[blank, own], high[blank, own] = 0, last[own]
    return low, high


def published_cells(
    problem: Problem,
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    as_nodes: Sequence[bool],
    replaced: Mapping[str, tuple[Vocabulary, npt.NDArray[np.int32]]] | None = None,
) -> tuple[dict[str, Vocabulary], dict[str, npt.NDArray[np.int32]]]:
    """Return what columns publish, and every part's cell; see `covered_outcome`."""
    vocabularies: dict[str, Vocabulary] = {}
    cells: dict[str, npt.NDArray[np.int32]] = {}
    for d, (name, hierarchy) in enumerate(
        zip(problem.quasi, problem.quasi_hierarchies, strict=True)
    ):
        if replaced and name in replaced:
            vocabularies[name], cells[name] = replaced[name]
            continue
        kind = problem.dataset.column(name).kind
        vocabularies[name], cells[name] = of_boxes(
            hierarchy, kind, low[:, d], high[:, d], as_nodes=as_nodes[d]
        )
    return vocabularies, cells


def hulls(problem: Problem, parts: Buckets) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the first and last leaf of every part and column, shape (parts, quasi) each."""
    frequency = problem.frequency
    groups = int(parts.group.max(initial=-1)) + 1
    low = np.full((groups, len(problem.quasi)), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full(low.shape, -1, dtype=np.int32)
    widen_boxes(frequency.run_codes, frequency.run, parts.key, parts.group, low, high)
    return low, high


def covered_outcome(
    problem: Problem,
    parts: Buckets,
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    as_nodes: Sequence[bool],
    *,
    replaced: Mapping[str, tuple[Vocabulary, npt.NDArray[np.int32]]] | None = None,
) -> Outcome:
    """Publish for every part the cells that cover leaves low to high, (parts, quasi) each.

    `replaced` gives the columns that publish something else: vocabulary, and code of each part.
    """
    replaced = replaced or {}
    vocabularies, cells = published_cells(problem, low, high, as_nodes, replaced)
    # Classes are numbered by what they publish, not by the order of the cuts; parts that publish
    # the same are one class.
    rank, first = dense_rank(
        [cells[n] for n in problem.quasi], [len(vocabularies[n].texts) for n in problem.quasi]
    )
    grouping = _grouping(parts, rank, len(first))
    release = one_block(problem, grouping, vocabularies, {n: c[first] for n, c in cells.items()})
    behind: dict[str, npt.NDArray[np.int32]] = {}
    for d, name in enumerate(problem.quasi):
        if name in replaced:
            ends = np.stack([low[first, d], high[first, d]], axis=1)
            np.minimum.at(ends[:, 0], rank, low[:, d])
            np.maximum.at(ends[:, 1], rank, high[:, d])
            behind[name] = ends
    return Outcome(
        release=replace(release, behind=behind) if behind else release,
        account=partition_account(grouping.sizes),
    )


def _grouping(parts: Buckets, rank: npt.NDArray[np.int64], classes: int) -> Grouping:
    """Return the grouping in which part `i` belongs to class `rank[i]`."""
    member = np.append(rank, -1)[parts.group]  # the last represents what is removed
    group = np.arange(classes, dtype=np.int64)
    if np.all(parts.key[1:] > parts.key[:-1]):  # every key is in one part
        return Grouping(key=parts.key, member=member, count=parts.count, group=group)
    pair, entry = np.unique(parts.key * (classes + 1) + member + 1, return_inverse=True)
    return Grouping(
        key=pair // (classes + 1),
        member=pair % (classes + 1) - 1,
        count=np.bincount(entry, weights=parts.count, minlength=len(pair)).astype(np.int64),
        group=group,
    )


def partition_account(sizes: npt.NDArray[np.int64]) -> SearchAccount:
    """Return the account of a partition: how many parts, and how large."""
    return SearchAccount(
        proven=False,
        partition={
            "parts": float(len(sizes)),
            "smallest": float(sizes.min()) if len(sizes) else 0.0,
            "largest": float(sizes.max(initial=0)),
            "mean": float(sizes.mean()) if len(sizes) else 0.0,
        },
    )
