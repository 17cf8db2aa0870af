"""Who can stand behind what: matching published rows to different rows of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import AnonError
from anon_core.verification.rows.tables import PrivateTable, joined, stretched
from anon_core.verification.text.texts import Codes, Runs

#: Work beyond these is given up, and what was to be decided counts as not decided.
MOST_PAIRS = 20_000_000
MOST_EDGES = 10_000_000

Short = npt.NDArray[np.int32]

#: Beyond this many edges, some at every end are tried first: if they meet all demand, so do all.
THINNED_FROM = 1_000_000
_AT_EVERY_END = 6
_BRUTE = 1 << 15
_SAMPLE = 512


class TooLarge(AnonError):
    """The question is too large to be decided here."""


def _too_large() -> TooLarge:
    what = "There are too many rows and overlapping classes to match them."
    return TooLarge(what, remedy="Publish classes that overlap less, or fewer rows at a time.")


@dataclass(frozen=True, kw_only=True, eq=False)
class TextRuns:
    """The covers of one column's texts as arrays.

    Attributes
    ----------
    low, high : int64 arrays of shape (texts,)
        First and last code covered; 1 and 0 where a text covers nothing.
    edges : int64 array
        Sorted; a code lies in a text's runs where an odd number of the text's edges are not
        above it.
    first_edge : int64 array of shape (texts,)
    span : int
        Distance between the edges of one text and the next.
    plain : bool
        Whether every text is one run, so that `low` and `high` say all.
    """

    low: Codes
    high: Codes
    edges: Codes
    first_edge: Codes
    span: int
    plain: bool

    def covers(self, texts: Codes, codes: Codes) -> npt.NDArray[np.bool_]:
        """Return whether each text covers the code next to it."""
        inside = (self.low[texts] <= codes) & (codes <= self.high[texts])
        if self.plain:
            return inside
        place = np.searchsorted(self.edges, texts * self.span + codes, side="right")
        return inside & ((place - self.first_edge[texts]) % 2 == 1)


def text_runs(runs: Sequence[Runs], size: int) -> TextRuns:
    """Return covers as arrays; codes are below `size`."""
    span = size + 2
    ends = [i * span + end for i, own in enumerate(runs) for a, b in own for end in (a, b + 1)]
    counts = np.array([2 * len(own) for own in runs], dtype=np.int64)
    return TextRuns(
        low=np.array([own[0][0] if own else 1 for own in runs], dtype=np.int64),
        high=np.array([own[-1][1] if own else 0 for own in runs], dtype=np.int64),
        edges=np.array(ends, dtype=np.int64),
        first_edge=np.cumsum(counts) - counts,
        span=span,
        plain=bool((counts <= 2).all()),
    )


def sole_text(runs: Sequence[Runs], size: int) -> Codes | None:
    """Return which text covers each code, -1 where none does; None where two texts share a code.

    Where no two texts of any column share a code, a point lies in one class at most, and who can
    stand behind what is a comparison of counts.

    Parameters
    ----------
    size : int
        Codes are below it.
    """
    text = np.repeat(np.arange(len(runs)), [len(own) for own in runs])
    ends = np.array([end for own in runs for end in own], dtype=np.int64).reshape(-1, 2)
    length = ends[:, 1] - ends[:, 0] + 1
    if int(length.sum()) > size:
        return None
    run, covered = stretched(ends[:, 0], length)
    if np.bincount(covered, minlength=size).max(initial=0) > 1:
        return None
    owner = np.full(size, -1, dtype=np.int64)
    owner[covered] = text[run]
    return owner


def beyond(own: Codes, room: Codes, shown: Codes, count: Codes) -> Codes:
    """Return how many rows of each line are more than there are of their kind, shape (lines,).

    Of equal rows the last ones count as those too many.

    Parameters
    ----------
    own, room : int64 arrays of shape (lines of the table,)
    shown, count : int64 arrays of shape (lines,)
        What lines of the table and published ones are, as codes of one numbering, and how many
        rows each has.
    """
    size = int(max(own.max(initial=-1), shown.max(initial=-1))) + 1
    offered = np.bincount(own, weights=room, minlength=size)
    asked = np.bincount(shown, weights=count, minlength=size)
    if np.all(asked <= offered):
        return np.zeros(len(shown), dtype=np.int64)
    return _last(shown, count, offered.astype(np.int64))


def _last(kind: Codes, count: Codes, room: Codes) -> Codes:
    """Return how many rows of each line are left when the first of each kind fill its room."""
    order = np.argsort(kind, kind="stable")
    seen = np.cumsum(count[order])
    begin = np.flatnonzero(np.diff(kind[order], prepend=-1))
    before = np.repeat(seen[begin] - count[order][begin], np.diff(begin, append=len(order)))
    left = np.empty(len(kind), dtype=np.int64)
    left[order] = np.clip(seen - before - room[kind[order]], 0, count[order])
    return left


def covering_pairs(
    points: Codes | Short, boxes: Codes, columns: Sequence[TextRuns]
) -> tuple[Codes, Codes]:
    """Return every pair of a point and a box that covers it.

    Both sets are halved along one column after the other, whichever separates best, until few
    enough are left to compare all with all.

    Parameters
    ----------
    points : array of integers, shape (points, columns)
        Distinct codes of the table.
    boxes : int64 array of shape (boxes, columns)
        Published texts.

    Raises
    ------
    TooLarge
        If there are more than `MOST_PAIRS` pairs, or ten times as many to look at.
    """
    # Codes are numbers of texts, so 32 bits hold them; most of the time goes into comparing them.
    low = [column.low[boxes[:, d]].astype(np.int32) for d, column in enumerate(columns)]
    high = [column.high[boxes[:, d]].astype(np.int32) for d, column in enumerate(columns)]
    by_column = [points[:, d].astype(np.int32) for d in range(len(columns))]
    found: list[tuple[Codes, Codes]] = []
    work = [(np.arange(len(points)), np.arange(len(boxes)))]
    looked_at = 0
    while work:
        some, near = work.pop()
        if not len(some) or not len(near):
            continue
        size = len(some) * len(near)
        cut = _best_cut(some, near, by_column, low, high) if size > _BRUTE else None
        if cut is not None:
            d, at = cut
            left = by_column[d][some] <= at
            work.append((some[left], near[low[d][near] <= at]))
            work.append((some[~left], near[high[d][near] > at]))
            continue
        looked_at += size
        if looked_at > MOST_PAIRS * 10:
            raise _too_large()
        inside = np.ones((len(some), len(near)), dtype=np.bool_)
        for d, codes in enumerate(by_column):
            own = codes[some][:, None]
            inside &= low[d][near] <= own
            inside &= own <= high[d][near]
        nth, other = np.nonzero(inside)
        point, box = some[nth], near[other]
        for d, column in enumerate(columns):
            if not column.plain:
                covered = column.covers(boxes[box, d], points[point, d].astype(np.int64))
                point, box = point[covered], box[covered]
        found.append((point, box))
    if sum(len(point) for point, _ in found) > MOST_PAIRS:
        raise _too_large()
    empty = np.empty(0, dtype=np.int64)
    pairs = [np.concatenate([empty, *(pair[side] for pair in found)]) for side in (0, 1)]
    return pairs[0], pairs[1]


def covering(
    names: Sequence[str], runs: Sequence[Sequence[Runs]], table: PrivateTable, boxes: Codes
) -> tuple[Codes, Codes, tuple[Codes, Codes]]:
    """Match the table's lines and published classes by some columns.

    Parameters
    ----------
    runs : sequence of sequences of Runs
        By column, the codes that each published text covers.
    boxes : int64 array of shape (classes, columns)

    Returns
    -------
    point : int64 array of shape (lines of the table,)
        What each line is in these columns.
    first : int64 array of shape (points,)
        The first line of each.
    pairs : tuple of int64 arrays
        See `covering_pairs`, which says what it raises.
    """
    coded = [table.codes(name) for name in names]
    point, first = joined(coded, len(table))
    points = np.stack([codes[first] for codes in coded], axis=1)
    sizes = [table.columns[name].missing + 1 for name in names]
    columns = [text_runs(own, size) for own, size in zip(runs, sizes, strict=True)]
    return point, first, covering_pairs(points, boxes, columns)


def _best_cut(
    some: Codes, near: Codes, points: Sequence[Short], low: Sequence[Short], high: Sequence[Short]
) -> tuple[int, int] | None:
    """Return the column and code after which to halve, or None where no cut is worth it."""
    few_points = some[:: max(1, len(some) // _SAMPLE)]
    few_boxes = near[:: max(1, len(near) // _SAMPLE)]
    best: tuple[int, int] | None = None
    least = 0.9
    for d, codes in enumerate(points):
        seen = np.sort(codes[few_points])
        at = int(seen[len(seen) // 2])
        if at == seen[-1]:
            at = int(seen[max(0, int(np.searchsorted(seen, at)) - 1)])
        if at == seen[-1]:
            continue
        share = int(seen.searchsorted(at, side="right")) / len(seen)
        kept = share * np.count_nonzero(low[d][few_boxes] <= at) / len(few_boxes)
        kept += (1 - share) * np.count_nonzero(high[d][few_boxes] > at) / len(few_boxes)
        if kept < least:
            least, best = kept, (d, at)
    return best


def unmet(supply: Codes, demand: Codes, giver: Codes, taker: Codes) -> Codes:
    """Return how much of each demand stays open when as much as possible is met.

    Parameters
    ----------
    supply : int64 array of shape (givers,)
    demand : int64 array of shape (takers,)
    giver, taker : int64 arrays of shape (edges,)
        Who can give to whom.

    Returns
    -------
    int64 array of shape (takers,)

    Raises
    ------
    TooLarge
        If more than `MOST_EDGES` edges are left for the flow.
    """
    left, open_ = supply.copy(), demand.copy()
    while True:
        alive = (left[giver] > 0) & (open_[taker] > 0)
        giver, taker = giver[alive], taker[alive]
        sole = np.bincount(giver, minlength=len(left))[giver] == 1
        if not sole.any():
            break
        # Anyone who can give to one only gives all of it there; no better use is lost.
        offered = np.bincount(taker[sole], weights=left[giver[sole]], minlength=len(open_))
        open_ = np.maximum(open_ - offered.astype(np.int64), 0)
        left[giver[sole]] = 0
    return open_ if not len(giver) else open_ - _flow(left, open_, giver, taker)


def _flow(supply: Codes, demand: Codes, giver: Codes, taker: Codes) -> Codes:
    """Return how much of each demand can be met at most; `TooLarge` as for `unmet`."""
    if len(giver) > THINNED_FROM:
        some = _thinned(giver, taker)
        met = _most_met(supply, demand, giver[some], taker[some])
        if np.array_equal(met, demand):
            return met
    if len(giver) > MOST_EDGES:
        raise _too_large()
    return _most_met(supply, demand, giver, taker)


def _thinned(giver: Codes, taker: Codes) -> npt.NDArray[np.bool_]:
    """Return which edges to try first: a few of each giver and of each taker, shape (edges,).

    Drawn at random, a handful is enough for almost every matching that there is; always the same
    are drawn.
    """
    drawn = np.random.default_rng(0).permutation(len(giver))
    some = np.zeros(len(giver), dtype=np.bool_)
    for ends in (giver, taker):
        order = drawn[np.argsort(ends[drawn], kind="stable")]
        first = np.flatnonzero(np.diff(ends[order], prepend=-1))
        sizes = np.diff(first, append=len(order))
        some[order[np.arange(len(order)) - np.repeat(first, sizes) < _AT_EVERY_END]] = True
    return some


def _most_met(supply: Codes, demand: Codes, giver: Codes, taker: Codes) -> Codes:
    """Return how much of each demand a greatest flow along these edges meets."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    givers, from_ = np.unique(giver, return_inverse=True)
    takers, to = np.unique(taker, return_inverse=True)
    source, sink = len(givers) + len(takers), len(givers) + len(takers) + 1
    to = to + len(givers)
    first, last = np.arange(len(givers)), len(givers) + np.arange(len(takers))
    tail = np.concatenate([np.full(len(givers), source), from_, last])
    head = np.concatenate([first, to, np.full(len(takers), sink)])
    between = np.minimum(supply[giver], demand[taker])
    room = np.concatenate([supply[givers], between, demand[takers]])
    graph = csr_array((room.astype(np.int32), (tail, head)), shape=(sink + 1, sink + 1))
    into_sink = maximum_flow(graph, source, sink).flow[:, [sink]].toarray()[:, 0]
    met = np.zeros(len(demand), dtype=np.int64)
    met[takers] = into_sink[len(givers) : source]
    return met


