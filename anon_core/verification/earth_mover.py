"""How far the values of a class are from the table's: the work of making one spread the other.

Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856. What a class costs goes with the
values that it shows, not with those of the table; distances are fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.verification.text.texts import Codes

_WORD = 1 << 63


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """The values of classes beside those of the table.

    Attributes
    ----------
    owner, value, count : int64 arrays of shape (entries,)
        The class, the value as an index into `table`, and the rows; by class and then by value.
    table : int64 array of shape (values,)
        The table's rows of each value.
    sizes : int64 array of shape (classes,)
        Rows of each class, none of them 0.
    """

    owner: Codes
    value: Codes
    count: Codes
    table: Codes
    sizes: Codes

    def fractions(self, above: Codes, under: int) -> list[Fraction]:
        """Return above / (under · rows of the class), shape (classes,)."""
        pairs = zip(above.tolist(), self.sizes.tolist(), strict=True)
        return [Fraction(int(part), under * size) for part, size in pairs]


def all_alike(spread: Spread) -> list[Fraction]:
    """Return half of all differences in share; of a value that is not shown it is all it has."""
    n, size = int(spread.table.sum()), spread.sizes[spread.owner]
    own = spread.table[spread.value]
    classes = len(spread.sizes)
    apart = _sums(spread.owner, np.abs(spread.count * n - own * size), classes)
    apart += spread.sizes * (n - _sums(spread.owner, own, classes))
    return spread.fractions(apart, 2 * n)


def in_order(spread: Spread) -> list[Fraction]:
    """Return the work where values stand in order: the first rows go to the first, and so on.

    Class and table are laid side by side, stretched to the same length, both ascending; what stands
    opposite each other goes from one place to the other.
    """
    n, m = int(spread.table.sum()), len(spread.table)
    if m < 2:
        return [Fraction(0)] * len(spread.sizes)
    dtype: Any = np.int64 if 8 * m * n * n < _WORD else np.object_
    size, place = spread.sizes[spread.owner], spread.value
    upto = np.concatenate([[0], np.cumsum(spread.table)])
    weighed = np.concatenate([[0], np.cumsum(spread.table * np.arange(m))]).astype(dtype)
    ends = np.cumsum(spread.count)
    first = np.searchsorted(spread.owner, spread.owner)
    ends = ends - (ends[first] - spread.count[first])  # within the class
    right, left = ends * n, (ends - spread.count) * n
    turn = np.clip(size * upto[place], left, right)  # before it the table's places are lower

    def places(at: Codes) -> npt.NDArray[Any]:
        """Sum up the table's places from the beginning to a point."""
        which = np.searchsorted(upto, at // size, side="right") - 1
        return weighed[which] * size + (at - size * upto[which]).astype(dtype) * which

    middle = places(turn)
    work = (2 * turn - left - right).astype(dtype) * place
    work += places(left) + places(right) - 2 * middle
    return spread.fractions(_sums(spread.owner, work, len(spread.sizes)), n * (m - 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """A tree as its nodes: what is above each, how deep it hangs, and how high it stands.

    Attributes
    ----------
    above : int64 array of shape (nodes,)
        -1 of the root.
    depth, height : int64 arrays of shape (nodes,)
        Steps to the root; longest way down.
    """

    above: Codes
    depth: Codes
    height: Codes


def by_tree(spread: Spread, tree: Tree, node: Codes) -> list[Fraction]:
    """Return the work of exchanging at every node what its children have too much or lack.

    What they lack is what they have too much less what the node itself has: so a child of which a
    class shows nothing needs no look.

    Parameters
    ----------
    node : int64 array of shape (values,)
        Where each of the table's values hangs.
    """
    n, nodes, top = int(spread.table.sum()), len(tree.above), int(tree.height.max(initial=0))
    whole = np.zeros(nodes, dtype=np.int64)
    np.add.at(whole, node, spread.table)
    for deep in range(int(tree.depth.max(initial=0)), 0, -1):
        here = np.flatnonzero(tree.depth == deep)
        np.add.at(whole, tree.above[here], whole[here])
    moved = np.zeros(len(spread.sizes), dtype=np.int64)
    own_key, own_count = spread.owner * nodes + node[spread.value], spread.count
    own_deep = tree.depth[node[spread.value]]
    key, count = own_key[:0], own_count[:0]
    surplus_of, surplus = own_key[:0], own_count[:0]
    for deep in range(int(tree.depth.max(initial=0)), -1, -1):
        here = own_deep == deep
        key, count = _joined(
            np.concatenate([key, own_key[here]]), np.concatenate([count, own_count[here]])
        )
        owner, at = key // nodes, key % nodes
        extra = count * n - whole[at] * spread.sizes[owner]
        # Every node that has a surplus below it is among them.
        much = np.zeros(len(key), dtype=np.int64)
        much[np.searchsorted(key, surplus_of)] = surplus
        np.add.at(moved, owner, np.minimum(much, much - extra) * tree.height[at])
        if deep:
            more = extra > 0
            up = owner * nodes + tree.above[at]
            surplus_of, surplus = _joined(up[more], extra[more])
            key, count = _joined(up, count)
    return spread.fractions(moved, n * max(top, 1))


def _joined(key: Codes, count: Codes) -> tuple[Codes, Codes]:
    """Return the different keys in ascending order, and the sum of each."""
    found, place = np.unique(key, return_inverse=True)
    return found, _sums(place, count, len(found))


def _sums(owner: Codes, values: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    found = np.zeros(size, dtype=values.dtype)
    np.add.at(found, owner, values)
    return found
