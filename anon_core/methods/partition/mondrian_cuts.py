"""Mondrian partitions, strict and relaxed, for the algorithm and for every permuted release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, NotFound
from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, buckets_of_rows
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.values.kinds import KINDS
from anon_core.methods.partition.checked_cuts import Ways, asked_parts
from anon_core.methods.partition.parallel_split import Tuples, axes_of, cut
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem

WORK = 20_000_000  # tuple visits between two looks at the cancel button, about 0.1 s


@dataclass(frozen=True, kw_only=True, eq=False)
class WatchedTuples(Tuples):
    """Distinct quasi tuples, distinguished by the sensitive columns that privacy models watch.

    Attributes
    ----------
    run : int64 array of shape (tuples,)
        Run of the frequency set that each tuple belongs to.
    """

    run: npt.NDArray[np.int64]
    runs: int

    def per_run(self, part: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the part of every run, shape (runs,), from that of every tuple."""
        found = np.empty(self.runs, dtype=np.int64)
        found[self.run] = part
        return found


def watched_tuples(
    problem: Problem, models: Sequence[GroupModel], *, whole: bool = True
) -> WatchedTuples:
    """Return what a partition works on and must keep.

    `whole` says whether all rows are released; else parts to begin with are known to be good.

    Raises
    ------
    Infeasible
        If not even the whole table as one part keeps the privacy models.
    BadPlan
        If cuts cannot be steered by a model.
    """
    frequency = problem.frequency
    watched, distinct, share = limits(problem, models)
    if whole:
        refuse_whole(problem, models)
    quasi = range(len(problem.quasi))
    extra = [frequency.columns.index(name) for name in watched]
    if extra:
        columns = [frequency.codes[:, d] for d in (*quasi, *extra)]
        sizes = [len(problem.hierarchies[frequency.columns[d]].leaves) for d in (*quasi, *extra)]
        rank, first = dense_rank(columns, sizes)
        count = np.bincount(rank, weights=frequency.count).astype(np.int64)
        run_of = frequency.run[first]
        codes = np.ascontiguousarray(np.stack([c[first] for c in columns[: len(quasi)]], axis=1))
        sensitive = np.stack([c[first] for c in columns[len(quasi) :]], axis=1)
        sensitive = sensitive_codes(problem, watched, sensitive)
    else:
        codes, count = frequency.run_codes, frequency.run_count
        run_of = np.arange(len(count), dtype=np.int64)
        sensitive = np.empty((len(count), 0), dtype=np.int32)
    return WatchedTuples(
        codes=codes,
        count=count,
        run=run_of,
        runs=len(frequency.run_count),
        sensitive=sensitive,
        values=values_of(problem, watched),
        distinct=distinct,
        share=share,
        least=max((m.least_size() for m in models), default=1),
    )


