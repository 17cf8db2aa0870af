"""Top-down local recoding along the hierarchies: every part of the table chooses its own levels.

Global specialization (Fung et al. 2005) lowers a value for the whole table; here, as in local
recoding (Xu et al. 2006), a part lowers one column at a time by itself, and what is too rare
afterwards stays together one level higher.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anon_core.contracts.model import GroupModel
from anon_core.contracts.search_cost import CellCost
from anon_core.kernels.cuts import Counted, Cuts, Limits
from anon_core.kernels.specialize import PricedLevels, specialize
from anon_core.methods.lattice.local_search import Clock
from anon_core.methods.lattice.node_cost import level_prices
from anon_core.methods.partition.mondrian_cuts import keeps_whole, parts_in_order, watched_tuples
from anon_core.release.problem import Problem

_WORK = 20_000_000  # tuple visits between two looks at the clock, about 0.1 s


def steers(models: Sequence[GroupModel]) -> bool:
    """Say whether parts can be judged by the limits that the models state."""
    return all(m.by_limits and (m.monotone_merge or m.closed_under_union) for m in models)


def whole_holds(problem: Problem, models: Sequence[GroupModel]) -> bool:
    """Say whether the whole table as one class keeps the promises."""
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
        The whole table as one class must keep the promises.
    models : sequence of GroupModel
        Such that `steers` is true.
    cost : CellCost
        What a lower level saves.
    by_entropy : float
        How much a split that uses up more of the rows' sameness has to save for it.
    time_left : Clock
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
