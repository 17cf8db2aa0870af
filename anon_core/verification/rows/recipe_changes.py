"""What a recipe does to the table and its level tables before anything else is checked.

Rows are chosen by a condition, names redacted, false labels renamed, values that no level table has
left out or published as its top, and sensitive columns read at a level.
"""

from __future__ import annotations

import itertools
import math
import operator as op
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan
from anon_core.verification.findings import Check, judged, many
from anon_core.verification.recipe import Levels, Terms, demand, is_whole, section
from anon_core.verification.rows.tables import read_of_rows
from anon_core.verification.text.cells import Cells, TextTable, narrow
from anon_core.verification.text.labels import ranges_of, untrue
from anon_core.verification.text.texts import EVERYTHING, Key, PrivateColumn, Spelling

_SAME_LEVELS = "Use the level tables the release was made with."

# Values that no level table has, where the recipe says what becomes of them.


def with_unseen(
    recipe: Mapping[str, Any], terms: Terms, private: TextTable, levels: Levels
) -> tuple[TextTable, Levels, tuple[Check, ...]]:
    """Return the private table without rows that hold such values, or level tables that know them.

    Also a sentence on the rows that are left out, where some are.

    Raises
    ------
    BadPlan
        If the recipe says something else of them, or numbers and dates are to be the top.
    """
    rule = section(recipe, "reuse").get("unseen", "fail")
    what = "[reuse] unseen must be fail, top or suppress."
    demand(rule in ("fail", "top", "suppress"), what, "Correct [reuse].")
    widened = dict(levels)
    unknown = np.zeros(len(private), dtype=np.bool_)
    names = (*terms.quasi, *section(recipe, "sensitive_levels")) if rule != "fail" else ()
    for name in names:
        if not levels.get(name) or name not in private.names:
            continue
        column = read_of_rows(terms, private, name)
        listed = {column.spelling.key(line[0].strip()) for line in levels[name] if line}
        new = [code for code, key in enumerate(column.keys) if key not in listed]
        if not new or len(new) == len(column.keys):
            continue
        unknown |= np.isin(column.codes, new)
        if rule == "top":
            what = f"Values of '{name}' are in no level table and cannot be published as its top."
            demand(not column.spelling.measured, what, _SAME_LEVELS)
            own = _with_top(levels[name])
            top = [own[0][-1].strip()] * (len(own[0]) - 1)
            widened[name] = [*own, *([str(column.keys[code]), *top] for code in new)]
    rows = int(np.count_nonzero(unknown))
    if not rows:
        return private, widened, ()
    what = f"{'is' if rows == 1 else 'are'} left out"
    if rule == "top":
        whose = "its" if rows == 1 else "their"
        what = f"that value is published as the top of {whose} hierarchy"
    sentence = (
        f"{many(rows, 'row', 'holds', 'hold')} a value that no hierarchy has, and {what}, as the "
        "recipe says."
    )
    check = judged("unseen", False, sentence, bound=len(private), reached=rows)
    return private if rule == "top" else private.kept(~unknown), widened, (check,)


def _with_top(lines: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return lines of a level table; a single column of values has '*' above it."""
    return [line if len(line) > 1 else [*line, EVERYTHING] for line in lines]


# Rows that a condition of the recipe chooses: the private table as it then is.


_PIECE = re.compile(
    r"""\s*('(?:''|[^'])*'|"(?:""|[^"])+"|<=|>=|<>|[=<>(),]|[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?!\w)"""
    r"""|[^\W\d]\w*)"""
)
Marks = npt.NDArray[np.bool_]


def chosen_rows(
    recipe: Mapping[str, Any], terms: Terms, private: TextTable
) -> tuple[Terms, TextTable, tuple[Check, ...]]:
    """Return the recipe's terms and the rows of the private table of which the condition is true.

    What all rows say of kinds and of marks between thousands stays so for those that are left.

    Raises
    ------
    BadPlan
        If the condition cannot be read, or no row is left.
    """
    where = section(recipe, "data").get("where", "")
    what = "The recipe's where is not a text."
    demand(isinstance(where, str), what, "Write a condition in quotes.")
    if not where.strip():
        return terms, private, ()

    @cache
    def column(name: str) -> PrivateColumn:
        what = f"The table has no column '{name}', which the recipe's where names."
        demand(name in private.names, what, "Use the table the release was made with.")
        return read_of_rows(terms, private, name)

    kept = rows_where(where, column)
    read = {n: column(n) for n in private.names if n in {*terms.named, *terms.published}}
    plain = {
        name: Cells(codes=private.column(name).codes, texts=list(own.texts))
        for name, own in read.items()
        if own.thousands
    }
    every, rows = len(private), int(np.count_nonzero(kept))
    sentence = (
        f"{rows} of {every} rows were chosen again by the recipe's condition; what is published is "
        "true of these."
    )
    check = judged("where", False, sentence, bound=every, reached=rows)
    kinds = {name: own.spelling.kind for name, own in read.items()}
    terms = replace(terms, kinds={**kinds, **terms.kinds})
    return terms, private.replaced(plain).kept(kept), (check,)


