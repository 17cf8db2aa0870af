"""Give a hierarchy the values that only a population table has, as leaves that do not count.

The searches and metrics never see the widened hierarchy: a release and its figures are the same
with and without a population. Attackers who hold the population read published cells by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32
from anon_core.data.hierarchy.model import Hierarchy
from anon_core.data.hierarchy.ranges import read_range
from anon_core.data.table import MISSING
from anon_core.data.values.kinds import ColumnKind

_FIGURE = re.compile(r"\d")


def widened(
    hierarchy: Hierarchy,
    kind: ColumnKind,
    texts: Sequence[str],
    measure: F64 | None = None,
    *,
    missing: bool = False,
) -> tuple[Hierarchy, I32]:
    """Return a hierarchy with further leaves, and where they and its own leaves went.

    Parameters
    ----------
    kind : str
        Kind of the column.
    texts : sequence of str
        Values that are no leaves yet, each once.
    measure : float64 array of shape (texts,), optional
        Their numbers or days, where the hierarchy has a measure.
    missing : bool
        Whether someone of the population misses the value; that leaf stays last, under the root.

    Returns
    -------
    wide : Hierarchy
        With the new leaves not `counted`, so that |A| and the leaves of every node are as before.
    place : int32 array of shape (leaves + texts,)
        Number in `wide` of every leaf of `hierarchy`, then of every new text.

    Notes
    -----
    A number or date is in the order by its value. On each level it lies in a group whose
    leaves lie on both sides of it, or whose label states a range that holds it (``20-29`` holds 21
    whether or not the table has a 21). A label counts as a range only if it holds all leaves of its
    group and no other. What lies in the gap between two groups, in neither's range or in both,
    belongs to no named group: it is a group of its own up to the level on which one group holds
    both neighbours.

    A category that the hierarchy does not know hangs directly under the root. A hierarchy names the
    members of its groups one by one, so a value it does not list is in none of them, whatever its
    label sounds like; only the root, which says nothing, covers it. This also is what verification
    reads, and it can't make a release look safer: fewer people fit a cell.
    """
    if hierarchy.measure is None:
        groups, own = _categories(hierarchy, len(texts))
    else:
        assert measure is not None
        groups, own = _measured(hierarchy, kind, measure)
    names = np.array([*hierarchy.leaves, *texts], dtype=object)
    add_missing = missing and not hierarchy.has_missing
    order = np.argsort(own, kind="stable")
    if hierarchy.has_missing:  # it stays last
        last = len(hierarchy.leaves) - 1
        order = np.append(order[order != last], last)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    leaves = [str(t) for t in names[order]] + ([MISSING] if add_missing else [])
    counted = np.concatenate([hierarchy.counted, np.zeros(len(texts), dtype=np.bool_)])[order]
    starts: list[I32] = []
    labels: list[tuple[str, ...]] = []
    for level, group in enumerate(groups):
        ordered = group[order]
        begin = np.flatnonzero(np.diff(ordered, prepend=-1) != 0)
        known = hierarchy.labels[level]
        label = [
            known[g] if g < len(known) else leaves[i]
            for g, i in zip(ordered[begin].tolist(), begin.tolist(), strict=True)
        ]
        if add_missing and level < hierarchy.height:
            begin = np.append(begin, len(order))
            label.append(MISSING)
        starts.append(begin.astype(np.int32))
        labels.append(tuple(label))
    wide_measure = None
    if hierarchy.measure is not None:
        assert measure is not None
        wide_measure = np.concatenate([hierarchy.measure, measure])[order]
        if add_missing:
            wide_measure = np.append(wide_measure, np.nan)
    wide = replace(
        hierarchy,
        leaves=tuple(leaves),
        measure=wide_measure,
        starts=tuple(starts),
        labels=tuple(labels),
        counted=np.append(counted, np.zeros(int(add_missing), dtype=np.bool_)),
        has_missing=hierarchy.has_missing or missing,
    )
    return wide, place


def beyond_root(hierarchy: Hierarchy, kind: ColumnKind, measure: F64) -> npt.NDArray[np.bool_]:
    """Say which values even the root does not hold: it may be labelled with a range, too.

    No cell of the column can cover such a value.
    """
    low, high, stated = _ranges(hierarchy, kind, hierarchy.height)
    return stated[0] & ((measure < low[0]) | (measure > high[0]))


def unclear_places(hierarchy: Hierarchy, kind: ColumnKind, measure: F64) -> npt.NDArray[np.bool_]:
    """Say of which values no one can tell on which side of a group they are, shape (values,).

    They are values that the hierarchy does not list, next to a group of several values whose label
    has a figure but states no range that can be read, such as ``about 20``.
    """
    found = np.zeros(len(measure), dtype=np.bool_)
    if hierarchy.measure is None or not len(measure):
        return found
    real = len(hierarchy.leaves) - int(hierarchy.has_missing)
    known = hierarchy.measure[:real]
    after = np.searchsorted(known, measure)
    groups, _ = _measured(hierarchy, kind, measure)
    placed = np.zeros(len(measure), dtype=np.bool_)  # in a group of a level below
    for level in range(1, hierarchy.height):
        node = hierarchy.node(level)
        first, last = hierarchy.bounds(level)
        several = last > first
        vague = np.array(
            [
                bool(wide and _FIGURE.search(label) and read_range(label, kind) is None)
                for wide, label in zip(several.tolist(), hierarchy.labels[level], strict=True)
            ]
        )
        left, right = node[np.maximum(after - 1, 0)], node[np.minimum(after, real - 1)]
        has_left, has_right = after > 0, after < real
        inside = has_left & has_right & (left == right)
        found |= ~placed & ~inside & ((has_left & vague[left]) | (has_right & vague[right]))
        placed |= groups[level][len(hierarchy.leaves) :] < len(hierarchy.labels[level])
    return found


def _categories(hierarchy: Hierarchy, new: int) -> tuple[list[npt.NDArray[np.int64]], F64]:
    """Return per level the group of every leaf, old and new, and the leaves' sort keys."""
    old = len(hierarchy.leaves)
    groups = [
        np.concatenate([hierarchy.node(level), len(hierarchy.labels[level]) + np.arange(new)])
        for level in range(hierarchy.height)
    ]
    groups.append(np.zeros(old + new, dtype=np.int64))
    return [g.astype(np.int64) for g in groups], np.arange(old + new, dtype=np.float64)


