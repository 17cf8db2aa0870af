"""Which sensitive values are alike: under one node of a hierarchy, or within a short range.

Where one person has several rows, a person counts once who has some value there.

Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856, section 3.2.
"""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.inference.sensitive_beliefs import Entries
from anon_core.release.knowledge.person_counts import Values


def level_below_root(tree: Hierarchy, level: int) -> int:
    """Return the level, or the highest below it that still distinguishes values."""
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
    """
    place = np.array([tree.code.get(text, -1) for text in domain.leaves], dtype=np.int64)
    of_leaf = np.where(place >= 0, tree.node(level)[place], -1)
    if entries.who is not None:
        own = entries.who
        cell = own.member * (int(of_leaf.max(initial=0)) + 2) + of_leaf[own.value] + 1
        wide = int(own.person.max(initial=0)) + 1
        cells, people = np.unique(np.unique(cell * wide + own.person) // wide, return_counts=True)
        found = np.zeros(entries.classes, dtype=np.int64)
        np.maximum.at(found, cells // (int(of_leaf.max(initial=0)) + 2), people)
        return found
    node = of_leaf[entries.value].astype(np.int32) + 1
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
    measure : float64 array of shape (leaves,)
        Number of each leaf, ascending; a missing one is last, and of no entry.
    width : float
        Length of the range, in the column's own unit.
    """
    # Half a billionth of the width more, so that sums that come to it are within.
    last = np.searchsorted(measure, measure + width * (1 + 5e-10), side="right") - 1
    if entries.who is not None:
        return _people_within(entries, entries.who, last)
    order = np.argsort(entries.group * len(measure) + entries.value)
    group, value = entries.group[order], entries.value[order]
    key = group * len(measure) + value
    end = np.searchsorted(key, group * len(measure) + last[value], side="right")
    upto = np.concatenate([[0], np.cumsum(entries.count[order])])
    found = np.zeros(entries.classes, dtype=np.int64)
    np.maximum.at(found, group, upto[end] - upto[:-1])
    return found


def _people_within(entries: Entries, who: Values, last: I64) -> I64:
    """Return the most people of each class who have a number in one range.

    Of a person who is in a range several times the first counts: a place is counted by the
    ranges that begin behind the person's place before it and reach as far as this one.

    Parameters
    ----------
    last : int64 array of shape (leaves,)
        The last leaf within the range that begins at each.
    """
    leaves = len(last)
    key = who.member * leaves + who.value
    order = np.argsort(key, kind="stable")
    key, person = key[order], who.person[order]
    group = key // leaves
    end = np.searchsorted(key, group * leaves + last[key % leaves], side="right")
    places = np.arange(len(key))
    reached = np.searchsorted(end, places, side="right")  # the first range that reaches a place
    same = np.lexsort((places, person, group))
    before = np.full(len(key), -1, dtype=np.int64)
    again = (person[same][1:] == person[same][:-1]) & (group[same][1:] == group[same][:-1])
    before[same[1:][again]] = same[:-1][again]
    begins = np.maximum(before + 1, reached)
    steps = np.zeros(len(key) + 1, dtype=np.int64)
    some = begins <= places
    np.add.at(steps, begins[some], 1)
    np.add.at(steps, places[some] + 1, -1)
    found = np.zeros(entries.classes, dtype=np.int64)
    np.maximum.at(found, group, np.cumsum(steps)[:-1])
    return found
