"""The second computation of distances between spreads, against least work over all transports."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from anon_core.verification.models import closeness as moved
from tests import diversity_twin as twin


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_the_shown_values_are_the_whole_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = int(rng.integers(1, 9))
    rows = rng.integers(1, 5, values).tolist()
    upto = list(accumulate(rows, initial=0))
    weighed = list(accumulate((own * place for place, own in enumerate(rows)), initial=0))
    table = np.repeat(np.arange(values), rows).tolist()
    for group in [rng.choice(table, rng.integers(1, 7)).tolist() for _ in range(5)]:
        shown = Counter(group)
        assert moved.all_alike(shown, rows, len(table)) == twin.equal(group, table)
        assert moved.in_order(shown, upto, weighed) == twin.ordered(group, table)


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
    tree = moved.Tree(above=above, height=height)
    hung = dict(zip(node.tolist(), rows, strict=True))

    def steps(one: int, other: int) -> Fraction:
        up, over = int(node[one]), int(node[other])
        while up != over:
            if depth[up] >= depth[over]:
                up = above[up]
            else:
                over = above[over]
        return Fraction(height[up], 3)

    for group in groups:
        own = moved.by_tree(Counter(node[group].tolist()), tree.rows(hung), tree)
        assert float(own) == pytest.approx(twin.transported(group, table, steps), abs=1e-9)
