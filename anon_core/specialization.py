"""Top-down local recoding along the hierarchies: every part of the table chooses its own levels.

Global specialization (Fung et al. 2005) lowers a value for the whole table; here, as in local
recoding (Xu et al. 2006), a part lowers one column at a time by itself, and what is too rare
afterwards stays together one level higher.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from . import vocabulary
from .climbing import Clock
from .costs import CellCost
from .frequency import dense_rank
from .grouping import group_runs
from .kernels.specialize import specialize
from .kinds import GroupModel, GroupStats, histogram
from .node_cost import level_prices
from .problem import Problem
from .release import Release, one_block

_WORK = 20_000_000  # tuple visits between two looks at the clock, about 0.1 s


def steers(models: Sequence[GroupModel]) -> bool:
    """Say whether parts can be judged by the limits that the models state."""
    return all(m.by_limits and (m.monotone_merge or m.closed_under_union) for m in models)


def whole_holds(problem: Problem, models: Sequence[GroupModel]) -> bool:
    """Say whether the whole table as one class keeps the promises."""
    frequency = problem.frequency
    one = np.zeros(len(frequency.count), dtype=np.int64)
    for model in models:
        counted = {
            name: histogram(
                one,
                frequency.codes[:, frequency.columns.index(name)],
                frequency.count,
                1,
                len(problem.hierarchies[name].leaves),
            )
            for name in model.needs(problem)
        }
        stats = GroupStats(sizes=np.array([problem.rows], dtype=np.int64), histograms=counted)
        if not model.per_group(stats)[0]:
            return False
    return True


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
    frequency = problem.frequency
    distinct: dict[str, int] = {}
    share: dict[str, int] = {}
    for model in models:
        for name, least in model.least_distinct(problem).items():
            distinct[name] = max(least, distinct.get(name, 0))
        for name, least in model.most_share(problem).items():
            share[name] = max(least, share.get(name, 0))
    watched = list(dict.fromkeys([*distinct, *share]))
    quasi = len(problem.quasi)
    extra = [frequency.columns.index(name) for name in watched]
    columns = [frequency.codes[:, d] for d in (*range(quasi), *extra)]
    sizes = [len(problem.hierarchies[frequency.columns[d]].leaves) for d in (*range(quasi), *extra)]
    rank, first = dense_rank(columns, sizes)
    count = np.bincount(rank, weights=frequency.count).astype(np.int64)
    codes = np.ascontiguousarray(frequency.codes[first][:, :quasi])
    sensitive = np.ascontiguousarray(frequency.codes[first][:, extra])
    hierarchies = problem.quasi_hierarchies
    tables = [h.first_leaf.ravel().astype(np.int64) for h in hierarchies]
    prices = [level_prices(problem, cost, h).ravel() for h in hierarchies]
    order = np.arange(len(count), dtype=np.int64)
    stack = np.empty((len(count) + 1, 2), dtype=np.int64)
    stack[0] = 0, len(count)
    parts = np.empty((len(count), 2), dtype=np.int64)
    depth, found = 1, 0
    while depth:
        if not time_left.check("Lowering levels part by part"):
            return None
        depth, found = specialize(
            codes,
            count,
            order,
            stack,
            depth,
            parts,
            found,
            max(m.least_size() for m in models),
            sensitive,
            np.array([distinct.get(name, 0) for name in watched], dtype=np.int64),
            np.array([share.get(name, 0) for name in watched], dtype=np.int64),
            np.concatenate(tables),
            np.concatenate(prices),
            np.cumsum([0, *(len(t) for t in tables[:-1])]).astype(np.int64),
            np.array([len(h.leaves) for h in hierarchies], dtype=np.int64),
            np.array([h.height + 1 for h in hierarchies], dtype=np.int64),
            by_entropy,
            _WORK,
        )
    runs = parts[:found][np.argsort(parts[:found, 0])]
    part = np.empty(len(count), dtype=np.int64)
    part[order] = np.repeat(np.arange(found), runs[:, 1] - runs[:, 0])
    of_run = np.empty(len(frequency.run_count), dtype=np.int64)
    of_run[frequency.run[first]] = part
    return of_run


def node_release(problem: Problem, part: npt.NDArray[np.int64]) -> Release:
    """Publish every part's smallest covering nodes."""
    frequency = problem.frequency
    by_part = np.argsort(part, kind="stable")
    begin = np.searchsorted(part[by_part], np.arange(int(part.max()) + 1))
    vocabularies: dict[str, vocabulary.Vocabulary] = {}
    cells: dict[str, npt.NDArray[np.int32]] = {}
    for d, (name, h) in enumerate(zip(problem.quasi, problem.quasi_hierarchies, strict=True)):
        codes = frequency.run_codes[by_part, d]
        vocabularies[name], cells[name] = vocabulary.of_boxes(
            h,
            problem.dataset.column(name).kind,
            np.minimum.reduceat(codes, begin),
            np.maximum.reduceat(codes, begin),
            as_nodes=True,
        )
    # Parts that publish the same are one class, numbered by what they publish.
    rank, first = dense_rank(
        [cells[n] for n in problem.quasi], [len(vocabularies[n].texts) for n in problem.quasi]
    )
    return one_block(
        problem,
        group_runs(frequency, rank[part], len(first)),
        vocabularies,
        {name: c[first] for name, c in cells.items()},
    )
