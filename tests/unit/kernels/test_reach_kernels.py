"""The kernels of boxes of their own against plain loops, on random input.

Prices are whole eighths, so that sums are exact in any order and ties are ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from anon_core.kernels.widening_boxes import (
    Boxes,
    Joins,
    Parts,
    box_price,
    cheapest_joins,
    covered_pairs,
    growth_by_code,
    join,
    mark_reached,
    nearest_outside,
    reach_out,
    show,
    take_in,
)
from anon_core.methods.matching.matching import by_order
from tests import naive_kernels
from tests.naive_kernels import Box, Codes
from tests.unit.kernels.test_group_kernels import Table, tables

pytestmark = pytest.mark.kernels

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


def sorted_table(t: Table) -> None:
    """Bring columns and tuples of a drawn table into the order that the kernels need."""
    tuples, across, order = by_order(t.codes, t.count)
    t.ways = [t.ways[d] for d in across.tolist()]
    prices = t.prices
    t.prices = prices._replace(
        **{name: getattr(prices, name)[across] for name in prices._fields if name not in FLAT}
    )
    t.codes, t.count = tuples.codes, tuples.rows
    assert (np.sort(order) == np.arange(t.size)).all()
    t.tuples = [tuple(row) for row in t.codes.tolist()]
    assert t.tuples == sorted(t.tuples)


FLAT = ("position", "node_price", "first_leaf")


def drawn_boxes(rng: np.random.Generator, t: Table) -> tuple[I32, I32, list[Box]]:
    boxes = [
        naive_kernels.shown_box(
            t.ways, naive_kernels.box_of(t.tuples[i] for i in rng.integers(0, t.size, 2).tolist())
        )
        for _ in range(int(rng.integers(1, 7)))
    ]
    low, high = (np.array([b[s] for b in boxes], dtype=np.int32) for s in (0, 1))
    return low, high, boxes


def as_boxes(low: I32, high: I32) -> list[Box]:
    lows: list[Codes] = [tuple(row) for row in low.tolist()]
    highs: list[Codes] = [tuple(row) for row in high.tolist()]
    return list(zip(lows, highs, strict=True))


def test_what_boxes_show_cost_and_cover() -> None:
    wider = listed = 0
    for rng, t in tables(21, 120):
        sorted_table(t)
        tuples, _, _ = by_order(t.codes, t.count)
        assert (tuples.codes == t.codes).all()
        boxes = [
            naive_kernels.box_of(t.tuples[i] for i in rng.integers(0, t.size, 2).tolist())
            for _ in range(4)
        ]
        low, high = (np.array([b[s] for b in boxes], dtype=np.int32) for s in (0, 1))
        size = rng.integers(1, 4, len(boxes))
        show(t.prices, low, high)
        shown = [naive_kernels.shown_box(t.ways, b) for b in boxes]
        assert as_boxes(low, high) == shown
        wider += shown != boxes
        expected = sum(
            n * naive_kernels.box_price(t.ways, *b) for b, n in zip(shown, size, strict=True)
        )
        assert box_price(t.prices, low, high, size) == expected
        pairs = [
            (b, i)
            for b in range(len(boxes))
            for i in range(t.size)
            if naive_kernels.covers(shown[b], t.tuples[i])
        ]
        room = int(rng.integers(0, len(pairs) + 2))
        box, at = np.full(room, -1), np.full(room, -1)
        held = covered_pairs(tuples, low, high, 0, 2, box, at, 0)
        held = covered_pairs(tuples, low, high, 2, 4, box, at, held)
        assert held == len(pairs)
        assert list(zip(box.tolist(), at.tolist(), strict=True))[:held] == pairs[:room]
        listed += held
    assert wider > 20
    assert listed > 500


def test_the_nearest_tuple_outside_of_a_box() -> None:
    none = 0
    for rng, t in tables(22, 150, most=30):
        sorted_table(t)
        tuples, _, _ = by_order(t.codes, t.count)
        low, high, boxes = drawn_boxes(rng, t)
        part = rng.integers(0, 3, t.size)
        wanted = rng.random(3) < 0.6
        grown = np.empty(int(t.prices.leaves.sum()))
        for b, box in enumerate(boxes):
            growth_by_code(t.prices, low, high, b, grown)
            home = int(rng.integers(t.size))
            found, price, rows = nearest_outside(t.prices, tuples, grown, home, part, wanted)
            expected = naive_kernels.nearest_outside(t.ways, box, t.tuples, wanted[part].tolist())
            assert found == expected
            if found >= 0:
                assert price == naive_kernels.growth(t.ways, box, t.tuples[found])
            assert rows == sum(
                int(n)
                for c, n in zip(t.tuples, t.count, strict=True)
                if naive_kernels.covers(box, c)
            )
            none += found < 0
    assert none > 20


def test_boxes_reach_out() -> None:
    widened = 0
    for rng, t in tables(23, 120):
        sorted_table(t)
        tuples, _, _ = by_order(t.codes, t.count)
        low, high, boxes = drawn_boxes(rng, t)
        k = int(rng.integers(1, 9))
        home = rng.integers(0, t.size, len(boxes))
        size = np.ones(len(boxes), dtype=np.int64)
        reach_out(t.prices, tuples, Boxes(low, high, size, home), k, 0, len(boxes))
        expected = [
            naive_kernels.reaching_box(t.ways, b, t.tuples, t.count.tolist(), k) for b in boxes
        ]
        assert as_boxes(low, high) == expected
        widened += expected != boxes
    assert widened > 40


def test_tuples_are_taken_in() -> None:
    several = 0
    for rng, t in tables(24, 150):
        sorted_table(t)
        low, high, boxes = drawn_boxes(rng, t)
        size = rng.integers(1, 4, len(boxes))
        k = int(rng.integers(1, 7))
        fit = [naive_kernels.fitting(boxes, size.tolist(), c) for c in t.tuples]
        who = np.array([i for i, n in enumerate(fit) if n < k], dtype=np.int64)[:3]
        fits = np.array([fit[i] for i in who.tolist()], dtype=np.int64)
        home = np.zeros(len(boxes), dtype=np.int64)
        wide = Boxes(low, high, size, home)
        take_in(t.prices, t.codes, wide, who, fits, k, 0, len(who))
        expected = boxes
        for i, n in zip(who.tolist(), fits.tolist(), strict=True):
            expected = naive_kernels.taking_in(t.ways, expected, size.tolist(), t.tuples[i], n, k)
        assert as_boxes(low, high) == expected
        several += sum(a != b for a, b in zip(expected, boxes, strict=True)) > 1
    assert several > 20


def drawn_links(rng: np.random.Generator, parts: int) -> list[list[int]]:
    return [np.flatnonzero(rng.random(parts) < 0.3).tolist() for _ in range(parts)]


def listed(lists: Sequence[Sequence[int]]) -> tuple[I64, I64]:
    """Return where each list begins, and all of them one after the other."""
    first = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return first, np.array([x for own in lists for x in own], dtype=np.int64)


def test_parts_that_links_lead_to() -> None:
    cut_off = 0
    rng = np.random.default_rng(26)
    for _ in range(200):
        parts = int(rng.integers(1, 9))
        links = drawn_links(rng, parts)
        start, most = int(rng.integers(parts)), int(rng.integers(1, 9))
        seen, reached = np.zeros(parts, dtype=np.bool_), np.full(most, -1, dtype=np.int64)
        held = mark_reached(*listed(links), start, most, seen, reached)
        expected = naive_kernels.reached_parts(links, start, most)
        assert reached[:held].tolist() == expected
        assert np.flatnonzero(seen).tolist() == sorted(expected)
        cut_off += held == most
    assert cut_off > 20


def test_parts_are_joined_at_the_least_price() -> None:
    joined = both = 0
    for rng, t in tables(25, 200):
        sorted_table(t)
        tuples, _, _ = by_order(t.codes, t.count)
        low, high, boxes = drawn_boxes(rng, t)
        size = rng.integers(1, 4, len(boxes))
        number, most = 4, int(rng.integers(1, 6))
        of_tuple, of_box = (rng.integers(0, number, n) for n in (t.size, len(boxes)))
        mine = [np.flatnonzero(of_box == p).tolist() for p in range(number)]
        few = [
            np.flatnonzero((of_tuple == p) & (rng.random(t.size) < 0.3)).tolist()
            for p in range(number)
        ]
        ahead, behind = drawn_links(rng, number), drawn_links(rng, number)
        parts = Parts(
            of_tuple, of_box, *listed(mine), *listed(few), *listed(ahead), *listed(behind)
        )
        who = np.arange(number)
        price = np.empty(number)
        widened, taken = np.empty(number, dtype=np.int64), np.empty(number, dtype=np.int64)
        joins = Joins(who, price, widened, taken)
        for start in (0, 2):
            wide = Boxes(low, high, size, rng.integers(0, t.size, len(boxes)))
            cheapest_joins(t.prices, tuples, wide, parts, most, start, start + 2, joins)
        options: list[tuple[int, int]] = []
        for p in range(number):
            forth = naive_kernels.reached_parts(ahead, p, most)
            back = naive_kernels.reached_parts(behind, p, most)
            cheapest = naive_kernels.cheapest_join(
                t.ways,
                boxes,
                size.tolist(),
                t.tuples,
                mine[p],
                np.isin(of_tuple, forth).tolist(),
                few[p],
                np.isin(of_box, back).tolist(),
            )
            assert (price[p], widened[p], taken[p]) == cheapest
            options.append((int(widened[p]), int(taken[p])))
            both += taken[p] in few[p]
        order = np.argsort(price, kind="stable")
        done = join(t.prices, tuples, wide, parts, order, joins)
        expected = naive_kernels.joined_boxes(
            t.ways,
            boxes,
            t.tuples,
            of_box.tolist(),
            of_tuple.tolist(),
            [options[w] for w in order.tolist()],
        )
        assert as_boxes(low, high) == expected
        joined += done > 1
    assert joined > 40
    assert both > 40
