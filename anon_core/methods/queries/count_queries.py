"""Count queries: how many rows have a value in an interval of leaves, in each of some columns.

A workload is what an analyst might ask. The table answers it exactly, a release only by an
estimate; `estimate` holds both, and the distance between them is a measure of what was lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.errors import AnonError, BadPlan, brief, nearest
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.values.kinds import KINDS
from anon_core.release.problem import Problem

#: What a row must show in a column: limits, both inclusive, or one of some values.
Predicate = Mapping[str, float | str] | Sequence[str]
#: Intervals into which one query may fall where values are no neighbours.
_MOST = 10_000


def by_hand(problem: Problem, queries: Sequence[Mapping[str, Predicate]]) -> tuple[Workload, I64]:
    """Return queries as a workload, and which query each of its parts belongs to.

    Returns
    -------
    workload : Workload
        A query with values that are no neighbours has several parts there.
    query : int64 array of shape (parts,)
        Answers of a query are the sums of those of its parts.

    Raises
    ------
    BadPlan
        If a column cannot be asked about, or has no value that a predicate names.
    """
    parts: list[dict[str, tuple[int, int]]] = []
    query: list[int] = []
    for number, asked in enumerate(queries):
        runs = [_runs(problem, column, predicate) for column, predicate in asked.items()]
        if np.prod([float(len(r)) for r in runs]) > _MOST:
            raise BadPlan(
                f"Query {number + 1} splits into more than {_MOST:,} intervals.",
                remedy="Name fewer values, or ask about fewer columns at once.",
            )
        for combined in product(*runs):
            parts.append(dict(zip(asked, combined, strict=True)))
            query.append(number)
    return asking(parts), np.array(query, dtype=np.int64)


def in_words(query: Mapping[str, Predicate]) -> str:
    """Return a query as people read it.

    Examples
    --------
    >>> in_words({"age": {"low": 40, "high": 70}, "sex": ("F",)})
    'age from 40 to 70, sex F'
    """
    conditions: list[str] = []
    for column, predicate in query.items():
        if isinstance(predicate, Mapping):
            ends = {"low": "from", "high": "to"}
            limits = " ".join(f"{ends[key]} {end}" for key, end in predicate.items())
            conditions.append(f"{column} {limits}")
        else:
            conditions.append(f"{column} {' or '.join(predicate)}")
    return ", ".join(conditions)


def _runs(problem: Problem, column: str, predicate: Predicate) -> list[tuple[int, int]]:
    """Return what a predicate asks for as runs of neighbouring leaves, both ends inclusive."""
    known = problem.frequency.shown
    if column not in known:
        raise BadPlan(
            f"A query asks about '{column}', which is neither quasi-identifier nor sensitive.",
            remedy=f"Ask about quasi-identifiers and sensitive columns.{nearest(column, known)}",
        )
    hierarchy = problem.hierarchies[column]
    if not isinstance(predicate, Mapping):
        gone = [text for text in predicate if text not in hierarchy.code]
        if gone:
            raise BadPlan(
                f"A query asks for {brief(gone[0])} of '{column}', a value it does not have.",
                remedy=f"Write values as in the table.{nearest(gone[0], hierarchy.leaves)}",
            )
        leaves = np.array(sorted(hierarchy.code[text] for text in predicate))
    else:
        kind = KINDS[problem.dataset.column(column).kind]
        ends = {key: _end(kind.measure, end) for key, end in predicate.items()}
        if hierarchy.measure is None or None in ends.values():
            raise BadPlan(
                f"A query asks for limits of '{column}', but it has values that cannot be compared "
                "with them.",
                remedy="Name its values in a list, or give limits as the column writes them.",
            )
        low, high = ends.get("low") or 0.0, ends.get("high") or 0.0
        inside = ~np.isnan(hierarchy.measure)
        inside &= (hierarchy.measure >= low) | ("low" not in ends)
        inside &= (hierarchy.measure <= high) | ("high" not in ends)
        leaves = np.flatnonzero(inside)
        if not len(leaves):
            raise BadPlan(
                f"A query asks for limits of '{column}' that none of its values lies in.",
                remedy="Give wider limits.",
            )
    cuts = np.flatnonzero(np.diff(leaves) > 1) + 1
    return [(int(run[0]), int(run[-1])) for run in np.split(leaves, cuts)]


def _end(measure: Callable[[str], float | None], end: float | str) -> float | None:
    """Return a limit as a number; None where it is none of the column's."""
    found = measure(end) if isinstance(end, str) else float(end)
    return None if found is None or math.isnan(found) else found


