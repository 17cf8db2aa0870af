"""The kernels that walk the lattice for many least sizes against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anon_core.kernels import sweep_nodes as walk
from anon_core.kernels.roll_up import Packing
from anon_core.methods.lattice.lattice import layout_of
from tests import naive

pytestmark = pytest.mark.kernels

SIZES = [5, 12, 3]
#: Per attribute and level, the first leaf of every leaf's node.
LEVELS = [
    [[0, 1, 2, 3, 4], [0, 0, 2, 2, 2], [0] * 5],
    [list(range(12)), [v // 3 * 3 for v in range(12)], [v // 6 * 6 for v in range(12)], [0] * 12],
    [[0, 1, 2], [0, 0, 0]],
]
LIMITS = (2, 3, 7, 40)


@pytest.fixture(params=["compiled", "plain"])
def chosen(request: pytest.FixtureRequest) -> Any:
    """Return a kernel as it is, and the Python function behind it."""

    def pick(kernel: Any) -> Any:
        return kernel if request.param == "compiled" else getattr(kernel, "py_func", kernel)

    with np.errstate(over="ignore"):  # hashing multiplies modulo 2⁶⁴
        yield pick


def drawn(rng: np.random.Generator, keys: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Return a layout, distinct keys by field and packed, and their counts."""
    layout = layout_of(SIZES)
    codes = np.stack([rng.integers(0, s, keys) for s in SIZES], axis=1).astype(np.int64)
    codes = np.unique(codes, axis=0)
    words = np.zeros(len(codes), dtype=np.int64)
    for d in range(len(SIZES)):
        words |= codes[:, d] << layout.shift[d]
    return layout, codes, words, rng.integers(1, 6, len(codes))


@pytest.mark.parametrize("in_place", [False, True])
def test_raise_field_is_grouping_of_mapped_keys(chosen: Any, in_place: bool) -> None:
    rng = np.random.default_rng(4)
    for keys in (0, 1, 9, 150):
        layout, codes, words, count = drawn(rng, keys)
        d, table = 1, np.array(LEVELS[1][2], dtype=np.int64)
        price = codes.sum(axis=1).astype(np.float64)  # the same for all that become equal
        price -= codes[:, d]
        dearer = np.full(12, 0.5)
        size = len(words)
        taken = walk.Priced(words.copy(), count.copy(), price.copy())
        out = taken if in_place else walk.Priced(*(np.empty_like(a) for a in taken))
        found = chosen(walk.raise_field)(
            taken,
            size,
            layout.shift[d],
            layout.mask[d],
            table << layout.shift[d],
            dearer,
            np.empty(1 << max(4, (2 * size).bit_length()), dtype=np.int32),
            out,
        )
        entries = {
            tuple(int((w >> layout.shift[i]) & layout.mask[i]) for i in range(3)): (int(c), p)
            for w, c, p in zip(*(a[:found].tolist() for a in out), strict=True)
        }
        expected = naive.rolled(codes.tolist(), count.tolist(), {d: LEVELS[1][2]})
        assert {key: rows for key, (rows, _) in entries.items()} == expected
        assert all(p == key[0] + key[2] + 0.5 for key, (_, p) in entries.items())


def test_tally_sorts_classes_by_the_sizes_they_reach(chosen: Any) -> None:
    rng = np.random.default_rng(5)
    for keys in (0, 3, 80):
        count, price = rng.integers(1, 50, keys), rng.random(keys)
        bucket = np.searchsorted(LIMITS, np.arange(LIMITS[-1] + 1), side="right")
        whole = np.full((len(LIMITS) + 1, 3), 7, dtype=np.int64)
        paid = np.full(len(LIMITS) + 1, 7.0)
        chosen(walk.tally)(count, price, keys, bucket, whole, paid)
        for b in range(len(LIMITS) + 1):
            low = LIMITS[b - 1] if b else 0
            high = LIMITS[b] if b < len(LIMITS) else 1000
            own = [(c, p) for c, p in zip(count, price, strict=True) if low <= c < high]
            assert whole[b].tolist() == [
                sum(c for c, _ in own),
                len(own),
                sum(c * c for c, _ in own),
            ]
            spared = sum(c * p for c, p in own) if b < len(LIMITS) else 0.0
            assert paid[b] == pytest.approx(spared)


