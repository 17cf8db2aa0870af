"""What two releases leave open together: the values of the classes that people fit in each.

A value set is a row of bits, so that candidates of both releases are intersected in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.matching.cut_tree import CutTree, cuts_between, hull
from anon_core.release.knowledge.earlier_release import Earlier
from anon_core.release.release import View

Bits = npt.NDArray[np.uint64]
#: Cells of people times classes that are looked at between two looks at the cancel button.
_CELLS = 1 << 26


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """Classes that people fit by some columns, and the values of a sensitive column in each.

    Attributes
    ----------
    places : tuple of int
        The columns of a person's tuple that count.
    cover : sequence of bool arrays of shape (texts, leaves)
        A column each: the leaves that a text represents.
    cells : int32 array of shape (classes, columns)
        Texts of each class.
    pool : int64 array of shape (classes,)
        Which values are those of a class: the class's own, or those of its whole group where the
        column is permuted separately.
    rows : int64 array of shape (pools,)
    entry : int64 array of shape (entries,)
        Pool of each entry of values.
    value : int32 array of shape (entries,)
    count : int64 array of shape (entries,)
    """

    places: tuple[int, ...]
    cover: Sequence[B1]
    cells: I32
    pool: I64
    rows: I64
    entry: I64
    value: I32
    count: I64

    def bits(self, values: int) -> Bits:
        """Return the values of each pool, shape (pools, words)."""
        found = np.zeros((len(self.rows), _words(values)), dtype=np.uint64)
        where = self.entry * found.shape[1] + self.value // 64
        np.bitwise_or.at(found.reshape(-1), where, _bit(self.value))
        return found

    def fitting(self, people: I32, context: Context) -> Iterator[tuple[I64, I64]]:
        """Yield people and the pools of classes that fit them, people ascending, in parts."""
        every = np.arange(len(self.cells))
        if len(every) * len(people) <= _CELLS:
            yield from self._compared(people, np.arange(len(people)), every, context)
            return
        tree, there = self._apart
        boxes = np.bincount(tree.node, minlength=len(tree.column))
        step = max(1, _CELLS // max(int(boxes.max(initial=1)), 1))
        for begin in range(0, len(people), step):
            rows = np.arange(begin, min(begin + step, len(people)))
            node = tree.last(people[rows][:, list(self.places)], context)
            found = [self._alone(people, rows, node, tree, there)]
            for own in np.flatnonzero(boxes > 1).tolist():
                inside = there[tree.node == own]
                found += self._compared(people, rows[node == own], inside, context)
            who, which = (np.concatenate(side) for side in zip(*found, strict=True))
            order = np.argsort(who, kind="stable")
            yield who[order], which[order]

    def _compared(
        self, people: I32, rows: I64, some: I64, context: Context
    ) -> Iterator[tuple[I64, I64]]:
        """Yield rows and the pools of some classes that fit them: each is compared with each."""
        classes, cells, pool = len(some), self.cells[some], self.pool[some]
        step = max(1, _CELLS // max(classes, 1))
        for begin in range(0, len(rows), step):
            context.check()
            part = people[rows[begin : begin + step]]
            fits = np.full((len(part), (classes + 7) // 8), 255, dtype=np.uint8)
            for d, place in enumerate(self.places):
                leaves, own = np.unique(part[:, place], return_inverse=True)
                of_leaf = np.stack(
                    [np.packbits(self.cover[d][cells[:, d], leaf]) for leaf in leaves]
                )
                fits &= of_leaf[own.ravel()]
            who, byte = fits.nonzero()
            bit = np.unpackbits(fits[who, byte][:, None], axis=1)
            pair, at = bit.nonzero()
            found = byte[pair] * 8 + at
            inside = found < classes  # the last byte is filled up
            yield rows[(who[pair] + begin)[inside]], pool[found[inside]]

    @cached_property
    def _apart(self) -> tuple[CutTree, I64]:
        """Cuts between classes, and the classes that they are of: those that fit someone."""
        low = np.zeros((len(self.cells), len(self.places)), dtype=np.int64)
        high = np.zeros_like(low)
        present = np.ones(len(self.cells), dtype=np.bool_)
        for d, cover in enumerate(self.cover):
            first, last, seen = hull(cover)
            low[:, d], high[:, d] = first[self.cells[:, d]], last[self.cells[:, d]]
            present &= seen[self.cells[:, d]]
        there = np.flatnonzero(present)
        rows = np.ones(len(there), dtype=np.int64)
        return cuts_between(low[there], high[there], rows, shared=False), there

    def _alone(
        self, people: I32, rows: I64, node: I64, tree: CutTree, there: I64
    ) -> tuple[I64, I64]:
        """Return the rows that fit a class which is alone at its node, and its pool."""
        of_node = np.full(len(tree.column), -1, dtype=np.int64)
        of_node[tree.node] = there
        of_node[np.bincount(tree.node, minlength=len(of_node)) > 1] = -1
        which = of_node[node]
        fits = which >= 0
        for d, (place, cover) in enumerate(zip(self.places, self.cover, strict=True)):
            fits &= cover[self.cells[which, d], people[rows, place]]
        return rows[fits], self.pool[which[fits]]

    def candidates(self, people: I32, values: int, context: Context) -> Bits:
        """Return the values of all classes that each person fits, shape (people, words)."""
        own = self.bits(values)
        found = np.zeros((len(people), own.shape[1]), dtype=np.uint64)
        for who, which in self.fitting(people, context):
            if len(who):
                first = np.flatnonzero(np.concatenate([[True], who[1:] != who[:-1]]))
                found[who[first]] = np.bitwise_or.reduceat(own[which], first, axis=0)
        return found


def _words(values: int) -> int:
    return max(1, (values + 63) // 64)


def _bit(value: npt.NDArray[np.integer]) -> Bits:
    return np.uint64(1) << (value % 64).astype(np.uint64)


def how_many(bits: Bits) -> I64:
    """Return how many values each row of bits holds."""
    return np.bitwise_count(bits).sum(axis=1).astype(np.int64)


def holds(bits: Bits, value: I32) -> B1:
    """Say of each row of bits whether it holds a value of its own."""
    word = np.take_along_axis(bits, (value // 64).astype(np.int64)[:, None], axis=1)[:, 0]
    return (word & _bit(value)) != 0


def classes_of_view(view: View, hierarchies: Mapping[str, Hierarchy], column: str) -> Classes:
    """Return the classes of a release whose quasi-identifiers stay together.

    Raises
    ------
    AnonError
        If they do not.
    """
    block = view.whole_quasi()
    if block is None:
        raise AnonError("Quasi-identifiers are split.", remedy="Ask for a block that holds all.")
    persons = view.persons(block)
    column_block = view.block_of(column)
    whole = column_block is block  # else all values of a group may be anybody's of the group
    covers: list[B1] = []
    for name in persons.columns:
        vocabulary = view.vocabularies[name]
        leaf = np.arange(len(hierarchies[name].leaves))
        covers.append((vocabulary.lo[:, None] <= leaf) & (leaf <= vocabulary.hi[:, None]))
    return Classes(
        places=tuple(view.quasi.index(name) for name in persons.columns),
        cover=covers,
        cells=persons.codes,
        pool=np.arange(len(persons.sizes)) if whole else persons.group.astype(np.int64),
        rows=persons.sizes if whole else view.group_size,
        entry=(persons.of_entry if whole else column_block.group).astype(np.int64),
        value=column_block.codes[:, column_block.columns.index(column)].astype(np.int32),
        count=column_block.count.astype(np.int64),
    )


def left_by_both(one: Bits, two: Bits) -> Bits:
    """Return the values that two releases leave to each person.

    Where they leave none, the person is not in both as they are now: the first shows what
    it shows alone, and the second where the person fits no class of the first.
    """
    found = one & two
    for alone in (one, two):
        nothing = how_many(found) == 0
        found[nothing] = alone[nothing]
    return found


def own_values(keys: I64, value: I32, people: int, values: int) -> Bits:
    """Return the values of all who are alike in their quasi-identifiers, shape (people, words).

    Parameters
    ----------
    keys : int64 array of shape (keys,)
        The tuple of each key of a frequency set.
    value : int32 array of shape (keys,)
    """
    found = np.zeros((people, _words(values)), dtype=np.uint64)
    np.bitwise_or.at(found.reshape(-1), keys * found.shape[1] + value // 64, _bit(value))
    return found


def classes_of_earlier(earlier: Earlier, quasi: Sequence[str], column: str) -> Classes:
    """Return the classes of an earlier release."""
    entry, value, count = earlier.values[column]
    return Classes(
        places=tuple(quasi.index(name) for name in earlier.columns),
        cover=[earlier.cover[name] for name in earlier.columns],
        cells=earlier.cells,
        pool=np.arange(len(earlier.size)) if earlier.pool is None else earlier.pool,
        rows=earlier.size,
        entry=entry,
        value=value,
        count=count,
    )
