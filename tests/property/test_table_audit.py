"""The audit of random small tables equals a linear program in fractions."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.tables.audit import intervals
from anon_core.tables.axis import Axis
from anon_core.tables.system import Bounds, System
from anon_core.tables.table import relations_of
from tests.exact_simplex import greatest
from tests.often import times


def drawn_axis(rng: np.random.Generator, name: str) -> Axis:
    tree: dict[str, list[str]] = {"T": [f"{name}{n}" for n in range(int(rng.integers(2, 4)))]}
    for node in list(tree["T"]):
        if rng.random() < 0.3:
            tree[node] = [f"{node}{n}" for n in range(int(rng.integers(1, 3)))]
    return Axis.from_tree(name, tree)


def drawn_system(rng: np.random.Generator, most: int = 12) -> System:
    """Draw a product of one or two trees with small values, a third of them 0."""
    axes = [drawn_axis(rng, name) for name in "abc"[: int(rng.integers(1, 3))]]
    shape = [len(axis.labels) for axis in axes]
    leaves = np.zeros(shape, dtype=np.int64)
    inner = np.ix_(*(axis.leaves for axis in axes))
    drawn = rng.integers(0, most, leaves[inner].shape)
    leaves[inner] = drawn * (rng.random(drawn.shape) > 0.3)
    for at, axis in enumerate(axes):
        whole = np.moveaxis(leaves, at, 0)
        for node in reversed(range(len(axis.labels))):
            for child in axis.children[node]:
                whole[node] += whole[child]
    names = tuple(f"c{n}" for n in range(leaves.size))
    return System(names=names, values=tuple(leaves.ravel().tolist()), relations=relations_of(axes))


@pytest.mark.often
@pytest.mark.parametrize("number", range(times(500, share=16)))
def test_audit_equals_an_exact_simplex(number: int) -> None:
    rng = np.random.default_rng(number)
    system = drawn_system(rng)
    least = int(rng.integers(0, 2))
    eligible = [c for c, value in enumerate(system.values) if value >= least]
    take = rng.random(len(eligible)) < min(rng.uniform(0.2, 0.6), 9 / len(system.values))
    hidden = system.closed(c for c, taken in zip(eligible, take, strict=True) if taken)
    hidden = frozenset(c for c in hidden if system.values[c] >= least)
    found = intervals(system, hidden, Bounds.of(system, lower=least))
    cells = sorted(hidden)
    place = {cell: at for at, cell in enumerate(cells)}
    rows, right = [], []
    for relation in system.relations:
        row, known = [0] * len(cells), 0
        for cell, sign in [(relation.parent, -1), *((c, 1) for c in relation.children)]:
            if cell in place:
                row[place[cell]] += sign
                known += sign * least
            else:
                known += sign * int(system.values[cell])
        if any(row):
            rows.append(row)
            right.append(-known)
    for cell in cells:
        one = found[cell]
        assert one.exact
        goal = [int(c == cell) for c in cells]
        top = greatest(goal, rows, right)
        bottom = greatest([-x for x in goal], rows, right)
        assert bottom is not None
        assert one.low == least - bottom
        assert one.high == (None if top is None else least + top)
