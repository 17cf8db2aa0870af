"""Which rows of a table a condition chooses: ``sex = 'F' and (age > 30 or zip is missing)``.

The condition is the `where` of a recipe's ``[data]``. Values are read as their column's kind, and
what depends on a missing value is unknown: as in SQL, only rows stay for which it is true.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1
from anon_core.base.errors import BadPlan, InputChanged, brief, clipped, listing, nearest
from anon_core.data.column import Column
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS, a_kind

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<quoted>\"(?:[^\"]|\"\")+\")"
    r"|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<word>[^\W\d]\w*)|(?P<sign><=|>=|<>|[=<>(),]))"
)
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_KEYWORDS = frozenset({"and", "or", "not", "in", "between", "is", "missing"})
#: Characters of a condition, and brackets and negations within each other.
_LONGEST, _DEEPEST = 10_000, 100
_FORM = "column = 'text', <>, <, <=, >, >=, in (…), between … and …, is missing; and, or, not, ( )"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One comparison of a column with what is written.

    Attributes
    ----------
    sign : str
        One of ``= <> < <= > >=``, ``in``, ``between`` or ``missing``.
    values : tuple of (str, bool)
        Each as it is written, and whether in quotes.
    place : int
        Where it begins in the condition, from 1.
    """

    column: str
    sign: str
    values: tuple[tuple[str, bool], ...]
    place: int


#: A comparison, or what joins conditions: ``and``, ``or``, ``not``.
Node = Comparison | tuple[str, tuple["Node", ...]]
#: Of each row or value: for which the condition is true, and for which it is false.
_Truth = tuple[B1, B1]


@dataclass(frozen=True, kw_only=True)
class _Token:
    kind: str
    text: str
    place: int


