"""A column's values in few parts that can be shown: its most frequent values, or ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import I64
from anon_core.data.hierarchy import Hierarchy

#: What values too rare to be shown by themselves are called together.
OTHERS = "other values"


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """A column's leaves in parts.

    Attributes
    ----------
    labels : tuple of str
        Of each part, in the order they are shown.
    part : int64 array of shape (leaves,)
        The part of every leaf.
    """

    labels: tuple[str, ...]
    part: I64


def parts_of(hierarchy: Hierarchy, rows: I64, most: int = 12) -> Parts:
    """Return a column's values in at most so many parts, and one more for what is left.

    Numbers and dates become ranges of neighbours with about equally many rows, where they are more
    than `most`; of other columns the most frequent values stand alone. A missing value is a part of
    its own among numbers.

    Parameters
    ----------
    hierarchy : Hierarchy
    rows : int64 array of shape (leaves,)
        Rows with each leaf.
    most : int
    """
    part = np.full(len(hierarchy.leaves), -1, dtype=np.int64)
    seen = np.flatnonzero(rows > 0)
    if hierarchy.measure is not None and len(seen) > most:
        values = seen[seen != hierarchy.missing_leaf]
        before = np.cumsum(rows[values]) - rows[values]
        number = (before * most) // max(int(rows[values].sum()), 1)
        _, number = np.unique(number, return_inverse=True)
        labels: list[str] = []
        for place in range(int(number.max(initial=-1)) + 1):
            first, last = values[number == place][[0, -1]]
            part[first : last + 1] = place
            low, high = hierarchy.leaves[first], hierarchy.leaves[last]
            labels.append(low if first == last else f"{low} – {high}")
        # Values that no row has go with their neighbours before them.
        free = part < 0
        part[free] = np.maximum.accumulate(part)[free]
        part[part < 0] = 0
        if hierarchy.has_missing:
            part[hierarchy.missing_leaf] = len(labels)
            labels.append("missing")
        return Parts(labels=tuple(labels), part=part)
    alone = seen if len(seen) <= most else seen[np.argsort(-rows[seen], kind="stable")[:most]]
    part[alone] = np.arange(len(alone))
    labels = [hierarchy.leaves[leaf] for leaf in alone.tolist()]
    labels = [
        "missing" if leaf == hierarchy.missing_leaf else text
        for leaf, text in zip(alone.tolist(), labels, strict=True)
    ]
    if np.any(part < 0):
        part[part < 0] = len(labels)
        labels.append(OTHERS)
    return Parts(labels=tuple(labels), part=part)
