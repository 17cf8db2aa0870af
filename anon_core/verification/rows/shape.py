"""What a release looks like, as the recipe tells it: no technique is known here by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from anon_core.base.errors import BadPlan, brief, listing

_ALLOWED: Mapping[str, tuple[object, ...]] = {
    "tables": (1, 2),
    "linked": ("rows", "nothing", "roles", "sets"),
    "insensitive_with": ("quasi", "sensitive"),
    "cells": ("coarsened", "exact", "averaged"),
    "levels": ("any", "one"),
    "tails": ("none", "coded"),
    "rows": ("all", "drawn"),
}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What the recipe's [release] says; what it leaves out is what asks for most.

    Attributes
    ----------
    tables : int
        1, or 2: the quasi-identifiers and the sensitive columns, joined by the group.
    linked : str
        What stays linked: whole rows; or, where columns are permuted apart within published
        groups, nothing, the columns of each role, or sets of columns.
    insensitive_with : str
        Which role the insensitive columns stand with.
    sets : tuple of tuples of str
        The sets of columns that stay linked; empty where the run formed them.
    cells : str
        Whether quasi-identifiers are coarsened, exact, or averages of numbers.
    levels : str
        Whether the cells of a column stand at one level of its hierarchy, or at any.
    tails : str
        Whether the smallest and largest values may be coded as ≤ and ≥ a limit.
    rows : str
        Whether all rows are published but for a budget of suppression, or a sample is drawn of
        which any classes may be left out.
    """

    tables: int = 1
    linked: str = "rows"
    insensitive_with: str = "quasi"
    sets: tuple[tuple[str, ...], ...] = ()
    cells: str = "coarsened"
    levels: str = "any"
    tails: str = "none"
    rows: str = "all"

    @property
    def permuted(self) -> bool:
        """Whether columns are permuted apart within published groups."""
        return self.linked != "rows"


def read_shape(told: Mapping[str, Any]) -> Shape:
    """Read the recipe's [release].

    Raises
    ------
    BadPlan
        If it says something else than a release can look like.
    """
    for key, allowed in _ALLOWED.items():
        found = told.get(key, allowed[0])
        if isinstance(found, bool) or found not in allowed:
            raise BadPlan(
                f"The recipe's [release] {key} is {brief(found)}; allowed are "
                f"{listing(str(a) for a in allowed)}.",
                remedy="Remove [release]: it follows from the technique.",
            )
    sets = told.get("sets", [])
    parts = cast(list[object], sets) if isinstance(sets, list) else [sets]
    if not all(isinstance(part, list) for part in parts):
        raise BadPlan("The recipe's sets are no list of lists.", remedy='Write [["a", "b"]].')
    found = Shape(
        **{key: told[key] for key in _ALLOWED if key in told},
        sets=tuple(tuple(str(n) for n in part) for part in cast(list[list[object]], parts)),
    )
    whole_or_exact = ("coarsened", "averaged") if not found.permuted else ("coarsened", "exact")
    if found.cells not in whole_or_exact or (found.tables > 1 and found.cells != "exact"):
        raise BadPlan(
            f"The recipe's [release] names {found.cells} cells in {found.tables} "
            f"{'table' if found.tables == 1 else 'tables'} with linked = '{found.linked}', which "
            "cannot be recomputed.",
            remedy="Remove [release]: it follows from the technique.",
        )
    return found


def completed(recipe: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe with what it leaves out of kinds, technique, promises and release.

    What it says itself stands, but for the release: that follows from the technique.
    """
    models = recipe.get("models")
    own = cast(list[object], models) if isinstance(models, list) else []
    return {
        **recipe,
        "types": {**_table(told.get("types")), **_table(recipe.get("types"))},
        "data": {**_table(recipe.get("data")), **_found(told)},
        "algorithm": {**told["algorithm"], **_table(recipe.get("algorithm"))},
        "models": [
            {**full, **_table(given)} for full, given in zip(told["models"], own, strict=True)
        ],
        "release": dict(told["release"]),
    }


def _found(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return which kinds of columns nobody declared: a run has found them out."""
    data = _table(told.get("data"))
    return {key: data[key] for key in ("kinds_found",) if key in data}


def _table(given: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], given) if isinstance(given, Mapping) else {}
