"""Microaggregation: rows form small groups of the most alike, and publish the group's averages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context, part_of
from anon_core.base.params import choice, integer
from anon_core.base.registry import find, register
from anon_core.contracts.algorithm import Algorithm, Offer, Service, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, run_buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.contracts.search_cost import CellCost
from anon_core.data.values.kinds import KINDS
from anon_core.methods.clusters.cluster_rows import average_vectors, refuse_fewer, standardised
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.methods.partition.box_release import covered_outcome, hulls
from anon_core.methods.partition.merging import merged
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem
from anon_core.release.vocabulary import Vocabulary, as_published, of_numbers

# Publish, for every part of the table, one number instead of each column's numbers.


def aggregated_outcome(
    problem: Problem,
    parts: Buckets,
    as_nodes: Sequence[bool],
    *,
    median: bool,
    decimals: int,
) -> Outcome:
    """Publish each part's mean or median of every column of numbers, and covers of the rest.

    Parameters
    ----------
    parts : Buckets
        Every part from 0 on has a key.
    as_nodes : sequence of bool
        Per quasi-identifier, whether a column that is not a number publishes nodes or ranges.
    median : bool
        The median instead of the mean; of an even number of values, the mean of the middle two.
    decimals : int
        Decimals beyond those of the column's own values.
    """
    low, high = hulls(problem, parts)
    codes = problem.frequency.run_codes[problem.frequency.run[parts.key]]
    replaced: dict[str, tuple[Vocabulary, npt.NDArray[np.int32]]] = {}
    for d, (name, hierarchy) in enumerate(
        zip(problem.quasi, problem.quasi_hierarchies, strict=True)
    ):
        if not KINDS[problem.dataset.column(name).kind].amount or hierarchy.measure is None:
            continue
        leaf = codes[:, d]
        value = hierarchy.measure[leaf]
        present = ~np.isnan(value)
        group, count, value = parts.group[present], parts.count[present], value[present]
        own = own_decimals(problem, name)
        averages = (medians if median else means)(group, count, value, len(low))
        shown = [as_published(number, own + decimals) for number in averages.tolist()]
        largest = float(np.abs(value).max(initial=0.0)) * 10.0 ** (own + decimals)
        if largest * float(count.sum()) >= _EXACT:  # sums that floats round
            units = [units_of(hierarchy.leaves[code], own) for code in leaf[present].tolist()]
            found = (exact_medians if median else exact_means)(group, count, value, units)
            for number, average in found.items():
                shown[number] = as_published(average / 10**own, own + decimals)
        replaced[name] = of_numbers(hierarchy, shown, low[:, d], high[:, d])
    return covered_outcome(problem, parts, low, high, as_nodes, replaced=replaced)


def own_decimals(problem: Problem, name: str) -> int:
    """Return the most decimals that a value of the table has in a column of numbers."""
    found = 0
    leaves = problem.hierarchies[name].leaves
    for leaf in np.flatnonzero(problem.leaf_rows[name]).tolist():
        text = leaves[leaf].strip().replace(",", ".")
        if text:
            found = max(found, -int(Decimal(text).normalize().as_tuple().exponent))
    return found


def means(group: I64, count: I64, value: F64, groups: int) -> F64:
    """Return the mean of each group's values, NaN where it has none, shape (groups,)."""
    rows = np.bincount(group, weights=count, minlength=groups)
    total = np.bincount(group, weights=count * value, minlength=groups)
    return np.where(rows > 0, total / np.maximum(rows, 1.0), np.nan)


def medians(group: I64, count: I64, value: F64, groups: int) -> F64:
    """Return the median of each group's values, NaN where it has none, shape (groups,)."""
    filled, one, other = _middle(group, count, value, groups)
    found = np.full(groups, np.nan)
    found[filled] = (value[one] + value[other]) / 2.0
    return found


