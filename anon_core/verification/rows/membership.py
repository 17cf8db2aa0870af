"""Does everyone stand in a group that shows each of their parts?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check, judged, undecided
from anon_core.verification.rows import matching
from anon_core.verification.rows.groups import Block, Grouped, blocks, coded, codes_shown, tally
from anon_core.verification.rows.tables import PrivateTable, joined, stretched
from anon_core.verification.text.texts import Codes

# Columns are permuted apart inside published groups, so a person's values may be found in several
# groups. A release is true if the rows of the table can be put into the groups such that every
# group shows, set of linked columns by set of linked columns, exactly the parts of its rows. From
# two sets on this is a question about all groups together: it is settled by what has one answer
# only, and the rest as whole numbers that must add up.


#: Pairs of a person and a group that are looked at before the question is given up.
MOST_PAIRS = 20_000_000
#: Pairs that may be left open when whole numbers are looked for.
MOST_OPEN = 40_000
_MOST_NODES = 2_000
_MOST_SECONDS = 60.0
_NOWHERE = "A person fits no group that has room for them."
_NOBODY = "A cell of a group is true of no one who fits the group."
_TOO_MANY = "More people fit only one group than it shows rows of them."
_NO_WAY = "In no way can the table's rows be put into the groups so that each shows their parts."
_TOO_LONG = "Too many people fit too many groups."


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """What people and groups show of one set of linked columns.

    Attributes
    ----------
    own : int64 array of shape (lines of the table,)
        What each line shows, from 0.
    value, cell : int64 arrays of shape (covers,)
        Which published cells are true of what; each pair once.
    shown, group, count : int64 arrays of shape (entries,)
        The cells of each group, from 0, and how many rows show them; each pair once.
    """

    own: Codes
    value: Codes
    cell: Codes
    shown: Codes
    group: Codes
    count: Codes


class Standing(NamedTuple):
    """Whether everyone can stand somewhere, None where it is not decided.

    Where it is not so, `why` says what was found, or what would take too long.
    """

    possible: bool | None
    why: str = ""


def parts_of(grouped: Mapping[str, Grouped], table: PrivateTable) -> list[Part]:
    """Return the sets of linked columns of a permuted release.

    Raises
    ------
    TooLarge
        If too many cells are true of too many values.
    """
    found: list[Part] = []
    for block in blocks(table.terms):
        if table.terms.coarsened:
            found += [_coarsened(name, grouped, table) for name in block]
        else:
            found.append(_exact(block, grouped, table))
    return found


def _exact(block: Block, grouped: Mapping[str, Grouped], table: PrivateTable) -> Part:
    own, shown, published = coded(block, grouped, table)
    every = np.arange(int(max(own.max(initial=-1), shown.max(initial=-1))) + 1)
    return Part(own=own, value=every, cell=every, **_entries(shown, published))


def _coarsened(name: str, grouped: Mapping[str, Grouped], table: PrivateTable) -> Part:
    """Return one column whose cells may cover several values; see `coarsened`."""
    published = next(iter(grouped.values()))
    if name not in table.terms.quasi:
        return _exact((name,), grouped, table)
    texts = published.table.texts_of(name)
    codes, place = np.unique(published.table.codes_of(name), return_inverse=True)
    runs = table.cover(name, texts).runs
    value, _, (point, cell) = matching.covering((name,), (runs,), table, codes[:, None])
    return Part(own=value, value=point, cell=cell, **_entries(place, published))


def _entries(shown: Codes, published: Grouped) -> dict[str, Codes]:
    groups = len(published.sizes)
    pair, count = shown_by_group(shown, published.group, published.table.count, groups)
    return {"shown": pair // groups, "group": pair % groups, "count": count}


def shown_by_group(shown: Codes, group: Codes, count: Codes, groups: int) -> tuple[Codes, Codes]:
    """Return what is shown in which group, as one number ascending, and in how many rows."""
    key, place = np.unique(shown * groups + group, return_inverse=True)
    return key, tally(place, count, len(key))


def can_stand(parts: Sequence[Part], count: Codes, groups: int) -> Standing:
    """Say whether people can be put into groups so that each group shows exactly their parts.

    Parameters
    ----------
    count : int64 array of shape (lines of the table,)
        People of each line.

    Raises
    ------
    TooLarge
        If too many people fit too many groups.
    """
    person, first = joined([part.own for part in parts], len(count))
    people = tally(person, count, len(first))
    owns = [part.own[first] for part in parts]
    found = [_Found.of(part, groups) for part in parts]
    keys = [one.key[np.flatnonzero(np.diff(one.key, prepend=-1))] for one in found]
    lead = max(range(len(keys)), key=lambda part: len(keys[part]))
    who, group = meetings(keys, owns, groups, lead)
    reads = [one.at(own[who], group, groups) for one, own in zip(found, owns, strict=True)]
    if any(one.overlaps for one in found):
        return _overlapping(parts, reads, people, who)
    # Of cells that do not overlap one is a person's in each group; all of them in one numbering.
    ends = np.cumsum([0, *(len(part.count) for part in parts)])
    needs = np.stack([cell + end for (_, cell), end in zip(reads, ends[:-1], strict=True)])
    return _settled(who, needs, people, np.concatenate([part.count for part in parts]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """Where the values of one set of columns are shown.

    Attributes
    ----------
    key : int64 array of shape (shown,)
        Value and group in one number, ascending; several times where several cells are true of it.
    entry : int64 array of shape (shown,)
        The entry of the part that is true of it.
    overlaps : bool
        Whether a group has several cells that are true of one value.
    """

    key: Codes
    entry: Codes
    overlaps: bool

    @classmethod
    def of(cls, part: Part, groups: int) -> _Found:
        by_cell = np.argsort(part.cell, kind="stable")
        cell, value = part.cell[by_cell], part.value[by_cell]
        begin = np.searchsorted(cell, part.shown)
        entry, at = _spread(begin, np.searchsorted(cell, part.shown, side="right"))
        key = value[at] * groups + part.group[entry]
        order = np.argsort(key, kind="stable")
        key = key[order]
        return cls(key=key, entry=entry[order], overlaps=bool(np.any(np.diff(key) == 0)))

    def at(self, own: Codes, group: Codes, groups: int) -> tuple[Codes, Codes]:
        """Return of pairs of a value and a group the entries true of it, and whose each is."""
        asked = own * groups + group
        begin = np.searchsorted(self.key, asked)
        pair, at = _spread(begin, np.searchsorted(self.key, asked, side="right"))
        return pair, self.entry[at]


def _spread(begin: Codes, end: Codes) -> tuple[Codes, Codes]:
    """Return every place between beginnings and ends, and which of them each is of."""
    width = end - begin
    refuse_many(int(width.sum()), MOST_PAIRS)
    return stretched(begin, width)


def refuse_many(pairs: int, most: int) -> None:
    """Refuse to look at more pairs of a person and a group than so many.

    Raises
    ------
    TooLarge
    """
    if pairs > most:
        what = "There are too many people and groups they may be in."
        raise matching.TooLarge(what, remedy="Link more columns, or form groups of similar rows.")


def meetings(
    keys: Sequence[Codes], owns: Sequence[Codes], groups: int, lead: int
) -> tuple[Codes, Codes]:
    """Return every kind of person and every group with something true of each of their parts.

    Parameters
    ----------
    keys : sequence of int64 arrays
        By part, what is shown in which group, as one number; ascending, each once.
    owns : sequence of int64 arrays of shape (people,)
        By part, what each person has.
    lead : int
        The part in which groups are looked up; they are kept where the others show it too.

    Raises
    ------
    TooLarge
        If too many people fit too many groups.
    """
    begin, end = (np.searchsorted(keys[lead], (owns[lead] + n) * groups) for n in (0, 1))
    person, at = _spread(begin, end)
    group = keys[lead][at] % groups
    for b in (b for b in range(len(keys)) if b != lead):
        meets = np.isin(owns[b][person] * groups + group, keys[b])
        person, group = person[meets], group[meets]
    return person, group


def _settled(who: Codes, needs: Codes, people: Codes, wanted: Codes) -> Standing:
    """Settle what has one answer only, and look for whole numbers of what is left open.

    Parameters
    ----------
    who : int64 array of shape (pairs,)
    needs : int64 array of shape (parts, pairs)
        The cells that are true of a person in a group.
    people, wanted : int64 arrays of shape (kinds of people,) and (cells,)
        How many there are, and how many rows show each cell.
    """
    left, need = people.copy(), wanted.copy()
    while True:
        alive = (left[who] > 0) & np.all(need[needs] > 0, axis=0)
        who, needs = who[alive], needs[:, alive]
        if np.any((np.bincount(who, minlength=len(left)) == 0) & (left > 0)):
            return Standing(False, _NOWHERE)
        asked = np.bincount(needs.ravel(), minlength=len(need))
        if np.any((asked == 0) & (need > 0)):
            return Standing(False, _NOBODY)
        sole = np.bincount(who, minlength=len(left))[who] == 1
        given = np.where(sole, left[who], 0)
        if not sole.any():
            only = asked[needs] == 1
            sole = only.any(axis=0)
            if not sole.any():
                break
            given = np.where(only, need[needs], 0).max(axis=0)
        left = left - tally(who, given, len(left))
        for cells in needs:
            need = need - tally(cells, given, len(need))
        if np.any(left < 0) or np.any(need < 0):
            return Standing(False, _TOO_MANY)
        who, needs = who[~sole], needs[:, ~sole]
    if not len(who):
        return Standing(True)
    from scipy.sparse import coo_array

    pairs = np.arange(len(who))
    rows = np.concatenate([who, *(cells + len(left) for cells in needs)])
    matrix = coo_array(
        (np.ones(len(rows)), (rows, np.tile(pairs, len(needs) + 1))),
        shape=(len(left) + len(need), len(who)),
    )
    return _whole_numbers(matrix, np.concatenate([left, need]))


def _overlapping(
    parts: Sequence[Part], reads: Sequence[tuple[Codes, Codes]], people: Codes, who: Codes
) -> Standing:
    """Look for whole numbers where several cells of a group may be true of one person.

    Next to how many of a kind stand in a group, it is open which of its cells show them.
    """
    from scipy.sparse import coo_array

    sizes = [len(people), len(who) * len(parts), *(len(part.count) for part in parts)]
    offset = np.cumsum([0, *sizes])
    row: list[Codes] = [who]
    column: list[Codes] = [np.arange(len(who))]
    value: list[npt.NDArray[np.float64]] = [np.ones(len(who))]
    variables = len(who)
    for b, (pair, cell) in enumerate(reads):
        shows = variables + np.arange(len(pair))  # how many of a pair a cell shows
        variables += len(pair)
        row += [offset[1] + b * len(who) + np.arange(len(who))]
        column += [np.arange(len(who))]
        value += [-np.ones(len(who))]
        row += [offset[1] + b * len(who) + pair, offset[2 + b] + cell]
        column += [shows, shows]
        value += [np.ones(len(pair)), np.ones(len(pair))]
    matrix = coo_array(
        (np.concatenate(value), (np.concatenate(row), np.concatenate(column))),
        shape=(int(offset[-1]), variables),
    )
    nothing = np.zeros(len(who) * len(parts), dtype=np.int64)
    return _whole_numbers(matrix, np.concatenate([people, nothing, *(p.count for p in parts)]))


def _whole_numbers(matrix: Any, wanted: Codes) -> Standing:
    """Look for whole numbers from 0 up that add up to what is wanted, row by row of a matrix."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if matrix.shape[1] > MOST_OPEN:
        return Standing(None, _TOO_LONG)
    if not matrix.shape[1]:
        return Standing(not np.any(wanted), _NO_WAY)
    asked = matrix.tocsr()
    found = milp(
        np.zeros(matrix.shape[1]),
        integrality=np.ones(matrix.shape[1]),
        bounds=Bounds(0, np.inf),
        constraints=LinearConstraint(asked, wanted, wanted),
        options={"node_limit": _MOST_NODES, "time_limit": _MOST_SECONDS},
    )
    if found.status == 2:
        return Standing(False, _NO_WAY)
    if found.x is None:
        return Standing(None, _TOO_LONG)
    whole = np.rint(found.x).astype(np.int64)  # counted again, without any rounding
    right = np.array_equal(asked.astype(np.int64) @ whole, wanted) and not np.any(whole < 0)
    return Standing(True) if right else Standing(None, _TOO_LONG)


