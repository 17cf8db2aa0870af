"""Finds every technique: one class in one file of its family's folder, entered by a decorator."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar, cast, get_args

from anon_core.base.errors import AnonError, BadPlan, listing, nearest
from anon_core.base.params import Parameter, Technique, nested

T = TypeVar("T", bound=type[Technique])
Family = Literal["algorithm", "partitioner", "model", "metric", "attack", "change"]
FAMILIES: tuple[Family, ...] = get_args(Family)
_FOLDERS: dict[Family, str] = {
    "algorithm": "techniques.algorithms",
    "partitioner": "techniques.partitioners",
    "model": "techniques.models",
    "metric": "techniques.metrics",
    "attack": "techniques.attacks",
    "change": "techniques.changes",
}
#: What the file of a technique says that a run uses only where its recipe names it.
_ASKED_FOR = re.compile(rb"^    use: ClassVar\[\w+\] = \w+\([^)]*\bby_default=False", re.MULTILINE)
#: What `register` asks of every class; the contract tests ask for `formula` and `source` as well.
_REQUIRED = ("name", "title", "summary")
_found: dict[Family, dict[str, type[Technique]]] = {family: {} for family in FAMILIES}
_loaded: set[Family] = set()
#: Families whose files are imported that every run uses; each file is read once to tell them.
_loaded_by_default: set[Family] = set()


def register(family: Family) -> Callable[[T], T]:
    """Return a decorator that enters a technique under its `name`.

    Raises
    ------
    AnonError
        By the decorator, with the file and the name: if the family is unknown, a class attribute
        that every technique needs is missing or empty, or another class already has the name.
    """

    def enter(technique: T) -> T:
        where = f"{_file(technique)}: {technique.__qualname__}"
        if family not in _found:
            raise AnonError(
                f"{where} is registered as '{family}'; families are {listing(FAMILIES)}.",
                remedy=f"Register it as one of them.{nearest(family, FAMILIES)}",
            )
        for attribute in _REQUIRED:
            text = getattr(technique, attribute, None)
            if not isinstance(text, str) or not text.strip():
                found = "empty" if text == "" else "missing" if text is None else "no text"
                raise AnonError(
                    f"{where}: the class attribute '{attribute}' of this {family} is {found}.",
                    remedy=f'Write {attribute}: ClassVar[str] = "…" into the class.',
                )
        before = _found[family].get(technique.name)
        # A source edit reloads modules: the same class under the same path replaces itself.
        if before is not None and _path(before) != _path(technique):
            raise AnonError(
                f"{where}: the {family} '{technique.name}' is registered twice; the other is "
                f"{before.__qualname__} in {_file(before)}.",
                remedy="Give one of them another name.",
            )
        _found[family][technique.name] = technique
        return technique

    return enter


def _file(technique: type[Technique]) -> str:
    """Return the file that a class is in; its module where that came from none."""
    module = sys.modules.get(technique.__module__)
    return getattr(module, "__file__", None) or technique.__module__


def _path(technique: type[Technique]) -> tuple[str, str]:
    return technique.__module__, technique.__qualname__


def family(which: Family) -> dict[str, type[Technique]]:
    """Return every technique of a family by name, in alphabetical order of names.

    Raises
    ------
    AnonError
        If a privacy model has no second computation: no release that requires it could be
        verified.
    """
    if which not in _loaded:
        folder = importlib.import_module(f"anon_core.{_FOLDERS[which]}")
        for module in pkgutil.iter_modules(folder.__path__):
            importlib.import_module(f"{folder.__name__}.{module.name}")
        _loaded.add(which)
    if which == "model":
        _refuse_unverifiable(_found["model"])
    return dict(sorted(_found[which].items()))


def by_default(which: Family, named: Collection[str] = ()) -> dict[str, type[Technique]]:
    """Return the techniques of a family that every run uses, and those named, by name.

    Files whose class says that it is asked for are not imported, which takes a third of the time of
    a small run.
    """
    if which not in _loaded:
        for name in named:
            if name not in _found[which]:
                _in_its_file(which, name)
        if which not in _loaded_by_default:
            folder = importlib.import_module(f"anon_core.{_FOLDERS[which]}")
            for module in pkgutil.iter_modules(folder.__path__):
                if not _is_asked_for(folder, module.name):
                    importlib.import_module(f"{folder.__name__}.{module.name}")
            _loaded_by_default.add(which)
    found = cast(list[tuple[str, Any]], sorted(_found[which].items()))
    return {name: kind for name, kind in found if name in named or kind.use.by_default}


def _is_asked_for(folder: ModuleType, name: str) -> bool:
    """Say whether a technique's file declares that it is run only where it is named."""
    return any(
        _ASKED_FOR.search(source.read_bytes()) is not None
        for place in folder.__path__
        if (source := Path(place, f"{name}.py")).is_file()
    )


