"""Strict Mondrian: cut the space of quasi-identifiers in halves for as long as promises hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import vocabulary
from ..context import Context
from ..frequency import dense_rank
from ..grouping import group_runs
from ..kinds import Algorithm, GroupModel
from ..partition import cut_by_tree, strict_parts
from ..problem import Problem
from ..registry import register
from ..release import one_block
from ..results import Outcome, SearchAccount


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    """Multidimensional partition with strict cuts at the median (LeFevre et al. 2006)."""

    name: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "Mondrian"
    summary: ClassVar[str] = (
        "Cuts the table in two again and again, along the column that varies most, as long as both "
        "sides keep the promises. Each part publishes its own range per column; no row is removed."
    )
    when: ClassVar[str] = (
        "When most detail should survive and columns may be published at different detail in "
        "different parts of the table."
    )
    formula: ClassVar[str] = (
        "cut at ≤ lower median of the widest attribute, at < median where ties block it; "
        "categories with a hierarchy are cut into the children of the covering node"
    )
    source: ClassVar[str] = "LeFevre et al. 2006, doi 10.1109/ICDE.2006.101"

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Partition the table; see `Algorithm.run`."""
        return _outcome(problem, strict_parts(problem, models, context))


def _outcome(problem: Problem, class_of_run: npt.NDArray[np.int64]) -> Outcome:
    frequency = problem.frequency
    classes = int(class_of_run.max()) + 1
    by_class = np.argsort(class_of_run, kind="stable")
    begin = np.searchsorted(class_of_run[by_class], np.arange(classes))
    ranges = [
        (
            np.minimum.reduceat(frequency.run_codes[by_class, d], begin),
            np.maximum.reduceat(frequency.run_codes[by_class, d], begin),
        )
        for d in range(len(problem.quasi))
    ]
    vocabularies: dict[str, vocabulary.Vocabulary] = {}
    cells: dict[str, npt.NDArray[np.int32]] = {}
    for name, hierarchy, (lo, hi) in zip(
        problem.quasi, problem.quasi_hierarchies, ranges, strict=True
    ):
        vocabularies[name], cells[name] = vocabulary.of_boxes(
            hierarchy,
            problem.dataset.column(name).kind,
            lo,
            hi,
            as_nodes=cut_by_tree(problem, hierarchy),
        )
    # Classes are numbered by what they publish, not by the order of the cuts.
    rank, first = dense_rank(
        [cells[n] for n in problem.quasi], [len(vocabularies[n].texts) for n in problem.quasi]
    )
    grouping = group_runs(frequency, rank[class_of_run], len(first))
    sizes = grouping.sizes
    return Outcome(
        release=one_block(problem, grouping, vocabularies, {n: c[first] for n, c in cells.items()}),
        account=SearchAccount(
            proven=False,
            partition={
                "parts": float(len(sizes)),
                "smallest": float(sizes.min()),
                "largest": float(sizes.max()),
                "mean": float(sizes.mean()),
            },
        ),
    )
