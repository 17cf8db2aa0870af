"""SPALM: the optimal full-domain release under δ-presence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from anon_core.base.context import Context
from anon_core.base.registry import find, register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service, Shape
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.node_cost import best_by
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem

_WHY = (
    "It stays open whether a person in the public table is also in yours, every column has one "
    "level of detail, and no other choice of levels loses less."
)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Spalm(Algorithm):
    """Single-dimensional presence algorithm (Nergiz, Atzori and Clifton 2007).

    The paper walks the lattice from the top: δ-presence is kept when classes are merged, so that
    below a node that breaks it none keeps it. The optimal search rests on the same property and
    finds the same release, best by a metric among all that keep the privacy models. No row is
    suppressed: anyone who is left out of a published class is known to be absent.
    """

    name: ClassVar[str] = "spalm"
    title: ClassVar[str] = "SPALM"
    summary: ClassVar[str] = (
        "Chooses one hierarchy level per quasi-identifier so that no one in a public table is "
        "known to be in the release, or not to be in it. Proves that no other choice loses less."
    )
    offer: ClassVar[Offer] = Offer(
        when="When being in the table is itself the secret, and every value of a column should be "
        "published at one level of detail.",
        serves={
            "statistics": Service(place=7, why=_WHY, most_nodes=200_000),
            "training": Service(place=9, why=_WHY, most_nodes=200_000),
            "sharing": Service(place=7, why=_WHY, most_nodes=200_000),
            "teaching": Service(place=6, why=_WHY, most_nodes=200_000),
        },
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True)
    needs: ClassVar[Needs] = Needs(public=True, counts_public=True)
    formula: ClassVar[str] = "min cost(node) over nodes with δ_min ≤ |G ∩ T| / |G ∩ P| ≤ δ_max"
    source: ClassVar[str] = "Nergiz, Atzori and Clifton 2007, doi 10.1145/1247480.1247554"

    metric: Metric = best_by()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the lattice; see `Algorithm.run`."""
        search = cast(Algorithm, find("algorithm", "optimal").from_mapping({"metric": self.metric}))
        return search.run(problem, models, context)
