"""What a group's label claims of its values, and whether it is true: ``0109*``, ``20-29``.

A label is published in the place of a value, so that one that claims a range, a beginning or a set
which does not hold all of its members is a false cell. One that holds figures or words of time and
cannot be read is asked about. A label that claims nothing, such as ``young`` or ``Group 3``, is no
one's business but the person's who chose it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import combinations
from unicodedata import combining, normalize

from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy.construction import LevelRows
from anon_core.data.hierarchy.propose.dates_and_times import minute_of_day
from anon_core.data.hierarchy.range_forms import stated_range
from anon_core.data.hierarchy.ranges import (
    Range,
    every_year,
    in_figures,
    month,
    months,
    read_range,
    readings,
    states_numbers,
    states_times,
    weekday,
    weekdays,
)
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
    r"\s*(?:[-–—]|\.\.|\b(?:to|bis)\b|à )\s*(?P<high>[A-Za-z]{0,4}\d+[A-Z]?)[)\]]?(?:\s+\D.*)?"
)
#: The first digits of codes, and what is left out of them.
_HEADS = re.compile(
    r"(?P<low>\d+)(?P<fill>[xX*_#•]*)\s*(?:[-–—]|\.\.|\b(?:to|bis)\b|à )\s*(?P<high>\d+)"
    r"(?:(?P=fill)|[xX*_#•]+)"
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
#: A word before a range, a number or a beginning: grade 1-3, level 2, PLZ 80.
_WORDED = re.compile(r"(?P<word>[^\W\d_]+)\.?[ -]?(?P<rest>\d.*)")
#: Dates that are read as texts.
_LIKE_DAYS = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")
_NUMBER_LIST = re.compile(r"\d+(?:(?:, ?|,? (?:and|or|und|oder|et|ou) | ?[/&+] ?)\d+)*")
_SINGLE_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_SEVERAL_NUMBERS = re.compile(
    r"\d+(?:[.,]\d+)?(?:\s*(?:[-–,/&+]|to|bis|à|and|or|und|oder|et|ou)\s*\d+(?:[.,]\d+)?)*"
)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|er|e|ème|\.)(?!\w)")
_ONE_WORD = re.compile(r"(?:[^\W\d_]+[.:]?[ .:-] ?)?(?P<number>\d.*?)(?: [^\W\d_]+)?")
#: A number of a group says nothing about the group.
_NUMBERED = re.compile(r"(?:group|gruppe|groupe|cluster) \d+(?:\.\d+)*", re.IGNORECASE)
#: Words that change what a range says; other words with it name its values: children 0-14.
_TURNS = re.compile(
    r"about|around|roughly|rund|etwa|circa|ca|approx\w*|environ|vers|~"
    r"|not?|non|nicht|kein\w*|ohne|without|sans|sauf|hors|ex[ck]\w*|außer|outside|other|up|under"
    r"|unter|until|till?|to|bis|ab|von|from|de|over|über|above|more|mehr|less|weniger|below|before|vor"
    r"|avant|after|nach|après|since|seit|depuis|plus|moins|minus|and|und|et|or|oder|ou|than|als|que|min"
    r"|max|early|late|frühe?|späte?|menos|más|hasta|desde|meno|più|oltre|fino|sotto|sopra|o|à|through|thru|entre|between|zwischen|tot|vanaf|meer"
    r"|minder|onder|boven|do|od|pod|nad|po|ponad|poniżej|powyżej|jusqu\W?à|dès",
    re.IGNORECASE,
)
_OF_DAYS = re.compile(
    r"the|years?|jahre?|années?|jahrgang|jg|geb|geboren|born|month|monat", re.IGNORECASE
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
    return _judged(rows, kind)[0]


def unread_labels(rows: Sequence[Sequence[str]], kind: ColumnKind) -> list[str]:
    """Return the labels that hold numbers, or words of time, and claim nothing that can be read.

    The top is none of them, nor is a label that a value is written as. Among texts, a label is a
    name if most values under it are no numbers and begin with none, or have the label's digits too.

    Examples
    --------
    >>> rows = [("20", "g0_4", "*"), ("25", "20-29", "*"), ("31", "thirty something", "*")]
    >>> unread_labels(rows, "number")
    ['g0_4', 'thirty something']
    >>> rows = [("90331", "PLZ 80", "*"), ("4x4 long", "4x4", "*"), ("SARS", "Covid-19", "*")]
    >>> unread_labels(rows, "text")
    ['PLZ 80']
    """
    return list(_judged(rows, kind)[1])


def _judged(
    rows: Sequence[Sequence[str]], kind: ColumnKind
) -> tuple[list[FalseLabel], dict[str, tuple[int, int]]]:
    """Return the false labels, and those to be asked about, with the first level and line of each.

    Lines are counted as those of a hierarchy's file.
    """
    lines = rows.lines if isinstance(rows, LevelRows) else range(1, len(rows) + 1)
    cleaned = [tuple(map(str.strip, row)) for row in rows]
    known = [(line, row) for line, row in zip(lines, cleaned, strict=True) if row[0] != MISSING]
    place = {row[0]: i for i, (_, row) in enumerate(known)}
    read = KINDS[kind].read
    measures = set() if read is None else {m for m in map(read, place) if not math.isnan(m)}
    folded: dict[str, list[str]] = {}
    for value in place if read is None else ():
        folded.setdefault(value.casefold(), []).append(value)
    found: list[FalseLabel] = []
    unread: dict[str, tuple[int, int]] = {}
    height = len(known[0][1]) if known else 0
    for level in range(1, height):
        groups: dict[str, list[int]] = {}
        for i, (_, row) in enumerate(known):
            groups.setdefault(row[level], []).append(i)
        for label, inside in groups.items():
            members = [known[i][1][0] for i in inside]
            paths = [known[i][1][:level] for i in inside]
            reader = _Reader(
                kind=kind,
                members=members,
                paths=paths,
                place=place,
                known=measures,
                folded=folded,
            )
            holds = reader.claim(label)
            top = level == height - 1 and len(groups) == 1
            if holds is None and not top and reader.asks(label):
                unread.setdefault(label, (level, known[inside[0]][0]))
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
    return found, unread


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
    """Refuse a level table with a label that is not true of all its values, or may not be.

    Raises
    ------
    BadHierarchy
        Naming the label, a line and a label to put in its place.
    """
    found, unread = _judged(rows, kind)
    if not found and not unread:
        return
    names = f'{name} = {{ names = "the reason why" }}.'
    if not found:
        label, (level, line) = next(iter(unread.items()))
        more = len(unread) - 1
        others = f" {more} more labels cannot be read either." if more else ""
        raise BadHierarchy(
            f"Hierarchy of '{name}', level {level}: label '{label}', first in line {line}, seems "
            "to state a number or a time, and is written so that no one can check it against its "
            f"values.{others}",
            remedy="Write ranges as 20-29. If the labels are names and no ranges, confirm it on "
            f"Hierarchies, or in the recipe under [labels]: {names}",
        )
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
        f'{name} = "rename". If the labels are names and no ranges, confirm it there: {names}',
        values=[*first.outside[:5]],
    )


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Reads what labels of one group claim; what they may mean depends on its members.

    `folded` has the values of texts by how they read without capitals.
    """

    kind: ColumnKind
    members: Sequence[str]
    paths: Sequence[Sequence[str]]
    place: dict[str, int]
    known: Collection[float] = ()
    folded: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    @property
    def nodes(self) -> int:
        """The fewest nodes that the group has on a level below its own."""
        return min(len(set(own)) for own in zip(*self.paths, strict=True))

    def asks(self, label: str) -> bool:
        """Say whether a label that claims nothing may yet state a number or a time.

        Not if it holds a range, with a name of its values, that is true of all.
        """
        return self._may_state(label) and not any(
            self._true_core(core, label) for core in _cores(label, self.kind)
        )

    def _true_core(self, core: str, label: str) -> bool:
        read = KINDS[self.kind].read
        if read is not None and read(core) == read(core) and not label.startswith(core):
            return False
        holds = self.claim(core)
        if holds is not None and all(map(holds, self.members)):
            return True
        if read is not None:
            return False
        # A code before its title: 2 Professionals.
        titled = core.isdigit() and label[:1] == core
        return self._bands(core) or all(
            titled and value.startswith(core) and value[1:3].isdigit() and len(value) > 2
            for value in self.members
        )

    def _bands(self, label: str) -> bool:
        """Say whether a range holds the ranges of numbers that all values are."""
        return any(
            all(any(w[0] <= v[0] and v[1] <= w[1] for v in _bands(value)) for value in self.members)
            for w in readings(label, "number")
        )

    def _may_state(self, label: str) -> bool:
        if label in self.place or _NUMBERED.fullmatch(label):
            return False
        if KINDS[self.kind].read is None and all(map(_begins(label), self.members)):
            return False  # of one value, or one figure, no beginning is claimed
        if KINDS[self.kind].amount:
            return states_numbers(label)
        if KINDS[self.kind].read is not None:
            return states_times(label)
        if not any(map(str.isdigit, label)):
            return (self._most(_numbers) and states_numbers(label)) or (
                self._most(_LIKE_DAYS.match) and states_times(label)
            )
        if self._most(lambda value: readings(value, "number")) and readings(label, "number"):
            return True
        said = _figures(label)
        if all(value.startswith(label) for value in self.members) or not self._most(
            lambda value: value[:1].isdigit() or _numbers(value) is not None
        ):
            return False
        held = [own for own in map(_figures, self.members) if own]
        # Each has all of the label's figures, or the label lists what they have.
        lists = said <= set[str]().union(*held) and all(own & said for own in held)
        return not lists and any(not said <= own for own in held)

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
        if read is None and (alike := self.folded.get(text.casefold())):
            return alike.__contains__
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
            ways = [_within(one, read) for one in stated] or every_year(label, self.kind)
            if ways or apart or not KINDS[self.kind].amount:
                return self._true_way(ways)
            return next(self._worded(label), None)
        return next(self._meant(label, apart=apart), None)

    def _meant(self, label: str, *, apart: bool) -> Iterator[Holds]:
        """Yield readings of a label over texts; some only if most members are such values.

        In a list (`apart`) a reading may fit few of the members.
        """
        yield from self._of_calendar(label)
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
            elif stated and kind == "date" and self._most(_period):
                ways = [partial(_covers, one) for one in stated]
                yield self._true_way(ways) or ways[0]
        spelled = in_figures(label) != label
        if spelled and not apart:
            yield from self._of_numbered(label)
        starred = next(_of_beginnings(label), None) if "*" in label else None
        if starred is not None and self._most(starred):
            yield starred
        if (mask := _MASK.fullmatch(label)) is not None:
            holds = _begins(mask["head"]) if mask["head"] else _ends(mask["tail"])
            if any(map(str.isdigit, label)) or apart or self._most(holds):
                yield holds
        yield from self._of_times(label)
        codes = _CODES.fullmatch(label)
        if codes is not None:
            low, high = codes["low"], codes["high"]
            high = high if not high[0].isdigit() else codes["letters"] + high
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
        if not apart:
            yield from self._of_numbered(label)
            yield from self._worded(label)
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

    def _worded(self, label: str) -> Iterator[Holds]:
        """Yield what a number, range or beginning says with a word before it, if most are so."""
        worded = _WORDED.fullmatch(in_figures(label))
        if worded is None or _TURNS.fullmatch(worded["word"]):
            return
        rest = worded["rest"]
        ways = _of_numbers(rest, names=True) if self._most(_numbers) else []
        ways += [_begins(rest)] if len(rest) > 1 and rest.isalnum() else []
        true = self._true_way([*ways, *_of_beginnings(rest)])
        yield from (one for one in (true, *ways) if one is not None and self._most(one))

    def _of_numbered(self, label: str) -> Iterator[Holds]:
        """Yield what a range says of texts with a number each: grade 1, III, three."""
        ways = [] if label.isdigit() else _of_numbers(label, names=False)
        if ways and self._most(_numbers):
            yield self._true_way([*ways, *_of_beginnings(label)]) or ways[0]

    def _of_calendar(self, label: str) -> Iterator[Holds]:
        """Yield what a label says of names of days and months."""
        for read, meant in ((weekday, weekdays), (month, months)):
            ways = [_named_within(read, days) for days in meant(label)]
            if ways and self._most(lambda value: read(_word(value)) is not None):  # noqa: B023 - called at once
                yield self._true_way(ways) or ways[0]

    def _most(self, holds: Callable[[str], object]) -> bool:
        return sum(map(bool, map(holds, self.members))) * 2 > len(self.members)


