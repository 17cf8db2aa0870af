"""Groups by relaxed Mondrian cuts: halves are equally large, and their ranges may overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Partitioner
from anon_core.methods.partition.mondrian_cuts import relaxed_parts
from anon_core.release.problem import Problem


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class RelaxedMondrianGroups(Partitioner):
    """Relaxed multidimensional cuts (LeFevre et al. 2006); equal rows may part."""

    name: ClassVar[str] = "relaxed-mondrian"
    title: ClassVar[str] = "Relaxed Mondrian cuts"
    summary: ClassVar[str] = (
        "Cuts like Mondrian, but deals rows at the median to both sides. Groups are smaller, and "
        "their ranges may overlap."
    )
    formula: ClassVar[str] = (
        "halves of ⌈n/2⌉ and ⌊n/2⌋ rows at the median of the widest attribute while models hold"
    )
    source: ClassVar[str] = "LeFevre et al. 2006, doi 10.1109/ICDE.2006.101; Toth 2015, 2.1.6.2"
    from_counts: ClassVar[bool] = True

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        return relaxed_parts(problem, models, context)
