"""A genetic algorithm over the lattice: choices of levels are crossed, mutated and selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.contracts.search_cost import LabelCost
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.local_search import Walk, clock, walk_outcome
from anon_core.methods.lattice.node_cost import best_by
from anon_core.methods.lattice.nodes import Nodes, rows_allowed, suppression_budget, time_box
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Genetic(Algorithm):
    """Levels by a genetic algorithm (Iyengar 2002), one gene an attribute."""

    name: ClassVar[str] = "genetic"
    title: ClassVar[str] = "Genetic algorithm"
    summary: ClassVar[str] = (
        "Breeds choices of levels: crosses the better ones and changes them a little, generation "
        "after generation. Publishes the best choice of all generations."
    )
    offer: ClassVar[Offer] = Offer(
        when="For teaching and comparison: it guarantees nothing about what it missed, and other "
        "searches are usually better in the same time.",
        for_study=True,
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True, by_chance=True)
    needs: ClassVar[Needs] = Needs(counts_people=True, counts_public=True)
    formula: ClassVar[str] = "fitness: rows beyond the budget first, then cost"
    source: ClassVar[str] = "Iyengar 2002, doi 10.1145/775047.775089"

    metric: Metric = best_by(also=LabelCost)
    max_suppression: float = suppression_budget()
    population: int = integer(
        default=30,
        low=2,
        high=10_000,
        help="Choices of levels alive at a time.",
        label="Population",
    )
    generations: int = integer(default=40, low=1, help="Generations.", label="Generations")
    seconds: float = time_box()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Breed choices of levels; see `Algorithm.run`."""
        nodes = Nodes(problem, models, rows_allowed(problem, self.max_suppression), context)
        walk = Walk(nodes, self.metric, clock(context, self.seconds))
        draw, top = context.generator, nodes.lattice.top
        wide = len(top)
        # 1. The top and random choices are the first generation.
        walk.value(top)
        alive: list[Node] = [top]
        alive += [tuple(int(draw.integers(h + 1)) for h in top) for _ in range(self.population - 1)]
        for _ in range(self.generations):
            if not walk.time_left.check("Breeding"):
                break
            fitness = {node: walk.value(node) for node in sorted(set(alive))}
            # 2. The best stays; parents win a contest of two.
            best = min(fitness, key=lambda n: (fitness[n], n))
            children: list[Node] = [best]
            while len(children) < self.population:
                pairs: list[list[int]] = draw.integers(0, len(alive), (2, 2)).tolist()
                one, other = (
                    min((fitness[n], n) for n in (alive[a], alive[b]))[1] for a, b in pairs
                )
                # 3. Every gene comes from one of both parents, and changes now and then.
                from_one = draw.random(wide) < 0.5
                child = np.where(from_one, one, other)
                moved = draw.random(wide) < 1.5 / wide
                child = child + np.where(moved, draw.integers(-1, 2, wide), 0)
                children.append(tuple(int(n) for n in np.clip(child, 0, top)))
            alive = children
        for node in sorted(set(alive)):
            if walk.time_left.check("Breeding"):
                walk.value(node)
        return walk_outcome(walk)
