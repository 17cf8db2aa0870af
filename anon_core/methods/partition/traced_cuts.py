"""One part cut step by step for whoever listens: by the parts of the compiled partition itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from anon_core.base.arrays import B1, I64
from anon_core.base.context import Context
from anon_core.kernels.mondrian_split import (
    BINS,
    PIECE,
    Axes,
    Packed,
    Records,
    Room,
    cut_by_children,
    cut_in_two,
    find_widths,
    lower_median,
    numbers,
    widest,
)


def split_once(
    packed: Packed,
    first: B1,
    stack: I64,
    depth: int,
    by: Axes,
    least: int,
    watched: Records,
    context: Context,
) -> tuple[int, int]:
    """Split the part on top of the stack, or settle it, as `mondrian_split.split` does.

    Parameters and what is returned are those of `split`. Told is event "part": the tuples of the
    part, its `width` along every attribute (-1 where it has one value), and `tries`, one for each
    attribute that was tried, in this order: `attribute`, whether it was `cut`, and where it is not
    cut along a hierarchy the lower `median` as a leaf, the rows `below` it, and `at` it.
    """
    streams = packed.streams
    axes = by.axes.copy()
    most = max(2, int(axes["leaves"].max(initial=0)))
    room = Room(
        np.empty(most + 1, PIECE),
        np.zeros(int(watched["values"].max(initial=0)), np.int64),
        np.empty(BINS, np.int64),
    )
    depth -= 1
    start, stop, rows, known = stack[depth].tolist()
    varies = find_widths(streams, start, stop, axes, by.positions, by.nodes, known)
    tuples, width = numbers(streams[-1, start:stop]), axes["width"].tolist()
    tries: list[dict[str, int | bool]] = []
    found = 0
    for _ in range(len(axes)):
        d = widest(axes)
        axis: Any = axes[d]
        if axis["width"] < 0.0:
            break
        axis["width"] = -1.0
        told: dict[str, int | bool] = {"attribute": d}
        if axis["by_tree"]:
            found = cut_by_children(packed, start, stop, axis, by.nodes, least, watched, room)
        else:
            median, below, at = lower_median(streams, start, stop, axis, rows, room.bins)
            told |= {"median": int(median), "below": int(below), "at": int(at)}
            found = cut_in_two(packed, start, stop, rows, axis, least, watched, room)
        tries.append({**told, "cut": found > 0})
        if found:
            break
    context.event("part", tuples=tuples, width=width, tries=tries)
    if found == 0:
        first[start] = True
        return depth, stop - start
    settled, pieces = 0, room.pieces
    for p in range(found):
        begin, end = int(pieces[p]["begin"]), int(pieces[p + 1]["begin"])
        if int(pieces[p]["rows"]) >= 2 * least and end - begin > 1:
            stack[depth] = begin, end, int(pieces[p]["rows"]), varies
            depth += 1
        elif begin < end:
            first[begin] = True
            settled += end - begin
    return depth, settled
