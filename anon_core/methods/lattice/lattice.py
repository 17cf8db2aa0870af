"""The generalization lattice: its nodes, and a node's classes by roll-up from another's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from anon_core.contracts.group_stats import GroupStats, Histogram, histogram
from anon_core.data.frequency import dense_rank
from anon_core.kernels.class_sizes import rows_in_small
from anon_core.kernels.roll_up import Packing, Raised, Spare, roll_to, roll_up, smallest_below
from anon_core.methods.matching.fitting_people import PublicPeople, public_people
from anon_core.release.problem import Problem

Node = tuple[int, ...]
Number = TypeVar("Number", bound=np.number[Any])
WORD_BITS = 62
# Kept class sets: so many at most, and so many entries in all (about 400 MB).
_SNAPSHOTS = 512
_ROOM = 24_000_000
# Nodes that raise only the attributes which shrink the table most are worth a stop on the way to
# others: so many of them at most.
_STOPS = 64
_NO_SOURCE = np.iinfo(np.int64).max
# Where people are counted next to rows, they are in the upper half of a count.
_PEOPLE = 32
_ROWS = (1 << _PEOPLE) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """The frequency set at a node.

    Attributes
    ----------
    words : int64 array of shape (entries, words)
        Packed keys: every field is the first leaf of the value's node, so that a more general node
        is reached from any other by the same look-up.
    count : int64 array of shape (entries,)
    """

    words: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """Where each attribute's leaf number is in the packed words."""

    word: npt.NDArray[np.int64]
    shift: npt.NDArray[np.int64]
    mask: npt.NDArray[np.int64]
    words: int


def layout_of(sizes: Sequence[int]) -> Layout:
    """Place fields for values in [0, size) into as few words as they need."""
    word: list[int] = []
    shift: list[int] = []
    mask: list[int] = []
    at, used = 0, 0
    for size in sizes:
        bits = max(1, int(size - 1).bit_length())
        if used + bits > WORD_BITS:
            at, used = at + 1, 0
        word.append(at)
        shift.append(used)
        mask.append((1 << bits) - 1)
        used += bits
    return Layout(
        word=np.array(word, dtype=np.int64),
        shift=np.array(shift, dtype=np.int64),
        mask=np.array(mask, dtype=np.int64),
        words=at + 1,
    )


