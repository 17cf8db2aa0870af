"""Strict Mondrian: cut the space of quasi-identifiers in halves for as long as promises hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import vocabulary
from ..context import Context
from ..errors import BadPlan, Infeasible
from ..frequency import dense_rank
from ..grouping import group_runs
from ..hierarchy import Hierarchy
from ..kernels.split import split
from ..kinds import Algorithm, GroupModel, GroupStats, histogram
from ..problem import Problem
from ..registry import register
from ..release import one_block
from ..results import Outcome, SearchAccount

_WORK = 20_000_000  # tuple visits between two looks at the cancel button, about 0.1 s


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
        frequency = problem.frequency
        distinct: dict[str, int] = {}
        for model in models:
            for name, least in model.least_distinct(problem).items():
                distinct[name] = max(least, distinct.get(name, 0))
        _refuse_whole(problem, models)
        quasi = range(len(problem.quasi))
        extra = [frequency.columns.index(name) for name in distinct]
        if extra:
            columns = [frequency.codes[:, d] for d in (*quasi, *extra)]
            sizes = [
                len(problem.hierarchies[frequency.columns[d]].leaves) for d in (*quasi, *extra)
            ]
            rank, first = dense_rank(columns, sizes)
            count = np.bincount(rank, weights=frequency.count).astype(np.int64)
            run_of = frequency.run[first]
            codes = np.ascontiguousarray(
                np.stack([c[first] for c in columns[: len(quasi)]], axis=1)
            )
            sensitive = np.stack([c[first] for c in columns[len(quasi) :]], axis=1)
        else:
            codes, count = frequency.run_codes, frequency.run_count
            run_of = np.arange(len(count), dtype=np.int64)
            sensitive = np.empty((len(count), 0), dtype=np.int32)
        part = _partition(
            problem,
            codes,
            count,
            np.ascontiguousarray(sensitive.astype(np.int32)),
            np.array(list(distinct.values()), dtype=np.int64),
            max(m.least_size() for m in models),
            context,
        )
        # A quasi tuple is never divided: strict cuts separate by value.
        class_of_run = np.empty(len(frequency.run_count), dtype=np.int64)
        class_of_run[run_of] = part
        return _outcome(problem, class_of_run)


def _refuse_whole(problem: Problem, models: Sequence[GroupModel]) -> None:
    """Refuse models that cuts cannot look at, and what not even the whole table can keep."""
    frequency = problem.frequency
    one = np.zeros(len(frequency.count), dtype=np.int64)
    for model in models:
        if not model.by_limits:
            raise BadPlan(
                f"Mondrian cannot be steered by {model.title}.",
                remedy="Choose another privacy model, or the optimal search.",
            )
        histograms = {
            name: histogram(
                one,
                frequency.codes[:, frequency.columns.index(name)],
                frequency.count,
                1,
                len(problem.hierarchies[name].leaves),
            )
            for name in model.needs(problem)
        }
        stats = GroupStats(sizes=np.array([problem.rows], dtype=np.int64), histograms=histograms)
        if not model.per_group(stats)[0]:
            raise Infeasible(
                f"Not even the whole table as one class keeps {model.title}.",
                remedy="Ask for less, or load more rows.",
                best=0.0,
                best_of="classes that keep it",
            )


def _partition(
    problem: Problem,
    codes: npt.NDArray[np.int32],
    count: npt.NDArray[np.int64],
    sensitive: npt.NDArray[np.int32],
    distinct: npt.NDArray[np.int64],
    least: int,
    context: Context,
) -> npt.NDArray[np.int64]:
    """Return the part of every tuple, shape (tuples,)."""
    tuples = len(count)
    hierarchies = problem.quasi_hierarchies
    by_tree = np.array([cut_by_tree(problem, h) for h in hierarchies], dtype=np.bool_)
    positions = [normalized_positions(h) for h in hierarchies]
    leaves = np.array([len(h.leaves) for h in hierarchies], dtype=np.int64)
    trees = [h.first_leaf.ravel().astype(np.int64) for h in hierarchies]
    order = np.arange(tuples, dtype=np.int64)
    stack = np.empty((tuples + 1, 2), dtype=np.int64)
    stack[0] = 0, tuples
    parts = np.empty((tuples, 2), dtype=np.int64)
    depth, found = 1, 0
    while depth:
        settled = int(parts[found - 1, 1]) if found else 0
        context.report(settled / tuples, "Partitioning")
        depth, found = split(
            codes,
            count,
            order,
            stack,
            depth,
            parts,
            found,
            least,
            sensitive,
            distinct,
            np.concatenate(positions),
            (np.cumsum(leaves) - leaves).astype(np.int64),
            np.array(
                [len(h.leaves) - 1 if h.has_missing else -1 for h in hierarchies], dtype=np.int64
            ),
            by_tree,
            np.concatenate(trees),
            np.array([h.height + 1 for h in hierarchies], dtype=np.int64),
            np.concatenate([[0], np.cumsum([len(t) for t in trees])[:-1]]).astype(np.int64),
            leaves,
            _WORK,
        )
    runs = parts[:found][np.argsort(parts[:found, 0])]
    part = np.empty(tuples, dtype=np.int64)
    part[order] = np.repeat(np.arange(found), runs[:, 1] - runs[:, 0])
    return part


def cut_by_tree(problem: Problem, hierarchy: Hierarchy) -> bool:
    """Say whether a column is cut along its hierarchy: text with at least one level of groups."""
    return problem.dataset.column(hierarchy.column).kind == "text" and hierarchy.height > 1


def normalized_positions(hierarchy: Hierarchy) -> npt.NDArray[np.float64]:
    """Return a position in [0, 1] per leaf: by value for numbers and dates, else by order.

    The missing value stands a whole width beyond the rest, so that its column is cut first.
    """
    size = len(hierarchy.leaves)
    found = np.arange(size, dtype=np.float64) / max(size - 1, 1)
    if hierarchy.measure is not None:
        seen = hierarchy.measure[~np.isnan(hierarchy.measure)]
        whole = float(seen[-1] - seen[0]) if len(seen) > 1 else 0.0
        found[: len(seen)] = (seen - seen[0]) / whole if whole > 0 else 0.0
    if hierarchy.has_missing:
        found[-1] = 2.0
    return found


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
