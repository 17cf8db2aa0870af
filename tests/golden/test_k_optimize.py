"""K-14: the index encoding, the tree's sets, and the cost of every one of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from anon_core.base.context import Context
from anon_core.methods.partition.index_space import IndexSpace, Splits
from anon_core.techniques.algorithms.k_optimize import KOptimize, children_of
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.golden.test_samarati import of_columns, rows_by_class

# Discernibility of each set of indices for k = 2, suppressed rows charged 9 each.
COSTS = {
    "": 81, "2": 41, "3": 53, "5": 73, "6": 45, "7": 73, "23": 33, "25": 43, "26": 31, "27": 41,
    "35": 49, "36": 47, "37": 49, "56": 43, "57": 67, "67": 49, "235": 47, "236": 35, "237": 33,
    "256": 35, "257": 43, "267": 45, "356": 47, "357": 47, "367": 61, "567": 47, "2356": 49,
    "2357": 47, "2367": 49, "2567": 49, "3567": 61, "23567": 63,
}  # fmt: skip


def test_k_14_indices_and_costs() -> None:
    problem = of_columns("Race", "ZIP").problem()
    space = IndexSpace(problem)
    values = [
        problem.quasi_hierarchies[d].leaves[leaf]
        for d, leaf in zip(space.attribute[1:], space.leaf[1:], strict=True)
    ]
    assert values == ["asian", "black", "white", "94138", "94139", "94141", "94142"]
    assert space.alphabet == (2, 3, 5, 6, 7)
    begins = space.first_leaves((6,))
    assert [b.tolist() for b in begins] == [[0, 0, 0], [0, 0, 2, 2]]
    found = {}
    for size in range(6):
        for splits in combinations(space.alphabet, size):
            classes, keep = space.kept(space.entries(splits), [KAnonymity(k=2)])
            sizes = classes.count[keep]
            found["".join(map(str, splits))] = int(sizes @ sizes) + 9 * (9 - int(sizes.sum()))
    assert len(found) == 32
    assert found == COSTS


def test_k_14_the_tree() -> None:
    """The slide's part of the tree, in the order of the indices, and the size of the whole."""

    def below(head: Splits, tail: Splits) -> dict[Splits, list[Splits]]:
        children = children_of(head, tail)
        found = {head: [own for own, _ in children]} if children else {}
        for own, rest in children:
            found |= below(own, rest)
        return found

    assert below((), (5, 6, 7)) == {
        (): [(5,), (6,), (7,)],
        (5,): [(5, 6), (5, 7)],
        (5, 6): [(5, 6, 7)],
        (6,): [(6, 7)],
    }
    whole = below((), IndexSpace(of_columns("Race", "ZIP").problem()).alphabet)
    assert 1 + sum(map(len, whole.values())) == 32


def test_k_14_the_optimum() -> None:
    problem = of_columns("Race", "ZIP").problem()
    outcome = KOptimize().run(problem, [KAnonymity(k=2)], Context())
    assert (outcome.account.cost, outcome.account.bound, outcome.account.proven) == (31, 31, True)
    classes = {c: len(rows) for c, rows in rows_by_class(outcome.release).items()}
    # {2, 6}: asian | black or white, and 94138 or 94139 | 94141 or 94142.
    assert classes == {
        ("asian", "{94138, 94139}"): 3,
        ("asian", "{94141, 94142}"): 2,
        ("{black, white}", "{94138, 94139}"): 3,
    }
    assert outcome.release.suppressed == 1
    assert np.array_equal(outcome.release.grouping.sizes.sum(), 8)
