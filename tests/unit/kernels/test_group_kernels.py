"""The kernels that group rows and compare boxes against plain loops, on random input.

Prices are whole eighths, so that sums are exact in any order and ties are ties.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.boxes_of_groups import nearest_boxes
from anon_core.kernels.cluster import cheapest_runs, farthest, grow_cluster, halve, pair_price
from anon_core.kernels.cuts import Counted, Cuts
from anon_core.kernels.forest import (
    Forest,
    apart,
    best_ball,
    fill_pairs,
    grow_forest,
    part_forest,
    tuple_distance,
)
from anon_core.kernels.frontier import cheapest_groups
from anon_core.methods.clusters.cell_groups import pair_prices
from tests import naive_kernels
from tests.naive_kernels import Codes, Way

pytestmark = pytest.mark.kernels


def drawn_way(rng: np.random.Generator) -> Way:
    leaves = int(rng.integers(1, 7))
    if rng.random() < 0.5:
        position = np.cumsum(rng.integers(1, 5, leaves)) / 8
        return Way(
            leaves=leaves,
            position=position.tolist(),
            step=float(rng.choice([0.0, 0.125])),
            whole=3.0,
            missing=leaves - 1 if rng.random() < 0.3 else -1,
        )
    nodes: list[tuple[range, float]] = []
    starts, price = list(range(leaves)), 0.0
    while True:
        price += float(rng.integers(1, 4)) / 8
        ends = [*starts[1:], leaves]
        nodes += [
            (range(a, b), price if b - a > 1 else 0.0) for a, b in zip(starts, ends, strict=True)
        ]
        if starts == [0]:
            return Way(leaves=leaves, nodes=nodes)
        starts = [0, *(s for s in starts[1:] if rng.random() < 0.5)]


def as_prices(ways: Sequence[Way]) -> Prices:
    """Return ways as the kernels look them up: level after level, every leaf's node."""
    tables: list[list[tuple[int, float]]] = []
    for way in ways:
        levels = [(leaf, 0.0) for leaf in range(way.leaves)]
        for inside, price in way.nodes:
            levels += [(inside.start, price)] * len(inside)
        tables.append(levels)
    sizes = [len(t) for t in tables]
    position = [w.position or [0.0] * w.leaves for w in ways]
    places = [len(p) for p in position]
    return Prices(
        by_node=np.array([bool(w.nodes) for w in ways]),
        position=np.concatenate(position).astype(np.float64),
        place_of=(np.cumsum(places) - places).astype(np.int64),
        step=np.array([w.step for w in ways]),
        whole=np.array([w.whole for w in ways]),
        missing=np.array([w.missing for w in ways], dtype=np.int64),
        node_price=np.array([p for t in tables for _, p in t]),
        first_leaf=np.array([f for t in tables for f, _ in t], dtype=np.int64),
        tree_offset=(np.cumsum(sizes) - sizes).astype(np.int64),
        leaves=np.array([w.leaves for w in ways], dtype=np.int64),
    )


class Table:
    """Distinct tuples in order with their rows, and what their cells cost."""

    def __init__(self, rng: np.random.Generator, most: int) -> None:
        self.ways = [drawn_way(rng) for _ in range(int(rng.integers(1, 4)))]
        drawn = [rng.integers(0, w.leaves, int(rng.integers(2, most + 1))) for w in self.ways[:1]]
        rows = len(drawn[0])
        columns = [rng.integers(0, w.leaves, rows) for w in self.ways]
        self.codes = np.unique(np.stack(columns, axis=1), axis=0).astype(np.int32)
        self.tuples: list[Codes] = [tuple(row) for row in self.codes.tolist()]
        self.count: npt.NDArray[np.int64] = rng.integers(1, 4, len(self.codes))
        self.prices = as_prices(self.ways)
        self.size = len(self.tuples)


def tables(seed: int, turns: int, most: int = 14) -> list[tuple[np.random.Generator, Table]]:
    rng = np.random.default_rng([613, seed])
    return [(rng, Table(rng, most)) for _ in range(turns)]


