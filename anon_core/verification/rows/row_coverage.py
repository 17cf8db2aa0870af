"""Is every row of a large release true of a row of the table of its own, told by numbers alone?

Where classes lie apart, whoever stands in one is told by the quasi-identifiers. What is left is
whether, in each class, the table has at least as many rows with the same other values as are
published: both tables' rows become numbers that are sorted and compared, some classes at a time.

Where somebody fits several classes, the narrowest of them is tried. If each published row then has
a row of its own, that is proven; if not, another choice may do: the classes that are short, and all
that people could change places with, are matched row by row. What that does not prove is left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.verification.files.prefetch import ahead
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check, Rows, many, named, undecided
from anon_core.verification.rows import matching as match
from anon_core.verification.rows.lines import Lines
from anon_core.verification.rows.matching import (
    TooLarge,
    beyond,
    covering_pairs,
    sole_text,
    text_runs,
    without_partner,
)
from anon_core.verification.rows.tables import AT_A_TIME, PrivateTable, Promise, joined
from anon_core.verification.text.cells import Narrow, narrow, taken
from anon_core.verification.text.claims import untrue
from anon_core.verification.text.texts import Codes, Cover, PrivateColumn

#: Rows of one table that are held as numbers at a time.
MOST_ROWS = 1 << 24
#: Rows of both tables that are matched anew at most, where the narrowest class does not do.
MOST_MATCHED = 1 << 22
_AT_A_TIME = 1 << 20
_ROOM = 1 << 62
#: Pairs of rows and classes that are looked at for rows found some at a time.
_IN_TURN = 1 << 31

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Side:
    """One of the two tables.

    Attributes
    ----------
    line : array of integers, shape (rows,)
    class_of_line : int64 array of shape (lines,)
        -1 where a line is in none.
    count : int64 array of shape (lines,)
    cells, codes : sequences, by column that is published exactly
        Every row's text as a place in the column's texts; each text's value, from 0.
    """

    line: Codes | Narrow
    class_of_line: Codes
    count: Codes
    cells: Sequence[Codes | Narrow]
    codes: Sequence[Codes]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Fits:
    """Which classes people fit.

    Attributes
    ----------
    point : int64 array of shape (lines of the table,)
        Lines with the same quasi-identifiers are one point.
    near_point, near_box : int64 arrays of shape (pairs,)
        Every point with every class that covers it.
    """

    point: Codes
    near_point: Codes
    near_box: Codes

    def linked(self, classes: Codes) -> tuple[Mask, Mask]:
        """Return all points and classes that are linked with some classes, however many steps.

        Returns
        -------
        points : bool array of shape (points,)
        boxes : bool array of shape (classes,)
        """
        points = np.zeros(int(self.point.max(initial=-1)) + 1, dtype=np.bool_)
        boxes = np.zeros(int(max(self.near_box.max(initial=-1), classes.max())) + 1, dtype=np.bool_)
        boxes[classes] = True
        reached = 0
        while (now := int(np.count_nonzero(boxes))) > reached:
            reached = now
            points[self.near_point[boxes[self.near_box]]] = True
            boxes[self.near_box[points[self.near_point]]] = True
        return points, boxes


def rows_alone(
    names: Sequence[str],
    promise: Promise,
    file: PublishedTable,
    table: PrivateTable,
    covers: Sequence[Cover],
) -> Rows | None:
    """Return the published rows that have no row of the table of their own to be true of.

    None where somebody fits several classes and numbers alone do not tell.

    Parameters
    ----------
    names : sequence of str
        The quasi-identifiers, whose cells cover values.
    table : PrivateTable
        Of both tables lines are told apart by quasi-identifiers at least.
    covers : sequence of Cover
        By `names`, of the published texts.

    Raises
    ------
    TooLarge
        If there are too many classes to compare.
    """
    fits = None
    told = _apart(names, file.lines, table, covers) or _in_turn(names, file.lines, table, covers)
    if told is None:
        own_class, shown_class, fits = _classes(names, file.lines, table, covers)
        line, count = table.line, table.count
    else:
        line, count, own_class, shown_class = told
    place = {name: at for at, name in enumerate(file.header)}
    exact = [n for n in promise.published if n not in names]
    columns = [table.columns[n] for n in exact]
    own = _Side(
        line=line,
        class_of_line=own_class,
        count=count,
        cells=[table.cells(column) for column in columns],
        codes=[column.code_of_cell + 1 for column in columns],
    )
    shown = _Side(
        line=file.line_of_row,
        class_of_line=shown_class,
        count=file.lines.count,
        cells=[file.codes[place[n]] for n in exact],
        codes=[
            column.codes_of_texts(file.meant[place[n]]) + 1
            for n, column in zip(exact, columns, strict=True)
        ],
    )
    sizes = [column.missing + 2 for column in columns]
    found = [np.empty(0, dtype=np.int64)]
    for low, high in _passes(own, shown, len(_words(1, sizes))):
        key, short = _beyond(*ahead(_sorted, _numbers(own, shown, low, high, sizes)))
        if len(key):
            _, number = _numbers(own, shown, low, high, sizes)
            found.append(_rows_in(shown, low, high)[_last(number, key, short)])
    alone = np.sort(np.concatenate(found))
    if not len(alone) or fits is None:
        return Rows.of(alone)
    short = np.unique(shown_class[shown.line[alone]])
    return Rows() if _all_matched(own, shown, fits, short) else None


def _all_matched(own: _Side, shown: _Side, fits: _Fits, short: Codes) -> bool:
    """Return whether everyone could be placed so that each published row has a row of its own.

    False, too, where there are too many rows to tell. Only classes that are linked with those that
    are short are looked at: in all others each published row has one already.
    """
    points, boxes = fits.linked(short)
    giver = np.flatnonzero(taken(points[fits.point], own.line))
    taker = np.flatnonzero(taken(boxes[shown.class_of_line], shown.line))
    if len(giver) + len(taker) > MOST_MATCHED:
        return False
    exact = [
        np.concatenate([one[first[giver]], other[second[taker]]])
        for one, first, other, second in zip(
            own.codes, own.cells, shown.codes, shown.cells, strict=True
        )
    ]
    payload, _ = joined(exact, len(giver) + len(taker))
    number = np.cumsum(points) - 1
    near = points[fits.near_point]
    try:
        left = without_partner(
            number[fits.point[own.line[giver]]],
            payload[: len(giver)],
            np.ones(len(giver), dtype=np.int64),
            shown.class_of_line[shown.line[taker]],
            payload[len(giver) :],
            np.ones(len(taker), dtype=np.int64),
            number[fits.near_point[near]],
            fits.near_box[near],
        )
    except TooLarge:
        return False
    return not np.any(left)


def _apart(
    names: Sequence[str], release: Lines, table: PrivateTable, covers: Sequence[Cover]
) -> tuple[Codes | Narrow, Codes, Codes, Codes] | None:
    """Return lines of the table that lie in one class each; None where texts share a value.

    Returns
    -------
    line : array of integers, shape (rows,)
    count, own : int64 arrays of shape (lines,)
        Rows of each line, and its class, -1 for none.
    shown : int64 array of shape (published lines,)
        The class of every published line.
    """
    sizes = [table.columns[n].missing + 1 for n in names]
    sole = [sole_text(c.runs, size) for c, size in zip(covers, sizes, strict=True)]
    texts = [text for text in sole if text is not None]
    if len(texts) < len(names):
        return None
    kinds = {name: text + 1 for name, text in zip(names, texts, strict=True)}
    line, told, count = table.told_apart_by(kinds)
    both = [
        np.concatenate([own, release.codes_of(n) + 1]) for n, own in zip(names, told, strict=True)
    ]
    kind, _ = joined(both, len(count) + len(release))
    own, shown = kind[: len(count)], kind[len(count) :]
    published = np.zeros(int(kind.max(initial=-1)) + 1, dtype=np.bool_)
    published[shown] = True
    return line, count, np.where(published[own], own, -1), shown


def _in_turn(
    names: Sequence[str], release: Lines, table: PrivateTable, covers: Sequence[Cover]
) -> tuple[Codes | Narrow, Codes, Codes, Codes] | None:
    """Return lines of the table that lie in one class each, found some rows at a time.

    Where hardly two rows are alike, their distinct lines would take as much as the rows. None where
    a table is small, has many rows that are alike, or somebody fits several classes; else what
    `_apart` returns: the lines are the classes.
    """
    if table.rows <= AT_A_TIME:
        return None
    columns = [
        text_runs(c.runs, table.columns[n].missing + 1) for c, n in zip(covers, names, strict=True)
    ]
    classes, first = joined([release.codes_of(n) for n in names], len(release))
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    own = [table.columns[n] for n in names]
    codes = [narrow(column.code_of_cell, column.missing) for column in own]
    cells = [table.cells(column) for column in own]
    line = np.zeros(table.rows, dtype=np.int32)
    for start in range(0, table.rows, AT_A_TIME):
        rows = slice(start, start + AT_A_TIME)
        coded = [taken(one, of[rows]) for one, of in zip(codes, cells, strict=True)]
        point, first = joined(coded, len(coded[0]))
        if start == 0 and 2 * len(first) < len(point):
            return None
        points = np.stack([one[first].astype(np.int32) for one in coded], axis=1)
        covered, box = covering_pairs(points, boxes, columns, most=_IN_TURN)
        if np.bincount(covered).max(initial=0) > 1:
            return None
        of_point = np.zeros(len(points), dtype=np.int32)
        of_point[covered] = box + 1
        line[rows] = of_point[point]
    count = np.bincount(line, minlength=len(boxes) + 1).astype(np.int64)
    return line, count, np.arange(-1, len(boxes)), classes


def _classes(
    names: Sequence[str], release: Lines, table: PrivateTable, covers: Sequence[Cover]
) -> tuple[Codes, Codes, _Fits | None]:
    """Return the class of every line of the table, -1 for none, and of every published one.

    And who fits which classes, where a line of the table fits several: it is given the narrowest.
    """
    sizes = [table.columns[n].missing + 1 for n in names]
    columns = [text_runs(c.runs, size) for c, size in zip(covers, sizes, strict=True)]
    classes, first = joined([release.codes_of(n) for n in names], len(release))
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    coded = [table.codes(n) for n in names]
    point, first = joined(coded, len(table))
    points = np.stack([codes[first] for codes in coded], axis=1)
    covered, box = covering_pairs(points, boxes, columns)
    fits = None
    if np.bincount(covered).max(initial=0) > 1:
        fits = _Fits(point=point, near_point=covered, near_box=box)
        # The narrowest last: of several that are written to one place, the last one stays.
        order = np.argsort(-_breadth(boxes, covers)[box], kind="stable")
        covered, box = covered[order], box[order]
    class_of_point = np.full(len(points), -1, dtype=np.int64)
    class_of_point[covered] = box
    return class_of_point[point], classes, fits


def _breadth(boxes: Codes, covers: Sequence[Cover]) -> npt.NDArray[np.float64]:
    """Return how much each class covers, as the logarithm of the number of combinations."""
    found = np.zeros(len(boxes))
    for d, cover in enumerate(covers):
        values = [sum(high - low + 1 for low, high in own) for own in cover.runs]
        found += np.log(np.maximum(values, 1))[boxes[:, d]]
    return found


def _passes(own: _Side, shown: _Side, words: int) -> Iterator[tuple[int, int]]:
    """Yield classes [low, high) whose rows are compared at a time."""
    size = max(int(side.class_of_line.max(initial=-1)) for side in (own, shown)) + 1
    rows = np.zeros(size, dtype=np.int64)
    for side in (own, shown):
        inside = side.class_of_line >= 0
        rows += np.bincount(
            side.class_of_line[inside], weights=side.count[inside], minlength=size
        ).astype(np.int64)
    most = MOST_ROWS // words
    before = np.cumsum(rows)
    low = 0
    while low < size:
        limit = (before[low - 1] if low else 0) + 2 * most
        high = max(int(np.searchsorted(before, limit, side="right")), low + 1)
        yield low, high
        low = high


def _words(classes: int, sizes: Sequence[int]) -> list[list[int]]:
    """Return which columns are packed together into which number; class goes into the first."""
    words, room = [list[int]()], max(classes, 1)
    for place, size in enumerate(sizes):
        if room > _ROOM // size:
            words.append([])
            room = 1
        words[-1].append(place)
        room *= size
    return words


def _numbers(
    own: _Side, shown: _Side, low: int, high: int, sizes: Sequence[int]
) -> tuple[Codes, Codes]:
    """Return both tables' rows of some classes as one number each, equal for equal rows."""
    words = _words(high - low, sizes)
    first, second = (_keys(side, low, high, words, sizes) for side in (own, shown))
    if len(words) == 1:
        return first[0], second[0]
    both = [np.concatenate(pair) for pair in zip(first, second, strict=True)]
    dense = [np.unique(word, return_inverse=True)[1] for word in both]
    number, _ = joined(dense, len(both[0]))
    return number[: len(first[0])], number[len(first[0]) :]


