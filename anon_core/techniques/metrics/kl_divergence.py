"""KL divergence: how far the release's pairs of columns are from the table's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy

from anon_core.base.arrays import F64, I32, weighted_sum
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricScale, MetricUse
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.queries.pair_tables import Table, by_group, few, linked, multiplied, pairs_of
from anon_core.methods.queries.query_answers import overlap
from anon_core.release.attack_result import Details
from anon_core.release.outcome import Measure, share_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, View, raw_view

if TYPE_CHECKING:
    import scipy.sparse

#: Pairs of columns that are listed, the farthest first.
_LISTED = 12


@register("metric")
@dataclass(frozen=True, kw_only=True)
class KlDivergence(Metric):
    """Kullback–Leibler divergence of two-way marginals, original against released."""

    name: ClassVar[str] = "kl-divergence"
    title: ClassVar[str] = "KL divergence of pairs"
    summary: ClassVar[str] = (
        "How much of the relation between two columns is lost: compares the pairs of values that "
        "an analyst would rebuild from the release with those of the table. A cell is spread "
        "evenly over the values it covers, columns permuted separately are paired at random "
        "within their bucket, and a suppressed row can be anything."
    )
    formula: ClassVar[str] = (
        "mean over pairs of quasi-identifiers, and of a quasi-identifier and a sensitive column, "
        "of Σ p · log₂(p / q); p the table's share of a pair of values, q the release's. 0–1 form: "
        "divided by what is lost where every quasi-identifier is suppressed"
    )
    source: ClassVar[str] = (
        "Kifer and Gehrke 2006, doi 10.1145/1142473.1142499; Kullback and Leibler 1951, "
        "doi 10.1214/aoms/1177729694"
    )
    scale: ClassVar[MetricScale] = MetricScale(unit="bits per pair of columns", counts_links=True)
    use: ClassVar[MetricUse] = MetricUse(at_once=False)

    bins: int = integer(
        default=100,
        low=2,
        high=1000,
        help="Columns of more values are compared in this many ranges of neighbouring values.",
        label="Most ranges",
        unit="ranges",
    )

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        return "" if pairs_of(problem).looked else "It needs two columns to look at together."

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare every pair of columns.

        Raises
        ------
        AnonError
            If there is no pair of columns.
        """
        pairs = pairs_of(problem)
        if not pairs.looked:
            raise AnonError(self.reason_not_applicable(problem), remedy="Choose another metric.")
        names = dict.fromkeys(name for pair in pairs.looked for name in pair)
        cuts = {name: _ranges(problem.hierarchies[name], self.bins) for name in names}
        before = _Marginals(raw_view(problem), problem.hierarchies, cuts)
        after = _Marginals(release.view, problem.hierarchies, cuts)
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for place, pair in enumerate(pairs.looked):
            context.report(place / len(pairs.looked), "Comparing pairs of columns")
            table = before.of(pair) / problem.rows
            gone = release.suppressed * np.outer(after.even(pair[0]), after.even(pair[1]))
            published = (after.of(pair) + gone) / problem.rows
            if np.any((published <= 0) & (table > 0)):  # averages can rule out what is true
                even = np.outer(after.even(pair[0]), after.even(pair[1]))
                published = (published * problem.rows + even) / (problem.rows + 1)
            first, second = (
                after.even(name) if name in problem.quasi else axis
                for name, axis in zip(pair, (table.sum(axis=1), table.sum(axis=0)), strict=True)
            )
            found[pair] = _divergence(table, published), _divergence(table, np.outer(first, second))
        lost, whole = np.array(list(found.values())).T
        return Measure(
            metric=self.name,
            value=float(lost.mean()),
            share=share_of(float(lost.sum()), float(whole.sum())),
            per_column={
                name: share_of(
                    sum(v[0] for p, v in found.items() if name in p),
                    sum(v[1] for p, v in found.items() if name in p),
                )
                for name in problem.quasi
                if name in names
            },
            also={"with everything suppressed": float(whole.mean()), **pairs.also},
            details=(_details(found, pairs.left_out),),
        )


