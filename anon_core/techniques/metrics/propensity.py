"""Propensity score: how well a reader distinguishes published rows from original ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricNeeds, MetricScale
from anon_core.release.changed_rows import ChangedColumn, changed_column
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: Parts that numbers of many values are cut into, by quantiles of the original.
_PARTS = 10


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Propensity(Metric):
    """Saturated in pairs of columns: main effects see nothing of a swap (Snoke et al. 2018)."""

    name: ClassVar[str] = "propensity"
    title: ClassVar[str] = "Propensity score (pMSE)"
    summary: ClassVar[str] = (
        "How well pairs of columns distinguish published rows from original ones, as a multiple "
        "of what chance would give. 1 is no better than chance."
    )
    formula: ClassVar[str] = (
        "pMSE = Σ (p̂ − c)² / N with p̂ of each cell of two columns; over its mean under chance "
        "(cells − 1)(1 − c)² c / N; mean over pairs with a changed column"
    )
    source: ClassVar[str] = "Snoke et al. 2018, doi 10.1111/rssa.12358"
    scale: ClassVar[MetricScale] = MetricScale(unit="multiples of chance")
    needs: ClassVar[MetricNeeds] = MetricNeeds(changed=True)

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare cells of every pair of columns with a changed one."""
        before = problem.before
        names = problem.roles.published(problem.dataset)
        table = problem.dataset
        changed = (
            {} if before is None else {n: _cells(changed_column(table, before, n)) for n in names}
        )
        pairs = [p for p in itertools.combinations(names, 2) if {*p} & {*problem.replaced}]
        ratios: dict[tuple[str, ...], tuple[float, float]] = {}
        for pair in pairs or [(n,) for n in problem.replaced]:
            was, now = (np.stack([changed[n][of] for n in pair], axis=1) for of in (0, 1))
            _, place = np.unique(np.concatenate([was, now]), axis=0, return_inverse=True)
            place = place.ravel()
            size = int(place.max(initial=0)) + 1
            counts = (
                np.bincount(p, minlength=size) for p in (place[: len(was)], place[len(was) :])
            )
            found, chance = saturated(*counts)
            ratios[pair] = found, (found / chance if chance > 0 else 0.0)
        return Measure(
            metric=self.name,
            value=float(np.mean([ratio for _, ratio in ratios.values()])),
            share=min(4 * float(np.mean([found for found, _ in ratios.values()])), 1.0),
            per_column={
                n: min(4 * float(np.mean([f for p, (f, _) in ratios.items() if n in p])), 1.0)
                for n in problem.replaced
            },
        )


def saturated(original: I64, published: I64) -> tuple[float, float]:
    """Return pMSE of a saturated model, and its mean under chance.

    Parameters
    ----------
    original, published : int64 arrays of shape (cells,)
        Rows of each cell.
    """
    both = (original + published).astype(np.float64)
    held = both > 0
    rows = float(both.sum())
    share = float(published.sum()) / rows
    found = float((both[held] * (published[held] / both[held] - share) ** 2).sum()) / rows
    return found, (int(held.sum()) - 1) * (1 - share) ** 2 * share / rows


def _cells(column: ChangedColumn) -> tuple[F64, F64]:
    """Return a column's values in both tables, many numbers cut into parts of about equal rows."""
    was, now = np.nan_to_num(column.was, nan=np.inf), np.nan_to_num(column.now, nan=np.inf)
    if not column.amount or len(np.unique(was)) <= _PARTS:
        return was, now
    present = column.was[~np.isnan(column.was)]
    ends = np.unique(np.quantile(present, np.arange(1, _PARTS) / _PARTS))
    return tuple(  # type: ignore[return-value]
        np.where(np.isinf(v), np.inf, np.searchsorted(ends, v, side="left").astype(np.float64))
        for v in (was, now)
    )
