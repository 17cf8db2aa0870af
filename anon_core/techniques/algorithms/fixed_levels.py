"""The levels are chosen by a person: one look decides whether they keep the privacy models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.per_column import column_levels, levels_by_column
from anon_core.methods.lattice.nodes import Nodes, rows_allowed, suppression_budget
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class FixedLevels(Algorithm):
    """Full-domain generalization at a node that is given (Samarati 2001).

    1. Bring every column to its chosen level.
    2. Remove the rows of classes that do not hold, if they are within the budget.
    """

    name: ClassVar[str] = "fixed-levels"
    title: ClassVar[str] = "Chosen levels"
    summary: ClassVar[str] = (
        "Publishes every column at the level you name, and suppresses rows that are too rare. "
        "Refuses if that takes more rows than the budget allows."
    )
    offer: ClassVar[Offer] = Offer(
        when="When you know which level of detail each column should have, for example from the "
        "picture of an earlier search."
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True)
    needs: ClassVar[Needs] = Needs(
        from_counts=True, counts_people=True, counts_public=True, levels_parameter="levels"
    )
    formula: ClassVar[str] = "suppressed rows(chosen node) ≤ max_suppression · n"
    source: ClassVar[str] = "Samarati 2001, doi 10.1109/69.971193"

    levels: Mapping[str, int] = column_levels(
        help="Columns with their levels, for example age = 2. A column that is left out is "
        "published at its most general level.",
        empty="its most general level",
    )
    max_suppression: float = suppression_budget()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Look at the chosen node; see `Algorithm.run`."""
        context.check()
        most = [
            problem.level_bounds.get(h.column, (0, h.height))[1] for h in problem.quasi_hierarchies
        ]
        node = levels_by_column(problem, self.levels, self.name, unnamed=most)
        nodes = Nodes(problem, models, rows_allowed(problem, self.max_suppression), context)
        at = nodes.searched(node)
        if not nodes.satisfied(at):
            nodes.refuse("The chosen levels do not satisfy the privacy models", decided=True)
        return Outcome(
            release=nodes.release(at),
            account=SearchAccount(
                proven=False,
                node=nodes.names(at),
                checked=nodes.checked,
            ),
        )
