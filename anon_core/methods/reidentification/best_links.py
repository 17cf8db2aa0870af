"""The best links of rows to people of a register: assignments of most weight, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.methods.matching.fitting_rows import texts_overlap
from anon_core.methods.reidentification.fellegi_sunter import Agreement, compared, posterior
from anon_core.methods.reidentification.register import Register
from anon_core.release.ground_truth import Truth
from anon_core.release.release import Persons, View

_TIED = 1e-9  # bits


@dataclass(frozen=True, kw_only=True, eq=False)
class Links:
    """Rows with the people they are linked to, and how often each where several weigh the same.

    Attributes
    ----------
    kind : int64 array of shape (rows,)
        Rows of a kind say the same, and are linked alike.
    tuples : sequence of int64 array of shape (n,)
        By kind, tuples of the register whose people a row may be linked to.
    shares : sequence of float64 array of shape (n,)
        The chance of each; their sum is below 1 where people are too few for the rows.
    posterior : float64 array of shape (rows,)
        Chance that the linked person is behind the row, normalised over the register.
    fitting : float64 array of shape (rows,)
        People of the register whom the row's cells cover.
    """

    kind: I64
    tuples: Sequence[I64]
    shares: Sequence[F64]
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

    Parameters
    ----------
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
    offered = register.count if offered is None else offered
    kinds, kind, rows = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    kind = kind.ravel().astype(np.int64)
    names = kinds[:, block] if block is not None else np.zeros(len(kinds), dtype=np.int32)
    tuples: list[I64] = [np.empty(0, np.int64)] * len(kinds)
    shares: list[F64] = [np.empty(0)] * len(kinds)
    chance, fitting = np.zeros(len(kinds)), np.zeros(len(kinds))
    done = 0
    for name in np.unique(names).tolist():
        here = np.flatnonzero(names == name)
        among = offered > 0
        if block is not None:
            among &= columns[block].level(name, codes[:, block]) == 0
        people = np.flatnonzero(among)
        bits, chances = np.empty((len(here), len(people))), np.empty((len(here), len(people)))
        for place, own in enumerate(here.tolist()):
            context.report(done / len(cells), "Comparing rows with the register")
            done += int(rows[own])
            match = compared(columns, kinds[own], codes)
            bits[place] = match.bits[people]
            chances[place] = posterior(match.likelihood, register.count)[people]
            fitting[own] = register.count[match.inside].sum()
        found = link_shares(bits, rows[here], offered[people])
        for place, own in enumerate(here.tolist()):
            linked = np.flatnonzero(found[place])
            tuples[own], shares[own] = people[linked], found[place, linked]
            chance[own] = float(found[place] @ chances[place])
    return Links(
        kind=kind, tuples=tuples, shares=shares, posterior=chance[kind], fitting=fitting[kind]
    )


def link_shares(bits: F64, rows: I64, people: I64) -> F64:
    """Return how often a row of each kind is linked to each tuple, where weights sum to most.

    Where several assignments do so, none is preferred: shares are as even as they allow, those of
    the highest entropy. They depend on no order of rows or people.

    Parameters
    ----------
    bits : float64 array of shape (kinds, tuples)
        The weight of a link.
    rows : int64 array of shape (kinds,)
    people : int64 array of shape (tuples,)

    Returns
    -------
    float64 array of shape (kinds, tuples)
        Lines sum to 1 unless people are fewer than rows.
    """
    if not bits.size:
        return np.zeros_like(bits)
    # Tuples of the same weights are one; what is left over, of rows or people, is linked to none.
    first, same = _alike(bits)
    weight, size = bits[:, first], np.bincount(same, people).astype(np.int64)
    left = int(size.sum()) - int(rows.sum())
    flow = _one_best(weight, rows, size)
    if left >= 0:
        weight = np.vstack([weight, np.zeros(len(size))])
        flow = np.vstack([flow, size - flow.sum(axis=0)])
        supply, demand = np.append(rows, left).astype(np.float64), size.astype(np.float64)
    else:
        weight = np.hstack([weight, np.zeros((len(rows), 1))])
        flow = np.hstack([flow, (rows - flow.sum(axis=1))[:, None]])
        supply, demand = rows.astype(np.float64), np.append(size, -left).astype(np.float64)
    even = _even(_in_some_best(weight, flow), supply, demand)
    share = even[: len(rows), : len(size)] / rows[:, None]
    return share[:, same] * (people / size[same])


def _alike(lines: F64) -> tuple[I64, I64]:
    """Return the first of the columns that are the same in all lines, and each column's number."""
    factors = np.random.default_rng(0).integers(1, 1 << 62, len(lines), dtype=np.int64) | 1
    keys = np.zeros(lines.shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        for line, factor in zip(lines, factors, strict=True):
            keys += (line + 0.0).view(np.int64) * factor  # -0 is 0
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    return first.astype(np.int64), same.ravel().astype(np.int64)


def _one_best(weight: F64, rows: I64, size: I64) -> F64:
    """Return how many rows of each kind one best assignment links to each tuple.

    Of R rows only the R people of most weight can matter to a row: anyone who else it is linked to
    could be replaced by one of these who is free.
    """
    from scipy.optimize import linear_sum_assignment

    most = int(rows.sum())
    some = np.unique(np.concatenate([_best(line, size, most) for line in weight]))
    copies = np.repeat(some, np.minimum(size[some], most))
    lines = np.repeat(np.arange(len(rows)), rows)
    row, column = linear_sum_assignment(weight[lines][:, copies], maximize=True)
    flow = np.zeros(weight.shape)
    np.add.at(flow, (lines[row], copies[column]), 1)
    return flow


def _best(weight: F64, size: I64, rows: int) -> I64:
    """Return the tuples that hold the `rows` people of most weight."""
    order = np.argsort(-weight, kind="stable")
    before = np.cumsum(size[order]) - size[order]
    return order[before < rows].astype(np.int64)


def _in_some_best(weight: F64, flow: F64) -> B1:
    """Return which links are in some best assignment, given one that uses up rows and people.

    Prices of people and rows are at least what a link weighs, and equal for links that are used;
    another link is in a best assignment where they are equal, and a cycle of such links brings
    rows and people back to it.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    used = flow > 0
    price = np.zeros(weight.shape[1])
    for _ in range(len(price) + 1):
        gain = np.where(used, price - weight, -np.inf).max(axis=1)
        higher = np.maximum(price, (weight + gain[:, None]).max(axis=0))
        if np.all(higher <= price + _TIED / 10):
            break
        price = higher
    gain = np.where(used, price - weight, -np.inf).max(axis=1)
    equal = used | (price - weight <= gain[:, None] + _TIED)
    kinds, tuples = weight.shape
    forth, back = np.nonzero(equal), np.nonzero(used)
    begin = np.concatenate([forth[0], back[1] + kinds])
    end = np.concatenate([forth[1] + kinds, back[0]])
    nodes = kinds + tuples
    edges = csr_array((np.ones(len(begin)), (begin, end)), shape=(nodes, nodes))
    _, part = connected_components(cast(Any, edges), directed=True, connection="strong")
    return equal & (part[:kinds, None] == part[None, kinds:])


def _even(links: B1, rows: F64, people: F64) -> F64:
    """Return the matrix of highest entropy on some links, with sums of lines and columns.

    By proportional fitting; each link is in some matrix with these sums, so it converges.
    """
    first, same = _alike(links.astype(np.float64))  # columns with the same links are one
    size = np.bincount(same, people)
    found = links[:, first] * rows[:, None] * size
    for _ in range(10_000):
        sums = found.sum(axis=1)
        found *= np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)[:, None]
        sums = found.sum(axis=0)
        if np.all(np.abs(sums - size) <= 1e-12 * size):
            break
        found *= np.divide(size, sums, out=np.zeros_like(size), where=sums > 0)
    return found[:, same] * np.divide(people, size[same])


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
    alike, inverse = np.unique(np.stack([line, links.kind]), axis=1, return_inverse=True)
    found = np.zeros(alike.shape[1])
    for nth, (own, kind) in enumerate(alike.T.tolist()):
        wanted = persons.group[own] * kinds + links.tuples[kind]
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        there = known[at] == wanted if len(known) else np.zeros(len(wanted), dtype=np.bool_)
        of_tuple = np.minimum(rows[at[there]] / persons.sizes[own], 1.0)
        count = np.maximum(register.count[links.tuples[kind][there]], 1)
        found[nth] = float((links.shares[kind][there] * of_tuple / count).sum())
    return found[inverse.ravel()]
