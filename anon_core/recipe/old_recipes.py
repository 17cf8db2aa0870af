"""Recipes as they were written before: what changed since, put as it is written now.

A change of what recipes say is a step here, under a version of its own: raise `VERSION` and give
the step the version before it. `anon_core/verification/` has the version, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from anon_core.base import secret
from anon_core.base.errors import BadPlan, brief

#: The version of the recipes that are written; one that names none is of version 1.
#: 3 is read as 2 is: it may hold [[confirmed]]; a table that needs it is refused with the lines.
VERSION = 3


@dataclass(frozen=True, kw_only=True)
class _Step:
    """What changed in recipes of a version and those before it.

    Attributes
    ----------
    until : int
        The last version that was written the old way.
    renew : callable
        Renews the recipe's tables in place, and returns a note; empty where nothing changed.
    """

    until: int
    renew: Callable[[dict[str, Any]], str]


def renewed(recipe: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a recipe's tables as they are written now, and a note of everything that changed.

    What is no recipe is returned as it is: the plan says what is wrong with it.

    Raises
    ------
    BadPlan
        If the recipe is of a newer version, or its version is none.

    Examples
    --------
    >>> renewed({"algorithm": {"name": "optimal"}})[0]["version"]
    3
    >>> old = {"name": "genetic", "metric": "classification", "labels": "illness"}
    >>> renewed({"algorithm": old})[0]["algorithm"]["metric"]
    {'name': 'classification', 'column': 'illness'}
    >>> old = {"name": "mondrian", "weights": "age = 2 | sex = 0.5"}
    >>> renewed({"algorithm": old})[0]["algorithm"]["weights"]
    {'age': 2.0, 'sex': 0.5}
    """
    version = _version(recipe)
    found = dict(recipe) | {"version": VERSION}
    if isinstance(recipe.get("algorithm"), Mapping):
        found["algorithm"] = dict(cast(Mapping[str, Any], recipe["algorithm"]))
    due = (step for step in _STEPS if version <= step.until)
    return found, tuple(note for step in due if (note := step.renew(found)))


def _version(recipe: Mapping[str, Any]) -> int:
    version = recipe.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise BadPlan(
            f"The recipe's version is {brief(version)}.",
            remedy=f"Write version = {VERSION} in its first line; without one it counts as 1.",
        )
    if version > VERSION:
        raise BadPlan(
            f"The recipe is of version {version}; this workbench reads versions 1 to {VERSION}.",
            remedy="Use the workbench that wrote it, or a newer one.",
        )
    return version


def _of_algorithm(renew: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
    """Return a step that renews the algorithm's table, where there is one."""

    def step(recipe: dict[str, Any]) -> str:
        given = recipe.get("algorithm")
        return renew(cast(dict[str, Any], given)) if isinstance(given, dict) else ""

    return step


def _insensitive(recipe: dict[str, Any]) -> str:
    """What no role names was published as it is; no one says so any more, so it is left out."""
    roles = recipe.get("roles")
    if not isinstance(roles, Mapping) or "insensitive" in roles:
        return ""
    return (
        "[roles] insensitive: columns that no role names used to be published "
        "unchanged, and are now left out. Mark those that you still want to publish as "
        "insensitive."
    )


def _seed(recipe: dict[str, Any]) -> str:
    """Any whole number was a seed; it stays, since the release of then is made of it."""
    try:
        found = secret.parse(recipe["seed"]) < secret.ENOUGH if "seed" in recipe else False
    except BadPlan:  # the plan says so
        return ""
    if not found:
        return ""
    return (
        "seed: this one can be found by trying, so nothing random starts from it any more. Remove "
        "it, and every run draws a secret."
    )


def _labels(algorithm: dict[str, Any]) -> str:
    """Labels were a parameter of the search; they are the metric's."""
    if "labels" not in algorithm or algorithm.get("name") not in _BY_LABELS:
        return ""
    column, metric = algorithm.pop("labels"), algorithm.get("metric")
    if column and metric == "classification":
        algorithm["metric"] = {"name": metric, "column": column}
    return "[algorithm] labels is the column of the classification metric: [algorithm.metric]."


def _tables(algorithm: dict[str, Any]) -> str:
    """Values for single columns, and sets of columns, were one text with signs of its own."""
    renewed: list[str] = []
    for parameter, read in _READ.items():
        text = algorithm.get(parameter)
        found = _columns(text, read) if isinstance(text, str) else None
        if found is not None:  # else the plan says what is allowed
            algorithm[parameter] = found
            renewed.append(parameter)
    text = algorithm.get("sets")
    if isinstance(text, str):
        parts = [[n.strip() for n in part.split("+") if n.strip()] for part in text.split("|")]
        algorithm["sets"] = [part for part in parts if part]
        renewed.append("sets")
    named = ", ".join(renewed)
    return f"[algorithm] {named}: a table or list instead of a text." if named else ""


def _columns(text: str, read: Callable[[str], object]) -> dict[str, object] | None:
    """Return what ``age = 2 | sex = 1`` says; None where it is not written like that."""
    found: dict[str, object] = {}
    for part in filter(str.strip, text.split("|")):
        name, sign, value = (piece.strip() for piece in part.rpartition("="))
        try:
            parsed = read(value)
        except ValueError:
            return None
        if not sign or not name or name in found:
            return None
        found[name] = parsed
    return found


def _limits(text: str) -> dict[str, object]:
    """Return what ``18..80`` or ``..60`` says; a number keeps the way it was written.

    Raises
    ------
    ValueError
        If there is no ``..``.
    """
    low, high = (end.strip() for end in text.split(".."))
    return {key: _number(end) for key, end in (("low", low), ("high", high)) if end}


def _number(text: str) -> object:
    """Return a number that is written as `str` writes it, or else the text."""
    for kind in (int, float):
        try:
            if str(kind(text)) == text:
                return kind(text)
        except ValueError:
            continue
    return text


_READ: Mapping[str, Callable[[str], object]] = {"weights": float, "levels": int, "limits": _limits}
_BY_LABELS = ("annealing", "genetic", "k-optimize")
_STEPS = (
    _Step(until=1, renew=_insensitive),
    _Step(until=1, renew=_seed),
    _Step(until=1, renew=_of_algorithm(_labels)),
    _Step(until=1, renew=_of_algorithm(_tables)),
)
