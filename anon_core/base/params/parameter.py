"""One declared parameter: what it allows, and the value it makes of what a recipe says."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from anon_core.base.errors import BadPlan, brief, listing, nearest
from anon_core.base.params.structured_parameter import (
    FrozenMap,
    column_sets,
    columns,
    limits,
    plain_queries,
    queries,
)

Kind = Literal[
    "integer",
    "number",
    "choice",
    "flag",
    "column",
    "private-column",
    "technique",
    "level",
    "limits",
    "by-column",
    "by-value",
    "columns",
    "column-sets",
    "queries",
    "text",
]
#: Characters of a text at most.
MOST_LETTERS = 100_000
_WHOLE = ("integer", "level")
#: Tables, by what their keys name.
_TABLES = {"by-column": "quasi-identifiers", "by-value": "values of sensitive columns"}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One declared parameter of a technique.

    Attributes
    ----------
    name, label, help : str
        Field name, short label for a form, one line of explanation.
    kind : {'integer', 'number', 'choice', 'flag', 'column', 'private-column', 'technique', \
            'level', 'limits', 'by-column', 'by-value', 'columns', 'column-sets', \
            'queries', 'text'}
        `column` takes the name of a sensitive column, or ``""`` for what `empty` says, and
        `private-column` that of a column which is not published.
        `technique` takes the name of another technique, or a table with its name and parameters;
        `level` a level of a hierarchy, from 0; `limits` a table with ``low`` or ``high``, or both;
        `by-column` a table of quasi-identifiers, each with a value as `each` declares it,
        `by-value` one of values of sensitive columns,
        `columns` a list of quasi-identifiers, `column-sets` a list of lists of published columns,
        and `queries` a list of tables, each with columns and what a row must show in them: a table
        with ``low`` or ``high``, or both, or a list of values.
    default : object
        Value used when the recipe says nothing.
    low, high : float or None
        Inclusive range for numbers.
    options : tuple of str
        Allowed values of a choice or names of techniques; recipes hold them as they are.
    titles : mapping of str to str
        Options in words, for forms and sentences; see `registry.option_title`.
    aliases : mapping of str to str
        Further names of options that a recipe may use: they come to the same.
    options_of : str
        Family of the registry that the techniques are of; where they are of several, the first.
    parts : callable or None
        Gives the techniques that may be named, by name.
    governed : tuple of str
        Parameters of such a technique that its owner sets, and a recipe cannot.
    unit : str
        What the number counts, for forms and messages.
    empty : str
        What an empty column, or a column that is left out, represents, in words.
    each : Parameter or None
        What every column of `by-column`, or value of `by-value`, takes.
    quiet : bool
        Left out of recipes where it has its default: what a technique learned later changes no
        recipe, and no draw that depends on one.
    lines : bool
        A text of several lines.
    """

    name: str
    kind: Kind
    default: object
    help: str
    label: str = ""
    low: float | None = None
    high: float | None = None
    options: tuple[str, ...] = ()
    titles: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    options_of: str = ""
    parts: Callable[[], Mapping[str, type[Any]]] | None = None
    governed: tuple[str, ...] = ()
    unit: str = ""
    empty: str = ""
    each: Parameter | None = None
    quiet: bool = False
    lines: bool = False

    def allowed(self) -> str:
        """Return the allowed values in words, for messages and the documentation."""
        if self.kind == "choice":
            return f"one of {listing(self.options)}"
        if self.kind == "technique":
            return f"one of {listing(self.options, most=40)}, or a table with its name"
        if self.kind == "flag":
            return "true or false"
        if self.kind == "column":
            return f"the name of a sensitive column, or empty for {self.empty}"
        if self.kind == "private-column":
            return f"the name of a column that is not published, or empty for {self.empty}"
        if self.kind == "text":
            return f"a text of at most {MOST_LETTERS:,} characters"
        if self.kind == "limits":
            return "a table with low or high, or both: numbers, or dates as texts"
        if self.kind in _TABLES:
            each = self.each.allowed() if self.each is not None else ""
            return f"a table of {_TABLES[self.kind]}, each with {each}"
        if self.kind == "columns":
            return f"a list of quasi-identifiers, none twice, or none for {self.empty}"
        if self.kind == "column-sets":
            return "a list of lists of columns, none of them twice"
        if self.kind == "queries":
            return "a list of tables of columns, each with a list of values, or with low or high"
        noun = "a whole number" if self.kind in _WHOLE else "a number"
        if self.low is not None and self.high is not None:
            return f"{noun} from {self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{noun} of at least {self.low:g}"
        return noun

    def accept(self, value: object, owner: str) -> object:
        """Return `value` in the parameter's own type.

        Raises
        ------
        BadPlan
            If it has another type or lies outside the range; the message says what is allowed.
        """
        if self.kind == "technique":
            return self._part(value, owner)
        if self.kind in _TABLES:
            return self._table(value, owner)
        if self.kind == "choice" and isinstance(value, str):
            value = self.aliases.get(value, value)
        good: object | None = None
        whole = isinstance(value, int) and not isinstance(value, bool)
        if self.kind == "number" and (whole or isinstance(value, float)):
            size = cast(float, value)
            good = float(size) if abs(size) <= sys.float_info.max else None
        elif (
            (self.kind in _WHOLE and whole)
            or (self.kind == "choice" and value in self.options)
            or (self.kind == "flag" and isinstance(value, bool))
            or (self.kind in ("column", "private-column") and isinstance(value, str))
            or (self.kind == "text" and isinstance(value, str) and len(value) <= MOST_LETTERS)
        ):
            good = value
        elif self.kind == "columns":
            good = columns(value)
        elif self.kind == "column-sets":
            good = column_sets(value)
        elif self.kind == "queries":
            good = queries(value)
        elif self.kind == "limits":
            good = limits(value)
        if good is not None and self.kind in (*_WHOLE, "number"):
            size = cast(float, good)
            if (self.low is not None and size < self.low) or (
                self.high is not None and size > self.high
            ):
                good = None
        if good is None:
            raise self._refused(value, owner)
        return good

    def named(self, value: object) -> str:
        """Return the name of the technique that a recipe's or a form's value chooses."""
        if isinstance(value, Mapping):
            return str(cast(Mapping[str, object], value).get("name", ""))
        return str(getattr(value, "name", value))

    def part(self, value: object) -> type[Any]:
        """Return the class of the technique that a recipe's or a form's value chooses."""
        return (self.parts or dict)()[self.named(value)]

    def plain(self, value: object) -> object:
        """Return an accepted value as a recipe has it: texts, numbers, lists and tables."""
        if self.kind in _TABLES:
            each = cast(Parameter, self.each)
            return {k: each.plain(v) for k, v in cast(Mapping[str, object], value).items()}
        if self.kind == "limits":
            return dict(cast(Mapping[str, object], value))
        if self.kind == "columns":
            return list(cast(tuple[str, ...], value))
        if self.kind == "column-sets":
            return [list(names) for names in cast(tuple[tuple[str, ...], ...], value)]
        if self.kind == "queries":
            return plain_queries(value)
        if self.kind != "technique":
            return value
        made = cast(Any, value)
        own = {k: v for k, v in made.as_mapping().items() if k not in self.governed}
        usual = {p.name: p.plain(getattr(type(made)(), p.name)) for p in made.parameters()}
        return made.name if own.items() <= usual.items() else {"name": made.name, **own}

    def _table(self, value: object, owner: str) -> FrozenMap[object]:
        """Return the values for single columns or values, in the type that `each` declares."""
        if not isinstance(value, Mapping):
            raise self._refused(value, owner)
        given, each = cast(Mapping[object, object], value), cast(Parameter, self.each)
        if not all(isinstance(key, str) and key for key in given):
            raise self._refused(value, owner)
        return FrozenMap(
            {
                str(key): replace(each, name=f"{self.name}.{key}").accept(setting, owner)
                for key, setting in given.items()
            }
        )

    def _part(self, value: object, owner: str) -> Any:
        """Return the technique that a name, a table with its parameters, or itself represents."""
        known, name = (self.parts or dict)(), self.named(value)
        if not isinstance(value, str | Mapping) and not isinstance(value, known.get(name, ())):
            raise self._refused(value, owner)
        if name not in known:
            raise self._refused(value, owner)
        if not isinstance(value, str | Mapping):
            return cast(Any, value)
        given = dict(cast(Mapping[str, object], value)) if isinstance(value, Mapping) else {}
        given.pop("name", None)
        place = f"{owner}: {self.name}"
        for key in given:
            if key in self.governed:
                raise BadPlan(
                    f"{place}: '{key}' of '{name}' is set by '{owner}' itself.",
                    remedy=f"Remove '{key}' from {self.name}.",
                )
        try:
            return known[name].from_mapping(given)
        except BadPlan as error:
            raise BadPlan(
                f"{place}: {error.message}", remedy=error.remedy, values=error.values
            ) from error

    def _refused(self, value: object, owner: str) -> BadPlan:
        example = self.default if self.kind == "technique" else self.plain(self.default)
        hint = nearest(value, self.options) if isinstance(value, str) and self.options else ""
        return BadPlan(
            f"{owner}: parameter '{self.name}' is {brief(value)}; allowed is {self.allowed()}.",
            remedy=f"Set '{self.name}' to {self.allowed()}, for example {example!r}.{hint}",
        )

    def as_json(self) -> dict[str, object]:
        """Return the declaration as plain values (`list --json`)."""
        return {
            "name": self.name,
            "type": self.kind,
            "range": [self.low, self.high] if self.kind in (*_WHOLE, "number") else None,
            "options": list(self.options) or None,
            "aliases": dict(self.aliases) or None,
            "options_of": self.options_of or None,
            "each": self.each.as_json() if self.each is not None else None,
            "default": self.default if self.parts is not None else self.plain(self.default),
            "unit": self.unit or None,
            "help": self.help,
        }