def _divergence(table: F64, published: F64) -> float:
    """Return Σ p · log₂(p / q) over the values the table has; rounding never makes it negative."""
    at = table > 0
    return max(weighted_sum(table[at], np.log2(table[at] / published[at])), 0.0)


def _ranges(hierarchy: Hierarchy, most: int) -> tuple[I32, I32]:
    """Return first and last leaves of at most that many ranges, each with counted leaves."""
    counted = np.flatnonzero(hierarchy.counted)
    leaves = counted if len(counted) else np.arange(len(hierarchy.leaves))
    parts = np.array_split(leaves, min(most, len(leaves)))
    lo = np.array([part[0] for part in parts], dtype=np.int32)
    hi = np.append(lo[1:] - 1, len(hierarchy.leaves) - 1).astype(np.int32)
    lo[0] = 0
    return lo, hi


class _Marginals:
    """The pairs of values that one view leads an analyst to, in ranges of leaves."""

    def __init__(
        self,
        view: View,
        hierarchies: Mapping[str, Hierarchy],
        cuts: Mapping[str, tuple[I32, I32]],
    ) -> None:
        self.view, self.hierarchies, self.cuts = view, hierarchies, cuts
        self.cells: dict[str, F64] = {}
        self.shares: dict[str, F64] = {}
        self.spread: dict[str, Table] = {}
        self.groups: dict[str, Table] = {}

    def of(self, pair: tuple[str, str]) -> F64:
        """Return the expected rows with each pair of ranges, (ranges, ranges)."""
        small = few(self.view, *pair)
        if small is not None:
            return self._cells(pair[0]) @ small @ self._cells(pair[1]).T
        one, two = (self._spread(name) for name in pair)
        found = linked(self.view, *pair)
        if found is None:
            first, second = (self._by_group(name) for name in pair)
            return multiplied(first, self.view.group_size, second).toarray()
        return scipy.sparse.csr_array(one @ found @ two.T).toarray()

    def even(self, name: str) -> F64:
        """Return the shares of ranges of a cell that hides everything, shape (ranges,)."""
        if name not in self.shares:
            lo, hi = self.cuts[name]
            below = np.concatenate([[0], np.cumsum(self.hierarchies[name].counted)])
            inside = (below[hi + 1] - below[lo]).astype(np.float64)
            if inside.sum() == 0:
                inside = (hi + 1 - lo).astype(np.float64)
            self.shares[name] = inside / inside.sum()
        return self.shares[name]

    def _cells(self, name: str) -> F64:
        """Return which share of each published cell lies in each range, (ranges, cells)."""
        if name not in self.cells:
            lo, hi = self.cuts[name]
            vocabulary = self.view.vocabularies[name]
            self.cells[name] = overlap(self.hierarchies[name], vocabulary, lo, hi)
        return self.cells[name]

    def _spread(self, name: str) -> Table:
        if name not in self.spread:
            self.spread[name] = scipy.sparse.csr_array(self._cells(name))
        return self.spread[name]

    def _by_group(self, name: str) -> Table:
        if name not in self.groups:
            self.groups[name] = scipy.sparse.csr_array(
                self._spread(name) @ by_group(self.view, name)
            )
        return self.groups[name]


def _details(found: Mapping[tuple[str, str], tuple[float, float]], left_out: str) -> Details:
    ranked = sorted(found.items(), key=lambda one: -one[1][0])[:_LISTED]
    return Details(
        title="Pairs of columns, the farthest from the table first",
        rows=tuple(
            {"pair": f"{a} × {b}", "bits lost": lost, "all suppressed": whole}
            for (a, b), (lost, whole) in ranked
        ),
        x="pair",
        y=("bits lost", "all suppressed"),
        drawn="table",
        shares=False,
        note=left_out.strip(),
    )