# What a run knows and no file says: which row of the table is behind which published one.
#
# It is checked like everything else: its rows have to be the table's, and each group has to show
# exactly the parts of the rows that it is said to be made of.


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
        The row of the first published table, from 0, in which each row is; -1 where it is
        suppressed. Where columns are permuted apart nothing but its group follows from it.
    """

    texts: Mapping[str, Sequence[str]]
    codes: Mapping[str, npt.NDArray[Any]]
    place: Codes

    def own(self, table: PrivateTable, name: str) -> Codes:
        """Return a column as codes of the private table, -1 for what it does not have."""
        column = table.columns[name]
        codes = np.append(column.codes_of_texts(list(self.texts[name])), column.missing)
        return codes[self.codes[name]]

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
        there = tally(line[: len(table)], table.count, len(first))
        return np.array_equal(there, np.bincount(line[len(table) :], minlength=len(first)))


def check_witness(
    grouped: Mapping[str, Grouped], file: PublishedTable, table: PrivateTable, witness: Witness
) -> Check:
    """Check that each group shows exactly the parts of the rows that a run put into it.

    Parameters
    ----------
    file : PublishedTable
        The first published table.
    """
    terms, first = table.terms, next(iter(grouped.values()))
    place, rows = witness.place, table.rows
    if not witness.is_of(table, terms.published) or not np.array_equal(
        np.sort(place), np.arange(rows)
    ):
        return undecided("membership", "What the run says of its groups is not of this table.")
    group = np.asarray(first.group[file.line_of_row])[place]
    wrong: set[int] = set()
    for block in blocks(terms):
        owns = {name: witness.own(table, name) for name in block}
        published = next(one for one in grouped.values() if block[0] in one.columns)
        coarse = [name for name in block if terms.coarsened and name in terms.quasi]
        both = [np.concatenate([group, published.group])]
        for name in (name for name in block if name not in coarse):
            both.append(np.concatenate([owns[name], codes_shown(name, table, published.table)]) + 1)
        part, of = joined(both, len(group) + len(published.group))
        if coarse:
            wrong |= _uncovered({n: owns[n] for n in coarse}, part, published, table)
            continue
        needs = np.bincount(part[:rows], minlength=len(of))
        offers = tally(part[rows:], published.table.count, len(of))
        wrong |= set(both[0][of[needs != offers]].tolist())
    return judged(
        "membership",
        wrong,
        f"{len(wrong)} of the groups that the run formed show other values than their rows have, "
        f"first group {min(wrong, default=0) + 1}.",
        "Recomputed from the groups that the run formed: each shows exactly the values of its own "
        "rows.",
        bound=float(rows),
        reached=float(rows),
    )


def _uncovered(
    owns: Mapping[str, Codes], exact: Codes, published: Grouped, table: PrivateTable
) -> set[int]:
    """Return the groups in which columns have cells that are true of no row of their own.

    Parameters
    ----------
    exact : int64 array of shape (rows of the table + published lines,)
        What each is next to: its group, and the cells that are published as they are.
    """
    file, rows = published.table, table.rows
    texts = {name: file.codes_of(name) for name in owns}
    covers = {name: table.cover(name, file.texts_of(name)).runs for name in owns}
    reads = [matching.text_runs(covers[name], table.columns[name].missing + 1) for name in owns]
    point, first = joined(list(owns.values()), rows)
    shown, line = joined(list(texts.values()), len(file.count))
    points = np.stack([own[first] for own in owns.values()], axis=1)
    boxes = np.stack([codes[line] for codes in texts.values()], axis=1)
    pairs = matching.covering_pairs(points, boxes, reads)
    alone = matching.without_partner(
        point, exact[:rows], np.ones_like(point), shown, exact[rows:], file.count, *pairs
    )
    return set(published.group[alone > 0].tolist())