def complete_rows(terms: Terms, private: TextTable) -> TextTable:
    """Return the rows that miss no value in a quasi-identifier or sensitive column."""
    kept = np.ones(len(private), dtype=np.bool_)
    for name in (*terms.quasi, *terms.sensitive):
        kept &= ~read_of_rows(terms, private, name).absent
    return private.kept(kept)


def rows_where(where: str, column: Callable[[str], PrivateColumn]) -> Marks:
    """Return the rows of a table of which a condition is true, given its columns by name.

    Raises
    ------
    BadPlan
        If the condition cannot be read, or no row is left.
    """
    if _PIECE.sub("", where).strip():
        raise _unreadable()
    left = [found[1] for found in _PIECE.finditer(where)][::-1]
    try:
        kept, _ = _either(left, column)
    except (IndexError, KeyError, RecursionError) as error:
        raise _unreadable() from error
    if left:
        raise _unreadable()
    demand(kept.any(), "The recipe's where is true of no row.", "Use the recipe's table.")
    return kept


def _next_is(left: list[str], word: str) -> bool:
    """Say whether a word comes next, and take it if so."""
    return bool(left) and left[-1].lower() == word and left.pop() != ""


def _either(left: list[str], column: Callable[[str], PrivateColumn]) -> tuple[Marks, Marks]:
    """Take a condition from the pieces that are left: where it is true, and where it is false."""
    true, false = _both(left, column)
    while _next_is(left, "or"):
        other, untrue = _both(left, column)
        true, false = true | other, false & untrue
    return true, false


def _both(left: list[str], column: Callable[[str], PrivateColumn]) -> tuple[Marks, Marks]:
    true, false = _one(left, column)
    while _next_is(left, "and"):
        other, untrue = _one(left, column)
        true, false = true & other, false | untrue
    return true, false


def _one(left: list[str], column: Callable[[str], PrivateColumn]) -> tuple[Marks, Marks]:
    if _next_is(left, "not"):
        true, false = _one(left, column)
        return false, true
    if not _next_is(left, "("):
        return _one_comparison(left, column)
    found = _either(left, column)
    if not _next_is(left, ")"):
        raise _unreadable()
    return found


def _unreadable() -> BadPlan:
    return BadPlan("The recipe's where cannot be read.", remedy="Correct the condition.")


def _one_comparison(left: list[str], column: Callable[[str], PrivateColumn]) -> tuple[Marks, Marks]:
    """Take a comparison from the pieces that are left: where it is true, and where it is false."""
    name = left.pop()
    own = column(name[1:-1].replace('""', '"') if name[0] == '"' else name)
    sign = left.pop().lower()
    if sign == "is":
        turned = _next_is(left, "not")
        if left.pop().lower() != "missing":
            raise _unreadable()
        return (~own.absent, own.absent) if turned else (own.absent, ~own.absent)
    turned = sign == "not"
    sign = left.pop().lower() if turned else sign
    listed, between = sign == "in", sign == "between"
    if (listed and left.pop() != "(") or (turned and not listed and not between):
        raise _unreadable()
    values = [_written(own, left.pop())]
    if between:
        if not _next_is(left, "and"):
            raise _unreadable()
        values.append(_written(own, left.pop()))
    while listed and _next_is(left, ","):
        values.append(_written(own, left.pop()))
    if listed and left.pop() != ")":
        raise _unreadable()
    marks = [_compared(key, sign, values) for key in own.keys]
    held = np.array([*marks, False], dtype=np.bool_)[own.codes]
    known = ~own.absent
    true, false = held & known, ~held & known
    return (false, true) if turned else (true, false)


