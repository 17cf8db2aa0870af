"""Groups of rows from any technique that forms some: a partitioner's, or a release's classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from anon_core.base.context import Context, part_of
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.params import Technique
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Partitioner
from anon_core.contracts.search_cost import CellCost
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.methods.partition.merging import merged
from anon_core.release.problem import Problem
from anon_core.release.release import Release


def forms_groups(kind: type[Technique]) -> bool:
    """Say whether a class of technique forms groups whose rows can then be permuted apart."""
    if issubclass(kind, Algorithm):
        apart = kind.permutes or kind.needs_public or kind.is_mechanism
        return kind.needs_models and not apart  # what asks for no model forms no groups
    return issubclass(kind, Partitioner)


def made_for_shares(kind: type[Technique]) -> bool:
    """Say whether a way to form groups is formed by sensitive value, for its shares."""
    return issubclass(kind, Partitioner) and kind.by_sensitive


def gathers_alike(kind: type[Technique]) -> bool:
    """Say whether rows of a group are alike, so that what groups cover is worth drawing."""
    return not issubclass(kind, Partitioner) or kind.gathers_alike


def groups_by(
    way: Partitioner | Algorithm,
    problem: Problem,
    models: Sequence[GroupModel],
    blocks: Sequence[tuple[str, ...]],
    context: Context,
) -> Buckets:
    """Form groups that keep the promises.

    Parameters
    ----------
    way : Partitioner or Algorithm
        What `forms_groups` says yes to.
    models : sequence of GroupModel
    blocks : sequence of tuples of str
        See `Partitioner.split_linked`.

    Raises
    ------
    Infeasible
        If no grouping keeps the promises.
    NotFound
        If the technique has no classes to begin with, and other groups may keep the promises.
    BadPlan
        If they cannot steer the technique.
    """
    if isinstance(way, Partitioner):
        return way.split_linked(problem, models, blocks, context)
    try:
        found = way.run(problem, models, part_of(context, 0.0, 0.9)).release
    except Infeasible as error:
        if all(model.decided_by_whole() for model in models):
            raise  # so do all rows as one group, and then any grouping of them
        raise NotFound(
            f"Not found: groups begin with the classes of {way.title}. {error.message}",
            remedy=error.remedy,
            best=error.best,
            best_of=error.best_of,
        ) from error
    # A permuted release removes no row: what was removed is a group too, and joins the nearest
    # where it does not keep the promises by itself.
    quasi = len(problem.quasi)
    metric = cast(CellCost, find("metric", "ncp")())
    prices = cell_prices(problem, metric, [True] * quasi, np.ones(quasi))
    return merged(problem, models, _classes(found), prices, part_of(context, 0.9, 1.0))


def _classes(release: Release) -> Buckets:
    """Return the classes of a release, numbered from 0, and one more of what it removes."""
    grouping = release.grouping
    group = np.append(grouping.group, grouping.classes)[grouping.member]
    used, numbered = np.unique(group, return_inverse=True)
    groups = len(used)
    pair, entry = np.unique(grouping.key * groups + numbered, return_inverse=True)
    return Buckets(
        key=pair // groups,
        group=pair % groups,
        count=np.bincount(entry, weights=grouping.count, minlength=len(pair)).astype(np.int64),
    )
