"""Entropy loss: how many bits each cell no longer shows of the value behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I32, weighted_sum
from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class EntropyLoss(Metric):
    """Normalised non-uniform entropy: bits lost as a share of those the column holds."""

    name: ClassVar[str] = "entropy-loss"
    title: ClassVar[str] = "Entropy loss"
    summary: ClassVar[str] = (
        "How much of a column's information is gone, in bits. Covering a frequent value and a "
        "rare one together costs little for the frequent one and much for the rare one. 0 is "
        "unchanged, 1 is everything suppressed. A suppressed row loses all its bits."
    )
    formula: ClassVar[str] = (
        "per column Σ over cells of log₂(n(cover) / n(value)), divided by Σ over cells of "
        "log₂(n / n(value)), n(·) the table's rows with it; mean over columns of several values"
    )
    source: ClassVar[str] = (
        "de Waal and Willenborg 1999, Netherlands Official Statistics 14, 17–20; as non-uniform "
        "entropy: Gionis and Tassa 2009, doi 10.1109/TKDE.2008.129"
    )

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare what is lost with what the columns hold."""
        member, count = release.grouping.member, release.grouping.count.astype(np.float64)
        kept = member >= 0
        sizes = np.maximum(release.grouping.sizes, 1)
        per_column: dict[str, float] = {}
        per_class = np.zeros(release.grouping.classes, dtype=np.float64)
        bits, columns = 0.0, 0
        for name in problem.quasi:
            lost, held = _bits(problem, release, name)
            whole = weighted_sum(held, count)
            if whole <= 0:  # one value: there is nothing to lose
                per_column[name] = 0.0
                continue
            columns += 1
            gone = weighted_sum(lost, count)
            bits += gone
            per_column[name] = min(gone / whole, 1.0)
            own = np.bincount(member[kept], (lost * count)[kept], len(sizes))
            per_class += np.minimum(own / sizes / (whole / problem.rows), 1.0)
        value = sum(per_column.values()) / max(columns, 1)
        return Measure(
            metric=self.name,
            value=value,
            share=value,
            per_class=per_class / max(columns, 1),
            per_column=per_column,
            also={"bits per row": bits / max(problem.rows, 1)},
        )


def _bits(problem: Problem, release: Release, name: str) -> tuple[F64, F64]:
    """Return the bits lost and the bits held by one cell of every entry, shape (entries,) each."""
    grouping, frequency = release.grouping, problem.frequency
    leaf = frequency.codes[grouping.key, frequency.columns.index(name)]
    rows = problem.leaf_rows[name].astype(np.float64)
    below = np.concatenate([[0.0], np.cumsum(rows)])

    def covered(low: I32, high: I32) -> F64:
        return np.log2(below[high.astype(np.int64) + 1] - below[low])

    with np.errstate(divide="ignore"):  # leaves that no row has stand in no entry
        own = np.log2(rows)
        cover = release.by_cover(name, covered)
    held = (np.log2(below[-1]) - own)[leaf]
    lost = held.copy()  # of a suppressed row, all
    kept = grouping.member >= 0
    own = own[leaf[kept]]
    lost[kept] = np.maximum(cover[grouping.member[kept]], own) - own
    return lost, held
