"""Cell suppression and cell generalization: change single cells, as few as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from anon_core.base.context import Context, part_of
from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import choice, sets_of_columns
from anon_core.base.registry import find, register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.per_column import (
    column_levels,
    column_weights,
    levels_by_column,
    weights_by_column,
)
from anon_core.contracts.search_cost import CellCost
from anon_core.contracts.stop_rules import stop_limits
from anon_core.methods.clusters.cell_groups import cell_groups, follow
from anon_core.methods.partition.best_gain import cell_prices, suppression_prices
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.merging import merged_as_published
from anon_core.release.minimality_rule import MinimalRows
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class CellSuppression(Algorithm):
    """Groups of k rows and a little more that agree in as many cells as possible.

    1. With whole columns raised first (AG_CS), choose their levels.
    2. Group the rows: a forest of k-row trees cut into groups of k to 2k - 1 (Aggarwal et al.
       2005), balls of small diameter (Meyerson and Williams 2004), the cheapest links for k = 2
       and 3, or exactly, for few rows.
    3. Hide, or generalize, the cells in which the rows of a group differ.
    """

    name: ClassVar[str] = "cell-suppression"
    title: ClassVar[str] = "Cell suppression and generalization"
    summary: ClassVar[str] = (
        "Groups rows that agree in most cells, and blanks or generalizes only the cells in which "
        "they differ. Suppresses no row."
    )
    offer: ClassVar[Offer] = Offer(
        when="When values should stay exact wherever they can, and single cells may be blank."
    )
    shape: ClassVar[Shape] = Shape(approach="cells", by_chance=True)
    needs: ClassVar[Needs] = Needs(merges_by_public=True)
    formula: ClassVar[str] = (
        "Σ over groups of rows × price of the cells that differ; forest ≤ (3k − 3) · optimum, "
        "balls ≤ 6k (1 + ln n) · optimum, links ≤ k · optimum (two values a column: 1.5 for k = 2, "
        "2 for k = 3), exact = optimum"
    )
    source: ClassVar[str] = (
        "Meyerson and Williams 2004, doi 10.1145/1055558.1055591; Aggarwal et al. 2005, "
        "Approximation algorithms for k-anonymity"
    )

    transformation: str = choice(
        default="CS",
        options={
            "CS": "cells blanked (CS)",
            "CG": "cells generalized (CG)",
            "AG_CS": "levels, then cells (AG_CS)",
        },
        help="What happens to cells in which the rows of a group differ.",
        label="What may be changed",
        # The top of a hierarchy blanks the cell (Samarati 2008, slide 33).
        aliases={"CG_CS": "CG"},
    )
    method: str = choice(
        default="forest",
        options={
            "forest": "forest of nearest neighbours",
            "balls": "cover by balls, up to 1,500 rows",
            "links": "cheapest links, k of 2 or 3, up to 250 rows",
            "exact": "the optimum, up to 16 rows",
        },
        help="How groups are found; all approximations have a proven factor.",
        label="Groups by",
    )
    levels: Mapping[str, int] = column_levels(
        help="Levels that columns are raised to first, for example age = 1, where columns are "
        "raised. Where none is named, those of the optimal search that may remove rows freely.",
        empty="exact, or searched where no column is set",
    )
    weights: Mapping[str, float] = column_weights(quiet=True)
    linked: tuple[tuple[str, ...], ...] = sets_of_columns(
        help="Columns that tell each other, such as [['zip', 'city']]: where the first is blanked, "
        "so are the others. All are quasi-identifiers.",
        label="Linked columns",
        empty="each by itself",
        quiet=True,
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Group the rows and change their cells; see `Algorithm.run`."""
        self._refuse_linked(problem)
        nodes = [True] * len(problem.quasi)
        weights = weights_by_column(problem, self.weights, self.name)
        levels = (0,) * len(problem.quasi)
        if self.transformation == "AG_CS":
            levels = self._raised(problem, models, part_of(context, 0.0, 0.4))
        if self.transformation == "CG":
            metric = cast(CellCost, find("metric", "loss")())
            prices = cell_prices(problem, metric, nodes, weights)
        else:
            prices = suppression_prices(problem, levels, weights)
        within = part_of(context, 0.4, 0.9)
        linked = self.linked
        together = follow(problem, levels, linked, weights) if linked else None
        groups = cell_groups(problem, models, prices, self.method, within, together=together)
        blank = None if self.transformation == "CG" else levels
        within = part_of(context, 0.9, 1.0)
        groups = merged_as_published(
            problem, models, groups, prices, nodes, within, blank_above=blank, linked=linked
        )
        found = box_outcome(problem, groups, nodes, blank_above=blank, linked=linked)
        limits = stop_limits(problem, models)
        # At the least cost, whatever said less of some rows and of none more would cost less.
        cheapest = self.method == "exact" and self.transformation == "CG"
        if limits is None or not cheapest or context.out_of_time():
            return found
        return replace(found, release=replace(found.release, stopped=MinimalRows(**limits)))

    def _refuse_linked(self, problem: Problem) -> None:
        for own in self.linked:
            strange = [name for name in own if name not in problem.quasi]
            if strange:
                raise BadPlan(
                    f"{self.title}: linked names {listing(strange)}, which is not a "
                    "quasi-identifier, so its cells cannot be blanked.",
                    remedy=f"Make it a quasi-identifier; they are {listing(problem.quasi)}.",
                )
            if len(own) < 2:
                raise BadPlan(
                    f"{self.title}: linked has {listing(own) or 'no column'} by itself.",
                    remedy="Name the columns that follow it, such as [['zip', 'city']].",
                )
        if self.linked and self.transformation == "CG":
            raise BadPlan(
                f"{self.title}: columns are linked where cells are blanked, and here cells are "
                "generalized.",
                remedy="Choose cells blanked (CS), or link no columns.",
            )

    def _raised(
        self, problem: Problem, models: Sequence[GroupModel], context: Context
    ) -> tuple[int, ...]:
        if self.levels:
            return levels_by_column(problem, self.levels, self.name)
        search = cast(Algorithm, find("algorithm", "optimal").from_mapping({"max_suppression": 1}))
        node = search.run(problem, models, context).account.node or {}
        return tuple(node.get(name, 0) for name in problem.quasi)
