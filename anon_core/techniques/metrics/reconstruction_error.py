"""Reconstruction error: how far what is rebuilt of each person is from the truth, as a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.params import integer, sensitive_column
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricScale
from anon_core.contracts.model import sensitive_columns
from anon_core.contracts.search_cost import labels_of
from anon_core.methods.bucketized.reconstruction import (
    Reconstruction,
    anatomy_bound,
    is_defined,
    reconstruction,
)
from anon_core.release.attack_result import Details
from anon_core.release.outcome import Measure, share_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: Groups whose error is listed, the largest error first.
_LISTED = 12


@register("metric")
@dataclass(frozen=True, kw_only=True)
class ReconstructionError(Metric):
    """RCE: the squared distance of the density rebuilt for a person from a spike at the truth."""

    name: ClassVar[str] = "reconstruction-error"
    title: ClassVar[str] = "Reconstruction error"
    summary: ClassVar[str] = (
        "How far an analyst's picture of each person, a probability for every value, is from the "
        "truth: 0 is everyone rebuilt exactly, 1 is nothing left of them, and up to 2 is a "
        "picture that points to wrong values. Lower keeps more for analysis, and leaves more to "
        "find out."
    )
    formula: ClassVar[str] = (
        "mean over persons of (1 − δ · c(own value))² + Σ over other values v of (δ · c(v))², c(v) "
        "rows of the group with v; δ = 1/N where quasi-identifiers stay together, else the product "
        "over blocks of n/N, at most 1/N (RCE as published has no such limit). Where rows stay "
        "whole: 1 − 1/V, V the values that her cells cover. A suppressed row pays 1. 0–1 form: "
        "divided by the same with every quasi-identifier suppressed"
    )
    source: ClassVar[str] = (
        "Xiao and Tao 2006, Anatomy, VLDB, 139–150; Li et al. 2015, Permutation anonymization, "
        "equations 3–12 and theorem 2 (corrected)"
    )
    scale: ClassVar[MetricScale] = MetricScale(unit="per person", counts_links=True)

    column: str = sensitive_column(
        help="Sensitive column that is rebuilt; empty for the first.",
        label="Rebuilt",
        empty="the first sensitive column",
    )
    least: int = integer(
        default=0,
        low=0,
        help="l of the bounds shown with it; 0 for the rows of the smallest group.",
        label="l of the bounds",
    )

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        return "" if labels_of(problem) else "It needs a sensitive column to rebuild."

    def not_defined_for(self, release: Release) -> str:
        """Return why no density is defined, or an empty string."""
        if release.replaced:
            return "Averages cover no values for sure, so no density is rebuilt from them."
        names = labels_of(release.problem)
        if _whole(release) or all(is_defined(release, name) for name in names):
            return ""
        return "It is defined for rows that stay whole, and for groups of exact cells."

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Rebuild every person.

        Raises
        ------
        AnonError
            If no density is defined for the release.
        """
        reason = self.reason_not_applicable(problem) or self.not_defined_for(release)
        if reason:
            raise AnonError(reason, remedy="Choose another metric.")
        column = sensitive_columns(problem, self.column or labels_of(problem)[0], self.title)[0]
        whole = 1.0 - 1.0 / math.prod(float(h.size or 1) for h in problem.quasi_hierarchies)
        if _whole(release):
            error = _of_boxes(release)
            total = float(error @ release.grouping.sizes) + release.suppressed
            return Measure(
                metric=self.name,
                value=total / max(problem.rows, 1),
                share=share_of(total / max(problem.rows, 1), whole),
                per_class=error,
                also={"RCE": total},
            )
        sizes = release.view.group_size
        least = self.least or int(sizes[sizes > 0].min(initial=problem.rows))
        found = reconstruction(release, column, least)
        rows = max(problem.rows, 1)
        value = (found.scaled + release.suppressed) / rows
        also = {
            "RCE": found.error + release.suppressed,
            "Anatomy's least, n(1 − 1/l)": anatomy_bound(release.view.rows, least),
        }
        if found.bound_holds:
            also["Li's least (theorem 2)"] = found.bound
        for name in labels_of(problem):
            if name != column:
                own = reconstruction(release, name, least).scaled + release.suppressed
                also[f"of '{name}'"] = own / rows
        return Measure(
            metric=self.name,
            value=value,
            share=share_of(value, whole),
            also=also,
            details=(_details(release, found, column),),
        )


def _whole(release: Release) -> bool:
    """Say whether every published row is one row of the table."""
    return len(release.blocks) == 1 and not release.replaced


def _of_boxes(release: Release) -> F64:
    """Return the error of a person of each class, 1 − 1/V, shape (classes,)."""
    volume = np.ones(release.grouping.classes, dtype=np.float64)
    for hierarchy in release.problem.quasi_hierarchies:
        covered = hierarchy.leaf_count(*release.ends(hierarchy.column))
        with np.errstate(over="ignore"):  # of many columns the volume is beyond any number
            volume *= np.maximum(covered, 1)
    return 1.0 - 1.0 / volume


def _details(release: Release, found: Reconstruction, column: str) -> Details:
    sizes = release.view.group_size
    mean = found.per_group / np.maximum(sizes, 1)
    ranked = np.argsort(-mean, kind="stable")[:_LISTED]
    return Details(
        title=f"Groups by what is lost of '{column}', the most first",
        rows=tuple(
            {"group": int(g) + 1, "rows": int(sizes[g]), "error per person": float(mean[g])}
            for g in ranked
        ),
        x="group",
        y=("error per person",),
        drawn="table",
        shares=False,
    )
