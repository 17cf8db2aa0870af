"""What kernels share that cut tuples into parts, in place, by a stack."""

from __future__ import annotations

from typing import NamedTuple

from anon_core.base.arrays import I32, I64


class Counted(NamedTuple):
    """Tuples with their rows.

    Attributes
    ----------
    codes : int32 array of shape (tuples, attributes)
    rows : int64 array of shape (tuples,)
    """

    codes: I32
    rows: I64


class Cuts(NamedTuple):
    """An order of tuples, cut into parts; every part is a run of it.

    Attributes
    ----------
    order : int64 array of shape (tuples,), permuted in place
    stack : int64 array of shape (tuples + 1, 2)
        Start and stop of the parts that may still be cut; the first `depth` are in use.
    parts : int64 array of shape (tuples, 2)
        Start and stop of the parts that are done; the first `found` are in use.
    """

    order: I64
    stack: I64
    parts: I64


class Limits(NamedTuple):
    """What every part must keep.

    Attributes
    ----------
    least : int
        Rows.
    sensitive : int32 array of shape (tuples, columns)
        Values of the watched columns; -1 where missing.
    distinct, share : int64 arrays of shape (columns,)
        Different values of each, and l where no value may fill more than 1/l of the rows that have
        one, else 0.
    """

    least: int
    sensitive: I32
    distinct: I64
    share: I64
