"""Groups by strict Mondrian cuts: rows that are alike are together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Grouping, Partitioner, run_buckets
from anon_core.methods.partition.mondrian_cuts import strict_parts
from anon_core.release.problem import Problem


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class MondrianGroups(Partitioner):
    """Strict multidimensional cuts (LeFevre et al. 2006); equal rows stay together."""

    name: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "Mondrian cuts"
    summary: ClassVar[str] = (
        "Groups rows with similar quasi-identifiers, so that permuting them loses little."
    )
    formula: ClassVar[str] = "cut at the median of the widest attribute while the models hold"
    source: ClassVar[str] = "LeFevre et al. 2006, doi 10.1109/ICDE.2006.101"
    from_counts: ClassVar[bool] = True
    way: ClassVar[Grouping] = Grouping(takes_any_model=True)

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        return run_buckets(problem, strict_parts(problem, models, context))
