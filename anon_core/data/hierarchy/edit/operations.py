"""The operations that edit a hierarchy, each a small value; `editing.apply` carries them out."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.data.hierarchy.edit.shaping import Shape
from anon_core.data.table import MISSING_TOKENS

#: Letters a label that a person writes may have.
MOST_LETTERS = 200
#: Levels above the values, the top counted.
MOST_LEVELS = 30
#: Letters that turn the direction of a text, with which a label could pose as another one.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, kw_only=True)
class Operation(ABC):
    """One edit; nodes are named by level and number (see `anon_core.data.hierarchy.edit.draft`)."""

    do: ClassVar[str]

    @abstractmethod
    def edit(self, shape: Shape) -> bool:
        """Change the shape; return whether values of an ordered column may change places."""


@dataclass(frozen=True, kw_only=True)
class MakeGroup(Operation):
    """Put nodes of one level into a new group; at the top, a new level is made for it.

    Attributes
    ----------
    level : int
        Level of the nodes.
    at : int
        Level of the new group; 0 means the one above the nodes.
    label : str
        Empty for a suggested one.
    """

    do: ClassVar[str] = "group"
    level: int
    nodes: tuple[int, ...]
    at: int = 0
    label: str = ""

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        at = self.at or self.level + 1
        nodes = _nodes(shape, self.level, self.nodes)
        if not self.level < at <= shape.top:
            raise shape.refusal(
                f"cannot have a new group on level {at}",
                "A group is above its members; the top stays the top.",
            )
        if at == shape.top:
            _insert_level(shape, at)
        common = at + 1
        while len({shape.ancestor(self.level, node, common) for node in nodes}) > 1:
            common += 1
        parent = shape.ancestor(self.level, nodes[0], common)
        beside = shape.ancestor(self.level, nodes[0], common - 1)
        left = shape.take(self.level, nodes)
        members = shape.lift(self.level, nodes, at - 1)
        label = clean_label(shape, self.label) if self.label else shape.suggest(at, members)
        group = shape.make(at, label, members)
        if self.label:
            shape.named.add((at, group))
        place = shape.groups[common - 1][parent].children.index(beside)
        shape.put(common - 1, shape.lift(at, [group], common - 1), parent, place)
        shape.prune(left)
        return False


@dataclass(frozen=True, kw_only=True)
class Move(Operation):
    """Put nodes of one level into another group, of the next level or above.

    Attributes
    ----------
    level : int
        Level of the nodes.
    onto : int
        Level of the group that takes them.
    to : int
        Its number. On the levels between, the nodes represent themselves.
    """

    do: ClassVar[str] = "move"
    level: int
    nodes: tuple[int, ...]
    onto: int
    to: int

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        if self.onto <= self.level:
            raise shape.refusal(
                "would have a cycle: a group cannot be in one of its own level or below",
                "Move it into a group of a higher level.",
            )
        nodes = _nodes(shape, self.level, self.nodes)
        shape.group(self.onto, self.to)
        nodes = [node for node in nodes if not self._is_there(shape, node)]
        left = shape.take(self.level, nodes)
        if nodes:
            shape.put(self.onto - 1, shape.lift(self.level, nodes, self.onto - 1), self.to)
        shape.prune(left)
        return False

    def _is_there(self, shape: Shape, node: int) -> bool:
        """Return whether a node already is in the group, alone on the levels between."""
        for level in range(self.level, self.onto - 1):
            node = shape.parent[level][node]
            if not shape.stands_for_itself(level + 1, node):
                return False
        return shape.parent[self.onto - 1][node] == self.to


@dataclass(frozen=True, kw_only=True)
class Rename(Operation):
    """Give a group another label."""

    do: ClassVar[str] = "rename"
    level: int
    node: int
    label: str

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        if self.level == 0:
            raise shape.refusal(
                "lists the data's own values, which cannot be renamed",
                "Put the value into a group, and name that.",
            )
        shape.group(self.level, self.node)
        shape.relabel(self.level, self.node, clean_label(shape, self.label))
        shape.named.add((self.level, self.node))
        return False


@dataclass(frozen=True, kw_only=True)
class Ungroup(Operation):
    """Dissolve groups of one level; their members represent themselves there."""

    do: ClassVar[str] = "ungroup"
    level: int
    nodes: tuple[int, ...]

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        if self.level in (0, shape.top):
            raise shape.refusal(
                "keeps its values and its top: only groups between can be dissolved",
                "Choose a group of a level between them.",
            )
        nodes = _nodes(shape, self.level, self.nodes)
        groups = [node for node in nodes if not shape.stands_for_itself(self.level, node)]
        if not groups:
            raise shape.refusal(
                f"has no group there on level {self.level}: the value is its own group",
                "Choose a group with several members.",
            )
        shape.split(self.level, groups)
        return False


@dataclass(frozen=True, kw_only=True)
class Reorder(Operation):
    """Move nodes of one level before or after another one under the same group.

    Nodes that represent themselves on the levels above count as being under the group beyond.
    """

    do: ClassVar[str] = "reorder"
    level: int
    nodes: tuple[int, ...]
    beside: int
    after: bool = False

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        if shape.draft.rules.measured:
            raise shape.refusal(
                f"has the order of its {shape.draft.rules.several}", "It cannot be changed."
            )
        nodes = _nodes(shape, self.level, self.nodes)
        (beside,) = _nodes(shape, self.level, [self.beside])
        level = self.level
        while len({shape.parent[level][node] for node in (*nodes, beside)}) > 1:
            if any(len(shape.group(level + 1, shape.parent[level][n]).children) > 1 for n in nodes):
                raise shape.refusal(
                    "keeps its groups together: these are not in the same one",
                    "Move them into one group first.",
                )
            nodes = [shape.parent[level][node] for node in nodes]
            beside = shape.parent[level][beside]
            level += 1
        if beside in nodes:
            return True
        parent = shape.parent[level][beside]
        shape.take(level, nodes)
        place = shape.groups[level][parent].children.index(beside) + self.after
        shape.put(level, nodes, parent, place)
        return True


@dataclass(frozen=True, kw_only=True)
class InsertLevel(Operation):
    """Insert a level on which everything represents itself; `at` 0 means just under the top."""

    do: ClassVar[str] = "insert_level"
    at: int = 0

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        _insert_level(shape, self.at or shape.top)
        return False


@dataclass(frozen=True, kw_only=True)
class RemoveLevel(Operation):
    """Remove a level; its groups' members go to the groups above."""

    do: ClassVar[str] = "remove_level"
    level: int

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        if not 1 <= self.level < shape.top:
            raise shape.refusal(
                "keeps its values and its top",
                f"Only the {shape.top - 1} levels between can be removed."
                if shape.top > 1
                else "There is no level between.",
            )
        shape.remove_level(self.level)
        return False


