"""Groups of two and three, or of three to five: proven factors for k = 2 and k = 3.

Aggarwal et al. 2005, Approximation algorithms for k-anonymity. Rows are linked so that the links
cost least in all: for k = 2 every row by one link or two, for k = 3 by exactly two, which makes
rings. Then the links are parted into small groups.

Why the factor holds, with w for what the links cost and u for what one row of a group pays. A group
of two pays 2w, of three along two links at most 3w. A ring of L rows crosses every column that
differs at least twice, so u ≤ w/2 and L ≤ 5 pays at most 2.5w; a longer one, parted into threes and
fours where that is cheapest, at most 3w. So what is found costs at most 3 times the links. The
optimum has groups of two and three, or of three to five. Where columns have two values, its three
rows are 2u of links apart in all, of which two links take 4u/3: links cost at most 2/3 of the
group; rings of three, four and five take at most 2u, 8u/3 and 3u: again 2/3 or less, hence factor
3 · 2/3 = 2 for k = 3. For k = 2 it is 3/2, since three rows with 4u/3 of links pay 3u, and two rows
with u of links 2u: links cost at most half. With more values three rows may be 3u apart: links then
cost at most 2/3, or all, of the group, and the factors are 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.errors import NotFound
from anon_core.kernels.best_gain_split import Prices, cover_price

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
    beside: list[list[int]] = [[] for _ in range(rows)]
    for one, other in links:
        beside[one].append(other)
        beside[other].append(one)
    seen: set[int] = set()
    walks: list[list[int]] = []
    for start in sorted(range(rows), key=lambda row: len(beside[row])):  # ends of paths first
        walk: list[int] = []
        at: int | None = start if start not in seen else None
        while at is not None:
            walk.append(at)
            seen.add(at)
            at = next((row for row in beside[at] if row not in seen), None)
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
