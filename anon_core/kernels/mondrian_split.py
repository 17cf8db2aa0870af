"""Multidimensional partition (Mondrian) of packed tuples, in place, by a stack.

A tuple is one column of a few streams: words that hold its codes side by side, and a tag that holds
its count and its number. Parts are runs of these streams, so that every look at a part reads memory
from one end to the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.kernels.compilation import compiled

Records = npt.NDArray[np.void]

# 1 − 2/3 and 1/3 differ in the last bit; such ties go to the attribute named first.
_SAME_WIDTH = 1e-9
_COUNT = 32  # a tag's count is above so many bits for the tuple's number
_NUMBER = (1 << _COUNT) - 1
_BITS = 62  # attributes beyond so many share a bit of what is known
#: Codes, or runs of codes, that are weighed at a time.
BINS = 256

#: Where a column's code is in the words.
_FIELD = [("word", "i8"), ("shift", "i8"), ("mask", "i8")]

#: An attribute: `weight` is a factor on its width, `missing` the leaf of the missing value or -1,
#: `position` where its leaves begin in the positions. It is cut along the children of the covering
#: node (`by_tree`; its nodes begin at `tree`), or at the median, where tuples of one row each may
#: part so that both sides are equally large (`loose`). The rest is about the part looked at:
#: its smallest and largest code, and its width, -1 where that need not be looked at again.
AXIS = np.dtype(
    [
        *_FIELD,
        *(("leaves", "i8"), ("missing", "i8"), ("position", "i8"), ("tree", "i8")),
        *(("by_tree", "?"), ("loose", "?"), ("weight", "f8")),
        *(("low", "i8"), ("high", "i8"), ("width", "f8")),
    ],
    align=True,
)

#: A column that is watched: how many different values a part needs, and l where no value may fill
#: more than 1/l of its rows that have one, else 0; `missing` represents rows that have none, or -1.
WATCHED = np.dtype(
    [*_FIELD, ("values", "i8"), ("missing", "i8"), ("distinct", "i8"), ("share", "i8")]
)

#: A node of every leaf, level after level: its number, and its first and last leaf.
NODE = np.dtype([("number", "i8"), ("first", "i8"), ("last", "i8")])

#: A piece of a part that a cut would make: where it begins, its rows, and its next free place.
PIECE = np.dtype([("begin", "i8"), ("rows", "i8"), ("next", "i8")])


class Packed(NamedTuple):
    """The packed tuples, and room to move them.

    Attributes
    ----------
    streams : int64 array of shape (words + 1, tuples)
        The words, then the tags. Permuted in place; every part is a run of them.
    spare : int64 array of the shape of `streams`, place : int32 array of shape (tuples,)
        Room; what lies next to the parts that are cut is not touched.
    """

    streams: I64
    spare: I64
    place: I32


class Axes(NamedTuple):
    """How the attributes are cut.

    Attributes
    ----------
    axes : AXIS array of shape (attributes,)
    positions : float64 array
        Normalized position of every leaf, attribute after attribute.
    nodes : NODE array
        Level after level, for attributes cut by tree.
    """

    axes: Records
    positions: F64
    nodes: Records


class Room(NamedTuple):
    """Room for the cut of a part.

    Attributes
    ----------
    pieces : array of shape (most pieces + 1,)
        What the cut would make.
    held : int64 array of shape (values,)
        Zero between uses.
    bins : int64 array
        In which codes are weighed.
    """

    pieces: Records
    held: I64
    bins: I64


@compiled
def pack(codes: I32, columns: Records, streams: I64) -> None:
    """Put the codes of all tuples into the words of the streams."""
    for d in range(codes.shape[1]):
        row, shift = columns[d]["word"], columns[d]["shift"]
        for i in range(len(codes)):
            streams[row, i] |= np.int64(codes[i, d]) << shift


@compiled
def tag(count: I64, tags: I64) -> int:
    """Put count and number of each tuple into its tag; return the rows of all."""
    rows = 0
    for i in range(len(count)):
        tags[i] = (count[i] << _COUNT) | i
        rows += count[i]
    return rows


def numbers(tags: I64) -> I64:
    """Return the numbers of the tuples that tags represent; same shape."""
    return tags & _NUMBER


@compiled
def number_parts(tags: I64, first: B1, part: I64) -> None:
    """Number the parts, which begin where `first` is set, and write that of every tuple."""
    number = -1
    for i in range(len(tags)):
        number += first[i]
        part[tags[i] & _NUMBER] = number


@compiled
def span(streams: I64, start: int, stop: int, axis: np.void) -> None:
    """Find the smallest and largest code of an attribute in a part."""
    row, shift = axis["word"], axis["shift"]
    field = axis["mask"] << shift
    low, high = field, 0
    for i in range(start, stop):
        code = streams[row, i] & field
        low, high = min(low, code), max(high, code)
    axis["low"], axis["high"] = low >> shift, high >> shift


@compiled
def lower_median(
    streams: I64, start: int, stop: int, axis: np.void, rows: int, bins: I64
) -> tuple[int, int, int]:
    """Return the lower median code of a part, and the rows below and at it.

    Codes are weighed in as many bins as there are; those of the median's bin are weighed again.
    """
    row, shift, mask = axis["word"], axis["shift"], axis["mask"]
    low, high = axis["low"], axis["high"]
    half = (rows + 1) // 2
    below = at = step = 0
    while True:
        step = 0
        while (high - low) >> step >= len(bins):
            step += 1
        for b in range(((high - low) >> step) + 1):
            bins[b] = 0
        for i in range(start, stop):
            code = (streams[row, i] >> shift) & mask
            if low <= code <= high:
                bins[(code - low) >> step] += streams[-1, i] >> _COUNT
        at = 0
        while below + bins[at] < half:
            below += bins[at]
            at += 1
        low += at << step
        if step == 0:
            return low, below, bins[at]
        high = min(high, low + (1 << step) - 1)


@compiled
def rows_at(streams: I64, start: int, stop: int, axis: np.void, code: int) -> int:
    """Return the rows of a part that have a code."""
    row, shift, mask = axis["word"], axis["shift"], axis["mask"]
    rows = 0
    for i in range(start, stop):
        rows += (streams[-1, i] >> _COUNT) * (((streams[row, i] >> shift) & mask) == code)
    return rows


@compiled
def place_below(streams: I64, start: int, stop: int, axis: np.void, bar: int, place: I32) -> int:
    """Say where tuples go: codes ≤ bar first; return where the rest begins."""
    row, shift, mask = axis["word"], axis["shift"], axis["mask"]
    middle = start
    for i in range(start, stop):
        middle += ((streams[row, i] >> shift) & mask) <= bar
    left, right = start, middle
    for i in range(start, stop):
        below = np.int64(((streams[row, i] >> shift) & mask) <= bar)
        place[i] = left if below else right
        left += below
        right += 1 - below
    return middle


@compiled
def place_half(
    streams: I64,
    start: int,
    stop: int,
    axis: np.void,
    bar: int,
    ties: int,
    middle: int,
    place: I32,
) -> None:
    """Say where tuples go: codes < bar first, with so many of those at it, and the rest after."""
    row, shift, mask = axis["word"], axis["shift"], axis["mask"]
    left, right = start, middle
    for i in range(start, stop):
        code = (streams[row, i] >> shift) & mask
        if code < bar or (code == bar and ties > 0):
            ties -= code == bar
            place[i] = left
            left += 1
        else:
            place[i] = right
            right += 1


@compiled
def child_level(axis: np.void, nodes: Records) -> int:
    """Return where the level below that of the covering node begins, of a part that has two."""
    base = axis["tree"]
    while nodes[base + axis["low"]]["first"] != nodes[base + axis["high"]]["first"]:
        base += axis["leaves"]
    return int(base - axis["leaves"])


@compiled
def weigh_children(
    streams: I64, start: int, stop: int, axis: np.void, nodes: Records, base: int, pieces: Records
) -> int:
    """Count rows and tuples under each child of the covering node; return how many children."""
    row, shift, mask = axis["word"], axis["shift"], axis["mask"]
    first = nodes[base + axis["low"]]["number"]
    found = nodes[base + axis["high"]]["number"] - first + 1
    for p in range(found):
        pieces[p]["rows"] = 0
    for i in range(start, stop):
        child = nodes[base + ((streams[row, i] >> shift) & mask)]["number"] - first
        # Rows and tuples are added up in one word, as they are in a tag.
        pieces[child]["rows"] += (streams[-1, i] | _NUMBER) - (_NUMBER - 1)
    pieces[0]["begin"] = start
    for p in range(found):
        pieces[p + 1]["begin"] = pieces[p]["begin"] + (pieces[p]["rows"] & _NUMBER)
        pieces[p]["rows"] >>= _COUNT
    return int(found)


@compiled
def place_children(
    streams: I64,
    axis: np.void,
    nodes: Records,
    base: int,
    pieces: Records,
    found: int,
    place: I32,
) -> None:
    """Say where tuples go: to the next free place of their child's piece."""
    row, shift, mask = axis["word"], axis["shift"], axis["mask"]
    first = nodes[base + axis["low"]]["number"]
    for p in range(found):
        pieces[p]["next"] = pieces[p]["begin"]
    for i in range(pieces[0]["begin"], pieces[found]["begin"]):
        child = nodes[base + ((streams[row, i] >> shift) & mask)]["number"] - first
        place[i] = pieces[child]["next"]
        pieces[child]["next"] += 1


