"""What runs until the compiler is imported does the same as machine code, to the bit."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import anon_core.kernels
from anon_core.kernels import bounds, lines, pair_counts, query_overlap, roll_up
from anon_core.kernels.compilation import Loop

Args = tuple[Any, ...]


def digits(rng: np.random.Generator) -> Args:
    """Return words that hold their places, as callers make them, or any words."""
    rows, low = int(rng.integers(1, 60)), 6
    words = rng.integers(0, 30, rows) << low
    words |= np.arange(rows) if rng.random() < 0.5 else rng.integers(0, 60, rows)
    return words, np.empty_like(words), low, low + int(rng.integers(-1, 7))


def texts(rng: np.random.Generator) -> Args:
    sizes = rng.integers(0, 4, 9)
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    codes = rng.integers(0, 3, (3, int(rng.integers(0, 8)))).astype(np.int32)
    text = rng.integers(0, 256, int(sizes.sum())).astype(np.uint8)
    return codes, np.array([0, 3, 6]), ends, text


def pairs(rng: np.random.Generator) -> Args:
    entries = int(rng.integers(0, 30))
    first, second = (rng.integers(0, n, entries).astype(np.int32) for n in (4, 3))
    found = rng.integers(0, 9, (4, 3)).astype(np.float64)
    return first, second, rng.integers(0, 5, entries), found


def entries_of_groups(rng: np.random.Generator, *, empty: bool) -> tuple[Any, ...]:
    sizes = rng.integers(0 if empty else 1, 5, 6)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    count = rng.integers(1, 4, int(start[-1]))
    codes = rng.integers(0, 4, (2, int(start[-1]))).astype(np.int32)
    size = np.array([count[a:b].sum() for a, b in pairwise(start)], float)
    return start, codes, count, size


def apart(rng: np.random.Generator) -> Args:
    start, codes, count, size = entries_of_groups(rng, empty=True)
    first = int(rng.integers(0, 3))
    which = rng.integers(-1, 3, 5)
    factor = rng.random((5, 6 - first))
    return start, first, codes[0], count, size, rng.random((3, 4)), which, factor


def linked(rng: np.random.Generator) -> Args:
    start, codes, count, size = entries_of_groups(rng, empty=rng.random() < 0.3)
    exact = rng.random() < 0.6
    table = rng.integers(0, 2, 24).astype(np.int16) if exact else rng.random(24)
    overlaps = query_overlap.Overlaps(table, np.array([0, 12, 24]), np.array([4, 4]))
    first = int(rng.integers(0, 3))
    which = rng.integers(-1, 3, (5, 2))
    counted = count if exact else count.astype(np.float64)
    factor = rng.random((5, 6 - first))
    return start, first, codes, counted, size, overlaps, which, factor


def attributes(rng: np.random.Generator) -> roll_up.Packing:
    """Return three attributes: four leaves that become two and one, three that become one."""
    shift = np.array([0, 3, 6]) + (0 if rng.random() < 0.7 else 53)  # no room for a place
    mask = np.full(3, 7)
    levels = ([[0, 1, 2, 3], [0, 0, 2, 2], [0, 0, 0, 0]], [[0, 1, 2], [0, 0, 0]])
    table: list[int] = []
    offset: list[int] = []
    for own, place in zip((levels[0], levels[1], levels[1]), shift, strict=True):
        offset.append(len(table))
        table += [leaf << int(place) for level in own for leaf in level]
    return roll_up.Packing(
        *(np.zeros(3, np.int64), shift, mask, np.array([2, 1, 1]), np.array([4, 2, 1])),
        np.array([[4, 2, 1], [3, 1, 1], [3, 1, 1]]),
        *(np.array([4, 3, 3]), np.array(offset), np.array(table)),
    )


def rolled(rng: np.random.Generator) -> Args:
    packing, keys = attributes(rng), int(rng.integers(0, 40))
    leaves = [rng.integers(0, n, keys) for n in (4, 3, 3)]
    words = np.zeros(keys, np.int64)
    for own, place in zip(leaves, packing.shift, strict=True):
        words |= own << place
    below = np.zeros(3, np.int64)
    node = np.array([rng.integers(0, top + 1) for top in packing.height])
    room = np.zeros(max(keys, 1), np.int64)
    spare = roll_up.Spare(room, room.copy(), np.zeros(256, np.int32))
    return words, rng.integers(1, 9, keys), below, node, packing, spare, 1


def sets_below(rng: np.random.Generator) -> Args:
    levels = rng.integers(0, 3, (8, 3))
    levels[0] = 0
    return levels, rng.integers(1, 6, 8), int(rng.integers(1, 9)), rng.integers(0, 3, 3)


def classes_kept(rng: np.random.Generator) -> Args:
    classes = int(rng.integers(0, 20))
    return rng.integers(1, 9, classes), rng.random(classes) < 0.5


def classes_removed(rng: np.random.Generator) -> Args:
    count, keep = classes_kept(rng)
    words = rng.integers(0, 16, (len(count), 2))
    word_of, shift, mask = np.array([0, 1, 1]), np.array([0, 0, 2]), np.array([15, 3, 3])
    return words, count, keep, word_of, shift, mask, np.array([0, 16, 20]), np.ones(24)


def prices(rng: np.random.Generator) -> Args:
    leaves, heights = np.array([4, 3]), np.array([2, 1])
    node = np.array([rng.integers(0, top + 1) for top in heights])
    table = rng.random(int((leaves * (heights + 1)).sum()))
    offset = np.array([0, 12])
    return rng.random(7), np.array([0, 4]), leaves, node, table, offset, np.zeros((2, 3))


def lattice(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return bounds of a lattice's nodes, how far neighbours are apart, and its height."""
    height = rng.integers(0, 4, int(rng.integers(1, 4)))
    stride = np.append(np.cumprod((height + 1)[:0:-1])[::-1], 1).astype(np.int64)
    bound = rng.integers(0, 9, int(np.prod(height + 1))).astype(np.float64)
    bound[rng.random(len(bound)) < 0.1] = np.inf
    return bound, stride, height


