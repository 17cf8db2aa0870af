"""Which sensitive values two releases leave to each person of the table, counted in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..base.errors import BadInput
from .lines import Lines
from .match import MOST_PAIRS, TooLarge, covering_pairs, text_runs
from .previous_sides import Linked, Side
from .tables import PrivateTable, joined
from .texts import Codes, Key, Runs, members_of

#: People and values looked at in all, and at a time.
_MOST = 25 * MOST_PAIRS
_AT_A_TIME = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Together:
    """How many people fit both releases, are certain from both, and from both only; in rows."""

    fits: int
    certain: int
    only: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """People of the table who are alike in their quasi-identifiers, as one.

    Attributes
    ----------
    table : PrivateTable
    line : int64 array of shape (lines,)
        The point of each line of the table.
    first : int64 array of shape (points,)
        A line of each.
    """

    table: PrivateTable
    line: Codes
    first: Codes

    @classmethod
    def of(cls, quasi: tuple[str, ...], table: PrivateTable) -> Points:
        """Return the points of a table."""
        line, first = joined([table.codes(name) for name in quasi], len(table))
        return cls(table=table, line=line, first=first)

    def __len__(self) -> int:
        return len(self.first)

    def by(self, names: tuple[str, ...]) -> tuple[Codes, Codes]:
        """Return which alike in some columns each point is, and the codes of these."""
        coded = [self.table.codes(name)[self.first] for name in names]
        own, lead = joined(coded, len(self.first))
        return own, np.stack([codes[lead] for codes in coded], axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ragged:
    """For each key an own list of numbers, one after the other."""

    start: Codes
    items: Codes

    @classmethod
    def of(cls, key: Codes, item: Codes, keys: int) -> _Ragged:
        """Return the distinct items of each key."""
        wide = int(item.max(initial=0)) + 1
        both = np.unique(key * wide + item)
        start = np.searchsorted(both // wide, np.arange(keys + 1))
        return cls(start=start.astype(np.int64), items=both % wide)

    def sizes(self, keys: Codes) -> Codes:
        return self.start[keys + 1] - self.start[keys]

    def lists(self, keys: Codes) -> tuple[Codes, Codes]:
        """Return which of the keys each item belongs to, and the items."""
        size = self.sizes(keys)
        owner = np.repeat(np.arange(len(keys)), size)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
        return owner, self.items[self.start[keys[owner]] + within]


class _Fitting:
    """The values of one column that one release leaves to each point.

    Raises
    ------
    BadInput
        If nothing explains a text.
    TooLarge
        If too many points fit too many groups.
    """

    def __init__(self, side: Side, points: Points, name: str, codes: dict[Key | None, int]) -> None:
        self._groups = side.groups
        known = [part for part in side.parts if part.quasi]
        self._own = [points.by(part.quasi) for part in known]
        pairs = [
            _pairs(part, alike, points.table)
            for part, (_, alike) in zip(known, self._own, strict=True)
        ]
        #: Of each part, the groups that each point alike in its columns fits.
        self._fits = [
            _Ragged.of(who, group, len(alike))
            for (who, group, _), (_, alike) in zip(pairs, self._own, strict=True)
        ]
        self._keys = [
            np.repeat(np.arange(len(fits.start) - 1), np.diff(fits.start)) * side.groups
            + fits.items
            for fits in self._fits
        ]
        sums = [
            int(fits.sizes(own).sum()) for fits, (own, _) in zip(self._fits, self._own, strict=True)
        ]
        self._least = int(np.argmin(sums))
        star = next(part for part in side.parts if name in part.columns)
        shown, keys = star.lines.keyed(name)
        value = np.array([codes.setdefault(key, len(codes)) for key in keys], np.int64)[shown]
        self._star = known.index(star) if star in known else -1
        if self._star < 0:
            self._values = _Ragged.of(star.group, value, side.groups)
        else:
            # What a point reads in a group: the values beside the cells that cover it.
            who, group, cell = pairs[self._star]
            of_cell = _Ragged.of(_cells(star)[0], value, int(cell.max(initial=-1)) + 1)
            if int(of_cell.sizes(cell).sum()) > _MOST:
                raise _too_large()
            place = np.searchsorted(self._keys[self._star], who * side.groups + group)
            nth, item = of_cell.lists(cell)
            self._values = _Ragged.of(place[nth], item, len(self._keys[self._star]))
        mean = len(self._values.items) / max(len(self._values.start) - 1, 1)
        self.cost = (self._fits[self._least].sizes(self._own[self._least][0]) * mean).astype(
            np.int64
        )

    def of(self, begin: int, end: int) -> tuple[Codes, Codes]:
        """Return points, counted from `begin`, and the values of groups that they fit."""
        own = self._own[self._least][0][begin:end]
        who, group = self._fits[self._least].lists(own)
        for nth, keys in enumerate(self._keys):
            if nth != self._least:
                _, fits = self._found(nth, begin + who, group, keys)
                who, group = who[fits], group[fits]
        if self._star < 0:
            wanted = group
        else:
            wanted, _ = self._found(self._star, begin + who, group, self._keys[self._star])
        if int(self._values.sizes(wanted).sum()) > _MOST // 4:
            raise _too_large()
        nth, value = self._values.lists(wanted)
        return who[nth], value

    def _found(
        self, part: int, points: Codes, group: Codes, keys: Codes
    ) -> tuple[Codes, np.ndarray]:
        key = self._own[part][0][points] * self._groups + group
        place = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        fits = keys[place] == key if len(keys) else np.zeros(len(key), dtype=np.bool_)
        return place, fits


def _too_large() -> TooLarge:
    return TooLarge("Too many people fit too many groups.", remedy="Compare fewer rows at a time.")


def _cells(part: Linked) -> tuple[Codes, Codes]:
    """Return distinct cells in a group: which each line has, and a line of each."""
    shown = [part.lines.codes_of(name) for name in part.quasi]
    return joined([*shown, part.group], len(part.lines))


def _pairs(part: Linked, alike: Codes, table: PrivateTable) -> tuple[Codes, Codes, Codes]:
    """Return who fits which group by which of its cells: three arrays of one shape.

    Raises
    ------
    BadInput, TooLarge
    """
    lines = part.lines
    runs = [
        text_runs(_covers(name, lines, table), table.columns[name].missing + 1)
        for name in part.quasi
    ]
    _, lead = _cells(part)
    shown = [lines.codes_of(name)[lead] for name in part.quasi]
    box, of_box = joined(shown, len(lead))
    boxes = np.stack([codes[of_box] for codes in shown], axis=1)
    who, fitted = covering_pairs(alike, boxes, runs)
    in_groups = _Ragged.of(box, np.arange(len(lead)), len(of_box))
    if int(in_groups.sizes(fitted).sum()) > MOST_PAIRS:
        raise _too_large()
    nth, cell = in_groups.lists(fitted)
    return who[nth], part.group[lead][cell], cell


def _covers(name: str, lines: Lines, table: PrivateTable) -> tuple[Runs, ...]:
    """Return which of today's values each text of a column stands for: none, where it is older.

    Raises
    ------
    BadInput
        If nothing explains a text.
    """
    texts = lines.texts_of(name)
    column, cover = table.columns[name], table.cover(name, texts)
    leaves = table.level_sets(name)[0]
    runs = list(cover.runs)
    dark = len(cover.ambiguous)
    for place in cover.unknown:
        members = members_of(texts[place])
        if not column.spelling.measured and members is not None:
            codes = sorted({column.code_of_text(m) for m in members} - {-1})
            runs[place] = tuple((code, code) for code in codes)
        else:
            number = not isinstance(column.spelling.key(texts[place]), str)
            dark += not number if column.spelling.measured else bool(leaves)
    if dark:
        raise BadInput(
            f"What {dark} of the texts of '{name}' stand for does not follow from the recipe's "
            "hierarchy."
        )
    return tuple(runs)


def together(name: str, here: Side, there: Side, points: Points) -> Together:
    """Count whose value of a sensitive column two releases leave no choice of.

    Parameters
    ----------
    name : str
    here, there : Side
    points : Points

    Raises
    ------
    BadInput
        If nothing explains a text.
    TooLarge
        If too many people fit too many groups.
    """
    table = points.table
    column = table.columns[name]
    codes: dict[Key | None, int] = {key: code for code, key in enumerate(column.keys)}
    codes.setdefault(None, len(codes))  # what is missing comes after all values
    sides = [_Fitting(side, points, name, codes) for side in (here, there)]
    values, own = len(codes), table.codes(name)
    order = np.argsort(points.line, kind="stable")
    begins = np.searchsorted(points.line[order], np.arange(len(points) + 1))
    fits = certain = only = 0
    for begin, end in _stretches(sides[0].cost + sides[1].cost):
        found = [np.unique(w * values + v) for w, v in (s.of(begin, end) for s in sides)]
        left = [np.bincount(pairs // values, minlength=end - begin) for pairs in found]
        both = np.intersect1d(*found, assume_unique=True)
        sole = np.bincount(both // values, minlength=end - begin) == 1
        lines = order[begins[begin] : begins[end]]
        who, count = points.line[lines] - begin, table.count[lines]
        sure = sole[who] & (own[lines] < len(column.keys))
        sure &= np.isin(who * values + own[lines], both)
        fits += int(count[(left[0] > 0)[who] & (left[1] > 0)[who]].sum())
        certain += int(count[sure].sum())
        only += int(count[sure & (left[0] > 1)[who] & (left[1] > 1)[who]].sum())
    return Together(fits=fits, certain=certain, only=only)


def _stretches(cost: Codes) -> Iterator[tuple[int, int]]:
    """Yield stretches of points whose cost is no more than is looked at at a time.

    Raises
    ------
    TooLarge
    """
    total = np.cumsum(cost + 1)
    if len(total) and int(total[-1]) > _MOST:
        raise _too_large()
    begin = 0
    while begin < len(cost):
        before = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + _AT_A_TIME, side="right")))
        yield begin, end
        begin = end
