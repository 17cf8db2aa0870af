"""Where generalization and suppression apply: the classification of Samarati (2008, slide 33).

Attribute generalization (AG) raises whole columns, tuple suppression (TS) removes rows, attribute
suppression (AS) blanks columns. Each is the full lattice with some levels left out, so one search
serves them all; what changes single cells (CG, CS) is no search of a lattice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from anon_core.base.errors import BadPlan, brief
from anon_core.base.params import choice
from anon_core.data.hierarchy import Hierarchy
from anon_core.release.problem import Problem

#: The models that are a choice of levels for whole columns.
LEVEL_MODELS = ("AG_TS", "AG", "TS", "AS")

#: Samarati's matrix: which combinations exist, and which come to the same.
MATRIX: Mapping[str, str] = {
    "AG_TS": "distinct",
    "AG_AS": "equivalent to AG",
    "AG_CS": "distinct",
    "AG": "equivalent to AG_AS",
    "CG_TS": "not applicable",
    "CG_AS": "not applicable",
    "CG_CS": "equivalent to CG",
    "CG": "equivalent to CG_CS",
    "TS": "distinct",
    "AS": "distinct",
    "CS": "distinct",
    "none": "not interesting",
}


def transformation_choice() -> Any:
    """Declare the parameter; every search of the lattice has the same."""
    return choice(
        default="AG_TS",
        options={
            "AG_TS": "levels and rows (AG_TS)",
            "AG": "levels only (AG)",
            "TS": "rows only (TS)",
            "AS": "whole columns (AS)",
        },
        help="Levels of columns are raised, rows are suppressed within the budget, whole columns "
        "are blanked; where no rows may go the budget plays no part.",
        label="What may be changed",
        # The top of a hierarchy blanks the column (Samarati 2008, slide 33).
        aliases={"AG_AS": "AG"},
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Restricted:
    """A problem whose hierarchies have only the levels that a model allows.

    Attributes
    ----------
    problem : Problem
        What is searched.
    levels : tuple of tuples of int
        Per attribute, the level of the original hierarchy behind each level of the searched one.
    removes_rows : bool
        Whether rows may be suppressed at all.
    """

    problem: Problem
    levels: tuple[tuple[int, ...], ...]
    removes_rows: bool

    @property
    def complete(self) -> bool:
        """Whether every level is left, so that nodes have the same names on both sides."""
        return all(kept == tuple(range(len(kept))) for kept in self.levels)

    def searched(self, node: tuple[int, ...]) -> tuple[int, ...]:
        """Return a node of the original hierarchies in the searched lattice.

        Raises
        ------
        ValueError
            If it has a level that is not searched.
        """
        return tuple(kept.index(n) for kept, n in zip(self.levels, node, strict=True))

    def original(self, node: tuple[int, ...]) -> tuple[int, ...]:
        """Return a node of the searched lattice by the levels of the original hierarchies."""
        return tuple(kept[n] for kept, n in zip(self.levels, node, strict=True))


def removes_rows(model: str) -> bool:
    """Say whether a model of `LEVEL_MODELS` removes rows at all."""
    return model in ("AG_TS", "TS")


def restricted(problem: Problem, model: str) -> Restricted:
    """Leave the levels that a model of `LEVEL_MODELS` allows, and so do the problem's bounds.

    Levels below those that the table was counted at are left out, too.

    Raises
    ------
    BadPlan
        If the model needs exact values, and the table was counted at coarser levels. If it allows
        no level of a column within its bounds.
    """
    if problem.floors and model in ("TS", "AS"):
        raise BadPlan(
            "Only rows or whole columns may be removed, so that all other cells are exact, and the "
            "table was counted at coarser levels.",
            remedy="Let levels be raised, with transformation = 'AG_TS'.",
        )
    of_model = tuple(_of_model(h.height, model) for h in problem.quasi_hierarchies)
    levels = tuple(
        _within_bounds(problem, h.column, own)
        for h, own in zip(problem.quasi_hierarchies, of_model, strict=True)
    )
    searched = problem
    if model in ("TS", "AS"):  # prices, too, are those of the levels that the model has
        kept = _kept(problem, of_model)
        searched = replace(problem, hierarchies={**problem.hierarchies, **kept})
    if problem.floors or problem.level_bounds:
        searched = replace(searched, searched=_kept(problem, levels))
    people = problem.population
    if people is not None and people.hierarchies and levels != _every(problem):
        wide = {
            name: _with_levels(people.hierarchies[name], own)
            for name, own in zip(problem.quasi, levels, strict=True)
        }
        searched = replace(searched, population=replace(people, hierarchies=wide))
    return Restricted(problem=searched, levels=levels, removes_rows=removes_rows(model))


def _of_model(height: int, model: str) -> tuple[int, ...]:
    if model == "TS":
        return (0,)
    if model == "AS":
        return (0, height) if height else (0,)
    return tuple(range(height + 1))


def _within_bounds(problem: Problem, column: str, levels: tuple[int, ...]) -> tuple[int, ...]:
    """Return the levels of a column that lie within its bounds, and were counted.

    Raises
    ------
    BadPlan
        If there is none.
    """
    least, most = problem.level_bounds.get(column, (0, levels[-1]))
    counted = problem.floors.get(column, 0)
    found = tuple(n for n in levels if max(least, counted) <= n <= most)
    if found:
        return found
    if counted > most:
        raise BadPlan(
            f"The highest level of '{column}' is {most}, and the table was counted from level "
            f"{counted} on, since finer ones do not fit into memory.",
            remedy="Raise the highest level, or give the run more memory.",
        )
    raise BadPlan(
        f"'{column}' has no level from {least} to {most} where only rows or whole columns may be "
        f"removed: the levels are then {brief(list(levels))}.",
        remedy="Let levels be raised, with transformation = 'AG_TS', or move the bounds.",
    )


def _every(problem: Problem) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(range(h.height + 1)) for h in problem.quasi_hierarchies)


def _kept(problem: Problem, levels: tuple[tuple[int, ...], ...]) -> dict[str, Hierarchy]:
    return {
        h.column: _with_levels(h, own)
        for h, own in zip(problem.quasi_hierarchies, levels, strict=True)
    }


def _with_levels(hierarchy: Hierarchy, levels: tuple[int, ...]) -> Hierarchy:
    return replace(
        hierarchy,
        starts=tuple(hierarchy.starts[i] for i in levels),
        labels=tuple(hierarchy.labels[i] for i in levels),
    )
