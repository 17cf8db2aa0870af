"""A draft taken to pieces, so that nodes can be moved about, and put together again.

What an edit does to the groups it touches is decided here: an emptied group goes, a value that
represents itself passes its label up, and a label that was only suggested follows its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy.edit.draft import Draft, Group, check

#: Letters and members up to which a suggested label names the members.
_LETTERS = 48
_MEMBERS = 6


class Shape:
    """The groups of a draft by number, with their parents.

    Attributes
    ----------
    draft : Draft
        As it was before.
    groups : list of dict of int to Group
        Per level from 1, at place level - 1.
    parent : list of dict of int to int
        Per level from 0: each node's group on the next level.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.leaves = list(draft.leaves)
        self.next_id = draft.next_id
        self.groups = [{group.id: group for group in level} for level in draft.levels]
        self.parent = [
            {child: group.id for group in level for child in group.children}
            for level in draft.levels
        ]
        self._suggested: dict[tuple[int, int], bool] = {}
        self._touched: set[tuple[int, int]] = set()
        #: Groups that a person named in this edit.
        self.named: set[tuple[int, int]] = set()

    @property
    def top(self) -> int:
        """The number of the top level."""
        return len(self.groups)

    # ---- looking ---------------------------------------------------------------------------

    def group(self, level: int, number: int) -> Group:
        """Return a group.

        Raises
        ------
        BadHierarchy
            If there is none of that number.
        """
        if not 1 <= level <= self.top or number not in self.groups[level - 1]:
            raise self.refusal("has no such group", "It may have been changed meanwhile.")
        return self.groups[level - 1][number]

    def label(self, level: int, node: int) -> str:
        """Return a node's text: a value's own, or a group's label."""
        return self.leaves[node] if level == 0 else self.groups[level - 1][node].label

    def stands_for_itself(self, level: int, number: int) -> bool:
        """Return whether a group is only its one child again."""
        group = self.groups[level - 1][number]
        return len(group.children) == 1 and group.label == self.label(level - 1, group.children[0])

    def ancestor(self, level: int, node: int, at: int) -> int:
        """Return the number of the group on level `at` that holds a node of `level`."""
        for between in range(level, at):
            node = self.parent[between][node]
        return node

    def refusal(self, what: str, remedy: str, values: Sequence[str] = ()) -> BadHierarchy:
        """Return an error about this hierarchy."""
        return BadHierarchy(
            f"The hierarchy of '{self.draft.column}' {what}.", remedy=remedy, values=values
        )

    # ---- changing --------------------------------------------------------------------------

    def make(self, level: int, label: str, children: Iterable[int] = ()) -> int:
        """Add a group that has no parent yet, and return its number."""
        number = self.next_id
        self.next_id += 1
        members = tuple(children)
        self._touched.add((level, number))
        self.groups[level - 1][number] = Group(number, label, members)
        for child in members:
            self.parent[level - 1][child] = number
        return number

    def relabel(self, level: int, number: int, label: str) -> None:
        """Give a group a label; groups above that only represent it follow."""
        while True:
            follows = False
            if level < self.top:
                follows = self.stands_for_itself(level + 1, self.parent[level][number])
                self._note(level + 1, self.parent[level][number])
            self.groups[level - 1][number] = self.groups[level - 1][number]._replace(label=label)
            if not follows:
                return
            level, number = level + 1, self.parent[level][number]

    def take(self, level: int, nodes: Sequence[int]) -> set[tuple[int, int]]:
        """Take nodes out of their groups, which may be left empty; return these groups."""
        gone = set(nodes)
        left = {self.parent[level][node] for node in nodes if node in self.parent[level]}
        for number in left:
            self._note(level + 1, number)
            group = self.groups[level][number]
            rest = tuple(child for child in group.children if child not in gone)
            self.groups[level][number] = group._replace(children=rest)
        for node in nodes:
            self.parent[level].pop(node, None)
        return {(level + 1, number) for number in left}

    def put(self, level: int, nodes: Sequence[int], to: int, place: int | None = None) -> None:
        """Put nodes that have no parent into a group of the next level, at the end or a place."""
        self._note(level + 1, to)
        group = self.groups[level][to]
        place = len(group.children) if place is None else place
        children = (*group.children[:place], *nodes, *group.children[place:])
        self.groups[level][to] = group._replace(children=children)
        for node in nodes:
            self.parent[level][node] = to

    def lift(self, level: int, nodes: Sequence[int], to: int) -> list[int]:
        """Return groups of level `to` that represent the nodes, each alone; made where needed."""
        lifted = list(nodes)
        for above in range(level + 1, to + 1):
            lifted = [self.make(above, self.label(above - 1, node), (node,)) for node in lifted]
        return lifted

    def prune(self, touched: Iterable[tuple[int, int]]) -> None:
        """Remove groups that were left empty, and those that are empty because of it."""
        waiting = set(touched)
        for level in range(1, self.top):
            empty = [
                n for at, n in waiting if at == level and not self.groups[level - 1][n].children
            ]
            waiting |= self.take(level, empty)
            for number in empty:
                del self.groups[level - 1][number]

    def split(self, level: int, numbers: Sequence[int]) -> None:
        """Put in the place of each group its members, which represent themselves from now on."""
        instead: dict[int, list[int]] = {}
        for number in numbers:
            members = self.groups[level - 1][number].children
            instead[number] = self.lift(level - 1, members, level)
        for parent in {self.parent[level].pop(number) for number in numbers}:
            self._note(level + 1, parent)
            group = self.groups[level][parent]
            children = [m for child in group.children for m in instead.get(child, [child])]
            self.groups[level][parent] = group._replace(children=tuple(children))
            self.parent[level] |= dict.fromkeys(children, parent)
        for number in numbers:
            del self.groups[level - 1][number]

    def insert_level(self, at: int) -> None:
        """Insert a level on which every node of the level below represents itself."""
        above = self.parent[at - 1]
        texts = self.leaves if at == 1 else {n: g.label for n, g in self.groups[at - 2].items()}
        made = {node: self.next_id + i for i, node in enumerate(above)}
        self.next_id += len(made)
        self.groups.insert(at - 1, {n: Group(n, texts[node], (node,)) for node, n in made.items()})
        self.parent.insert(at - 1, made)
        self.parent[at] = {made[node]: parent for node, parent in above.items()}
        for number, group in self.groups[at].items():
            self.groups[at][number] = group._replace(
                children=tuple(made[child] for child in group.children)
            )

    def remove_level(self, level: int) -> None:
        """Remove a level; its groups' members go to the groups above."""
        gone = self.groups.pop(level - 1)
        for number, group in self.groups[level - 1].items():
            members = tuple(c for child in group.children for c in gone[child].children)
            self.groups[level - 1][number] = group._replace(children=members)
        del self.parent[level - 1]
        self.parent[level - 1] = {
            child: group.id for group in self.groups[level - 1].values() for child in group.children
        }

    # ---- labels ----------------------------------------------------------------------------

    def suggest(self, level: int, children: Sequence[int]) -> str:
        """Return a label for a group of these children that no other group of the level has."""
        used = {g.label for g in self.groups[level - 1].values() if g.children}
        named = self._named(level, children)
        if named and named not in used and named not in self._values:
            return named
        number = 1
        while f"Group {number}" in used or f"Group {number}" in self._values:
            number += 1
        return f"Group {number}"

    @cached_property
    def _values(self) -> frozenset[str]:
        return frozenset(self.leaves)

    def _named(self, level: int, children: Sequence[int]) -> str:
        """Return a label that shows what its members are, or an empty text."""
        if len(children) < 2:
            return ""
        if self.draft.rules.measured:
            first = self._end(level - 1, children[0], 0)
            last = self._end(level - 1, children[-1], -1)
            return f"{first}{'-' if '-' not in first + last else ' to '}{last}"
        if len(children) > _MEMBERS:
            return ""
        texts = [self.label(level - 1, child) for child in children]
        joined = f"{', '.join(texts[:-1])} or {texts[-1]}"
        return joined if len(joined) <= _LETTERS else ""

    def _end(self, level: int, node: int, which: int) -> str:
        return self.leaves[self._end_leaf(level, node, which)]

    def _end_leaf(self, level: int, node: int, which: int) -> int:
        """Return the first leaf (0) or the last one (-1) under a node."""
        while level > 0:
            node = self.groups[level - 1][node].children[which]
            level -= 1
        return node

    def _note(self, level: int, number: int) -> None:
        """Remember whether a group's label is a suggested one, before its members change."""
        if (level, number) in self._suggested:
            return
        group = self.groups[level - 1][number]
        self._touched.add((level, number))
        self._suggested[level, number] = level < self.top and (
            self.stands_for_itself(level, number)
            or group.label == self._named(level, group.children)
        )

    def _follow(self) -> None:
        """Let suggested labels follow the members of their groups, lower levels first."""
        for at in range(1, self.top):
            for level, number in [key for key, is_so in self._suggested.items() if is_so]:
                group = self.groups[level - 1].get(number)
                if level != at or group is None:
                    continue
                if len(group.children) == 1:
                    self.relabel(level, number, self.label(level - 1, group.children[0]))
                elif group.label != self._named(level, group.children):
                    self.relabel(level, number, self.suggest(level, group.children))

    # ---- done ------------------------------------------------------------------------------

    def done(self, *, order_may_change: bool = False) -> Draft:
        """Put the draft together again.

        Parameters
        ----------
        order_may_change : bool
            Whether groups of a column with a fixed order may change places, as when they are
            reordered.

        Raises
        ------
        BadHierarchy
            If it is no hierarchy any more.
        """
        keep_order = self.draft.fixed_order and not order_may_change
        rank = self._ranks() if keep_order else []
        if keep_order:
            self._sort(rank)
        self._follow()
        levels: list[tuple[Group, ...]] = []
        row = tuple(self.groups[-1].values())
        for level in range(self.top, 0, -1):
            levels.append(row)
            if level > 1:
                row = tuple(self.groups[level - 2][c] for group in row for c in group.children)
        draft = replace(
            self.draft,
            leaves=tuple(self.leaves),
            levels=tuple(reversed(levels)),
            next_id=self.next_id,
        )
        if keep_order:
            self._refuse_holes(draft, rank)
        check(draft)
        self._refuse_second_meanings()
        return draft

    def _ranks(self) -> list[float]:
        """Return each leaf's place in the column's order."""
        read = self.draft.rules.read
        if read is not None:
            return [read(text) for text in self.leaves]
        rank = [float(i) for i in range(len(self.leaves))]  # new values come last
        for place, leaf in enumerate(self.draft.order):
            rank[leaf] = float(place)
        return rank

    def _sort(self, rank: Sequence[float]) -> None:
        """Order the members of the groups that were touched, lower levels first."""
        for level, number in sorted(self._touched):
            group = self.groups[level - 1].get(number)
            if group is None or len(group.children) < 2:
                continue
            first = {child: rank[self._end_leaf(level - 1, child, 0)] for child in group.children}
            members = tuple(sorted(group.children, key=lambda child: first[child]))
            self.groups[level - 1][number] = group._replace(children=members)

    def _refuse_second_meanings(self) -> None:
        """Refuse a given name that means other values on another level: cells may be at any."""
        for level, number in self.named:
            own = self._span(level, number)
            label = self.groups[level - 1][number].label
            for other, groups in enumerate(self.groups, start=1):
                for group in groups.values():
                    if group.label == label and self._span(other, group.id) != own:
                        raise self.refusal(
                            f"has that label on level {other} already, for other values",
                            "Choose another one: a cell must mean one thing on every level.",
                        )

    def _span(self, level: int, number: int) -> tuple[int, int]:
        return self._end_leaf(level, number, 0), self._end_leaf(level, number, -1)

    def _refuse_holes(self, draft: Draft, rank: Sequence[float]) -> None:
        ranks = [rank[leaf] for leaf in draft.order]
        hole = next((i for i, (a, b) in enumerate(pairwise(ranks)) if not a < b), None)
        if hole is None:
            return
        what = draft.rules.several
        raise self.refusal(
            f"would get a group that leaves out {what} between its members, or overlaps another",
            f"The {what} have an order: group neighbours only.",
            [draft.leaves[draft.order[hole]], draft.leaves[draft.order[hole + 1]]],
        )
