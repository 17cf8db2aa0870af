"""k-Optimize: the best single-dimensional recoding by intervals, over a set-enumeration tree.

A node of the tree is a set of indices (head) with those that its descendants may add (tail). Bounds
on all descendants cut off subtrees; the rest is searched depth first, so that there is a result at
any time, and a bound on what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import part, register
from anon_core.base.terms import ROWS_SUPPRESSED, SHARE_SUPPRESSED
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.contracts.search_cost import BEST_BY, LabelCost, SizeCost
from anon_core.methods.lattice.local_search import Clock, clock
from anon_core.methods.lattice.nodes import rows_allowed, suppression_budget, time_box
from anon_core.methods.partition.index_space import IndexSpace, JudgedClasses, Splits
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class KOptimize(Algorithm):
    """Optimal intervals, with row suppression (Bayardo and Agrawal 2005).

    A recoding is a set of indices: the values at which a new interval begins, over all columns.
    The tree enumerates them; a node has a head, the set itself, and a tail, what may be added.

    1. Of a node's tail, leave out the values that part classes into suppressed rows only.
    2. Price the head.
    3. Bound what any set in a child's subtree costs, and leave out of the tail every value whose
       bound is no better than the best so far, until none is.
    4. Rearrange the tail, high bounds first, so that the largest subtrees are cut off; the children
       are looked at next.
    """

    name: ClassVar[str] = "k-optimize"
    title: ClassVar[str] = "k-Optimize"
    summary: ClassVar[str] = (
        "Cuts each column's ordered values into intervals, the same for the whole table. Rows "
        "look like as few others as the models allow, or keep their label predictable. Suppresses"
        " rows that are too rare."
    )
    offer: ClassVar[Offer] = Offer(
        when="When columns have an order but no hierarchy, and the best intervals are wanted; "
        "large domains end in the time box, with a bound on what was missed."
    )
    shape: ClassVar[Shape] = Shape(approach="levels", forms_ranges=True)
    needs: ClassVar[Needs] = Needs(counts_people=True)
    formula: ClassVar[str] = (
        "min over all sets of interval starts of Σ |G|² + n · (suppressed rows), or of rows that "
        "are suppressed or not of their class's most common label"
    )
    source: ClassVar[str] = "Bayardo and Agrawal 2005, doi 10.1109/ICDE.2005.42"

    metric: Metric = part(
        default="discernibility",
        families=["metric"],
        fits=lambda kind: (
            issubclass(kind, LabelCost) or (issubclass(kind, SizeCost) and kind.of_squares)
        ),
        help="What the best intervals lose least of; for these there are bounds.",
        label=BEST_BY,
    )
    max_suppression: float = suppression_budget(
        default=1.0,
        help="Largest share of rows that may be suppressed; each costs as much as looking like "
        "everyone, or as a wrong label.",
    )
    seconds: float = time_box(
        help="Time box; a search that is cut short depends on the machine's speed."
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search the tree; see `Algorithm.run`."""
        needed = dict.fromkeys(name for m in models for name in m.needs(problem))
        metric = self.metric
        labels = metric.label_column(problem) if isinstance(metric, LabelCost) else ""
        tree = _Tree(
            IndexSpace(problem, list(needed | dict.fromkeys([labels] if labels else []))),
            models,
            rows_allowed(problem, self.max_suppression),
            clock(context, self.seconds),
            labels,
            context,
        )
        bound = tree.search()
        if not np.isfinite(tree.cost):
            tree.refuse(decided=not np.isfinite(bound))
        # The tree counts rows; the classification metric is their share.
        unit = float(max(problem.rows, 1)) if labels else 1.0
        return Outcome(
            release=tree.space.release(tree.best, models),
            account=SearchAccount(
                proven=bound >= tree.cost,
                cost=tree.cost / unit,
                bound=min(bound, tree.cost) / unit,
                checked=tree.looked_at,
                steps=tuple(tree.steps),
            ),
        )


