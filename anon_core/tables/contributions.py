"""What respondents contribute to cells: one cell by itself, and all cells of a table in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from anon_core.base.arrays import I64
from anon_core.tables.system import Number


@dataclass(frozen=True, kw_only=True)
class Contributions:
    """What the respondents of one cell contribute, the largest first.

    Attributes
    ----------
    total : int or Fraction
        X of the rules: the sum of all, or what weights make of it.
    respondents : int
        How many there are, unweighted.
    waived : frozenset of int
        Places of those who agreed to be published.
    """

    amounts: tuple[Number, ...]
    total: Number
    respondents: int
    waived: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        amounts: Iterable[Number],
        *,
        weights: Sequence[Number] | None = None,
        expanded: bool = False,
        waived: Iterable[int] = (),
    ) -> Contributions:
        """Sort contributions; by default a weight moves the total alone.

        Parameters
        ----------
        weights : sequence, optional
            How many respondents of the population each represents.
        expanded : bool
            Count each contribution as often as its weight says; weights are then whole.
        waived : iterable of int
            Which of the amounts belong to someone who agreed.
        """
        given = list(amounts)
        weight = [1] * len(given) if weights is None else list(weights)
        order = sorted(range(len(given)), key=lambda n: (-given[n], n))
        agreed = set(waived)
        total = sum(w * x for w, x in zip(weight, given, strict=True))
        if expanded:
            found = [given[n] for n in order for _ in range(int(weight[n]))]
            return cls(amounts=tuple(found), total=total, respondents=len(given))
        return cls(
            amounts=tuple(given[n] for n in order),
            total=total,
            respondents=len(given),
            waived=frozenset(at for at, n in enumerate(order) if n in agreed),
        )

    @classmethod
    def summed(cls, rows: Iterable[tuple[str, Number]]) -> Contributions:
        """Add up the rows of each respondent, then take the size of the sum, then sort."""
        sums: dict[str, Number] = {}
        for who, amount in rows:
            sums[who] = sums.get(who, 0) + amount
        return cls.of(abs(amount) for amount in sums.values())


@dataclass(frozen=True, kw_only=True, eq=False)
class Members(Sequence[Mapping[int, int]]):
    """By cell, what each respondent contributes: a mapping a cell, made when it is asked for.

    Attributes
    ----------
    begin : int64 array of shape (cells + 1,)
        Where the entries of each cell begin in the others.
    who, amount : int64 arrays of shape (entries,)
        Respondents, ascending within each cell, and what they contribute.

    Examples
    --------
    >>> held = Members.of([{4: 10, 7: 3}, {}, {7: 3}])
    >>> held[0], len(held), held.alone.tolist(), held.most({7}).tolist()
    ({4: 10, 7: 3}, 3, [False, False, True], [3, 0, 3])
    """

    begin: I64
    who: I64
    amount: I64

    @classmethod
    def of(cls, cells: Iterable[Mapping[int, int]]) -> Members:
        """Return the arrays of mappings."""
        held = [sorted(own.items()) for own in cells]
        return cls(
            begin=np.cumsum([0, *map(len, held)], dtype=np.int64),
            who=np.array([one for own in held for one, _ in own], dtype=np.int64),
            amount=np.array([amount for own in held for _, amount in own], dtype=np.int64),
        )

    def __len__(self) -> int:
        """Return how many cells there are."""
        return len(self.begin) - 1

    @overload
    def __getitem__(self, cell: int) -> Mapping[int, int]: ...
    @overload
    def __getitem__(self, cell: slice) -> Sequence[Mapping[int, int]]: ...
    def __getitem__(self, cell: int | slice) -> Mapping[int, int] | Sequence[Mapping[int, int]]:
        """Return what each respondent contributes to a cell."""
        if isinstance(cell, slice):
            return [self[at] for at in range(*cell.indices(len(self)))]
        at = range(len(self))[cell]
        own = slice(self.begin[at], self.begin[at + 1])
        return dict(zip(self.who[own].tolist(), self.amount[own].tolist(), strict=True))

    @cached_property
    def sizes(self) -> I64:
        """Respondents of each cell."""
        return np.diff(self.begin)

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Whether each cell has one respondent."""
        return self.sizes == 1

    @cached_property
    def sole(self) -> frozenset[int]:
        """Respondents who are alone in some cell."""
        return frozenset(self.who[self.begin[:-1][self.alone]].tolist())

    def entries(self, cells: I64) -> tuple[I64, I64]:
        """Return the entries of some cells, and the cell of each."""
        sizes = self.sizes[cells]
        ends = np.cumsum(sizes)
        first = np.repeat(self.begin[:-1][cells] - (ends - sizes), sizes)
        return first + np.arange(len(first)), np.repeat(cells, sizes)

    def unions(self, sums: Sequence[Sequence[int]]) -> Members:
        """Return a cell for each set of cells, of all their respondents."""
        flat = np.array([cell for cells in sums for cell in cells], dtype=np.int64)
        group = np.repeat(np.arange(len(sums)), list(map(len, sums)))
        entry, _ = self.entries(flat)
        found = csr_array(
            (self.amount[entry], (np.repeat(group, self.sizes[flat]), self.who[entry])),
            shape=(len(sums), int(self.who.max(initial=0)) + 1),
        )
        found.sum_duplicates()
        return Members(
            begin=found.indptr.astype(np.int64),
            who=found.indices.astype(np.int64),
            amount=found.data,
        )

    def most(self, people: Iterable[int]) -> I64:
        """Return the largest contribution that one of some people makes to each cell; 0: none."""
        chosen = np.zeros(int(self.who.max(initial=-1)) + 1, dtype=np.bool_)
        chosen[[one for one in people if one < len(chosen)]] = True
        return _tops(self.begin, np.where(chosen[self.who], self.amount, 0), 1)[:, 0]

    def with_sums(self, sums: Sequence[Sequence[int]]) -> Members:
        """Return the cells with a further one for each set of cells, of all their respondents."""
        if not sums:
            return self
        more = self.unions(sums)
        return Members(
            begin=np.concatenate([self.begin, more.begin[1:] + self.begin[-1]]),
            who=np.concatenate([self.who, more.who]),
            amount=np.concatenate([self.amount, more.amount]),
        )

    def contributions(self) -> CellContributions:
        """Return what rules ask of them where there are no weights, and no one agreed."""
        sizes = np.abs(self.amount)
        totals = np.zeros(len(self), dtype=np.int64)
        np.add.at(totals, np.repeat(np.arange(len(self)), self.sizes), sizes)
        none = np.zeros(int(self.who.max(initial=-1)) + 1, dtype=np.bool_)
        return CellContributions(members=self, sizes_of=sizes, totals=totals, agreed=none)


