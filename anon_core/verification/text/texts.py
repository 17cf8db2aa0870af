"""What texts mean: equal values, and what a published cell covers.

No code is shared with the run on purpose: a mistake made there must not be repeated here.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import zip_longest
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadHierarchy
from anon_core.verification.text import kinds
from anon_core.verification.text.cells import Cells, Narrow
from anon_core.verification.text.kinds import KINDS, Kind, Measure, number_of

# The lines of a level table, level by level: there may be a hundred thousand of them.


class LevelTable(tuple[Sequence[str], ...]):
    """Lines of a level table whose columns are put together once, however many ask for them."""

    @cached_property
    def columns(self) -> list[list[str]]:
        """The cells of each level, as `level_columns` returns them."""
        return [list(map(str.strip, column)) for column in zip_longest(*self, fillvalue="")]


def level_columns(levels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the cells of each level without blanks around them, the values first.

    Shorter lines end with empty cells. Not to be written to.

    Examples
    --------
    >>> level_columns([["a ", "A"], ["b", "A"]]), level_columns([["a"], ["b", "B"]])
    ([['a', 'b'], ['A', 'A']], [['a', 'b'], ['', 'B']])
    """
    return (levels if isinstance(levels, LevelTable) else LevelTable(levels)).columns


# Texts of digits alone, of which a column may have many: looked up by the numbers they are.


_MOST = 18  # digits that fit a word whatever they are


def numbers_of(texts: Sequence[str]) -> npt.NDArray[np.int64] | None:
    """Return the numbers that texts are; None where one is more than digits, or has too many.

    Examples
    --------
    >>> numbers_of(["0", "120"])
    array([  0, 120])
    >>> numbers_of(["007"]) is None, numbers_of(["1", "-2"]) is None, numbers_of([]) is None
    (True, True, True)
    """
    if not kinds.are_digits(texts) or max(map(len, texts)) > _MOST:
        return None
    return np.fromstring("\n".join(texts), dtype=np.int64, sep="\n")


class Numbers(Sequence[Decimal]):
    """The numbers that texts are, each made when it is asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> Decimal: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Decimal]: ...
    def __getitem__(self, place: int | slice) -> Decimal | Sequence[Decimal]:
        found = self._texts[place]
        return Decimal(found) if isinstance(found, str) else Numbers(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class Digits:
    """The codes of a column's values, which are digits alone.

    Attributes
    ----------
    values : int64 array of shape (values,)
        Ascending, no two alike; one at least.
    codes : int64 array of shape (values,)
    """

    values: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]

    def codes_of(self, texts: Sequence[str]) -> npt.NDArray[np.int64] | None:
        """Return the codes of texts, -1 where there is none; None where one is more than digits."""
        numbers = numbers_of(texts)
        if numbers is None:
            return None
        place = np.minimum(np.searchsorted(self.values, numbers), len(self.values) - 1)
        return np.where(self.values[place] == numbers, self.codes[place], -1)


# Single texts, and columns of them.


Codes = npt.NDArray[np.int64]
#: What makes two cells of a column equal: a number, a day or the like, or the text itself.
Key = Measure | str
#: Runs of neighbouring codes, (first, last) each, ascending.
Runs = tuple[tuple[int, int], ...]

MISSING_TOKENS = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")
EVERYTHING = "*"
_OPEN = ("≤", "≥")
FORMULA_START = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")
#: What may part cells for a program that reads a file its own way.
_BETWEEN = (";", ",", "\t", "\r", "\n")
_SIGNS = re.escape("".join(FORMULA_START[:8]))
_MAY_BE_GUARDED = re.compile(f"[;,\t\r\n]\"?'*[{_SIGNS}]|\n'*[\t\r]")

_MEMBER = re.compile(r'(?:"((?:[^"]|"")*)"|([^,{}"]+))(, |$)')


# ---- single texts ----------------------------------------------------------------------------


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take a cell, or a part of it, for a formula."""
    if text.startswith(FORMULA_START) and number_of(text) is None:
        return True
    return any(kept == 0 and not number for _, kept, number in _parts_with_signs(text))


def guarded(text: str) -> str:
    """Return a cell with the apostrophes that keep it from being a formula, where it needs some."""
    for at, kept, number in reversed(_parts_with_signs(text)):
        if kept or not number:
            text = f"{text[:at]}'{text[at:]}"
    kept = text.startswith("'") and text.lstrip("'").startswith(FORMULA_START)
    begins = text.startswith(FORMULA_START) and number_of(text) is None
    return "'" + text if kept or begins else text