@compiled
def varied(streams: I64, start: int, stop: int, rows: int, column: np.void, held: I64) -> bool:
    """Say whether a piece keeps what is asked of a watched column.

    `held` is zero for every value before and after.
    """
    row, shift, mask = column["word"], column["shift"], column["mask"]
    distinct, share, missing = column["distinct"], column["share"], column["missing"]
    known = rows
    if share > 0 and missing >= 0:
        for j in range(start, stop):
            if (streams[row, j] >> shift) & mask == missing:
                known -= streams[-1, j] >> _COUNT
    found, i = 0, start
    holds = bool(share <= known)
    while holds and i < stop and (share > 0 or found < distinct):
        value = (streams[row, i] >> shift) & mask
        if value != missing:
            found += held[value] == 0
            held[value] += streams[-1, i] >> _COUNT
            holds = held[value] * share <= known
        i += 1
    for j in range(start, i):
        held[(streams[row, j] >> shift) & mask] = 0
    return holds and found >= distinct


@compiled
def settle(
    streams: I64, spare: I64, place: I32, watched: Records, pieces: Records, found: int, held: I64
) -> bool:
    """Move the tuples of a part to where they go, unless a piece breaks a privacy model."""
    start, stop = pieces[0]["begin"], pieces[found]["begin"]
    for s in range(len(streams)):
        for i in range(start, stop):
            spare[s, place[i]] = streams[s, i]
    for c in range(len(watched)):
        for p in range(found):
            begin, end = pieces[p]["begin"], pieces[p + 1]["begin"]
            if begin < end and not varied(spare, begin, end, pieces[p]["rows"], watched[c], held):
                return False
    for s in range(len(streams)):
        for i in range(start, stop):
            streams[s, i] = spare[s, i]
    return True