def _measured(
    hierarchy: Hierarchy, kind: ColumnKind, measure: F64
) -> tuple[list[npt.NDArray[np.int64]], F64]:
    """Return per level the group of every leaf, old and new, and the leaves' sort keys."""
    assert hierarchy.measure is not None
    old = len(hierarchy.leaves)
    known = hierarchy.measure[: old - int(hierarchy.has_missing)]
    after = np.searchsorted(known, measure)  # the first leaf beyond the value
    own = np.arange(len(measure), dtype=np.int64)
    groups: list[npt.NDArray[np.int64]] = []
    inside = np.full(len(measure), -1, dtype=np.int64)  # leaf of a group that holds the value
    for level in range(hierarchy.height):
        node = hierarchy.node(level).astype(np.int64)
        left, right = np.full(len(own), -1, dtype=np.int64), np.full(len(own), -2, dtype=np.int64)
        left[after > 0] = node[after[after > 0] - 1]
        right[after < len(known)] = node[after[after < len(known)]]
        low, high, _ = _ranges(hierarchy, kind, level)
        in_left = (left >= 0) & (measure <= high[np.maximum(left, 0)])
        in_right = (right >= 0) & (measure >= low[np.maximum(right, 0)])
        found = np.where(in_left & ~in_right, left, np.where(in_right & ~in_left, right, -1))
        found = np.where(left == right, left, found)
        # Once in a group, it is in every group above.
        found = np.where(inside >= 0, node[inside], found)
        first = hierarchy.starts[level].astype(np.int64)
        inside = np.where(found >= 0, first[found], -1)
        groups.append(
            np.concatenate([node, np.where(found >= 0, found, len(hierarchy.labels[level]) + own)])
        )
    groups.append(np.zeros(old + len(measure), dtype=np.int64))
    return groups, np.concatenate([hierarchy.measure, measure])


def _ranges(
    hierarchy: Hierarchy, kind: ColumnKind, level: int
) -> tuple[F64, F64, npt.NDArray[np.bool_]]:
    """Return the least and greatest value of every group of a level, and if its label states them.

    Where the label does not, they are those of the group's leaves.
    """
    assert hierarchy.measure is not None
    real = len(hierarchy.leaves) - int(hierarchy.has_missing)
    first, last = hierarchy.bounds(level)
    low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    stated = np.zeros(len(first), dtype=np.bool_)
    around = np.concatenate([[-np.inf], hierarchy.measure[:real], [np.inf]])
    for g, (a, b) in enumerate(
        zip(first.tolist(), np.minimum(last, real - 1).tolist(), strict=True)
    ):
        if a > b:  # the missing value
            continue
        low[g], high[g] = around[a + 1], around[b + 1]
        said = read_range(hierarchy.labels[level][g], kind) if level else None
        if said is None or said[0] > low[g] or said[1] < high[g]:
            continue
        if (a == 0 or around[a] < said[0]) and (b + 1 == real or said[1] < around[b + 2]):
            (low[g], high[g]), stated[g] = said, True
    return low, high, stated
