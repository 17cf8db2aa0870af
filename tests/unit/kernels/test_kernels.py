"""Compiled loops against their definitions, and the same Python lines run uncompiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from anon_core.kernels import boxes_of_groups as widen_boxes
from anon_core.kernels import cuts, roll_up
from anon_core.kernels import mondrian_split as split
from anon_core.kernels import overlap as cover
from anon_core.kernels.cuts import Counted, Limits
from anon_core.kernels.roll_up import Raised
from anon_core.methods.lattice.lattice import layout_of
from tests import naive, naive_kernels

pytestmark = pytest.mark.kernels


def plain(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function behind a kernel."""
    return getattr(kernel, "py_func", kernel)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a test twice: with the kernels as they are, and with none of them compiled."""
    if request.param == "plain":
        for module, names in (
            (cover, ["covered"]),
            (widen_boxes, ["widen_boxes"]),
            (roll_up, ["roll_up"]),
            (cuts, ["room_for", "side_holds", "move_inside", "weighted_median"]),
            (split, [n for n in vars(split) if hasattr(getattr(split, n), "py_func")]),
        ):
            for name in names:
                monkeypatch.setattr(module, name, plain(getattr(module, name)))
    # Hashing multiplies modulo 2⁶⁴, which plain numpy scalars warn of.
    with np.errstate(over="ignore"):
        yield


def rolled(keys: np.ndarray, sizes: list[int], tables: dict[int, np.ndarray]) -> tuple[Any, ...]:
    layout = layout_of(sizes)
    words = np.zeros((len(keys), layout.words), dtype=np.int64)
    for d in range(len(sizes)):
        words[:, layout.word[d]] |= keys[:, d] << layout.shift[d]
    keep = np.full(layout.words, -1, dtype=np.int64)
    for d in tables:
        keep[layout.word[d]] &= ~(layout.mask[d] << layout.shift[d])
    places = np.array(list(tables), dtype=np.int64)
    lengths = [len(t) for t in tables.values()]
    offset = np.array([sum(lengths[:i]) for i in range(len(lengths))], dtype=np.int64)
    count = np.arange(1, len(keys) + 1, dtype=np.int64)
    out, total, member = np.empty_like(words), np.empty_like(count), np.empty_like(count)
    table = np.concatenate([*tables.values(), np.empty(0, dtype=np.int64)]).astype(np.int64)
    found = roll_up.roll_up(
        words,
        count,
        keep,
        layout.word[places],
        Raised(layout.shift[places], layout.mask[places], offset, table),
        out,
        total,
        member,
    )
    back = [
        (out[:found, layout.word[d]] >> layout.shift[d]) & layout.mask[d] for d in range(len(sizes))
    ]
    return np.stack(back, axis=1), total[:found], member, count


@pytest.mark.parametrize("sizes", [[3], [5, 4, 3], [40, 2, 7, 300], [2**21] * 4 + [9]])
def test_roll_up_is_grouping_of_mapped_keys(kernels: None, sizes: list[int]) -> None:
    rng = np.random.default_rng([97, len(sizes)])
    for rows in (1, 2, 17, 120):
        keys = np.stack([rng.integers(0, min(s, 60), rows) for s in sizes], axis=1)
        if sizes[0] > 2**20:  # use the high bits of every field as well
            keys[:, :4] += 2**21 - 60
        changed = [d for d in range(len(sizes)) if rng.random() < 0.6]
        tables = {d: rng.integers(0, sizes[d], sizes[d]) // 7 for d in changed}
        classes, total, member, count = rolled(keys, sizes, tables)
        mapped = keys.copy()
        for d, table in tables.items():
            mapped[:, d] = table[keys[:, d]]
        distinct, inverse = np.unique(mapped, axis=0, return_inverse=True)
        assert sorted(map(tuple, classes.tolist())) == list(map(tuple, distinct.tolist()))
        assert classes[member].tolist() == mapped.tolist()
        sums = np.bincount(inverse.ravel(), weights=count)
        by_key = dict(zip(map(tuple, classes.tolist()), total.tolist(), strict=True))
        assert [by_key[tuple(key)] for key in distinct.tolist()] == sums.tolist()


def test_covered_counts_people_within_cells(kernels: None) -> None:
    rng = np.random.default_rng(101)
    for _ in range(20):
        attributes = int(rng.integers(1, 4))
        lo = rng.integers(0, 5, (6, attributes)).astype(np.int32)
        hi = (lo + rng.integers(0, 4, lo.shape)).astype(np.int32)
        codes = rng.integers(-1, 8, (30, attributes)).astype(np.int32)
        count = rng.integers(1, 4, 30)
        found = np.arange(6)
        cover.covered(lo, hi, codes, count, found)
        people = [
            tuple(str(c) for c in row)
            for row, n in zip(codes, count, strict=True)
            for _ in range(n)
        ]
        cells = [
            [[str(c) for c in range(a, b + 1)] for a, b in zip(lo[g], hi[g], strict=True)]
            for g in range(6)
        ]
        assert found.tolist() == [g + naive.covered_people(cells[g], people) for g in range(6)]
        shared = np.zeros(6, dtype=np.bool_)
        cover.several(lo, hi, codes, shared)
        assert shared.tolist() == naive.sharing_classes(cells, people)


def test_boxes_are_the_hulls_of_their_tuples(kernels: None) -> None:
    rng = np.random.default_rng(102)
    for _ in range(20):
        codes = rng.integers(0, 9, (12, 3)).astype(np.int32)
        run = np.sort(rng.integers(0, 12, 20))
        key, group = rng.integers(0, 20, 30), rng.integers(-1, 4, 30)
        group[:4] = range(4)  # no group is empty
        low = np.full((4, 3), 99, dtype=np.int32)
        high = np.full((4, 3), -1, dtype=np.int32)
        widen_boxes.widen_boxes(codes, run, key, group, low, high)
        for g in range(4):
            mine = [tuple(codes[run[k]].tolist()) for k in key[group == g]]
            assert (tuple(low[g]), tuple(high[g])) == naive_kernels.box_of(mine)


def test_move_below_keeps_the_order_of_both_sides(kernels: None) -> None:
    codes = np.array([[3], [0], [2], [1], [3], [0]], dtype=np.int32)
    order = np.array([5, 4, 3, 2, 1, 0])
    middle = cuts.move_inside(order, 1, 6, codes, 0, 0, 1, np.empty(6, np.int64))
    assert middle == 3
    assert order.tolist() == [5, 3, 1, 4, 2, 0]


def test_the_lower_weighted_median(kernels: None) -> None:
    rng = np.random.default_rng(103)
    for _ in range(50):
        size = int(rng.integers(1, 12))
        codes = rng.integers(0, 6, (size, 1)).astype(np.int32)
        count = rng.integers(1, 5, size)
        values = sorted(int(c) for c, n in zip(codes[:, 0], count, strict=True) for _ in range(n))
        median = values[(len(values) + 1) // 2 - 1]
        before = max((v for v in values if v < median), default=-1)
        tally = np.zeros(6, np.int64)
        order = np.arange(size)
        tuples = Counted(codes, count)
        found = cuts.weighted_median(order, 0, size, tuples, 0, values[0], values[-1], tally)
        assert found == (median, before, values[-1])
        assert not tally.any()


def test_the_median_of_a_packed_part_is_that_of_its_rows(kernels: None) -> None:
    """Also where codes are weighed in two rounds, since there are more of them than bins."""
    rng = np.random.default_rng(104)
    for bins in (2, 3, 8):
        for _ in range(20):
            size = int(rng.integers(1, 12))
            codes = rng.integers(0, 30, size)
            count = rng.integers(1, 5, size)
            streams = np.stack([codes << 5, np.zeros(size, np.int64)])
            rows = split.tag(count, streams[-1])
            axis = np.zeros(1, dtype=split.AXIS)
            axis["shift"], axis["mask"] = 5, 31
            split.span(streams, 0, size, axis[0])
            values = np.sort(np.repeat(codes, count))
            median = values[(len(values) + 1) // 2 - 1]
            assert (axis[0]["low"], axis[0]["high"]) == (values[0], values[-1])
            found = split.lower_median(streams, 0, size, axis[0], rows, np.empty(bins, np.int64))
            assert found == (median, np.sum(values < median), np.sum(values == median))
            assert split.rows_at(streams, 0, size, axis[0], median) == np.sum(values == median)


def test_a_packed_piece_is_varied_as_its_rows_are(kernels: None) -> None:
    rng = np.random.default_rng(105)
    held = np.zeros(5, np.int64)
    for _ in range(60):
        size = int(rng.integers(1, 9))
        value, count = rng.integers(0, 5, size), rng.integers(1, 4, size)
        streams = np.stack([value << 2, np.zeros(size, np.int64)])
        rows = split.tag(count, streams[-1])
        column = np.zeros(1, dtype=split.WATCHED)
        column[0] = 0, 2, 7, 5, -1, int(rng.integers(0, 4)), int(rng.integers(0, 4))
        most = np.bincount(value, weights=count).max()
        expected = len(set(value)) >= column[0]["distinct"] and most * column[0]["share"] <= rows
        assert split.varied(streams, 0, size, rows, column[0], held) == expected
        assert not held.any()


def test_a_side_holds_with_enough_rows_and_values(kernels: None) -> None:
    order, count = np.arange(4), np.array([1, 2, 1, 1])
    sensitive = np.array([[0, 1], [1, 1], [1, 0], [2, 1]], dtype=np.int32)
    seen = cuts.room_for(sensitive)
    assert seen.begin.tolist() == [0, 3, 5]

    def holds(
        start: int,
        stop: int,
        least: int,
        distinct: list[int],
        epoch: int,
        share: tuple[int, int] = (0, 0),
    ) -> bool:
        limits = Limits(least, sensitive, np.array(distinct), np.array(share))
        return cuts.side_holds(order, start, stop, count, limits, seen, epoch)

    assert holds(0, 4, 5, [3, 2], 1)
    assert not holds(0, 4, 6, [3, 2], 2)
    assert holds(0, 2, 3, [2, 1], 3)
    assert not holds(0, 2, 3, [2, 2], 4)
    assert not holds(1, 3, 1, [2, 1], 5)
    # Of the five rows three have the first column's 1, and four the second's: 1, 2 and 1 rows.
    assert holds(0, 4, 1, [0, 0], 6, (1, 1))
    assert not holds(0, 4, 1, [0, 0], 7, (2, 0))
    assert holds(2, 4, 1, [0, 0], 8, (2, 2))
    assert not holds(0, 4, 1, [0, 0], 9, (0, 2))


def cut_tuples(
    codes: np.ndarray, count: np.ndarray, sensitive: np.ndarray, halves: np.ndarray, work: int
) -> np.ndarray:
    """Return the part of tuples of a tree and a number, of 3 rows and 2 sensitive values each."""
    tuples = len(codes)
    axes, watched = np.zeros(2, dtype=split.AXIS), np.zeros(1, dtype=split.WATCHED)
    axes["word"], axes["shift"], axes["mask"] = [0, 1], [0, 3], [3, 7]
    axes["leaves"], axes["missing"], axes["weight"] = [4, 5], -1, 1
    axes["position"], axes["by_tree"] = [0, 4], [True, False]
    watched[0] = 1, 6, 3, 3, -1, 2, 0
    nodes = np.zeros(halves.size, dtype=split.NODE)
    nodes["first"] = halves.ravel()
    nodes["last"] = [0, 1, 2, 3, 1, 1, 3, 3, 3, 3, 3, 3]
    nodes["number"] = [0, 1, 2, 3, 0, 0, 1, 1, 0, 0, 0, 0]
    streams = np.zeros((3, tuples), np.int64)
    split.pack(codes, axes, streams)
    split.pack(sensitive, watched, streams)
    rows = split.tag(count, streams[-1])
    first, stack = np.zeros(tuples, np.bool_), np.empty((tuples + 1, 4), np.int64)
    stack[0] = 0, tuples, rows, -1
    packed = split.Packed(streams, np.empty_like(streams), np.empty(tuples, np.int32))
    by = split.Axes(axes, np.concatenate([np.arange(4) / 3, np.arange(5) / 4]), nodes)
    depth, settled = 1, 0
    while depth:
        depth, done = split.split(packed, first, stack, depth, by, 3, watched, work)
        settled += done
    assert settled == tuples
    part = np.empty(tuples, np.int64)
    split.number_parts(streams[-1], first, part)
    return part


def test_splitting_is_the_recursion(kernels: None) -> None:
    """Numbers 0..n cut at the median, a tree of two halves cut along its children."""
    rng = np.random.default_rng(107)
    halves = np.array([[0, 1, 2, 3], [0, 0, 2, 2], [0, 0, 0, 0]])
    tree = naive.attribute(
        "0123", [("0", "a", "*"), ("1", "a", "*"), ("2", "b", "*"), ("3", "b", "*")], tree=True
    )
    line = naive.attribute([], [(str(v), "*") for v in range(5)], number=True)
    for turn in range(25):
        codes = np.unique(rng.integers(0, [4, 5], (30, 2)), axis=0).astype(np.int32)
        tuples = len(codes)
        count = rng.integers(1, 4, tuples)
        sensitive = rng.integers(0, 3, (tuples, 1)).astype(np.int32)
        part = cut_tuples(codes, count, sensitive, halves, 10 if turn % 2 else 10_000)
        got = {frozenset(np.flatnonzero(part == p).tolist()) for p in range(part.max() + 1)}
        rows = [(str(a), str(b)) for (a, b), n in zip(codes, count, strict=True) for _ in range(n)]
        owner = [t for t, n in enumerate(count) for _ in range(n)]
        value = [str(sensitive[t, 0]) for t in owner]
        whole = [(value, 2)]
        expected = naive.mondrian(rows, [tree, line], 3, whole)
        assert got == {frozenset(owner[i] for i in part) for part in expected}
