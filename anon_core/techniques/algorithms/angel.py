"""ANGEL: boxes of at least k rows, and sensitive values by batches that lie across the boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from anon_core.base.context import Context, part_of
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.params import integer
from anon_core.base.registry import find, register
from anon_core.contracts.algorithm import Algorithm, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Partitioner
from anon_core.methods.bucketized.permuted_release import (
    batches,
    block_choice,
    columns_by_role,
    group_summary,
    groups_by,
    partition_choice,
)
from anon_core.methods.partition.box_release import hulls, published_cells
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.grouping import Grouping
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import of_level


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Angel(Algorithm):
    """Two partitions: batches for sensitive values, buckets for boxes (Tao et al. 2009).

    1. Batches keep the privacy models of sensitive values: that is the partition's.
    2. Buckets of at least k rows, near each other, whatever their batch.
    3. Publish each row's box with its batch, and the sensitive values of every batch. The paper's
       two tables GT and BT are one here, in which values are permuted within each batch.
    """

    name: ClassVar[str] = "angel"
    title: ClassVar[str] = "ANGEL"
    summary: ClassVar[str] = (
        "Publishes quasi-identifiers in small boxes of at least k rows, and sensitive values in "
        "separate batches. The rows of a box are spread over many batches."
    )
    offer: ClassVar[Offer] = Offer(
        when="Use it where both identity and sensitive values must be hidden and boxes should stay "
        "small; never where readers need the values of a box exactly: they get the mean of its "
        "rows' batches."
    )
    shape: ClassVar[Shape] = Shape(permutes=True, linked="roles", coarsens=True)
    formula: ClassVar[str] = "Pr[t.S = v] = mean over the rows of t's box of c(v) / |batch|"
    source: ClassVar[str] = (
        "Tao, Chen, Xiao, Zhou and Zhang 2009, ANGEL: enhancing the utility of generalization for "
        "privacy preserving publication, doi 10.1109/TKDE.2009.65"
    )

    partition: Partitioner | Algorithm = partition_choice("anatomize")
    buckets: Partitioner | Algorithm = partition_choice("mondrian")
    k: int = integer(default=5, low=1, help="Rows of a box at least.", label="k", unit="rows")
    insensitive_with: str = block_choice()

    def release_shape(self) -> dict[str, Any]:
        """Return what a release looks like; see `Algorithm.shape`."""
        return {
            **super().release_shape(),
            "insensitive_with": self.insensitive_with,
            "least_box": self.k,
        }

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form batches and buckets, and publish both; see `Algorithm.run`."""
        blocks = columns_by_role(problem, self.insensitive_with)
        batch = batches(problem, self.partition, models, blocks, part_of(context, 0.0, 0.5))
        alike = cast(GroupModel, find("model", "k-anonymity").from_mapping({"k": self.k}))
        try:
            bucket = groups_by(self.buckets, problem, [alike], (), part_of(context, 0.5, 1.0))
        except (Infeasible, NotFound) as error:
            raise NotFound(
                f"Boxes of at least {self.k} rows were not found.",
                remedy="Use a smaller k, or form the boxes by another technique.",
                best=error.best,
                best_of=error.best_of,
            ) from error
        low, high = hulls(problem, bucket)
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        vocabularies, cells = published_cells(problem, low, high, nodes)
        grouping, box = crossed(batch, bucket)
        release = Release(
            problem=problem,
            grouping=grouping,
            vocabularies={
                name: vocabularies.get(name) or of_level(problem.hierarchies[name], 0)
                for name in problem.roles.published(problem.dataset)
            },
            cells={name: cells[name][box] for name in problem.quasi},
            blocks=blocks,
        )
        return Outcome(
            release=release, account=SearchAccount(proven=False, partition=group_summary(release))
        )


def crossed(batch: Buckets, bucket: Buckets) -> tuple[Grouping, np.ndarray]:
    """Return the classes of rows of one batch and one bucket, and the bucket of each class.

    Rows of one key are dealt to both in order: they are equal in all that is published.
    """
    ends_of = [np.cumsum(one.count) for one in (batch, bucket)]
    ends = np.union1d(*ends_of)
    place = [np.searchsorted(own, ends) for own in ends_of]
    wide = int(bucket.group.max(initial=-1)) + 1
    pair, member = np.unique(
        batch.group[place[0]] * wide + bucket.group[place[1]], return_inverse=True
    )
    grouping = Grouping(
        key=batch.key[place[0]],
        member=member.astype(np.int64),
        count=np.diff(ends, prepend=0),
        group=pair // wide,
        published=True,
    )
    return grouping, pair % wide
