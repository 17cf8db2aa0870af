"""Samarati's search: halve the height of the lattice until the lowest one with a solution is left.

If no node of a height keeps the promises within the budget, none below it does, since rows to be
removed only get more on the way down (Samarati 2001, section 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.params import choice
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Approach
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.lattice_decisions import FAILED, SATISFIED, UNKNOWN, Classification
from anon_core.methods.lattice.nodes import rows_allowed, suppression_budget
from anon_core.methods.lattice.preference import preference_choice, preferred
from anon_core.methods.lattice.recoding_models import transformation_choice
from anon_core.release.problem import Problem
from anon_core.release.results import Outcome, SearchAccount
from anon_core.techniques.algorithms.samarati.distance_vectors import (
    DistanceMatrix,
    distance_matrix,
)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Samarati(Algorithm):
    """A k-minimal generalization with suppression, by binary search on the height.

    1. Evaluate the nodes halfway up the lattice.
    2. If one of them holds within MaxSup, go on in the lower half; otherwise in the upper.
    3. The last height with a solution is the lowest: its solutions are minimal, and the preferred
       one is published (section 4 of the paper).

    The other criterion of preference may want a minimal node that stands higher; then every node is
    decided. `distance_vectors` decides a node from distances between tuples, without generalizing.
    """

    name: ClassVar[str] = "samarati"
    title: ClassVar[str] = "Samarati's binary search"
    summary: ClassVar[str] = (
        "Finds the lowest height of the lattice at which some choice of levels keeps the promises "
        "within the budget, by halving; among the minimal choices the preferred one is taken."
    )
    when: ClassVar[str] = (
        "When as few generalization steps as possible should be taken, whatever each of them costs."
    )
    formula: ClassVar[str] = (
        "k-minimal: suppressed rows ≤ MaxSup, and no node with a strictly smaller distance vector "
        "has that"
    )
    source: ClassVar[str] = "Samarati 2001, doi 10.1109/69.971193"
    for_study: ClassVar[bool] = True
    approach: ClassVar[Approach] = "levels"
    one_level: ClassVar[bool] = True
    from_counts: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    counts_public: ClassVar[bool] = True

    prefer: str = preference_choice()
    max_suppression: float = suppression_budget(
        help="Largest share of rows that may be suppressed (MaxSup)."
    )
    check: str = choice(
        default="classes",
        options={"classes": "their classes", "distance vectors": "distance vectors"},
        help="Count each node's classes, or look nodes up in the matrix of distance vectors "
        "(k-anonymity of small tables only). The answer is the same.",
        label="Check nodes by",
    )
    transformation: str = transformation_choice()

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the lattice; see `Algorithm.run`."""
        context.report(0.0, "Searching by height")
        budget = rows_allowed(problem, self.max_suppression)
        nodes = Classification(problem, models, budget, context, self.transformation)
        matrix = _matrix(nodes, models) if self.check == "distance vectors" else None
        if matrix is not None and context.listening:
            context.event("matrix", outliers=matrix.outliers, vectors=matrix.vectors)
        search = _ByHeight(nodes, matrix)
        lowest = search.lowest()
        minimal = search.at_height(lowest)
        if self.prefer != "absolute distance" or not nodes.monotone:
            # The other criteria may prefer a minimal node that stands higher.
            nodes.decide()
            minimal = list(nodes.minimal())
        node = preferred(nodes, minimal, self.prefer)
        return Outcome(
            release=nodes.release(node),
            account=SearchAccount(
                proven=True,
                node=nodes.names(node),
                minimal=tuple(nodes.original(n) for n in minimal),
                nodes=nodes.lattice.size,
                looked=nodes.looked(),
                checked=nodes.checked + search.looked_up,
                inferred=int(np.count_nonzero(nodes.status != UNKNOWN))
                - nodes.checked
                - search.looked_up,
                steps=tuple(search.steps),
            ),
        )


def _matrix(nodes: Classification, models: Sequence[GroupModel]) -> DistanceMatrix:
    if nodes.problem.person:
        raise BadPlan(
            f"The distance-vector matrix counts rows, and '{nodes.problem.person}' says that a "
            "person may have several.",
            remedy="Check nodes by their classes.",
        )
    if len(models) != 1 or not models[0].of_class_sizes or models[0].of_release():
        raise BadPlan(
            "The distance-vector matrix answers for k-anonymity alone.",
            remedy="Check nodes by their classes, or promise k-anonymity only.",
        )
    return distance_matrix(nodes.problem, models[0].size_asked)


class _ByHeight:
    def __init__(self, nodes: Classification, matrix: DistanceMatrix | None) -> None:
        self.nodes = nodes
        self.matrix = matrix
        self.steps: list[Mapping[str, int | float | str]] = []
        self.looked_up = 0
        self._heights = nodes.heights()

    def lowest(self) -> int:
        """Return the lowest height with a solution."""
        total = sum(self.nodes.lattice.heights)
        if not self.nodes.monotone:  # then a height says nothing of those below it
            self.nodes.decide()
            for height in range(total + 1):
                if self._any_at(height):
                    return height
            self.nodes.refuse()
        low, high = 0, total
        while low < high:
            # 1. Evaluate the solutions halfway up.
            middle = (low + high) // 2
            # 2. If there is one, go on below; otherwise above.
            if self._any_at(middle):
                high = middle
            else:
                low = middle + 1
        # 3. What was never looked at is the top, where nothing is known yet.
        if low == total and not self._any_at(low):
            self.nodes.refuse()
        return low

    def at_height(self, height: int) -> list[Node]:
        """Return every solution at a height."""
        places = np.flatnonzero(self._heights == height).tolist()
        return [node for node in map(self.nodes.lattice.node, places) if self._satisfied(node)]

    def _any_at(self, height: int) -> bool:
        before = self.nodes.checked + self.looked_up
        places = np.flatnonzero(self._heights == height).tolist()
        self.nodes.context.check()
        self._tell_height(height, places)
        found = any(self._satisfied(self.nodes.lattice.node(place)) for place in places)
        self.steps.append(
            {
                "height": height,
                "nodes": len(places),
                "checked": self.nodes.checked + self.looked_up - before,
                "solution": "yes" if found else "no",
            }
        )
        return found

    def _tell_height(self, height: int, places: Sequence[int]) -> None:
        """Tell whoever listens which height is probed: event "height", with its nodes."""
        nodes = self.nodes
        if nodes.context.listening:
            there = [nodes.original(nodes.lattice.node(place)) for place in places]
            nodes.context.event("height", height=height, nodes=there)

    def _satisfied(self, node: Node) -> bool:
        nodes, status = self.nodes, self.nodes.status
        if status[node] == UNKNOWN:
            if self.matrix is None:
                good = nodes.satisfied(node)
            else:
                self.looked_up += 1
                good = nodes.note(node, self.matrix.removed(node))
            here = tuple(slice(n, n + 1) for n in node)
            if nodes.monotone:
                here = tuple(slice(n, None) if good else slice(None, n + 1) for n in node)
            status[here] = SATISFIED if good else FAILED
        return bool(status[node] == SATISFIED)
