"""δ-presence, recomputed from the published texts and the public table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ..errors import BadPlan, listing
from .fillings import TooManyFillings, chances
from .findings import Check, many, undecided
from .match import TooLarge, beyond, covering_pairs, text_runs
from .tables import PrivateTable, Promise, PublishedTable, joined
from .texts import Codes, Cover, read_cover, read_private_column
from .unlisted import completed

NAME = "delta-presence"
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
    public: pd.DataFrame,
    private: pd.DataFrame,
    table: PrivateTable,
    levels: Levels,
    release: PublishedTable,
) -> PublicPeople:
    """Code the public table and read what every published text covers of it.

    Raises
    ------
    BadPlan
        If the public table lacks a quasi-identifier.
    """
    names = [str(name) for name in public.columns]
    gone = [name for name in promise.quasi if names.count(name) != 1]
    if gone:
        raise BadPlan(
            f"The public table has no column {listing(gone)}, or more than one.",
            remedy="Give one with every quasi-identifier.",
        )
    own = [str(name) for name in private.columns]
    codes: list[Codes] = []
    rows: list[Codes] = []
    covers: list[Cover] = []
    sizes: list[int] = []
    unplaced: list[str] = []
    for name in promise.quasi:
        # Both tables in one column, so that a value has one code wherever it stands.
        both = [private.iloc[:, own.index(name)], public.iloc[:, names.index(name)]]
        column = read_private_column(
            pd.concat([part.astype(object) for part in both], ignore_index=True),
            table.columns[name].spelling.kind,
            promise.missing_tokens,
            neutralised=promise.neutralised,
            ordered=True,
            levels=levels.get(name, ()),
        )
        codes.append(column.codes[len(private) :])
        rows.append(column.codes[: len(private)][table.kept])
        sizes.append(column.missing)
        listed = levels.get(name)
        if listed:
            listed = completed(listed, column.spelling, column.keys)
            unplaced += [name] if listed is None else []
        covers.append(read_cover(name, column, listed, release.texts_of(name)))
    point, first = joined(codes, len(public))
    both = [np.concatenate(pair) for pair in zip(codes, rows, strict=True)]
    kind, _ = joined(both, len(public) + table.rows)
    alone = beyond(kind[: len(public)], kind[len(public) :])
    return PublicPeople(
        points=np.stack([c[first] for c in codes], axis=1),
        people=np.bincount(point).astype(np.int64),
        covers=tuple(covers),
        sizes=tuple(sizes),
        unplaced=tuple(unplaced),
        strangers=int(np.count_nonzero(alone)),
    )


def check_presence(
    model: Mapping[str, Any],
    promise: Promise,
    release: PublishedTable,
    group: Codes | None,
    people: PublicPeople | None,
    *,
    linked: bool,
) -> Check:
    """Recompute δ-presence.

    Parameters
    ----------
    model : mapping
        The recipe's table, with delta_min and delta_max.
    promise : Promise
    release : PublishedTable
    group : int64 array of shape (rows,), or None
        Class or published group of every row.
    people : PublicPeople or None
        None where no public table was given.
    linked : bool
        Whether rows are whole; else every column is permuted by itself within its group.
    """
    bounds = [model.get("delta_min", 0.0), model.get("delta_max", 0.5)]
    if any(isinstance(b, bool) or not isinstance(b, int | float) for b in bounds):
        return undecided(NAME, "δ-presence cannot be recomputed: its bounds are no numbers.")
    low, high = (Fraction(str(b)) for b in bounds)
    if group is None or not release.has(promise.quasi):
        return undecided(NAME, "δ-presence cannot be recomputed: columns are missing.")
    if people is None:
        return undecided(NAME, "δ-presence cannot be recomputed: no public table was given.")
    if people.unplaced:
        return undecided(
            NAME,
            "δ-presence cannot be recomputed: it is unclear in which groups of "
            f"{listing(people.unplaced)} values of the public table stand.",
        )
    if people.strangers:
        one = people.strangers == 1
        few = f"{people.strangers} {'row of the table has' if one else 'rows of the table have'}"
        return undecided(
            NAME,
            f"δ-presence cannot be recomputed: {few} no person of their own among the public "
            "people; the table is not a part of them.",
        )
    if any(c.unknown or c.ambiguous for c in people.covers):
        return undecided(NAME, "δ-presence cannot be recomputed: a text has no clear meaning.")
    try:
        found = (_whole if linked else _permuted)(promise, release, group, people)
    except (TooLarge, TooManyFillings) as error:
        return undecided(NAME, f"δ-presence is not decided. {error.message}")
    if isinstance(found, str):
        return undecided(NAME, f"δ-presence cannot be recomputed: {found}")
    least, most = min(found), max(found)
    holds = low <= least and most <= high
    between = f"chances of presence lie between {float(least):.4g} and {float(most):.4g}"
    asked = f"{float(low):g} to {float(high):g} were promised"
    broken_low = not holds and most <= high
    return Check(
        name=NAME,
        holds=holds,
        bound=float(low if broken_low else high),
        reached=float(least if broken_low else most),
        sentence=f"Recomputed from the published file and the public table: {between}; {asked}."
        if holds
        else f"δ-presence is broken: {between}; {asked}.",
    )


def _whole(
    promise: Promise, release: PublishedTable, group: Codes, people: PublicPeople
) -> list[Fraction] | str:
    """Return the chances |G ∩ T| / |G ∩ P| of all classes, and 0 where somebody is in none."""
    first = np.unique(group, return_index=True)[1]
    boxes = np.stack([release.codes_of(n)[first] for n in promise.quasi], axis=1)
    columns = [
        text_runs(cover.runs, size + 1)
        for cover, size in zip(people.covers, people.sizes, strict=True)
    ]
    point, box = covering_pairs(people.points, boxes.astype(np.int64), columns)
    times = np.bincount(point, minlength=len(people.people))
    if np.any(times > 1):
        return "classes overlap, so that public people fit several."
    inside = np.bincount(box, weights=people.people[point], minlength=len(first)).astype(np.int64)
    sizes = np.bincount(group)
    if np.any(inside < sizes):
        return _not_a_part(int(np.count_nonzero(inside < sizes)), "class")
    pairs = set(zip(sizes.tolist(), inside.tolist(), strict=True))
    found = [Fraction(n, among) for n, among in pairs]
    return found if np.all(times == 1) else [*found, Fraction(0)]


def _permuted(
    promise: Promise, release: PublishedTable, group: Codes, people: PublicPeople
) -> list[Fraction] | str:
    """Return the chances of presence in groups whose columns are permuted apart."""
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group)).tolist()
    texts = [release.codes_of(n)[order] for n in promise.quasi]
    times = np.zeros(len(people.people), dtype=np.int64)
    found: set[Fraction] = set()
    broken = 0
    for start, stop in zip([0, *ends[:-1]], ends, strict=True):
        fitting = np.arange(len(people.people))
        places: list[Codes] = []
        shown: list[int] = []
        offset: list[int] = []
        for d, column in enumerate(texts):
            told, often = np.unique(column[start:stop], return_counts=True)
            place = _places(people.covers[d], told, people.sizes[d] + 1)
            if place is None:
                return "covers of one column overlap inside a group."
            fitting = fitting[place[people.points[fitting, d]] >= 0]
            places.append(place)
            offset.append(len(shown))
            shown += often.tolist()
        times[fitting] += 1
        values = [place[people.points[fitting, d]] + offset[d] for d, place in enumerate(places)]
        kind, first = joined(values, len(fitting))
        count = np.bincount(kind, weights=people.people[fitting], minlength=len(first))
        types = np.stack([v[first] for v in values], axis=1).tolist()
        got = chances(types, count.astype(np.int64).tolist(), shown)
        if got is None:
            broken += 1
        else:
            found.update(got)
    if broken:
        return _not_a_part(broken, "group")
    if np.any(times > 1):
        return "public people fit several groups."
    if np.any(times == 0):
        found.add(Fraction(0))
    return list(found)


def _places(cover: Cover, told: Codes, size: int) -> Codes | None:
    """Return which of the texts covers each code, -1 for none; None where two overlap.

    Texts that cover the same are one value to an attacker who looks for people; they do not occur,
    since a release gives one cover one text.
    """
    place = np.full(size, -1, dtype=np.int64)
    for i, text in enumerate(told.tolist()):
        for a, b in cover.runs[text]:
            if np.any(place[a : b + 1] >= 0):
                return None
            place[a : b + 1] = i
    return place


def _not_a_part(count: int, what: str) -> str:
    return f"the public people cannot fill {many(count, what)}; the table is not a part of them."
