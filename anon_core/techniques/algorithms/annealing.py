"""Simulated annealing: a random walk over the lattice that grows ever less willing to climb."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.contracts.search_cost import LabelCost
from anon_core.methods.lattice.local_search import Walk, at_level, clock, walk_outcome
from anon_core.methods.lattice.node_cost import best_by
from anon_core.methods.lattice.nodes import Nodes, rows_allowed, suppression_budget, time_box
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Annealing(Algorithm):
    """Levels by simulated annealing (Winkler 2004)."""

    name: ClassVar[str] = "annealing"
    title: ClassVar[str] = "Simulated annealing"
    summary: ClassVar[str] = (
        "Moves the level of one column up or down at random. Accepts a worse choice too, ever "
        "more rarely, to escape dead ends. Publishes the best choice it met."
    )
    offer: ClassVar[Offer] = Offer(
        when="For teaching and comparison: it guarantees nothing about what it missed, and other "
        "searches are usually better in the same time.",
        for_study=True,
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True, by_chance=True)
    needs: ClassVar[Needs] = Needs(counts_people=True, counts_public=True)
    formula: ClassVar[str] = "accept a worse node with chance exp(−Δcost / temperature)"
    source: ClassVar[str] = "Winkler 2004, Census Bureau research report 2004-06"

    metric: Metric = best_by(also=LabelCost)
    max_suppression: float = suppression_budget()
    moves: int = integer(default=2_000, low=1, help="Moves to try.", label="Moves")
    temperature: float = number(
        default=0.1,
        low=1e-6,
        high=1e6,
        help="At first, how much worse a choice may be, as a share of the cost at the top, to be "
        "taken about one time in three.",
        label="First temperature",
    )
    seconds: float = time_box()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Walk the lattice; see `Algorithm.run`."""
        nodes = Nodes(problem, models, rows_allowed(problem, self.max_suppression), context)
        walk = Walk(nodes, self.metric, clock(context, self.seconds))
        draw, top = context.generator, nodes.lattice.top
        # 1. Start at the top, where the most privacy models hold.
        at = top
        here = walk.value(at)
        scale = max(here[1], 1e-12)
        for turn in range(self.moves if any(top) else 0):
            if not walk.time_left.check("Annealing"):
                break
            # 2. Cool down geometrically, to a thousandth.
            warm = self.temperature * 0.001 ** (turn / self.moves)
            # 3. Move one attribute by one level.
            d = int(draw.integers(len(top)))
            level = at[d] + (1 if draw.random() < 0.5 else -1)
            chance = draw.random()
            if not 0 <= level <= top[d]:
                continue
            there = at_level(at, d, level)
            value = walk.value(there)
            # 4. Take what is better; what is worse with a chance that falls with temperature.
            if value <= here or (
                value[0] == here[0] == 0
                and chance < math.exp(-(value[1] - here[1]) / (scale * warm))
            ):
                at, here = there, value
        return walk_outcome(walk)
