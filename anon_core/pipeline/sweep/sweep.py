"""One plan carried out many times on one table; levels are searched once for all sizes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from anon_core.base.context import Context, silent
from anon_core.base.errors import AnonError, Cancelled
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm, by_levels
from anon_core.contracts.metric import headline
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.table import Dataset
from anon_core.methods.lattice.lattice import layout_of
from anon_core.methods.lattice.nodes import rows_allowed
from anon_core.methods.lattice.recoding_models import restricted
from anon_core.methods.lattice.size_sweep import size_sweep
from anon_core.pipeline.prepare import EncodedOnce, prepare
from anon_core.pipeline.runner import Fit, run
from anon_core.pipeline.sweep.points import Point, refused_point, released_point
from anon_core.pipeline.sweep.variations import (
    Choices,
    Value,
    Variation,
    choice_words,
    combinations,
    model_at,
    varied,
)
from anon_core.recipe.plan import Plan
from anon_core.release.problem import Problem

#: Keys of the table times nodes up to which the pass takes seconds at most.
_MOST_WALKED = 500_000_000
#: So many searches by a metric of cells take longer than the pass; by one of sizes, a single does.
_PAYS = 8


def with_best_levels(
    plan: Plan,
    ks: Sequence[int],
    table: Dataset,
    levels: Mapping[str, LevelTable] | None,
    people: Dataset | None,
    context: Context,
    fit: Fit = prepare,
) -> Mapping[int, Plan]:
    """Return, for each k, a plan whose levels are chosen as the optimal search would choose them.

    A run of such a plan releases what the search releases, by the plan's metric and within its
    budget, and verifies it alike. A k for which no choice of levels keeps k-anonymity is left out,
    so that the search itself may say why; and all are, where the pass cannot represent the search
    or takes longer than the searches.

    Parameters
    ----------
    plan : Plan
        Its own k is not looked at.
    table, levels, people
        As for `runner.run`.
    fit : callable
        As for `runner.run`.

    Raises
    ------
    AnonError
        Whatever fitting the plan to the table raises.
    Cancelled
        If the person asked to stop.
    """
    asked = plan.algorithm.best_levels()
    if asked is None or len(plan.models) != 1 or not plan.models[0].logic.class_sizes:
        return {}
    if plan.roles.unit or plan.models[0].of_release():  # of people, or of some columns only
        return {}
    cost, share = asked
    if not isinstance(cost, SizeCost) and not (isinstance(cost, CellCost) and len(ks) >= _PAYS):
        return {}
    problem = fit(plan, table, levels, people)
    bounds = plan.level_bounds.of(problem)
    allowed = restricted(replace(problem, level_bounds=bounds), "AG_TS")
    problem = allowed.problem
    budget = rows_allowed(problem, share)
    if not budget or not _quick(problem):
        return {}
    cells = cost if isinstance(cost, CellCost) else headline("cells")
    swept = size_sweep(problem, ks, context, metric=cells)
    found: dict[int, Plan] = {}
    for k in swept.limits:
        node = swept.best(k, budget, swept.cost(cost))
        if node is not None:
            found[k] = _at(
                plan, k, dict(zip(problem.quasi, allowed.original(node), strict=True)), share
            )
    return found


def _quick(problem: Problem) -> bool:
    """Say whether the pass is possible, and takes seconds at most."""
    hierarchies = problem.quasi_hierarchies
    nodes = math.prod(h.height + 1 for h in hierarchies)
    one_word = layout_of([len(h.leaves) for h in hierarchies]).words == 1
    return one_word and nodes * len(problem.frequency.run_count) <= _MOST_WALKED


def _at(plan: Plan, k: int, node: Mapping[str, int], share: float) -> Plan:
    """Return the plan with its k, and with these levels instead of the search."""
    table = by_levels(node, share)
    algorithm = find("algorithm", str(table.pop("name"))).from_mapping(table)
    (model,) = plan.models
    return replace(plan, algorithm=cast(Algorithm, algorithm), models=(model.with_size(k),))


#: Bytes of published tables that the points of one sweep keep; further points keep figures only.
MOST_KEPT_BYTES = 400 * 2**20


@dataclass(frozen=True, kw_only=True)
class Varied:
    """What a sweep varies.

    Attributes
    ----------
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
        work.context.report(place / len(todo), choice_words(choices))
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