def parts_of(number: npt.NDArray[np.int64]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(number == g).tolist()) for g in np.unique(number).tolist()}


def test_prices_of_cells_and_of_pairs() -> None:
    for _, t in tables(1, 60):
        pairs = pair_prices(t.prices)
        for d, way in enumerate(t.ways):
            table = np.full(way.leaves * way.leaves + 2, -1.0)
            fill_pairs(t.prices, d, 1, table)
            assert table[1:-1].tolist() == naive_kernels.pair_table(way)
            assert table[[0, -1]].tolist() == [-1.0, -1.0]
            for lo in range(way.leaves):
                for hi in range(lo, way.leaves):
                    price = naive_kernels.cell_price(way, lo, hi)
                    assert cover_price(t.prices, d, lo, hi) == price
        for a in range(t.size):
            for b in range(t.size):
                price = naive_kernels.row_price(t.ways, [t.tuples[a], t.tuples[b]])
                assert pair_price(t.prices, t.codes, a, b) == price
                assert tuple_distance(pairs, t.codes, a, b, np.inf) == price
                # What is past the most that is of interest need not be finished.
                assert (tuple_distance(pairs, t.codes, a, b, 0.5) < 0.5) == (price < 0.5)


def test_the_farthest_and_a_cluster_grown_from_it() -> None:
    grown = 0
    for rng, t in tables(2, 150):
        group = np.where(rng.random(t.size) < 0.3, 7, -1).astype(np.int64)
        free = np.flatnonzero(group < 0).tolist()
        here, k = int(rng.integers(t.size)), int(rng.integers(1, 7))
        seed = farthest(t.prices, t.codes, group, here)
        assert seed == naive_kernels.farthest(t.ways, t.tuples, free, here)
        if seed < 0:
            continue
        expected = naive_kernels.grown_cluster(t.ways, t.tuples, t.count.tolist(), free, seed, k)
        before = group.copy()
        last = grow_cluster(t.prices, t.codes, t.count, group, 3, seed, k)
        assert last == (expected[-1] if expected else -1)
        before[expected] = 3
        assert group.tolist() == before.tolist()
        grown += len(expected) > 2
    assert grown > 20


def test_an_order_is_cut_at_the_least_price() -> None:
    for rng, t in tables(3, 60, most=10):
        k = int(rng.integers(1, 4))
        if t.count.sum() < k:
            continue
        run = cheapest_runs(t.prices, t.codes, t.count, k)
        ends = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), t.size]
        paid = 0.0
        for a, b in itertools.pairwise(ends):
            assert t.count[a:b].sum() >= k
            price = naive_kernels.row_price(t.ways, t.tuples[a:b])
            paid += price * int(t.count[a:b].sum())
        best = naive_kernels.cheapest_cut(t.ways, t.tuples, t.count.tolist(), k)
        assert paid == best


@pytest.mark.parametrize("work", [1, 1_000_000])
def test_halves_are_those_of_the_recursion(work: int) -> None:
    several = moved = 0
    for rng, t in tables(4, 150):
        k = int(rng.integers(1, 6))
        order = rng.permutation(t.size)
        expected = naive_kernels.halves(t.ways, t.tuples, t.count.tolist(), k, order.tolist())
        stack = np.empty((t.size + 1, 2), dtype=np.int64)
        stack[0] = 0, t.size
        parts = np.empty((t.size, 2), dtype=np.int64)
        tuples, cuts = Counted(t.codes, t.count), Cuts(order, stack, parts)
        depth, found = 1, 0
        while depth:
            depth, found = halve(t.prices, tuples, cuts, depth, found, k, work)
        ours = sorted(sorted(order[a:b].tolist()) for a, b in parts[:found])
        assert ours == sorted(expected)
        assert sorted(order.tolist()) == list(range(t.size))
        several += found > 1
        moved += found == 2 and k > 2
    assert several > 40
    assert moved > 5