@dataclass(frozen=True, kw_only=True)
class Place(Operation):
    """Add values that have no place yet.

    Attributes
    ----------
    onto, to : int
        Level and number of the group that takes them; level 0 puts them under the top, where
        they represent themselves.
    """

    do: ClassVar[str] = "place"
    values: tuple[str, ...]
    onto: int = 0
    to: int = 0

    def edit(self, shape: Shape) -> bool:
        """See `Operation.edit`."""
        onto = self.onto or shape.top
        to = self.to if self.onto else next(iter(shape.groups[-1]))
        shape.group(onto, to)
        if not self.values:
            raise shape.refusal("was given no value to place", "Choose the values to place.")
        known = set(shape.leaves)
        twice = [value for value in self.values if value in known]
        if twice or len(set(self.values)) < len(self.values):
            raise shape.refusal(
                "already has a place for some of the values", "List every value once.", twice[:5]
            )
        if shape.draft.rules.measured:
            _check_measures(shape, self.values)
        new = range(len(shape.leaves), len(shape.leaves) + len(self.values))
        shape.leaves += self.values
        shape.put(onto - 1, shape.lift(0, new, onto - 1), to)
        return (
            not shape.draft.rules.measured
        )  # a new value's place in an order is the end of its group


def clean_label(shape: Shape, label: str) -> str:
    """Return a label without blanks at its ends, or refuse it.

    Raises
    ------
    BadHierarchy
        If it is empty, too long, means a missing value, or holds letters that cannot be seen.
    """
    if len(label) > MOST_LETTERS:
        raise shape.refusal(
            f"was given a label of {len(label):,} letters; at most {MOST_LETTERS} are allowed",
            "Use a shorter label.",
        )
    label = " ".join(label.split())
    if label in MISSING_TOKENS:
        raise shape.refusal(
            "was given a label that is empty or is how a missing value is written",
            "Give the group a name.",
        )
    if any(unicodedata.category(c) in ("Cc", "Cs") or c in _TURNING for c in label):
        raise shape.refusal("was given a label with invisible characters", "Type the label again.")
    return label


def _insert_level(shape: Shape, at: int) -> None:
    if not 1 <= at <= shape.top:
        raise shape.refusal(f"cannot have a new level {at}", f"Choose 1 to {shape.top}.")
    if shape.top >= MOST_LEVELS:
        raise shape.refusal(f"has {MOST_LEVELS} levels, which is the most", "Remove a level.")
    shape.insert_level(at)


def _nodes(shape: Shape, level: int, nodes: Sequence[int]) -> list[int]:
    """Return nodes in the order in which they are shown, or refuse them."""
    if not nodes:
        raise shape.refusal("cannot have an empty group", "Choose at least one value or group.")
    known = shape.parent[level] if 0 <= level < shape.top else {}
    chosen = set(nodes)
    if not chosen <= known.keys():
        raise shape.refusal(
            f"has no such value or group on level {level}", "It may have been changed meanwhile."
        )
    shown = (
        shape.draft.order if level == 0 else [group.id for group in shape.draft.levels[level - 1]]
    )
    return [node for node in shown if node in chosen]


def _check_measures(shape: Shape, values: Sequence[str]) -> None:
    rules = shape.draft.rules
    read = rules.measure
    bad = [value for value in values if read(value) != read(value)]
    if bad:
        raise shape.refusal(
            f"is one of {rules.several}, and {len(bad)} of the values are not",
            f"Correct them, or declare '{shape.draft.column}' as text.",
            bad[:5],
        )
    known = {read(text) for text in shape.leaves}
    again = [value for value in values if read(value) in known]
    if again:
        raise shape.refusal(
            "already has some of the values in another spelling",
            "List every value once.",
            again[:5],
        )
