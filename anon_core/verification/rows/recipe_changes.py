"""Values that no level table has, where the recipe says what becomes of them."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan
from anon_core.verification.findings import Check, many
from anon_core.verification.recipe import Terms, section
from anon_core.verification.rows.tables import read_of_rows
from anon_core.verification.text.cells import Cells, TextTable, narrow
from anon_core.verification.text.labels import ranges_of, untrue
from anon_core.verification.text.texts import (
    EVERYTHING,
    Key,
    PrivateColumn,
    Spelling,
)

Levels = Mapping[str, Sequence[Sequence[str]]]


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
    if rule not in ("fail", "top", "suppress"):
        raise BadPlan("[reuse] unseen must be fail, top or suppress.", remedy="Correct [reuse].")
    if rule == "fail":
        return private, levels, ()
    widened = dict(levels)
    unknown = np.zeros(len(private), dtype=np.bool_)
    for name in (*terms.quasi, *section(recipe, "sensitive_levels")):
        if not levels.get(name) or name not in private.names:
            continue
        column = read_of_rows(terms, private, name)
        listed = {column.spelling.key(line[0].strip()) for line in levels[name] if line}
        new = [code for code, key in enumerate(column.keys) if key not in listed]
        if not new or len(new) == len(column.keys):
            continue
        unknown |= np.isin(column.codes, new)
        if rule == "suppress":
            continue
        if column.spelling.measured:
            raise BadPlan(
                f"Values of '{name}' are in no level table and cannot be published as its top.",
                remedy="Use the level tables the release was made with.",
            )
        width = max(len(levels[name][0]), 2)
        top = levels[name][0][-1].strip() if len(levels[name][0]) > 1 else EVERYTHING
        own = [line if len(line) > 1 else [*line, EVERYTHING] for line in levels[name]]
        more = [[str(column.keys[code]), *[top] * (width - 1)] for code in new]
        widened[name] = [*own, *more]
    rows = int(np.count_nonzero(unknown))
    if not rows:
        return private, widened, ()
    one = rows == 1
    what = f"{'is' if one else 'are'} left out"
    if rule == "top":
        what = f"that value is published as the top of {'its' if one else 'their'} hierarchy"
    check = Check(
        name="unseen",
        holds=True,
        bound=float(len(private)),
        reached=float(rows),
        sentence=f"{many(rows, 'row', 'holds', 'hold')} a value that no hierarchy has, and {what}, "
        "as the recipe says.",
    )
    return private if rule == "top" else private.kept(~unknown), widened, (check,)


# Rows that a condition of the recipe chooses: the private table as it then is.
#
# A condition is put into the order in which it is reckoned, and then reckoned with a pile.


_PIECE = re.compile(
    r"""\s*('(?:''|[^'])*'|"(?:""|[^"])+"|<=|>=|<>|[=<>(),]|[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?!\w)"""
    r"""|[^\W\d]\w*)"""
)
_STRENGTH = {"or": 1, "and": 2, "not": 3}
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
    if not isinstance(where, str):
        raise BadPlan("The recipe's where is not a text.", remedy="Write a condition in quotes.")
    if not where.strip():
        return terms, private, ()
    names = [n for n in private.names if n in {*terms.named, *terms.published}]
    read: dict[str, PrivateColumn] = {}

    def column(name: str) -> PrivateColumn:
        if name not in private.names:
            raise BadPlan(
                f"The table has no column '{name}', which the recipe's where names.",
                remedy="Use the table the release was made with.",
            )
        if name not in read:
            read[name] = read_of_rows(terms, private, name)
        return read[name]

    kept = rows_where(where, column)
    kinds = {name: column(name).spelling.kind for name in names}
    plain: dict[str, Cells] = {}
    for name in names:
        if column(name).thousands:
            plain[name] = Cells(codes=private.column(name).codes, texts=list(column(name).texts))
    check = Check(
        name="where",
        holds=True,
        bound=float(len(private)),
        reached=float(np.count_nonzero(kept)),
        sentence=f"{np.count_nonzero(kept)} of {len(private)} rows were chosen again by the "
        "recipe's condition; what is published is true of these.",
    )
    terms = replace(terms, kinds={**kinds, **terms.kinds})
    return terms, private.replaced(plain).kept(kept), (check,)


