"""One layer of the counting forward and back against plain loops over residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from anon_core.kernels.frontier import Edges, States, advance, reach, retreat
from anon_core.methods.membership.settling_order import settle_order
from tests import naive_kernels
from tests.naive_kernels import State

pytestmark = pytest.mark.kernels

ROWS = 4
#: Word and shift of every row's residual, three bits each; two words.
WORD, SHIFT = np.array([0, 0, 1, 1]), np.array([0, 5, 2, 30])
MASK = np.full(ROWS, 7)


@pytest.fixture(autouse=True)
def _wrapping():  # type: ignore[no-untyped-def]
    with np.errstate(over="ignore"):  # hashing multiplies modulo 2⁶⁴
        yield


def packed(states: Sequence[State]) -> npt.NDArray[np.int64]:
    keys = np.zeros((len(states), 2), dtype=np.int64)
    for s, state in enumerate(states):
        for r, left in enumerate(state):
            keys[s, WORD[r]] |= left << int(SHIFT[r])
    return keys


def unpacked(keys: npt.NDArray[np.int64]) -> list[State]:
    fields = (keys[:, WORD] >> SHIFT) & MASK
    return [tuple(row) for row in fields.tolist()]


@pytest.mark.parametrize("chunk", range(4))
def test_a_layer_forward_and_back(chunk: int) -> None:
    rng = np.random.default_rng([701, chunk])
    merged = dead = stopped = 0
    for _ in range(50):
        states = sorted({tuple(rng.integers(0, 4, ROWS).tolist()) for _ in range(60)})
        rows = sorted(rng.choice(ROWS, int(rng.integers(1, ROWS + 1)), replace=False).tolist())
        later, most = rng.integers(0, 6, len(rows)), int(rng.integers(0, 5))
        keys, size = packed(states), len(states)
        low, high = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        edges = reach(keys, WORD[rows], SHIFT[rows], MASK[rows], later, most, low, high)
        taken = {s: naive_kernels.takeable(s, rows, later.tolist(), most) for s in states}
        for s, a, b in zip(states, low.tolist(), high.tolist(), strict=True):
            assert range(a, max(b + 1, a)) == taken[s] or not taken[s]
            assert (b < a) == (not taken[s])
        assert edges == sum(map(len, taken.values()))

        # Whole eighths add up exactly in any order.
        weight = rng.integers(1, 9, size) / 8
        ways = rng.integers(1, 9, most + 1) / 8
        step = np.zeros(2, dtype=np.int64)
        for r in rows:
            step[WORD[r]] += 1 << int(SHIFT[r])
        after, answer = naive_kernels.layer(
            dict(zip(states, weight.tolist(), strict=True)), rows, taken, ways.tolist()
        )
        out = States(np.empty((edges, 2), dtype=np.int64), np.empty(edges))
        links = Edges(*(np.empty(edges, dtype=np.int32) for _ in range(3)))
        begin = States(keys, weight)
        found = advance(begin, low, high, step, ways, edges, out, links)
        reached = unpacked(out.keys[:found])
        assert dict(zip(reached, out.weight[:found].tolist(), strict=True)) == after
        ours = [
            (states[s], y, reached[t])
            for s, t, y in zip(*(own.tolist() for own in links), strict=True)
        ]
        assert ours == answer
        merged += found < edges
        if found:  # one state too many: given up
            room = States(np.empty((found, 2), dtype=np.int64), out.weight)
            assert advance(begin, low, high, step, ways, found - 1, room, links) == -1
            stopped += 1
            advance(begin, low, high, step, ways, edges, out, links)

        alive = rng.random(found) < 0.7
        back = np.where(alive, rng.integers(0, 9, found) / 8, 0.0)  # a way may weigh nothing
        onward = {s: b for s, b, a in zip(reached, back.tolist(), alive, strict=True) if a}
        out_back, out_alive = np.zeros(size), np.zeros(size, dtype=np.bool_)
        whole, people, least, highest = retreat(
            links, ways, weight, back, alive, out_back, out_alive
        )
        before = dict(zip(states, weight.tolist(), strict=True))
        expected, all_ways, all_people, numbers = naive_kernels.layer_back(
            answer, ways.tolist(), before, onward
        )
        assert dict(zip(states, out_back.tolist(), strict=True)) == {
            s: expected.get(s, 0.0) for s in states
        }
        assert {s for s, a in zip(states, out_alive, strict=True) if a} == set(expected)
        assert (whole, people) == (all_ways, all_people)
        assert (least, highest) == (min(numbers, default=1 << 60), max(numbers, default=-1))
        dead += not all(out_alive)
    assert merged > 10
    assert dead > 10
    assert stopped > 10


def test_the_order_is_that_of_plain_sets() -> None:
    rng = np.random.default_rng(702)
    for _ in range(60):
        size, types = int(rng.integers(1, 9)), int(rng.integers(0, 14))
        drawn = [rng.permutation(size)[: rng.integers(0, 4)].tolist() for _ in range(types)]
        rows = np.array([(d + [-1] * 3)[:3] for d in drawn], dtype=np.int32).reshape(types, 3)
        wanted = naive_kernels.settled(drawn, size) + [j for j, d in enumerate(drawn) if not d]
        assert settle_order(rows, size) == wanted
