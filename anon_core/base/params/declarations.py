"""The base of everything the registry holds, and how it declares its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self, cast

from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.base.params.parameter import Kind, Parameter
from anon_core.base.params.structured_parameter import FrozenMap


def _declared(kind: Kind, default: object, **facts: Any) -> Any:
    return dataclasses.field(
        default=cast(Any, default), metadata={"parameter": {"kind": kind, **facts}}
    )


def integer(
    *,
    default: int,
    low: int,
    high: int | None = None,
    help: str,
    label: str = "",
    unit: str = "",
    quiet: bool = False,
) -> Any:
    """Declare a whole-number field; a `quiet` one is left out of recipes at its default."""
    return _declared(
        "integer", default, low=low, high=high, help=help, label=label, unit=unit, quiet=quiet
    )


def number(
    *,
    default: float,
    low: float,
    high: float | None = None,
    help: str,
    label: str = "",
    unit: str = "",
) -> Any:
    """Declare a real-number field."""
    return _declared("number", default, low=low, high=high, help=help, label=label, unit=unit)


def choice(
    *,
    default: str,
    options: Sequence[str] | Mapping[str, str],
    help: str,
    label: str = "",
    aliases: Mapping[str, str] | None = None,
    quiet: bool = False,
) -> Any:
    """Declare a field that takes one of `options`; a mapping gives each option its words.

    `aliases` are further names that come to the same as an option; a `quiet` choice is left out of
    recipes at its default.
    """
    titles = dict(options) if isinstance(options, Mapping) else {}
    return _declared(
        "choice",
        default,
        options=tuple(options),
        titles=titles,
        aliases=dict(aliases or {}),
        quiet=quiet,
        help=help,
        label=label,
    )


def nested(
    *,
    default: str,
    parts: Callable[[], Mapping[str, type[Technique]]],
    options_of: str,
    help: str,
    label: str = "",
    governed: Sequence[str] = (),
) -> Any:
    """Declare a field that holds another technique; see `registry.part`, which finds them."""
    return _declared(
        "technique",
        default,
        parts=parts,
        options_of=options_of,
        help=help,
        label=label,
        governed=tuple(governed),
    )


def text(*, default: str, help: str, label: str = "", empty: str = "", lines: bool = False) -> Any:
    """Declare a field of free text, of several lines or one; `empty` says what none represents."""
    return _declared("text", default, help=help, label=label, empty=empty, lines=lines)


def flag(*, default: bool, help: str, label: str = "") -> Any:
    """Declare a yes-or-no field."""
    return _declared("flag", default, help=help, label=label)


def by_column(*, each: Parameter, help: str, label: str, empty: str, quiet: bool = False) -> Any:
    """Declare a field with a value for single quasi-identifiers; none by default.

    `each` declares what, and `empty` says what a column that is left out represents.
    """
    facts = {"each": each, "help": help, "label": label, "empty": empty, "quiet": quiet}
    return _declared("by-column", FrozenMap[object](), **facts)


def by_value(*, each: Parameter, help: str, label: str, empty: str) -> Any:
    """Declare a field that says something of single sensitive values; of none by default.

    `each` declares what, and `empty` says what a value that is left out represents.
    """
    return _declared(
        "by-value", FrozenMap[object](), each=each, help=help, label=label, empty=empty
    )


def sets_of_columns(*, help: str, label: str, empty: str, quiet: bool = False) -> Any:
    """Declare a field of sets of columns; none by default, which represents what `empty` says."""
    return _declared("column-sets", (), help=help, label=label, empty=empty, quiet=quiet)


def quasi_columns(*, help: str, label: str, empty: str) -> Any:
    """Declare a field that names quasi-identifiers; none by default, which `empty` says."""
    return _declared("columns", (), help=help, label=label, empty=empty, quiet=True)


def private_column(*, help: str, label: str = "", empty: str = "none", quiet: bool = False) -> Any:
    """Declare a field that names a column which is not published; `empty` says what none is.

    A `quiet` one is left out of recipes where it names none.
    """
    return _declared("private-column", "", help=help, label=label, empty=empty, quiet=quiet)


def sensitive_column(*, help: str, label: str = "", empty: str = "every sensitive column") -> Any:
    """Declare a field that names a sensitive column; `empty` says what none represents."""
    return _declared("column", "", help=help, label=label, empty=empty)


def own_queries(*, help: str, label: str, empty: str) -> Any:
    """Declare a field of count queries written by hand; none by default, which `empty` says."""
    return _declared("queries", (), help=help, label=label, empty=empty, quiet=True)


@dataclass(frozen=True, kw_only=True)
class Technique:
    """Base of everything the registry holds: algorithms, models, metrics, attacks.

    Class attributes are the words the pages and the documentation show; fields declared with the
    functions of this module are the parameters.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Validate every declared parameter."""
        for parameter in self.parameters():
            value = parameter.accept(getattr(self, parameter.name), self.name)
            object.__setattr__(self, parameter.name, value)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the declared parameters in order."""
        return tuple(
            known
            if known.parts is None
            else dataclasses.replace(known, options=tuple(known.parts()))
            for known in _parameters_of(cls)
        )

    @classmethod
    def from_mapping(cls, given: Mapping[str, object]) -> Self:
        """Build the technique from a recipe's or a form's values.

        Raises
        ------
        BadPlan
            On an unknown parameter (with the nearest name) or a value out of range.
        """
        known = [p.name for p in _parameters_of(cls)]
        for name in given:
            if name not in known:
                allowed = listing(known) if known else "no parameters"
                raise BadPlan(
                    f"{cls.name}: unknown parameter '{name}'; it has {allowed}.",
                    remedy=f"Remove or rename '{name}'.{nearest(name, known)}",
                )
        return cls(**cast(dict[str, Any], dict(given)))

    def as_mapping(self) -> dict[str, object]:
        """Return the parameters' values by name, as a recipe has them."""
        return {
            p.name: p.plain(getattr(self, p.name))
            for p in _parameters_of(type(self))
            if not (p.quiet and getattr(self, p.name) == p.default)
        }


@cache
def _parameters_of(kind: type[Technique]) -> tuple[Parameter, ...]:
    """Return the parameters of a class as its fields declare them, without any parts."""
    return tuple(
        Parameter(name=field.name, default=field.default, **field.metadata["parameter"])
        for field in dataclasses.fields(kind)
        if "parameter" in field.metadata
    )
