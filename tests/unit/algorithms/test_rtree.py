"""The spatial index against plain loops, after every single insertion, and as verified releases."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled, Infeasible
from anon_core.kernels.cuts import Counted
from anon_core.kernels.rtree import Tree, insert, refine
from anon_core.methods.clusters.cluster_rows import empty_tree
from anon_core.pipeline.runner import run
from anon_core.techniques.algorithms.rtree import RTree
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests import naive_kernels
from tests.making import Case, random_case
from tests.often import times
from tests.unit.kernels.test_group_kernels import tables

pytestmark = pytest.mark.kernels


def leaves_of(leaf: np.ndarray) -> list[list[int]]:
    """Return the tuples inserted so far by the leaf that holds them."""
    found: dict[int, list[int]] = defaultdict(list)
    for t, node in enumerate(leaf.tolist()):
        if node >= 0:
            found[node].append(t)
    return sorted(found.values())


@pytest.mark.parametrize("room", [0, 9])
def test_after_every_insertion_all_parts_are_those_of_plain_loops_and_keep_k(room: int) -> None:
    several = stuck = heavy = 0
    for rng, t in tables(121 + room, 150, most=24):
        k = int(rng.integers(1, 6))
        full = 2 * k + room
        order = rng.permutation(t.size).astype(np.int64)
        expected = naive_kernels.grown_tree(
            t.ways, t.tuples, t.count.tolist(), k, full, order.tolist()
        )
        tuples = Counted(t.codes, t.count)
        tree, nodes = empty_tree(t.size, full), 1
        for i in range(t.size):
            nodes = insert(t.prices, tuples, tree, nodes, order[i : i + 1], k, full)
            leaves = leaves_of(tree.leaf)
            assert leaves == expected[i][0]
            # What is published now is cut from a copy: the index itself goes on as it is.
            now = Tree(*(part.copy() for part in tree))
            refine(t.prices, tuples, now, nodes, 0, nodes, k)
            parts = leaves_of(now.leaf)
            assert parts == expected[i][1]
            assert sorted(x for part in parts for x in part) == sorted(order[: i + 1].tolist())
            rows = [int(t.count[part].sum()) for part in parts]
            # 1. Every part keeps k, as soon as there are k rows at all.
            assert min(rows) >= min(k, sum(rows))
            # 2. Regions are disjoint: of any two parts some attribute tells all tuples apart.
            boxes = [(t.codes[part].min(axis=0), t.codes[part].max(axis=0)) for part in parts]
            for a, (low, high) in enumerate(boxes):
                own = t.codes[parts[a]]
                assert np.all((low <= own) & (own <= high))
                for other_low, other_high in boxes[a + 1 :]:
                    assert np.any((high < other_low) | (other_high < low))
            stuck += max(rows) >= 2 * k
        several += len(leaves_of(tree.leaf)) > 1
        heavy += t.count.max() >= k
        # All at once is the same.
        whole = empty_tree(t.size, full)
        insert(t.prices, tuples, whole, 1, order, k, full)
        assert np.array_equal(whole.leaf, tree.leaf)
    assert several > 30
    assert stuck > 20
    assert heavy > 20


@pytest.mark.often
def test_releases_are_verified_and_do_not_hang_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(2007)
    parts = 0
    for seed in range(times(15, share=3)):
        case = random_case(rng, rows=40)
        mixed = rng.permutation(40)
        other = Case(
            columns={n: [c[i] for i in mixed] for n, c in case.columns.items()},
            quasi=case.quasi,
            sensitive=case.sensitive,
            kinds=case.kinds,
            levels=case.levels,
        )
        given: dict[str, object] = {
            "seed": seed,
            "algorithm": {"name": "rtree", "weights": {"q0": 2}, "leaf": 2 + seed % 4},
            "models": [
                {"name": "k-anonymity", "k": 3},
                {"name": "l-diversity", "l": 2, "column": "s0"},
            ],
        }
        try:
            result = run(case.plan(**given), case.dataset, case.levels, assess=False)
        except Infeasible:
            assert len(set(case.column("s0"))) < 2
            continue
        assert result.verification.holds
        assert result.class_sizes.min() >= 3
        assert result.release.suppressed == 0
        assert result.csv == run(other.plan(**given), other.dataset, other.levels, assess=False).csv
        parts += len(result.class_sizes) > 1
    assert parts > times(8, share=3)


def test_time_cancelling_and_small_tables() -> None:
    problem = random_case(np.random.default_rng(103), rows=8).problem()
    with pytest.raises(Infeasible, match="need at least 9 rows"):
        RTree().run(problem, [KAnonymity(k=9)], Context())
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        RTree(weights={"nothing": 2}).run(problem, [KAnonymity(k=2)], Context())
    late = RTree().run(problem, [KAnonymity(k=2)], Context(deadline=0.0)).release
    assert late.view.group_size.tolist() == [8]
    context = Context()
    context.cancel.set()
    with pytest.raises(Cancelled):
        RTree().run(problem, [KAnonymity(k=2)], context)
