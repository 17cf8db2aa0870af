"""Slicing's own groups: cuts that keep everyone l-diverse over all groups together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Partitioner
from anon_core.release.problem import Problem
from anon_core.techniques.partitioners.tuple_partition.bucket_halving import diverse_buckets


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class TuplePartition(Partitioner):
    """Binary relaxed cuts with the diversity check over all buckets (Li et al. 2012)."""

    name: ClassVar[str] = "tuple-partition"
    title: ClassVar[str] = "Slicing's tuple partition"
    summary: ClassVar[str] = (
        "Groups are halved as in Mondrian as long as no person's sensitive value becomes likelier "
        "than 1 in l, weighing all groups the person may be in; sensitive columns may stay linked."
    )
    formula: ClassVar[str] = (
        "a cut is accepted if max p(t, s) ≤ 1/l over all t and s; p(t, s) = Σ_B p(t, B)·p(s | t, B)"
    )
    source: ClassVar[str] = (
        "Li, Li, Zhang and Molloy 2012, doi 10.1109/TKDE.2010.236; Toth 2015, algorithms 3 and 4"
    )
    from_counts: ClassVar[bool] = True
    sees_links: ClassVar[bool] = True

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        return diverse_buckets(problem, models, (), context)

    def split_linked(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        blocks: Sequence[tuple[str, ...]],
        context: Context,
    ) -> Buckets:
        """Form the groups; see `Partitioner.split_linked`."""
        return diverse_buckets(problem, models, blocks, context)