def _sorted(number: Codes) -> Codes:
    number.sort()
    return number


def _keys(
    side: _Side, low: int, high: int, words: Sequence[Sequence[int]], sizes: Sequence[int]
) -> list[Codes]:
    """Return the rows of some classes as numbers, so many for each row as there are words."""

    def part(start: int) -> list[Codes]:
        rows = slice(start, start + _AT_A_TIME)
        of_class = side.class_of_line[side.line[rows]]
        chosen = (of_class >= low) & (of_class < high)
        every = bool(chosen.all())
        keys: list[Codes] = []
        for nth, word in enumerate(words):
            key = of_class - low if nth == 0 else np.zeros(len(of_class), dtype=np.int64)
            key = key if every else key[chosen]
            for place in word:
                cells = side.cells[place][rows]
                codes = side.codes[place]
                key *= sizes[place]
                key += codes[cells if every else cells[chosen]]
            keys.append(key)
        return keys

    inside = (side.class_of_line >= low) & (side.class_of_line < high)
    found = [np.empty(int(side.count[inside].sum()), dtype=np.int64) for _ in words]
    place = 0
    for keys in ahead(part, range(0, len(side.line), _AT_A_TIME)):
        for whole, key in zip(found, keys, strict=True):
            whole[place : place + len(key)] = key
        place += len(keys[0])
    return found


