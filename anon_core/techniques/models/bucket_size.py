"""Bucket size: every published group has at least k rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.min_group_size import LeastSize
from anon_core.contracts.model import ModelAim, ModelLogic
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class BucketSize(LeastSize):
    """Every bucket has at least k rows; says nothing of how rows differ inside it."""

    name: ClassVar[str] = "bucket-size"
    title: ClassVar[str] = "Bucket size"
    summary: ClassVar[str] = (
        "Everyone's published group has at least k rows. The rows of a permuted group still show "
        "exact values, so this is weaker than k-anonymity."
    )
    formula: ClassVar[str] = "min |B| ≥ k over all buckets B"
    source: ClassVar[str] = "Toth 2015, section 3.1"
    aim: ClassVar[ModelAim] = ModelAim(replaces_whole_rows=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)

    k: int = integer(default=5, low=2, help="Smallest allowed bucket.", label="k", unit="rows")

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how many rows a group has."""
        return f"Every {together} will have at least {count(self.k, 'row')}."

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the smallest published group against k."""
        return [self.verdict_of_sizes(view.group_size, "bucket")]
