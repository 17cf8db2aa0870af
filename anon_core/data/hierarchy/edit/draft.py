"""A hierarchy as it is being edited: plain values, every leaf with exactly one path to one top.

A node keeps its number over all edits. On level 0 the number is a value's place in `leaves`; a
group has a number of its own. A group with one child and its child's label **represents itself**:
that is how a value that belongs to no group of a level is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.construction import flat, from_rows
from anon_core.data.hierarchy.edit.placing import placed
from anon_core.data.hierarchy.model import Hierarchy
from anon_core.data.values.kinds import KINDS, ColumnKind, Kind, kind_that_writes


class Group(NamedTuple):
    """One group: its number, its label, and the numbers of its children on the level below."""

    id: int
    label: str
    children: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A hierarchy being edited; `anon_core.data.hierarchy.edit.editing` is what can be done to it.

    Attributes
    ----------
    kind : str
        One of `anon_core.data.values.kinds.KINDS`, text also where texts are ordered. Groups of
        what has a measure, such as numbers and dates, are intervals, and their order is fixed.
    ordered : bool
        Whether the values of a text column have an order, so that groups must be runs of it.
    leaves : tuple of str
        The values; a place in it is the number of a leaf. The missing value is none of them.
    levels : tuple of tuples of Group
        Levels 1 to the top, groups in the order in which they are shown. The last one is the top.
    next_id : int
        The number that the next new group gets.
    """

    column: str
    kind: ColumnKind
    ordered: bool
    leaves: tuple[str, ...]
    levels: tuple[tuple[Group, ...], ...]
    next_id: int

    @property
    def rules(self) -> Kind:
        """What holds of the values' kind."""
        return KINDS[self.kind]

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.levels)

    @property
    def fixed_order(self) -> bool:
        """Whether a group must be a run of neighbours."""
        return self.ordered or self.rules.measured

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The leaves' numbers in the order in which they are shown: depth first."""
        return tuple(child for group in self.levels[0] for child in group.children)

    def measure(self, leaf: int) -> float:
        """Return what a leaf measures, such as a number or a day."""
        return self.rules.measure(self.leaves[leaf])

    def as_dict(self) -> dict[str, Any]:
        """Return the draft as plain values that JSON can write; `draft_of_dict` reads it again."""
        return {
            "column": self.column,
            "kind": self.kind,
            "ordered": self.ordered,
            "leaves": list(self.leaves),
            "levels": [[[g.id, g.label, list(g.children)] for g in level] for level in self.levels],
            "next_id": self.next_id,
        }


def draft_of(hierarchy: Hierarchy, *, ordered: bool = False) -> Draft:
    """Return a hierarchy as a draft; `to_rows` gives its level table again.

    Parameters
    ----------
    ordered : bool
        Whether the values of a text column have an order: that of the hierarchy.

    Raises
    ------
    BadHierarchy
        If the column has no value but the missing one.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.hierarchy import from_rows
    >>> from anon_core.data.column import encode
    >>> city = encode("city", np.array([0, 1], dtype=np.int32), ["Bonn", "Graz"])
    >>> draft = draft_of(from_rows(city, [["Bonn", "Germany", "*"], ["Graz", "Austria", "*"]]))
    >>> draft.levels[0]
    (Group(id=0, label='Germany', children=(0,)), Group(id=1, label='Austria', children=(1,)))
    >>> to_rows(draft)
    [('Bonn', 'Germany', '*'), ('Graz', 'Austria', '*')]
    """
    kind: ColumnKind = "text"
    if hierarchy.measure is not None and hierarchy.leaves:
        kind = kind_that_writes(hierarchy.leaves[0], float(hierarchy.measure[0]))
    leaves = hierarchy.leaves[:-1] if hierarchy.has_missing else hierarchy.leaves
    if not leaves:
        raise BadHierarchy(
            f"Column '{hierarchy.column}' has no values to build a hierarchy of.",
            remedy="Give its role to another column.",
        )
    levels: list[tuple[Group, ...]] = []
    below = list(range(len(leaves) + 1))  # where each node of the level below begins, and the end
    first_id, next_id = 0, 0
    for level in range(1, hierarchy.height + 1):
        starts = [s for s in hierarchy.starts[level].tolist() if s < len(leaves)]
        place = {start: i for i, start in enumerate(below)}
        ends = [*starts[1:], len(leaves)]
        levels.append(
            tuple(
                Group(
                    next_id + i,
                    label,
                    tuple(range(first_id + place[begin], first_id + place[end])),
                )
                for i, (begin, end, label) in enumerate(
                    zip(starts, ends, hierarchy.labels[level], strict=False)
                )
            )
        )
        first_id, next_id = next_id, next_id + len(starts)
        below = [*starts, len(leaves)]
    return Draft(
        column=hierarchy.column,
        kind=kind,
        ordered=ordered and kind == "text",
        leaves=leaves,
        levels=tuple(levels),
        next_id=next_id,
    )


def draft_of_values(column: Column) -> Draft:
    """Return the draft to start from where there is no hierarchy: the values, and ``*`` above.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> sex = encode("sex", np.array([0, 1, 0], dtype=np.int32), ["M", "F"])
    >>> draft_of_values(sex).levels
    ((Group(id=0, label='*', children=(0, 1)),),)
    """
    return draft_of(flat(column), ordered=KINDS[column.kind].ordered)


