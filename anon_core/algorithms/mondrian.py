"""Mondrian: cut the space of quasi-identifiers in halves for as long as promises hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import vocabulary
from ..context import Context
from ..frequency import dense_rank
from ..grouping import Grouping
from ..kinds import Algorithm, Buckets, GroupModel, run_buckets
from ..params import choice
from ..partition import cut_by_tree, relaxed_parts, strict_parts
from ..problem import Problem
from ..registry import register
from ..release import one_block
from ..results import Outcome, SearchAccount


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    """Multidimensional partition with cuts at the median (LeFevre et al. 2006)."""

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

    cuts: str = choice(
        default="strict",
        options={
            "strict": "strict, ranges never overlap",
            "relaxed": "relaxed, ranges may overlap",
        },
        help="Strict: equal values stay on one side, so ranges never overlap. Relaxed: rows at the "
        "median are dealt to both sides, so parts are smaller and ranges may overlap.",
        label="Cuts",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Partition the table; see `Algorithm.run`."""
        if self.cuts == "relaxed":
            return _outcome(problem, relaxed_parts(problem, models, context))
        return _outcome(problem, run_buckets(problem, strict_parts(problem, models, context)))


def _outcome(problem: Problem, parts: Buckets) -> Outcome:
    frequency = problem.frequency
    by_part = np.argsort(parts.group, kind="stable")
    begin = np.searchsorted(parts.group[by_part], np.arange(int(parts.group.max()) + 1))
    run = frequency.run[parts.key[by_part]]
    vocabularies: dict[str, vocabulary.Vocabulary] = {}
    cells: dict[str, npt.NDArray[np.int32]] = {}
    for d, (name, hierarchy) in enumerate(
        zip(problem.quasi, problem.quasi_hierarchies, strict=True)
    ):
        codes = frequency.run_codes[run, d]
        vocabularies[name], cells[name] = vocabulary.of_boxes(
            hierarchy,
            problem.dataset.column(name).kind,
            np.minimum.reduceat(codes, begin),
            np.maximum.reduceat(codes, begin),
            as_nodes=cut_by_tree(problem, hierarchy),
        )
    # Classes are numbered by what they publish, not by the order of the cuts; parts that publish
    # the same are one class.
    rank, first = dense_rank(
        [cells[n] for n in problem.quasi], [len(vocabularies[n].texts) for n in problem.quasi]
    )
    grouping = _grouping(parts, rank, len(first))
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


def _grouping(parts: Buckets, rank: npt.NDArray[np.int64], classes: int) -> Grouping:
    """Return the grouping in which part `i` belongs to class `rank[i]`."""
    pair, entry = np.unique(parts.key * classes + rank[parts.group], return_inverse=True)
    return Grouping(
        key=pair // classes,
        member=pair % classes,
        count=np.bincount(entry, weights=parts.count, minlength=len(pair)).astype(np.int64),
        group=np.arange(classes, dtype=np.int64),
    )
