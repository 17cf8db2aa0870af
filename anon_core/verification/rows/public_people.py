"""The people of the public table against the published texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.errors import BadPlan, listing
from anon_core.verification.rows.groups import Grouped
from anon_core.verification.rows.lines import Lines
from anon_core.verification.rows.matching import beyond, covering_pairs, text_runs
from anon_core.verification.rows.public_values import completed
from anon_core.verification.rows.tables import PrivateTable, Promise, joined
from anon_core.verification.text.cells import Cells, TextTable
from anon_core.verification.text.texts import (
    Codes,
    Cover,
    level_sets,
    read_cover,
    read_private_column,
)

Levels = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicPeople:
    """The public table against the published texts.

    Attributes
    ----------
    points : int64 array of shape (tuples, quasi)
        Distinct tuples of the public table, as codes.
    people : int64 array of shape (tuples,)
    covers : tuple of Cover
        Per quasi-identifier, the codes each published text covers.
    sizes : tuple of int
        Per quasi-identifier, the code of the missing value: the highest.
    unplaced : tuple of str
        Columns whose hierarchy does not list a public value and does not say where it stands.
    strangers : int
        Rows of the table without a person of their own in the public table.
    """

    points: Codes
    people: Codes
    covers: tuple[Cover, ...]
    sizes: tuple[int, ...]
    unplaced: tuple[str, ...] = ()
    strangers: int = 0


def read_public(
    promise: Promise,
    public: TextTable,
    private: TextTable,
    table: PrivateTable,
    levels: Levels,
    release: Lines,
) -> PublicPeople:
    """Code the public table and read what every published text covers of it.

    Raises
    ------
    BadPlan
        If the public table lacks a quasi-identifier.
    """
    gone = [name for name in promise.quasi if public.names.count(name) != 1]
    if gone:
        raise BadPlan(
            f"The public table has no column {listing(gone)}, or more than one.",
            remedy="Give one with every quasi-identifier.",
        )
    codes: list[Codes] = []
    rows: list[Codes] = []
    covers: list[Cover] = []
    sizes: list[int] = []
    unplaced: list[str] = []
    for name in promise.quasi:
        # Both tables in one column, so that a value has one code wherever it stands.
        column = read_private_column(
            Cells.joined([private.column(name), public.column(name)]),
            table.columns[name].spelling.kind,
            promise.missing_of(name),
            kept=promise.kept.get(name, ()),
            neutralised=promise.neutralised,
            ordered=True,
            levels=levels.get(name, ()),
            thousands=table.columns[name].thousands,
        )
        codes.append(column.codes[len(private) :])
        rows.append(column.codes_at(table.first))
        sizes.append(column.missing)
        listed = levels.get(name)
        if listed:
            listed = completed(listed, column.spelling, column.keys)
            unplaced += [name] if listed is None else []
        covers.append(read_cover(column, level_sets(name, column, listed), release.texts_of(name)))
    point, first = joined(codes, len(public))
    both = [np.concatenate(pair) for pair in zip(codes, rows, strict=True)]
    kind, _ = joined(both, len(public) + len(table))
    people = np.ones(len(public), dtype=np.int64)
    alone = beyond(kind[: len(public)], people, kind[len(public) :], table.count)
    return PublicPeople(
        points=np.stack([c[first] for c in codes], axis=1),
        people=np.bincount(point).astype(np.int64),
        covers=tuple(covers),
        sizes=tuple(sizes),
        unplaced=tuple(unplaced),
        strangers=int(alone.sum()),
    )


def covered_people(promise: Promise, grouped: Grouped, people: PublicPeople) -> tuple[Codes, Codes]:
    """Return whom each class of whole rows covers.

    Returns
    -------
    inside : int64 array of shape (classes,)
        People of the public table whom the class covers.
    times : int64 array of shape (tuples,)
        How many classes cover each tuple of `people.points`.

    Raises
    ------
    TooLarge
        If there are too many pairs to look at.
    """
    first = np.unique(grouped.group, return_index=True)[1]
    boxes = np.stack([grouped.table.codes_of(n)[first] for n in promise.quasi], axis=1)
    columns = [
        text_runs(cover.runs, size + 1)
        for cover, size in zip(people.covers, people.sizes, strict=True)
    ]
    point, box = covering_pairs(people.points, boxes.astype(np.int64), columns)
    times = np.bincount(point, minlength=len(people.people))
    inside = np.bincount(box, weights=people.people[point], minlength=len(first))
    return inside.astype(np.int64), times
