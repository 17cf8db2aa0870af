"""The box around each group of tuples."""

from __future__ import annotations

from anon_core.base.arrays import I32, I64
from anon_core.kernels.compiled import compiled


@compiled
def widen_boxes(codes: I32, run: I64, key: I64, group: I64, low: I32, high: I32) -> None:
    """Widen the box of every group by its tuples.

    Parameters
    ----------
    codes : int32 array of shape (runs, attributes)
    run : int64 array of shape (keys,)
        Row of `codes` that belongs to each key.
    key, group : int64 arrays of shape (entries,)
        Keys and their group; -1 for none.
    low, high : int32 arrays of shape (groups, attributes), changed in place
    """
    for e in range(len(key)):
        g = group[e]
        if g >= 0:
            t = run[key[e]]
            for d in range(codes.shape[1]):
                low[g, d] = min(low[g, d], codes[t, d])
                high[g, d] = max(high[g, d], codes[t, d])
