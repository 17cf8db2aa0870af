"""Microaggregation: rows form small groups of the most alike, and publish the group's averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from anon_core.base.context import Context, part_of
from anon_core.base.params import choice, integer
from anon_core.base.registry import find, register
from anon_core.contracts.algorithm import Algorithm, Approach
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.contracts.purposes import Purpose, Service
from anon_core.contracts.search_cost import CellCost
from anon_core.methods.clusters.cluster_rows import average_vectors, refuse_fewer
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.methods.partition.merging import merged
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.problem import Problem
from anon_core.release.results import Outcome
from anon_core.techniques.algorithms.microaggregation.aggregation import (
    aggregated_outcome,
    standardised,
)


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
        "Repeatedly groups the k rows around those farthest from the average, and publishes the "
        "group's mean or median instead of every number. Equal rows stay together. Other columns "
        "publish a value that covers the group."
    )
    when: ClassVar[str] = (
        "When quasi-identifiers are numbers and the release is for statistics: values change but "
        "stay numbers. The work grows with the square of the different rows; some ten thousand are "
        "a matter of seconds, a million are too many."
    )
    formula: ClassVar[str] = (
        "while 2k rows are left: group argmax ‖x − x̄‖² with its k − 1 nearest; x ← group's mean; "
        "equal rows are one point of their weight, so that a group of duplicates may exceed 2k − 1"
    )
    source: ClassVar[str] = (
        "Domingo-Ferrer and Mateo-Sanz 2002, doi 10.1109/69.979982; Domingo-Ferrer and Torra 2005, "
        "doi 10.1007/s10618-005-0007-5"
    )
    serves: ClassVar[Mapping[Purpose, Service]] = {
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
    }
    approach: ClassVar[Approach] = "values"
    forms_ranges: ClassVar[bool] = True
    averages: ClassVar[bool] = True

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
        # Promises beyond k rows, and what was left over: merge with the nearest.
        prices = cell_prices(problem, cast(CellCost, find("metric", "ncp")()), nodes, weights)
        groups = merged(
            problem, models, run_buckets(problem, group), prices, part_of(context, 0.9, 1.0)
        )
        return aggregated_outcome(
            problem, groups, nodes, median=self.statistic == "median", decimals=self.decimals
        )
