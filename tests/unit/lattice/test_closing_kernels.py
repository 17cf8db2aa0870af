"""The kernels that decide many nodes at once against plain loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from anon_core.kernels import bounds as settle
from anon_core.kernels import class_sizes as rare
from anon_core.kernels.roll_up import Packing, Spare
from anon_core.methods.lattice.lattice import layout_of
from tests import naive

pytestmark = pytest.mark.kernels

#: Per attribute and level, the first leaf of every leaf's node; the last never join at the top.
LEVELS = [
    [[0, 1, 2, 3, 4], [0, 0, 2, 2, 2], [0] * 5],
    [list(range(12)), [v // 3 * 3 for v in range(12)], [v // 6 * 6 for v in range(12)], [0] * 12],
    [[0, 1, 2], [0, 1, 1]],
]
SHAPE = tuple(len(own) for own in LEVELS)
LEAVES = np.array([len(own[0]) for own in LEVELS], dtype=np.int64)
STRIDE = np.array([8, 2, 1], dtype=np.int64)
HEIGHT = np.array(SHAPE, dtype=np.int64) - 1


@pytest.fixture(params=["compiled", "plain"])
def chosen(request: pytest.FixtureRequest) -> Any:
    """Return a kernel as it is, and the Python function behind it."""

    def pick(kernel: Any) -> Any:
        return kernel if request.param == "compiled" else getattr(kernel, "py_func", kernel)

    with np.errstate(over="ignore"):  # hashing multiplies modulo 2⁶⁴
        yield pick


def drawn(rng: np.random.Generator, keys: int, sizes: list[int]) -> tuple[Any, Any, Any, Any]:
    """Return a layout of fields, distinct keys by field and packed, and their counts."""
    layout = layout_of(sizes)
    codes = np.stack([rng.integers(0, s, keys) for s in LEAVES], axis=1).astype(np.int64)
    codes = np.unique(codes, axis=0)
    words = np.zeros((len(codes), layout.words), dtype=np.int64)
    for d in range(len(LEVELS)):
        words[:, layout.word[d]] |= codes[:, d] << layout.shift[d]
    return layout, codes, words, rng.integers(1, 4, len(codes))


def packing_of(layout: Any) -> Packing:
    own = [
        (np.array(levels, dtype=np.int64) << layout.shift[d]).ravel()
        for d, levels in enumerate(LEVELS)
    ]
    kinds = [[len(set(o)) for o in own] + [0] * (4 - len(own)) for own in LEVELS]
    return Packing(
        word=layout.word,
        shift=layout.shift,
        mask=layout.mask,
        height=HEIGHT,
        stride=STRIDE,
        kinds=np.array(kinds),
        leaves=LEAVES,
        offset=np.cumsum([0, *(o.size for o in own[:-1])]).astype(np.int64),
        table=np.concatenate(own),
    )


@pytest.mark.parametrize(
    ("sizes", "chunks"),
    [
        ([5, 12, 3], [0, 0, 0]),
        ([5, 12, 3], [0, 0, 1]),
        ([5, 12, 3], [0, 1, 1]),
        ([2**30, 2**30, 2**30], [0, 1, 2]),  # two words
    ],
)
def test_rows_around_are_a_rows_class_at_every_node(
    chosen: Any, sizes: list[int], chunks: list[int]
) -> None:
    rng = np.random.default_rng(8)
    for keys in (1, 20, 150):
        layout, codes, words, count = drawn(rng, keys, sizes)
        packing = packing_of(layout)
        at = int(rng.integers(0, len(codes)))
        node = np.array([rng.integers(0, n) for n in SHAPE], dtype=np.int64)
        key = np.zeros(layout.words, dtype=np.int64)
        mapped = [[LEVELS[d][node[d]][v] for d, v in enumerate(own)] for own in codes.tolist()]
        for d, leaf in enumerate(mapped[at]):
            key[layout.word[d]] |= leaf << int(layout.shift[d])
        row = np.full(3, -1, dtype=np.int64)
        chosen(rare.first_with)(words, packing, key, node, row)
        assert row.tolist() == codes[mapped.index(mapped[at])].tolist()
        step = np.empty(int(LEAVES.sum()), dtype=np.int64)
        chosen(rare.meeting_places)(row, packing, step)
        chunk = np.array(chunks, dtype=np.int64)
        begins = np.array([chunks.index(c) for c in sorted(set(chunks))])
        low = layout.shift - layout.shift[begins][chunk]
        ends = np.array([len(chunks) - 1 - chunks[::-1].index(c) for c in sorted(set(chunks))])
        room = LEAVES[ends] << low[ends]
        start = np.cumsum(room) - room
        table = np.full(int(room.sum()), 7, dtype=np.int64)
        mask = (layout.mask[ends] << low[ends]) | ((1 << low[ends]) - 1)
        found = np.full(24, 9, dtype=np.int64)
        word, shift = layout.word[begins], layout.shift[begins]
        each = rare.Chunks(word, shift, mask, start, chunk, low, table)
        chosen(rare.sums_by_chunk)(step, LEAVES, each)
        chosen(rare.rows_around)(words, count, each, packing, found)
        expected = naive.rows_around(codes.tolist(), count.tolist(), LEVELS, row.tolist())
        assert found.tolist() == [expected[n] for n in np.ndindex(SHAPE)]
        again = np.full(24, 9, dtype=np.int64)
        chosen(rare.sizes_at_nodes)(words, count, packing, each, key, node, again)
        assert again.tolist() == found.tolist()


def test_mark_gives_a_status_to_what_lies_between(chosen: Any) -> None:
    for low in np.ndindex(SHAPE):
        for high in itertools.product(*(range(n, s) for n, s in zip(low, SHAPE, strict=True))):
            status = np.zeros(24, dtype=np.uint8)
            chosen(settle.mark)(status, STRIDE, np.array(low), np.array(high), 2)
            between = [
                all(a <= b <= c for a, b, c in zip(low, n, high, strict=True))
                for n in np.ndindex(SHAPE)
            ]
            assert status.tolist() == [2 * inside for inside in between]


def test_climb_follows_open_nodes_by_free_attributes(chosen: Any) -> None:
    rng = np.random.default_rng(9)
    free = np.array([0, 2], dtype=np.int64)
    longest = 0
    for _ in range(50):
        status = rng.integers(0, 2, 24).astype(np.uint8)
        begin = np.array([rng.integers(0, n) for n in SHAPE], dtype=np.int64)
        path = np.empty(int(HEIGHT.sum()) + 1, dtype=np.int64)
        at = begin.copy()
        steps = chosen(settle.climb)(status, STRIDE, at, HEIGHT, free, path)
        expected = [begin.tolist()]
        climbing = True
        while climbing:
            climbing = False
            for d in (0, 2):
                above = list(expected[-1])
                above[d] += 1
                if above[d] <= HEIGHT[d] and not status[int(np.dot(above, STRIDE))]:
                    expected.append(above)
                    climbing = True
                    break
        assert path[:steps].tolist() == [int(np.dot(n, STRIDE)) for n in expected]
        assert at.tolist() == expected[-1]
        longest = max(longest, steps)
    assert longest > 2


@pytest.mark.parametrize("most_work", [0, 10**6])
def test_settle_decides_as_counting_every_node_does(chosen: Any, most_work: int) -> None:
    rng = np.random.default_rng(10)
    stopped = 0
    for keys in (2, 10, 40, 150):
        for least in (2, 4, 9):
            layout, codes, words, count = drawn(rng, keys, LEAVES.tolist())
            packing = packing_of(layout)
            expected = {}
            for node in np.ndindex(SHAPE):
                maps = {d: LEVELS[d][n] for d, n in enumerate(node)}
                classes = naive.rolled(codes.tolist(), count.tolist(), maps)
                expected[node] = sum(rows for rows in classes.values() if rows < least)
            status = np.zeros(24, dtype=np.uint8)
            places = np.array(
                sorted(range(24), key=lambda p: (sum(np.unravel_index(p, SHAPE)), p)),
                dtype=np.int64,
            )
            seen: dict[int, int] = {}
            while len(open_ := places[status[places] == 0]):
                looked = settle.Looked(*np.empty((2, len(open_)), dtype=np.int64))
                below = settle.Below(
                    words[:, 0], count, np.zeros(3, dtype=np.int64), np.arange(3, dtype=np.int64)
                )
                spare = Spare(
                    np.empty(len(count), dtype=np.int64),
                    np.empty(len(count), dtype=np.int64),
                    np.empty(1 << max(4, (2 * len(count)).bit_length()), dtype=np.int32),
                )
                found = chosen(settle.settle)(
                    below, packing, open_, status, least, most_work, spare, looked
                )
                assert found > 0
                pairs = zip(*(own[:found].tolist() for own in looked), strict=True)
                for place, rows in pairs:
                    assert place not in seen
                    seen[place] = rows
                stopped += bool((status == 0).any())
            # Levels that never join everything are no trouble: rows only ever come together.
            assert status.tolist() == [2 if expected[n] else 1 for n in np.ndindex(SHAPE)]
            for place, rows in seen.items():
                assert rows == expected[tuple(int(n) for n in np.unravel_index(place, SHAPE))]
    assert (stopped > 0) == (most_work == 0)
