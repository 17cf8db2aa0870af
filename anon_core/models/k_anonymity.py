"""k-anonymity: nobody can be told apart from fewer than k rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..context import Context
from ..errors import AnonError, Infeasible
from ..kinds import GroupModel, GroupStats
from ..params import integer
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class KAnonymity(GroupModel):
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

    def check(self, problem: Problem) -> None:
        """Refuse a k larger than the table.

        Raises
        ------
        Infeasible
            If the table has fewer than k rows.
        """
        if problem.rows < self.k:
            raise Infeasible(
                f"k-anonymity with k = {self.k} needs at least {self.k} rows; the table has "
                f"{problem.rows}.",
                remedy=f"Choose k of at most {problem.rows}, or load more rows.",
                best=float(problem.rows),
                best_of="rows",
            )

    def per_group(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
        """Return which groups have at least k rows."""
        return stats.sizes >= self.k

    def least_size(self) -> int:
        """Return k."""
        return self.k

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
        sizes = view.persons(block).sizes
        smallest = int(sizes.min(initial=problem.rows)) if len(sizes) else 0
        holds = not len(sizes) or smallest >= self.k
        return [
            Verdict(
                model=self.name,
                parameters=self.as_mapping(),
                state="holds" if holds else "broken",
                bound=float(self.k),
                reached=float(smallest),
                per_class=sizes.astype(np.float64),
                sentence=(
                    f"The smallest class has {smallest} rows; at least {self.k} were asked for."
                    if len(sizes)
                    else "No row is published."
                ),
            )
        ]