def raised(rng: np.random.Generator) -> Args:
    bound, stride, height = lattice(rng)
    node = np.array([rng.integers(0, top + 1) for top in height])
    return bound, stride, node, rng.random((len(height), 4)), float(rng.random())


def climbed(rng: np.random.Generator) -> Args:
    bound, stride, height = lattice(rng)
    most = np.inf if rng.random() < 0.2 else float(rng.integers(0, 9))
    return bound, stride, height, int(rng.integers(0, len(bound))), most


#: Loop → what it is called with.
GIVEN: dict[Any, Callable[[np.random.Generator], Args]] = {
    bounds.highest: climbed,
    bounds.raise_below: raised,
    bounds.removed_by_leaf: classes_removed,
    bounds.rows_kept: classes_kept,
    bounds.spared: prices,
    lines.in_digit_order: digits,
    lines.joined_lines: texts,
    pair_counts.count_linked: pairs,
    query_overlap.alone: apart,
    query_overlap.together: linked,
    roll_up.roll_to: rolled,
    roll_up.smallest_below: sets_below,
}


def copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple):
        return type(value)(*map(copied, value))
    return value


def left(value: Any) -> Any:
    """Return what an argument or an answer holds, to the bit."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return tuple(map(left, value)) if isinstance(value, tuple) else value


@pytest.mark.kernels
@pytest.mark.parametrize("loop", GIVEN, ids=lambda loop: loop.__name__)
def test_whole_arrays_come_to_the_same_bits(loop: Any) -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        given = GIVEN[loop](rng)
        first, second = (tuple(map(copied, given)) for _ in range(2))
        assert left(loop._in_arrays(*first)) == left(loop.machine(*second))
        if loop is roll_up.roll_to:  # which leaves in its room what no one looks at
            first, second = ((*one[:5], one[5][:2]) for one in (first, second))
        if loop is not lines.in_digit_order:  # which answers with either of two
            assert tuple(map(left, first)) == tuple(map(left, second))


def test_every_loop_that_runs_in_arrays_is_compared() -> None:
    found: set[Any] = set()
    for module in pkgutil.iter_modules(anon_core.kernels.__path__):
        named = vars(importlib.import_module(f"anon_core.kernels.{module.name}")).values()
        found |= {one for one in named if isinstance(one, Loop) and one._in_arrays is not None}
    assert found == set(GIVEN)
