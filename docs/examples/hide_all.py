"""Hide everything: all rows form one class at the top of every hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.nodes import Nodes
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class HideAll(Algorithm):
    """One class: no row differs from another."""

    name: ClassVar[str] = "hide-all"
    title: ClassVar[str] = "Hide everything"
    summary: ClassVar[str] = "Publishes every quasi-identifier at its top: the most one can lose."
    formula: ClassVar[str] = "the node of the lattice whose levels are all the highest"
    source: ClassVar[str] = "Samarati 2001, doi 10.1109/69.971193"
    offer: ClassVar[Offer] = Offer(when="When you want a floor to compare other techniques with.")
    shape: ClassVar[Shape] = Shape(approach="levels")
    needs: ClassVar[Needs] = Needs(counts_public=True)

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Look at the top of the lattice; see `Algorithm.run`."""
        context.report(0.0, "Hiding")  # progress shows, and cancel works
        nodes = Nodes(problem, models, 0, context)
        top = nodes.lattice.top
        if not nodes.satisfied(top):
            nodes.refuse("Hiding every value does not satisfy the privacy models")
        account = SearchAccount(proven=False, node=nodes.names(top), checked=nodes.checked)
        return Outcome(release=nodes.release(top), account=account)
