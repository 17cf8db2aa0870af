"""The least level of a sensitive column at which the models can be met, tried from its values up.

Values that are alike are made one until they are diverse enough (Tian and Zhang 2011, Extending
l-diversity to generalize sensitive data). Every level is a run of its own, verified like any other:
the first that ends in a release is taken, with the level in its plan.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from anon_core.base.context import Context, part_of
from anon_core.base.errors import AnonError, BadPlan, Infeasible, NotFound, listing
from anon_core.data.hierarchy.model import LevelTable
from anon_core.recipe.plan import Plan

_T = TypeVar("_T")
Levels = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class LevelSearch:
    """What was tried of the sensitive columns whose level is searched.

    Attributes
    ----------
    levels : mapping of str to int
        By column the level that was found; 0 represents its values.
    proven : bool
        Nothing the technique could publish at any of the lower levels keeps the privacy models.
        Else a lower level was given up where the technique found nothing, which proves nothing.
    tried : tuple of (mapping of str to int, str)
        The lower levels, and how each ended: ``infeasible``, ``not found`` or ``refused``.
    """

    levels: Levels
    proven: bool
    tried: tuple[tuple[Levels, str], ...] = ()

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        clauses = [
            f"'{name}' is published at level {level} of its hierarchy"
            if level
            else f"'{name}' is published as it is"
            for name, level in self.levels.items()
        ]
        if not self.tried:
            return f"{'; '.join(clauses)}: no level had to be raised."
        why = "is infeasible" if self.proven else "gave no release, which proves nothing of them"
        return f"{'; '.join(clauses)}: every lower level {why}."


def at_least_levels(
    plan: Plan,
    hierarchies: Mapping[str, LevelTable],
    attempt: Callable[[Plan, Context], _T],
    context: Context,
) -> tuple[_T, LevelSearch]:
    """Carry out a plan at ever higher levels of its searched columns, until one gives a release.

    With several columns those of a smaller sum come first, then those that raise a later column.

    Parameters
    ----------
    attempt : callable
        Carries out a plan that names its levels.

    Returns
    -------
    tuple of (what `attempt` returned, LevelSearch)

    Raises
    ------
    BadPlan
        If a searched column has no hierarchy.
    Infeasible
        If no release at any level keeps the privacy models.
    NotFound
        If none was found, and that is open for some level.
    """
    searched = plan.searched_levels
    tried: list[tuple[Levels, str]] = []
    errors: list[AnonError] = []
    todo = combinations([_height(name, hierarchies) for name in searched])
    for place, chosen in enumerate(todo):
        levels = dict(zip(searched, chosen, strict=True))
        within = part_of(context, place / len(todo), (place + 1) / len(todo))
        try:
            found = attempt(at(plan, levels), within)
        except (Infeasible, NotFound, BadPlan) as error:
            if isinstance(error, BadPlan) and not any(chosen):
                raise  # the plan itself is wrong
            errors.append(error)
            tried.append((levels, _word(error)))
            continue
        proven = all(word != "not found" for _, word in tried)
        return found, LevelSearch(levels=levels, proven=proven, tried=tuple(tried))
    opened = [e for e in errors if isinstance(e, NotFound)]
    reason = opened[0] if opened else errors[0]
    best = reason if isinstance(reason, Infeasible | NotFound) else None
    begin = "Not found: at" if opened else "At"
    raise (NotFound if opened else Infeasible)(
        f"{begin} no level of {listing(searched)} a release "
        f"{'was found' if opened else 'satisfies the privacy models'}. "
        f"With their values as they are: {errors[0].message}",
        remedy=errors[0].remedy,
        best=best.best if best is not None else None,
        best_of=best.best_of if best is not None else "",
    )


def combinations(heights: Sequence[int]) -> list[tuple[int, ...]]:
    """Return every choice of a level per column, the least raised first.

    Examples
    --------
    >>> combinations([1, 2])
    [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (1, 2)]
    """
    return sorted(itertools.product(*(range(h + 1) for h in heights)), key=lambda c: (sum(c), c))


def at(plan: Plan, levels: Levels) -> Plan:
    """Return a plan that names the levels of its searched columns."""
    named = {n: levels.get(n, level) for n, level in plan.sensitive_levels.items()}
    return replace(plan, sensitive_levels={n: level for n, level in named.items() if level})


def _height(name: str, hierarchies: Mapping[str, LevelTable]) -> int:
    rows = hierarchies.get(name, ())
    if not rows:
        raise BadPlan(
            f"The level of '{name}' is to be searched in its hierarchy, and it has none.",
            remedy="Give it a hierarchy, or publish its values.",
        )
    return max(min(len(row) for row in rows) - 1, 1)  # a column of values has '*' above it


def _word(error: AnonError) -> str:
    if isinstance(error, NotFound):
        return "not found"
    return "infeasible" if isinstance(error, Infeasible) else "refused"
