"""The best links of rows to people of a register: an assignment of most weight, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.context import Context
from anon_core.methods.matching.fitting_rows import texts_overlap
from anon_core.methods.reidentification.fellegi_sunter import Agreement, compared, posterior
from anon_core.methods.reidentification.register import Register
from anon_core.release.ground_truth import Truth
from anon_core.release.release import Persons, View


@dataclass(frozen=True, kw_only=True, eq=False)
class Links:
    """Rows with the people they are linked to.

    Attributes
    ----------
    tuple : int64 array of shape (rows,)
        The person's tuple in the register; -1 where no one was left.
    posterior : float64 array of shape (rows,)
        Chance that the person is behind the row, normalised over the register.
    fitting : float64 array of shape (rows,)
        People of the register whom the row's cells cover.
    """

    tuple: I64
    posterior: F64
    fitting: F64


def blocking_column(view: View, persons: Persons) -> int | None:
    """Return the column with most cells of which no two share a value; None if there is none."""
    best, most = None, 1
    for d, name in enumerate(persons.columns):
        cells = len(np.unique(persons.codes[:, d]))
        if cells > most and not texts_overlap(view.vocabularies[name], persons.codes[:, d]):
            best, most = d, cells
    return best


def best_links(
    columns: Sequence[Agreement],
    cells: I32,
    register: Register,
    codes: I32,
    block: int | None,
    context: Context,
    offered: I64 | None = None,
) -> Links:
    """Link every row to one person, no one twice, so that the weights sum to most.

    In a block of R rows only the R people of most weight can matter to a row: anyone who else it is
    linked to could be replaced by one of these who is free.

    Parameters
    ----------
    columns : sequence of Agreement
    cells : int32 array of shape (rows, columns)
        What each row says.
    codes : int32 array of shape (tuples, columns)
        The register's people, columns as in `cells`.
    block : int or None
        A column whose cells part rows and people into blocks.
    offered : int64 array of shape (tuples,), optional
        People of each tuple who may be linked; everyone, where it is not said. Posteriors are over
        everyone either way.
    """
    from scipy.optimize import linear_sum_assignment

    rows, offered = len(cells), register.count if offered is None else offered
    found = np.full(rows, -1, dtype=np.int64)
    chance, fitting = np.zeros(rows), np.zeros(rows)
    names = cells[:, block] if block is not None else np.zeros(rows, dtype=np.int32)
    done = 0
    for name in np.unique(names).tolist():
        here = np.flatnonzero(names == name)
        kinds, kind = np.unique(cells[here], axis=0, return_inverse=True)
        told: list[F64] = []
        chances: list[F64] = []
        wanted: list[I64] = []
        among = np.ones(len(codes), dtype=np.bool_)
        if block is not None:
            among = columns[block].level(name, codes[:, block]) == 0
        among &= offered > 0
        for own in kinds:
            context.report(done / rows, "Comparing rows with the register")
            done += int(np.count_nonzero(np.all(cells[here] == own, axis=1)))
            match = compared(columns, own, codes)
            told.append(match.bits)
            chances.append(posterior(match.likelihood, register.count))
            people = register.count[match.inside].sum()
            fitting[here[kind.ravel() == len(told) - 1]] = people
            wanted.append(_best(np.where(among, match.bits, -np.inf), offered, len(here)))
        some = np.unique(np.concatenate(wanted))
        copies = np.repeat(some, np.minimum(offered[some], len(here)))
        if not len(copies):
            continue
        weight = np.stack([bits[copies] for bits in told])[kind.ravel()]
        row, column = linear_sum_assignment(weight, maximize=True)
        found[here[row]] = copies[column]
        chance[here[row]] = np.stack([c[copies] for c in chances])[kind.ravel()[row], column]
    return Links(tuple=found, posterior=chance, fitting=fitting)


def _best(bits: F64, count: I64, rows: int) -> I64:
    """Return the tuples that hold the `rows` people of most weight."""
    some = np.flatnonzero(bits > -np.inf)
    if len(some) > rows:
        some = some[np.argpartition(-bits[some], rows - 1)[:rows]]
    order = some[np.argsort(-bits[some], kind="stable")]
    before = np.cumsum(count[order]) - count[order]
    return order[before < rows].astype(np.int64)


# How right links of rows to people are, by where rows are in truth.


def right_links(persons: Persons, line: I64, links: Links, register: Register, truth: Truth) -> F64:
    """Return the chance that the linked person is the one behind the row, shape (rows,).

    Rows of a class say the same, and so do people of a tuple: a row of the class is one of the
    tuple's rows that are there with their share of it, and one of these people's as likely as
    another's. Where a group shows several classes, its rows of the tuple are shared out among them.
    """
    places, people = truth.places, truth.frequency
    kinds = len(register.count) + 1
    shown = places.group >= 0
    # The last kind is of those who are not in the register.
    pair = places.group[shown] * kinds + register.of_run[people.run[places.key[shown]]] % kinds
    known, where = np.unique(pair, return_inverse=True)
    rows = np.bincount(where.ravel(), places.count[shown], len(known))
    linked = links.tuple >= 0
    wanted = persons.group[line] * kinds + np.maximum(links.tuple, 0)
    at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    there = linked & (len(known) > 0)
    if len(known):
        there &= known[at] == wanted
    count = rows[at] if len(known) else np.zeros(len(line))
    share = np.minimum(count / persons.sizes[line], 1.0)
    people_of = register.count[np.maximum(links.tuple, 0)]
    return np.where(there, share / np.maximum(people_of, 1), 0.0)