def _period(value: str) -> Range | None:
    """Return the days of a month or quarter that a text names."""
    return read_range(value, "date")


def _covers(stated: Range, value: str) -> bool:
    own = _period(value)
    return own is not None and stated[0] <= own[0] and own[1] <= stated[1]


def _within(stated: Range, read: Callable[[str], float]) -> Holds:
    low, high = stated
    return lambda value: low <= read(value) <= high


def _of_numbers(label: str, *, names: bool) -> list[Holds]:
    """Return what a range or a list of numbers says of texts with a number or range each.

    With `names`, texts without figures are other names and not outside.
    """
    label = in_figures(label)
    ranges = readings(label, "number")
    if names and not ranges and _NUMBER_LIST.fullmatch(label):
        single = [(float(one), float(one)) for one in re.findall(r"\d+", label)]
        return [lambda value: any(_numbered(value, one, names) for one in single)]
    return [partial(_numbered, stated=one, names=names) for one in ranges]


def _numbered(value: str, stated: Range, names: bool) -> bool:
    own = _numbers(value)
    if own is None:
        return names and not any(map(str.isdigit, value))
    return stated[0] <= own[0] and own[1] <= stated[1]


@lru_cache(maxsize=10_000)
def _numbers(value: str) -> Range | None:
    """Return the number or range that a text holds, perhaps with a word: Grade 1, III, 5th-6th."""
    text = _ORDINAL.sub("", in_figures(value.strip()))
    found = _ONE_WORD.fullmatch(text)
    text = text if found is None else found["number"]
    # Bare figures with marks between them are codes: 63/03/13, 19-104.
    form = _SINGLE_NUMBER if text == value.strip() else _SEVERAL_NUMBERS
    if form.fullmatch(text) is None:
        return None
    numbers = [float(one.replace(",", ".")) for one in re.findall(r"\d+(?:[.,]\d+)?", text)]
    return min(numbers), max(numbers)


