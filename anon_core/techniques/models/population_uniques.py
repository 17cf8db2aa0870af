"""Population uniques: few people of the population are alone in what is published, by estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelLogic, ModelScope
from anon_core.data.frequency import dense_rank
from anon_core.methods.matching.fitting_people import matched
from anon_core.methods.reidentification.population_uniques import LEAST_REPEATS
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.outcome import Verdict, per_cent
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View

_ROUNDING = 1e-9  # of an estimate in floats, relative to the bound


def uniques_share(singles: int, size: I64, classes: I64, people: int) -> float:
    """Return the share of the population that is unique, by Zayatz' estimate.

    U / N = x P / n with P = x / (x + Σ f_i ρ_i): of n rows x are alone, f_i classes have i of them,
    and ρ_i = i Π_{t = 0}^{i − 2} (N − n − t) / (N − 1 − t) is how much likelier one row is drawn
    of i people than of one.

    Parameters
    ----------
    singles : int
        x.
    size, classes : int64 arrays of shape (kinds,)
        Distinct sizes i ≥ 2, ascending, and f_i.
    people : int
        N, more than n.

    Examples
    --------
    >>> round(uniques_share(6, np.array([2]), np.array([3]), 100), 9)
    0.264705882
    """
    if not singles:
        return 0.0
    rows = singles + int(size @ classes)
    others = 0.0
    if len(size):
        steps = np.arange(int(size[-1]) - 1, dtype=np.float64)
        fewer = np.cumprod(
            np.maximum(people - rows - steps, 0.0) / np.maximum(people - 1 - steps, 1.0)
        )
        others = float((size * classes) @ fewer[size - 2])
    return singles * (singles / (singles + others)) / rows


@register("model")
@dataclass(frozen=True, kw_only=True)
class PopulationUniques(GroupModel):
    """Zayatz' estimate of unique people U ≤ s N; also the share of published rows that are theirs.

    Neither merging nor removing classes keeps it: of two classes of several rows that merge, less
    is known of a population that repeats itself. So a search looks at every node. At a node the
    fewest rows go where single ones do: each lowers the estimate, and any other row that goes for
    one raises it. Without single rows it is 0, which is then let pass.

    Zayatz' estimate is taken at every sampling share. Above a tenth the rule of Dankar et al. takes
    it or a lower one; below, Pitman's model would be fitted, and what is fitted by iteration has no
    last digit that could be recomputed next to a bound.
    """

    name: ClassVar[str] = "population-uniques"
    title: ClassVar[str] = "Population uniques"
    summary: ClassVar[str] = (
        "An estimate without a public table: at most this share of the population is unique in "
        "the published columns. The same share of the published rows belongs to these people."
    )
    formula: ClassVar[str] = (
        "U / N = x P / n ≤ s, P = x / (x + Σ f_i ρ_i), ρ_i = i Π (N − n − t) / (N − 1 − t) over "
        "t = 0 … i − 2; x single rows, f_i classes of i ≥ 2 rows, of n published; Zayatz"
    )
    source: ClassVar[str] = (
        "Zayatz 1991, Proceedings of the Survey Research Methods Section, ASA; Dankar et al. 2012, "
        "doi 10.1186/1472-6947-12-66"
    )
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True)
    logic: ClassVar[ModelLogic] = ModelLogic(
        by_limits=True, monotone_merge=False, monotone_suppress=False
    )

    people: int = integer(
        default=0,
        low=0,
        high=10**12,
        help="People of the population that the rows were drawn from at random. State it; 0 is "
        "refused.",
        label="Population",
        unit="people",
    )
    share: float = number(
        default=0.05,
        low=1e-6,
        high=1.0,
        help="Largest share of the population that may be unique, as estimated.",
        label="Share",
    )

    def of_release(self) -> bool:
        """Return that it is about all classes."""
        return True

    def removal_nests(self) -> bool:
        """Return that which rows go changes from node to node."""
        return False

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a population that is not stated, no larger than the table, or contradicted.

        Raises
        ------
        BadPlan
            As said, or where rows have weights.
        Infeasible
            If the table has a single row.
        """
        stated = None if problem.population is None else problem.population.size
        if not self.people:
            raise BadPlan(
                f"{self.title} needs the people of the population, and none are stated.",
                remedy=f"Set people{f' to {stated}' if stated else ', such as to 10000'}.",
            )
        if self.people <= problem.rows:
            raise BadPlan(
                f"{self.title}: {problem.rows:,} rows cannot be a sample of {self.people:,} "
                "people.",
                remedy="Set people to more than the rows. Where everyone is in the table, require "
                "a share at risk with risk 0.5.",
            )
        if stated is not None and self.people > stated * 1.05:
            raise BadPlan(
                f"{self.title}: {self.people:,} people contradict the population's size, "
                f"{stated:,}.",
                remedy=f"Set people to {stated}, or mend the population's size.",
            )
        if problem.row_weight is not None:
            raise BadPlan(
                f"{self.title} takes every row for drawn with the same chance, and rows have "
                "weights.",
                remedy="Require a share at risk by the weights, or remove the role weight.",
            )
        if problem.rows < 2 and self.share < 1:
            raise Infeasible(
                f"{self.title}: a single row is alone in whatever is published.",
                remedy="Load more rows.",
                best=1.0,
                best_of="share unique",
            )

    def per_group(self, stats: GroupStats, reference: Reference) -> B1:
        """Return which groups are enough by themselves: those without a single row."""
        return stats.sizes != 1

    def relaxed_per_group(self, stats: GroupStats, reference: Reference) -> B1:
        """Return the same: what holds a group of two rows has two."""
        return self.per_group(stats, reference)

    def least_size(self) -> int:
        """Return 2: without single rows nothing is estimated."""
        return 2

    def least_class(self, people: Population | None) -> int:
        """Return 1: single rows are let pass where they are few."""
        return 1

    def settle(self, stats: GroupStats, keep: B1, reference: Reference) -> B1:
        """Return the classes left once the fewest single rows are removed, in order of cells."""
        assert stats.cells is not None
        single = np.flatnonzero(keep & (stats.sizes == 1))
        size, classes = np.unique(stats.sizes[keep & (stats.sizes > 1)], return_counts=True)
        # Each one that goes lowers the estimate.
        few, many = 0, len(single)
        while few < many:
            middle = (few + many) // 2
            found = uniques_share(len(single) - middle, size, classes, self.people)
            few, many = (few, middle) if self._within(found) else (middle + 1, many)
        columns = [column[single].astype(np.int32) for column in stats.cells.values()]
        ranked = dense_rank(columns, [int(column.max(initial=0)) + 1 for column in columns])[0]
        left = keep.copy()
        left[single[np.argsort(ranked, kind="stable")[:few]]] = False
        return left

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return the estimate."""
        found = self._estimate(stats.sizes)
        return (
            f"{int(np.count_nonzero(stats.sizes == 1))} of {int(stats.sizes.sum())} rows are "
            f"alone: by estimate a share of {found:.3g} of the population is unique; at most "
            f"{self.share:g} is allowed."
        )

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how many people of the population will be unique."""
        return (
            f"By estimate, at most {per_cent(self.share)} of the {self.people:,} people of the "
            "population will be unique in what is published."
        )

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the estimated share of unique people against the bound.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        sizes = matched(view).sizes
        found, rows = self._estimate(sizes), int(sizes.sum())
        single, repeats = sizes == 1, rows - len(sizes)
        few = (
            f" Indicative at best: {repeats} of {rows:,} rows are like an earlier one, fewer than "
            f"{LEAST_REPEATS}."
            if repeats < LEAST_REPEATS and single.any()
            else ""
        )
        if not single.any():
            few = " 0 by construction, since no row is alone: that does not protect everyone."
        theirs = found * rows / max(int(single.sum()), 1)
        chance: F64 = np.where(single, theirs, 0.0)
        return [
            self.verdict(
                self._within(found),
                f"By Zayatz' estimate {found * self.people:,.1f} of {self.people:,} "
                f"people are unique, a share of {found:.4g}; at most {self.share:g} was asked for."
                f"{few}",
                bound=self.share,
                reached=found,
                per_class=chance,
            )
        ]

    def _estimate(self, sizes: I64) -> float:
        size, classes = np.unique(sizes[sizes > 1], return_counts=True)
        return uniques_share(int(np.count_nonzero(sizes == 1)), size, classes, self.people)

    def _within(self, share: float) -> bool:
        """Say whether an estimate is at most s, but for its rounding."""
        return share <= self.share * (1 + _ROUNDING)