def _rows_in(side: _Side, low: int, high: int) -> Codes:
    """Return the places of the rows of some classes, in the order of their numbers."""
    of_class = taken(side.class_of_line, side.line)
    return np.flatnonzero((of_class >= low) & (of_class < high))


def _beyond(own: Codes, shown: Codes) -> tuple[Codes, Codes]:
    """Return the numbers that stand more often in the second, and how much more; both sorted."""
    empty = np.empty(0, dtype=np.int64)
    if np.array_equal(own, shown):
        return empty, empty
    first = np.flatnonzero(np.diff(shown, prepend=shown[:1] - 1))
    key, count = shown[first], np.diff(first, append=len(shown))
    there = np.searchsorted(own, key, side="right") - np.searchsorted(own, key, side="left")
    short = count - there
    return key[short > 0], short[short > 0]


def _last(number: Codes, key: Codes, wanted: Codes) -> Codes:
    """Return where some numbers stand: of each as many of the last places as are wanted."""
    place = np.flatnonzero(np.isin(number, key))
    which = np.searchsorted(key, number[place])
    order = np.argsort(which, kind="stable")
    size = np.bincount(which, minlength=len(key))
    nth = np.empty(len(which), dtype=np.int64)
    nth[order] = np.arange(len(which)) - np.repeat(np.cumsum(size) - size, size)
    return place[nth >= (size - wanted)[which]]


