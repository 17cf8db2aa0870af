"""Groups formed by the values of one sensitive column, made to keep what else is required.

They are made for frequency l-diversity. Any other privacy model can be hosted as well: groups are
formed of as many different values as it hints at and the table has room for, and those that break
it are merged. Privacy models that good groups keep when merged are then found wherever all rows as
one group keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.registry import find
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.contracts.search_cost import CellCost
from anon_core.contracts.sensitive_share import known_rows, largest_share, refuse_ineligible
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.methods.partition.merging import keeping, merged, regrouped
from anon_core.methods.partition.mondrian_cuts import refuse_whole
from anon_core.release.problem import Problem

#: Groups up to which the nearest of each is looked for; more are merged in their order.
_MOST_COMPARED = 2_000


def leading_share(problem: Problem, models: Sequence[GroupModel], owner: str) -> tuple[str, int]:
    """Return the sensitive column and l that a partition by sensitive values forms groups for.

    Where shares of several columns are limited it is the column that leaves least room: the one
    whose commonest value comes nearest to 1/l. Where none is, it is the first column that a privacy
    model looks at. l is what sizes and distinct values hint at, as far as the table is eligible for
    it, and no less than what is required. What else is asked, `mended` gives.

    Raises
    ------
    BadPlan
        If no column is sensitive only.
    Infeasible
        If the table is not eligible for the required l of a column.
    """
    share: dict[str, int] = {}
    for model in models:
        for name, least in model.by_itself().most_share(problem).items():
            share[name] = max(least, share.get(name, 0))
    for name, least in share.items():
        refuse_ineligible(problem, name, least)  # not every model that asks for shares needs this
    alone = [name for name in problem.sensitive if name not in problem.quasi]
    needed = [name for model in models for name in model.by_itself().needs(problem)]
    ways = sorted(share, key=lambda name: -_filled(problem, name, share[name]))
    column = next(iter([*ways, *(name for name in needed if name in alone), *alone]), "")
    if not column:
        raise BadPlan(
            f"'{owner}' forms groups by the values of a sensitive column, and none is marked as "
            "sensitive only.",
            remedy="Mark the column to protect as sensitive, or form the groups with Mondrian "
            "cuts.",
        )
    hints = [share.get(column, 2)]
    hints += [model.least_size() for model in models]
    hints += [model.by_itself().least_distinct(problem).get(column, 1) for model in models]
    eligible = largest_share(known_rows(problem, column), 0)
    return column, max(min(max(hints), eligible), 1)


def _filled(problem: Problem, column: str, least: int) -> float:
    rows = known_rows(problem, column)
    return float(rows.max(initial=0)) * least / max(float(rows.sum()), 1.0)


def mended(
    problem: Problem, models: Sequence[GroupModel], groups: Buckets, context: Context
) -> Buckets:
    """Merge groups that break a privacy model they were not formed for with their nearest.

    Of very many groups the nearest are not looked for: similar values are not needed where exact
    ones are published.

    Raises
    ------
    Infeasible
        If not even all rows as one group keep the privacy models, nor can any grouping.
    NotFound
        If merging can break a privacy model, and nothing was found.
    """
    if keeping(problem, models, groups).all():
        return groups
    refuse_whole(problem, models)
    groups = _merged_in_order(problem, models, groups, context)
    quasi = len(problem.quasi)
    metric = cast(CellCost, find("metric", "ncp")())
    prices = cell_prices(problem, metric, [True] * quasi, np.ones(quasi))
    return merged(problem, models, groups, prices, context)


def _merged_in_order(
    problem: Problem, models: Sequence[GroupModel], groups: Buckets, context: Context
) -> Buckets:
    """Merge broken groups two by two, in the order they were formed, until few groups are left."""
    while (count := int(groups.group.max(initial=-1)) + 1) > _MOST_COMPARED:
        context.check()
        broken = np.flatnonzero(~keeping(problem, models, groups))
        if len(broken) < 2:
            break
        label = np.arange(count, dtype=np.int64)
        pairs = len(broken) // 2
        label[broken[1 : 2 * pairs : 2]] = broken[0 : 2 * pairs : 2]
        label = np.unique(label, return_inverse=True)[1].astype(np.int64)
        groups = regrouped(groups, label)
    return groups
