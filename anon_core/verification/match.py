"""Who can stand behind what: matching published rows to different rows of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import AnonError
from .tables import joined
from .texts import Codes, Runs

#: Work beyond these is given up, and what was to be decided counts as not decided.
MOST_PAIRS = 20_000_000
MOST_EDGES = 10_000_000

Short = npt.NDArray[np.int32]

_BRUTE = 1 << 15
_SAMPLE = 512


class TooLarge(AnonError):
    """The question is too large to be decided here."""


def _too_large() -> TooLarge:
    return TooLarge(
        "There are too many rows and overlapping classes to match them.",
        remedy="Publish classes that overlap less, or fewer rows at a time.",
    )


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
        """Return whether each text covers the code beside it."""
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
    runs : sequence of Runs
    size : int
        Codes are below it.
    """
    text = np.repeat(np.arange(len(runs)), [len(own) for own in runs])
    ends = np.array([end for own in runs for end in own], dtype=np.int64).reshape(-1, 2)
    length = ends[:, 1] - ends[:, 0] + 1
    if int(length.sum()) > size:
        return None
    within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    covered = np.repeat(ends[:, 0], length) + within
    if np.bincount(covered, minlength=size).max(initial=0) > 1:
        return None
    owner = np.full(size, -1, dtype=np.int64)
    owner[covered] = np.repeat(text, length)
    return owner


def beyond(own: Codes, shown: Codes) -> npt.NDArray[np.bool_]:
    """Return which shown rows are more than there are of their kind, shape (shown rows,).

    Of equal rows the last ones count as those too many.

    Parameters
    ----------
    own, shown : int64 arrays
        What rows of the table and published rows are, as codes of one numbering.
    """
    size = int(max(own.max(initial=-1), shown.max(initial=-1))) + 1
    room, asked = np.bincount(own, minlength=size), np.bincount(shown, minlength=size)
    if np.all(asked <= room):
        return np.zeros(len(shown), dtype=np.bool_)
    order = np.argsort(shown, kind="stable")
    nth = np.empty(len(shown), dtype=np.int64)
    nth[order] = np.arange(len(shown)) - np.repeat(np.cumsum(asked) - asked, asked)
    return nth >= room[shown]


def covering_pairs(points: Codes, boxes: Codes, columns: Sequence[TextRuns]) -> tuple[Codes, Codes]:
    """Return every pair of a point and a box that covers it.

    Both sets are halved along one column after the other, whichever separates best, until few
    enough are left to compare all with all.

    Parameters
    ----------
    points : int64 array of shape (points, columns)
        Distinct codes of the table.
    boxes : int64 array of shape (boxes, columns)
        Published texts.
    columns : sequence of TextRuns

    Raises
    ------
    TooLarge
        If there are more than `MOST_PAIRS` pairs to look at.
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
                covered = column.covers(boxes[box, d], points[point, d])
                point, box = point[covered], box[covered]
        found.append((point, box))
    if sum(len(point) for point, _ in found) > MOST_PAIRS:
        raise _too_large()
    empty = np.empty(0, dtype=np.int64)
    pairs = [np.concatenate([empty, *(pair[side] for pair in found)]) for side in (0, 1)]
    return pairs[0], pairs[1]


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
        share = float(np.searchsorted(seen, at, side="right")) / len(seen)
        kept = share * float(np.mean(low[d][few_boxes] <= at))
        kept += (1 - share) * float(np.mean(high[d][few_boxes] > at))
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
        choices = np.bincount(giver, minlength=len(left))
        sole = choices[giver] == 1
        if not sole.any():
            break
        # Whoever can give to one only gives all of it there; no better use is lost.
        offered = np.bincount(taker[sole], weights=left[giver[sole]], minlength=len(open_))
        open_ = np.maximum(open_ - offered.astype(np.int64), 0)
        left[giver[sole]] = 0
    return open_ if not len(giver) else open_ - _flow(left, open_, giver, taker)


def _flow(supply: Codes, demand: Codes, giver: Codes, taker: Codes) -> Codes:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    if len(giver) > MOST_EDGES:
        raise _too_large()
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
    classes: Codes,
    shown: Codes,
    near_point: Codes,
    near_box: Codes,
) -> npt.NDArray[np.bool_]:
    """Return for which published rows no row of the table of their own is left, shape (rows,).

    Parameters
    ----------
    point, payload : int64 arrays of shape (rows of the table,)
        What is coarsened and what is published exactly, as codes.
    classes, shown : int64 arrays of shape (published rows,)
        The class that covers points, and what it shows exactly, as codes like `payload`.
    near_point, near_box : int64 arrays of shape (pairs,)
        Which points lie in which classes, see `covering_pairs`.

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
    giver = np.repeat(np.arange(len(giver_first)), degree)
    within = np.arange(len(giver)) - np.repeat(np.cumsum(degree) - degree, degree)
    box = near_box[np.repeat(start[giver_point], degree) + within]
    asked = box * wide + payload[giver_first][giver]
    place = np.searchsorted(wanted[ranked], asked)
    place[place == len(ranked)] = 0
    meets = wanted[ranked][place] == asked if len(ranked) else np.zeros(len(giver), dtype=np.bool_)
    taker = ranked[place[meets]]
    demand = np.bincount(taker_of, minlength=len(taker_first))
    left = unmet(np.bincount(giver_of), demand, giver[meets], taker)
    # Of equal rows the last ones count as those without a partner.
    by_taker = np.argsort(taker_of, kind="stable")
    position = np.arange(len(taker_of)) - np.repeat(np.cumsum(demand) - demand, demand)
    alone = np.zeros(len(taker_of), dtype=np.bool_)
    alone[by_taker] = position >= np.repeat(demand - left, demand)
    return alone
