"""Group rows so that few cells must change: approximations with proven factors, and the optimum.

Every row pays what the cells of its group cost; with a price of 1 for each cell that differs within
the group that is the number of suppressed cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, NotFound
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, buckets_of_rows
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.cuts import Counted
from anon_core.kernels.forest import (
    Forest,
    PairPrices,
    apart,
    best_ball,
    fill_pairs,
    grow_forest,
    part_forest,
    tuple_distance,
)
from anon_core.kernels.frontier import cheapest_groups
from anon_core.methods.partition.best_gain import gain_parts, prices_where_unequal
from anon_core.methods.partition.box_release import Linked
from anon_core.methods.partition.exhaustive_partition import kept_sets
from anon_core.methods.partition.merging import least_size
from anon_core.methods.partition.mondrian_cuts import rows_of_keys
from anon_core.release.problem import Problem

if TYPE_CHECKING:
    import scipy.optimize
    import scipy.sparse


MOST_LINKED = 250  # rows; every pair of them is a column of the integer program
_SECONDS = 60.0


def linked_groups(codes: I32, distance: F64, k: int, prices: Prices) -> I64:
    """Return the group of each row, shape (rows,).

    Parameters
    ----------
    codes : int32 array of shape (rows, attributes)
    distance : float64 array of shape (rows, rows)
        What a row pays in a group of two.
    k : int
        2 or 3; there are at least k rows.

    Raises
    ------
    NotFound
        If the integer program does not end in a minute.
    """
    rows = len(codes)
    group = np.full(rows, -1, dtype=np.int64)
    parts: list[Sequence[int]] = []
    for walk in _walks(_cheapest_links(distance, 1 if k == 2 else 2), rows):
        if k == 2:
            sizes = [2] * (len(walk) // 2 - len(walk) % 2) + [3] * (len(walk) % 2)
            parts += _cut(walk, sizes)
        elif len(walk) <= 5:
            parts.append(walk)
        else:
            fours = len(walk) % 3
            sizes = [4] * fours + [3] * ((len(walk) - 4 * fours) // 3)
            turned = [_cut(walk[i:] + walk[:i], sizes) for i in range(len(walk))]
            parts += min(turned, key=lambda own: sum(_price(codes[p], prices) for p in own))
    for number, part in enumerate(parts):
        group[list(part)] = number
    return group


def _cheapest_links(distance: F64, least: int) -> list[tuple[int, int]]:
    """Return the links of least total by which every row has `least` to two of them."""
    rows = len(distance)
    one, other = np.triu_indices(rows, 1)
    links = np.arange(len(one))
    ends = scipy.sparse.csr_array(
        (np.ones(2 * len(links)), (np.concatenate([one, other]), np.concatenate([links, links]))),
        shape=(rows, len(links)),
    )
    found = scipy.optimize.milp(
        distance[one, other],
        integrality=np.ones(len(links), dtype=np.int64),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=scipy.optimize.LinearConstraint(ends, least, 2),
        options={"mip_rel_gap": 0.0, "time_limit": _SECONDS},
    )
    if found.status != 0:
        raise NotFound(
            f"The cheapest links of {rows} rows were not found within {_SECONDS:g} seconds.",
            remedy="Choose the method 'forest'.",
        )
    chosen = np.flatnonzero(found.x > 0.5)
    return list(zip(one[chosen].tolist(), other[chosen].tolist(), strict=True))


def _walks(links: Sequence[tuple[int, int]], rows: int) -> list[list[int]]:
    """Return the paths and rings of links, each as its rows one after the other."""
    neighbours: list[list[int]] = [[] for _ in range(rows)]
    for one, other in links:
        neighbours[one].append(other)
        neighbours[other].append(one)
    seen: set[int] = set()
    walks: list[list[int]] = []
    for start in sorted(range(rows), key=lambda row: len(neighbours[row])):  # ends of paths first
        walk: list[int] = []
        at: int | None = start if start not in seen else None
        while at is not None:
            walk.append(at)
            seen.add(at)
            at = next((row for row in neighbours[at] if row not in seen), None)
        if walk:
            walks.append(walk)
    return walks


def _cut(walk: Sequence[int], sizes: Sequence[int]) -> list[Sequence[int]]:
    ends = np.cumsum(sizes).tolist()
    return [walk[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _price(codes: I32, prices: Prices) -> float:
    """Return what the rows of a group pay together."""
    low, high = codes.min(axis=0).tolist(), codes.max(axis=0).tolist()
    own = (cover_price(prices, d, low[d], high[d]) for d in range(len(low)))
    return len(codes) * float(sum(own))


MOST_EXACT = 16  # rows; the table of all their subsets grows threefold with each
MOST_FOREST = 4000  # tuples; every tree's top is compared with all of them
MOST_BALLS = 1500  # rows; every pair's distance is kept
_MOST_PAIRS = 4_000_000  # of leaves of one column, whose prices are tabulated
_PAIRS = 20_000_000  # pairs of tuples between two looks at the cancel button, about 0.2 s


class Linkage(NamedTuple):
    """What groups are formed by where some columns follow others.

    Attributes
    ----------
    codes : int32 array of shape (runs, attributes)
    prices : Prices
        Of these codes.
    """

    codes: I32
    prices: Prices


def follow(problem: Problem, levels: Sequence[int], linked: Linked, weights: F64) -> Linkage:
    """Return codes that differ where a column or the one that it follows does."""
    frequency = problem.frequency
    nodes = [
        h.node(level)[frequency.run_codes[:, d]]
        for d, (h, level) in enumerate(zip(problem.quasi_hierarchies, levels, strict=True))
    ]
    leader = {own: problem.quasi.index(first) for first, *others in linked for own in others}
    codes = np.empty(frequency.run_codes.shape, dtype=np.int32)
    for d, name in enumerate(problem.quasi):
        both = [nodes[leader[name]], nodes[d]] if name in leader else [nodes[d]]
        codes[:, d] = np.unique(np.stack(both), axis=1, return_inverse=True)[1].reshape(-1)
    sizes = (codes.max(axis=0) + 1).tolist()
    return Linkage(codes, prices_where_unequal([np.arange(size) for size in sizes], weights))


def cell_groups(
    problem: Problem,
    models: Sequence[GroupModel],
    prices: Prices,
    method: str,
    context: Context,
    *,
    together: Linkage | None = None,
) -> Buckets:
    """Form groups of at least as many rows as the models ask for.

    Parameters
    ----------
    prices : Prices
        What a cell costs that must cover two leaves.
    method : {'forest', 'balls', 'links', 'exact'}
        Forest pays at most 3k − 3 times the optimum (Aggarwal et al. 2005), balls at most
        6k (1 + ln n) times (Meyerson and Williams 2004; O(k log k) where all sets of up to 2k − 1
        rows are tried, which takes too long). Links pay at most 2 times for k = 2 and 3 times for
        k = 3, and 1.5 and 2 times where every column has two values (see `linked_groups`); `exact`
        has factor 1, of all models that good groups keep when merged. A table of more than
        `MOST_FOREST` tuples is cut into blocks first, within each of which that holds of a forest.
    together : Linkage, optional
        Codes and prices that groups are formed by, where some columns follow others; blocks are
        cut by `prices`.

    Raises
    ------
    BadPlan
        If the table is too large for the method, or k too large for links.
    Infeasible
        If the table has fewer than k rows.
    """
    k = least_size(problem, models)
    codes, own = (problem.frequency.run_codes, prices) if together is None else together
    models = [model for model in models if not model.scope.public]
    if problem.rows < k:
        raise Infeasible(
            f"Classes of {k:,} rows need at least {k:,} rows; the table has {problem.rows:,}.",
            remedy=f"Choose k of at most {problem.rows:,}, or load more rows.",
            best=float(problem.rows),
            best_of="rows",
        )
    if method == "links" and k not in (2, 3):
        raise BadPlan(
            f"The method 'links' is proven for classes of 2 and of 3 rows; k is {k}.",
            remedy="Set k to 2 or 3, or choose the method 'forest'.",
        )
    most = {"exact": MOST_EXACT, "balls": MOST_BALLS, "links": MOST_LINKED}
    limit = most.get(method, problem.rows)
    if problem.rows > limit:
        raise BadPlan(
            f"The method '{method}' handles at most {limit} rows; the table has {problem.rows:,}.",
            remedy="Choose the method 'forest'.",
        )
    # Which of equal rows goes where is drawn, so that neither their order nor what else they hold
    # decides it.
    frequency = problem.frequency
    key = context.generator.permutation(rows_of_keys(problem))
    key = key[np.argsort(frequency.run[key], kind="stable")]
    run = frequency.run[key]
    if method == "exact":
        context.check()
        allowed = _allowed(problem, models, key, k)
        group = cheapest_groups(np.ascontiguousarray(codes[run]), allowed, own)[1]
    elif method == "balls":
        distance = _distances(codes, run, own, context)
        group = _by_balls(distance, k, context)
    elif method == "links":
        distance = _distances(codes, run, own, context)
        group = linked_groups(codes[run], distance, k, own)
    else:
        block = np.zeros(len(frequency.run_count), dtype=np.int64)
        if len(block) > MOST_FOREST:
            size = max(MOST_FOREST // 4, k)
            block = gain_parts(problem, models, prices, context, least=size)
        group = _by_forest(problem, Linkage(codes, own), block, run, k, context)
    return buckets_of_rows(key, group)


def _allowed(problem: Problem, models: Sequence[GroupModel], key: I64, k: int) -> B1:
    """Return which sets of rows may be a group, shape (2 ** rows,).

    Where sizes alone are asked for, those of k to 2k − 1 rows: larger ones can be parted without
    paying more. Else all that keep the privacy models, as far as unions of such sets keep them.
    """
    sizes = np.bitwise_count(np.arange(1 << len(key), dtype=np.int64))
    whole = [model for model in models if model.unions_keep() and not model.of_release()]
    if all(model.logic.class_sizes for model in whole):
        return (k <= sizes) & (sizes < 2 * k)
    return kept_sets(problem, whole, key) & (sizes >= k)


def pair_prices(prices: Prices) -> PairPrices:
    """Tabulate the prices of pairs of leaves, as far as there is room."""
    sizes = prices.leaves * prices.leaves
    room = sizes <= _MOST_PAIRS
    ends = np.cumsum(np.where(room, sizes, 0))
    start = np.where(room, ends - sizes, -1).astype(np.int64)
    table = np.zeros(int(ends[-1]), dtype=np.float64)
    for d in np.flatnonzero(room).tolist():
        fill_pairs(prices, d, int(start[d]), table)
    known = table[table > 0]
    least = float(known.min()) if room.all() and len(known) else 0.0
    return PairPrices(prices=prices, table=table, table_of=start, least=least)


def _by_forest(
    problem: Problem,
    linkage: Linkage,
    block: npt.NDArray[np.int64],
    run: npt.NDArray[np.int64],
    k: int,
    context: Context,
) -> npt.NDArray[np.int64]:
    tuples = len(block)
    pairs = pair_prices(linkage.prices)
    parent = np.full(tuples, -1, dtype=np.int64)
    by_block = np.argsort(block, kind="stable")
    for own in np.split(by_block, np.flatnonzero(np.diff(block[by_block])) + 1):
        # 1. Link tuples to their nearest until every tree has k rows.
        codes = np.ascontiguousarray(linkage.codes[own])
        count = problem.frequency.run_count[own]
        owner, top = np.arange(len(own), dtype=np.int64), np.arange(len(own), dtype=np.int64)
        above = np.full(len(own), -1, dtype=np.int64)
        tuples_here, forest = Counted(codes, count), Forest(owner, count.copy(), top, above)
        at = 0
        while at < len(own):
            context.report(0.9 * float(own[0]) / tuples, "Linking neighbours")
            if context.out_of_time():  # smaller trees make groups that are merged afterwards
                break
            at = grow_forest(tuples_here, k, pairs, forest, at, _PAIRS)
        parent[own] = np.where(above >= 0, own[above], -1)
    # 2. Rows of one tuple hang below the first of them.
    first = np.searchsorted(run, np.arange(tuples))
    above_row = first[run]
    above_row[first] = np.where(parent >= 0, first[parent], -1)
    # 3. Part the trees.
    return part_forest(above_row.astype(np.int64), k)


def _distances(
    codes: npt.NDArray[np.int32], run: npt.NDArray[np.int64], prices: Prices, context: Context
) -> npt.NDArray[np.float64]:
    """Return what a row pays in a group of two, shape (rows, rows)."""
    tuples = len(codes)
    pairs = pair_prices(prices)
    between = np.zeros((tuples, tuples), dtype=np.float64)
    for i in range(tuples):
        if i % 64 == 0:
            context.check()
        for j in range(i):
            between[i, j] = between[j, i] = tuple_distance(pairs, codes, i, j, np.inf)
    return between[run][:, run]


def _by_balls(distance: npt.NDArray[np.float64], k: int, context: Context) -> npt.NDArray[np.int64]:
    rows = len(distance)
    ranked = np.argsort(distance, axis=1, kind="stable").astype(np.int64)
    covered = np.zeros(rows, dtype=np.bool_)
    sets: list[npt.NDArray[np.bool_]] = []
    # 1. Cover all rows by balls, each the cheapest per row it newly covers.
    while not covered.all():
        context.report(0.9 * float(covered.mean()), "Covering rows")
        if context.out_of_time():  # all that is not covered yet is one set
            last = ~covered
            last[ranked[int(np.argmin(covered)), :k]] = True
            sets.append(last)
            break
        centre, size = best_ball(distance, ranked, covered, k)
        member = np.zeros(rows, dtype=np.bool_)
        member[ranked[centre, :size]] = True
        sets.append(member)
        covered |= member
    # 2. Make the balls disjoint.
    return apart(np.stack(sets), k)