def unguarded(text: str) -> str:
    """Return a cell without the apostrophes that keep it from being a formula."""
    for at, kept, _ in reversed(_parts_with_signs(text)):
        if kept:
            text = text[:at] + text[at + 1 :]
    if text.startswith("'") and text.lstrip("'").startswith(FORMULA_START):
        return text[1:]
    return text


def may_be_guarded(texts: Iterable[str]) -> bool:
    """Say whether some of many texts may be formulas, or guarded; if not, none is."""
    return _MAY_BE_GUARDED.search("\n".join(["", *texts])) is not None


def _parts_with_signs(text: str) -> list[tuple[int, int, bool]]:
    """Return where a part that may become a cell begins with a formula's sign.

    Each with the apostrophes before the sign, and whether all that follows is a number. A part may
    begin with a quote.
    """
    found: list[tuple[int, int, bool]] = []
    if not any(mark in text for mark in _BETWEEN):
        return found
    for before, mark in enumerate(text):
        if mark not in _BETWEEN:
            continue
        at = before + 1 + text.startswith('"', before + 1)
        rest = text[at:]
        own = rest.lstrip("'")
        if own.startswith(FORMULA_START[:8]):
            end = min((own.find(m) for m in (*_BETWEEN, '"') if m in own), default=len(own))
            found.append((at, len(rest) - len(own), number_of(own[:end]) is not None))
    return found


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """How the cells of one column are to be read.

    Attributes
    ----------
    kind : str
        One of `kinds.KINDS`.
    neutralised : bool
        Whether published cells have an apostrophe before a formula sign that is no part of them.
    """

    kind: str
    neutralised: bool

    @cached_property
    def rules(self) -> Kind:
        """What holds of the kind."""
        return KINDS[self.kind]

    @property
    def measured(self) -> bool:
        """Whether texts stand for numbers, days or the like."""
        return self.rules.read is not None

    def plain(self, text: str) -> str:
        """Return a published text without the apostrophe that keeps it from being a formula.

        Only one goes: before apostrophes and a sign of the table's own, one more was put.
        """
        return unguarded(text) if self.neutralised else text

    def key(self, text: str) -> Key:
        """Return what makes two cells equal: numbers and days by value, the rest by text."""
        read = self.rules.read
        value = None if read is None else read(text)
        return text if value is None else value

    def keys(self, texts: Sequence[str]) -> list[Key]:
        """Return the key of each text."""
        return list(map(self.key, texts))


def members_of(text: str) -> list[str] | None:
    """Return the members of a value set, or None where the text is no value set.

    Examples
    --------
    >>> members_of('{F, "a, b", ""}'), members_of("{F,M}"), members_of("F")
    (['F', 'a, b', ''], None, None)
    """
    if len(text) < 3 or text[0] != "{" or text[-1] != "}":
        return None
    members: list[str] = []
    inner, place, more = text[1:-1], 0, True
    while more:
        found = _MEMBER.match(inner, place)
        if found is None:
            return None
        quoted, bare = cast("str | None", found[1]), cast("str", found[2])
        members.append(bare if quoted is None else quoted.replace('""', '"'))
        place, more = found.end(), found[3] != ""
    return members


def range_of(text: str, spelling: Spelling) -> tuple[Measure, Measure] | None:
    """Return the ends of a range, ``[20, 29]``, of a column that is measured; None for others."""
    ends = text[1:-1].split(", ") if text[:1] == "[" and text[-1:] == "]" else []
    keys = [key for key in map(spelling.key, ends) if not isinstance(key, str)]
    return (keys[0], keys[1]) if len(keys) == len(ends) == 2 else None


