"""Decide every node of a lattice: does it keep the privacy models within the suppression budget?

The walk goes from below; along a path of undecided nodes it searches in halves (Kohlmayer et al.
2012, Flash, doi 10.1109/SocialCom-PASSAT.2012.52). Where every model is monotone, one check decides
all nodes above or all nodes below. Where one is not, the walk goes from above, and a check decides
the nodes below only where too many rows are in classes that hold no good one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, listing
from anon_core.base.terms import large
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.node_decisions import close_many, walk_all
from anon_core.methods.lattice.nodes import FAILED, SATISFIED, UNKNOWN, Nodes
from anon_core.release.problem import Problem

__all__ = ["FAILED", "MOST_NODES", "SATISFIED", "UNKNOWN", "Classification"]

MOST_NODES = 5_000_000


class Classification(Nodes):
    """The verdict on every node, and what it took to reach it.

    Parameters are those of `Nodes`.

    Attributes
    ----------
    status : uint8 array of the lattice's shape
        `SATISFIED` or `FAILED` once `decide` has run.

    Raises
    ------
    BadPlan
        If the lattice has more than `MOST_NODES` nodes.
    """

    def __init__(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        budget: int,
        context: Context,
        transformation: str = "AG_TS",
    ) -> None:
        super().__init__(problem, models, budget, context, transformation)
        if self.lattice.size > MOST_NODES:
            raise BadPlan(
                f"The lattice of {listing(problem.quasi)} has {large(self.lattice.size)} nodes; a "
                f"full search takes at most {MOST_NODES:,}.",
                remedy="Use fewer quasi-identifiers or hierarchies with fewer levels, or choose "
                "Mondrian.",
            )
        self.status = np.zeros(self.lattice.shape, dtype=np.uint8)

    def decide(self) -> None:
        """Decide every node.

        Raises
        ------
        Infeasible
            If none is satisfied; carries the smallest share of rows that would have to go.
        """
        if self.budget and walk_all(self, self.status) is not None:
            pass  # one pass has decided them all
        elif self.monotone:
            close_many(self, self.status)
            height = self.heights()
            total = sum(self.lattice.heights)
            for step in range(total + 1):
                self.context.report(step / max(total, 1), "Searching the lattice")
                for place in np.flatnonzero((height == step) & (self.status == UNKNOWN).ravel()):
                    node = self.lattice.node(int(place))
                    if self.status[node] == UNKNOWN:
                        self._decide_path(self._path_up(node))
        else:
            # From the top: what cannot hold there, cannot below, and the rest is looked at.
            flat = self.status.reshape(-1)
            order = np.argsort(-self.heights().astype(np.int64), kind="stable")
            for done, place in enumerate(order.tolist()):
                if flat[place] == UNKNOWN:
                    self.context.report(done / len(order), "Searching the lattice")
                    self.decide_at(self.lattice.node(place), self.status)
        if not np.any(self.status == SATISFIED):
            self.refuse()

    def minimal(self) -> tuple[Node, ...]:
        """Return every satisfied node with no satisfied node anywhere below it."""
        reached = self.status == SATISFIED
        places = np.flatnonzero(reached)
        if not self.monotone:  # a node above a satisfied one may fail; what is above it is reached
            for d in range(reached.ndim):
                reached = np.logical_or.accumulate(reached, axis=d)
        flat = reached.reshape(-1)
        lowest = np.ones(len(places), dtype=np.bool_)
        for stride, levels in zip(self.lattice.packing.stride, self.lattice.shape, strict=True):
            raised = places // stride % levels > 0
            lowest &= ~(raised & flat[places - stride * raised])
        found = np.stack(np.unravel_index(places[lowest], self.lattice.shape), axis=1)
        return tuple(tuple(row) for row in found.tolist())

    def locally_minimal(self) -> tuple[Node, ...]:
        """Return the lowest satisfied node of every path from bottom to top (Samarati 2001).

        Every k-minimal node is among them; the others have a satisfied node directly below, on
        another path.
        """
        satisfied = self.status == SATISFIED
        reached = np.zeros(satisfied.shape, dtype=np.bool_)  # by a path of nodes that all fail
        reached[(0,) * satisfied.ndim] = True
        whole = [slice(None)] * satisfied.ndim
        for _ in range(sum(self.lattice.heights)):
            failing = reached & ~satisfied
            for d in range(satisfied.ndim):
                ahead, behind = list(whole), list(whole)
                ahead[d], behind[d] = slice(1, None), slice(None, -1)
                reached[tuple(ahead)] |= failing[tuple(behind)]
        found = np.argwhere(satisfied & reached)
        return tuple(tuple(int(n) for n in row) for row in found)

    def heights(self) -> npt.NDArray[np.int16]:
        """Return every node's height, flat, in the lattice's order."""
        return self.lattice.height_of_nodes()

    def _path_up(self, node: Node) -> list[Node]:
        """Return a chain of undecided nodes from `node` upwards, one level at a time."""
        path = [node]
        at = list(node)
        climbing = True
        while climbing:
            climbing = False
            for d in range(len(at)):
                if at[d] < self.lattice.heights[d]:
                    at[d] += 1
                    if self.status[tuple(at)] == UNKNOWN:
                        path.append(tuple(at))
                        climbing = True
                        break
                    at[d] -= 1
        return path

    def _decide_path(self, path: list[Node]) -> None:
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            node = path[middle]
            if self.decide_at(node, self.status):
                high = middle - 1
            else:
                low = middle + 1
