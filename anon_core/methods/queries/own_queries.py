"""Count queries written by hand: what they ask about becomes intervals of leaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.errors import BadPlan, brief, nearest
from anon_core.data.values.kinds import KINDS
from anon_core.methods.queries.count_queries import Workload, asking
from anon_core.release.problem import Problem

#: What a row must show in a column: limits, both inclusive, or one of some values.
Predicate = Mapping[str, float | str] | Sequence[str]
#: Intervals into which one query may fall apart where values are no neighbours.
_MOST = 10_000


def by_hand(problem: Problem, queries: Sequence[Mapping[str, Predicate]]) -> tuple[Workload, I64]:
    """Return queries as a workload, and which query each of its parts belongs to.

    Parameters
    ----------
    queries : sequence of mappings of columns to predicates

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
        runs = [_runs(problem, column, told) for column, told in asked.items()]
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
    told: list[str] = []
    for column, predicate in query.items():
        if isinstance(predicate, Mapping):
            ends = {"low": "from", "high": "to"}
            limits = " ".join(f"{ends[key]} {end}" for key, end in predicate.items())
            told.append(f"{column} {limits}")
        else:
            told.append(f"{column} {' or '.join(predicate)}")
    return ", ".join(told)


def _runs(problem: Problem, column: str, told: Predicate) -> list[tuple[int, int]]:
    """Return what a predicate asks for as runs of neighbouring leaves, both ends inclusive."""
    known = problem.frequency.shown
    if column not in known:
        raise BadPlan(
            f"A query asks about '{column}', which is neither quasi-identifier nor sensitive.",
            remedy=f"Ask about quasi-identifiers and sensitive columns.{nearest(column, known)}",
        )
    hierarchy = problem.hierarchies[column]
    if not isinstance(told, Mapping):
        gone = [text for text in told if text not in hierarchy.code]
        if gone:
            raise BadPlan(
                f"A query asks for {brief(gone[0])} of '{column}', a value it does not have.",
                remedy=f"Write values as in the table.{nearest(gone[0], hierarchy.leaves)}",
            )
        leaves = np.array(sorted(hierarchy.code[text] for text in told))
    else:
        kind = KINDS[problem.dataset.column(column).kind]
        ends = {key: _end(kind.measure, end) for key, end in told.items()}
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
