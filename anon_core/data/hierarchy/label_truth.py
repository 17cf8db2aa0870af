"""What a group's label claims of its values, and whether it is true: ``0109*``, ``20-29``.

A label is published in the place of a value, so that one that claims a range, a beginning or a set
which does not hold all of its members is a false cell. A label that claims nothing that can be
read, such as ``young`` or ``Group 3``, is no one's business but the person's who chose it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, normalize

from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy.construction import LevelRows
from anon_core.data.hierarchy.propose.dates_and_times import minute_of_day
from anon_core.data.hierarchy.range_forms import stated_range
from anon_core.data.hierarchy.ranges import Range, every_year, readings
from anon_core.data.table import MISSING
from anon_core.data.values.kinds import KINDS, ColumnKind, measured_kinds

Holds = Callable[[str], bool]

_MASK = re.compile(r"(?P<head>[^\s*]+)\*+|\*+(?P<tail>[^\s*]+)")
#: Other marks for what is left out, and a word before the beginning.
_FILLED = re.compile(
    r"(?:[^\W\d]+\.? )?(?P<head>[^\s*]*?\d)(?:\.?[xX]+|_+|#+|\?+|…|•+|\.{2,}|\*+|\.?-+)"
)
_CODES = re.compile(
    r"(?:[^\d()]*\(|\[)?(?P<low>(?P<letters>[A-Za-z]{1,4})\d+)"
    r"\s*(?:[-–—]|\.\.|\b(?:to|bis)\b|à )\s*(?P<high>[A-Za-z]{0,4}\d+)[)\]]?(?:\s+\D.*)?"
)
#: The first digits of codes, and what is left out of them.
_HEADS = re.compile(
    r"(?P<low>\d+)(?P<fill>[xX*_#•]*)\s*(?:[-–—]|\.\.|\b(?:to|bis)\b|à )\s*(?P<high>\d+)(?P=fill)"
)
#: An hour without minutes, as 8 in 8-12 Uhr.
_HOUR = re.compile(
    r"(?<![\d:])(\d{1,2})(?: ?(?:Uhr|h|heures)(?!\w)|(?=\s*[-–]\s*\d{1,2} ?(?:Uhr|h)(?!\w)))"
)
#: An hour of twelve, as 8 am or 12:30 p.m.
_TWELVE = re.compile(
    r"(?<![\d:])(1[0-2]|0?[1-9])(:[0-5]\d)? ?([ap])(?:m|\.m\.)(?!\w)", re.IGNORECASE
)
_OVERNIGHT = re.compile(
    r"(?P<low>\d{1,2}:\d{2})\s*(?:[-–]|\bto\b|\bbis\b)\s*(?P<high>\d{1,2}:\d{2})"
)
#: Letters that names begin with: A-M, Aa-Am.
_LETTERS = re.compile(
    r"\[?(?P<low>[^\W\d_]{1,3})\s*(?:[-–—]|\.\.|\b(?:to|bis|through)\b|\bà\b|(?<=\[.),)"
    r"\s*(?P<high>[^\W\d_]{1,3})\]?"
)
_DENIED = re.compile(
    r"(?:(?:not|nicht|keine?|non|other than|andere als|autre que)\b[\s-]*|≠|!=|<>)(?=\S)",
    re.IGNORECASE,
)
_AND_MORE = re.compile(r"(?P<first>.+) and (?P<more>\d+) more")
_PARTS = re.compile(r",? or | / |, ")
#: Further marks between values of a column, of which a set is claimed only if all parts are some.
_LISTED = re.compile(r"\s*[/;|&+]\s*|,\s*(?!\d)|,\s+|,?\s+(?:or|oder|ou|und|and|et)\s+")
#: Letters and values beyond which a label is not mended by naming what it leaves out.
_LONGEST, _MOST_NAMED = 100, 3


@dataclass(frozen=True, kw_only=True)
class FalseLabel:
    """A label that claims what not all of its values are.

    Attributes
    ----------
    outside : tuple of str
        The group's values that the label does not cover.
    members : int
        All values of the group.
    line : int
        Where the first of `outside` is in the level table, or in the file it was read from.
    instead : str
        A label that is true of the group.
    """

    level: int
    label: str
    outside: tuple[str, ...]
    members: int
    line: int
    instead: str


def false_labels(rows: Sequence[Sequence[str]], kind: ColumnKind) -> list[FalseLabel]:
    """Return the labels of a level table that claim what not all of their values are.

    Parameters
    ----------
    rows : sequence of sequences of str
        The value first, then its label on each level.
    kind : str
        One of `anon_core.data.values.kinds.KINDS`.

    Examples
    --------
    >>> zips = [("01090", "0109*", "*"), ("01091", "0109*", "*"), ("02625", "0109*", "*")]
    >>> [(one.label, one.outside, one.instead) for one in false_labels(zips, "text")]
    [('0109*', ('02625',), '0109* or 02625')]
    >>> ages = [("20", "20-29", "*"), ("29", "20-29", "*"), ("31", "20-29", "*")]
    >>> [(one.label, one.line, one.instead) for one in false_labels(ages, "number")]
    [('20-29', 3, '20-31')]
    """
    lines = rows.lines if isinstance(rows, LevelRows) else range(1, len(rows) + 1)
    cleaned = [tuple(map(str.strip, row)) for row in rows]
    known = [(line, row) for line, row in zip(lines, cleaned, strict=True) if row[0] != MISSING]
    place = {row[0]: i for i, (_, row) in enumerate(known)}
    read = KINDS[kind].read
    measures = set() if read is None else {m for m in map(read, place) if not math.isnan(m)}
    found: list[FalseLabel] = []
    for level in range(1, len(known[0][1]) if known else 0):
        groups: dict[str, list[int]] = {}
        for i, (_, row) in enumerate(known):
            groups.setdefault(row[level], []).append(i)
        for label, inside in groups.items():
            members = [known[i][1][0] for i in inside]
            paths = [known[i][1][:level] for i in inside]
            reader = _Reader(kind=kind, members=members, paths=paths, place=place, known=measures)
            holds = reader.claim(label)
            outside = () if holds is None else tuple(m for m in members if not holds(m))
            if outside:
                first = next(i for i in inside if known[i][1][0] == outside[0])
                found.append(
                    FalseLabel(
                        level=level,
                        label=label,
                        outside=outside,
                        members=len(members),
                        line=known[first][0],
                        instead=_free(reader.instead(label, outside), place, groups),
                    )
                )
    return found


def unread_labels(
    labels: Sequence[str], kind: ColumnKind, values: Collection[str] = ()
) -> list[str]:
    """Return the labels of numbers, dates or times that hold digits and state no range.

    The column's own values are none of them: a label that is one claims it (`false_labels`).

    Examples
    --------
    >>> unread_labels(["20-29", "g0_4", "young", "[20, 30[", "20", "24"], "number", ["20", "25"])
    ['g0_4', '24']
    """
    read = KINDS[kind].read
    if read is None:
        return []
    known = {value: i for i, value in enumerate(values)}
    measures = {read(value) for value in values}
    reader = _Reader(kind=kind, members=(), paths=((),), place=known, known=measures)
    return [
        label
        for label in dict.fromkeys(labels)
        if label not in known and any(map(str.isdigit, label)) and reader.claim(label) is None
    ]


def with_true_labels(rows: Sequence[Sequence[str]], kind: ColumnKind) -> list[list[str]]:
    """Return a level table in which labels that are not true of all their values are renamed.

    Groups stay as they are. See `false_labels` for the parameters.

    Examples
    --------
    >>> with_true_labels([("5", "0-4", "*"), ("4", "0-4", "*"), ("6", "5-9", "*")], "number")
    [['5', '4-5', '*'], ['4', '4-5', '*'], ['6', '5-9', '*']]
    """
    mended = [[cell.strip() for cell in row] for row in rows]
    while found := false_labels(mended, kind):
        instead: dict[tuple[int, str], str] = {}
        taken: set[tuple[int, str]] = set()
        for one in found:
            if (one.level, one.instead) not in taken:  # else its turn comes again
                taken.add((one.level, one.instead))
                instead[one.level, one.label] = one.instead
        for row in mended:
            row[1:] = [instead.get((at, label), label) for at, label in enumerate(row[1:], start=1)]
    return mended


def refuse_false_labels(name: str, rows: Sequence[Sequence[str]], kind: ColumnKind) -> None:
    """Refuse a level table with a label that is not true of all its values.

    Raises
    ------
    BadHierarchy
        Naming the label, a line and a label to put in its place.
    """
    found = false_labels(rows, kind)
    if not found:
        return
    first = found[0]
    values = {row[0].strip() for row in rows}
    label = "a label" if first.label in values else f"'{first.label}'"
    others = "" if len(found) == 1 else f" {len(found) - 1} more labels are not true either."
    raise BadHierarchy(
        f"Hierarchy of '{name}', level {first.level}: {label} is not true of "
        f"{len(first.outside)} of its {first.members} values, first in line {first.line}, so that "
        f"a release would say what is false.{others}",
        remedy="Rename the group to what it holds, or move the values out of it. On Hierarchies "
        "one click renames all; in a recipe do it under [labels]: "
        f'{name} = "rename". If the labels are names and no ranges, confirm it there: '
        f'{name} = {{ names = "the reason why" }}.',
        values=[*first.outside[:5]],
    )


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Reads what labels of one group claim; what they may mean depends on its members."""

    kind: ColumnKind
    members: Sequence[str]
    paths: Sequence[Sequence[str]]
    place: dict[str, int]
    known: Collection[float] = ()

    @property
    def nodes(self) -> int:
        """The fewest nodes that the group has on a level below its own."""
        return min(len(set(own)) for own in zip(*self.paths, strict=True))

    def claim(self, label: str) -> Holds | None:
        """Return a test of whether a value is what the label claims; None where it claims none."""
        read = KINDS[self.kind].read
        if read is not None and (at := read(label)) in self.known:
            return _within((at, at), read)
        if label in self.place:
            return None
        denied = _DENIED.match(label)
        rest = "" if denied is None else label[denied.end() :].strip()
        if rest and (said := self._part(rest, known=read is None)) is not None:
            return lambda value: not said(value)
        whole = self._one(label)
        if whole is not None:
            return whole
        inner = label
        if label[:1] + label[-1:] in ("{}", "[]", "()"):
            inner = label[1:-1] if ";" in label else re.sub(r",(?=\S)", ", ", label[1:-1])
        for marks, text in ((_PARTS, label), (_LISTED, inner.strip())):
            parts = [self._part(p.strip(), known=marks is _LISTED) for p in marks.split(text)]
            each = [one for one in parts if one is not None]
            if len(each) == len(parts) > 1:
                # A value may hold a separator itself.
                return lambda value: any(one(value) for one in each) or _listed(value, label)
        return None

    def _part(self, text: str, *, known: bool) -> Holds | None:
        """Return what an entry of a list claims; a single one may have to be a known value."""
        if text in self.place:
            return _equal(text)
        read = KINDS[self.kind].read
        if known and (read is None or not (read(text) != read(text) or read(text) in self.known)):
            return None
        return self._one(text, apart=True)

    def instead(self, label: str, outside: Sequence[str]) -> str:
        """Return a label that is true of the group, or an empty text."""
        read = KINDS[self.kind].read
        if read is not None:
            ordered = sorted(self.members, key=read)
            low, high = ordered[0], ordered[-1]
            for tried in (f"{low}-{high}", f"{low} to {high}", f"[{low}, {high}]"):
                holds = self.claim(tried)
                if holds is not None and all(map(holds, self.members)):
                    return tried
            return ""
        named = f"{label} or {' or '.join(outside)}"
        if len(outside) > _MOST_NAMED or len(named) > _LONGEST:
            return ""
        holds = self.claim(named)
        return named if holds is not None and all(map(holds, self.members)) else ""

    def _one(self, label: str, *, apart: bool = False) -> Holds | None:
        read = KINDS[self.kind].read
        if read is not None:
            stated = readings(label, self.kind)
            if not stated and apart and read(label) == read(label):
                stated = [(read(label), read(label))]
            ways = [_within(one, read) for one in stated]
            return self._true_way(ways) if ways else every_year(label, self.kind)
        return next(self._meant(label, apart=apart), None)

    def _meant(self, label: str, *, apart: bool) -> Iterator[Holds]:
        """Yield readings of a label over texts; some only if most members are such values.

        In a list (`apart`) a reading may fit few of the members.
        """
        ends = label.split(" to ")
        if len(ends) == 2 and all(end in self.place for end in ends):
            first, last = (self.place[end] for end in ends)
            yield lambda value: first <= self.place.get(value, -1) <= last
        for kind, read in measured_kinds().items():
            stated = [] if "*" in label else readings(label, kind)
            if stated and (apart or self._most(lambda v: read(v) == read(v))):  # noqa: B023 - called at once
                ways = [_within(one, read) for one in stated]
                true = self._true_way([*ways, *_of_beginnings(label)])
                if true is not None:
                    yield true
        if (mask := _MASK.fullmatch(label)) is not None:
            holds = _begins(mask["head"]) if mask["head"] else _ends(mask["tail"])
            if any(map(str.isdigit, label)) or apart or self._most(holds):
                yield holds
        yield from self._of_times(label)
        codes = _CODES.fullmatch(label)
        if codes is not None:
            low, high = codes["low"], codes["high"]
            high = high if not high.isdigit() else codes["letters"] + high
            if len(low) == len(high) and self._most(holds := _between_codes(low, high)):
                yield holds
        letters = _LETTERS.fullmatch(label)
        if letters is not None and self._most(holds := _between_letters(letters)):
            yield holds
        if any(self._most(holds := one) for one in _of_beginnings(label)):
            yield holds
        filled = _FILLED.fullmatch(label)
        if filled is not None and self._most(holds := _begins(filled["head"])):
            yield holds
        if (more := _AND_MORE.fullmatch(label)) is not None and more["first"] in self.place:
            fits = self.nodes <= int(more["more"]) + 1 and more["first"] in self.members
            yield lambda _: fits
        if len(label) > 1 and any(map(str.isdigit, label)) and not apart:
            holds = _begins(label)
            if self._most(holds) and sum(map(holds, self.members)) > 1:
                yield holds

    def _of_times(self, label: str) -> Iterator[Holds]:
        """Yield what a label says of times of day, if most members are such."""
        clock = _HOUR.sub(r"\1:00", _TWELVE.sub(_of_a_day, label))
        if not any(map(str.isdigit, clock)) or not self._most(_is_time):
            return
        night = _OVERNIGHT.fullmatch(clock)
        low, high = (night and minute_of_day(night[one]) for one in ("low", "high"))
        if low is not None and high is not None and low > high:
            yield lambda value: _is_time(value) and not high < _minute(value) < low
        elif (stated := stated_range(clock, _minutes)) is not None:
            yield lambda value: stated[0] <= _minute(value) <= stated[1]

    def _true_way(self, ways: Sequence[Holds]) -> Holds | None:
        """Return the way to read a label that is true of all members, else the first; or None."""
        true = (holds for holds in ways if all(map(holds, self.members)))
        return next(true, ways[0] if ways else None)

    def _most(self, holds: Holds) -> bool:
        return sum(map(holds, self.members)) * 2 > len(self.members)