def _compared(key: Any, sign: str, values: Sequence[Any]) -> bool:
    if sign in ("in", "between"):
        return key in values if sign == "in" else bool(values[0] <= key <= values[-1])
    signs = {"=": op.eq, "<>": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}
    return bool(signs[sign](key, values[0]))


def _written(column: PrivateColumn, piece: str) -> Key:
    """Return a value of a condition as its column's kind."""
    text = piece[1:-1].replace("''", "'") if piece[0] == "'" else piece
    key = column.spelling.key(text.strip())
    what = "The recipe's where compares a column with a value of another kind."
    fits = not isinstance(key, str) if column.spelling.measured else piece[0] == "'"
    demand(fits, what, "Correct the condition.")
    return key


# What a recipe says of labels that are not true of their values: renamed here, too, or names.


def relabelled(
    recipe: Mapping[str, Any], levels: Levels, spelling_of: Callable[[str], Spelling]
) -> Levels:
    """Return the level tables with each false label as the range of its values, where asked.

    A group is written from its least to its greatest value: ``4-5``, or ``4 to 5`` or ``[4, 5]``
    where that is not read as this range.

    Examples
    --------
    >>> recipe = {"labels": {"age": "rename"}}
    >>> rows = {"age": [["4", "0-4", "*"], ["5", "0-4", "*"], ["6", "5-9", "*"]]}
    >>> relabelled(recipe, rows, lambda _: Spelling(kind="number", neutralised=False))["age"]
    [['4', '4-5', '*'], ['5', '4-5', '*'], ['6', '5-9', '*']]
    """
    found = dict(levels)
    for column, labels in section(recipe, "labels").items():
        if labels == "rename" and column in levels:
            found[column] = _renamed(levels[column], spelling_of(column))
    return found


def _renamed(lines: Sequence[Sequence[str]], spelling: Spelling) -> list[list[str]]:
    cells = [[cell.strip() for cell in line] for line in lines]
    for level in range(1, max(map(len, cells), default=0)):
        there = [line for line in cells if level < len(line)]
        members: dict[str, list[str]] = {}
        for line in there:
            if line[0]:
                members.setdefault(line[level], []).append(line[0])
        false = untrue([[line[0], line[level]] for line in there], spelling, list(members))
        instead = {label: _range(members[label], spelling) for label in false}
        for line in there:
            line[level] = instead.get(line[level], line[level])
    return cells


def _range(members: Sequence[str], spelling: Spelling) -> str:
    ordered = sorted(members, key=cast(Any, spelling.key))
    low, high = ordered[0], ordered[-1]
    ways = (f"{low}-{high}", f"{low} to {high}", f"[{low}, {high}]")

    def spans(way: str) -> bool:
        lines = [[member, way] for member in members]
        return bool(ranges_of(way, spelling)) and not untrue(lines, spelling, [way])

    return next(filter(spans, ways), ways[0])


# Names that the recipe redacts in a column's texts: the private table as it then reads.


_WORD = re.compile(r"[^\W_]+")
_HIDDEN = "[redacted]"


def without_redacted(recipe: Mapping[str, Any], terms: Terms, private: TextTable) -> TextTable:
    """Return the private table with `[redacted]` in the place of names.

    Names are the words of an identifier's distinct values that begin with a capital and have three
    letters, or hold a figure and have five characters, unless more than a fifth of the values (and
    more than one) hold them. In a text a name is written with a capital or a figure, or stands
    next to another one.

    Raises
    ------
    BadPlan
        If the recipe redacts a column that is not published as it is, or by one that is published.
    """
    hidden: dict[str, Cells] = {}
    for name, sources in section(recipe, "redacted").items():
        what = "The recipe's redacted names columns that are not so used."
        some = isinstance(sources, list | tuple) and sources and name in terms.exact
        fits = some and {*sources} <= {*terms.identifier, *terms.shown}
        demand(fits, what, "Correct the recipe's roles.")
        names = set[str]().union(*(_names_of(_texts(private, one, terms)) for one in sources))
        texts, cells = _texts(private, name, terms), private.column(name)
        shown = [
            _hide(text.strip(), names) if text.strip() in texts else text for text in cells.texts
        ]
        hidden[name] = Cells(codes=cells.codes, texts=shown)
    return private.replaced(hidden) if hidden else private


