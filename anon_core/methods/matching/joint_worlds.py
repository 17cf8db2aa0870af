"""Which values people can have in any world that two releases of the same people allow.

A world deals each class's values to the people who are in it, in both releases at once. The
intersection of what each class holds is sound; only worlds are complete, since anyone who takes a
value of a class leaves one less to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.context import Context
from anon_core.methods.matching.composition import Bits, Classes, how_many

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

#: Unknown counts of one connected part beyond which it is not decided, and seconds for a program.
MOST_COUNTS = 2000
SECONDS = 2.0


def joint_candidates(
    one: Classes, two: Classes, people: I32, count: I64, both: Bits, context: Context
) -> tuple[Bits, B1]:
    """Return the values that each quasi tuple has in some world, and where this is not decided.

    Parameters
    ----------
    one, two : Classes
        Of this release and the earlier one.
    people : int32 array of shape (tuples, quasi)
        Everyone of the table: all of them are in both releases.
    count : int64 array of shape (tuples,)
        People of each tuple.
    both : uint64 array of shape (tuples, words)
        The values that both releases allow each person alone.

    Returns
    -------
    bits : uint64 array of shape (tuples, words)
        Within `both`: as there, where nothing was decided.
    undecided : bool array of shape (tuples,)
        Where several values are left, and it is open which of them are.
    """
    own = np.stack([only_pool(classes, people, context) for classes in (one, two)])
    settled = (own[0] >= 0) & (own[1] >= 0)
    parts = _parts(own, settled, len(one.rows))
    found, undecided = both.copy(), ~settled & (how_many(both) > 1)
    for number, members in enumerate(parts):
        context.report(number / len(parts), "Weighing all people at once")
        if int(how_many(found[members]).sum()) > MOST_COUNTS:
            undecided[members] = how_many(found[members]) > 1
        elif bool((how_many(found[members]) > 1).any()):
            held = own[:, members], count[members]
            _settle((one, two), *held, members, found, undecided, context)
    return found, undecided


def only_pool(classes: Classes, people: I32, context: Context) -> I64:
    """Return the one pool of values that each person fits; -1 where there is none, or several."""
    low = np.full(len(people), len(classes.rows), dtype=np.int64)
    high = np.full(len(people), -1, dtype=np.int64)
    for who, which in classes.fitting(people, context):
        np.minimum.at(low, who, which)
        np.maximum.at(high, who, which)
    return np.where(low == high, low, -1)


def _parts(own: I64, settled: B1, classes: int) -> list[I64]:
    """Return the tuples of each connected part: people are tied by the classes they share."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    places = np.flatnonzero(settled)
    if not len(places):
        return []
    ends = own[0, places], own[1, places] + classes
    size = int(ends[1].max()) + 1
    graph = csr_array((np.ones(len(places)), ends), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    part = label[ends[0]]
    order = np.argsort(part, kind="stable")
    cuts = np.flatnonzero(np.diff(part[order])) + 1
    return [np.sort(one) for one in np.split(places[order], cuts)]


def _settle(
    releases: Sequence[Classes],
    own: I64,
    count: I64,
    members: I64,
    found: Bits,
    undecided: B1,
    context: Context,
) -> None:
    """Keep the values that some world deals to the people of one part."""
    tuples, value = _listed(found[members])
    keep = _constraints(releases, own, count, tuples, value)
    possible, open_ = _possible(keep, count[tuples], context)
    if not possible.any():  # no world at all: somebody's value has changed since
        undecided[members] = how_many(found[members]) > 1
        return
    for entry in np.flatnonzero(~possible).tolist():
        bit = np.uint64(1) << np.uint64(value[entry] % 64)
        found[members[tuples[entry]], value[entry] // 64] &= ~bit
    undecided[members[tuples[open_]]] = True


def _listed(bits: Bits) -> tuple[I64, I64]:
    """Return the pairs of row and value that are set."""
    octets = np.ascontiguousarray(bits.astype("<u8")).view(np.uint8)
    row, value = np.unpackbits(octets, axis=1, bitorder="little").nonzero()
    return row.astype(np.int64), value.astype(np.int64)


def _constraints(
    releases: Sequence[Classes], own: I64, count: I64, tuples: I64, value: I64
) -> LinearConstraint:
    """Return what every world keeps: everybody has one value, and classes hold what they show.

    Where a class has more rows than people of the table, others are in it as well, and it bounds
    from above; where fewer, some of these people were suppressed, and it says nothing of them all.
    """
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array

    rows: list[npt.NDArray[np.float64]] = []
    low: list[float] = []
    high: list[float] = []
    for t in range(len(count)):
        rows.append((tuples == t).astype(np.float64))
        low.append(float(count[t]))
        high.append(float(count[t]))
    for classes, where in zip(releases, own, strict=True):
        for c in np.unique(where).tolist():
            standing = float(count[where == c].sum())
            if standing > classes.rows[c]:
                continue
            exact = standing == classes.rows[c]
            entries = classes.entry == c
            shown = dict(
                zip(classes.value[entries].tolist(), classes.count[entries].tolist(), strict=True)
            )
            inside = where[tuples] == c
            for v in sorted({*shown, *value[inside].tolist()}):
                rows.append((inside & (value == v)).astype(np.float64))
                high.append(float(shown.get(v, 0)))
                low.append(high[-1] if exact else 0.0)
    return LinearConstraint(csr_array(np.array(rows)), low, high)


def _possible(keep: LinearConstraint, most: I64, context: Context) -> tuple[B1, B1]:
    """Return which counts are 1 or more in some world, and which were not decided in time."""
    from scipy.optimize import Bounds, milp

    size = len(most)
    possible, unknown = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    for entry in range(size):
        context.check()
        if possible[entry]:
            continue
        least = np.zeros(size)
        least[entry] = 1.0
        solved = milp(
            np.zeros(size),
            integrality=np.ones(size, dtype=np.int64),
            bounds=Bounds(least, most.astype(np.float64)),
            constraints=keep,
            options={"time_limit": SECONDS},
        )
        if solved.x is not None:
            possible |= np.round(solved.x) >= 1
        elif solved.status != 2:  # neither a world nor the proof that there is none
            possible[entry] = unknown[entry] = True
    return possible, unknown
