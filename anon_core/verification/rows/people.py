"""Who can stand behind a class: rows of the private table, and people of the public one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import listing
from anon_core.verification.recipe import demand
from anon_core.verification.rows.groups import Grouped, Histogram, Lines, coded_alike, tally
from anon_core.verification.rows.matching import beyond, covering, covering_pairs, text_runs
from anon_core.verification.rows.tables import PrivateTable, joined, read_column, stretched
from anon_core.verification.text.cells import Cells, TextTable
from anon_core.verification.text.kinds import Measure, Span
from anon_core.verification.text.labels import ranges_of
from anon_core.verification.text.texts import (
    Codes,
    Cover,
    Key,
    PrivateColumn,
    Spelling,
    level_sets,
    read_cover,
)

# Which rows of the private table can stand behind which published class.


@dataclass(frozen=True, kw_only=True, eq=False)
class Behind:
    """The people who can stand behind each class.

    Attributes
    ----------
    counted : Histogram
        How many rows of the table whose cells are true of them, and whose exactly published values
        the class shows, have each value. Each of `values` is a tuple, one value a column asked for.
    sure : bool array of shape (classes,)
        Whether these are the rows of the class: as many as it has, and they fit no other. Else some
        of them stand elsewhere or are hidden; what holds whichever they are may be said of them.
    """

    counted: Histogram
    sure: npt.NDArray[np.bool_]


def behind(
    grouped: Grouped, private: PrivateTable, asked: Sequence[PrivateColumn]
) -> Behind | None:
    """Match rows of the table and classes; None where a published text has no clear meaning.

    The values of the columns `asked` for are counted.

    Raises
    ------
    TooLarge
        If there are too many pairs to look at.
    """
    terms, release, classes = private.terms, grouped.table, len(grouped.sizes)
    covers = [private.cover(n, release.texts_of(n)) for n in terms.quasi]
    if any(cover.unknown or cover.ambiguous for cover in covers):
        return None
    runs = [cover.runs for cover in covers]
    point, points, (near_point, near_box) = covering(
        terms.quasi, runs, private, grouped.boxes(terms.quasi)
    )
    payload, _ = joined(coded_alike(terms.exact, private, release), len(private) + len(release))
    wide = int(payload.max(initial=0)) + 1
    shown = np.unique(grouped.group * wide + payload[len(private) :])
    line, row, often = private.parted(asked)
    point, payload = point[line], payload[line]
    values = [column.codes_at(row) for column in asked]
    own, first_own = joined(values, len(row))
    giver, first = joined([point, payload, own], len(row))
    rows = tally(giver, often, len(first))
    # Every kind of row with every class that covers its quasi-identifiers …
    order = np.argsort(near_point, kind="stable")
    start = np.searchsorted(near_point[order], np.arange(len(points) + 1))
    kind, at = stretched(start[point[first]], np.diff(start)[point[first]])
    box = near_box[order][at]
    # … and shows what it shows exactly.
    meets = np.isin(box * wide + payload[first][kind], shown)
    kind, box = kind[meets], box[meets]
    fits = np.bincount(kind, minlength=len(first))
    pair, lead = joined([box, own[first][kind]], len(kind))
    sorted_ = np.lexsort([own[first][kind][lead], box[lead]])
    keys = [[*column.keys, None] for column in asked]
    shown_as = (
        [every[code] for code in codes[first_own].tolist()]
        for every, codes in zip(keys, values, strict=True)
    )
    counted = Histogram(
        owner=box[lead][sorted_],
        value=own[first][kind][lead][sorted_],
        count=tally(pair, rows[kind])[sorted_],
        values=tuple(zip(*shown_as, strict=True)),
        classes=classes,
    )
    alone = np.ones(classes, dtype=np.bool_)
    alone[box[fits[kind] > 1]] = False
    return Behind(counted=counted, sure=alone & (counted.sizes == grouped.sizes))


# Where values of a public table stand in a hierarchy whose level table does not list them.
#
# A number or day is in a group if the group's listed values lie on both sides of it, or if the
# group's label states a range that holds it (``20-29`` holds 21, listed or not). Everything else
# is in no named group below the top.


def completed(
    levels: Sequence[Sequence[str]], spelling: Spelling, values: Iterable[Key]
) -> list[list[str]] | None:
    """Return a level table with a line for every value it does not list.

    Parameters
    ----------
    levels : level table
        With at least one line.
    values : iterable of Key
        The public table's.

    Returns
    -------
    list of lists of str, or None
        None where it is not clear on which group's side a value is.
    """
    lines = [[cell.strip() for cell in line] for line in levels if line]
    listed = {spelling.key(line[0]): line for line in lines}
    width = len(lines[0])
    found = list(lines)
    by_level = [_groups(listed, level) for level in range(1, width - 1)]
    top = lines[0][-1] if width > 1 else ""
    for number, value in enumerate(dict.fromkeys(v for v in values if v not in listed)):
        line = [value if isinstance(value, str) else spelling.rules.write(value)]
        under: list[str] | None = None  # a listed value's line in the group it is in
        for level, groups in enumerate(by_level, start=1):
            # A category that is not listed is in no group, whatever a label sounds like.
            label = "" if isinstance(value, str) else _group_of(value, groups, spelling)
            if under is not None:  # what a group holds, the groups above it hold
                label = under[level]
            elif label:
                under = next(
                    options
                    for key, options in listed.items()
                    if not isinstance(key, str) and options[level] == label
                )
            if label is None:
                return None
            line.append(label or f"\0{number}")
        found.append(line + ([top] if width > 1 else []))
    return found


def _groups(listed: dict[Key, list[str]], level: int) -> dict[str, Span]:
    """Return the least and greatest listed value of every group of a level."""
    found: dict[str, Span] = {}
    for key, line in listed.items():
        if isinstance(key, str):
            continue
        low, high = found.get(line[level], (key, key))
        found[line[level]] = (min(low, key), max(high, key))
    return found


def _group_of(value: Measure, groups: dict[str, Span], spelling: Spelling) -> str | None:
    """Return the label of the group a value is in, "" for none, None where it is unclear."""
    inside = [label for label, (low, high) in groups.items() if low <= value <= high]
    if inside:
        return inside[0] if len(inside) == 1 else None
    below = max((g for g in groups.items() if g[1][1] < value), key=lambda g: g[1][1], default=None)
    above = min((g for g in groups.items() if g[1][0] > value), key=lambda g: g[1][0], default=None)
    holding: list[str] = []
    for near in (below, above):
        if near is None:
            continue
        label, (low, high) = near
        said = next(iter(ranges_of(label, spelling)), None)  # none where it states no range
        if said is None:
            # A label with a figure may state a range in words not read here.
            if re.search(r"\d", label) and low != high:
                return None
            continue
        if not (said(Fraction(low)) and said(Fraction(high))):
            continue
        others = [g for name, g in groups.items() if name != label]
        if any(said(Fraction(end)) for g in others for end in g):
            continue
        if said(Fraction(value)):
            holding.append(label)
    return holding[0] if len(holding) == 1 else ""


# The people of the public table against the published texts.


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
        Columns whose hierarchy does not list a public value and does not say where it is.
    strangers : int
        Rows of the table without a person of their own in the public table.
    """

    points: Codes
    people: Codes
    covers: tuple[Cover, ...]
    sizes: tuple[int, ...]
    unplaced: tuple[str, ...] = ()
    strangers: int = 0


