"""Top-down partitioning of one dimension at a time, for all rows at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import NotFound
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Approach
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.methods.partition.box_release import covered_outcome
from anon_core.methods.partition.merging import group_stats, keeping
from anon_core.methods.partition.mondrian_cuts import cut_by_tree, refuse_whole
from anon_core.release.problem import Problem
from anon_core.release.results import Outcome
from anon_core.techniques.algorithms.single_dimension.column_cuts import Dimension, classes_of


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class SingleDimension(Algorithm):
    """Single-dimensional top-down partitioning (Aalborg 2022, algorithms 1 to 3, corrected)."""

    name: ClassVar[str] = "single-dimension"
    title: ClassVar[str] = "Top-down, one dimension at a time"
    summary: ClassVar[str] = (
        "Starts with one class and splits the widest column's widest part for all rows at once, "
        "as long as every class keeps the promises; equal values always publish the same."
    )
    when: ClassVar[str] = (
        "When equal values should be published alike everywhere, but levels may differ."
    )
    formula: ClassVar[str] = (
        "widest part first, width × weight; numbers at the median, first or third quartile with "
        "the best degree, categories into all children or not at all"
    )
    source: ClassVar[str] = "Aalborg 2022, Anonymization techniques, algorithms 1 to 3"
    approach: ClassVar[Approach] = "levels"
    counts_people: ClassVar[bool] = True
    merges: ClassVar[bool] = True
    forms_ranges: ClassVar[bool] = True

    weights: Mapping[str, float] = column_weights()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Split dimensions; see `Algorithm.run`."""
        weights = weights_by_column(problem, self.weights, self.name)
        dimensions = [
            Dimension(
                hierarchy=h,
                rows=problem.leaf_rows[h.column],
                by_tree=cut_by_tree(problem, h),
                weight=w,
            )
            for h, w in zip(problem.quasi_hierarchies, weights.tolist(), strict=True)
        ]
        if self._degree(problem, models, dimensions) is None:
            refuse_whole(problem, models)
            raise NotFound(
                "Not found: the classes that splitting starts from break a promise, and smaller "
                "ones may keep it.",
                remedy="Choose the optimal search or Mondrian, or ask for less.",
                best=0.0,
                best_of="share of classes that keep it",
            )
        tried = 0
        while True:
            # 1. The widest part that can still be split; ties go to the column named first.
            tried += 1
            context.report(1.0 - 1.0 / tried, "Splitting columns")
            widest = max(range(len(dimensions)), key=lambda d: (dimensions[d].width, -d))
            dimension = dimensions[widest]
            if dimension.width < 0 or context.out_of_time():
                break
            # 2. Of the ways to split it that every class survives, the one of the best degree.
            part = dimension.widest
            best: tuple[float, npt.NDArray[np.int32]] | None = None
            widths = [one.width for one in dimensions] if context.listening else []
            ways: list[tuple[npt.NDArray[np.int32], float | None]] = []
            for split in dimension.splits(part):
                dimension.begin, before = split, dimension.begin
                degree = self._degree(problem, models, dimensions)
                dimension.begin = before
                ways.append((split, degree))
                if degree is not None and (best is None or degree > best[0]):
                    best = degree, split
            # 3. Where there is none the part stays whole.
            if best is None:
                dimension.close(part)
            else:
                dimension.begin = best[1]
            if context.listening:
                taken = dimension.begin if best is not None else None
                context.event(
                    "dimension", column=widest, part=part, width=widths, ways=ways, taken=taken
                )
        classes = classes_of(problem, dimensions)
        ends = [dimension.covers() for dimension in dimensions]
        codes = problem.frequency.run_codes[np.unique(classes, return_index=True)[1]]
        low = np.stack([ends[d][0][codes[:, d]] for d in range(len(ends))], axis=1)
        high = np.stack([ends[d][1][codes[:, d]] for d in range(len(ends))], axis=1)
        nodes = [dimension.by_tree for dimension in dimensions]
        return covered_outcome(problem, run_buckets(problem, classes), low, high, nodes)

    # Event "dimension" tells of every part that was looked at: the number of the widest `column`,
    # the first leaf of its `part`, the `width` of each column's widest part, the `ways` to split it
    # (first leaf of the part of each leaf, and the degree, None where a class breaks a promise),
    # and which of them was `taken`, None where the part stays whole.

    def _degree(
        self, problem: Problem, models: Sequence[GroupModel], dimensions: Sequence[Dimension]
    ) -> float | None:
        """Return the degree that all classes reach, or None where one breaks a promise.

        The degree is the smallest number of distinct sensitive values of a class where promises
        look at values, and the smallest size of a class else.
        """
        groups = run_buckets(problem, classes_of(problem, dimensions))
        if not keeping(problem, models, groups).all():
            return None
        stats = group_stats(problem, models, groups)
        if stats.histograms:
            return float(min(h.distinct.min() for h in stats.histograms.values()))
        return float(stats.sizes.min())