@pytest.mark.parametrize("outer", [0, 1, 2, 3])
def test_walk_counts_what_loops_count_at_every_node(chosen: Any, outer: int) -> None:
    rng = np.random.default_rng(6)
    shape = tuple(len(own) for own in LEVELS)
    order = np.array([2, 0, 1], dtype=np.int64)
    cost = [
        [sorted(rng.random(len(own))) for _ in range(size)]
        for own, size in zip(LEVELS, SIZES, strict=True)
    ]
    # A price is a node's: the leaves of one node share it.
    prices = [
        np.array([[cost[d][first][level] for first in own] for level, own in enumerate(levels)])
        for d, levels in enumerate(LEVELS)
    ]
    for keys in (1, 30, 170):
        layout, codes, _, count = drawn(rng, keys)
        flat = [np.array(own, dtype=np.int64) << layout.shift[d] for d, own in enumerate(LEVELS)]
        results = [np.full((int(np.prod(shape)), len(LIMITS)), -1, np.int64) for _ in range(3)]
        spared = np.full(results[0].shape, -1.0)
        stride = np.cumprod([1, *shape[:0:-1]])[::-1].astype(np.int64)
        start = [int(rng.integers(0, n)) for n in shape]
        node = [start[d] if d in order[:outer] else 0 for d in range(3)]
        maps = {d: LEVELS[d][node[d]] for d in range(3)}
        begin = naive.rolled(codes.tolist(), count.tolist(), maps)
        at_begin = np.array(list(begin), dtype=np.int64)
        paid = [sum(prices[d][node[d]][v] for d, v in enumerate(key)) for key in begin]
        packing = Packing(
            word=layout.word,
            shift=layout.shift,
            mask=layout.mask,
            height=np.array(shape, dtype=np.int64) - 1,
            stride=stride,
            kinds=np.zeros((3, max(shape)), dtype=np.int64),
            leaves=np.array(SIZES, dtype=np.int64),
            offset=np.cumsum([0, *(own.size for own in flat[:-1])]).astype(np.int64),
            table=np.concatenate([own.ravel() for own in flat]),
        )
        chosen(walk.walk)(
            walk.Priced(
                np.sum([at_begin[:, d] << layout.shift[d] for d in range(3)], axis=0),
                np.array(list(begin.values()), dtype=np.int64),
                np.array(paid),
            ),
            int(np.dot(node, stride)),
            outer,
            order,
            packing,
            np.concatenate([np.diff(own, axis=0, prepend=own[:1]).ravel() for own in prices]),
            np.searchsorted(LIMITS, np.arange(LIMITS[-1] + 1), side="right"),
            walk.Totals(*results, spared),
        )
        reached = 0
        for place, other in enumerate(np.ndindex(shape)):
            values = list(
                zip(*(own[place].tolist() for own in results), spared[place].tolist(), strict=True)
            )
            if any(other[d] != node[d] for d in order[:outer]):
                assert values == [(-1, -1, -1, -1.0)] * len(LIMITS)  # another part's
                continue
            maps = {d: LEVELS[d][other[d]] for d in range(3)}
            found = naive.rolled(codes.tolist(), count.tolist(), maps)
            own = [prices[d][other[d]].tolist() for d in range(3)]
            for line, expected in zip(values, naive.tallied(found, own, LIMITS), strict=True):
                assert line == pytest.approx(expected)
            reached += 1
        assert reached == np.prod([shape[d] for d in order[outer:]])