def complete_rows(terms: Terms, private: TextTable) -> TextTable:
    """Return the rows that miss no value in a quasi-identifier or sensitive column."""
    kept = np.ones(len(private), dtype=np.bool_)
    for name in (*terms.quasi, *terms.sensitive):
        column = read_of_rows(terms, private, name)
        kept &= ~column.absent
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
    kept = _reckoned([found[1] for found in _PIECE.finditer(where)], column)
    if not kept.any():
        raise BadPlan("The recipe's where is true of no row.", remedy="Use the recipe's table.")
    return kept


def _unreadable() -> BadPlan:
    return BadPlan("The recipe's where cannot be read.", remedy="Correct the condition.")


def _reckoned(pieces: Sequence[str], column: Callable[[str], PrivateColumn]) -> Marks:
    """Return the rows of which a condition is true.

    Raises
    ------
    BadPlan
        If it cannot be read.
    """
    pile: list[tuple[Marks, Marks]] = []
    waiting: list[str] = []

    def close(strength: int) -> None:
        while waiting and waiting[-1] != "(" and _STRENGTH[waiting[-1]] >= strength:
            word = waiting.pop()
            true, false = pile.pop()
            if word == "not":
                pile.append((false, true))
            else:
                other_true, other_false = pile.pop()
                both = (true & other_true, false | other_false)
                either = (true | other_true, false & other_false)
                pile.append(both if word == "and" else either)

    at, operand = 0, True
    try:
        while at < len(pieces):
            piece = pieces[at]
            word = piece.lower()
            if operand and word in ("not", "("):
                waiting.append(word)
                at += 1
            elif operand:
                found, at = _one_comparison(pieces, at, column)
                pile.append(found)
                operand = False
            elif word in ("and", "or"):
                close(_STRENGTH[word])
                waiting.append(word)
                at, operand = at + 1, True
            elif word == ")":
                close(0)
                if waiting.pop() != "(":
                    raise _unreadable()
                at += 1
            else:
                raise _unreadable()
        close(0)
    except (IndexError, KeyError) as error:
        raise _unreadable() from error
    if operand or waiting or len(pile) != 1:
        raise _unreadable()
    return pile[0][0]


def _one_comparison(
    pieces: Sequence[str], at: int, column: Callable[[str], PrivateColumn]
) -> tuple[tuple[Marks, Marks], int]:
    """Return where the comparison that begins at a piece is true and false, and what follows."""
    name = pieces[at]
    own = column(name[1:-1].replace('""', '"') if name[0] == '"' else name)
    sign, at = pieces[at + 1].lower(), at + 2
    turned = False
    if sign == "is":
        turned = pieces[at].lower() == "not"
        at += turned
        if pieces[at].lower() != "missing":
            raise _unreadable()
        gone = own.absent
        return ((~gone, gone) if turned else (gone, ~gone)), at + 1
    if sign == "not":
        turned, sign, at = True, pieces[at].lower(), at + 1
    values: list[Any] = []
    if sign == "in":
        if pieces[at] != "(":
            raise _unreadable()
        while pieces[at] in ("(", ","):
            values.append(_written(own, pieces[at + 1]))
            at += 2
        if pieces[at] != ")":
            raise _unreadable()
        at += 1
    elif sign == "between":
        if pieces[at + 1].lower() != "and":
            raise _unreadable()
        values = [_written(own, pieces[at]), _written(own, pieces[at + 2])]
        at += 3
    elif turned:
        raise _unreadable()
    else:
        values = [_written(own, pieces[at])]
        at += 1
    marks = [_compared(key, sign, values) for key in own.keys]
    held = np.array([*marks, False], dtype=np.bool_)[own.codes]
    known = ~own.absent
    true, false = held & known, ~held & known
    return ((false, true) if turned else (true, false)), at


def _compared(key: Any, sign: str, values: Sequence[Any]) -> bool:
    first = values[0]
    ways: dict[str, Callable[[], bool]] = {
        "=": lambda: key == first,
        "<>": lambda: key != first,
        "<": lambda: key < first,
        "<=": lambda: key <= first,
        ">": lambda: key > first,
        ">=": lambda: key >= first,
        "in": lambda: key in values,
        "between": lambda: first <= key <= values[-1],
    }
    return bool(ways[sign]())


