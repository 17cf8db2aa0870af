"""What a run knows and no file says: which row of the table stands behind which published one.

It is checked like everything else: its rows have to be the table's, and each group has to show
exactly the parts of the rows that it is said to be made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check, undecided
from anon_core.verification.rows.groups import Grouped, blocks
from anon_core.verification.rows.matching import covering_pairs, text_runs, without_partner
from anon_core.verification.rows.tables import PrivateTable, Promise, joined
from anon_core.verification.text.texts import Codes


@dataclass(frozen=True, kw_only=True, eq=False)
class Witness:
    """The rows of the table in some order, and where each is published.

    Attributes
    ----------
    texts : mapping of str to sequence of str
        Distinct texts of each published column, as the table has them.
    codes : mapping of str to array of integers, shape (rows,)
        Each row's text as a place in them; -1 where it is missing.
    place : int64 array of shape (rows,)
        The row of the first published table, from 0, in which each row stands; -1 where it is
        suppressed. Where columns are permuted apart nothing but its group follows from it.
    """

    texts: Mapping[str, Sequence[str]]
    codes: Mapping[str, npt.NDArray[Any]]
    place: Codes

    def own(self, table: PrivateTable, name: str) -> Codes:
        """Return a column as codes of the private table, -1 for what it does not have."""
        column = table.columns[name]
        told = np.append(column.codes_of_texts(list(self.texts[name])), column.missing)
        return told[self.codes[name]]

    def is_of(self, table: PrivateTable, names: Sequence[str]) -> bool:
        """Say whether the rows are the private table's, each as often."""
        if len(self.place) != table.rows or any(name not in self.codes for name in names):
            return False
        owns = [self.own(table, name) + 1 for name in names]
        if any(len(own) != table.rows for own in owns):
            return False
        both = [
            np.concatenate([table.codes(name) + 1, own])
            for name, own in zip(names, owns, strict=True)
        ]
        line, first = joined(both, len(table) + table.rows)
        there = np.bincount(line[: len(table)], table.count, len(first)).astype(np.int64)
        here = np.bincount(line[len(table) :], minlength=len(first))
        return np.array_equal(there, here)


def check_witness(
    promise: Promise,
    grouped: Mapping[str, Grouped],
    file: PublishedTable,
    table: PrivateTable,
    witness: Witness,
) -> Check:
    """Check that each group shows exactly the parts of the rows that a run put into it.

    Parameters
    ----------
    file : PublishedTable
        The first published table.
    """
    first = next(iter(grouped.values()))
    place, rows = witness.place, table.rows
    if not witness.is_of(table, promise.published) or not np.array_equal(
        np.sort(place), np.arange(rows)
    ):
        return undecided("membership", "What the run says of its groups is not of this table.")
    group = np.asarray(first.group[file.line_of_row])[place]
    wrong: set[int] = set()
    for block in blocks(promise):
        owns = [witness.own(table, name) for name in block]
        beside = next(one for one in grouped.values() if block[0] in one.columns)
        if promise.coarsened and block[0] in promise.quasi:
            wrong |= _uncovered(block[0], owns[0], group, beside, table)
            continue
        told = [
            table.columns[name].codes_of_texts(beside.table.texts_of(name))[
                beside.table.codes_of(name)
            ]
            for name in block
        ]
        both = [np.concatenate([group, beside.group])]
        both += [np.concatenate([own, shown]) + 1 for own, shown in zip(owns, told, strict=True)]
        part, of = joined(both, len(group) + len(beside.group))
        needs = np.bincount(part[:rows], minlength=len(of))
        offers = np.bincount(part[rows:], beside.table.count, len(of)).astype(np.int64)
        wrong |= set(both[0][of[needs != offers]].tolist())
    return Check(
        name="membership",
        holds=not wrong,
        bound=float(rows),
        reached=float(rows),
        sentence=f"{len(wrong)} of the groups that the run formed show other values than their "
        f"rows have, first group {min(wrong) + 1}."
        if wrong
        else "Recomputed from the groups that the run formed: each shows exactly the values of its "
        "own rows.",
    )


def _uncovered(
    name: str, own: Codes, group: Codes, beside: Grouped, table: PrivateTable
) -> set[int]:
    """Return the groups in which a column has cells that are true of no row of their own."""
    texts, codes = beside.table.texts_of(name), beside.table.codes_of(name)
    runs = table.cover(name, texts).runs
    point, first = joined([own], len(own))
    shown, text = joined([codes], len(codes))
    reads = [text_runs(runs, table.columns[name].missing + 1)]
    pairs = covering_pairs(own[first][:, None], codes[text][:, None], reads)
    alone = without_partner(
        point, group, np.ones_like(point), shown, beside.group, beside.table.count, *pairs
    )
    return set(beside.group[alone > 0].tolist())
