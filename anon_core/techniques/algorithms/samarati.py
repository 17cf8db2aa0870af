"""Samarati's search: halve the height of the lattice until the lowest one with a solution is left.

If no node of a height keeps the privacy models within the budget, none below it does, since rows to
be removed only get more on the way down (Samarati 2001, section 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.params import choice
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.lattice_decisions import FAILED, SATISFIED, UNKNOWN, Classification
from anon_core.methods.lattice.nodes import (
    preference_choice,
    preferred,
    rows_allowed,
    suppression_budget,
)
from anon_core.methods.lattice.recoding_models import transformation_choice
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem

# The distance-vector matrix: how far tuples have to rise before they are equal.


#: Bytes the matrix may take.
_ROOM = 400_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class DistanceMatrix:
    """Minimal distance vectors that make an outlier and another tuple equal (Samarati 2001).

    Whether a node is k-anonymous follows from it without building the node's table: two tuples are
    equal at a node exactly if their vector lies below it in every attribute.

    Attributes
    ----------
    outliers : int64 array of shape (outliers,)
        Distinct quasi tuples with fewer than k rows, by their number in the frequency set.
    count : int64 array of shape (tuples,)
        Rows of every distinct quasi tuple.
    vectors : uint8 array of shape (outliers, tuples, quasi)
    """

    k: int
    outliers: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.uint8]

    def together(self, node: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """Return how many rows are equal to each outlier at a node, shape (outliers,)."""
        below = np.all(self.vectors <= np.array(node, dtype=np.uint8), axis=2)
        return (below @ self.count).astype(np.int64)

    def removed(self, node: tuple[int, ...]) -> int:
        """Return how many rows k-anonymity has to remove at a node."""
        return int(self.count[self.outliers][self.together(node) < self.k].sum())


def distance_matrix(problem: Problem, k: int) -> DistanceMatrix:
    """Compare every outlier with every distinct quasi tuple.

    Raises
    ------
    BadPlan
        If the matrix would be too large to keep.
    """
    codes, count = problem.frequency.run_codes, problem.frequency.run_count
    outliers = np.flatnonzero(count < k)
    cells = len(outliers) * len(count) * codes.shape[1]
    if cells > _ROOM:
        raise BadPlan(
            f"The distance-vector matrix of {len(outliers):,} outliers and {len(count):,} distinct "
            f"tuples has {cells:,} cells; at most {_ROOM:,} are kept.",
            remedy="Check nodes by their classes instead, which gives the same answer.",
        )
    vectors = np.empty((len(outliers), len(count), codes.shape[1]), dtype=np.uint8)
    for d, hierarchy in enumerate(problem.quasi_hierarchies):
        one, other = np.broadcast_arrays(codes[outliers, None, d], codes[None, :, d])
        level = hierarchy.smallest_node(one, other)
        # Where columns may not rise, no level makes different values equal.
        equal = hierarchy.first_leaf[level, one] == hierarchy.first_leaf[level, other]
        vectors[:, :, d] = np.where(equal, level, hierarchy.height + 1)
    return DistanceMatrix(k=k, outliers=outliers.astype(np.int64), count=count, vectors=vectors)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Samarati(Algorithm):
    """A k-minimal generalization with suppression, by binary search on the height.

    1. Evaluate the nodes halfway up the lattice.
    2. If one of them holds within MaxSup, go on in the lower half; otherwise in the upper.
    3. The last height with a solution is the lowest: its solutions are minimal, and the preferred
       one is published (section 4 of the paper).

    The other criterion of preference may want a minimal node that is higher; then every node is
    decided. `distance_vectors` decides a node from distances between tuples, without generalizing.
    """

    name: ClassVar[str] = "samarati"
    title: ClassVar[str] = "Samarati's binary search"
    summary: ClassVar[str] = (
        "Searches by halving for the lowest height of the lattice at which some choice of levels "
        "satisfies the privacy models within the budget. Publishes the preferred one of the "
        "minimal choices."
    )
    offer: ClassVar[Offer] = Offer(
        when="When as few generalization steps as possible should be taken, whatever each of them "
        "costs.",
        for_study=True,
    )
    shape: ClassVar[Shape] = Shape(approach="levels", one_level=True)
    needs: ClassVar[Needs] = Needs(from_counts=True, counts_people=True, counts_public=True)
    formula: ClassVar[str] = (
        "k-minimal: suppressed rows ≤ MaxSup, and no node with a strictly smaller distance vector "
        "has that"
    )
    source: ClassVar[str] = "Samarati 2001, doi 10.1109/69.971193"

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
            # The other criteria may prefer a minimal node that is higher.
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
    if len(models) != 1 or not models[0].logic.class_sizes or models[0].of_release():
        raise BadPlan(
            "The distance-vector matrix answers for k-anonymity alone.",
            remedy="Check nodes by their classes, or require k-anonymity only.",
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
        """Tell anyone who listens which height is probed: event "height", with its nodes."""
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