def members_of(cells: Iterable[int], members: Sequence[Mapping[int, int]]) -> dict[int, int]:
    """Return what each respondent contributes to some cells together."""
    sums: dict[int, int] = {}
    for cell in cells:
        for one, amount in members[cell].items():
            sums[one] = sums.get(one, 0) + amount
    return sums


@dataclass(frozen=True, kw_only=True, eq=False)
class Sizes:
    """What rules ask of all cells at once, as floats: near enough to say which cells to judge.

    Attributes
    ----------
    respondents : int64 array of shape (cells,)
    total : float64 array of shape (cells,)
        X of the rules.
    top : float64 array of shape (cells, n)
        The n largest contributions, the largest first; 0 where there are fewer.
    bound : float64 array of shape (cells,)
        The largest of those who did not agree to be published; below 0: there is none.
    """

    respondents: I64
    total: npt.NDArray[np.float64]
    top: npt.NDArray[np.float64]
    bound: npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class CellContributions(Sequence[Contributions]):
    """The contributions of every cell of a table: those of a cell are made when asked for.

    Attributes
    ----------
    members : Members
        What each respondent contributes.
    sizes_of : int64 array of shape (entries,)
        What rules make of it: sizes, without sign; of a count, one unit each.
    totals : int64 array of shape (cells,)
        X of the rules.
    agreed : bool array of shape (respondents,)
        Who agreed to be published.
    spread : Members or None
        With expanded weights: by cell the size of each row's contribution (`who`, not negative)
        and its weight (`amount`), in the order of rows.
    """

    members: Members
    sizes_of: I64
    totals: I64
    agreed: npt.NDArray[np.bool_]
    spread: Members | None = None

    def __len__(self) -> int:
        """Return how many cells there are."""
        return len(self.members)

    @overload
    def __getitem__(self, cell: int) -> Contributions: ...
    @overload
    def __getitem__(self, cell: slice) -> Sequence[Contributions]: ...
    def __getitem__(self, cell: int | slice) -> Contributions | Sequence[Contributions]:
        """Return the contributions of a cell."""
        if isinstance(cell, slice):
            return [self[at] for at in range(*cell.indices(len(self)))]
        at, members = range(len(self))[cell], self.members
        if self.spread is not None:
            own = slice(self.spread.begin[at], self.spread.begin[at + 1])
            found = Contributions.of(
                self.spread.who[own].tolist(),
                weights=self.spread.amount[own].tolist(),
                expanded=True,
            )
            return replace(found, respondents=int(members.sizes[at]))
        own = slice(members.begin[at], members.begin[at + 1])
        order = np.argsort(-self.sizes_of[own], kind="stable")
        agreed = self.agreed[members.who[own][order]]
        return Contributions(
            amounts=tuple(self.sizes_of[own][order].tolist()),
            total=int(self.totals[at]),
            respondents=len(order),
            waived=frozenset(np.flatnonzero(agreed).tolist()),
        )

    def sizes(self, most: int) -> Sizes:
        """Return the `most` largest contributions of every cell, and what else rules ask for."""
        members = self.members
        if self.spread is not None:
            often = np.minimum(self.spread.amount, most)
            cell = np.repeat(np.arange(len(self)), self.spread.sizes)
            begin = np.concatenate([[0], np.cumsum(np.bincount(cell, often, len(self)))])
            top = _tops(begin.astype(np.int64), np.repeat(self.spread.who, often), most)
            bound = np.where(top[:, 0] > 0, top[:, 0], -1)
        else:
            top = _tops(members.begin, self.sizes_of, most)
            bound = np.where(members.sizes > 0, top[:, 0], -1)
            if self.agreed.any():
                kept = np.where(self.agreed[members.who], -1, self.sizes_of)
                bound = _tops(members.begin, kept, 1, least=-1)[:, 0]
        return Sizes(
            respondents=members.sizes,
            total=self.totals.astype(float),
            top=top.astype(float),
            bound=bound.astype(float),
        )


def _tops(begin: I64, amounts: I64, most: int, least: int = 0) -> I64:
    """Return the largest amounts of each run, shape (runs, most), and `least` for want of any."""
    sizes = np.diff(begin)
    found = np.full((len(sizes), most), least, dtype=np.int64)
    filled = np.flatnonzero(sizes)
    if not len(filled):
        return found
    starts, left = begin[filled], amounts.copy()
    lowest = np.iinfo(np.int64).min
    for at in range(most):
        top = np.maximum.reduceat(left, starts)
        found[filled, at] = np.maximum(top, least)
        if at + 1 < most:  # the first of the largest is taken out
            hits = np.flatnonzero(left == np.repeat(top, sizes[filled]))
            left[hits[np.searchsorted(hits, starts)]] = lowest
    return found