# Is every published row of a release of whole rows true of a row of the table of its own?


def check_coverage(
    names: Sequence[str],
    promise: Promise,
    file: PublishedTable,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> list[Check]:
    """Check that every published row is true of a row of the table of its own.

    Rows of the table are points, classes boxes that cover points. A published row of a class needs
    a row of the table that the class covers, with the same values in the columns published exactly.
    `names` are the quasi-identifiers whose cells cover values.
    """
    release = file.lines
    if not all(file.header.count(name) == 1 for name in promise.published):
        return [undecided("coverage", "Coverage cannot be recomputed: columns are missing.")]
    broken: list[Check] = []
    covers = [table.cover(n, release.texts_of(n)) for n in names]
    for name, cover in zip(names, covers, strict=True):
        codes = release.codes_of(name)
        shown = release.texts_of(name)
        claimed = () if name in promise.label_names else levels.get(name, ())
        false = untrue(claimed, table.columns[name].spelling, shown)
        for texts, what in (
            (
                tuple(i for i, text in enumerate(shown) if text in false),
                "labels that claim a range or beginning not all of their values have",
            ),
            (cover.unknown, "texts that no level of its hierarchy and no value explains"),
            (cover.ambiguous, "texts that mean different things on different levels"),
        ):
            rows = release.rows_of(np.isin(codes, texts))
            if rows:
                broken.append(
                    Check(
                        name="coverage",
                        holds=False,
                        column=name,
                        rows=rows.first,
                        sentence=f"Column '{name}' shows {what} {named(rows)}.",
                    )
                )
    if broken:
        return broken
    try:
        rows = None if file.lined is None else rows_alone(names, promise, file, table, covers)
        if rows is None:
            whole = file.lined_by_all().lines
            rows = whole.last_rows_of(_alone(names, promise, whole, table.lined_by_all(), covers))
    except TooLarge as error:
        return [undecided("coverage", f"Coverage is not decided. {error.message}")]
    return [
        Check(
            name="coverage",
            holds=not rows,
            bound=float(release.rows),
            reached=float(release.rows - len(rows)),
            rows=rows.first,
            sentence=f"{many(len(rows), 'published row', 'has', 'have')} no row of the table of "
            f"its own to be true of {named(rows)}."
            if rows
            else f"Each of the {release.rows} published rows is true of a row of the table of its "
            f"own.{_taken_for_names(promise)}",
        )
    ]


def _taken_for_names(promise: Promise) -> str:
    """Return which labels were not held against their values, beginning with a blank."""
    if not promise.label_names:
        return ""
    columns = ", ".join(f"'{name}'" for name in sorted(promise.label_names))
    return f" Labels of {columns} are names, as the recipe confirms: what they say is not checked."


def _alone(
    names: Sequence[str],
    promise: Promise,
    release: Lines,
    table: PrivateTable,
    covers: Sequence[Cover],
) -> Codes:
    """Return how many rows of each line have no row of the table of their own to be true of.

    Raises
    ------
    TooLarge
        If it can't be decided.
    """
    # What is published exactly, coded alike in both tables; a value the table lacks is 0.
    exact = [
        np.concatenate([table.codes(n), _table_codes(table.columns[n], release, n)]) + 1
        for n in promise.exact
    ]
    sizes = [table.columns[n].missing + 1 for n in names]
    runs = [cover.runs for cover in covers]
    sole = [sole_text(own, size) for own, size in zip(runs, sizes, strict=True)]
    texts = [text for text in sole if text is not None]
    if len(texts) == len(names) and table.rows <= 2 * match.MOST_PAIRS:
        # No two texts share a value: every row of the table can stand in one class only. Tables
        # beyond are left to what takes equal rows together, and gives up where it is too much.
        both = [
            np.concatenate([(text + 1)[table.codes(n)], release.codes_of(n) + 1])
            for n, text in zip(names, texts, strict=True)
        ]
        kind, _ = joined([*both, *exact], len(table) + len(release))
        return beyond(kind[: len(table)], table.count, kind[len(table) :], release.count)
    columns = [text_runs(own, size) for own, size in zip(runs, sizes, strict=True)]
    classes, first = joined([release.codes_of(n) for n in names], len(release))
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    coded = [table.codes(n) for n in names]
    point, first = joined(coded, len(table))
    points = np.stack([codes[first] for codes in coded], axis=1)
    payload, _ = joined(exact, len(table) + len(release))
    return without_partner(
        point,
        payload[: len(table)],
        table.count,
        classes,
        payload[len(table) :],
        release.count,
        *covering_pairs(points, boxes, columns),
    )


def _table_codes(column: PrivateColumn, release: Lines, name: str) -> Codes:
    return column.codes_of_texts(release.texts_of(name))[release.codes_of(name)]
