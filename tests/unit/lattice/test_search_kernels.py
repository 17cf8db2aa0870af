"""The kernels of the lattice search against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anon_core.kernels import bounds, class_sizes, roll_up
from anon_core.kernels.roll_up import Packing, Spare
from anon_core.methods.lattice.lattice import layout_of
from tests import naive, naive_kernels

pytestmark = pytest.mark.kernels


@pytest.fixture(params=["compiled", "plain"])
def chosen(request: pytest.FixtureRequest) -> Any:
    """Return a kernel as it is, and the Python function behind it."""

    def pick(kernel: Any) -> Any:
        return kernel if request.param == "compiled" else getattr(kernel, "py_func", kernel)

    with np.errstate(over="ignore"):  # hashing multiplies modulo 2⁶⁴
        yield pick


def packed(codes: np.ndarray, layout: Any) -> np.ndarray:
    words = np.zeros((len(codes), layout.words), dtype=np.int64)
    for d in range(codes.shape[1]):
        words[:, layout.word[d]] |= codes[:, d] << layout.shift[d]
    return words


class Rolled:
    """Random keys at one node of a small lattice, and a node above it."""

    def __init__(self, rows: int, rng: np.random.Generator, most: int = 40) -> None:
        sizes, heights = [5, most, 3], [2, 3, 1]
        layout = layout_of([*sizes, 4])  # the last is a value that stays
        # At level n the first leaf of four to the power of n leaves represents them.
        tables = [
            [np.arange(s) // 4**n * 4**n for n in range(h + 1)]
            for s, h in zip(sizes, heights, strict=True)
        ]
        self.layout = layout
        self.below = rng.integers(0, heights)
        self.node = rng.integers(self.below, heights, endpoint=True)
        codes = np.stack(
            [
                *(
                    t[n][rng.integers(0, s, rows)]
                    for t, n, s in zip(tables, self.below, sizes, strict=True)
                ),
                rng.integers(0, 4, rows),
            ],
            axis=1,
        )
        self.codes, self.count = codes.tolist(), rng.integers(1, 9, rows)
        self.words = packed(codes, layout)[:, 0]
        kinds = np.zeros((3, 4), dtype=np.int64)
        for d, own in enumerate(tables):
            kinds[d, : len(own)] = [len(np.unique(t)) for t in own]
        moved = [np.stack(t) << layout.shift[d] for d, t in enumerate(tables)]
        self.spare = Spare(
            words=np.empty(rows, np.int64),
            rows=np.empty(rows, np.int64),
            slot=np.empty(1 << max(4, (2 * rows).bit_length()), dtype=np.int32),
        )
        self.packing = Packing(
            word=layout.word[:3],
            shift=layout.shift[:3],
            mask=layout.mask[:3],
            height=np.array(heights),
            stride=np.array([8, 2, 1]),
            kinds=kinds,
            leaves=np.array(sizes),
            offset=np.cumsum([0, *(t.size for t in moved[:-1])]),
            table=np.concatenate([t.ravel() for t in moved]),
        )
        self.maps = {
            d: t[n].tolist() for d, (t, n) in enumerate(zip(tables, self.node, strict=True))
        }


def test_roll_to_is_grouping_of_mapped_keys(chosen: Any) -> None:
    rng = np.random.default_rng(1)
    for rows in (0, 1, 7, 200):
        case = Rolled(rows, rng)
        spare, layout = case.spare, case.layout
        found = chosen(roll_up.roll_to)(
            case.words, case.count, case.below, case.node, case.packing, spare, 4
        )
        expected = {
            tuple(int((w >> layout.shift[d]) & layout.mask[d]) for d in range(4)): int(c)
            for w, c in zip(spare.words[:found].tolist(), spare.rows[:found].tolist(), strict=True)
        }
        assert expected == naive.rolled(case.codes, case.count.tolist(), case.maps)


def test_rows_in_small_classes_are_counted_until_they_are_too_many(chosen: Any) -> None:
    rng = np.random.default_rng(2)
    for rows in (0, 1, 7, 200, 9000):  # in one part, and in several
        case = Rolled(rows, rng, 400)
        asked = case.words, case.count, case.below, case.node, case.packing, case.spare
        quasi = [key[:3] for key in case.codes]  # the value that stays parts no class
        classes = naive.rolled(quasi, case.count.tolist(), case.maps).values()
        for least in (1, 9, 60, 10**9):
            small = sum(size for size in classes if size < least)
            assert chosen(class_sizes.rows_in_small)(*asked, least, rows * 9) == small
            for most in (0, small - 1, small // 2):
                if 0 <= most < small:
                    assert chosen(class_sizes.rows_in_small)(*asked, least, most) > most


def test_a_node_is_rolled_up_from_the_smallest_set_below_it(chosen: Any) -> None:
    rng = np.random.default_rng(4)
    for kept in (1, 2, 30):
        levels, weight = rng.integers(0, 4, (40, 3)), rng.integers(1, 9, 40)
        levels[0], weight[0] = 0, 9
        for node in rng.integers(0, 4, (20, 3)):
            expected = naive_kernels.smallest_below(
                levels[:kept].tolist(), weight[:kept].tolist(), node.tolist()
            )
            assert chosen(roll_up.smallest_below)(levels, weight, kept, node) == expected


def test_a_climb_ends_where_no_node_above_may_win(chosen: Any) -> None:
    rng = np.random.default_rng(5)
    for shape in ((3,), (2, 4), (3, 1, 2, 4)):
        bound = rng.random(shape)
        bound[rng.random(shape) < 0.2] = np.inf
        stride = np.array(bound.strides, dtype=np.int64) // bound.itemsize
        bounds_at = {p: float(bound[p]) for p in np.ndindex(shape)}
        for most in (0.5, np.inf):
            for place, node in enumerate(np.ndindex(shape)):
                found = chosen(bounds.highest)(
                    bound.reshape(-1), stride, np.array(shape) - 1, place, most
                )
                assert np.unravel_index(found, shape) == naive_kernels.highest(
                    bounds_at, node, most
                )


def test_removed_rows_by_leaf_and_what_they_would_pay(chosen: Any) -> None:
    rng = np.random.default_rng(2)
    for rows in (0, 3, 90):
        sizes = [4, 9, 2**40, 2**30]  # two words
        small = [4, 9, 6, 5]
        layout = layout_of(sizes)
        codes = np.stack([rng.integers(0, s, rows) for s in small], axis=1).astype(np.int64)
        count, keep = rng.integers(1, 9, rows), rng.random(rows) < 0.5
        leaves = np.array(small, dtype=np.int64)
        start = np.cumsum(leaves) - leaves
        out = np.full(int(leaves.sum()), 7.0)
        chosen(bounds.removed_by_leaf)(
            packed(codes, layout), count, keep, layout.word, layout.shift, layout.mask, start, out
        )
        expected = naive.removed_by_leaf(codes.tolist(), count.tolist(), keep.tolist(), small)
        assert out.tolist() == [r for own in expected for r in own]
        kept = naive_kernels.rows_kept(count.tolist(), keep.tolist())
        assert chosen(bounds.rows_kept)(count, keep) == kept
        node = np.array([1, 0, 2, 1], dtype=np.int64)
        tables = [rng.random((node[d] + 1, small[d])) for d in range(4)]
        offset = np.cumsum([0, *(t.size for t in tables[:-1])]).astype(np.int64)
        part = np.zeros((4, 3))
        flat = np.concatenate([t.ravel() for t in tables])
        chosen(bounds.spared)(out, start, leaves, node, flat, offset, part)
        for d in range(4):
            paid = naive_kernels.spared(expected[d], tables[d].tolist())
            assert part[d, : node[d] + 1].tolist() == pytest.approx(paid)


def test_bounds_below_a_node_are_raised(chosen: Any) -> None:
    rng = np.random.default_rng(3)
    for shape in ((3,), (2, 4), (3, 1, 2, 4)):
        for _ in range(5):
            bound = rng.random(shape)
            node = tuple(int(rng.integers(0, s)) for s in shape)
            part = rng.random((len(shape), max(shape)))
            expected = naive.raised_below(
                {p: float(bound[p]) for p in np.ndindex(shape)}, node, part.tolist(), 0.1
            )
            stride = np.array(bound.strides, dtype=np.int64) // bound.itemsize
            chosen(bounds.raise_below)(
                bound.reshape(-1), stride, np.array(node, dtype=np.int64), part, 0.1
            )
            assert {p: float(bound[p]) for p in np.ndindex(shape)} == pytest.approx(expected)
