"""Values as they are: nothing is coarsened; what protects is changed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.nodes import Nodes, rows_allowed, suppression_budget
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class AsIs(Algorithm):
    """Publish every value; of privacy models only those that the table itself satisfies."""

    name: ClassVar[str] = "as-is"
    title: ClassVar[str] = "Values as they are"
    summary: ClassVar[str] = (
        "Publishes every value of the table unchanged, or as a change made it, and generalizes "
        "nothing. Suppresses rows that are too rare for the privacy models."
    )
    offer: ClassVar[Offer] = Offer(
        when="When values are swapped, redrawn or get noise before, so that no privacy model about "
        "classes is defined; else the table itself would be published."
    )
    shape: ClassVar[Shape] = Shape(approach="values", one_level=True)
    needs: ClassVar[Needs] = Needs(counts_people=True, counts_public=True, models=False)
    formula: ClassVar[str] = "every level is 0; rows of classes that break a model are suppressed"
    source: ClassVar[str] = "Hundepool et al. 2012, doi 10.1002/9781118348239"

    max_suppression: float = suppression_budget(
        default=1.0, help="Largest share of rows that may be suppressed because they stay rare."
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Look at the table itself; see `Algorithm.run`."""
        context.report(0.0, "Looking at the table")
        nodes = Nodes(problem, models, rows_allowed(problem, self.max_suppression), context)
        at = tuple(0 for _ in problem.quasi)
        if not nodes.satisfied(at):
            nodes.refuse("The table as it is does not satisfy the privacy models", decided=True)
        return Outcome(
            release=nodes.release(at),
            account=SearchAccount(proven=False, node=nodes.names(at), checked=nodes.checked),
        )
