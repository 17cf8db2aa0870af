"""Turn groups of rows into a permuted release: exact values, links cut between blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from anon_core.base.context import Context, part_of
from anon_core.base.errors import BadPlan, Infeasible, NotFound
from anon_core.base.params import Technique, choice
from anon_core.base.registry import find, part
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Partitioner
from anon_core.contracts.search_cost import CellCost
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.methods.partition.merging import merged
from anon_core.release.grouping import Grouping
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem
from anon_core.release.release import Block, Release
from anon_core.release.vocabulary import of_level


def forms_groups(kind: type[Technique]) -> bool:
    """Say whether a class of technique forms groups whose rows can then be permuted separately."""
    if issubclass(kind, Algorithm):
        apart = kind.shape.permutes or kind.needs.public or kind.shape.mechanism
        return kind.needs.models and not apart  # what asks for no model forms no groups
    return issubclass(kind, Partitioner)


def made_for_shares(kind: type[Technique]) -> bool:
    """Say whether a way to form groups is formed by sensitive value, for its shares."""
    return issubclass(kind, Partitioner) and kind.way.by_sensitive


def gathers_alike(kind: type[Technique]) -> bool:
    """Say whether rows of a group are alike, so that what groups cover is worth drawing."""
    return not issubclass(kind, Partitioner) or kind.way.gathers_alike


def groups_by(
    way: Partitioner | Algorithm,
    problem: Problem,
    models: Sequence[GroupModel],
    blocks: Sequence[tuple[str, ...]],
    context: Context,
) -> Buckets:
    """Form groups that keep the privacy models.

    Parameters
    ----------
    way : Partitioner or Algorithm
        What `forms_groups` says yes to.
    blocks : sequence of tuples of str
        See `Partitioner.split_linked`.

    Raises
    ------
    Infeasible
        If no grouping keeps the privacy models.
    NotFound
        If the technique has no classes to begin with, and other groups may keep the privacy models.
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
    # where it does not keep the privacy models by itself.
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


def partition_choice(default: str) -> Any:
    """Declare the parameter that says how rows are gathered into groups."""
    return part(
        default=default,
        families=["partitioner", "algorithm"],
        fits=forms_groups,
        help="How rows are gathered into groups: by a partition of its own, or as the classes of a "
        "generalization.",
        label="Groups by",
    )


def block_choice() -> Any:
    """Declare the parameter that says which block the columns without a role go with."""
    return choice(
        default="quasi",
        options={"quasi": "the quasi-identifiers", "sensitive": "the sensitive columns"},
        help="Which block the columns without a role stay linked with.",
        label="Other columns travel with",
    )


def permuted(
    problem: Problem,
    partition: Partitioner | Algorithm,
    models: Sequence[GroupModel],
    blocks: Sequence[Block],
    tables: Sequence[Block],
    context: Context,
    *,
    named_sets: bool = True,
) -> Outcome:
    """Form groups with a partitioner and publish exact values whose blocks are permuted separately.

    Parameters
    ----------
    partition : Partitioner or Algorithm
        What forms the groups.
    blocks : sequence of tuples of str
        Columns that stay linked; together all published columns.
    tables : sequence of tuples of str
        Columns of each published table; more than one are joined by the group id.
    named_sets : bool
        Whether the recipe shows the blocks, so that they can be counted on when it is verified.

    Raises
    ------
    BadPlan
        If permuting a group could lose what a model requires of it.
    """
    buckets = batches(problem, partition, models, blocks if named_sets else None, context)
    release = bucket_release(problem, buckets, blocks, tables)
    return Outcome(
        release=release, account=SearchAccount(proven=False, partition=group_summary(release))
    )


def batches(
    problem: Problem,
    partition: Partitioner | Algorithm,
    models: Sequence[GroupModel],
    blocks: Sequence[Block] | None,
    context: Context,
) -> Buckets:
    """Form the groups of `permuted`; `blocks` is None where they cannot be counted on.

    Raises
    ------
    BadPlan
        If permuting a group could lose what a model requires of it.
    """
    if blocks is not None:
        models = [model.where_linked(blocks, problem) for model in models]
    for model in models:
        if not model.logic.survives_permutation:
            raise BadPlan(
                f"{model.title} of a group can be lost when its columns are permuted separately, "
                "and this technique does not test it.",
                remedy="Choose CombinedAlg, which tests every permuted group, or a generalization.",
            )
    return groups_by(partition, problem, models, blocks or (), part_of(context, 0.0, 0.9))


def group_summary(release: Release) -> dict[str, float]:
    """Return how many groups there are and how large they are, for the search's account."""
    sizes = release.view.group_size
    return {
        "parts": float(len(sizes)),
        "smallest": float(sizes.min()),
        "largest": float(sizes.max()),
        "mean": float(sizes.mean()),
    }


def bucket_release(
    problem: Problem, buckets: Buckets, blocks: Sequence[Block], tables: Sequence[Block]
) -> Release:
    """Build the release: one class per group and quasi tuple, all values exact."""
    frequency = problem.frequency
    groups = int(buckets.group.max(initial=-1)) + 1
    run = frequency.run[buckets.key]
    pair, member = np.unique(run * max(groups, 1) + buckets.group, return_inverse=True)
    codes = frequency.run_codes[pair // max(groups, 1)]
    grouping = Grouping(
        key=buckets.key,
        member=member.astype(np.int64),
        count=buckets.count,
        group=(pair % max(groups, 1)).astype(np.int64),
        published=True,
    )
    return Release(
        problem=problem,
        grouping=grouping,
        vocabularies={
            name: of_level(problem.hierarchies[name], 0)
            for name in problem.roles.published(problem.dataset)
        },
        cells={name: codes[:, d] for d, name in enumerate(problem.quasi)},
        blocks=tuple(blocks),
        tables=tuple(tables),
    )


def columns_by_role(problem: Problem, insensitive_with: str) -> tuple[Block, Block]:
    """Return the quasi block and the sensitive block, in the table's order.

    `insensitive_with` says which of the two the insensitive columns travel with.

    Raises
    ------
    BadPlan
        If no column is sensitive only, so that there is nothing to part.
    """
    names = problem.roles.published(problem.dataset)
    sensitive = {n for n in problem.sensitive if n not in problem.quasi}
    if not sensitive:
        raise BadPlan(
            "No column is marked as sensitive only, so there is nothing to part from the "
            "quasi-identifiers.",
            remedy="Mark the column to protect as sensitive, or choose one-attribute-slicing.",
        )
    free = set(problem.roles.insensitive)
    second = sensitive | (free if insensitive_with == "sensitive" else set())
    return tuple(n for n in names if n not in second), tuple(n for n in names if n in second)
