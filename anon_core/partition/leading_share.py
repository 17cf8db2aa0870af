"""Groups formed by the values of one sensitive column, made to keep what else is promised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ..base.context import Context
from ..base.errors import BadPlan, listing
from ..base.registry import find
from ..contracts.model import GroupModel
from ..contracts.partitioner import Buckets
from ..contracts.search_cost import CellCost
from ..contracts.sensitive_share import known_rows, refuse_ineligible
from ..release.problem import Problem
from .best_gain import cell_prices
from .merging import keeping, merged


def leading_share(problem: Problem, models: Sequence[GroupModel], owner: str) -> tuple[str, int]:
    """Return the sensitive column and l that a partition by sensitive values forms groups for.

    Where shares of several columns are limited it is the column that leaves least room: the one
    whose commonest value comes nearest to 1/l. What the others ask, `mended` gives.

    Raises
    ------
    BadPlan
        If the models ask for no column's frequency l-diversity, or for larger groups.
    Infeasible
        If the table is not eligible for the l of a column.
    """
    share: dict[str, int] = {}
    for model in models:
        for name, least in model.by_itself().most_share(problem).items():
            share[name] = max(least, share.get(name, 0))
    if not share:
        raise BadPlan(
            f"'{owner}' forms groups by the values of a sensitive column; the promises name none "
            "for frequency l-diversity.",
            remedy="Promise frequency l-diversity of a sensitive column, or form the groups with "
            "Mondrian cuts.",
        )
    for name, least in share.items():
        refuse_ineligible(problem, name, least)  # not every promise that asks for shares needs this
    column, least = max(share.items(), key=lambda one: _filled(problem, *one))
    for model in models:
        limits = model.by_itself().most_share(problem)
        if not limits and model.least_size() > least:
            raise BadPlan(
                f"'{owner}' forms groups of {least} rows or a little more; {model.title} asks for "
                f"at least {model.least_size()}.",
                remedy=f"Raise l to {model.least_size()}, or form the groups with Mondrian cuts.",
            )
    return column, least


def _filled(problem: Problem, column: str, least: int) -> float:
    rows = known_rows(problem, column)
    return float(rows.max(initial=0)) * least / max(float(rows.sum()), 1.0)


def mended(
    problem: Problem, models: Sequence[GroupModel], groups: Buckets, context: Context
) -> Buckets:
    """Merge groups that break a promise they were not formed for with their nearest.

    Raises
    ------
    BadPlan
        If a promise is broken, and merging good groups may break it again.
    Infeasible
        If not even all rows as one group keep the promises.
    """
    if keeping(problem, models, groups).all():
        return groups
    lost = [model.title for model in models if not model.unions_keep()]
    if lost:
        raise BadPlan(
            f"Groups formed by sensitive value cannot be steered by {listing(lost)}: merging two "
            "good groups may break it.",
            remedy="Form the groups with Mondrian cuts.",
        )
    quasi = len(problem.quasi)
    metric = cast(CellCost, find("metric", "ncp")())
    prices = cell_prices(problem, metric, [True] * quasi, np.ones(quasi))
    return merged(problem, models, groups, prices, context)
