"""Slicing: columns that go together stay linked, and the groups are permuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.base.params import choice, integer, sets_of_columns
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Offer, Service, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.methods.bucketized.permuted_release import partition_choice, permuted
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem
from anon_core.release.release import Block

# How strongly columns go together, and groups of columns that do.


_BINS = 20  # numbers with more values are cut into so many equal counts


def binned(codes: npt.NDArray[np.int32], size: int) -> tuple[npt.NDArray[np.int32], int]:
    """Return codes in at most 20 bins of nearly equal counts, keeping their order."""
    if size <= _BINS:
        return codes, size
    share = np.cumsum(np.bincount(codes, minlength=size)) / max(len(codes), 1)
    bin_of = np.minimum((share * _BINS).astype(np.int32), np.int32(_BINS - 1))
    return bin_of[codes].astype(np.int32), _BINS


def contingency(
    a: npt.NDArray[np.int32], b: npt.NDArray[np.int32], sizes: tuple[int, int]
) -> float:
    """Return the mean-square contingency coefficient φ² in [0, 1].

    φ² = Σ (f_ij − f_i· f_·j)² / (f_i· f_·j) / (min(d1, d2) − 1), over values that occur
    (Cramér 1946; Li et al. 2012, doi 10.1109/TKDE.2010.236).
    """
    table = np.bincount(a.astype(np.int64) * sizes[1] + b, minlength=sizes[0] * sizes[1])
    share = table.reshape(sizes) / max(len(a), 1)
    share = share[share.sum(axis=1) > 0][:, share.sum(axis=0) > 0]
    if min(share.shape) < 2:
        return 0.0
    expected = np.outer(share.sum(axis=1), share.sum(axis=0))
    return float(((share - expected) ** 2 / expected).sum() / (min(share.shape) - 1))


def correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Return the square of Pearson's coefficient, in [0, 1], over rows that have both numbers.

    The square is a share of variance, as φ² is of χ², so that both are on one scale. A column of
    one number goes with nothing.
    """
    known = ~(np.isnan(a) | np.isnan(b))
    x, y = a[known], b[known]
    if len(x) < 2:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    spread = float((x @ x) * (y @ y))
    return min(float(x @ y) ** 2 / spread, 1.0) if spread > 0 else 0.0


def column_groups(
    columns: Sequence[tuple[npt.NDArray[np.int32], int]],
    groups: int,
    numbers: Sequence[npt.NDArray[np.float64] | None] = (),
) -> list[list[int]]:
    """Group columns that depend on each other, by k-medoids on the distance 1 − φ², or 1 − r².

    The start is the best single medoid and then, one by one, the medoid that lowers the total
    distance most (the build step of Kaufman and Rousseeuw 1990); exchanges follow until none helps.

    Parameters
    ----------
    columns : sequence of (int32 array of shape (rows,), number of values)
    numbers : sequence of float64 arrays of shape (rows,), or None
        The numbers of columns that have some, NaN where missing: two of them are compared by their
        correlation. Without any, all columns are compared by φ².

    Returns
    -------
    list of lists of int
        Column numbers, ascending, by their group's first column.
    """
    count = len(columns)
    cut = [binned(codes, size) for codes, size in columns]
    distance = np.zeros((count, count), dtype=np.float64)
    for i in range(count):
        for j in range(i + 1, count):
            one, other = (numbers[i], numbers[j]) if numbers else (None, None)
            if one is not None and other is not None:
                value = 1.0 - correlation(one, other)
            else:
                value = 1.0 - contingency(cut[i][0], cut[j][0], (cut[i][1], cut[j][1]))
            distance[i, j] = distance[j, i] = value
    medoids: list[int] = []
    for _ in range(min(groups, count)):
        totals = [
            (distance[:, [*medoids, m]].min(axis=1).sum(), m)
            for m in range(count)
            if m not in medoids
        ]
        medoids.append(min(totals)[1])
    best = distance[:, medoids].min(axis=1).sum()
    improved = True
    while improved:
        improved = False
        for place in range(len(medoids)):
            for other in range(count):
                if other in medoids:
                    continue
                tried = [*medoids[:place], other, *medoids[place + 1 :]]
                total = distance[:, tried].min(axis=1).sum()
                if total < best - 1e-12:
                    medoids, best, improved = tried, total, True
    owner = np.argmin(distance[:, medoids], axis=1)
    owner[medoids] = np.arange(len(medoids))
    found = [np.flatnonzero(owner == g).tolist() for g in range(len(medoids))]
    return sorted((g for g in found if g), key=lambda g: g[0])