@compiled
def cut_by_children(
    packed: Packed,
    start: int,
    stop: int,
    axis: np.void,
    nodes: Records,
    least: int,
    watched: Records,
    room: Room,
) -> int:
    """Cut a part into the children of the covering node, all of which keep the privacy models.

    Returns the number of pieces, of which some may be empty; 0 where it was not cut.
    """
    streams, spare, place = packed
    base, pieces = child_level(axis, nodes), room.pieces
    found = weigh_children(streams, start, stop, axis, nodes, base, pieces)
    for p in range(found):
        if 0 < pieces[p]["rows"] < least:
            return 0
    place_children(streams, axis, nodes, base, pieces, found, place)
    if settle(streams, spare, place, watched, pieces, found, room.held):
        return found
    return 0


@compiled
def cut_in_two(
    packed: Packed,
    start: int,
    stop: int,
    rows: int,
    axis: np.void,
    least: int,
    watched: Records,
    room: Room,
) -> int:
    """Cut a part in two, both of which keep the models; return 2, or 0 where it was not cut.

    Missing values are cut off first: no range can hold them with others. Then at ≤ median; where
    ties leave too little above, at < median (E-18). A relaxed cut comes before these two: through
    the rows at the median.
    """
    streams, spare, place = packed
    pieces, held, bins = room
    median, below, at = lower_median(streams, start, stop, axis, rows, bins)
    for attempt in range(4):
        if attempt == 0:
            if axis["high"] != axis["missing"]:
                continue
            bar = axis["high"] - 1
            under = rows - rows_at(streams, start, stop, axis, axis["high"])
        elif attempt == 1:
            if not axis["loose"]:
                continue
            bar, under = median, (rows + 1) // 2
        elif attempt == 2:
            bar, under = median, below + at
        else:
            bar, under = median - 1, below
        if under < least or rows - under < least:
            continue
        if attempt == 1:
            middle = start + under
            place_half(streams, start, stop, axis, bar, under - below, middle, place)
        else:
            middle = place_below(streams, start, stop, axis, bar, place)
        pieces[0]["begin"], pieces[1]["begin"], pieces[2]["begin"] = start, middle, stop
        pieces[0]["rows"], pieces[1]["rows"] = under, rows - under
        if settle(streams, spare, place, watched, pieces, 2, held):
            return 2
    return 0


