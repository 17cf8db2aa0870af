"""Which sensitive values are alike: under one node of a hierarchy, or within a short range.

Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856, section 3.2.
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import F64, I64
from ..data.frequency import dense_rank
from ..hierarchy import Hierarchy
from .secrets import Entries


def level_below_root(tree: Hierarchy, level: int) -> int:
    """Return the level, or the highest below it that still tells values apart."""
    at = min(level, tree.height)
    while at > 0 and len(tree.labels[at]) - tree.has_missing <= 1:
        at -= 1
    return at


def under_one_node(entries: Entries, domain: Hierarchy, tree: Hierarchy, level: int) -> I64:
    """Return the most people of each class whose values one node covers, shape (classes,).

    Parameters
    ----------
    entries : Entries
        Values are leaves of `domain`.
    domain, tree : Hierarchy
        The column as it is published, and what its values are generalized to.
    level : int
    """
    place = np.array([tree.code.get(text, -1) for text in domain.leaves], dtype=np.int64)
    node = np.where(place >= 0, tree.node(level)[place], -1)[entries.value].astype(np.int32) + 1
    rank, first = dense_rank(
        [entries.group.astype(np.int32), node], [entries.classes, int(node.max(initial=0)) + 1]
    )
    together = np.bincount(rank, entries.count, minlength=len(first)).astype(np.int64)
    found = np.zeros(entries.classes, dtype=np.int64)
    np.maximum.at(found, entries.group[first], together)
    return found


def within(entries: Entries, measure: F64, width: float) -> I64:
    """Return the most people of each class whose numbers a range covers, shape (classes,).

    Parameters
    ----------
    entries : Entries
    measure : float64 array of shape (leaves,)
        Number of each leaf, ascending; a missing one is last, and of no entry.
    width : float
        Length of the range, in the column's own unit.
    """
    order = np.argsort(entries.group * len(measure) + entries.value)
    group, value = entries.group[order], entries.value[order]
    key = group * len(measure) + value
    # Half a billionth of the width more, so that sums that come to it are within.
    last = np.searchsorted(measure, measure + width * (1 + 5e-10), side="right") - 1
    end = np.searchsorted(key, group * len(measure) + last[value], side="right")
    upto = np.concatenate([[0], np.cumsum(entries.count[order])])
    found = np.zeros(entries.classes, dtype=np.int64)
    np.maximum.at(found, group, upto[end] - upto[:-1])
    return found