def _middle(group: I64, count: I64, value: F64, groups: int) -> tuple[I64, I64, I64]:
    """Return the groups that have rows, and the places of the two middle values of each."""
    order = np.lexsort([value, group])
    upto = np.cumsum(count[order])
    rows = np.bincount(group, weights=count, minlength=groups).astype(np.int64)
    begin = np.cumsum(rows) - rows
    # Rows of a group are one after the other; the middle ones are found by counting.
    filled = np.flatnonzero(rows > 0)
    middle = (begin + (rows - 1) // 2, begin + rows // 2)
    one, other = (order[np.searchsorted(upto, m[filled], side="right")] for m in middle)
    return filled, one, other


# The same in whole numbers, where sums of floats would lose digits.


#: From here on 64-bit floats leave whole numbers out.
_EXACT = float(1 << 53)


def units_of(text: str, decimals: int) -> int:
    """Return a number in units of its column's last decimal."""
    return int(Decimal(text.strip().replace(",", ".")).scaleb(decimals))


def exact_means(group: I64, count: I64, value: F64, units: Sequence[int]) -> Mapping[int, Fraction]:
    """Return the mean of each group that has values; `value` is not looked at."""
    total, rows = defaultdict[int, int](int), defaultdict[int, int](int)
    for number, often, own in zip(group.tolist(), count.tolist(), units, strict=True):
        total[number] += often * own
        rows[number] += often
    return {number: Fraction(total[number], rows[number]) for number in total}


def exact_medians(
    group: I64, count: I64, value: F64, units: Sequence[int]
) -> Mapping[int, Fraction]:
    """Return the median of each group that has values, which have the order of `value`."""
    filled, one, other = _middle(group, count, value, int(group.max(initial=-1)) + 1)
    pairs = zip(filled.tolist(), one.tolist(), other.tolist(), strict=True)
    return {number: Fraction(units[a] + units[b], 2) for number, a, b in pairs}


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Microaggregation(Algorithm):
    """MDAV groups, averaged (Domingo-Ferrer and Torra 2005).

    While 3k rows are left:

    1. The row farthest from the average forms a group with the k - 1 rows nearest to it.
    2. The row farthest from that one forms another with the k - 1 rows nearest to it.

    3. With 2k rows left one more group is formed so; the rest is the last group.
    4. Every group publishes its average, or its median.

    Rows that are equal are one point of their number's weight and stay together, which the paper
    leaves open: dealt row by row, equal people would publish different averages. A group that takes
    the last of several equal rows may then have more than 2k - 1.
    """

    name: ClassVar[str] = "microaggregation"
    title: ClassVar[str] = "Microaggregation (MDAV)"
    summary: ClassVar[str] = (
        "Repeatedly groups the k rows around those farthest from the average. Publishes the "
        "group's mean or median instead of each number, and a value that covers the group in "
        "other columns. Equal rows stay together."
    )
    offer: ClassVar[Offer] = Offer(
        when="When quasi-identifiers are numbers and the release is for statistics: values change "
        "but stay numbers. The work grows with the square of the different rows; some ten "
        "thousand are a matter of seconds, a million are too many.",
        serves={
            "statistics": Service(
                place=2,
                why="Numbers stay numbers: each is its group's mean, so that totals and averages "
                "barely change.",
                most_rows=30_000,
            ),
            "training": Service(
                place=6,
                why="Numbers stay numbers, each the mean of similar rows.",
                most_rows=30_000,
            ),
        },
    )
    shape: ClassVar[Shape] = Shape(approach="values", forms_ranges=True, averages=True)
    formula: ClassVar[str] = (
        "while 2k rows are left: group argmax ‖x − x̄‖² with its k − 1 nearest; x ← group's mean; "
        "equal rows are one point of their weight, so that a group of duplicates may exceed 2k − 1"
    )
    source: ClassVar[str] = (
        "Domingo-Ferrer and Mateo-Sanz 2002, doi 10.1109/69.979982; Domingo-Ferrer and Torra 2005, "
        "doi 10.1007/s10618-005-0007-5"
    )

    statistic: str = choice(
        default="mean",
        options={"mean": "Mean", "median": "Median"},
        help="What a group publishes instead of its numbers.",
        label="Numbers become the",
    )
    decimals: int = integer(
        default=1,
        low=0,
        high=6,
        help="Decimals published beyond those that the column's own values have.",
        label="More decimals",
    )
    weights: Mapping[str, float] = column_weights()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form groups and publish what they have on average; see `Algorithm.run`."""
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        weights = weights_by_column(problem, self.weights, self.name)
        k = max(model.least_size() for model in models)
        refuse_fewer(problem, k)
        group = average_vectors(
            standardised(problem, weights),
            problem.frequency.run_count,
            k,
            part_of(context, 0.0, 0.9),
        )
        # Privacy models beyond k rows, and what was left over: merge with the nearest.
        prices = cell_prices(problem, cast(CellCost, find("metric", "ncp")()), nodes, weights)
        groups = merged(
            problem, models, run_buckets(problem, group), prices, part_of(context, 0.9, 1.0)
        )
        return aggregated_outcome(
            problem, groups, nodes, median=self.statistic == "median", decimals=self.decimals
        )
