"""Cut packed tuples into parts, on all cores where a table is large."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadInput
from anon_core.data.hierarchy import Hierarchy
from anon_core.kernels.mondrian_split import (
    AXIS,
    BINS,
    NODE,
    PIECE,
    WATCHED,
    Axes,
    Packed,
    Records,
    Room,
    cut_by_children,
    cut_in_two,
    find_widths,
    lower_median,
    number_parts,
    numbers,
    pack,
    split,
    tag,
    widest,
)
from anon_core.methods.lattice.lattice import layout_of

# One part cut step by step for anyone who listens: by the parts of the compiled partition itself.


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

    Parameters and what is returned are those of `split`. Events are "part": the tuples of the
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
        cut: dict[str, int | bool] = {"attribute": d}
        if axis["by_tree"]:
            found = cut_by_children(packed, start, stop, axis, by.nodes, least, watched, room)
        else:
            median, below, at = lower_median(streams, start, stop, axis, rows, room.bins)
            cut |= {"median": int(median), "below": int(below), "at": int(at)}
            found = cut_in_two(packed, start, stop, rows, axis, least, watched, room)
        tries.append({**cut, "cut": found > 0})
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


WORK = 50_000_000  # looks at a code between two looks whether to stop, about 0.1 s
GRAIN = 8_192  # tuples up to which a part is left to one thread, more in large tables
_SHARES = 32  # parts of at least this share of the tuples are handed out
_LOOK = 0.05  # seconds between two looks at the cancel button
_MOST = 1 << 31  # a tag has so much room for a count, and for a number


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuples:
    """Distinct tuples that are to be cut into parts, and what a part must keep.

    Attributes
    ----------
    codes : int32 array of shape (tuples, attributes)
    count : int64 array of shape (tuples,)
    sensitive : int32 array of shape (tuples, watched)
    values : tuple of int
        Number of codes of each watched column.
    distinct, share : int64 arrays of shape (watched,)
        Different values every part needs; l where no value may fill more than 1/l, else 0.
    least : int
        Rows every part needs.
    """

    codes: npt.NDArray[np.int32]
    count: I64
    sensitive: npt.NDArray[np.int32]
    values: tuple[int, ...]
    distinct: I64
    share: I64
    least: int


def axes_of(
    hierarchies: Sequence[Hierarchy],
    positions: Sequence[npt.NDArray[np.float64]],
    by_tree: Sequence[bool],
    loose: Sequence[bool],
    weights: npt.NDArray[np.float64],
) -> Axes:
    """Return what is looked up of each attribute.

    Parameters
    ----------
    positions : sequence of float64 arrays of shape (leaves,)
    by_tree, loose : sequences of bool
        Whether it is cut along its hierarchy; whether rows at a median may part.
    weights : float64 array of shape (attributes,)
    """
    axes = np.zeros(len(hierarchies), dtype=AXIS)
    trees = [
        _nodes(h) if tree else np.empty(0, dtype=NODE)
        for h, tree in zip(hierarchies, by_tree, strict=True)
    ]
    sizes = np.array([len(h.leaves) for h in hierarchies], dtype=np.int64)
    lengths = np.array([len(tree) for tree in trees], dtype=np.int64)
    axes["leaves"], axes["weight"] = sizes, weights
    axes["by_tree"], axes["loose"] = by_tree, loose
    axes["position"], axes["tree"] = np.cumsum(sizes) - sizes, np.cumsum(lengths) - lengths
    axes["missing"] = [len(h.leaves) - 1 if h.has_missing else -1 for h in hierarchies]
    return Axes(axes=axes, positions=np.concatenate(positions), nodes=np.concatenate(trees))


def _nodes(hierarchy: Hierarchy) -> npt.NDArray[np.void]:
    """Return the node of every leaf, level after level."""
    nodes = np.empty(hierarchy.nodes.shape, dtype=NODE)
    nodes["number"] = hierarchy.nodes
    nodes["first"], nodes["last"] = hierarchy.first_leaf, hierarchy.last_leaf
    return nodes.ravel()


def cut(tuples: Tuples, by: Axes, context: Context) -> I64:
    """Return the part of every tuple, shape (tuples,); parts are numbered by where they are.

    A large part is cut once and its pieces are handed out again; a small one is cut to the end.
    Where the cuts are does not depend on who makes them, or when. When time is up, parts that still
    wait to be cut stay as they are, which is the best partition so far: each keeps the privacy
    models.

    Anyone who listens is informed of every part that is looked at (see `split_once`), and of every
    cut: event "cut" with the tuples of each piece, by number. Parts are then cut one by one.

    Raises
    ------
    BadInput
        If there are 2^31 rows or more.
    """
    size = len(tuples.count)
    packed, by, watched, rows = _packed(tuples, by)
    streams = packed.streams
    first = np.zeros(size, dtype=np.bool_)
    grain = max(GRAIN, size // _SHARES)
    most = _most_pieces(by)
    settled: list[int] = []
    stop = threading.Event()

    def look() -> None:
        """Report progress, and stop all workers when time is up."""
        context.report(sum(settled) / size, "Partitioning")
        if context.out_of_time():
            stop.set()

    def work(part: list[int], look: Callable[[], None] = lambda: None) -> list[list[int]]:
        """Cut one part; return the pieces that are left to others, or to no one."""
        tuples_here = part[1] - part[0]
        depth, large = 1, tuples_here > grain and not context.listening
        stack = np.empty((most if large else tuples_here + 1, 4), dtype=np.int64)
        stack[0] = part
        while depth:
            look()
            if stop.is_set():
                break
            top = stack[depth - 1, :2].tolist()
            if context.listening:
                depth, done = split_once(
                    packed, first, stack, depth, by, tuples.least, watched, context
                )
            else:
                some = 1 if large else WORK
                depth, done = split(packed, first, stack, depth, by, tuples.least, watched, some)
            settled.append(done)
            if context.listening:
                begins = {*np.flatnonzero(first[slice(*top)]) + top[0], *stack[:depth, 0].tolist()}
                _tell(context, streams[-1], top, sorted(b for b in begins if top[0] <= b < top[1]))
            if large:
                break
        return stack[:depth].tolist()

    pieces = [[0, size, rows, -1]]
    if size <= GRAIN or context.listening:
        pieces = work(pieces[0], look)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting: set[Future[list[list[int]]]] = set()
            try:
                while pieces or waiting:
                    look()
                    if stop.is_set() and not waiting:
                        break
                    if not stop.is_set():
                        waiting |= {pool.submit(work, piece) for piece in pieces}
                        pieces = []
                    ready, waiting = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
                    pieces += [piece for task in ready for piece in task.result()]
            finally:
                stop.set()  # also where the report raised: threads must not work for nobody
    first[[piece[0] for piece in pieces]] = True
    part = np.empty(size, dtype=np.int64)
    number_parts(streams[-1], first, part)
    return part


def cut_once(tuples: Tuples, by: Axes) -> I64 | None:
    """Return the part of every tuple after one cut, shape (tuples,); None where none can be."""
    packed, by, watched, rows = _packed(tuples, by)
    first = np.zeros(len(tuples.count), dtype=np.bool_)
    stack = np.array([[0, len(tuples.count), rows, -1]] * _most_pieces(by), dtype=np.int64)
    depth, _ = split(packed, first, stack, 1, by, tuples.least, watched, 1)
    first[stack[:depth, 0]] = True
    if np.count_nonzero(first) < 2:
        return None
    part = np.empty(len(tuples.count), dtype=np.int64)
    number_parts(packed.streams[-1], first, part)
    return part


def by_width(low: npt.NDArray[np.int32], high: npt.NDArray[np.int32], by: Axes) -> list[int]:
    """Return the attributes of a part that vary, in the order in which cuts are tried.

    Parameters
    ----------
    low, high : int32 arrays of shape (attributes,)
        The part's smallest and largest codes.
    """
    nothing = np.empty(0, dtype=np.int64)
    ends = Tuples(
        codes=np.stack([low, high]),
        count=np.ones(2, dtype=np.int64),
        sensitive=np.empty((2, 0), dtype=np.int32),
        values=(),
        distinct=nothing,
        share=nothing,
        least=1,
    )
    packed, by, _, _ = _packed(ends, by)
    find_widths(packed.streams, 0, 2, by.axes, by.positions, by.nodes, -1)
    found: list[int] = []
    while by.axes["width"][d := widest(by.axes)] >= 0:
        found.append(d)
        by.axes["width"][d] = -1.0
    return found


def _packed(tuples: Tuples, by: Axes) -> tuple[Packed, Axes, Records, int]:
    """Return packed tuples, where attributes and watched columns are in them, and their rows.

    Raises
    ------
    BadInput
        If there are 2^31 rows or more.
    """
    size = len(tuples.count)
    axes, watched = by.axes.copy(), np.zeros(len(tuples.values), dtype=WATCHED)
    layout = layout_of([*axes["leaves"].tolist(), *tuples.values])
    for name in ("word", "shift", "mask"):
        field = getattr(layout, name)
        axes[name], watched[name] = field[: len(axes)], field[len(axes) :]
    watched["values"] = tuples.values
    watched["distinct"], watched["share"] = tuples.distinct, tuples.share
    streams = np.zeros((layout.words + 1, size), dtype=np.int64)
    pack(tuples.codes, axes, streams)
    # Codes that are packed are not negative; the last number is left for the missing value.
    absent = tuples.sensitive < 0
    watched["missing"] = np.where(absent.any(axis=0), watched["values"] - 1, -1)
    last = (watched["values"] - 1).astype(np.int32)
    pack(np.where(absent, last, tuples.sensitive), watched, streams)
    rows = tag(tuples.count, streams[-1])
    if rows >= _MOST:
        raise BadInput(
            f"Cuts count up to {_MOST - 1:,} rows; the table has {rows:,}.",
            remedy="Divide the table, for example by region, and cut the pieces by themselves.",
        )
    packed = Packed(streams, np.empty_like(streams), np.empty(size, dtype=np.int32))
    return packed, by._replace(axes=axes), watched, rows


def _most_pieces(by: Axes) -> int:
    """Return how many pieces one cut can make at most."""
    return max(2, int(by.axes["leaves"].max(initial=0)))


def _tell(context: Context, tags: I64, part: list[int], begins: list[int]) -> None:
    """Tell of a part that was cut; of one that stays whole there is nothing to tell."""
    if len(begins) > 1:
        ends = [*begins[1:], part[1]]
        pieces = [numbers(tags[b:e]) for b, e in zip(begins, ends, strict=True)]
        context.event("cut", pieces=pieces)
