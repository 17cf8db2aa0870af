"""A place of a recipe, and what is there, in the words of the pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.params import Parameter
from anon_core.base.registry import Family, family, find, option_title
from anon_core.recipe.plan import Plan

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result
    from anon_core.recipe.reuse import Gate

#: Sections of techniques → family, and what one of them is called.
_LISTS: dict[str, tuple[Family, str]] = {
    "models": ("model", "Privacy model"),
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
    "weight": "Weight of rows",
}
_SECTIONS = {
    "data": "Reading",
    "types": "Type of",
    "hierarchies": "Hierarchy of",
    "labels": "Labels of",
    "level_bounds": "Lowest and highest level of",
    "sensitive_levels": "Published level of",
    "population": "Population",
    "earlier": "Earlier release",
    "engine": "Engine",
    "export": "Export",
    "accept": "Accepted",
}
_COPY = re.compile(r" \((\d+)\)$")


def place(path: Sequence[str], techniques: Sequence[str] = ()) -> str:
    """Return where something is in a recipe, as a page names it.

    Parameters
    ----------
    path : sequence of str
        Section, and the keys below it; privacy models, metrics and attacks by their names.
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
    if section == "level_bounds" and len(rest) > 1:
        return f"{'Lowest' if rest[1] == 'least' else 'Highest'} level of {rest[0]!r}"
    if section in _SECTIONS:
        head = _SECTIONS[section]
        if head.endswith(" of"):
            return f"{head} {', '.join(repr(name) for name in rest)}" if rest else f"{head} columns"
        return ": ".join([head, *(_spaced(name) for name in rest)])
    return ": ".join(_spaced(name) for name in path)


def value(path: Sequence[str], entry: object, techniques: Sequence[str] = ()) -> object:
    """Return what is at a place of a recipe, as a page names it; a number stays one.

    Parameters
    ----------
    path : sequence of str
        As `place` takes it.
    entry : object
        What the recipe has there.
    techniques : sequence of str
        Techniques that may be meant by ``algorithm``.

    Examples
    --------
    >>> value(("algorithm", "name"), "mondrian"), value(("roles", "quasi"), ["age", "sex"])
    ('Mondrian', 'age, sex')
    """
    section, *rest = path or ("",)
    if section == "algorithm" and rest == ["name"] and isinstance(entry, str):
        return family("algorithm")[entry].title if entry in family("algorithm") else entry
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if isinstance(entry, str):
        kind, names, keys = _owner(section, rest, techniques)
        for name in names:
            for parameter in _parameters(kind, name):
                if (
                    keys in ([parameter.name], [parameter.name, "name"])
                    and entry in parameter.options
                ):
                    return option_title(parameter, entry)
        return entry
    if isinstance(entry, list | tuple):
        return ", ".join(str(value((), one)) for one in cast(Sequence[object], entry)) or "none"
    if isinstance(entry, Mapping):
        pairs = cast(Mapping[object, object], entry).items()
        return ", ".join(f"{_spaced(str(name))} {value((), one)}" for name, one in pairs) or "none"
    return entry


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


# A decided recipe on another table, in plain words: what is carried out, and how it came out.


_UNSEEN = {
    "fail": "A value missing from its hierarchy stops the run.",
    "top": "Values missing from their hierarchy are published as its top.",
    "suppress": "Rows with a value missing from its hierarchy are left out and reported.",
}


def decided_levels(plan: Plan) -> dict[str, int]:
    """Return the level of each column that a recipe decides; empty where it decides none."""
    parameter = plan.algorithm.needs.levels_parameter
    if plan.reuse.mode != "fixed" or not parameter:
        return {}
    return dict(cast(Mapping[str, int], getattr(plan.algorithm, parameter)))


def reused(plan: Plan) -> list[str]:
    """Return what a decided recipe does on a table, in sentences; none for other recipes."""
    if plan.reuse.mode != "fixed":
        return []
    levels = decided_levels(plan)
    named = ", ".join(f"{name} {level}" for name, level in levels.items())
    drawn = "Random choices are drawn again." if plan.draws else ""
    what = f"Decided levels, not searched: {named}."
    if plan.algorithm.needs.earlier_parts:
        what = "Decided parts, not searched: those of the earlier release."
    found = [what, _UNSEEN[plan.reuse.unseen], drawn]
    return [sentence for sentence in found if sentence]


def asked(gate: Gate) -> str:
    """Return what a gate asks for."""
    if gate.kind == "rows":
        return f"At least {gate.least:.4g} of the table's rows are published"
    limit = f"at least {gate.least:g}" if gate.least is not None else f"at most {gate.most:g}"
    at = "" if gate.kind == "metric" else ", at worst" if gate.at == "worst" else ", on average"
    return f"{find(cast(Any, gate.kind), gate.name).title}{at}: {limit}"


def gates(plan: Plan, result: Result) -> list[tuple[str, float | None, bool]]:
    """Return every gate of a plan: its limit, its figure, and whether a result passes.

    The figure that is nearest to a miss; None where nothing was measured, which is a miss.
    """
    found: list[tuple[str, float | None, bool]] = []
    for gate in plan.accept:
        figures = gate.figures(result.reached)
        worst = None
        if figures:
            worst = min(figures) if gate.least is not None else max(figures)
        found.append((asked(gate), worst, not gate.broken_by(result.reached)))
    return found
