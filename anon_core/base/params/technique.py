"""The base of everything the registry holds, and how its parameters are set."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self, cast

from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.base.params.parameter import Parameter


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
            for known in _declared(cls)
        )

    @classmethod
    def from_mapping(cls, given: Mapping[str, object]) -> Self:
        """Build the technique from a recipe's or a form's values.

        Raises
        ------
        BadPlan
            On an unknown parameter (with the nearest name) or a value out of range.
        """
        known = [p.name for p in _declared(cls)]
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
            for p in _declared(type(self))
            if not (p.quiet and getattr(self, p.name) == p.default)
        }


@cache
def _declared(kind: type[Technique]) -> tuple[Parameter, ...]:
    """Return the parameters of a class as its fields declare them, without any parts."""
    return tuple(
        Parameter(name=field.name, default=field.default, **field.metadata["parameter"])
        for field in dataclasses.fields(kind)
        if "parameter" in field.metadata
    )