class Lattice:
    """The product of the quasi-identifiers' hierarchies (Samarati 2001).

    A node is a level per attribute; level 0 everywhere is the table itself, or the lowest levels
    that may be chosen. Class sets of nodes are
    kept in a bounded store, and a new node is rolled up from the smallest kept set below it.

    Parameters
    ----------
    sensitive : sequence of str
        Columns whose histograms the models need; their values stay in the keys, unchanged.
    public : bool
        Count the people of the public table too. Both counts share a word, so that one roll-up
        adds up both.

    Attributes
    ----------
    early : list of bool
        Which attributes the shared stops on the way to other nodes raise.
    packing : Packing
        Where its attributes are in the keys, and what their leaves become.

    Raises
    ------
    BadPlan
        If the people are asked for and there is no public table that fits.
    """

    def __init__(
        self, problem: Problem, sensitive: Sequence[str] = (), *, public: bool = False
    ) -> None:
        self.problem = problem
        self.public = public
        self.hierarchies = problem.quasi_hierarchies
        self.heights: Node = tuple(h.height for h in self.hierarchies)
        self.shape: Node = tuple(h + 1 for h in self.heights)
        self.sensitive = tuple(sensitive)
        frequency = problem.frequency
        quasi = len(self.heights)
        extra = [frequency.columns.index(name) for name in self.sensitive]
        searched = self.hierarchies
        people = (
            public_people(problem.population, problem.frequency, "The search") if public else None
        )
        if people is not None:  # their values are leaves of their own hierarchies, in this order
            searched = people.hierarchies
            self._back = [
                np.searchsorted(place, np.arange(len(h.leaves))).astype(np.int64)
                for place, h in zip(people.place, searched, strict=True)
            ]
        sizes = [len(h.leaves) for h in searched]
        sizes += [len(problem.hierarchies[name].leaves) for name in self.sensitive]
        self._values = sizes[quasi:]
        self._combinations = math.prod(self._values)
        self._missing = [problem.hierarchies[name].missing_leaf for name in self.sensitive]
        self._layout = layout_of(sizes)
        columns = [frequency.codes[:, d] for d in (*range(quasi), *extra)]
        count = frequency.count
        if extra:
            rank, first = dense_rank(columns, sizes)
            count = np.bincount(rank, weights=count).astype(np.int64)
            columns = [c[first] for c in columns]
        else:
            columns = [frequency.run_codes[:, d] for d in range(quasi)]
            count = frequency.run_count
        if people is not None:
            columns, count = _with_people(people, columns, count, sizes)
        words = np.zeros((len(count), self._layout.words), dtype=np.int64)
        for d, column in enumerate(columns):
            words[:, self._layout.word[d]] |= column.astype(np.int64) << self._layout.shift[d]
        self._first_leaf = [h.first_leaf.astype(np.int64) for h in searched]
        # Where a lowest level is set, the bottom is that: values are in their groups there.
        raised = [
            d
            for d, own in enumerate(self._first_leaf)
            if bool(np.any(own[0][columns[d]] != columns[d]))
        ]
        if raised:
            bottom_tables = [self._first_leaf[d][0] for d in raised]
            lowest, _ = self._map(Classes(words=words, count=count), raised, bottom_tables)
            words, count = lowest.words, lowest.count
        self.packing = self._packing([[len(own) for own in h.starts] for h in searched])
        self.spare = Spare(
            words=np.empty(len(count), dtype=np.int64),
            rows=np.empty(len(count), dtype=np.int64),
            slot=np.empty(1 << max(4, (2 * len(count)).bit_length()), dtype=np.int32),
        )
        bottom = (0,) * quasi
        self._store: dict[Node, Classes] = {bottom: Classes(words=words, count=count)}
        self._levels = np.zeros((_SNAPSHOTS, quasi), dtype=np.int64)
        self._weight = np.full(_SNAPSHOTS, _NO_SOURCE, dtype=np.int64)
        self._weight[0] = len(count)
        self._kept: list[Node] = [bottom]
        self.early = self._shrinking()
        self._stopped: set[Node] = {bottom}
        self._turn = 0
        self._entries = len(count)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(np.prod([int(n) for n in self.shape], dtype=object))

    @property
    def top(self) -> Node:
        """The most general node."""
        return self.heights

    def nodes(self) -> itertools.product[Node]:
        """Iterate over all nodes in lexicographic order."""
        return itertools.product(*(range(n) for n in self.shape))

    def node(self, place: int) -> Node:
        """Return the node at a place of the flat lattice."""
        found: list[int] = []
        for levels in reversed(self.shape):
            place, level = divmod(place, levels)
            found.append(level)
        return tuple(reversed(found))

    def height_of_nodes(self) -> npt.NDArray[np.int16]:
        """Return every node's height, flat, in lexicographic order."""
        return self.sums([np.arange(levels, dtype=np.int16) for levels in self.shape])

    def sums(self, parts: Sequence[npt.NDArray[Number]]) -> npt.NDArray[Number]:
        """Return, for every node, the sum of one number per attribute and level; flat."""
        found = parts[0]
        for own in parts[1:]:
            found = np.add.outer(found, own).ravel()
        return found

    def at(self, node: Node) -> Classes:
        """Return the class set of a node (entries also part by sensitive value, if any is kept).

        With the public table, `count` holds rows in its lower and people in its upper half.
        """
        known = self._store.get(node)
        if known is not None:
            return known
        start = self._source(node)
        below = self._store[start]
        found = self._roll(below, start, node)
        # Sets that hardly shrank are not worth a place.
        if len(found.count) * 10 <= len(below.count) * 9:
            self._keep(node, found)
        return found

    def _source(self, node: Node) -> Node:
        """Return the node of the smallest class set at hand that a node can be rolled up from."""
        stop = tuple([n if early else 0 for n, early in zip(node, self.early, strict=True)])
        if stop not in self._stopped:
            self._stopped.add(stop)
            if stop != node:
                self.at(stop)
        source = smallest_below(
            self._levels, self._weight, len(self._kept), np.array(node, dtype=np.int64)
        )
        return self._kept[source]

    def rows_in_small(self, node: Node, least: int, most: int) -> int:
        """Count the rows that are at a node in classes of fewer than `least` rows.

        The count stops where it is more than `most`; see the kernel. It is 0, which says nothing,
        where keys are wider than a word or hold the public table as well.
        """
        if self._layout.words > 1 or self.public:
            return 0
        start = self._source(node)
        below = self._store[start]
        levels = np.array(start, dtype=np.int64), np.array(node, dtype=np.int64)
        keys = below.words[:, 0]
        return rows_in_small(keys, below.count, *levels, self.packing, self.spare, least, most)

    def _shrinking(self) -> list[bool]:
        """Return which attributes a stop raises: those of most leaves, as far as stops are few."""
        chosen = [False] * len(self.shape)
        stops = 1
        for d in np.argsort(-self.packing.leaves, kind="stable").tolist():
            stops *= self.shape[d]
            if stops > _STOPS:
                break
            chosen[d] = True
        return chosen

    def _keep(self, node: Node, classes: Classes) -> None:
        entries = len(classes.count)
        if self._weight[0] + entries > _ROOM:
            return
        if len(self._kept) < _SNAPSHOTS and self._entries + entries <= _ROOM:
            place = len(self._kept)
            self._kept.append(node)
        else:  # the oldest makes way; place 0 is the table itself and stays
            self._turn = self._turn % (len(self._kept) - 1) + 1
            place = self._turn
            gone = int(self._weight[place])
            if self._entries - gone + entries > _ROOM:
                return
            self._entries -= gone
            del self._store[self._kept[place]]
            self._kept[place] = node
        self._levels[place] = node
        self._weight[place] = entries
        self._entries += entries
        self._store[node] = classes

    def _roll(self, source: Classes, below: Node, node: Node) -> Classes:
        if self._layout.words > 1:
            changed = [d for d in range(len(node)) if node[d] != below[d]]
            return self._map(source, changed, [self._first_leaf[d][node[d]] for d in changed])[0]
        words, count, _ = spare = self.spare
        found = roll_to(
            source.words[:, 0],
            source.count,
            np.array(below, dtype=np.int64),
            np.array(node, dtype=np.int64),
            self.packing,
            spare,
            self._combinations,
        )
        return Classes(words=words[:found].copy()[:, None], count=count[:found].copy())

    def _map(
        self, source: Classes, changed: Sequence[int], tables: Sequence[npt.NDArray[np.int64]]
    ) -> tuple[Classes, npt.NDArray[np.int64]]:
        layout = self._layout
        keep = np.full(layout.words, -1, dtype=np.int64)
        for d in changed:
            keep[layout.word[d]] &= ~(layout.mask[d] << layout.shift[d])
        sizes = [len(t) for t in tables]
        offset = (
            np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else keep[:0]
        )
        table = np.concatenate(tables) if sizes else keep[:0]
        entries = len(source.count)
        words = np.empty((entries, layout.words), dtype=np.int64)
        count = np.empty(entries, dtype=np.int64)
        member = np.empty(entries, dtype=np.int64)
        places = np.array(changed, dtype=np.int64)
        found = roll_up(
            source.words,
            source.count,
            keep,
            layout.word[places],
            Raised(layout.shift[places], layout.mask[places], offset, table),
            words,
            count,
            member,
        )
        return Classes(words=words[:found].copy(), count=count[:found].copy()), member

    def stats(self, node: Node) -> tuple[Classes, GroupStats]:
        """Return a node's equivalence classes with sizes and sensitive histograms."""
        return self.stats_of(self.at(node))

    def stats_of(self, entries: Classes) -> tuple[Classes, GroupStats]:
        """Return the equivalence classes of entries that may part by sensitive value as well."""
        if not self.sensitive:
            return self._counted(entries, {})
        quasi = len(self.heights)
        extra = range(quasi, quasi + len(self.sensitive))
        zeros = [np.zeros(size, dtype=np.int64) for size in self._values]
        classes, member = self._map(entries, list(extra), zeros)
        groups = len(classes.count)
        values = [self._field(entries, d).astype(np.int32) for d in extra]
        count = entries.count
        if self.public:  # people of the public table have no sensitive value
            rows = count & _ROWS
            member, count = member[rows > 0], rows[rows > 0]
            values = [v[rows > 0] for v in values]
        if len(values) == 1:  # entries part by class and value already, so no pair is there twice
            only = Histogram(
                group=member,
                value=values[0],
                count=count,
                groups=groups,
                missing=self._missing[0],
            )
            return self._counted(classes, {self.sensitive[0]: only})
        histograms = {
            name: histogram(member, value, count, groups, size, missing)
            for name, value, size, missing in zip(
                self.sensitive, values, self._values, self._missing, strict=True
            )
        }
        return self._counted(classes, histograms)

    def _counted(
        self, classes: Classes, histograms: Mapping[str, Histogram]
    ) -> tuple[Classes, GroupStats]:
        """Return classes with what models look at, rows and people distinguished."""
        if not self.public:
            return classes, GroupStats(sizes=classes.count, histograms=histograms)
        sizes = classes.count & _ROWS
        people = classes.count >> _PEOPLE
        return replace(classes, count=sizes), GroupStats(
            sizes=sizes, histograms=histograms, population=people
        )

    def field(self, classes: Classes, d: int) -> npt.NDArray[np.int64]:
        """Return attribute `d` of every entry: the first leaf of its node, shape (entries,).

        The first of the table's own leaves, for entries that hold rows of the table.
        """
        found = self._field(classes, d)
        return self._back[d][found] if self.public else found

    def read_off(
        self, tables: Sequence[npt.NDArray[np.float64]], d: int
    ) -> list[npt.NDArray[np.float64]]:
        """Return tables by leaf of attribute `d`, shape (..., leaves), for the keys' own leaves."""
        if not self.public:
            return list(tables)
        return [t[..., np.minimum(self._back[d], t.shape[-1] - 1)] for t in tables]

    def _packing(self, levels: Sequence[Sequence[int]]) -> Packing:
        layout, quasi = self._layout, len(levels)
        moved = [t << layout.shift[d] for d, t in enumerate(self._first_leaf)]
        kinds = np.zeros((quasi, max(self.shape)), dtype=np.int64)
        for d, own in enumerate(levels):
            kinds[d, : len(own)] = own
        return Packing(
            word=layout.word[:quasi],
            shift=layout.shift[:quasi],
            mask=layout.mask[:quasi],
            height=np.array(self.heights, dtype=np.int64),
            stride=np.cumprod([1, *self.shape[:0:-1]])[::-1].astype(np.int64),
            kinds=kinds,
            leaves=np.array([t.shape[1] for t in moved], dtype=np.int64),
            offset=np.cumsum([0, *(t.size for t in moved[:-1])]).astype(np.int64),
            table=np.concatenate([t.ravel() for t in moved]).astype(np.int64),
        )

    @property
    def layout(self) -> Layout:
        """Where each attribute is in the keys."""
        return self._layout

    def _field(self, classes: Classes, d: int) -> npt.NDArray[np.int64]:
        layout = self._layout
        return (classes.words[:, layout.word[d]] >> layout.shift[d]) & layout.mask[d]

    def runs_at(self, node: Node) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the class of every quasi tuple of the table at a node, and a tuple per class.

        Classes are numbered in lexicographic order of their cells, whatever way they were found.
        """
        codes = self.problem.frequency.run_codes
        columns = [
            h.node(level)[codes[:, d]]
            for d, (h, level) in enumerate(zip(self.hierarchies, node, strict=True))
        ]
        sizes = [len(h.starts[level]) for h, level in zip(self.hierarchies, node, strict=True)]
        return dense_rank(columns, sizes)

    def names(self, node: Node) -> Mapping[str, int]:
        """Return a node as column → level."""
        return dict(zip(self.problem.quasi, node, strict=True))


def _with_people(
    people: PublicPeople,
    columns: Sequence[npt.NDArray[np.int32]],
    count: npt.NDArray[np.int64],
    sizes: Sequence[int],
) -> tuple[list[npt.NDArray[np.int32]], npt.NDArray[np.int64]]:
    """Return the distinct keys of table and public table, and both counts in one word."""
    quasi = len(people.hierarchies)
    own = [place[c] for place, c in zip(people.place, columns[:quasi], strict=True)]
    empty = np.zeros(len(people.count), dtype=np.int32)  # people have no sensitive value
    both = [np.concatenate(pair) for pair in zip(own, people.codes.T, strict=True)]
    both += [np.concatenate([column, empty]) for column in columns[quasi:]]
    rank, first = dense_rank(both, sizes)
    found = np.zeros(len(first), dtype=np.int64)
    np.add.at(found, rank, np.concatenate([count, people.count << _PEOPLE]))
    return [c[first] for c in both], found