def children_of(head: Splits, tail: Sequence[int]) -> list[tuple[Splits, Splits]]:
    """Return head and tail of every child of a node, so that each set is met once."""
    return [((*head, index), tuple(tail[place + 1 :])) for place, index in enumerate(tail)]


class _Tree:
    def __init__(
        self,
        space: IndexSpace,
        models: Sequence[GroupModel],
        budget: int,
        time_left: Clock,
        labels: str,
        context: Context,
    ) -> None:
        self.space = space
        self.context = context
        self.labels = labels
        self.models = models
        self.budget = budget
        self.time_left = time_left
        self.rows = space.problem.rows
        self.best: Splits = ()
        self.cost = np.inf
        self.looked_at = 0
        self.fewest = self.rows
        self.steps: list[Mapping[str, int | float | str]] = []
        self._least = max(m.least_size() for m in models)

    def search(self) -> float:
        """Search until all is decided or time is up; return a bound on every recoding.

        Raises
        ------
        Infeasible
            If not even the whole table as one class keeps the privacy models.
        """
        self.time_left.check("Cutting into intervals")
        if not np.isfinite(self.try_out(())) and all(m.logic.monotone_merge for m in self.models):
            raise Infeasible(
                "Not even the whole table as one class satisfies the privacy models.",
                remedy="Ask for less, or load more rows.",
                best=1.0,
                best_of=SHARE_SUPPRESSED,
            )
        if self.context.listening:
            self._tell_indices()
        self._greedy()
        # Open nodes: bound, head, tail. The last is looked at first.
        stack: list[tuple[float, Splits, Splits]] = [(0.0, (), self.space.alphabet)]
        while stack:
            if not self.time_left.check("Searching the tree"):
                return min(self.cost, min(bound for bound, _, _ in stack))
            bound, head, tail = stack.pop()
            if bound >= self.cost:
                self.context.event("cut off", head=head, bound=bound, best=self.cost)
                continue
            children = self._expand(head, tail)
            if children is None:
                return min(self.cost, bound, *(b for b, _, _ in stack))
            stack += children
        return self.cost

    def try_out(self, head: Splits) -> float:
        """Return what a set of indices costs, infinity beyond the budget; remember the best."""
        self.looked_at += 1
        judged = self.space.judged(self.space.entries(head), self.models, self.labels)
        sizes = judged.classes.count[judged.keep]
        removed = self.rows - int(sizes.sum())
        self.fewest = min(removed, self.fewest)
        if removed > self.budget or removed >= self.rows:
            self.context.event("priced", head=head, cost=np.inf, removed=removed, best=self.cost)
            return np.inf
        if self.labels:
            found = float(self.rows - int(judged.most[judged.keep].sum()))
        else:
            found = float(sizes @ sizes) + float(self.rows) * removed
        if self.context.listening:
            self.context.event("priced", head=head, cost=found, removed=removed, best=self.cost)
        if found < self.cost:
            self.cost, self.best = found, head
            self.steps.append(
                {
                    "sets looked at": self.looked_at,
                    "intervals begun": len(head),
                    "cost": found,
                    ROWS_SUPPRESSED: removed,
                }
            )
        return found

    def refuse(self, *, decided: bool) -> NoReturn:
        """Refuse where nothing that was looked at keeps the privacy models within the budget.

        Raises
        ------
        Infeasible
            If all recodings are decided.
        NotFound
            If time ran out before.
        """
        best, best_of = self.fewest / max(self.rows, 1), SHARE_SUPPRESSED
        reached = f"the best that was looked at removes {self.fewest} of {self.rows} rows"
        if decided:
            raise Infeasible(
                f"No intervals satisfy the privacy models with at most {self.budget} rows "
                f"suppressed; {reached}.",
                remedy="Allow more suppression, or ask for less.",
                best=best,
                best_of=best_of,
            )
        raise NotFound(
            f"Not found: no intervals found in time satisfy the privacy models; {reached}.",
            remedy="Give it more time, allow more suppression, or ask for less.",
            best=best,
            best_of=best_of,
        )

    def bound_of(self, head: Splits, fine: JudgedClasses) -> float:
        """Return a bound on every set between `head` and one whose classes are `fine`.

        Rows of classes that hold no good one are removed, since classes only get smaller; any other
        row looks like at least those that it looks like in `fine`, and like no fewer than a class
        needs. Of labels, at least those outvoted in `fine` are outvoted or removed.
        """
        self.looked_at += 1
        judged = self.space.judged(self.space.entries(head), self.models)
        removed = self.rows - int(judged.classes.count[judged.possible].sum())
        if removed > self.budget:
            return np.inf
        stays = judged.possible[self.space.within(fine.classes, head)]
        count = fine.classes.count[stays]
        if self.labels:
            return float(int((count - fine.most[stays]).sum()) + removed)
        return float(count @ np.maximum(count, self._least)) + float(self.rows) * removed

    def _fine(self, splits: Splits) -> JudgedClasses:
        return self.space.judged(self.space.entries(splits), self.models, self.labels)

    def _greedy(self) -> None:
        """Begin one interval after another, the best first: a result to measure bounds against."""
        head: Splits = ()
        cost = self.cost
        while self.time_left.check("Cutting into intervals"):
            found: list[tuple[float, Splits]] = []
            for index in self.space.alphabet:
                if index not in head and self.time_left.check("Cutting into intervals"):
                    wider = tuple(sorted((*head, index)))
                    found.append((self.try_out(wider), wider))
            if not found or min(found)[0] >= cost:
                return
            cost, head = min(found)

    def _expand(self, head: Splits, tail: Splits) -> list[tuple[float, Splits, Splits]] | None:
        """Return the children of a node that may still win; None where time is up."""
        # 1. Leave out values that part classes into suppressed rows only.
        useful = self._useful(head, tail)
        # 2. Cost of the node itself.
        self.try_out(tuple(sorted(head)))
        # 3. Leave out every value without which nothing is lost, until none is left.
        pruned = True
        bounds: dict[int, float] = {}
        while pruned and useful:
            fine = self._fine(tuple(sorted((*head, *useful))))
            bounds = {}
            for index in useful:
                if not self.time_left.check("Searching the tree"):
                    return None
                bounds[index] = self.bound_of(tuple(sorted((*head, index))), fine)
            kept = tuple(i for i in useful if bounds[i] < self.cost)
            pruned = len(kept) < len(useful)
            useful = kept
        if self.context.listening:
            self._tell_expanded(head, tail, useful, bounds)
        # 4. Rearrange: values of high bounds first, so that the largest subtrees are cut off.
        order = sorted(useful, key=lambda i: (-bounds[i], i))
        children = [(bounds[wider[-1]], wider, open_) for wider, open_ in children_of(head, order)]
        children.reverse()
        return children

    def _tell_indices(self) -> None:
        """Tell what indices represent: event "indices", `of` index → (column number, leaf)."""
        both = zip(self.space.attribute.tolist(), self.space.leaf.tolist(), strict=True)
        self.context.event("indices", of=dict(enumerate(both)), alphabet=self.space.alphabet)

    def _tell_expanded(
        self, head: Splits, tail: Splits, kept: Sequence[int], bounds: Mapping[int, float]
    ) -> None:
        """Tell of a node that was opened: event "expanded".

        With its `head` and `tail`, what of the tail is `kept`, the last `bounds` by index, and the
        `best` cost that they were compared with.
        """
        self.context.event(
            "expanded", head=head, tail=tail, kept=tuple(kept), bounds=dict(bounds), best=self.cost
        )

    def _useful(self, head: Splits, tail: Splits) -> Splits:
        """Return the values that leave at least one class they part in use."""
        judged = self.space.judged(self.space.entries(head), self.models)
        classes = judged.classes
        if not judged.possible.any():
            return ()
        found: list[int] = []
        for index in tail:
            wider = tuple(sorted((*head, index)))
            parted = self.space.judged(self.space.entries(wider), self.models)
            inside = self.space.within(parted.classes, head)
            pieces = np.bincount(inside, minlength=len(classes.count))
            if bool(np.any(parted.possible & (pieces[inside] > 1))):
                found.append(index)
        return tuple(found)
