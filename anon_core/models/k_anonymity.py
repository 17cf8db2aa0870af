"""k-anonymity: nobody can be told apart from fewer than k rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..context import Context
from ..errors import AnonError
from ..least_size import LeastSize
from ..params import integer
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class KAnonymity(LeastSize):
    """Every equivalence class has at least k rows (Samarati 2001; Sweeney 2002)."""

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "k-anonymity"
    summary: ClassVar[str] = (
        "Everyone shares their published quasi-identifiers with at least k − 1 other rows."
    )
    formula: ClassVar[str] = "min |G| ≥ k over all equivalence classes G"
    source: ClassVar[str] = "Samarati 2001, doi 10.1109/69.971193"
    by_limits: ClassVar[bool] = True
    needs_whole_rows: ClassVar[bool] = True

    k: int = integer(
        default=5, low=2, help="Smallest allowed equivalence class.", label="k", unit="rows"
    )

    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return the smallest class against k.

        Raises
        ------
        AnonError
            If the quasi-identifiers stand in several link blocks; k-anonymity is then not defined.
        """
        block = view.whole_quasi()
        if block is None:
            raise AnonError(
                "k-anonymity is not defined where quasi-identifiers are permuted apart.",
                remedy="Choose a model for buckets instead.",
            )
        return [self.verdict_of_sizes(view.persons(block).sizes, "class")]
