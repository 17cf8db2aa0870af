"""A query box that answers counts and sums of sets that are neither small nor large, and trackers.

Denning, Denning and Schwartz 1979 (doi 10.1145/320064.320069): a limit on set sizes stops no one
who combines what is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from anon_core.base.errors import BadPlan

Set = frozenset[int]


class Refused(BadPlan):
    """A query whose set is too small, or too large."""


@dataclass(frozen=True, kw_only=True)
class Step:
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
    log : list of Step
        All that was asked.
    """

    values: Sequence[int]
    least: int
    log: list[Step] = field(default_factory=list[Step])

    @property
    def everyone(self) -> Set:
        """All records."""
        return frozenset(range(len(self.values)))

    def _answer(self, chosen: Set, words: str, found: Callable[[], int]) -> int:
        many, n = len(chosen), len(self.values)
        if not self.least <= many <= n - self.least:
            self.log.append(Step(words=words, answer=None))
            raise Refused(
                f"{words}: the set is too small or too large; allowed are {self.least} to "
                f"{n - self.least} of {n} records.",
                remedy="Ask about a larger or smaller set.",
            )
        answer = found()
        self.log.append(Step(words=words, answer=answer))
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