def _named_within(read: Callable[[str], int | None], within: Collection[int]) -> Holds:
    return lambda value: read(_word(value)) in within


def _word(value: str) -> str:
    return value.casefold().strip(" .")


@lru_cache(maxsize=10_000)
def _bands(value: str) -> list[Range]:
    """Return the ranges, or the number, that a text may state."""
    at = measured_kinds()["number"](value)
    return [(at, at)] if at == at else readings(value, "number")


def _cores(label: str, kind: ColumnKind) -> Iterator[str]:
    """Yield a label, and what is left of it without words around its figures."""
    yield label
    words = re.sub(r"\(([^()]*\d[^()]*)\)\Z", r"\1", label).split()
    if KINDS[kind].read is None or KINDS[kind].amount:
        words = [word for word in words if not re.fullmatch(r"\w[:)]|-", word)]
    for first, last in combinations(range(len(words[:8]) + 1), 2):
        others = [one.strip("(),.:-") for one in (*words[:first], *words[last:])]
        core = " ".join(words[first:last])
        named = KINDS[kind].read is None or KINDS[kind].amount
        if core != label and all(
            one.replace("-", "").isalpha() and not _TURNS.fullmatch(one)
            if named
            else _OF_DAYS.fullmatch(one)
            for one in others
            if one
        ):
            yield core.strip(",:")


def _figures(text: str) -> set[str]:
    """Return the figures that a text holds, without zeros before them."""
    return {found.lstrip("0") for found in re.findall(r"\d+", text)}


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