def test_nearest_boxes() -> None:
    none = 0
    for rng, t in tables(5, 120):
        boxes = [
            naive_kernels.box_of(t.tuples[i] for i in rng.integers(0, t.size, 2).tolist())
            for _ in range(int(rng.integers(1, 6)))
        ]
        low, high = (np.array([b[s] for b in boxes], dtype=np.int32) for s in (0, 1))
        size = rng.integers(1, 5, len(boxes))
        who = rng.permutation(len(boxes))
        found = np.full(len(who), -9)
        nearest_boxes(low, high, size, t.prices, who, 0, len(who), found)
        assert found.tolist() == [
            naive_kernels.nearest_box(t.ways, boxes, size.tolist(), b) for b in who.tolist()
        ]
        none += int(np.count_nonzero(found < 0))
    assert none > 10


@pytest.mark.parametrize("work", [1, 1_000_000])
def test_forests_grow_and_are_parted_as_by_loops(work: int) -> None:
    several = 0
    for rng, t in tables(6, 120):
        k = int(rng.integers(1, 7))
        owner, top = np.arange(t.size), np.arange(t.size)
        size, parent = t.count.copy(), np.full(t.size, -1)
        pairs = pair_prices(t.prices)
        tuples, forest = Counted(t.codes, t.count), Forest(owner, size, top, parent)
        at = 0
        while at < t.size:
            at = grow_forest(tuples, k, pairs, forest, at, work)
        assert parent.tolist() == naive_kernels.grown_forest(t.ways, t.tuples, t.count.tolist(), k)
        # One row a tuple; trees may then be smaller than k.
        group = part_forest(parent, k)
        expected = naive_kernels.parted_forest(parent.tolist(), k)
        assert parts_of(group) == {frozenset(g) for g in expected}
        several += len(expected) > 1
    assert several > 30


def test_balls_and_groups_without_overlap() -> None:
    several = 0
    for rng, t in tables(7, 120):
        k = int(rng.integers(1, min(4, t.size) + 1))
        distance = np.array(
            [[naive_kernels.row_price(t.ways, [a, b]) for b in t.tuples] for a in t.tuples]
        )
        ranked = np.argsort(distance, axis=1, kind="stable").astype(np.int64)
        covered = rng.random(t.size) < 0.4
        covered[int(rng.integers(t.size))] = False
        centre, size = best_ball(distance, ranked, covered, k)
        assert (centre, ranked[centre, :size].tolist()) == naive_kernels.best_ball(
            distance.tolist(), covered.tolist(), k
        )
        # A cover of sets of at least k rows.
        member = rng.random((int(rng.integers(1, 5)), t.size)) < 0.4
        member[0] |= ~member.any(axis=0)
        for own in member:
            own[rng.permutation(t.size)[:k]] = True
        sets = [set(np.flatnonzero(own).tolist()) for own in member]
        group = apart(member.copy(), k)
        expected = naive_kernels.disjoint(sets, k)
        assert parts_of(group) == {frozenset(g) for g in expected}
        assert min(map(len, expected)) >= k
        several += len(expected) > 1
    assert several > 30


def test_the_cheapest_groups_of_a_handful_of_rows() -> None:
    for rng, t in tables(8, 40, most=8):
        rows = np.repeat(np.arange(t.size), t.count)[:9]
        k = int(rng.integers(1, 4))
        if len(rows) < k:
            continue
        sizes = np.bitwise_count(np.arange(1 << len(rows)))
        allowed = (k <= sizes) & (sizes < 2 * k)
        price, group = cheapest_groups(np.ascontiguousarray(t.codes[rows]), allowed, t.prices)
        shown = [t.tuples[i] for i in rows.tolist()]
        assert price == naive_kernels.cheapest_groups(t.ways, shown, k)
        members = [sorted(g) for g in parts_of(group)]
        assert all(k <= len(g) < 2 * k for g in members)
        paid = sum(len(g) * naive_kernels.row_price(t.ways, [shown[i] for i in g]) for g in members)
        assert paid == price < math.inf
