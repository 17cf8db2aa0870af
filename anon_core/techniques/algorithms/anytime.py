"""A time-boxed search for lattices too large to enumerate, with a bound on what it may have missed.

Whole columns: levels are lowered from the top one at a time, the best first; then one column is
raised for another to be lowered; then the same again from places nearby. Part by part: the table
is parted along the hierarchies, each part choosing its own levels (see `specialization`), then cut
further one node at a time (see `gain`), and a few ways to weigh the choice are tried. The best
release so far is always at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadHierarchy
from anon_core.base.params import choice, integer
from anon_core.base.registry import find, register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service, Shape
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel, least_class
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.search_cost import CellCost
from anon_core.kernels.cuts import Counted, Cuts, Limits
from anon_core.kernels.specialize import PricedLevels, specialize
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.local_search import Clock, Walk, clock
from anon_core.methods.lattice.node_cost import best_by, level_prices
from anon_core.methods.lattice.nodes import Nodes, rows_allowed, suppression_budget, time_box
from anon_core.methods.lattice.row_bound import SET_SIZES, column_bound, row_bound
from anon_core.methods.partition.best_gain import cell_prices, gain_parts
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.mondrian_cuts import keeps_whole, parts_in_order, watched_tuples
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem
from anon_core.release.release import Release

# Top-down local recoding along the hierarchies: every part of the table chooses its own levels.
#
# Global specialization (Fung et al. 2005) lowers a value for the whole table; here, as in local
# recoding (Xu et al. 2006), a part lowers one column at a time by itself, and what is too rare
# afterwards stays together one level higher.


_WORK = 20_000_000  # tuple visits between two looks at the clock, about 0.1 s


def steers(models: Sequence[GroupModel]) -> bool:
    """Say whether parts can be judged by the limits that the models state."""
    return all(
        m.logic.by_limits and (m.logic.monotone_merge or m.logic.closed_under_union) for m in models
    )


def whole_holds(problem: Problem, models: Sequence[GroupModel]) -> bool:
    """Say whether the whole table as one class keeps the privacy models."""
    return all(keeps_whole(problem, model) for model in models)


def local_parts(
    problem: Problem,
    models: Sequence[GroupModel],
    cost: CellCost,
    by_entropy: float,
    time_left: Clock,
) -> npt.NDArray[np.int64] | None:
    """Return the part of every quasi tuple, shape (runs,); None where time ran out.

    Parameters
    ----------
    problem : Problem
        The whole table as one class must keep the privacy models.
    models : sequence of GroupModel
        Such that `steers` is true.
    cost : CellCost
        What a lower level saves.
    by_entropy : float
        How much a split that uses up more of the rows' sameness has to save for it.
    """
    tuples = watched_tuples(problem, models)
    size = len(tuples.count)
    hierarchies = problem.quasi_hierarchies
    tables = [h.first_leaf.ravel().astype(np.int64) for h in hierarchies]
    prices = [level_prices(problem, cost, h).ravel() for h in hierarchies]
    order = np.arange(size, dtype=np.int64)
    stack = np.empty((size + 1, 2), dtype=np.int64)
    stack[0] = 0, size
    parts = np.empty((size, 2), dtype=np.int64)
    counted, cuts = Counted(tuples.codes, tuples.count), Cuts(order, stack, parts)
    limits = Limits(tuples.least, tuples.sensitive, tuples.distinct, tuples.share)
    levels = PricedLevels(
        first=np.concatenate(tables),
        price=np.concatenate(prices),
        offset=np.cumsum([0, *(len(t) for t in tables[:-1])]).astype(np.int64),
        leaves=np.array([len(h.leaves) for h in hierarchies], dtype=np.int64),
        levels=np.array([h.height + 1 for h in hierarchies], dtype=np.int64),
    )
    depth, found = 1, 0
    while depth:
        if not time_left.check("Lowering levels part by part"):
            return None
        depth, found = specialize(counted, cuts, depth, found, limits, levels, by_entropy, _WORK)
    return tuples.per_run(parts_in_order(parts[:found], order))


_TIE = 1e-12
#: Share of the time box that the search may take; the rest goes to its bound.
_SEARCH = 0.7
#: How much a split has to save for what it uses up: which is best differs from table to table.
#: None cuts the whole table in two again and again instead.
_WEIGHTS = (0.5, None, 1.0, 1.5, 0.0, 0.75, 0.25)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Anytime(Algorithm):
    """The best release found within a time box, and how far it is from proven.

    1. Look for cheap nodes: from the top downwards, by the saving of each step, with restarts.
    2. Where parts of the table may be recoded separately, cut the classes of the best node further.
    3. Spend what is left of the time on a bound from below on any release of the kind.
    """

    name: ClassVar[str] = "anytime"
    title: ClassVar[str] = "Time-boxed search"
    summary: ClassVar[str] = (
        "Lowers levels from the top while the privacy models hold, for each part or for whole "
        "columns. Publishes the best release it meets within the time limit, with a bound that "
        "none can beat."
    )
    offer: ClassVar[Offer] = Offer(
        when="When there are too many quasi-identifiers for a search that proves its result, or "
        "when cells should keep as much detail as hierarchy labels allow.",
        serves={
            "statistics": Service(
                place=6,
                why="It ends within its time box however many columns there are, and says how much "
                "better a release could be.",
            ),
            "training": Service(
                place=4,
                why="Cells are groups of your hierarchies, as fine as the models allow, within a "
                "time box however many columns there are.",
            ),
            "sharing": Service(
                place=5,
                why="Cells are groups of your hierarchies, as fine as the models allow, within a "
                "time box however many columns there are.",
            ),
            "teaching": Service(
                place=4,
                why="Cells are groups of your hierarchies, and the result comes with a bound that "
                "no release could beat.",
            ),
        },
    )
    shape: ClassVar[Shape] = Shape(approach="ranges", by_chance=True)
    needs: ClassVar[Needs] = Needs(counts_people=True, counts_public=True)
    formula: ClassVar[str] = (
        "cost − bound, where the bound is the least a row can pay if k rows show the same"
    )
    source: ClassVar[str] = (
        "Fung et al. 2005, doi 10.1109/ICDE.2005.143; Xu et al. 2006, doi 10.1145/1150402.1150504"
    )

    recoding: str = choice(
        default="local",
        options={"local": "part by part", "full-domain": "for whole columns"},
        help="Part by part keeps far more detail and removes no row; a whole column at one level "
        "is easier to analyse.",
        label="Levels are chosen",
    )
    metric: Metric = best_by()
    max_suppression: float = suppression_budget(
        help="Largest share of rows that may be suppressed, where levels are chosen for whole "
        "columns."
    )
    seconds: float = time_box(
        help="Time box. A search that is done earlier stops earlier; one that is cut short depends "
        "on the machine's speed."
    )
    restarts: int = integer(
        default=8,
        low=0,
        high=10_000,
        help="How often whole columns are searched again from other places.",
        label="Restarts",
    )

    def keeps_level_bounds(self) -> bool:
        """Whether columns have one level each; parts are cut as far as privacy models allow."""
        return self.recoding == "full-domain"

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search within the time box; see `Algorithm.run`."""
        context.check()
        whole_box = clock(context, self.seconds)
        time_left = replace(whole_box, share=_SEARCH)
        metric = self.metric
        if self.recoding == "local" and steers(models):
            found = self._local(problem, models, metric, context, time_left)
        else:
            found = self._whole_columns(problem, models, metric, context, time_left)
        cost = metric.measure(problem, found.release, context).value
        bound = min(self._bound(problem, models, metric, found, whole_box), cost)
        return Outcome(
            release=found.release,
            account=SearchAccount(
                proven=cost <= bound + _TIE,
                cost=cost,
                bound=bound,
                node=found.node,
                partition=found.partition,
                nodes=found.nodes,
                checked=found.checked,
                looked=found.looked,
                steps=tuple(found.steps),
            ),
        )

    def _bound(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        metric: Metric,
        found: _Found,
        time_left: Clock,
    ) -> float:
        """Return the best bound there is time for: larger sets of columns bound better."""

        def timely() -> bool:
            return time_left.check("Proving a bound")

        best = 0.0
        for most in SET_SIZES:
            if not timely():
                break
            if found.searched is not None:
                bound = column_bound(found.searched, metric, most, timely)
            elif (
                isinstance(metric, CellCost)
                and metric.removed_counts < 1
                and found.release.suppressed
            ):
                break  # a row that goes may cost less than in any class
            else:
                least = least_class(models, problem.population)
                bound = row_bound(problem, metric, least, most, timely)
            best = max(best, bound)
        return best

    def _whole_columns(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        metric: Metric,
        context: Context,
        time_left: Clock,
    ) -> _Found:
        nodes = Nodes(problem, models, rows_allowed(problem, self.max_suppression), context)
        walk = Walk(nodes, metric, time_left)
        walk.improve(walk.descend(nodes.lattice.top))
        for turn in range(self.restarts):
            if not time_left.check("Searching from elsewhere"):
                break
            start = walk.best if turn % 2 else (0,) * len(nodes.lattice.top)
            walk.improve(walk.descend(_above(start, nodes.lattice.top, context, turn % 2 == 0)))
        if walk.best_value[0]:
            what = "No levels that the search looked at satisfy the privacy models"
            nodes.refuse(what, decided=nodes.monotone if self.recoding == "local" else None)
        return _Found(
            release=nodes.release(walk.best),
            searched=nodes if nodes.nested else None,
            node=nodes.names(walk.best),
            nodes=nodes.lattice.size,
            checked=nodes.checked,
            looked=nodes.looked(),
            steps=walk.steps,
        )

    def _local(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        metric: Metric,
        context: Context,
        time_left: Clock,
    ) -> _Found:
        if not whole_holds(problem, models):  # only without some rows, which parts do not remove
            return self._whole_columns(problem, models, metric, context, time_left)
        steer = metric if isinstance(metric, CellCost) else cast(CellCost, find("metric", "loss")())
        nodes = [True] * len(problem.quasi)
        prices = cell_prices(problem, steer, nodes, steer.column_weights(problem))
        best: tuple[float, Release] | None = None
        steps: list[Mapping[str, int | float | str]] = []
        for weight in _WEIGHTS:
            start = None
            if weight is not None:
                start = local_parts(problem, models, steer, weight, time_left)
                if start is None:
                    break
            elif not time_left.check("Cutting parts"):
                break
            # Sets one node except for the rest, wherever that still saves something.
            part = gain_parts(problem, models, prices, time_left.context_left(), start=start)
            try:
                release = box_outcome(problem, run_buckets(problem, part), nodes).release
            except BadHierarchy:  # one text at two levels: only whole columns differ
                return self._whole_columns(problem, models, metric, context, time_left)
            cost = metric.measure(problem, release, context).value
            if best is None or cost < best[0]:
                best = (cost, release)
            way = "cuts alone" if weight is None else f"levels first, weight {weight:g}"
            steps.append({"way": way, "cost": cost, "classes": int(release.grouping.classes)})
        if best is None:  # not even one way was carried out in time
            return self._whole_columns(problem, models, metric, context, time_left)
        sizes = best[1].grouping.sizes
        return _Found(
            release=best[1],
            partition={
                "parts": float(len(sizes)),
                "smallest": float(sizes.min()),
                "largest": float(sizes.max()),
                "mean": float(sizes.mean()),
            },
            steps=steps,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    release: Release
    steps: Sequence[Mapping[str, int | float | str]]
    node: Mapping[str, int] | None = None
    partition: Mapping[str, float] | None = None
    nodes: int = 0
    checked: int = 0
    looked: Mapping[Node, int] = field(default_factory=dict[Node, int])
    searched: Nodes | None = None


def _above(node: Node, top: Node, context: Context, everywhere: bool) -> Node:
    """Raise three attributes, or every one, to levels drawn at random."""
    found = list(node)
    draw = context.generator
    for d in range(len(node)) if everywhere else draw.integers(0, len(node), 3).tolist():
        found[d] = int(draw.integers(found[d], top[d] + 1))
    return tuple(found)