class _Parser:
    """Reads a condition, token by token."""

    def __init__(self, condition: str) -> None:
        self._tokens = _tokens(condition)
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        found = self._or()
        if self._next.kind != "end":
            raise _unread(self._next)
        return found

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _took(self, *texts: str) -> bool:
        token = self._next
        own = token.text.lower() if token.kind == "word" else token.text
        if token.kind in ("word", "sign") and own in texts:
            self._at += 1
            return True
        return False

    def _need(self, text: str) -> None:
        if not self._took(text):
            raise _unread(self._next, f"'{text}'")

    def _or(self) -> Node:
        return self._joined("or", self._and)

    def _and(self) -> Node:
        return self._joined("and", self._not)

    def _joined(self, word: str, each: Callable[[], Node]) -> Node:
        parts = [each()]
        while self._took(word):
            parts.append(each())
        return parts[0] if len(parts) == 1 else (word, tuple(parts))

    def _not(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _bad(self._next.place, f"it has more than {_DEEPEST} brackets in each other")
        if self._took("not"):
            found: Node = ("not", (self._not(),))
        elif self._took("("):
            found = self._or()
            self._need(")")
        else:
            found = self._compared()
        self._depth -= 1
        return found

    def _compared(self) -> Node:
        token = self._next
        if token.kind not in ("word", "quoted") or _is_keyword(token):
            raise _unread(token, "a column")
        self._at += 1
        name = token.text
        if self._took("is"):
            negated = self._took("not")
            self._need("missing")
            return _negated(
                negated, Comparison(column=name, sign="missing", values=(), place=token.place)
            )
        negated = self._took("not")
        sign, values = self._right(token)
        if negated and sign not in ("in", "between"):
            raise _unread(token, "'in' or 'between' behind 'not'")
        found = Comparison(column=name, sign=sign, values=tuple(values), place=token.place)
        return _negated(negated, found)

    def _right(self, before: _Token) -> tuple[str, Sequence[tuple[str, bool]]]:
        if self._took("in"):
            self._need("(")
            values = [self._value()]
            while self._took(","):
                values.append(self._value())
            self._need(")")
            return "in", values
        if self._took("between"):
            low = self._value()
            self._need("and")
            return "between", [low, self._value()]
        for sign in _SIGNS:
            if self._took(sign):
                return sign, [self._value()]
        if self._next.text == "(":
            raise _bad(
                before.place,
                f"'{clipped(before.text, 60)}' is not a column: functions are not read",
            )
        raise _unread(self._next, "a comparison")

    def _value(self) -> tuple[str, bool]:
        token = self._next
        if token.kind not in ("text", "number"):
            hint = "a number, or a text in single quotes"
            raise _unread(token, hint)
        self._at += 1
        return token.text, token.kind == "text"


def _negated(negated: bool, found: Node) -> Node:
    return ("not", (found,)) if negated else found


def _is_keyword(token: _Token) -> bool:
    return token.kind == "word" and token.text.lower() in _KEYWORDS


def _tokens(condition: str) -> list[_Token]:
    found: list[_Token] = []
    at, end = 0, len(condition.rstrip())
    while at < end:
        match = _TOKEN.match(condition, at)
        if match is None or match.lastgroup is None:
            rest = condition[at:].lstrip()
            place = len(condition) - len(rest) + 1
            what = "a quote stays open" if rest[:1] in "'\"" else f"{brief(rest[:1])} is not read"
            raise _bad(place, what)
        kind = match.lastgroup
        text = match[kind]
        if kind in ("text", "quoted"):
            text = text[1:-1].replace(text[0] * 2, text[0])
        found.append(_Token(kind=kind, text=text, place=match.start(kind) + 1))
        at = match.end()
    return [*found, _Token(kind="end", text="", place=end + 1)]


def _bad(place: int, what: str) -> BadPlan:
    return BadPlan(
        f"[data] where cannot be read at character {place}: {what}.",
        remedy=f"Allowed are {_FORM}. Texts are in single quotes, odd names of columns in double "
        "ones.",
    )


def _unread(token: _Token, wanted: str = "and, or, or the end") -> BadPlan:
    found = (
        "the end"
        if token.kind == "end"
        else "a text"
        if token.kind == "text"
        else brief(token.text)
    )
    return _bad(token.place, f"{wanted} is expected and {found} was found")


def parsed(condition: str) -> Node:
    """Return a condition taken apart.

    Raises
    ------
    BadPlan
        Naming the character at which it cannot be read.

    Examples
    --------
    >>> parsed("age > 30").sign, parsed("not x = 'A' or y is missing")[0]
    ('>', 'or')
    """
    if len(condition) > _LONGEST:
        raise _bad(_LONGEST + 1, f"it has {len(condition):,} characters, {_LONGEST:,} are allowed")
    return _Parser(condition).whole()


def columns_of(condition: str) -> tuple[str, ...]:
    """Return the columns that a condition names, each once; none of an empty one."""
    return (
        tuple(dict.fromkeys(one.column for one in _comparisons(parsed(condition))))
        if condition.strip()
        else ()
    )


def _comparisons(node: Node) -> list[Comparison]:
    if isinstance(node, Comparison):
        return [node]
    return [one for part in node[1] for one in _comparisons(part)]


def compared(column: Column, sign: str, values: Sequence[str]) -> str:
    """Return the text of a comparison of a column with values of its kind.

    Parameters
    ----------
    sign : str
        One of ``= <> < <= > >=``, ``in``, ``is missing`` or ``is not missing``.

    Examples
    --------
    >>> from anon_core.data.column import encode
    >>> import numpy as np
    >>> ward = encode("the ward", np.zeros(1, dtype=np.int32), ["O'Hara"])
    >>> print(compared(ward, "in", ["O'Hara", "B"]))
    "the ward" in ('O''Hara', 'B')
    """
    plain = re.fullmatch(r"[^\W\d]\w*", column.name) and column.name.lower() not in _KEYWORDS
    name = column.name if plain else '"' + column.name.replace('"', '""') + '"'
    bare = column.kind == "number"
    literals = [v.strip() if bare else "'" + v.replace("'", "''") + "'" for v in values]
    if sign == "in":
        return f"{name} in ({', '.join(literals)})"
    return " ".join([name, sign, *literals])


def chosen(dataset: Dataset, condition: str) -> B1:
    """Return the rows of a table of which a condition is true, shape (rows,).

    Raises
    ------
    BadPlan
        If it cannot be read, or compares a column with what is not of its kind.
    InputChanged
        If the table has no such column.
    """
    gone = [name for name in columns_of(condition) if name not in dataset.names]
    if gone:
        raise InputChanged(
            f"The table has no column {listing(gone)}, which [data] where names; it has "
            f"{listing(dataset.names)}.",
            remedy=f"Correct the condition.{nearest(gone[0], dataset.names)}",
        )
    return _truth(parsed(condition), dataset)[0]


def _truth(node: Node, dataset: Dataset) -> _Truth:
    if isinstance(node, Comparison):
        column = dataset.column(node.column)
        holds, fails = _of_values(node, column)
        return holds[column.codes], fails[column.codes]
    word, parts = node
    found = [_truth(part, dataset) for part in parts]
    if word == "not":
        return found[0][1], found[0][0]
    both: tuple[Callable[..., npt.NDArray[np.bool_]], ...] = (np.logical_and, np.logical_or)
    holds, fails = both if word == "and" else both[::-1]
    true, false = found[0]
    for more_true, more_false in found[1:]:
        true, false = holds(true, more_true), fails(false, more_false)
    return true, false


def _of_values(one: Comparison, column: Column) -> _Truth:
    """Return what a comparison says of each value of a column; the last is the missing one."""
    size = len(column.values)
    holds = np.zeros(size + 1, dtype=np.bool_)
    if one.sign == "missing":
        holds[-1] = True
        return holds, ~holds
    said = [_read(value, quoted, one, column) for value, quoted in one.values]
    keys = [_key(column.kind, value) for value in column.values]
    for code, key in enumerate(keys):
        holds[code] = _is_so(key, one.sign, said)
    fails = ~holds
    fails[-1] = False  # unknown
    return holds, fails


def _is_so(key: object, sign: str, said: Sequence[object]) -> bool:
    own: Any = key
    first: Any = said[0]
    if sign == "in":
        return key in said
    if sign == "between":
        last: Any = said[1]
        return bool(first <= own <= last)
    return bool(_SIGNS[sign](own, first))


def _key(kind: str, text: str) -> object:
    """Return what a value is compared by: a number exactly, a day or moment by its place."""
    if kind == "number":
        return Decimal(text.strip().replace(",", "."))
    read = KINDS[kind].read
    return text if read is None else read(text)


def _read(text: str, quoted: bool, one: Comparison, column: Column) -> object:
    """Return a written value as its column's kind.

    Raises
    ------
    BadPlan
        If it is of another kind.
    """
    read = KINDS[column.kind].read
    if read is None:
        if not quoted:
            raise _other_kind(
                one, column, f"{text} is a number", f"Write '{text}' in single quotes."
            )
        return text.strip()
    if read(text) != read(text):
        raise _other_kind(
            one, column, "the value it is compared with is not one", "Compare it with one."
        )
    return _key(column.kind, text)


def _other_kind(one: Comparison, column: Column, found: str, remedy: str) -> BadPlan:
    return BadPlan(
        f"[data] where, character {one.place}: '{clipped(column.name)}' holds "
        f"{KINDS[column.kind].several or 'texts'}, and {found}.",
        remedy=f"{remedy} Or declare the column under [types] as {a_kind('text')} or another kind.",
    )


def filtered(dataset: Dataset, condition: str) -> Dataset:
    """Return a table with the rows that a condition chooses; counts those that are outside.

    Raises
    ------
    BadPlan
        If no row is left; and as `chosen` does.
    """
    if not condition.strip():
        return dataset
    kept = chosen(dataset, condition)
    rows = int(np.count_nonzero(kept))
    if not rows:
        raise BadPlan(
            f"The condition of [data] where is true of none of the {dataset.rows:,} rows.",
            remedy="Correct the condition, or leave it out.",
        )
    return dataset.chosen(kept)