def _texts(private: TextTable, name: str, terms: Terms) -> set[str]:
    """Return the distinct texts of a column that stand for no missing value."""
    found = private.column(name).texts
    return {text.strip() for text in found} - {t.strip() for t in terms.missing_of(name)}


def _names_of(texts: set[str]) -> set[str]:
    held: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(text):
            figure = any(c.isdigit() for c in word)
            if len(word) >= (5 if figure else 3) and (figure or word[0].isupper()):
                held[word.casefold()] += 1
    return {word for word, count in held.items() if count == 1 or 5 * count <= len(texts)}


def _hide(text: str, names: set[str]) -> str:
    """Hide names from the end on, so that places stay."""
    words = [(m.start(), m.end()) for m in _WORD.finditer(text) if m[0].casefold() in names]
    hidden = set[int]()
    for number, (start, end) in enumerate(words):
        word = text[start:end]
        if word[0].isupper() or any(c.isdigit() for c in word):
            hidden.add(number)
        if number and text[words[number - 1][1] : start].strip() == "":
            hidden |= {number - 1, number}
    for number in sorted(hidden, reverse=True):
        start, end = words[number]
        text = text[:start] + _HIDDEN + text[end:]
    return text


# Sensitive columns that the recipe publishes at a level: the private table as it then reads.


#: Most choices of levels that a release is held against.
_MOST_CHOICES = 1000


def at_each_level(recipe: Mapping[str, Any], levels: Levels) -> Iterator[Mapping[str, Any]]:
    """Return the recipe with each choice of the levels that it leaves open, the least first.

    Raises
    ------
    BadPlan
        If there are too many to try.
    """
    named = section(recipe, "sensitive_levels")
    open_ = [name for name, level in named.items() if level == "search"]
    heights = [
        min((max(len(line), 2) for line in levels.get(n, ()) if line), default=1) for n in open_
    ]
    what = "The recipe leaves too many levels of sensitive columns open."
    remedy = "Use the recipe that the run has written, which names them."
    demand(math.prod(heights) <= _MOST_CHOICES, what, remedy)
    if not open_:
        yield recipe
        return
    for chosen in sorted(itertools.product(*map(range, heights)), key=sum):
        variant = {**named, **dict(zip(open_, chosen, strict=True))}
        asked = {n: v for n, v in variant.items() if n not in open_ or v}
        yield {**recipe, "sensitive_levels": asked}


def at_levels(
    recipe: Mapping[str, Any], terms: Terms, private: TextTable, levels: Levels
) -> tuple[Terms, TextTable, Levels]:
    """Return the recipe's terms, the private table and the level tables of what is to be published.

    Each value of such a column gives way to its line's label at that level, as a text; what lies
    below is gone from its level table. A missing value stays missing.

    Raises
    ------
    BadPlan
        If the recipe names no level of a sensitive column's own level table, or it lacks a value.
    """
    shown, kinds, above = dict[str, Cells](), dict(terms.kinds), dict(levels)
    for name, level in section(recipe, "sensitive_levels").items():
        what = "The recipe's sensitive_levels names a column that is not sensitive only."
        only = name in terms.sensitive and name not in terms.quasi
        demand(only, what, "Correct the recipe's roles.")
        what = "The recipe's sensitive_levels holds something other than levels from 1 up."
        demand(is_whole(level, 1), what, "Write column = 1.")
        rows = [[cell.strip() for cell in line] for line in levels.get(name, ()) if line]
        lines = _with_top(rows)
        what = f"The level table of '{name}' has no level {level}."
        demand(lines and level < min(map(len, lines)), what, _SAME_LEVELS)
        column = read_of_rows(terms, private, name)
        label = dict[int, str]()
        for line in lines:
            label.setdefault(column.code_of_text(line[0]), str(line[level]))
        label.pop(column.missing, None)
        every, what = range(len(column.keys)), f"The level table of '{name}' lacks values of the"
        demand(all(code in label for code in every), f"{what} table.", _SAME_LEVELS)
        code_of: dict[str, int] = {}
        new = [code_of.setdefault(label[c], len(code_of)) for c in every]
        codes = np.array([*new, -1], dtype=np.int64)[column.codes]
        shown[name] = Cells(codes=narrow(codes, len(code_of)), texts=list(code_of))
        kinds[name] = "text"
        above[name] = [list(line) for line in dict.fromkeys(tuple(line[level:]) for line in lines)]
    return replace(terms, kinds=kinds), private.replaced(shown) if shown else private, above