def _written(column: PrivateColumn, piece: str) -> Key:
    """Return a value of a condition as its column's kind."""
    text = piece[1:-1].replace("''", "'") if piece[0] == "'" else piece
    key = column.spelling.key(text.strip())
    odd = isinstance(key, str) if column.spelling.measured else piece[0] != "'"
    if odd:
        raise BadPlan(
            "The recipe's where compares a column with a value of another kind.",
            remedy="Correct the condition.",
        )
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
        members: dict[str, list[str]] = {}
        for line in cells:
            if level < len(line) and line[0]:
                members.setdefault(line[level], []).append(line[0])
        one_level = [[line[0], line[level]] for line in cells if level < len(line)]
        false = untrue(one_level, spelling, list(members))
        instead = {label: _range(members[label], spelling) for label in false}
        for line in cells:
            if level < len(line):
                line[level] = instead.get(line[level], line[level])
    return cells


def _range(members: Sequence[str], spelling: Spelling) -> str:
    def place(text: str) -> Key:
        return spelling.key(text)

    ordered = sorted(members, key=cast(Any, place))
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
    named = section(recipe, "redacted")
    if not named:
        return private
    hidden: dict[str, Cells] = {}
    for name, sources in named.items():
        fits = isinstance(sources, list | tuple) and sources
        if not fits or name not in terms.exact or set(sources) - {*terms.identifier, *terms.shown}:
            raise BadPlan(
                "The recipe's redacted names columns that are not so used.",
                remedy="Correct the recipe's roles.",
            )
        names = set[str]()
        for source in sources:
            names |= _names_of(_texts(private, source, terms))
        texts, cells = _texts(private, name, terms), private.column(name)
        shown = [
            _hide(text.strip(), names) if text.strip() in texts else text for text in cells.texts
        ]
        hidden[name] = Cells(codes=cells.codes, texts=shown)
    return private.replaced(hidden)


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
    if math.prod(heights) > _MOST_CHOICES:
        raise BadPlan(
            "The recipe leaves too many levels of sensitive columns open.",
            remedy="Use the recipe that the run has written, which names them.",
        )
    if not open_:
        yield recipe
        return
    choices = itertools.product(*(range(height) for height in heights))
    for chosen in sorted(choices, key=sum):
        variant = {**named, **dict(zip(open_, chosen, strict=True))}
        yield {
            **recipe,
            "sensitive_levels": {n: v for n, v in variant.items() if n not in open_ or v},
        }


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
    named = section(recipe, "sensitive_levels")
    if not named:
        return terms, private, levels
    shown, kinds, above = dict[str, Cells](), dict(terms.kinds), dict(levels)
    for name, level in named.items():
        lines = [[cell.strip() for cell in line] for line in levels.get(name, ()) if line]
        if name not in terms.sensitive or name in terms.quasi:
            raise BadPlan(
                "The recipe's sensitive_levels names a column that is not sensitive only.",
                remedy="Correct the recipe's roles.",
            )
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise BadPlan(
                "The recipe's sensitive_levels holds something other than levels from 1 up.",
                remedy="Write column = 1.",
            )
        # A single column of values has '*' above it.
        lines = [line if len(line) > 1 else [*line, "*"] for line in lines]
        if not lines or level >= min(map(len, lines)):
            raise BadPlan(
                f"The level table of '{name}' has no level {level}.",
                remedy="Use the level tables the release was made with.",
            )
        column = read_of_rows(terms, private, name)
        label = dict[int, str]()
        for line in lines:
            label.setdefault(column.code_of_text(line[0]), line[level])
        label.pop(column.missing, None)
        if any(code not in label for code in range(len(column.keys))):
            raise BadPlan(
                f"The level table of '{name}' lacks values of the table.",
                remedy="Use the level tables the release was made with.",
            )
        code_of: dict[str, int] = {}
        new = [code_of.setdefault(label[c], len(code_of)) for c in range(len(column.keys))]
        codes = np.array([*new, -1], dtype=np.int64)[column.codes]
        shown[name] = Cells(codes=narrow(codes, len(code_of)), texts=list(code_of))
        kinds[name] = "text"
        above[name] = [list(line) for line in dict.fromkeys(tuple(line[level:]) for line in lines)]
    return replace(terms, kinds=kinds), private.replaced(shown), above
