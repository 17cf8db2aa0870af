"""Finds every technique: one class in one file of its family's folder, entered by a decorator."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Literal, TypeVar, cast, get_args

from .errors import BadPlan, listing, nearest
from .params import Parameter, Technique

T = TypeVar("T", bound=type[Technique])
Family = Literal["algorithm", "partitioner", "model", "metric", "attack"]
FAMILIES: tuple[Family, ...] = get_args(Family)
_FOLDERS: dict[Family, str] = {
    "algorithm": "algorithms",
    "partitioner": "partitioners",
    "model": "models",
    "metric": "metrics",
    "attack": "attacks",
}
_found: dict[Family, dict[str, type[Technique]]] = {family: {} for family in FAMILIES}
_loaded: set[Family] = set()


def register(family: Family) -> Callable[[T], T]:
    """Return a decorator that enters a technique under its `name`.

    Raises
    ------
    ValueError
        If another class already has the name; a programming error, not an input error.
    """

    def enter(technique: T) -> T:
        before = _found[family].get(technique.name)
        # A source edit reloads modules: the same class under the same path replaces itself.
        if before is not None and _path(before) != _path(technique):
            raise ValueError(f"{family} '{technique.name}' is registered twice")
        _found[family][technique.name] = technique
        return technique

    return enter


def _path(technique: type[Technique]) -> tuple[str, str]:
    return technique.__module__, technique.__qualname__


def family(which: Family) -> dict[str, type[Technique]]:
    """Return every technique of a family by name, in alphabetical order of names."""
    if which not in _loaded:
        folder = importlib.import_module(f"{__package__}.{_FOLDERS[which]}")
        for module in pkgutil.iter_modules(folder.__path__):
            importlib.import_module(f"{folder.__name__}.{module.name}")
        _loaded.add(which)
    return dict(sorted(_found[which].items()))


def find(which: Family, name: str) -> type[Technique]:
    """Return one technique.

    Raises
    ------
    BadPlan
        If there is none of that name; lists the known names and the nearest.
    """
    known = family(which)
    if name not in known:
        raise BadPlan(
            f"Unknown {which} '{name}'; known are {listing(known)}.",
            remedy=f"Choose one of them.{nearest(name, known)}",
        )
    return known[name]


def option_title(parameter: Parameter, option: str) -> str:
    """Return an option of a choice in words: its own, the title of what it names, or its name."""
    if option in parameter.titles:
        return parameter.titles[option]
    if parameter.options_of:
        return find(cast(Family, parameter.options_of), option).title
    return option.replace("_", " ").replace("-", " ")