def dependence_rows(count: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the rows a dependence is measured on: all, or 100,000 drawn."""
    most = 100_000
    if count <= most:
        return np.arange(count, dtype=np.int64)
    return np.sort(generator.choice(count, size=most, replace=False)).astype(np.int64)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Slicing(Algorithm):
    """Vertical groups by dependence, horizontal groups by a partitioner (Li et al. 2012).

    1. Attribute partition: measure how much each two columns depend on each other, and form sets
       of columns by k-medoids on the distances.
    2. Tuple partition: form buckets; the partitioner checks diversity where it is its own.
    3. Permute every set of columns of each bucket independently.
    """

    name: ClassVar[str] = "slicing"
    title: ClassVar[str] = "Slicing"
    summary: ClassVar[str] = (
        "Keeps columns that depend on each other linked row by row, and shuffles these sets of "
        "columns against each other within groups of rows."
    )
    offer: ClassVar[Offer] = Offer(
        when="When relations between certain columns must survive, and other links should be cut.",
        serves={
            "training": Service(
                place=1,
                why="Columns that depend on each other stay linked row by row, with exact values, "
                "so that what a learner looks for survives.",
            ),
        },
    )
    shape: ClassVar[Shape] = Shape(permutes=True, linked="sets")
    formula: ClassVar[str] = (
        "k-medoids of columns on 1 − φ² (or 1 − r² of numbers); one permutation per column set"
    )
    source: ClassVar[str] = "Li, Li, Zhang and Molloy 2012, doi 10.1109/TKDE.2010.236"

    partition: Partitioner | Algorithm = partition_choice("mondrian")
    column_sets: int = integer(
        default=3,
        low=1,
        high=50,
        help="Number of column sets to form; sensitive columns are one more, by themselves.",
        label="Column sets",
    )
    dependence: str = choice(
        default="contingency",
        options={
            "contingency": "contingency of all columns (φ²)",
            "pearson": "correlation of numbers (r²), contingency of others",
        },
        help="How to measure which columns belong together. Contingency detects any dependence, "
        "in bins; correlation detects linear dependence only, without bins.",
        label="Dependence by",
        quiet=True,
    )
    sets: tuple[Block, ...] = sets_of_columns(
        help="Columns that stay linked row by row, such as [['age', 'sex'], ['zip', 'diagnosis']]; "
        "one that is not named is a set of its own.",
        label="Column sets by hand",
        empty="by dependence",
    )

    def release_shape(self) -> dict[str, Any]:
        """Return what a release looks like; sets that are formed are asked to no one."""
        return {**super().release_shape(), "sets": [list(part) for part in self.sets]}

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form column sets and groups; see `Algorithm.run`."""
        # 1. Attribute partition.
        named_sets = bool(self.sets)
        blocks = self.by_hand(problem) if named_sets else self.by_dependence(problem, context)
        partition = self.partition
        sees_links = isinstance(partition, Partitioner) and partition.way.sees_links
        _refuse_linked(problem, models, blocks, sees_links=sees_links)
        # 2. Tuple partition, and 3. permutation.
        return permuted(problem, partition, models, blocks, (), context, named_sets=named_sets)

    def by_dependence(self, problem: Problem, context: Context) -> tuple[Block, ...]:
        """Return the column sets k-medoids forms; the sensitive columns are a set of their own.

        A group guarantees something about sensitive values only if no one finds a person's own
        among them, so they are never linked to what an attacker may know.
        """
        names = problem.roles.published(problem.dataset)
        apart = tuple(n for n in names if n in problem.sensitive and n not in problem.quasi)
        rest = [n for n in names if n not in apart]
        context.report(0.0, "Grouping columns")
        rows = problem.row_order[dependence_rows(problem.rows, context.generator)]
        columns = [(problem.leaf_codes(n)[rows], len(problem.hierarchies[n].leaves)) for n in rest]
        numbers: list[F64 | None] = []
        if self.dependence == "pearson":
            measures = [problem.hierarchies[n].measure for n in rest]
            numbers = [
                None if measure is None else measure[codes]
                for measure, (codes, _) in zip(measures, columns, strict=True)
            ]
        formed = [
            tuple(rest[i] for i in group)
            for group in column_groups(columns, self.column_sets, numbers)
        ]
        return (*formed, apart) if apart else tuple(formed)

    def by_hand(self, problem: Problem) -> tuple[Block, ...]:
        """Return the column sets as written.

        Raises
        ------
        BadPlan
            If a column is unknown or an identifier.
        """
        names = problem.roles.published(problem.dataset)
        named = [n for part in self.sets for n in part]
        for name in named:
            if name not in names:
                raise BadPlan(
                    f"slicing: column set names '{name}', which is not published; published are "
                    f"{listing(names)}.",
                    remedy=f"Use published columns.{nearest(name, names)}",
                )
        alone = [(n,) for n in names if n not in named]
        return (*self.sets, *alone)


def _refuse_linked(
    problem: Problem, models: Sequence[GroupModel], blocks: Sequence[Block], *, sees_links: bool
) -> None:
    """Refuse to link a sensitive column to a quasi-identifier where a privacy model cannot see it.

    Slicing's own l-diversity can, if the groups are formed by it.
    """
    for model in models:
        over_all = model.sliced_share(problem)
        for column in model.protects(problem):
            (block,) = (b for b in blocks if column in b)
            linked = [name for name in block if name in problem.quasi]
            if not linked or (column in over_all and sees_links):
                continue
            raise BadPlan(
                f"{model.title} on '{column}' says nothing where the column stays linked to "
                f"{listing(linked)}: who finds the row reads the value.",
                remedy=f"Give '{column}' a column set without quasi-identifiers, or require "
                "slicing-l-diversity and form the groups by tuple-partition.",
            )
