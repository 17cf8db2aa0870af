"""One search for several k: the optimal levels for each, from a single pass over the lattice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm, by_levels
from anon_core.contracts.metric import headline
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.table import Dataset
from anon_core.methods.lattice.lattice import layout_of
from anon_core.methods.lattice.nodes import rows_allowed
from anon_core.methods.lattice.recoding_models import restricted
from anon_core.methods.lattice.size_sweep import size_sweep
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.runner import Fit
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
    ks : sequence of int
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
    if asked is None or len(plan.models) != 1 or not plan.models[0].of_class_sizes:
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