def strict_parts(
    problem: Problem,
    models: Sequence[GroupModel],
    context: Context,
    *,
    by_tree: Sequence[bool] | None = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> npt.NDArray[np.int64]:
    """Return the part of every quasi tuple of the table, shape (runs,).

    The widest attribute is cut at the lower median for as long as both sides keep the privacy
    models (LeFevre et al. 2006). A quasi tuple is never divided: strict cuts separate by value.

    Parameters
    ----------
    by_tree : sequence of bool, optional
        Per quasi-identifier, whether it is cut along its hierarchy; see `cut_by_tree`.
    weights : float64 array of shape (quasi,), optional
        Factor on the width of each quasi-identifier.

    Raises
    ------
    Infeasible
        If not even the whole table as one part keeps the privacy models.
    BadPlan
        If cuts cannot be steered by a model.
    """
    if by_limits(models):
        tuples = watched_tuples(problem, models)
        if context.listening:  # what later events number
            context.event("tuples", runs=tuples.run)
        return tuples.per_run(_partition(problem, tuples, by_tree, weights, context))
    refuse_whole(problem, models)
    frequency = problem.frequency
    keys = Buckets(
        key=np.arange(len(frequency.count)),
        group=np.zeros(len(frequency.count), dtype=np.int64),
        count=frequency.count,
    )
    ways = ways_to_cut(problem, by_tree, weights)
    part = asked_parts(problem, models, keys, ways, context, least=_least(models))
    return part[frequency.run_start]


def relaxed_parts(
    problem: Problem,
    models: Sequence[GroupModel],
    context: Context,
    *,
    by_tree: Sequence[bool] | None = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> Buckets:
    """Return the parts of a relaxed partition, in which equal rows may part.

    As `strict_parts`, but rows at the median are parted over both sides so that these are equally
    large (LeFevre et al. 2006, relaxed partitioning); ranges of parts may therefore overlap. Which
    of the rows at a median go where is drawn, so neither the table's order nor the sensitive value
    decides it. Where a balanced cut breaks a privacy model, strict cuts are tried; columns without
    an order of their own are always cut strictly.

    Raises
    ------
    Infeasible
        If not even the whole table as one part keeps the privacy models.
    """
    frequency = problem.frequency
    watched, distinct, share = limits(problem, models)
    refuse_whole(problem, models)
    key = context.generator.permutation(rows_of_keys(problem))
    if not by_limits(models):
        one = np.zeros(len(key), dtype=np.int64)
        rows = Buckets(key=key, group=one, count=np.ones(len(key), dtype=np.int64))
        ways = ways_to_cut(problem, by_tree, weights, relaxed=True)
        part = asked_parts(problem, models, rows, ways, context, least=_least(models))
        return buckets_of_rows(key, part)
    extra = [frequency.columns.index(name) for name in watched]
    rows = WatchedTuples(
        codes=np.ascontiguousarray(frequency.codes[key, : len(problem.quasi)]),
        count=np.ones(len(key), dtype=np.int64),
        run=frequency.run[key],
        runs=len(frequency.run_count),
        sensitive=sensitive_codes(problem, watched, frequency.codes[key][:, extra]),
        values=values_of(problem, watched),
        distinct=distinct,
        share=share,
        least=max((m.least_size() for m in models), default=1),
    )
    if context.listening:
        context.event("tuples", keys=key)
    part = _partition(problem, rows, by_tree, weights, context, relaxed=True)
    return buckets_of_rows(key, part)


def limits(
    problem: Problem, models: Sequence[GroupModel]
) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the columns models look at, with the distinct values and the l each asks for."""
    distinct: dict[str, int] = {}
    share: dict[str, int] = {}
    for model in models:
        for name, least in model.least_distinct(problem).items():
            distinct[name] = max(least, distinct.get(name, 0))
        for name, least in model.most_share(problem).items():
            share[name] = max(least, share.get(name, 0))
    watched = list(dict.fromkeys([*distinct, *share]))
    return (
        watched,
        np.array([distinct.get(name, 0) for name in watched], dtype=np.int64),
        np.array([share.get(name, 0) for name in watched], dtype=np.int64),
    )


def sensitive_codes(
    problem: Problem, watched: Sequence[str], codes: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Return codes of sensitive columns, shape (rows, columns), with -1 for a missing value."""
    missing = np.array([problem.hierarchies[n].missing_leaf for n in watched], dtype=np.int32)
    return np.ascontiguousarray(np.where(codes == missing, -1, codes).astype(np.int32))


def values_of(problem: Problem, watched: Sequence[str]) -> tuple[int, ...]:
    """Return the number of codes of each watched column."""
    return tuple(len(problem.hierarchies[name].leaves) for name in watched)


def keeps_whole(problem: Problem, model: GroupModel) -> bool:
    """Say whether the whole table as one class keeps a privacy model."""
    frequency = problem.frequency
    one = np.zeros(len(frequency.count), dtype=np.int64)
    histograms = {
        name: histogram(
            one,
            frequency.codes[:, frequency.columns.index(name)],
            frequency.count,
            1,
            len(problem.hierarchies[name].leaves),
            problem.hierarchies[name].missing_leaf,
        )
        for name in model.needs(problem)
    }
    stats = GroupStats(sizes=np.array([problem.rows], dtype=np.int64), histograms=histograms)
    return bool(model.per_group(stats, reference_of(problem))[0])


def by_limits(models: Sequence[GroupModel]) -> bool:
    """Say whether limits describe all privacy models, so that compiled cuts can go by them."""
    return all(model.logic.by_limits for model in models)


def refuse_unlimited(models: Sequence[GroupModel], owner: str) -> None:
    """Refuse models that no limits describe, for a technique that goes by nothing else.

    Raises
    ------
    BadPlan
    """
    for model in models:
        if not model.logic.by_limits:
            raise BadPlan(
                f"{owner} cannot be steered by {model.title}: it weighs all groups together by "
                "limits of rows, values and shares alone.",
                remedy="Form the groups with Mondrian cuts, or choose another privacy model.",
            )


def refuse_whole(problem: Problem, models: Sequence[GroupModel]) -> None:
    """Refuse what not even the whole table keeps, where every row is released.

    Groups that keep such a privacy model keep it when merged, so then no grouping of all rows keeps
    it. Where merging can break a privacy model, nothing is known of groups by that.

    Raises
    ------
    Infeasible
        If no grouping keeps a privacy model.
    NotFound
        If cuts cannot begin, and it is open whether groups keep one together.
    """
    for model in models:
        if not model.unions_keep() or keeps_whole(problem, model):
            continue
        if not model.decided_by_whole():
            raise NotFound(
                f"Not found: the whole table as one group breaks {model.title}, where cuts begin; "
                "several groups weighed together may keep it.",
                remedy="Ask for less, or load more rows.",
                best=0.0,
                best_of="groups that keep it",
            )
        raise Infeasible(
            f"Not even the whole table as one class satisfies {model.title}.",
            remedy="Ask for less, or load more rows.",
            best=0.0,
            best_of="classes that keep it",
        )


def _partition(
    problem: Problem,
    watched: WatchedTuples,
    cut_trees: Sequence[bool] | None,
    weights: npt.NDArray[np.float64] | None,
    context: Context,
    *,
    relaxed: bool = False,
) -> npt.NDArray[np.int64]:
    """Return the part of every tuple, shape (tuples,)."""
    by = ways_to_cut(problem, cut_trees, weights, relaxed=relaxed)
    axes = axes_of(by.hierarchies, by.positions, by.by_tree.tolist(), by.loose.tolist(), by.weights)
    return cut(watched, axes, context)


def _least(models: Sequence[GroupModel]) -> int:
    return max((m.least_size() for m in models), default=1)


def ways_to_cut(
    problem: Problem,
    cut_trees: Sequence[bool] | None,
    weights: npt.NDArray[np.float64] | None,
    *,
    relaxed: bool = False,
) -> Ways:
    """Return how every quasi-identifier is cut."""
    hierarchies = problem.quasi_hierarchies
    if cut_trees is None:
        cut_trees = [cut_by_tree(problem, h) for h in hierarchies]
    # Categories have no median to cut through: they are always cut strictly.
    loose = [relaxed and KINDS[problem.dataset.column(h.column).kind].ordered for h in hierarchies]
    return Ways(
        hierarchies=hierarchies,
        positions=[normalized_positions(h) for h in hierarchies],
        by_tree=np.array(cut_trees, dtype=np.bool_),
        loose=np.array(loose, dtype=np.bool_),
        weights=np.ones(len(hierarchies)) if weights is None else weights,
    )


def left_whole(
    stack: npt.NDArray[np.int64], depth: int, parts: npt.NDArray[np.int64], found: int
) -> int:
    """Settle as they are the parts that still wait to be cut; return how many there are now.

    When time is up, that is the best partition so far: every part was tested before it was put on
    the stack.
    """
    parts[found : found + depth] = stack[:depth]
    return found + depth


def parts_in_order(
    parts: npt.NDArray[np.int64], order: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the part of every tuple, shape (tuples,), from runs of an order of the tuples."""
    runs = parts[np.argsort(parts[:, 0])]
    part = np.empty(len(order), dtype=np.int64)
    part[order] = np.repeat(np.arange(len(runs)), runs[:, 1] - runs[:, 0])
    return part


def cut_by_tree(problem: Problem, hierarchy: Hierarchy) -> bool:
    """Say whether a column is cut along its hierarchy: text with at least one level of groups."""
    ordered = KINDS[problem.dataset.column(hierarchy.column).kind].ordered
    return not ordered and hierarchy.height > 1


def normalized_positions(hierarchy: Hierarchy) -> npt.NDArray[np.float64]:
    """Return a position in [0, 1] per leaf: by value for numbers and dates, else by order.

    The missing value is a whole width beyond the rest, so that its column is cut first.
    """
    size = len(hierarchy.leaves)
    found = np.arange(size, dtype=np.float64) / max(size - 1, 1)
    if hierarchy.measure is not None:
        seen = hierarchy.measure[~np.isnan(hierarchy.measure)]
        half = seen / 2  # of the largest numbers a difference is beyond all numbers
        whole = float(half[-1] - half[0]) if len(half) > 1 else 0.0
        found[: len(half)] = (half - half[0]) / whole if whole > 0 else 0.0
    if hierarchy.has_missing:
        found[-1] = 2.0
    return found


def rows_of_keys(problem: Problem) -> npt.NDArray[np.int64]:
    """Return the key of every row in canonical order: the input's order cannot matter."""
    return np.repeat(
        np.arange(len(problem.frequency.count), dtype=np.int64), problem.frequency.count
    )


def deal(
    sensitive: npt.NDArray[np.int64],
    least: int,
    generator: np.random.Generator,
    *,
    missing: int = -1,
) -> npt.NDArray[np.int64]:
    """Deal rows, ordered by sensitive value, round-robin into ⌊n/l⌋ groups.

    Li et al. 2015, algorithm 1, with its misprints corrected: an l-eligible table may have a value
    in exactly n/l rows, and the number of groups is rounded down. Every group then has l to 2l − 1
    rows with no value twice. Of n the rows without a value are no part; they are dealt last.

    Parameters
    ----------
    sensitive : int64 array of shape (rows,)
    least : int
        l.
    generator : numpy.random.Generator
        Draws which of the rows with one value goes where.
    missing : int
        The number that represents a missing value, larger than all others; -1 if there is none.

    Returns
    -------
    int64 array of shape (rows,)
        Group of every row, from 0.
    """
    groups = max(int(np.count_nonzero(sensitive != missing)) // least, 1)
    drawn = generator.permutation(len(sensitive))
    order = drawn[np.argsort(sensitive[drawn], kind="stable")]
    found = np.empty(len(sensitive), dtype=np.int64)
    found[order] = np.arange(len(sensitive)) % groups
    return found
