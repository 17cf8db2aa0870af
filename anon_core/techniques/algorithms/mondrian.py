"""Mondrian: cut the space of quasi-identifiers in two for as long as privacy models hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.params import choice
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.contracts.search_cost import CellCost, saving
from anon_core.contracts.stop_rules import replay, stop_limits
from anon_core.methods.partition.best_gain import cell_prices, gain_parts
from anon_core.methods.partition.box_release import box_outcome, covered_outcome
from anon_core.methods.partition.mondrian_cuts import (
    cut_by_tree,
    normalized_positions,
    relaxed_parts,
    strict_parts,
)
from anon_core.methods.partition.out_of_core_cuts import classes_in_pieces
from anon_core.release.minimality_rule import UncutClasses
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    """Multidimensional partition (LeFevre et al. 2006).

    For every part, beginning with the whole table:

    1. Choose the dimension with the largest normalized width.
    2. Cut it at the median: values up to the lower median, and above; where equal values block
       that, below the median, and from it on. Relaxed cuts deal the rows at the median instead.
    3. If both sides keep the privacy models, go on with each of them; otherwise try the next
    dimension. 4. A part that no dimension cuts publishes its range in every column.
    """

    name: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "Mondrian"
    summary: ClassVar[str] = (
        "Cuts the table in two along the column that varies most, again and again, while both "
        "sides satisfy the privacy models. Each part publishes its own range per column. "
        "Suppresses no row."
    )
    offer: ClassVar[Offer] = Offer(
        when="When most detail should survive and columns may be published at different detail in "
        "different parts of the table.",
        serves={
            "statistics": Service(
                place=4,
                why="Ranges are as narrow as each part of the table allows, so that counts over "
                "narrow ranges are estimated well, and no row is lost.",
            ),
            "training": Service(
                place=2,
                why="Most detail survives, in ranges that a learner takes as numbers, and no row "
                "is lost.",
            ),
            "sharing": Service(
                place=2,
                why="Every row is published, each with ranges as narrow as its own part of the "
                "table allows.",
            ),
            "teaching": Service(
                place=3,
                why="The cuts can be drawn as rectangles, and every row keeps as much detail as "
                "its part of the table allows.",
            ),
        },
        met_at=2,
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True, rounded={"output": "node"})
    needs: ClassVar[Needs] = Needs(counts_people=True, from_counts=True)
    formula: ClassVar[str] = (
        "cut at ≤ lower median of the widest attribute, at < median where ties block it; "
        "categories with a hierarchy are cut into the children of the covering node; or, of all "
        "cuts, the one with the least rows × cost on both sides"
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
    cut_at: str = choice(
        default="median",
        options={
            "median": "Median of the widest column",
            "quartiles": "The quartile that saves most, of any column",
            "best-gain": "The place that saves most, of any column",
        },
        help="Where strict cuts are made. The median is the paper's; the others take longer and "
        "keep more.",
        label="Cut at",
    )
    output: str = choice(
        default="mixed",
        options={
            "mixed": "Ranges of numbers, groups of the hierarchy else",
            "node": "Groups of the hierarchy",
            "set": "Ranges of numbers, sets of values else",
        },
        help="What a part publishes. A set lists the values from the part's first to its last in "
        "the hierarchy's order.",
        label="Cells",
    )
    metric: CellCost = saving(help="What cuts that look for savings save; the median needs none.")
    weights: Mapping[str, float] = column_weights()

    @property
    def draws(self) -> bool:
        """Relaxed cuts draw which of the rows at a median go where; see `Algorithm.draws`."""
        return self.cuts == "relaxed"

    @property
    def cuts_in_pieces(self) -> bool:
        """Strict cuts at medians follow from counts of one column; see `Algorithm`."""
        return self.cuts == "strict" and self.cut_at == "median"

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Partition the table; see `Algorithm.run`."""
        weights = weights_by_column(problem, self.weights, self.name)
        trees = [
            self.output != "set" and cut_by_tree(problem, h) for h in problem.quasi_hierarchies
        ]
        nodes = [self.output == "node" or tree for tree in trees]
        if problem.pieces is not None:
            classes = classes_in_pieces(
                problem, problem.pieces, models, context, by_tree=trees, weights=weights
            )
            by_class, ends = classes.problem, (classes.low, classes.high)
            return covered_outcome(by_class, classes.parts, *ends, nodes)
        if self.cuts == "relaxed":
            if self.cut_at != "median":
                raise BadPlan(
                    f"{self.name}: relaxed cuts deal the rows at the median; cut_at is "
                    f"{self.cut_at!r}.",
                    remedy="Set cut_at to 'median', or cuts to 'strict'.",
                )
            parts = relaxed_parts(problem, models, context, by_tree=trees, weights=weights)
            return box_outcome(problem, parts, nodes)
        if self.cut_at == "median":
            part = strict_parts(problem, models, context, by_tree=trees, weights=weights)
        else:
            prices = cell_prices(problem, self.metric, nodes, weights)
            quartiles = self.cut_at == "quartiles"
            part = gain_parts(problem, models, prices, context, quartiles=quartiles)
        found = box_outcome(problem, run_buckets(problem, part), nodes)
        limits = stop_limits(problem, models)
        if limits is None or context.out_of_time() or self.cut_at == "quartiles":
            return found
        # Median cuts by value may leave two parts in one group of the hierarchy: no class is known.
        by_median = self.cut_at == "median"
        if by_median and any(node and not tree for node, tree in zip(nodes, trees, strict=True)):
            return found
        ways = ("children", "median") if by_median else ("apart", "anywhere")
        stopped = UncutClasses(
            **limits,
            cut=tuple(ways[0] if node else ways[1] for node in nodes),
            by_node=tuple(nodes),
            marginal=by_median,
            positions=tuple(normalized_positions(h) for h in problem.quasi_hierarchies),
            weights=tuple(weights.tolist()),
            again=replay(self, problem, models),
        )
        return replace(found, release=replace(found.release, stopped=stopped))