def _within(stated: Range, read: Callable[[str], float]) -> Holds:
    low, high = stated
    return lambda value: low <= read(value) <= high


def _begins(head: str) -> Holds:
    return lambda value: value.startswith(head)


def _ends(tail: str) -> Holds:
    return lambda value: value.endswith(tail)


def _equal(text: str) -> Holds:
    return lambda value: value == text


def _listed(value: str, label: str) -> bool:
    found = re.escape(value)
    return re.search(rf"(?:^|{_PARTS.pattern}){found}(?:{_PARTS.pattern}|$)", label) is not None


def _of_a_day(found: re.Match[str]) -> str:
    return f"{int(found[1]) % 12 + 12 * (found[3] in 'pP')}{found[2] or ':00'}"


def _minute(value: str) -> int:
    found = minute_of_day(value)
    return -1 if found is None else found


def _minutes(text: str) -> Range | None:
    found = minute_of_day(text.strip())
    return None if found is None else (found, found)


def _is_time(value: str) -> bool:
    return minute_of_day(value) is not None


def _between_codes(low: str, high: str) -> Holds:
    return lambda value: low.upper() <= value[: len(low)].upper() <= high.upper()


def _between_letters(found: re.Match[str]) -> Holds:
    """Return whether a text begins in a range of letters: one each, or more after the same one."""
    low, high = _bare(found["low"]), _bare(found["high"])
    size = len(low)
    if size != len(high) or (size > 1 and low[0] != high[0]):
        return lambda _: False
    return lambda value: low <= _bare(value)[:size] <= high


def _bare(text: str) -> str:
    """Return the letters of a text without accents, in one case."""
    return "".join(c for c in normalize("NFD", text.casefold()) if not combining(c))


def _of_beginnings(label: str) -> Iterator[Holds]:
    """Yield what ``80-89`` and ``80xxx-89xxx`` say of codes that are longer than its ends."""
    found = _HEADS.fullmatch(label)
    if found is not None and len(found["low"]) == len(found["high"]):
        holds = _between_codes(found["low"], found["high"])
        yield lambda value: len(value) > len(found["low"]) and holds(value)


def _free(label: str, values: dict[str, int], groups: dict[str, list[int]]) -> str:
    """Return a label that nothing else on the level has: the one given, or ``Group 1`` etc."""
    if label and label not in values and label not in groups:
        return label
    number = 1
    while f"Group {number}" in groups or f"Group {number}" in values:
        number += 1
    return f"Group {number}"