def draft_of_rows(column: Column, rows: Sequence[Sequence[str]]) -> Draft:
    """Return a level table as a draft, also where it lacks values of the column (`unplaced`).

    Raises
    ------
    BadHierarchy
        If the table is none, or knows no value of the column.
    """
    gone = set(placed(rows, column).unplaced) if rows else set[str]()
    if gone:
        lacking = np.array([*(value in gone for value in column.values), False], dtype=np.bool_)
        column = column.take(~lacking[column.codes])
    return draft_of(from_rows(column, rows), ordered=KINDS[column.kind].ordered)


def unplaced(draft: Draft, column: Column) -> tuple[str, ...]:
    """Return the values of a column that a draft has no place for.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> sex = encode("sex", np.array([0, 1, 2], dtype=np.int32), ["M", "F", "X"])
    >>> unplaced(draft_of_rows(sex, [["F", "*"], ["M", "*"]]), sex)
    ('X',)
    """
    return placed([(text,) for text in draft.leaves], column).unplaced


def to_rows(draft: Draft) -> list[tuple[str, ...]]:
    """Return the level table: a row a value, its text first, then its label on each level.

    `from_rows` makes the same hierarchy of it.
    """
    columns: list[list[str]] = [[draft.leaves[leaf] for leaf in draft.order]]
    sizes = [1] * len(draft.order)  # leaves under each node of the level below, in shown order
    for level in draft.levels:
        labels: list[str] = []
        above: list[int] = []
        place = 0
        for group in level:
            count = sum(sizes[place : place + len(group.children)])
            place += len(group.children)
            labels += [group.label] * count
            above.append(count)
        columns.append(labels)
        sizes = above
    return list(zip(*columns, strict=True))


def draft_of_dict(plain: Mapping[str, Any]) -> Draft:
    """Read what `Draft.as_dict` wrote.

    Raises
    ------
    BadHierarchy
        If it is no draft, or breaks a rule of `check`.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> sex = draft_of_values(encode("sex", np.array([0, 1], dtype=np.int32), ["M", "F"]))
    >>> draft_of_dict(sex.as_dict()) == sex
    True
    """
    try:
        draft = Draft(
            column=plain["column"],
            kind=plain["kind"],
            ordered=plain["ordered"],
            leaves=tuple(plain["leaves"]),
            levels=tuple(
                tuple(Group(number, label, tuple(children)) for number, label, children in level)
                for level in plain["levels"]
            ),
            next_id=plain["next_id"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadHierarchy(
            "This is not a draft of a hierarchy.", remedy="Start again from the values."
        ) from error
    check(draft)
    return draft


def check(draft: Draft) -> None:
    """Refuse a draft that is no hierarchy.

    Raises
    ------
    BadHierarchy
        If there is not exactly one top, a group is empty, a node has no parent or two, a label
        is twice on a level or is a value outside of its group, or a group of numbers or dates
        is not an interval.
    """
    if not draft.levels or len(draft.levels[-1]) != 1:
        tops = len(draft.levels[-1]) if draft.levels else 0
        raise _refusal(draft, f"has {tops} tops", "Put everything under one group.")
    if len(set(draft.leaves)) < len(draft.leaves):
        raise _refusal(draft, "lists a value twice", "List every value once.")
    below = list(range(len(draft.leaves)))
    for level, groups in enumerate(draft.levels, start=1):
        if not all(group.children for group in groups):
            raise _refusal(draft, f"has an empty group on level {level}", "Remove the group.")
        children = [child for group in groups for child in group.children]
        if (sorted(children) != below) if level == 1 else (children != below):
            raise _refusal(
                draft,
                f"has a node under level {level} with no parent or with two",
                "Give every node one parent; a hierarchy has no cycles.",
            )
        labels = {group.label for group in groups}
        if len(labels) < len(groups):
            raise _refusal(draft, f"has a label twice on level {level}", "Rename one of them.")
        below = [group.id for group in groups]
    numbers = [group.id for groups in draft.levels for group in groups]
    if len(set(numbers)) < len(numbers) or not all(n < draft.next_id for n in numbers):
        raise _refusal(draft, "has two groups of one number", "Start again from the values.")
    _check_values_as_labels(draft)
    if draft.rules.measured:
        measures = [draft.measure(leaf) for leaf in draft.order]
        if not all(a < b for a, b in pairwise(measures)):  # also false where one is NaN
            raise _refusal(
                draft,
                f"has groups that are not intervals of the column's {draft.rules.several}",
                "Groups of numbers and dates must be intervals that do not overlap.",
            )


def _check_values_as_labels(draft: Draft) -> None:
    """Refuse a label that is also a value outside of its group: one text would mean two things."""
    place = {draft.leaves[leaf]: i for i, leaf in enumerate(draft.order)}
    sizes = [1] * len(draft.leaves)
    for level, groups in enumerate(draft.levels, start=1):
        above: list[int] = []
        node = leaf = 0
        for group in groups:
            count = sum(sizes[node : node + len(group.children)])
            meant = place.get(group.label, leaf)
            if not leaf <= meant < leaf + count:
                raise _refusal(
                    draft,
                    f"has a label on level {level} that is also a value outside of its group",
                    "Give the group a label that no other value has.",
                    [group.label],
                )
            node += len(group.children)
            leaf += count
            above.append(count)
        sizes = above


def _refusal(draft: Draft, what: str, remedy: str, values: Sequence[str] = ()) -> BadHierarchy:
    return BadHierarchy(f"The hierarchy of '{draft.column}' {what}.", remedy=remedy, values=values)
