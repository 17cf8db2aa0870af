"""The parts of a release over two of its quasi-identifiers, for drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.data.frequency import dense_rank
from anon_core.data.values.kinds import KINDS
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: Rectangles and points that a drawing holds at most.
MOST_BOXES = 800
MOST_POINTS = 4_000


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One quasi-identifier as an axis.

    Attributes
    ----------
    numeric : bool
        Whether places are the column's own numbers; else they count leaves in their order.
    places : tuple of float
        Where each leaf is.
    edges : tuple of float
        Where each leaf's cell begins, and where the last one ends; one more than the leaves.
    ticks : tuple of pairs of float and str
        Where a text is, and the text; empty where numbers name themselves.
    """

    column: str
    numeric: bool
    places: tuple[float, ...]
    edges: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, kw_only=True)
class Box:
    """What parts cover on two axes.

    Attributes
    ----------
    across, up : tuple of int
        First and last leaf on each axis.
    parts, rows : int
        Parts that cover exactly this, and their rows.
    """

    across: tuple[int, int]
    up: tuple[int, int]
    parts: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class PartsPicture:
    """Rows and parts over two quasi-identifiers.

    Attributes
    ----------
    boxes : tuple of Box
        Most rows first; at most `MOST_BOXES`.
    all_boxes : int
        How many there are.
    points : tuple of (float, float, int)
        Place on both axes, and rows that are there.
    gathered : bool
        Whether neighbouring values share a point, since there are too many.
    """

    across: Axis
    up: Axis
    boxes: tuple[Box, ...]
    all_boxes: int
    points: tuple[tuple[float, float, int], ...]
    gathered: bool


def parts_picture(
    problem: Problem,
    release: Release,
    across: str,
    up: str,
    *,
    slice_at: Mapping[str, int] | None = None,
) -> PartsPicture:
    """Return the published rows over two quasi-identifiers, and what each part covers there.

    A part is a group as an attacker sees it. It covers what its cells represent; where it
    publishes exact values permuted separately, what lies between its first and last. With
    `slice_at`, a leaf by column, only parts that cover those leaves are drawn, and their rows; else
    all.
    """
    inside = np.ones(len(release.view.group_size), dtype=np.bool_)
    for name, leaf in (slice_at or {}).items():
        low, high = _covered(problem, release, name)
        inside &= (low <= leaf) & (leaf <= high)
    bounds = [
        [corner[inside] for corner in _covered(problem, release, name)] for name in (across, up)
    ]
    sizes = [len(problem.hierarchies[name].leaves) for name in (across, up)]
    rows = release.view.group_size[inside]
    corners = [corner for pair in bounds for corner in pair]
    rank, first = dense_rank(corners, [sizes[0], sizes[0], sizes[1], sizes[1]])
    parts = np.bincount(rank, minlength=len(first))
    total = np.bincount(rank, weights=rows, minlength=len(first)).astype(np.int64)
    order = np.lexsort((np.arange(len(first)), -total))[:MOST_BOXES]
    boxes = tuple(
        Box(across=(a, b), up=(c, d), parts=n, rows=r)
        for a, b, c, d, n, r in zip(
            *(corner[first[order]].tolist() for corner in corners),
            parts[order].tolist(),
            total[order].tolist(),
            strict=True,
        )
    )
    axes = [_axis(problem, name) for name in (across, up)]
    points, gathered = _points(problem, release, axes, inside)
    return PartsPicture(
        across=axes[0],
        up=axes[1],
        boxes=boxes,
        all_boxes=len(first),
        points=points,
        gathered=gathered,
    )


def common_leaves(problem: Problem) -> Mapping[str, int]:
    """Return the leaf with most rows of every quasi-identifier."""
    return {name: int(np.argmax(problem.leaf_rows[name])) for name in problem.quasi}


def _kept(release: Release) -> tuple[npt.NDArray[np.int64], ...]:
    """Return key, class and rows of every entry that is published."""
    grouping = release.grouping
    kept = grouping.member >= 0
    return grouping.key[kept], grouping.member[kept], grouping.count[kept]


def _covered(
    problem: Problem, release: Release, name: str
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return first and last leaf of a column in every part, each of shape (parts,)."""
    key, member, _ = _kept(release)
    if name in release.cells:
        low, high = (ends[member] for ends in release.ends(name))
    else:
        frequency = problem.frequency
        low = high = frequency.codes[key, frequency.columns.index(name)]
    part = release.seen_group[member]
    parts = len(release.view.group_size)
    first = np.full(parts, len(problem.hierarchies[name].leaves) - 1, dtype=np.int32)
    last = np.zeros(parts, dtype=np.int32)
    np.minimum.at(first, part, low)
    np.maximum.at(last, part, high)
    return first, last


def _axis(problem: Problem, name: str) -> Axis:
    hierarchy = problem.hierarchies[name]
    count = len(hierarchy.leaves)
    kind = KINDS[problem.dataset.column(name).kind]
    numeric = hierarchy.measure is not None and kind.measured
    places = np.arange(count, dtype=np.float64)
    if numeric and hierarchy.measure is not None:
        places = hierarchy.measure.astype(np.float64)
        known = places[~np.isnan(places)]
        span = float(known[-1] - known[0]) if len(known) else 1.0
        # The missing value has no number: it is by itself on the right.
        places[np.isnan(places)] = (float(known[-1]) if len(known) else 0.0) + max(span, 1) * 0.08
    middle = (places[1:] + places[:-1]) / 2
    reach = np.diff(places)
    before = float(reach[0]) / 2 if len(reach) else 0.5
    after = float(reach[-1]) / 2 if len(reach) else 0.5
    edges = [float(places[0]) - before, *middle.tolist(), float(places[-1]) + after]
    ticks: tuple[tuple[float, str], ...] = ()
    if not numeric or not kind.amount or hierarchy.has_missing:
        most = 8 if numeric else 24
        shown = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))
        ticks = tuple((float(places[i]), hierarchy.leaves[i]) for i in shown.tolist())
    return Axis(
        column=name,
        numeric=numeric,
        places=tuple(places.tolist()),
        edges=tuple(edges),
        ticks=ticks,
    )


def _points(
    problem: Problem, release: Release, axes: list[Axis], inside: npt.NDArray[np.bool_]
) -> tuple[tuple[tuple[float, float, int], ...], bool]:
    """Return where published rows are; neighbours share a point where there are too many."""
    key, member, count = _kept(release)
    drawn = inside[release.seen_group[member]]
    key, count = key[drawn], count[drawn]
    frequency = problem.frequency
    codes = [frequency.codes[key, frequency.columns.index(axis.column)] for axis in axes]
    sizes = [len(axis.places) for axis in axes]
    places = [np.array(axis.places) for axis in axes]
    rank, first = dense_rank(codes, sizes)
    gathered = len(first) > MOST_POINTS
    if gathered:
        side = int(MOST_POINTS**0.5)
        for d, place in enumerate(places):
            if len(place) <= side:
                continue
            wide = float(place[-1] - place[0]) or 1.0
            cell = np.minimum((place - place[0]) / wide * side, side - 1).astype(np.int32)
            codes[d], sizes[d] = cell[codes[d]], side
            places[d] = place[0] + (np.arange(side) + 0.5) * wide / side
        rank, first = dense_rank(codes, sizes)
    rows = np.bincount(rank, weights=count, minlength=len(first)).astype(np.int64)
    points = zip(
        places[0][codes[0][first]].tolist(),
        places[1][codes[1][first]].tolist(),
        rows.tolist(),
        strict=True,
    )
    return tuple(points), gathered
