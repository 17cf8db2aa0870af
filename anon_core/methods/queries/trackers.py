"""A box that counts and adds up, refuses small sets, and the trackers that ask for them after all.

Denning, Denning and Schwartz 1979 (doi 10.1145/320064.320069).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.data.reading.row_filter import compared
from anon_core.data.table import Dataset

Set = frozenset[int]


class Refused(BadPlan):
    """A query whose set is too small or too large, or whose answer would give a record away."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One query: what was asked, and what came back; None where it was refused."""

    words: str
    answer: int | None


@dataclass(kw_only=True)
class QueryBox:
    """Records that may be counted and added up, never looked at.

    Attributes
    ----------
    values : sequence of int
        What `total` adds up, by record.
    least : int
        k: sets of fewer records are refused, and sets that lack fewer.
    audits : bool
        Whether a query is refused, too, if its answer and earlier ones single a record out.
    log : list of Answered
        All that was asked.
    answered : list of frozenset of int
        The sets whose answers were given.
    """

    values: Sequence[int]
    least: int
    audits: bool = False
    log: list[Answered] = field(default_factory=list[Answered])
    answered: list[Set] = field(default_factory=list[Set])

    @property
    def everyone(self) -> Set:
        """All records."""
        return frozenset(range(len(self.values)))

    def _answer(self, chosen: Set, words: str, found: Callable[[], int]) -> int:
        many, n = len(chosen), len(self.values)
        if not self.least <= many <= n - self.least:
            self.log.append(Answered(words=words, answer=None))
            raise Refused(
                f"{words}: the set is too small or too large; allowed are {self.least} to "
                f"{n - self.least} of {n} records.",
                remedy="Ask about a larger or smaller set.",
            )
        if self.audits and singled_out([*self.answered, chosen]):
            self.log.append(Answered(words=words, answer=None))
            raise Refused(
                f"{words}: with what was answered before, a single record would follow.",
                remedy="Ask about other sets.",
            )
        answer = found()
        self.answered.append(chosen)
        self.log.append(Answered(words=words, answer=answer))
        return answer

    def count(self, chosen: Set, words: str = "count") -> int:
        """Return how many records a set has."""
        return self._answer(chosen, words, lambda: len(chosen))

    def total(self, chosen: Set, words: str = "sum") -> int:
        """Return the sum over a set."""
        return self._answer(chosen, words, lambda: sum(self.values[n] for n in chosen))


Query = Callable[[Set, str], int]


def individual_tracker(ask: Query, a: Set, b: Set) -> int:
    """Return q(A and B) from A and from A without B, both large enough."""
    return ask(a, "q(A)") - ask(a - b, "q(A and not B)")


def individual_property(ask: Query, a: Set, b: Set, d: Set) -> int:
    """Return q(A and B and D): whether the one has a property too."""
    rest = a - b
    return ask(rest | (a & d), "q(T or (A and D))") - ask(rest, "q(T)")


def tracker_window(n: int, least: int) -> tuple[int, int] | None:
    """Return the sizes a general tracker can have; None where there are none."""
    low, high = 2 * least, n - 2 * least
    return (low, high) if low <= high else None


def general_tracker(
    ask: Query, everyone: Set, chosen: Set, tracker: Set, *, large: bool = False
) -> int:
    """Return q of any refused set by a tracker of medium size; `large` where it is too large."""
    other = everyone - tracker
    whole = ask(tracker, "q(T)") + ask(other, "q(not T)")
    if large:
        rest = everyone - chosen
        return (
            2 * whole
            - ask(rest | tracker, "q(not C or T)")
            - ask(rest | other, "q(not C or not T)")
        )
    return ask(chosen | tracker, "q(C or T)") + ask(chosen | other, "q(C or not T)") - whole


def double_tracker(ask: Query, everyone: Set, chosen: Set, inner: Set, outer: Set) -> int:
    """Return q of a refused set by two trackers, one within the other."""
    return (
        ask(outer, "q(U)")
        + ask(chosen | inner, "q(C or T)")
        - ask(inner, "q(T)")
        - ask((everyone - (chosen & inner)) & outer, "q(not (C and T) and U)")
    )