def read_public(public: TextTable, table: PrivateTable, release: Lines) -> PublicPeople:
    """Code the public table and read what every published text covers of it.

    Raises
    ------
    BadPlan
        If the public table lacks a quasi-identifier.
    """
    terms, private = table.terms, table.source
    gone = [name for name in terms.quasi if public.names.count(name) != 1]
    what = f"The public table has no column {listing(gone)}, or more than one."
    demand(not gone, what, "Give one with every quasi-identifier.")
    found = {name: column.spelling.kind for name, column in table.columns.items()}
    kinded = replace(terms, kinds={**terms.kinds, **found})
    codes: list[Codes] = []
    rows: list[Codes] = []
    covers: list[Cover] = []
    sizes: list[int] = []
    unplaced: list[str] = []
    for name in terms.quasi:
        # Both tables in one column, so that a value has one code wherever it is.
        listed = table.levels.get(name)
        both = Cells.joined([private.column(name), public.column(name)])
        column = read_column(kinded, both, name, listed or (), table.columns[name].thousands)
        codes.append(column.codes[len(private) :])
        rows.append(column.codes_at(table.first))
        sizes.append(column.missing)
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


def covered_people(grouped: Grouped, people: PublicPeople) -> tuple[Codes, Codes]:
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
    boxes = grouped.boxes(grouped.table.quasi)
    pairs = zip(people.covers, people.sizes, strict=True)
    columns = [text_runs(cover.runs, size + 1) for cover, size in pairs]
    point, box = covering_pairs(people.points, boxes, columns)
    times = np.bincount(point, minlength=len(people.people))
    inside = np.bincount(box, weights=people.people[point], minlength=len(boxes))
    return inside.astype(np.int64), times
