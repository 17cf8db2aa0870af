"""Walking a lattice too large to enumerate: one memory of what nodes cost, and a clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from anon_core.base.context import Context, now, silent
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.contracts.metric import Metric
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.node_cost import NodeCost
from anon_core.methods.lattice.nodes import Nodes
from anon_core.release.outcome import Outcome, SearchAccount

#: Rows beyond the budget, then cost: what does not fit the budget is worse than all that does.
Value = tuple[int, float]


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A time box, and the person's own stop.

    Attributes
    ----------
    seconds : float
        The whole time box.
    began : float
        `now` when it was opened.
    share : float
        Part of the box that this clock's holder may use up.
    """

    context: Context
    seconds: float
    began: float
    share: float = 1.0

    def check(self, stage: str) -> bool:
        """Report progress; say whether there is time left."""
        used = (now() - self.began) / self.seconds
        self.context.report(min(used, 1.0), stage)
        return used < self.share and not self.context.out_of_time()

    def context_left(self) -> Context:
        """Return a context for work that ends by itself when this clock's time is up."""
        ends = self.began + self.seconds * self.share
        if self.context.deadline is not None:
            ends = min(ends, self.context.deadline)
        # How much of the box is used is this clock's to tell, not that work's.
        return replace(self.context, deadline=ends, progress=silent)


def clock(context: Context, seconds: float) -> Clock:
    """Start a clock."""
    return Clock(context=context, seconds=seconds, began=now())


class Walk:
    """Evaluates nodes once each, and remembers the best of them.

    Attributes
    ----------
    best : tuple of int
    steps : list of mappings
        Every improvement: after how many nodes, what it cost, and what it removes.
    """

    def __init__(self, nodes: Nodes, metric: Metric, time_left: Clock) -> None:
        self.nodes = nodes
        self.cost = NodeCost(nodes.problem, metric)
        self.time_left = time_left
        self.best: Node = nodes.lattice.top
        self.steps: list[Mapping[str, int | float | str]] = []
        self._known: dict[Node, Value] = {}

    def value(self, node: Node) -> Value:
        """Return what a node is worth; lower is better."""
        known = self._known.get(node)
        if known is not None:
            return known
        nodes = self.nodes
        nodes.checked += 1
        classes, keep = nodes.keep_mask(node)
        removed = nodes.problem.rows - int(classes.count[keep].sum())
        if nodes.note(node, removed):
            fields = [nodes.lattice.field(classes, d) for d in range(len(node))]
            found = (0, self.cost.of(node, classes, keep, fields))
        else:
            found = (max(removed - nodes.budget, 1), 0.0)
        self._known[node] = found
        if not self.steps or found < self._known[self.best]:
            self.best = node
            if not found[0]:
                self.steps.append(
                    {"nodes looked at": nodes.checked, "cost": found[1], ROWS_SUPPRESSED: removed}
                )
        return found

    @property
    def best_value(self) -> Value:
        """What the best node is worth."""
        return self.value(self.best)

    def descend(self, start: Node, fixed: int = -1) -> Node:
        """Lower one level at a time, the best first, for as long as that helps.

        Attribute `fixed` stays where it is.
        """
        at = start
        free = [d for d in range(len(at)) if d != fixed]
        while self.time_left.check("Lowering levels"):
            # Levels that distinguish nothing cost the same; past a dear one may be a cheap one.
            near = [at_level(at, d, at[d] - 1) for d in free if at[d]]
            far = [at_level(at, d, n) for d in free for n in range(at[d] - 1)]
            found = self._best_of(near, at) or self._best_of(far, at)
            if found is None:
                break
            at = found
        return at

    def _best_of(self, nodes: Sequence[Node], at: Node) -> Node | None:
        """Return the best of some nodes, all below `at`, if it is no worse."""
        good = [n for n in nodes if self._timely(n) <= self.value(at)]
        return min(good, key=lambda n: (self.value(n), n), default=None)

    def improve(self, start: Node) -> Node:
        """Raise one column and lower what that makes room for, for as long as that helps."""
        at = start
        top = self.nodes.lattice.top
        moved = True
        while moved:
            moved = False
            higher = [(d, n) for d in range(len(at)) for n in range(at[d] + 1, top[d] + 1)]
            for d, level in higher:
                if not self.time_left.check("Exchanging levels"):
                    return at
                raised = at_level(at, d, level)
                found = self.descend(self.descend(raised, fixed=d))
                if self.value(found) < self.value(at):
                    at, moved = found, True
                    break
        return at

    def _timely(self, node: Node) -> Value:
        """Return a node's value, or the worst there is when time is up."""
        if node in self._known or self.time_left.check("Looking at nodes"):
            return self.value(node)
        return (self.nodes.problem.rows + 1, 0.0)


def at_level(node: Node, d: int, level: int) -> Node:
    """Return the node with attribute `d` at another level."""
    return (*node[:d], level, *node[d + 1 :])


def walk_outcome(walk: Walk) -> Outcome:
    """Return the best node a walk has met.

    Raises
    ------
    Infeasible, NotFound
        If none of them keeps the privacy models within the budget; by whether others may.
    """
    nodes = walk.nodes
    value = walk.best_value
    if value[0]:
        nodes.refuse("No levels that the search looked at satisfy the privacy models")
    return Outcome(
        release=nodes.release(walk.best),
        account=SearchAccount(
            proven=False,
            cost=value[1],
            node=nodes.names(walk.best),
            nodes=nodes.lattice.size,
            looked=nodes.looked(),
            checked=nodes.checked,
            steps=tuple(walk.steps),
        ),
    )