def determined(records: int, answered: Sequence[Set]) -> Set:
    """Return the records whose value follows from the answered sums, by elimination."""
    rows = [[Fraction(int(n in chosen)) for n in range(records)] for chosen in answered]
    rank = 0
    for column in range(records):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        scale = rows[rank][column]
        rows[rank] = [x / scale for x in rows[rank]]
        for r, row in enumerate(rows):
            if r != rank and row[column]:
                rows[r] = [x - row[column] * y for x, y in zip(row, rows[rank], strict=True)]
        rank += 1
    alone = (row for row in rows[:rank] if sum(1 for x in row if x) == 1)
    return frozenset(next(n for n, x in enumerate(row) if x) for row in alone)


def singled_out(answered: Sequence[Set]) -> Set:
    """Return the records whose own value follows from the answers, by elimination over atoms.

    Examples
    --------
    >>> singled_out([frozenset({1, 2, 3}), frozenset({2, 3})])
    frozenset({1})
    """
    held: dict[int, set[int]] = {}
    for number, chosen in enumerate(answered):
        for record in chosen:
            held.setdefault(record, set()).add(number)
    atoms: dict[frozenset[int], list[int]] = {}
    for record, own in held.items():
        atoms.setdefault(frozenset(own), []).append(record)
    every = list(atoms.items())
    sets = [
        frozenset(at for at, (own, _) in enumerate(every) if number in own)
        for number in range(len(answered))
    ]
    known = determined(len(every), sets)
    return frozenset(every[at][1][0] for at in known if len(every[at][1]) == 1)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """How a refused query was asked after all.

    Attributes
    ----------
    kind : str
        The tracker's name.
    legend : mapping of str to str
        What its letters are, as conditions.
    steps : tuple of Answered
        What was asked, in order.
    answer : int or None
        What follows for the refused set; None where a step was refused, too.
    """

    kind: str
    legend: Mapping[str, str]
    steps: tuple[Answered, ...]
    answer: int | None


Named = tuple[str, Set]


def attempt(
    box: QueryBox, ask: Query, first: Named, second: Named | None, trackers: Sequence[Named]
) -> Attempt | None:
    """Ask for a refused set by the first tracker that there is; None if there is none.

    Parameters
    ----------
    ask : callable
        `count` or `total` of the box.
    first, second : (str, set)
        The refused set is A, or A and B.
    trackers : sequence of (str, set)
        Sets that anyone can name.
    """
    (words, a), everyone, begun = first, box.everyone, len(box.log)
    n, k = len(everyone), box.least
    chosen, name = a, words
    legend: dict[str, str]
    work: Callable[[], int]
    if second is not None:
        chosen, name = a & second[1], f"({words}) and ({second[0]})"
        if all(k <= len(one) <= n - k for one in (a, a - second[1])):
            b = second[1]
            legend, kind = {"A": words, "B": second[0]}, "Individual tracker"
            work = partial(individual_tracker, ask, a, b)
            return _tried(box, kind, legend, work, begun)
    large = len(chosen) > n - k
    window = tracker_window(n, k)
    for tracker, inside in trackers if window is not None else ():
        if window is not None and window[0] <= len(inside) <= window[1]:
            legend, kind = {"C": name, "T": tracker}, "General tracker"
            work = partial(general_tracker, ask, everyone, chosen, inside, large=large)
            return _tried(box, kind, legend, work, begun)
    inner = [t for t in trackers if k <= len(t[1]) <= n - 2 * k]
    outer = [t for t in trackers if 2 * k <= len(t[1]) <= n - k]
    for one, inside in inner:
        for other, around in outer:
            if inside < around and not large:
                legend = {"C": name, "T": one, "U": other}
                work = partial(double_tracker, ask, everyone, chosen, inside, around)
                return _tried(box, "Double tracker", legend, work, begun)
    return None


def _tried(
    box: QueryBox, kind: str, legend: Mapping[str, str], work: Callable[[], int], begun: int
) -> Attempt:
    try:
        answer: int | None = work()
    except Refused:
        answer = None
    return Attempt(kind=kind, legend=legend, steps=tuple(box.log[begun:]), answer=answer)


def nameable(dataset: Dataset, most: int = 200) -> list[Named]:
    """Return sets that anyone can name: the first values of each column that has few."""
    found: list[Named] = []
    for column in dataset.columns:
        if not 2 <= len(column.values) <= most:
            continue
        inside, values = frozenset[int](), list[str]()
        for code, value in enumerate(column.values[:-1]):
            inside |= frozenset(np.flatnonzero(column.codes == code).tolist())
            values.append(value)
            found.append((compared(column, "in" if code else "=", values), inside))
    return found