#: 100 · 0.01^(1/2) is 10, and must not become 9 by the last bit of a root.
_LAST_BIT = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Workload:
    """Count queries, each a conjunction of predicates ``column in leaf interval``.

    Attributes
    ----------
    columns : tuple of str
        The columns asked about.
    column : int32 array of shape (queries, predicates)
        Place of each predicate's column in `columns`; -1 for no predicate, so that queries may
        differ in length. A query asks about a column once at most.
    lo, hi : int32 arrays of shape (queries, predicates)
        First and last leaf of each predicate, both inclusive. A set of leaves that are no
        neighbours is asked as one query per run of neighbours; counts and estimates add up.

    Raises
    ------
    AnonError
        If shapes differ, a column's place is unknown or given twice, or an interval is empty.
    """

    columns: tuple[str, ...]
    column: npt.NDArray[np.int32]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        """Check that every predicate can be read."""
        given = self.column >= 0
        ordered = np.sort(self.column, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        shapes = {self.column.shape, self.lo.shape, self.hi.shape}
        if (
            len(shapes) > 1
            or np.any(self.column >= len(self.columns))
            or np.any(twice)
            or np.any((self.lo > self.hi) & given)
            or np.any((self.lo < 0) & given)
        ):
            raise AnonError(
                "The workload has a predicate without a column or with an empty interval, or asks "
                "twice about one column in one query.",
                remedy="Give every predicate one of the columns and leaves lo ≤ hi.",
            )

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.column)

    def part(self, start: int, stop: int) -> Workload:
        """Return the queries start..stop-1."""
        return Workload(
            columns=self.columns,
            column=self.column[start:stop],
            lo=self.lo[start:stop],
            hi=self.hi[start:stop],
        )

    def intervals(
        self, place: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return what is asked about one column.

        Parameters
        ----------
        place : int
            Place of the column in `columns`.

        Returns
        -------
        lo, hi : int32 arrays of shape (intervals,)
            The distinct intervals.
        which : int64 array of shape (queries,)
            Number of each query's interval, -1 where it does not ask about the column.
        """
        query, at = np.nonzero(self.column == place)
        lo, hi = self.lo[query, at], self.hi[query, at]
        wide = int(hi.max(initial=0)) + 1
        found, rank = np.unique(lo.astype(np.int64) * wide + hi, return_inverse=True)
        which = np.full(self.queries, -1, dtype=np.int64)
        which[query] = rank
        return (found // wide).astype(np.int32), (found % wide).astype(np.int32), which


def asking(queries: Sequence[Mapping[str, tuple[int, int]]]) -> Workload:
    """Return a workload written by hand: per query, columns with first and last leaf.

    Examples
    --------
    >>> asking([{"age": (3, 5), "sex": (0, 0)}, {"sex": (1, 1)}]).column.tolist()
    [[0, 1], [1, -1]]
    """
    columns = tuple(dict.fromkeys(name for query in queries for name in query))
    shape = len(queries), max((len(query) for query in queries), default=0)
    column = np.full(shape, -1, dtype=np.int32)
    lo, hi = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
    for q, query in enumerate(queries):
        for p, (name, (first, last)) in enumerate(query.items()):
            column[q, p], lo[q, p], hi[q, p] = columns.index(name), first, last
    return Workload(columns=columns, column=column, lo=lo, hi=hi)


def interval_length(size: int, selectivity: float, predicates: int) -> int:
    """Return ⌊|A| · s^(1/w)⌋, at least 1: the leaves a predicate covers.

    Parameters
    ----------
    size : int
        |A|, the leaves of the column's domain.
    selectivity : float
        s in (0, 1], the share of rows a query is expected to hit.
    predicates : int
        w, the predicates of the query, the sensitive one included.

    Notes
    -----
    Li et al. print s^(1/(w+1)), but their w already counts the sensitive attribute; so an expected
    selectivity of s needs 1/w, as in Xiao and Tao 2006, whose w does not count it.

    Examples
    --------
    >>> [interval_length(78, 0.1, w) for w in (4, 5, 6, 7, 8)]
    [43, 49, 53, 56, 58]
    """
    return max(1, math.floor(size * selectivity ** (1 / predicates) + _LAST_BIT))


def most_predicates(problem: Problem) -> int:
    """Return how many predicates a query on the table can have: quasi-identifiers and one more."""
    quasi = set(problem.quasi)
    return min((len(quasi - {name}) + 1 for name in problem.sensitive), default=len(quasi))


def workload(
    problem: Problem,
    *,
    queries: int = 1000,
    predicates: int = 0,
    selectivity: float = 0.1,
    generator: np.random.Generator,
) -> Workload:
    """Draw a workload of count queries (Li et al. 2015, Permutation anonymization, section 4.2).

    Every query asks about w − 1 quasi-identifiers drawn at random and the sensitive column (one
    drawn at random where there are several; w quasi-identifiers where there is none), each in an
    interval of ⌊|A| · s^(1/w)⌋ neighbouring leaves that starts at a random place.

    Parameters
    ----------
    problem : Problem
        Only its roles and hierarchies are looked at, so neither rows nor their order matter.
    predicates : int
        w; 0 for as many as there can be.
    selectivity : float
        s in (0, 1].

    Raises
    ------
    BadPlan
        If there are fewer columns than predicates, or `queries` or `selectivity` are out of range.
    """
    most = most_predicates(problem)
    asked = predicates or most
    if not 1 <= asked <= most:
        raise BadPlan(
            f"A count query with {asked} predicates was asked for; this table allows from 1 to "
            f"{most}.",
            remedy=f"Set 'predicates' to at most {most}, or to 0 for all of them.",
        )
    if queries < 1 or not 0.0 < selectivity <= 1.0:
        raise BadPlan(
            f"A workload of {queries} queries with selectivity {selectivity:g} cannot be drawn.",
            remedy="Ask at least one query, with a selectivity above 0 and up to 1.",
        )
    columns = problem.frequency.shown
    order = generator.random((queries, len(problem.quasi)))
    if problem.sensitive:
        places = np.array([columns.index(name) for name in problem.sensitive])
        target = places[generator.integers(0, len(places), queries)]
        # A sensitive quasi-identifier is asked about once.
        order[np.arange(len(problem.quasi)) == target[:, None]] = 2.0
        drawn = np.argsort(order, axis=1, kind="stable")[:, : asked - 1]
        column = np.concatenate([drawn, target[:, None]], axis=1)
    else:
        column = np.argsort(order, axis=1, kind="stable")[:, :asked]
    domain = [_domain(problem, name) for name in columns]
    size = np.array([len(leaves) for leaves in domain])
    length = np.array([interval_length(int(n), selectivity, asked) for n in size])
    leaves = np.concatenate(domain)
    place = (np.cumsum(size) - size)[column] + generator.integers(
        0, (size - length)[column], endpoint=True
    )
    return Workload(
        columns=columns,
        column=column.astype(np.int32),
        lo=leaves[place].astype(np.int32),
        hi=leaves[place + length[column] - 1].astype(np.int32),
    )


def _domain(problem: Problem, name: str) -> npt.NDArray[np.int64]:
    """Return the leaves in |A|; values that only a population table has are no part of it."""
    hierarchy = problem.hierarchies[name]
    counted = np.flatnonzero(hierarchy.counted)
    return counted if len(counted) else np.arange(len(hierarchy.leaves))


# A column's values in few parts that can be shown: its most frequent values, or ranges.


#: What values too rare to be shown by themselves are called together.
OTHERS = "other values"


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """A column's leaves in parts.

    Attributes
    ----------
    labels : tuple of str
        Of each part, in the order they are shown.
    part : int64 array of shape (leaves,)
        The part of every leaf.
    ranges : bool
        Whether a part is a range of numbers, which holds all that lie between its ends.
    """

    labels: tuple[str, ...]
    part: I64
    ranges: bool = False


def parts_of(hierarchy: Hierarchy, rows: I64, most: int = 12) -> Parts:
    """Return a column's values in at most so many parts, and one more for what is left.

    Numbers and dates become ranges of neighbours with about equally many rows, where they are more
    than `most`; of other columns the most frequent values are alone. A missing value is a part of
    its own among numbers.

    Parameters
    ----------
    rows : int64 array of shape (leaves,)
        Rows with each leaf.
    """
    part = np.full(len(hierarchy.leaves), -1, dtype=np.int64)
    seen = np.flatnonzero(rows > 0)
    if hierarchy.measure is not None and len(seen) > most:
        values = seen[seen != hierarchy.missing_leaf]
        before = np.cumsum(rows[values]) - rows[values]
        number = (before * most) // max(int(rows[values].sum()), 1)
        _, number = np.unique(number, return_inverse=True)
        labels: list[str] = []
        for place in range(int(number.max(initial=-1)) + 1):
            first, last = values[number == place][[0, -1]]
            part[first : last + 1] = place
            low, high = hierarchy.leaves[first], hierarchy.leaves[last]
            labels.append(low if first == last else f"{low} – {high}")
        # Values that no row has go with their neighbours before them.
        free = part < 0
        part[free] = np.maximum.accumulate(part)[free]
        part[part < 0] = 0
        if hierarchy.has_missing:
            part[hierarchy.missing_leaf] = len(labels)
            labels.append("missing")
        return Parts(labels=tuple(labels), part=part, ranges=True)
    alone = seen if len(seen) <= most else seen[np.argsort(-rows[seen], kind="stable")[:most]]
    part[alone] = np.arange(len(alone))
    labels = [hierarchy.leaves[leaf] for leaf in alone.tolist()]
    labels = [
        "missing" if leaf == hierarchy.missing_leaf else text
        for leaf, text in zip(alone.tolist(), labels, strict=True)
    ]
    if np.any(part < 0):
        part[part < 0] = len(labels)
        labels.append(OTHERS)
    return Parts(labels=tuple(labels), part=part)
