"""Distinct persons behind each class, from the published lines and the private table alone.

The person column is not published. A class of N lines stands for N of the private rows that fit it.
Where as many rows fit and none fits elsewhere, they are its rows, and its persons are known. Else
some of the rows that fit are hidden or stand in another class; what is said then holds for every
choice of N of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.verification.evidence import CannotTell, Evidence
from anon_core.verification.findings import Check, many, named
from anon_core.verification.text.texts import Codes


@dataclass(frozen=True, kw_only=True, eq=False)
class Persons:
    """The fewest distinct persons a class can have, and whether that is how many it has.

    Attributes
    ----------
    least : int64 array of shape (classes,)
    sure : bool array of shape (classes,)
    """

    least: Codes
    sure: npt.NDArray[np.bool_]


def persons(evidence: Evidence) -> Persons:
    """Return the persons behind each class of whole rows.

    Raises
    ------
    CannotTell
        If a row of the table does not say whose it is, or rows cannot be matched.
    """
    found = evidence.behind(evidence.promise.person)
    refuse_nobody(found.counted.values)
    counted = found.counted
    least = fewest(counted.owner, counted.count, evidence.sizes)
    return Persons(least=least, sure=found.sure)


@dataclass(frozen=True, kw_only=True, eq=False)
class Shares(Persons):
    """Of those who have a value of a column, and how many have the most common one at most.

    Attributes
    ----------
    most : int64 array of shape (classes,)
    """

    most: Codes


def person_shares(evidence: Evidence, column: str) -> Shares:
    """Return how many persons of each class have a value of a column, and the same one.

    As many persons have a value as lines show it at most, and as many of those who fit.

    Raises
    ------
    CannotTell
        As `persons` does.
    """
    found = evidence.behind(evidence.promise.person, column)
    counted, shown = found.counted, evidence.histogram(column)
    refuse_nobody(counted.values)
    number_of = {value: number for number, value in enumerate(shown.values)}
    people: dict[object, int] = {}
    pairs = [value for value in counted.values if isinstance(value, tuple)]
    whose = np.array([people.setdefault(pair[0], len(people)) for pair in pairs], dtype=np.int64)
    what = np.array([number_of.get(pair[1], -1) for pair in pairs], dtype=np.int64)
    told = np.array([pair[1] is not None for pair in pairs], dtype=np.bool_)[counted.value]
    owner, rows = counted.owner[told], counted.count[told]
    whose, what = whose[counted.value][told], what[counted.value][told]
    # Everyone who fits with any value, with all rows that have one.
    wide = max(len(people), 1)
    own, entry = np.unique(owner * wide + whose, return_inverse=True)
    all_rows = np.bincount(entry, weights=rows, minlength=len(own)).astype(np.int64)
    least = fewest(own // wide, all_rows, shown.known.sizes)
    # Who fits with one value, but no more than the lines that show it.
    values = len(shown.values) + 1
    pair, fitting = np.unique(owner * values + what + 1, return_counts=True)
    lines = np.zeros(len(pair), dtype=np.int64)
    known = shown.known
    place = np.searchsorted(pair, known.owner * values + known.value + 1)
    there = place < len(pair)
    there[there] = pair[place[there]] == (known.owner * values + known.value + 1)[there]
    lines[place[there]] = known.count[there]
    most = np.zeros(len(found.sure), dtype=np.int64)
    np.maximum.at(most, pair // values, np.minimum(fitting, lines))
    return Shares(least=least, sure=found.sure, most=most)


def refuse_nobody(values: tuple[object, ...]) -> None:
    """Refuse rows that do not say whose they are; values are tuples that begin with the person."""
    if any(isinstance(value, tuple) and value[0] is None for value in values):
        raise CannotTell("rows of the table do not say whose they are")


def fewest(owner: Codes, rows: Codes, lines: Codes) -> Codes:
    """Return how many persons each class has at least, shape (classes,).

    N of the rows that fit have the fewest persons where those with most rows are taken first. Where
    just N rows fit, that is all their persons.

    Parameters
    ----------
    owner, rows : int64 arrays of shape (entries,)
        A class, and how many of the rows that fit it one person has; an entry for each person.
    lines : int64 array of shape (classes,)
        N.
    """
    order = np.lexsort([-rows, owner])
    owner, rows = owner[order], rows[order]
    before = np.cumsum(rows) - rows
    begin = np.searchsorted(owner, np.arange(len(lines)))
    before -= np.append(before, 0)[begin][owner]
    return np.bincount(owner[before < lines[owner]], minlength=len(lines)).astype(np.int64)


def person_check(
    evidence: Evidence,
    what: str,
    keeps: npt.NDArray[np.bool_],
    sure: npt.NDArray[np.bool_],
    reached: npt.NDArray[np.float64],
    *,
    bound: float,
    measured: str,
    column: str = "",
) -> Check:
    """Return the check of a promise about the persons of every class.

    Parameters
    ----------
    what : str
        The promise in words.
    keeps : bool array of shape (classes,)
        Whether a class keeps it whichever of the rows that fit are its own.
    sure : bool array of shape (classes,)
        Whether these are known, so that one which does not keep it breaks it.
    reached : float64 array of shape (classes,)
        What a class reaches at least.
    measured : str
        What `reached` is, of the worst class.
    column : str
        The column concerned, if any.
    """
    part = evidence.part_of(column) if column else evidence.grouped
    rows = part.table.rows_of(~keeps[part.group])
    worst = float(reached.min()) if len(reached) else bound
    broken, open_ = ~keeps & sure, ~keeps & ~sure
    if not rows:
        sentence = (
            f"Recomputed from the published file and the table: {what} holds ({measured} "
            f"{worst:.4g})."
        )
    elif broken.any():
        few = many(int(np.count_nonzero(broken)), "class")
        sentence = f"{what} is broken in {few}, {measured} {worst:.4g} {named(rows)}."
    else:
        few = many(int(np.count_nonzero(open_)), "class", "has", "have")
        sentence = (
            f"{what} is not decided: more rows of the table fit than {few}, so it is unclear whose "
            f"these are; it could be as little as {worst:.4g} {named(rows)}. Treated as "
            "broken."
        )
    return Check(
        name=evidence.name,
        holds=not rows,
        bound=bound,
        reached=worst,
        column=column,
        rows=rows.first,
        sentence=sentence,
        undecided=bool(rows) and not broken.any(),
    )
