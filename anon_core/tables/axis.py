"""One column of a table as a tree: its root is the margin, its leaves are the finest categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadHierarchy, BadPlan, clipped, listing
from anon_core.data.hierarchy.model import Hierarchy
from anon_core.data.table import MISSING

#: What the margin is called, and what a missing value is.
TOTAL, NOT_KNOWN = "Total", "(missing)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Axis:
    """The categories of one column and how they add up.

    Attributes
    ----------
    labels : tuple of str
        One a node, the root first, every node before its children.
    parents : tuple of int
        The node above; -1 for the root.
    leaf_of : int32 array, or None
        The leaf node of each leaf of the hierarchy the axis was made of.
    """

    column: str
    labels: tuple[str, ...]
    parents: tuple[int, ...]
    leaf_of: npt.NDArray[np.int32] | None = None

    @classmethod
    def from_tree(cls, column: str, tree: Mapping[str, Sequence[str]]) -> Axis:
        """Make an axis of parents and their children, the root first.

        Raises
        ------
        BadHierarchy
            If a node is under two parents, or not under the root.

        Examples
        --------
        >>> Axis.from_tree("c", {"T": ["A", "B"], "A": ["A1", "A2"]}).labels
        ('T', 'A', 'A1', 'A2', 'B')
        """
        root = next(iter(tree), TOTAL)
        times = Counter(child for children in tree.values() for child in children)
        twice = [child for child, n in times.items() if n > 1 or child == root]
        if twice:
            raise BadHierarchy(
                f"'{clipped(column)}': {listing(twice)} is under two parents; allowed is one.",
                remedy="A tree adds each value to one subtotal. Make a second table for another "
                "grouping, and audit both together.",
            )
        labels: list[str] = []
        parents: list[int] = []

        def add(label: str, parent: int) -> None:
            here = len(labels)
            labels.append(label)
            parents.append(parent)
            for child in tree.get(label, ()):
                add(child, here)

        add(root, -1)
        lost = set(tree) - set(labels)
        if lost:
            raise BadHierarchy(
                f"'{clipped(column)}': {listing(sorted(lost))} is not below '{clipped(root)}'.",
                remedy="Name its parent.",
            )
        return cls(column=column, labels=tuple(labels), parents=tuple(parents))

    @classmethod
    def from_hierarchy(cls, hierarchy: Hierarchy, levels: Sequence[int] | None = None) -> Axis:
        """Make an axis of some levels of a hierarchy; the margin is always there.

        A node whose only child has the same label is the same node, and appears once.

        Raises
        ------
        BadPlan
            If there is no such level.
        """
        top = hierarchy.height
        chosen = sorted(set(range(top) if levels is None else levels), reverse=True)
        wrong = [level for level in chosen if not 0 <= level <= top]
        if wrong:
            raise BadPlan(
                f"'{clipped(hierarchy.column)}' has no level {wrong[0]}; allowed are 0 to {top}.",
                remedy="Level 0 is the values themselves; the margin is always there.",
            )
        labels, parents = [TOTAL], [-1]
        above = np.zeros(len(hierarchy.leaves), dtype=np.int32)
        for level in chosen:
            if level == top:
                continue
            own = hierarchy.node(level)
            below = above.copy()
            for node, text in enumerate(hierarchy.labels[level]):
                inside = own == node
                parent = int(above[inside][0])
                text = NOT_KNOWN if text == MISSING else text
                if text == labels[parent] and bool((own[above == parent] == node).all()):
                    continue  # the same cell, and said once
                below[inside] = len(labels)
                labels.append(text)
                parents.append(parent)
            above = below
        axis = cls(
            column=hierarchy.column,
            labels=tuple(labels),
            parents=tuple(parents),
            leaf_of=above,
        )
        return axis._in_order()._unique()

    def _in_order(self) -> Axis:
        """Return the same tree with every subtotal directly before its parts."""
        order: list[int] = []
        stack = [0]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(reversed(self.children[node]))
        place = {node: at for at, node in enumerate(order)}
        leaf_of = None
        if self.leaf_of is not None:
            leaf_of = np.array([place[int(n)] for n in self.leaf_of], dtype=np.int32)
        return Axis(
            column=self.column,
            labels=tuple(self.labels[node] for node in order),
            parents=tuple(place.get(self.parents[node], -1) for node in order),
            leaf_of=leaf_of,
        )

    def _unique(self) -> Axis:
        """Return the axis with labels that are unique: a reader finds a cell by them."""
        labels: list[str] = []
        for node, text in enumerate(self.labels):
            label, number = text, 1
            while label in labels:
                number += 1
                above = self.labels[self.parents[node]]
                label = f"{text} of {above}" if number == 2 else f"{text} ({number})"
            labels.append(label)
        return Axis(
            column=self.column, labels=tuple(labels), parents=self.parents, leaf_of=self.leaf_of
        )

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes directly below each node."""
        below: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        return tuple(map(tuple, below))

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The nodes without children."""
        return tuple(node for node, below in enumerate(self.children) if not below)

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """How far below the root each node is."""
        found: list[int] = []
        for parent in self.parents:
            found.append(0 if parent < 0 else found[parent] + 1)
        return tuple(found)

    @cached_property
    def chains(self) -> npt.NDArray[np.int32]:
        """Node above each node by depth, shape (depths, nodes); -1 below the node itself."""
        found = np.full((max(self.depth) + 1, len(self.labels)), -1, dtype=np.int32)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                found[:, node] = found[:, parent]
            found[self.depth[node], node] = node
        return found