def without_partner(
    point: Codes,
    payload: Codes,
    rows: Codes,
    classes: Codes,
    shown: Codes,
    count: Codes,
    near_point: Codes,
    near_box: Codes,
) -> Codes:
    """Return for how many rows of each line no row of the table of their own is left.

    Parameters
    ----------
    point, payload, rows : int64 arrays of shape (lines of the table,)
        What is coarsened and what is published exactly, as codes, and how many rows show it.
    classes, shown, count : int64 arrays of shape (lines,)
        The class that covers points, what the line shows exactly, as codes like `payload`, and how
        many rows it has.
    near_point, near_box : int64 arrays of shape (pairs,)
        Which points lie in which classes, see `covering_pairs`.

    Returns
    -------
    int64 array of shape (lines,)

    Raises
    ------
    TooLarge
        If it can't be decided.
    """
    points = int(point.max(initial=-1)) + 1
    order = np.argsort(near_point, kind="stable")
    near_box = near_box[order]
    start = np.searchsorted(near_point[order], np.arange(points + 1))
    # Givers are the table's distinct (point, payload), takers the release's (class, payload).
    giver_of, giver_first = joined([point, payload], len(point))
    taker_of, taker_first = joined([classes, shown], len(classes))
    wide = int(max(payload.max(initial=0), shown.max(initial=0))) + 1
    wanted = classes[taker_first] * wide + shown[taker_first]
    ranked = np.argsort(wanted)
    giver_point = point[giver_first]
    degree = start[giver_point + 1] - start[giver_point]
    if degree.sum() > 2 * MOST_PAIRS:
        raise _too_large()
    giver, at = stretched(start[giver_point], degree)
    asked = near_box[at] * wide + payload[giver_first][giver]
    place = np.searchsorted(wanted[ranked], asked)
    place[place == len(ranked)] = 0
    meets = wanted[ranked][place] == asked if len(ranked) else np.zeros(len(giver), dtype=np.bool_)
    taker = ranked[place[meets]]
    demand = np.bincount(taker_of, weights=count, minlength=len(taker_first)).astype(np.int64)
    supply = np.bincount(giver_of, weights=rows, minlength=len(giver_first)).astype(np.int64)
    # Of equal rows the last ones count as those without a partner.
    return _last(taker_of, count, demand - unmet(supply, demand, giver[meets], taker))