# ---- columns ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateColumn:
    """One column of the table.

    Attributes
    ----------
    cells : array of signed integers, shape (rows,)
        Index into `texts`; -1 where there is none.
    code_of_cell : int64 array of shape (texts + 1,)
        Each text's value as an index into `keys`, ``len(keys)`` where it is missing; the last
        represents no text.
    gone : bool array of shape (texts + 1,)
        Whether a text represents a missing value.
    keys : sequence
        Distinct values; of a quasi-identifier numbers and days ascending, then texts.
    measured : int
        How many of the keys are numbers or days.
    texts : tuple of str
        The cells' texts without blanks around them, of numbers without marks between thousands;
        equal ones may stand in it twice.
    thousands : str
        The mark between thousands that was taken out of the texts, if any.
    digits : Digits, optional
        The same where all texts are digits alone.
    """

    spelling: Spelling
    cells: Narrow
    code_of_cell: Codes
    gone: npt.NDArray[np.bool_]
    keys: Sequence[Key]
    measured: int
    texts: tuple[str, ...]
    thousands: str = ""
    digits: Digits | None = None

    @cached_property
    def code_of_own(self) -> Mapping[str, int]:
        """The code of each text of the table itself that is a value."""
        cells = zip(self.texts, self.code_of_cell.tolist(), self.gone.tolist(), strict=False)
        return {text: code for text, code, gone in cells if not gone}

    @cached_property
    def code_of(self) -> Mapping[Key, int]:
        """The code of each key; there may be many, and few ask."""
        return {key: code for code, key in enumerate(self.keys)}

    @property
    def codes(self) -> Codes:
        """Every row's value as an index into `keys`, ``len(keys)`` where missing."""
        return self.code_of_cell[self.cells]

    def codes_at(self, rows: Codes | npt.NDArray[np.bool_]) -> Codes:
        """Return the codes of some rows, by their places or by a mark on each."""
        return self.code_of_cell[self.cells[rows]]

    @property
    def absent(self) -> npt.NDArray[np.bool_]:
        """Where the value is missing, shape (rows,)."""
        return self.gone[self.cells]

    def used(self, rows: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
        """Return which texts some rows have, or all; the last is whether one has none."""
        found = np.zeros(len(self.texts) + 1, dtype=np.bool_)
        found[self.cells if rows is None else self.cells[rows]] = True
        return found

    @property
    def missing(self) -> int:
        """The code of the missing value."""
        return len(self.keys)

    @cached_property
    def _place_of(self) -> Codes:
        """Some text of each code, as a place among the texts."""
        found = np.full(len(self.keys) + 1, -1, dtype=np.int64)
        found[self.code_of_cell[:-1]] = np.arange(len(self.texts))
        return found

    def text_of(self, code: int) -> str:
        """Return a text of a value; empty for the missing one."""
        return "" if code == self.missing else self.texts[self._place_of[code]]

    def code_of_text(self, text: str) -> int:
        """Return the code of a cell's text, -1 where the table has no such value."""
        own = self.code_of_own.get(text)
        if own is None:
            own = self.missing if text == "" else self.code_of.get(self.spelling.key(text), -1)
        return own

    def codes_of_texts(self, texts: Sequence[str]) -> Codes:
        """Return the codes of many texts, as `code_of_text` does."""
        found = None if self.digits is None else self.digits.codes_of(texts)
        if found is not None:
            return found
        own = list(map(self.code_of_own.get, texts))
        if None in own:
            pairs = zip(own, texts, strict=True)
            own = [self.code_of_text(text) if code is None else code for code, text in pairs]
        return np.array(own, dtype=np.int64)


def read_private_column(
    column: Cells,
    kind: str | None,
    missing_tokens: Iterable[str],
    *,
    kept: Collection[str] = (),
    neutralised: bool,
    ordered: bool,
    levels: Sequence[Sequence[str]] = (),
    thousands: str | None = None,
) -> PrivateColumn:
    """Read one column of the table.

    Of the texts that stand for a missing value those that are `kept` are values of a column of
    texts. Where `thousands` is None, the texts tell which mark parts thousands, if any. Where
    `ordered`, the distinct values stand in an order in which groups are runs if they can: numbers
    and days ascending, texts as the level table groups them.
    """
    tokens = {"", *(token.strip() for token in missing_tokens)}
    if kind is None:  # what no row has tells nothing
        held = itertools.compress(column.texts, column.used()[:-1].tolist())
        kind = kinds.kind_of([text for t in held if (text := t.strip()) not in tokens])
    if KINDS[kind].read is None:
        tokens -= set(kept)
    numbers = numbers_of(column.texts) if kind == "number" else None
    if numbers is not None and tokens.isdisjoint(column.texts):
        spelling = Spelling(kind="number", neutralised=neutralised)
        return _read_digits(column, numbers, spelling, thousands or "", ordered=ordered)
    texts = [text.strip() for text in column.texts]
    gone = [text in tokens for text in texts] + [True]  # the last for what is null (-1)
    present = [t for t, g in zip(texts, gone, strict=False) if not g]
    spelling = Spelling(kind=kind, neutralised=neutralised)
    mark = ""
    if spelling.rules.thousands:
        mark = (kinds.thousands_of(present) if thousands is None else thousands) or ""
        if mark:
            texts = [kinds.unmarked(text, mark) for text in texts]
    texts = texts if mark else list(map(spelling.rules.plain, texts))
    present = [t for t, g in zip(texts, gone, strict=False) if not g]
    key_of = dict(zip(present, spelling.keys(present), strict=True))
    named = [] if spelling.measured or not ordered else [row for row in levels if row]
    line = dict(zip((row[0].strip() for row in named), range(len(named)), strict=True))
    keys: list[Key] = list(dict.fromkeys(key_of.values()))
    measured = [key for key in keys if not isinstance(key, str)]
    if ordered:
        others = [key for key in keys if isinstance(key, str)]
        path = {key: tuple(named[line[key]][:0:-1]) for key in others if key in line}
        others.sort(key=lambda key: (path.get(key, ()), key))
        keys = [*sorted(cast(list[Any], measured)), *others]
    place = {key: i for i, key in enumerate(keys)}
    code_of = {text: place[key] for text, key in key_of.items()}
    code = [code_of.get(text, len(keys)) for text in texts]
    return PrivateColumn(
        spelling=spelling,
        cells=column.codes,
        code_of_cell=np.array([*code, len(keys)], dtype=np.int64),
        gone=np.array(gone, dtype=np.bool_),
        keys=tuple(keys),
        measured=len(measured),
        texts=tuple(texts),
        thousands=mark,
    )


def _read_digits(
    column: Cells, numbers: Codes, spelling: Spelling, thousands: str, *, ordered: bool
) -> PrivateColumn:
    """Read a column of digits alone, as `read_private_column` does: there may be many of them."""
    values, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    codes = np.arange(len(values))
    if not ordered:
        codes[np.argsort(first)] = np.arange(len(values))
    shown: list[int] = (first if ordered else np.sort(first)).tolist()
    return PrivateColumn(
        spelling=spelling,
        cells=column.codes,
        code_of_cell=np.append(codes[which], len(values)),
        gone=np.arange(len(numbers) + 1) == len(numbers),
        keys=Numbers([column.texts[place] for place in shown]),
        measured=len(values),
        texts=tuple(column.texts),
        thousands=thousands,
        digits=Digits(values=values, codes=codes),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Cover:
    """What the published texts of one quasi-identifier stand for.

    Attributes
    ----------
    runs : tuple of Runs
        Per text, the codes of the table's values it covers.
    unknown, ambiguous : tuple of int
        Texts that mean nothing, or two different things.
    """

    runs: tuple[Runs, ...]
    unknown: tuple[int, ...] = ()
    ambiguous: tuple[int, ...] = ()


#: The leaves of a hierarchy and, from level 1 up, the codes under every label.
LevelSets = tuple[set[Key], list[dict[str, set[int]]]]


def read_cover(column: PrivateColumn, sets: LevelSets, texts: Sequence[str]) -> Cover:
    """Say what each published text of a quasi-identifier covers.

    A text is first looked up among the values and the labels of every level; only what is none of
    these is read as ``*``, range or value set. A text that is found on several levels with
    different covers counts only if all the column's texts stand on one level.
    """
    leaves, labels = sets
    found = [on_levels(column, leaves, labels, text) for text in texts]
    shared = [
        level
        for level in range(len(labels) + 1)
        if all(level in places for text, places in zip(texts, found, strict=True) if text != "")
    ]
    runs: list[Runs] = []
    unknown: list[int] = []
    ambiguous: list[int] = []
    for i, (text, places) in enumerate(zip(texts, found, strict=True)):
        meanings = {frozenset(codes) - {column.missing} for codes in places.values()}
        used = list(places.values())
        if 0 in places and _reads_as_several(column, text):
            ambiguous.append(i)
        elif len(meanings) > 1:
            used = [places[level] for level in shared]
            if not used:
                ambiguous.append(i)
        if text == "":
            runs.append(_runs({column.missing}))
        elif places:
            runs.append(_runs(set[int]().union(*used)))
        else:
            syntax = _by_syntax(column, leaves, text)
            if syntax is None:
                unknown.append(i)
            runs.append(syntax or ())
    return Cover(runs=tuple(runs), unknown=tuple(unknown), ambiguous=tuple(ambiguous))


def _reads_as_several(column: PrivateColumn, text: str) -> bool:
    """Say whether a text that is a value of the table also reads like a set of its values."""
    if column.spelling.measured:
        return False
    members = members_of(text)
    return text == EVERYTHING or (
        members is not None and all(column.code_of_text(m) >= 0 for m in members)
    )


def level_sets(
    name: str, column: PrivateColumn, levels: Sequence[Sequence[str]] | None
) -> LevelSets:
    """Return the hierarchy's leaves and, from level 1 up, the codes under every label.

    Raises
    ------
    BadHierarchy
        If the lines of the level table differ in length, or a value is in it with two paths.
    """
    if levels is None:
        return set(), [{EVERYTHING: set(range(column.missing + 1))}]
    for number, line in enumerate(levels, start=1):
        if len(line) != len(levels[0]) or not line:
            raise BadHierarchy(
                f"Hierarchy of '{name}', line {number}: {len(line)} cells where line 1 has "
                f"{len(levels[0])}.",
                remedy="Every line needs the value and one label for every level.",
            )
    values, *above = level_columns(levels) or [[]]
    above = above or [[EVERYTHING] * len(values)]
    path: dict[Key, tuple[str, ...]] = {}
    lines = zip(values, column.spelling.keys(values), zip(*above, strict=True), strict=True)
    for number, (value, key, labels) in enumerate(lines, start=1):
        if path.setdefault(key, labels) != labels:
            raise BadHierarchy(
                f"Hierarchy of '{name}', line {number}: the value occurs in an earlier line with "
                "other labels.",
                remedy="List every value once; a value has one path to the top.",
                values=[value],
            )
    # A missing value hangs under the root, unless texts have a line for it.
    own = {key: column.code_of.get(key) for key in path}
    if not column.spelling.measured and "" in path:
        own[""] = column.missing
    there = [(path[key], code) for key, code in own.items() if code is not None]
    found: list[dict[str, set[int]]] = []
    for level in range(len(above)):
        sets: dict[str, set[int]] = {labels[level]: set() for labels in path.values()}
        for labels, code in there:
            sets[labels[level]].add(code)
        found.append(sets)
    # Where there is no value at all, the missing value is alone under every top.
    tops = {labels[-1] for labels, _ in there} or set(found[-1])
    for top in tops if len(tops) == 1 or not there else ():
        found[-1][top].add(column.missing)
    return set(path), found


def on_levels(
    column: PrivateColumn, leaves: set[Key], labels: Sequence[Mapping[str, set[int]]], text: str
) -> dict[int, set[int]]:
    """Return the codes a text represents on every level it occurs on; level 0 is the values."""
    if text == "":
        return {}
    places: dict[int, set[int]] = {}
    key = column.spelling.key(text)
    if key in column.code_of:
        places[0] = {column.code_of[key]}
    elif key in leaves:
        places[0] = set()
    for level, under in enumerate(labels, start=1):
        if text in under:
            places[level] = under[text]
    return places


def _by_syntax(column: PrivateColumn, leaves: set[Key], text: str) -> Runs | None:
    """Read ``*``, a range, a tail or a value set; None where the text is none of these."""
    if text == EVERYTHING:
        return ((0, column.missing),)
    spelling, values = column.spelling, cast(Any, column.keys)
    if spelling.measured:
        first, last = 0, column.measured - 1
        limit = spelling.key(text[1:]) if text[:1] in _OPEN else ""
        ends = (limit, limit) if not isinstance(limit, str) else range_of(text, spelling)
        if ends is None:
            return None
        if text[0] != "≤":
            first = bisect_left(values, cast(Any, ends[0]), hi=column.measured)
        if text[0] != "≥":
            last = bisect_right(values, cast(Any, ends[1]), hi=column.measured) - 1
        return ((first, last),) if first <= last else ()
    members = members_of(text)
    if members is None:
        return None
    codes: set[int] = set()
    for member in members:
        code = column.code_of_text(member)
        if code < 0 and spelling.key(member) not in leaves:
            return None
        codes.add(code)
    return _runs(codes - {-1})


def _runs(codes: set[int]) -> Runs:
    if not codes:
        return ()
    ordered = np.sort(np.fromiter(codes, dtype=np.int64, count=len(codes)))
    breaks = np.flatnonzero(np.diff(ordered) != 1)
    first = ordered[np.concatenate([[0], breaks + 1])]
    last = ordered[np.concatenate([breaks, [len(ordered) - 1]])]
    return tuple(zip(first.tolist(), last.tolist(), strict=True))
