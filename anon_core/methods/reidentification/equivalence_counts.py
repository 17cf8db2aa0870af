"""How many published rows, or people, an attacker cannot distinguish by some columns, set by set.

Where one person has several rows, people are counted: a line is singled out where all rows that are
alike by some columns are one person's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.context import Context, silent
from anon_core.data.frequency import dense_rank
from anon_core.methods.matching.fitting_people import fewest_persons
from anon_core.methods.matching.fitting_rows import fewest_fitting, texts_overlap, within_reach
from anon_core.release.release import View
from anon_core.release.vocabulary import Vocabulary

_SETS = 3  # sets of each size that are tried
#: Columns up to which every number of known ones is tried; of more, as many numbers are.
MOST_SIZES = 24


def sizes_tried(columns: int) -> list[int]:
    """Return the numbers of known columns that are tried: each, or closer together where few.

    Examples
    --------
    >>> sizes_tried(3)
    [1, 2, 3]
    >>> found = sizes_tried(300)
    >>> (len(found), found[:4], found[-2:])
    (24, [1, 2, 3, 4], [226, 300])
    """
    if columns <= MOST_SIZES:
        return list(range(1, columns + 1))
    few = MOST_SIZES // 2
    far = np.geomspace(few + 1, columns, MOST_SIZES - few).round().astype(np.int64)
    return sorted({*range(1, few + 1), *far.tolist()})


def known_sets(places: Sequence[int], generator: np.random.Generator) -> list[tuple[int, ...]]:
    """Return up to three sets of every size tried, drawn where there are more; all columns last.

    Examples
    --------
    >>> known_sets([0, 2], np.random.default_rng(1))
    [(0,), (2,), (0, 2)]
    """
    found: list[tuple[int, ...]] = []
    for size in sizes_tried(len(places)):
        if math.comb(len(places), size) <= _SETS:
            found += itertools.combinations(places, size)
            continue
        drawn: dict[tuple[int, ...], None] = {}
        while len(drawn) < _SETS:
            some = generator.choice(len(places), size, replace=False)
            drawn[tuple(sorted(places[i] for i in some.tolist()))] = None
        found += drawn
    return found


def with_errors(
    true: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    register: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    count: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    share: float,
    generator: np.random.Generator,
) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """Return what an attacker knows who is wrong about a share of the values.

    A wrong value is replaced by that of someone else of the register.

    Parameters
    ----------
    true : int32 array of shape (people, columns)
    register : int32 array of shape (tuples, columns)
    count : int64 array of shape (tuples,)
        People of each tuple.
    """
    mistaken = true.copy()
    for d in range(true.shape[1]):
        wrong = np.flatnonzero(generator.random(len(true)) < share)
        other = generator.choice(len(register), len(wrong), p=count / count.sum())
        mistaken[wrong, d] = register[other, d]
    return mistaken


_ROOM = 4  # possible combinations per line up to which a table of all of them is counted


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsAlike:
    """The distinct lines of what is published, compared by any of their columns.

    Lines are alike that say the same. Where texts of a column overlap, a person may fit lines that
    say different things; then the rows that fit the person count, whatever they say, and a line
    represents anyone who of those who fit it fits fewest. Where `who` distinguishes persons, the
    distinct persons of these rows are counted instead of them.

    Attributes
    ----------
    codes : int32 array of shape (lines, columns)
        Codes into the vocabularies.
    count : int64 array of shape (lines,)
        Rows of each line.
    overlapping : frozenset of str
        Columns of which two texts share a value.
    people : int32 array of shape (tuples, columns)
        Leaf numbers of the people, looked at only where texts overlap.
    who : tuple of int64 arrays of shape (pairs,), or None
        Line and person of everyone who has a row in a line, no pair twice; None where a row is a
        person.
    unlike : bool
        Whether it is known that no two lines say the same in all columns.
    strangers : bool
        Whether it is known that no two of `people` are the same in all columns.
    """

    columns: tuple[str, ...]
    codes: I32
    count: I64
    vocabularies: Mapping[str, Vocabulary]
    overlapping: frozenset[str]
    people: I32
    who: tuple[I64, I64] | None = None
    unlike: bool = False
    strangers: bool = False

    @cached_property
    def own(self) -> I64:
        """Rows of each line, or people where they are distinguished; shape (lines,)."""
        if self.who is None:
            return self.count
        return np.bincount(self.who[0], minlength=len(self.count)).astype(np.int64)

    @property
    def counted(self) -> str:
        """What is counted, in words."""
        return "rows" if self.who is None else "people"

    def singled_out(self, lines: B1) -> int:
        """Return how many rows, or people, are behind lines that are alone.

        Parameters
        ----------
        lines : bool array of shape (lines,)
            Some that `alike` finds alone.
        """
        if self.who is None:
            return int(np.count_nonzero(lines))
        line, person = self.who
        return len(np.unique(person[lines[line]]))

    def alike(self, chosen: Sequence[int], context: Context) -> I64:
        """Return how many rows, or people, are alike each line, itself included; shape (lines,).

        Where texts overlap, people are not counted further than one: two or more represent several.

        Parameters
        ----------
        chosen : sequence of int
            Places of the columns; at least one.
        context : Context
            Asked whether to go on; the progress of all sets is its caller's to tell.
        """
        if not len(self.count):
            return self.count
        if any(self.columns[d] in self.overlapping for d in chosen):
            return self._fitting(chosen, replace(context, progress=silent))
        if self.unlike and len(chosen) == len(self.columns):
            return self.own
        return self._equal([self._columns[d] for d in chosen])

    def with_texts(self, place: int, codes: I32, chosen: Sequence[int]) -> I64:
        """Return the same where a column says something else; only where nothing overlaps."""
        return self._equal([_sized(codes) if d == place else self._columns[d] for d in chosen])

    @cached_property
    def _columns(self) -> list[tuple[I64, int]]:
        """Every column by itself, as many sets of columns are asked for; each with its codes."""
        return [_sized(codes) for codes in self.codes.T]

    def _equal(self, columns: Sequence[tuple[I64, int]]) -> I64:
        room = math.prod(size for _, size in columns)
        if room > _ROOM * len(self.count) + 1024:
            sizes = [size for _, size in columns]
            rank, first = dense_rank([codes.astype(np.int32) for codes, _ in columns], sizes)
            return self._behind(rank, len(first))[rank]
        packed = columns[0][0]
        for codes, size in columns[1:]:
            packed = packed * size
            packed += codes
        return self._behind(packed, room)[packed]

    def _behind(self, place: I64, places: int) -> I64:
        """Return the rows, or people, of the lines at each place, shape (places,)."""
        if self.who is None:
            return _sums(place, self.count, places)
        return np.bincount(self._pairs(place)[0], minlength=places).astype(np.int64)

    def _pairs(self, place: I64) -> tuple[I64, I64]:
        """Return distinct pairs of a place and a person; only where persons are distinguished."""
        assert self.who is not None
        line, person = self.who
        wide = int(person.max(initial=0)) + 1
        pairs = np.unique(place[line] * wide + person)
        return pairs // wide, pairs % wide

    def _fitting(self, chosen: Sequence[int], context: Context) -> I64:
        names = [self.columns[d] for d in chosen]
        every = list(chosen) == list(range(len(self.columns)))
        codes = self.codes if every else self.codes[:, list(chosen)]
        if every and self.unlike:
            rank, shown = np.arange(len(codes)), codes
        else:
            rank, first = dense_rank(list(codes.T), self._texts(names))
            shown = codes[first]
        pairs = None if self.who is None else self._pairs(rank)
        if pairs is None:
            found = _sums(rank, self.count, len(shown))
        else:
            found = np.bincount(pairs[0], minlength=len(shown)).astype(np.int64)
        # Anyone who fits a line that nothing else is like in the other columns fits that line
        # alone.
        rest = np.flatnonzero(self._alike_in_plain(names, shown))
        if not len(rest):
            return found[rank]
        entries = [(self.vocabularies[n], shown[rest, d]) for d, n in enumerate(names)]
        low = np.stack([vocabulary.lo[own] for vocabulary, own in entries], axis=1)
        high = np.stack([vocabulary.hi[own] for vocabulary, own in entries], axis=1)
        people = self.people if every else self.people[:, list(chosen)]
        people = people[within_reach(people, low, high)]
        if not (every and self.strangers):
            wide = [int(c.max(initial=0)) + 1 for c in people.T]
            people = people[dense_rank(list(people.T), wide)[1]]
        people = np.ascontiguousarray(people)
        if pairs is None:
            found[rest] = fewest_fitting(people, low, high, found[rest], context)
            return found[rank]
        number = np.full(len(shown), -1, dtype=np.int64)
        number[rest] = np.arange(len(rest))
        own = number[pairs[0]]
        theirs = own[own >= 0], pairs[1][own >= 0]
        found[rest] = fewest_persons(people, low, high, theirs, context)
        return found[rank]

    def _alike_in_plain(self, names: Sequence[str], shown: I32) -> B1:
        """Return which lines are like another one in all columns of which no texts overlap."""
        plain = [(d, n) for d, n in enumerate(names) if n not in self.overlapping]
        if not plain:
            return np.ones(len(shown), dtype=np.bool_)
        rank = dense_rank([shown[:, d] for d, _ in plain], self._texts([n for _, n in plain]))[0]
        return np.bincount(rank)[rank] > 1

    def _texts(self, names: Sequence[str]) -> list[int]:
        return [len(self.vocabularies[name].texts) for name in names]


def _sized(codes: I32) -> tuple[I64, int]:
    """Return codes of shape (lines,) ready to be packed, and how many there are at most."""
    return codes.astype(np.int64), int(codes.max(initial=0)) + 1


def _sums(place: I64, count: I64, places: int) -> I64:
    return np.bincount(place, weights=count, minlength=places).astype(np.int64)


def rows_alike(
    view: View,
    columns: tuple[str, ...],
    codes: I32,
    count: I64,
    people: I32,
    who: tuple[I64, I64] | None = None,
    *,
    unlike: bool = False,
    strangers: bool = False,
) -> RowsAlike:
    """Return lines of a view ready to be compared.

    Parameters
    ----------
    codes : int32 array of shape (lines, columns)
        Codes into the view's vocabularies.
    count : int64 array of shape (lines,)
    people : int32 array of shape (tuples, columns)
        Leaf numbers of the people whom lines may fit.
    who : tuple of int64 arrays of shape (pairs,), optional
        Line and person of everyone in a line, where one person has several rows.
    unlike, strangers : bool
        Whether no two lines say the same in all columns, and no two people are.

    Notes
    -----
    Averages cover no one for sure: by them only those who say the same are alike.
    """
    overlapping = frozenset(
        name
        for d, name in enumerate(columns)
        if view.vocabularies[name].shown is None
        and texts_overlap(view.vocabularies[name], codes[:, d])
    )
    return RowsAlike(
        columns=columns,
        codes=codes,
        count=count,
        vocabularies=view.vocabularies,
        overlapping=frozenset() if view.averaged else overlapping,
        people=people,
        who=who,
        unlike=unlike,
        strangers=strangers,
    )