@compiled
def find_widths(
    streams: I64,
    start: int,
    stop: int,
    axes: Records,
    positions: F64,
    nodes: Records,
    varies: int,
) -> int:
    """Find the smallest and largest code of each attribute in a part, and its width.

    A bit of `varies` is set for each attribute that had several codes in what the part was cut
    from; returned is the same of the part.
    """
    for d in range(len(axes)):
        axis = axes[d]
        bit = 1 << min(d, _BITS)
        axis["width"] = -1.0
        if not varies & bit:
            continue
        span(streams, start, stop, axis)
        low, high = axis["low"], axis["high"]
        if low == high:
            if d < _BITS:
                varies ^= bit
        elif axis["by_tree"]:
            node = nodes[child_level(axis, nodes) + axis["leaves"] + low]
            inside = node["last"] - node["first"]
            axis["width"] = axis["weight"] * inside / max(axis["leaves"] - 1, 1)
        else:
            begin = axis["position"]
            axis["width"] = axis["weight"] * (positions[begin + high] - positions[begin + low])
    return varies


@compiled
def widest(axes: Records) -> int:
    """Return the widest attribute, the first of those that are."""
    found = 0
    for d in range(1, len(axes)):
        if axes[d]["width"] > axes[found]["width"] + _SAME_WIDTH:
            found = d
    return found


@compiled
def split(
    packed: Packed,
    first: B1,
    stack: I64,
    depth: int,
    by: Axes,
    least: int,
    watched: Records,
    work: int,
) -> tuple[int, int]:
    """Split parts until none can be, or until about `work` codes were looked at.

    Parameters
    ----------
    first : bool array of shape (tuples,)
        Set where a part begins that is not cut any further.
    stack : int64 array of shape (tuples + 1, 4), depth : int
        Parts still to be split: start, stop, rows, and -1 for any of which nothing else is known.
    least : int
        Rows every part needs.
    watched : WATCHED array of shape (watched,)
        What else every part needs.
    work : int
        How many codes to look at before returning.

    Returns
    -------
    depth : int
        As the parameter; 0 when all is done.
    settled : int
        Tuples whose part this call has found.
    """
    streams, positions, nodes = packed.streams, by.positions, by.nodes
    axes = by.axes.copy()  # others may look at other parts
    most = 2
    for d in range(len(axes)):
        most = max(most, int(axes[d]["leaves"]))
    pieces = np.empty(most + 1, PIECE)
    values = 0
    for c in range(len(watched)):
        values = max(values, int(watched[c]["values"]))
    room = Room(pieces, np.zeros(values, np.int64), np.empty(BINS, np.int64))
    spent = settled = 0
    while depth > 0 and spent < work:
        depth -= 1
        start, stop, rows = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        spent += (stop - start) * len(axes)
        varies = find_widths(streams, start, stop, axes, positions, nodes, stack[depth, 3])
        found = 0
        for _ in range(len(axes)):
            axis = axes[widest(axes)]
            if axis["width"] < 0.0:
                break
            axis["width"] = -1.0
            if axis["by_tree"]:
                found = cut_by_children(packed, start, stop, axis, nodes, least, watched, room)
            else:
                found = cut_in_two(packed, start, stop, rows, axis, least, watched, room)
            if found > 0:
                break
        if found == 0:
            first[start] = True
            settled += stop - start
        for p in range(found):
            begin, end = pieces[p]["begin"], pieces[p + 1]["begin"]
            if pieces[p]["rows"] >= 2 * least and end - begin > 1:
                stack[depth, 0], stack[depth, 1] = begin, end
                stack[depth, 2], stack[depth, 3] = pieces[p]["rows"], varies
                depth += 1
            elif begin < end:
                first[begin] = True
                settled += end - begin
    return depth, settled
