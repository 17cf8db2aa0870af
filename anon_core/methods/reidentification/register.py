"""The register that an attacker joins to a release: who is in it, and whom of them they attack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.errors import BadPlan
from anon_core.data.frequency import dense_rank
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True, eq=False)
class Register:
    """People an attacker knows: the population table, or the table itself where there is none.

    Attributes
    ----------
    columns : tuple of str
        The quasi-identifiers.
    codes : int32 array of shape (tuples, quasi)
        Distinct tuples, as leaves; -1 for a value that no cell can cover.
    count : int64 array of shape (tuples,)
        People of each tuple.
    of_run : int64 array of shape (runs,)
        The register's tuple of each quasi tuple of the table, -1 where there is none. Several may
        be one where the register lacks a column.
    run_people : int64 array of shape (runs,)
        People of the table with each of its quasi tuples.
    inside : float64 array of shape (tuples,)
        Share of the tuple's people who are in the table.
    total : int or None
        People, where one may have several tuples; else those of all tuples.
    """

    audience: Audience
    columns: tuple[str, ...]
    codes: I32
    count: I64
    of_run: I64
    run_people: I64
    inside: F64
    total: int | None = None

    @property
    def size(self) -> int:
        """People of the register; those whom no cell can cover included."""
        return int(self.count.sum()) if self.total is None else self.total

    @property
    def known(self) -> tuple[str, ...]:
        """The quasi-identifiers that the register has."""
        people = self.audience.population
        lacking = () if people is None else people.lacking
        return tuple(name for name in self.columns if name not in lacking)

    @property
    def several(self) -> bool:
        """Whether people of one tuple may have different quasi tuples in the table."""
        there = self.of_run[self.of_run >= 0]
        return len(np.unique(there)) < len(there)

    def runs_of(self, found: I64, generator: np.random.Generator) -> I64:
        """Return the table's quasi tuple of people of some tuples, -1 where there is none.

        Where there are several it is drawn, each as likely as there are people who have it.
        """
        if not self.several:
            run = np.full(len(self.count), -1, dtype=np.int64)
            there = np.flatnonzero(self.of_run >= 0)
            run[self.of_run[there]] = there
            return run[found]
        order = np.argsort(self.of_run, kind="stable")
        own, until = self.of_run[order], np.cumsum(self.run_people[order])
        start = np.searchsorted(own, found)
        stop = np.searchsorted(own, found, side="right")
        before = np.concatenate([[0], until])
        some = before[stop] - before[start]
        at = before[start] + (generator.random(len(found)) * some).astype(np.int64)
        place = np.minimum(np.searchsorted(until, at, side="right"), len(order) - 1)
        return np.where(stop > start, order[place], -1).astype(np.int64)

    def cover(self, vocabulary: Vocabulary) -> tuple[I32, I32]:
        """Return the first and last leaf that each text covers, among the register's leaves."""
        people = self.audience.population
        if people is None or people.codes is None:
            return vocabulary.lo, vocabulary.hi
        return people.cover(vocabulary)

    def widened(self, vocabulary: Vocabulary, tolerance: float) -> tuple[I32, I32]:
        """Return what each text covers or nearly does: numbers off by a tolerance at most."""
        low, high = self.cover(vocabulary)
        measure = self.measure(vocabulary.column)
        if not tolerance or measure is None:
            return low, high
        real = measure[~np.isnan(measure)]  # missing values come last
        some = (low < len(real)) & (high < len(real)) & (low <= high)
        if not some.any():
            return low, high
        low, high = low.copy(), high.copy()
        low[some] = np.searchsorted(real, real[low[some]] - tolerance, side="left")
        high[some] = np.searchsorted(real, real[high[some]] + tolerance, side="right") - 1
        return low, high

    def measure(self, name: str) -> F64 | None:
        """Return the numbers that the leaves of a column represent; None where they are texts."""
        people = self.audience.population
        known = self.audience.hierarchies
        if people is not None and people.codes is not None:
            known = people.hierarchies
        return known[name].measure


def register_of(audience: Audience, truth: Truth) -> Register:
    """Return the register: the population table where there is one, else the table itself.

    Where one person has several rows, distinct persons are counted.
    """
    frequency, people = truth.frequency, audience.population
    own, crowd = frequency.run_codes, truth.raw_crowd
    of_tuple = frequency.run_count if crowd is None else crowd.sizes
    if people is None or people.codes is None or people.tuple_count is None:
        return Register(
            audience=audience,
            columns=audience.quasi,
            codes=own,
            count=of_tuple,
            of_run=np.arange(len(own), dtype=np.int64),
            run_people=of_tuple,
            inside=np.ones(len(own)),
            total=None if crowd is None else crowd.total,
        )
    placed = [people.place[name][own[:, d]] for d, name in enumerate(audience.quasi)]
    both = [np.append(p, people.codes[:, d]) + np.int32(1) for d, p in enumerate(placed)]
    rank, first = dense_rank(both, [int(c.max(initial=0)) + 1 for c in both])
    tuple_of = np.full(len(first), -1, dtype=np.int64)
    tuple_of[rank[len(own) :]] = np.arange(len(people.codes))
    rows = np.bincount(rank[: len(own)], of_tuple, len(first))[rank[len(own) :]]
    return Register(
        audience=audience,
        columns=audience.quasi,
        codes=people.codes,
        count=people.tuple_count,
        of_run=tuple_of[rank[: len(own)]],
        run_people=of_tuple,
        inside=np.minimum(rows / people.tuple_count, 1.0),
    )


def drawn_people(register: Register, people: int, generator: np.random.Generator) -> I64:
    """Return the tuples of people drawn from a register without replacement, one a person.

    Everyone where there are no more than `people`.
    """
    until = np.cumsum(register.count)
    if register.size <= people:
        return np.repeat(np.arange(len(until)), register.count)
    places = np.sort(generator.choice(register.size, people, replace=False))
    return np.searchsorted(until, places, side="right").astype(np.int64)


def named_person(register: Register, truth: Truth, row: int) -> I64:
    """Return the tuple of the person of one row of the table, counted from 1; shape (1,).

    Raises
    ------
    BadPlan
        If the table has no such row, or its person is not in the register.
    """
    if row > truth.rows:
        raise BadPlan(
            f"Row {row:,} is to be attacked, but the table has {truth.rows:,}.",
            remedy=f"Name a row from 1 to {truth.rows:,}, or 0 for people drawn at random.",
        )
    frequency = truth.frequency
    run = frequency.run[frequency.row_key[row - 1]]
    found = int(register.of_run[run])
    if found < 0:
        raise BadPlan(
            f"The person of row {row:,} is not in the population table.",
            remedy="Give the whole population table, or name another row.",
        )
    return np.array([found], dtype=np.int64)
