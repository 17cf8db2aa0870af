"""Changes of a recipe that may mend what it is refused with, as one click each.

A change is no guarantee: anyone who offers it tries it first, by making the plan or carrying it
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from anon_core.base.errors import AnonError, Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, met_first
from anon_core.contracts.model import GroupModel

#: What is allowed to be suppressed where nothing was, and the parameter that says so.
_SHARE, BUDGET = 0.05, "max_suppression"
#: What the best value of a refusal is counted in, where a size can be set to it.
_SIZES = ("rows", "people")


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of a recipe.

    Attributes
    ----------
    label : str
        What it does, for a button.
    tables : mapping of str to object
        The tables of the recipe that take the place of the present ones.
    note : str
        What is to be known of it.
    about : {'', 'size', 'budget', 'model'}
        Of changes about one thing, one is offered.
    leaves_out : str
        The quasi-identifier that it leaves out of the release.
    """

    label: str
    tables: Mapping[str, Any]
    note: str = ""
    about: str = ""
    leaves_out: str = ""


def changes(recipe: Mapping[str, Any], error: AnonError | None = None) -> Iterator[Change]:
    """Return changes that may mend a recipe, those nearest to it first.

    Parameters
    ----------
    recipe : mapping
        As a session or a file has it.
    error : AnonError, optional
        What it was refused with.
    """
    algorithm: Mapping[str, Any] = recipe["algorithm"]
    models: Sequence[Mapping[str, Any]] = recipe.get("models", [])
    kinds = cast(Mapping[str, type[Algorithm]], family("algorithm"))
    known = {n: m for n, m in family("model").items() if issubclass(m, GroupModel)}
    technique = kinds.get(str(algorithm["name"]))
    yield from _bounds(recipe.get("level_bounds") or {}, error)
    yield from _sizes(models, known, error)
    if technique is not None:
        yield from _budget(algorithm, technique, error)
        own = {p.name: p.default for p in technique.parameters()}
        if any(own.get(name, value) != value for name, value in algorithm.items()):
            yield Change(
                label=f"Use the default settings of {technique.title}",
                tables={"algorithm": {"name": technique.name}},
            )
    for name in met_first():
        if name != algorithm["name"]:
            yield Change(
                label=f"Choose {_the(kinds[name].title)}", tables={"algorithm": {"name": name}}
            )
    yield from _models(models, known)


def _bounds(bounds: Mapping[str, Mapping[str, int]], error: AnonError | None) -> Iterator[Change]:
    """Lift one bound on levels where these leave nothing, or all where they cannot be kept."""
    if isinstance(error, Infeasible | NotFound):
        for name, ends in bounds.items():
            for end in ends:
                left = {n: level for n, level in ends.items() if n != end}
                tables = {n: left if n == name else dict(e) for n, e in bounds.items()}
                which = "lowest" if end == "least" else "highest"
                yield Change(
                    label=f"Lift the {which} level of '{name}'",
                    tables={"level_bounds": {n: e for n, e in tables.items() if e}},
                )
    elif bounds:
        yield Change(label="Remove the lowest and highest levels", tables={"level_bounds": {}})


def _sizes(
    models: Sequence[Mapping[str, Any]],
    known: Mapping[str, type[GroupModel]],
    error: AnonError | None,
) -> Iterator[Change]:
    """Ask for as large a class as can be had, where the refusal says how large that is."""
    if not isinstance(error, Infeasible | NotFound) or error.best is None:
        return
    if error.best_of not in _SIZES or error.best < 2 or not float(error.best).is_integer():
        return
    least = int(error.best)
    asked = [
        (place, known[m["name"]].size_parameter)
        for place, m in enumerate(models)
        if m["name"] in known and known[m["name"]].size_parameter
    ]
    large = [(at, name) for at, name in asked if int(models[at].get(name, 0)) > least]
    if large:
        made = [dict(model) for model in models]
        for at, name in large:
            made[at][name] = least
        named = ", ".join(dict.fromkeys(f"{name} = {least:,}" for _, name in large))
        yield Change(label=f"Set {named}", tables={"models": made}, about="size")


def _budget(
    algorithm: Mapping[str, Any], technique: type[Algorithm], error: AnonError | None
) -> Iterator[Change]:
    if error is not None and not isinstance(error, Infeasible | NotFound):
        return
    default = next((p.default for p in technique.parameters() if p.name == BUDGET), None)
    if default is None or float(cast(float, algorithm.get(BUDGET, default))) >= _SHARE:
        return
    yield with_budget(algorithm, _SHARE)


def with_budget(algorithm: Mapping[str, Any], share: float) -> Change:
    """Return the change that lets a technique suppress another share of rows."""
    return Change(
        label=f"Allow {100 * share:.3g}% of rows to be suppressed",
        tables={"algorithm": {**algorithm, BUDGET: share}},
        about="budget",
    )


def without(recipe: Mapping[str, Any], column: str) -> Change:
    """Return the change that leaves a quasi-identifier out, with all that names it."""
    roles: Mapping[str, Any] = recipe["roles"]
    kinds = cast(Mapping[str, type[Algorithm]], family("algorithm"))
    algorithm = dict(recipe["algorithm"])
    technique = kinds.get(str(algorithm["name"]))
    named = technique.needs.levels_parameter if technique is not None else ""
    if named and named in algorithm:
        algorithm[named] = {n: level for n, level in algorithm[named].items() if n != column}
    tables: dict[str, Any] = {
        "roles": {**roles, "quasi": [n for n in roles["quasi"] if n != column]},
        "algorithm": algorithm,
    }
    for table in ("level_bounds", "hierarchies", "labels"):
        if column in recipe.get(table, {}):
            tables[table] = {n: own for n, own in recipe[table].items() if n != column}
    return Change(label=f"Leave out '{column}'", tables=tables, leaves_out=column)


def _models(
    models: Sequence[Mapping[str, Any]], known: Mapping[str, type[GroupModel]]
) -> Iterator[Change]:
    """Replace a privacy model by another that stops the same, or leave it out."""
    taken = {str(model["name"]) for model in models}
    for place, model in enumerate(models):
        present = known.get(str(model["name"]))
        if present is None:
            continue
        if len(models) > 1:
            yield Change(
                label=f"Remove {present.title}",
                tables={"models": [dict(m) for at, m in enumerate(models) if at != place]},
                about="model",
            )
        for name, other in known.items():
            if name in taken or other.aim.stops != present.aim.stops:
                continue
            made = [dict(m) for m in models]
            made[place] = {"name": name}
            own, theirs = present.size_parameter, other.size_parameter
            if own and theirs and own in model:
                made[place][theirs] = model[own]
            yield Change(
                label=f"Replace it with {other.title}", tables={"models": made}, about="model"
            )


def _the(title: str) -> str:
    """Return a technique's title as it is in a button: a search has an article."""
    return f"the {title[:1].lower()}{title[1:]}" if title.endswith("search") else title