def _refuse_unverifiable(models: Mapping[str, type[Technique]]) -> None:
    """Refuse models without a second computation, which a registry of its own holds."""
    verification = importlib.import_module("anon_core.verification.registry")
    known = cast(Mapping[str, object], verification.second_computations())
    for name, model in models.items():
        if name not in known:
            raise AnonError(
                f"The model '{name}' ({model.__module__}) has no second computation, so no release "
                "that requires it could be verified.",
                remedy="Write it into a file of anon_core/verification/models/; CONTRIBUTING.md "
                "shows how.",
            )


def find(which: Family, name: str) -> type[Technique]:
    """Return one technique; the others of its family need not be imported for it.

    Raises
    ------
    BadPlan
        If there is none of that name; lists the known names and the nearest.
    AnonError
        As `family` does.
    """
    one = _found[which].get(name)
    if one is None and which not in _loaded:
        one = _in_its_file(which, name)
    if one is not None:
        if which == "model":
            _refuse_unverifiable({name: one})
        return one
    known = family(which)
    if name not in known:
        raise BadPlan(
            f"Unknown {which} '{name}'; known are {listing(known)}.",
            remedy=f"Choose one of them.{nearest(name, known)}",
        )
    return known[name]


def _in_its_file(which: Family, name: str) -> type[Technique] | None:
    """Return what the file named after a technique holds, None where there is none."""
    folder = importlib.import_module(f"anon_core.{_FOLDERS[which]}")
    stem = name.replace("-", "_")
    if all(module.name != stem for module in pkgutil.iter_modules(folder.__path__)):
        return None
    importlib.import_module(f"{folder.__name__}.{stem}")
    return _found[which].get(name)


def part(
    *,
    default: str,
    families: Sequence[Family],
    fits: Callable[[type[Technique]], bool],
    help: str,
    label: str,
    governed: Sequence[str] = (),
) -> Any:
    """Declare a field that holds another technique: one of those that `fits` says yes to.

    Parameters
    ----------
    default : str
        Its name; it is offered first.
    families : sequence of str
        Where they are looked for; of two with one name, that of the family named first.
    fits : callable
        Asks a class what it is, so that a technique added later is offered too.
    governed : sequence of str, optional
        Parameters of it that the owner sets.
    """

    def parts() -> dict[str, type[Technique]]:
        found: dict[str, type[Technique]] = {}
        for which in families:
            for name, kind in family(which).items():
                if name not in found and fits(kind):
                    found[name] = kind
        return {default: found[default], **found}

    return nested(
        default=default,
        parts=parts,
        options_of=families[0],
        help=help,
        label=label,
        governed=governed,
    )


def option_title(parameter: Parameter, option: str) -> str:
    """Return an option of a choice in words: its own, the title of what it names, or its name."""
    if option in parameter.titles:
        return parameter.titles[option]
    if parameter.parts is not None:
        return parameter.part(option).title
    return option.replace("_", " ").replace("-", " ")
