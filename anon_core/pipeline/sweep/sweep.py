"""One plan carried out many times on one table: every combination of what a sweep varies."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from anon_core.base.context import Context, silent
from anon_core.base.errors import AnonError, Cancelled
from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.table import Dataset
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.runner import run
from anon_core.pipeline.search.shared_search import with_best_levels
from anon_core.pipeline.sweep.points import Point, refused_point, released_point
from anon_core.pipeline.sweep.variations import (
    Choices,
    Value,
    Variation,
    combinations,
    model_at,
    told,
    varied,
)
from anon_core.recipe.plan import Plan

#: Bytes of published tables that the points of one sweep keep; further points keep figures only.
MOST_KEPT_BYTES = 400 * 2**20


@dataclass(frozen=True, kw_only=True)
class Varied:
    """What a sweep varies.

    Attributes
    ----------
    variations : tuple of Variation
    settings : mapping of str to mapping
        Parameters of techniques other than the plan's own, by name; else their defaults.
    """

    variations: tuple[Variation, ...]
    settings: Mapping[str, Mapping[str, Any]]


def sweep(
    plan: Plan,
    over: Varied,
    dataset: Dataset,
    hierarchies: Mapping[str, LevelTable] | None = None,
    *,
    population: Dataset | None = None,
    earlier: Dataset | None = None,
    context: Context | None = None,
    found: Callable[[Point], object] | None = None,
    keep: bool = True,
) -> list[Point]:
    """Carry out a plan for every combination of what is varied.

    Parameters
    ----------
    dataset, hierarchies, population, earlier
        As for `run`; the table is encoded once.
    context : Context, optional
        For progress and cancel.
    found : callable, optional
        Informed of each point as it comes.
    keep : bool
        Whether points keep their runs, as far as `MOST_KEPT_BYTES` goes.

    Returns
    -------
    list of Point
        In the order of `combinations`. A combination that gives no release is a point too, which
        says why.

    Raises
    ------
    BadPlan
        If what is varied is no part of the plan.
    Cancelled
        If the person stopped it.

    Notes
    -----
    The optimal search may choose its levels for all sizes at once (`with_best_levels`); every point
    is a run of its own all the same, verified like any other.
    """
    work = _Sweep(plan, over, (dataset, hierarchies, population, earlier), context or Context())
    points: list[Point] = []
    todo = combinations(over.variations)
    for place, choices in enumerate(todo):
        work.context.report(place / len(todo), told(choices))
        point = work.point(choices)
        point = point if keep else replace(point, result=None)
        points.append(point)
        if found is not None:
            found(point)
    return points


class _Sweep:
    """What the points of one sweep share."""

    def __init__(
        self,
        plan: Plan,
        over: Varied,
        inputs: tuple[Dataset, Mapping[str, LevelTable] | None, Dataset | None, Dataset | None],
        context: Context,
    ) -> None:
        self.plan, self.over, self.context = plan, over, context
        self.inputs = inputs
        self.fit = EncodedOnce()
        self.kept = 0
        self.size, self.sizes = self._size()
        self._at_once: dict[str, Mapping[int, Plan]] = {}

    def point(self, choices: Choices) -> Point:
        """Carry out one combination."""
        began = time.perf_counter()
        notes: tuple[str, ...] = ()
        quiet = replace(self.context, progress=silent)
        dataset, levels, people, earlier = self.inputs
        try:
            asked, notes = varied(self.plan, choices, self.over.settings)
            size = choices.get(self.size) if self.size else None
            known = self._best_levels(choices, asked).get(size) if isinstance(size, int) else None
            result = run(
                known or asked,
                dataset,
                levels,
                population=people,
                earlier=earlier,
                context=quiet,
                fit=self.fit,
            )
        except Cancelled:
            raise
        except AnonError as error:
            return refused_point(choices, error, notes, time.perf_counter() - began)
        point = released_point(choices, result, notes, time.perf_counter() - began)
        self.kept += point.bytes
        return point if self.kept <= MOST_KEPT_BYTES else replace(point, result=None)

    def _size(self) -> tuple[str, tuple[int, ...]]:
        """Return the path of the size of classes that is varied, and its values."""
        for one in self.over.variations:
            if one.path.startswith("models.") and all(isinstance(v, int) for v in one.values):
                model = self.plan.models[model_at(self.plan, one.path)]
                if one.path.split(".")[-1] == model.size_parameter:
                    return one.path, tuple(v for v in one.values if isinstance(v, int))
        return "", ()

    def _best_levels(self, choices: Choices, asked: Plan) -> Mapping[int, Plan]:
        """Return the plans of all sizes whose levels one pass over the lattice chooses."""
        others: dict[str, Value] = {p: v for p, v in choices.items() if p != self.size}
        key = repr(others)
        if key not in self._at_once:
            dataset, levels, people, _ = self.inputs
            quiet = replace(self.context, progress=silent)
            try:
                self._at_once[key] = with_best_levels(
                    asked, self.sizes, dataset, levels, people, quiet, self.fit
                )
            except Cancelled:
                raise
            except AnonError:  # each point says for itself what is wrong
                self._at_once[key] = {}
        return self._at_once[key]
