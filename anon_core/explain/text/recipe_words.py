"""A place of a recipe, and what stands there, in the words of the pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from anon_core.base.params import Parameter
from anon_core.base.registry import Family, family, option_title

#: Sections of techniques → family, and what one of them is called.
_LISTS: dict[str, tuple[Family, str]] = {
    "models": ("model", "Promise"),
    "metrics": ("metric", "Metric"),
    "attacks": ("attack", "Attack"),
}
_ROLES = {
    "identifier": "Identifiers",
    "quasi": "Quasi-identifiers",
    "sensitive": "Sensitive columns",
    "insensitive": "Insensitive columns",
    "person": "Column that names the person",
    "household": "Column that names the household",
}
_SECTIONS = {
    "data": "Reading",
    "types": "Type of",
    "hierarchies": "Hierarchy of",
    "labels": "Labels of",
    "sensitive_levels": "Published level of",
    "population": "Population",
    "earlier": "Earlier release",
    "engine": "Engine",
    "export": "Export",
    "accept": "Accepted",
}
_COPY = re.compile(r" \((\d+)\)$")


def place(path: Sequence[str], techniques: Sequence[str] = ()) -> str:
    """Return where something stands in a recipe, as a page names it.

    Parameters
    ----------
    path : sequence of str
        Section, and the keys below it; promises, metrics and attacks by their names.
    techniques : sequence of str
        Techniques that may be meant by ``algorithm``.

    Examples
    --------
    >>> place(("models", "k-anonymity", "k")), place(("algorithm", "name"))
    ('k-anonymity: k', 'Technique')
    >>> place(("roles", "quasi")), place(("hierarchies", "age"))
    ('Quasi-identifiers', "Hierarchy of 'age'")
    """
    section, *rest = path
    if section == "algorithm" and rest:
        return "Technique" if rest == ["name"] else _label("algorithm", techniques, rest)
    if section in _LISTS and rest:
        kind, one = _LISTS[section]
        copy = _COPY.search(rest[0])
        name = _COPY.sub("", rest[0])
        known = family(kind).get(name)
        title = (name if known is None else known.title) + (copy.group() if copy else "")
        return f"{one}: {title}" if len(rest) == 1 else f"{title}: {_label(kind, [name], rest[1:])}"
    if section == "roles" and rest:
        return _ROLES.get(rest[0], rest[0])
    if section in _SECTIONS:
        head = _SECTIONS[section]
        if head.endswith(" of"):
            return f"{head} {', '.join(repr(name) for name in rest)}" if rest else f"{head} columns"
        return ": ".join([head, *(_spaced(name) for name in rest)])
    return ": ".join(_spaced(name) for name in path)


def value(path: Sequence[str], told: object, techniques: Sequence[str] = ()) -> object:
    """Return what stands at a place of a recipe, as a page names it; a number stays one.

    Parameters
    ----------
    path : sequence of str
        As `place` takes it.
    told : object
        What the recipe has there.
    techniques : sequence of str
        Techniques that may be meant by ``algorithm``.

    Examples
    --------
    >>> value(("algorithm", "name"), "mondrian"), value(("roles", "quasi"), ["age", "sex"])
    ('Mondrian', 'age, sex')
    """
    section, *rest = path
    if section == "algorithm" and rest == ["name"] and isinstance(told, str):
        return family("algorithm")[told].title if told in family("algorithm") else told
    if isinstance(told, bool):
        return "yes" if told else "no"
    if isinstance(told, str):
        kind, names, keys = _owner(section, rest, techniques)
        for name in names:
            for parameter in _parameters(kind, name):
                if (
                    keys in ([parameter.name], [parameter.name, "name"])
                    and told in parameter.options
                ):
                    return option_title(parameter, told)
        return told
    if isinstance(told, list | tuple):
        return ", ".join(str(value((), one)) for one in cast(Sequence[object], told)) or "none"
    if isinstance(told, Mapping):
        pairs = cast(Mapping[object, object], told).items()
        return ", ".join(f"{_spaced(str(name))} {value((), one)}" for name, one in pairs) or "none"
    return told


def _owner(
    section: str, rest: Sequence[str], techniques: Sequence[str]
) -> tuple[Family, Sequence[str], list[str]]:
    """Return the family, the techniques and the keys within them that a place may be of."""
    if section in _LISTS and rest:
        return _LISTS[section][0], [_COPY.sub("", rest[0])], list(rest[1:])
    return "algorithm", techniques if section == "algorithm" else (), list(rest)


def _label(kind: Family, names: Sequence[str], keys: Sequence[str]) -> str:
    """Return a setting by the label that its technique declares, with what is named below it."""
    for name in names:
        for parameter in _parameters(kind, name):
            if parameter.name == keys[0]:
                below = [_spaced(key) for key in keys[1:] if keys[1:] != ["name"]]
                return ": ".join([parameter.label or _spaced(keys[0]), *below])
    return ": ".join(_spaced(key) for key in keys)


def _parameters(kind: Family, name: str) -> Sequence[Parameter]:
    known = family(kind).get(name)
    return () if known is None else known.parameters()


def _spaced(key: str) -> str:
    return key.replace("_", " ")
