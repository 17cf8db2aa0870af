"""Parameters, declared once: the declaration validates, words the error and builds the form."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

from .errors import BadPlan, listing, nearest

Kind = Literal["integer", "number", "choice", "flag", "column", "text"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One declared parameter of a technique.

    Attributes
    ----------
    name, label, help : str
        Field name, short label for a form, one line of explanation.
    kind : {'integer', 'number', 'choice', 'flag', 'column', 'text'}
        `column` takes the name of a sensitive column, or ``""`` for what `empty` says.
    default : object
        Value used when the recipe says nothing.
    low, high : float or None
        Inclusive range for numbers.
    options : tuple of str
        Allowed values of a choice; recipes hold them as they are.
    titles : mapping of str to str
        Options in words, for forms and sentences; see `registry.option_title`.
    options_of : str
        Family of the registry that the options name, where they name techniques.
    unit : str
        What the number counts, for forms and messages.
    empty : str
        What an empty column stands for, in words.
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
    options_of: str = ""
    unit: str = ""
    empty: str = ""

    def allowed(self) -> str:
        """Return the allowed values in words, for messages and the documentation."""
        if self.kind == "choice":
            return f"one of {listing(self.options)}"
        if self.kind == "flag":
            return "true or false"
        if self.kind == "column":
            return f"the name of a sensitive column, or empty for {self.empty}"
        if self.kind == "text":
            return "any text"
        noun = "a whole number" if self.kind == "integer" else "a number"
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
        good: object | None = None
        whole = isinstance(value, int) and not isinstance(value, bool)
        if self.kind == "number" and (whole or isinstance(value, float)):
            size = cast(float, value)
            good = float(size) if abs(size) <= sys.float_info.max else None
        elif (
            (self.kind == "integer" and whole)
            or (self.kind == "choice" and value in self.options)
            or (self.kind == "flag" and isinstance(value, bool))
            or (self.kind in ("column", "text") and isinstance(value, str))
        ):
            good = value
        if good is not None and self.kind in ("integer", "number"):
            size = cast(float, good)
            if (self.low is not None and size < self.low) or (
                self.high is not None and size > self.high
            ):
                good = None
        if good is None:
            raise BadPlan(
                f"{owner}: parameter '{self.name}' is {value!r}; allowed is {self.allowed()}.",
                remedy=f"Set '{self.name}' to {self.allowed()}, for example {self.default!r}.",
            )
        return good

    def as_json(self) -> dict[str, object]:
        """Return the declaration as plain values (`list --json`)."""
        return {
            "name": self.name,
            "type": self.kind,
            "range": [self.low, self.high] if self.kind in ("integer", "number") else None,
            "options": list(self.options) or None,
            "default": self.default,
            "unit": self.unit or None,
            "help": self.help,
        }


def _declared(kind: Kind, default: object, **facts: Any) -> Any:
    return dataclasses.field(
        default=cast(Any, default), metadata={"parameter": {"kind": kind, **facts}}
    )


def integer(
    *, default: int, low: int, high: int | None = None, help: str, label: str = "", unit: str = ""
) -> Any:
    """Declare a whole-number field."""
    return _declared("integer", default, low=low, high=high, help=help, label=label, unit=unit)


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
    options_of: str = "",
) -> Any:
    """Declare a field that takes one of `options`.

    A mapping gives each option its words; `options_of` names the family of the registry whose
    titles are the words.
    """
    titles = dict(options) if isinstance(options, Mapping) else {}
    return _declared(
        "choice",
        default,
        options=tuple(options),
        titles=titles,
        options_of=options_of,
        help=help,
        label=label,
    )


def flag(*, default: bool, help: str, label: str = "") -> Any:
    """Declare a yes-or-no field."""
    return _declared("flag", default, help=help, label=label)


def text(*, help: str, label: str = "") -> Any:
    """Declare a field of free text, empty by default."""
    return _declared("text", "", help=help, label=label)


def sensitive_column(*, help: str, label: str = "", empty: str = "every sensitive column") -> Any:
    """Declare a field that names a sensitive column; `empty` says what none stands for."""
    return _declared("column", "", help=help, label=label, empty=empty)


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
        found: list[Parameter] = []
        for field in dataclasses.fields(cls):
            facts = field.metadata.get("parameter")
            if facts is not None:
                found.append(Parameter(name=field.name, default=field.default, **facts))
        return tuple(found)

    @classmethod
    def from_mapping(cls, given: Mapping[str, object]) -> Self:
        """Build the technique from a recipe's or a form's values.

        Raises
        ------
        BadPlan
            On an unknown parameter (with the nearest name) or a value out of range.
        """
        known = [p.name for p in cls.parameters()]
        for name in given:
            if name not in known:
                allowed = listing(known) if known else "no parameters"
                raise BadPlan(
                    f"{cls.name}: unknown parameter '{name}'; it has {allowed}.",
                    remedy=f"Remove or rename '{name}'.{nearest(name, known)}",
                )
        return cls(**cast(dict[str, Any], dict(given)))

    def as_mapping(self) -> dict[str, object]:
        """Return the parameters' values by name."""
        return {p.name: getattr(self, p.name) for p in self.parameters()}
