"""The second computation of distances between spreads, against least work over all transports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_core.verification.models import closeness as moved
from tests import diversity_twin as twin


def spread_of(groups: list[list[int]], rows: list[int]) -> moved.Spread:
    counts = [np.bincount(group, minlength=len(rows)) for group in groups]
    owner, value = np.nonzero(np.stack(counts))
    return moved.Spread(
        owner=owner.astype(np.int64),
        value=value.astype(np.int64),
        count=np.stack(counts)[owner, value].astype(np.int64),
        table=np.array(rows, dtype=np.int64),
        sizes=np.array([len(group) for group in groups], dtype=np.int64),
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("room", [moved._WORD, 0])
def test_sums_of_the_shown_values_are_the_whole_distance(
    seed: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moved, "_WORD", room)
    rng = np.random.default_rng(seed)
    values = int(rng.integers(1, 9))
    rows = rng.integers(1, 5, values).tolist()
    table = np.repeat(np.arange(values), rows).tolist()
    groups = [rng.choice(table, rng.integers(1, 7)).tolist() for _ in range(5)]
    spread = spread_of(groups, rows)
    assert moved.all_alike(spread) == [twin.equal(group, table) for group in groups]
    assert moved.in_order(spread) == [twin.ordered(group, table) for group in groups]


@pytest.mark.parametrize("seed", range(5))
def test_a_value_may_hang_at_any_node(seed: int) -> None:
    """The work over a tree is the least that any transport along it takes."""
    rng = np.random.default_rng(seed)
    # 0 root, 1 left, 2 right, 3 deep; from 4 on the leaves.
    above = [-1, 0, 0, 2, 1, 1, 2, 3, 3, 0]
    height = [3, 1, 2, 1, 0, 0, 0, 0, 0, 0]
    depth = [0, 1, 1, 2, 2, 2, 2, 3, 3, 1]
    node = np.arange(4, 10)
    rows = rng.integers(1, 4, len(node)).tolist()
    table = np.repeat(np.arange(len(node)), rows).tolist()
    groups = [rng.choice(table, rng.integers(1, 6)).tolist() for _ in range(4)]
    tree = moved.Tree(
        above=np.array(above, dtype=np.int64),
        depth=np.array(depth, dtype=np.int64),
        height=np.array(height, dtype=np.int64),
    )

    def steps(one: int, other: int) -> Fraction:
        up, over = int(node[one]), int(node[other])
        while up != over:
            if depth[up] >= depth[over]:
                up = above[up]
            else:
                over = above[over]
        return Fraction(height[up], 3)

    found = moved.by_tree(spread_of(groups, rows), tree, node)
    for own, group in zip(found, groups, strict=True):
        assert float(own) == pytest.approx(twin.transported(group, table, steps), abs=1e-9)
