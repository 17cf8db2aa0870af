"""Levels that people chose for themselves: a k of one's own, or a guarding node (Xiao and Tao)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from anon_core.base.arrays import B1, I64


def largest_own(group: I64, own: I64, groups: int) -> I64:
    """Return the largest k that anyone of each group asks for, shape (groups,); 0 without rows.

    Parameters
    ----------
    group, own : int64 arrays of shape (entries,)
    """
    found = np.zeros(groups, dtype=np.int64)
    np.maximum.at(found, group, own)
    return found


def rows_that_can_stay(own: I64, count: I64) -> int:
    """Return the most rows that can be published, each among at least as many as it asks for.

    One class of all of them is best, since groups that keep it keep it when merged; and of any
    number of rows those that ask for least. So it is the largest i with i ≥ the i-th smallest k.

    Parameters
    ----------
    own, count : int64 arrays of shape (values,)
        Distinct k and the rows that ask for each.

    Examples
    --------
    >>> rows_that_can_stay(np.array([1, 3, 9]), np.array([1, 2, 1]))
    3
    """
    order = np.argsort(own)
    rows = np.cumsum(count[order])
    # Up to the last row of a kind all its rows fit where there are as many as the kind asks for.
    good = rows >= own[order]
    return int(rows[good].max(initial=0))


def below(lines: Sequence[Sequence[str]], node: str) -> B1:
    """Return which values are under a node of their tree, or are it; shape (values,).

    Parameters
    ----------
    lines : sequence of sequence of str
        Of each value, its text and what it is generalized to, level by level up to the root.
    """
    return np.array([node in line for line in lines], dtype=np.bool_)


def guards_hold(
    sizes: I64,
    present: Mapping[str, B1],
    under: Mapping[str, I64],
    most: Fraction,
) -> B1:
    """Return the groups in which no guarded value is likelier than p.

    Anyone who asks about a person of a group takes each of its rows for theirs with the same
    chance, so that a value under a person's guarding node is theirs with the share of rows under
    it.

    Parameters
    ----------
    sizes : int64 array of shape (groups,)
    present : mapping of str to bool array of shape (groups,)
        Of each guarding node, the groups in which someone named it.
    under : mapping of str to int64 array of shape (groups,)
        Of each guarding node, the rows whose value is under it.
    most : Fraction
        p.
    """
    good = np.ones(len(sizes), dtype=np.bool_)
    for node, here in present.items():
        good &= ~here | (under[node] * most.denominator <= sizes * most.numerator)
    return good
