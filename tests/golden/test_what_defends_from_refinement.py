"""Does it help to choose at random? All tables of five rows, by definitions of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

Row = tuple[str, str]
Node = tuple[int, int]
Chosen = list[tuple[Node, Fraction]]
A = {f"a{n}": (f"a{n}", "a12" if n < 3 else "a34", "*") for n in range(1, 5)}
B = {f"b{n}": (f"b{n}", "*") for n in (1, 2)}
NODES: list[Node] = list(product(range(3), range(2)))
K = 2


def loss(node: Node) -> Fraction:
    return (Fraction((0, 1, 3)[node[0]], 3) + node[1]) / 2


ORDER = sorted(NODES, key=lambda node: (loss(node), sum(node), node))


def classes(table: Sequence[Row], node: Node) -> dict[Row, tuple[Row, ...]]:
    found: dict[Row, list[Row]] = defaultdict(list)
    for a, b in table:
        found[A[a][node[0]], B[b][node[1]]].append((a, b))
    return {cell: tuple(sorted(rows)) for cell, rows in found.items()}


def keeps(table: Sequence[Row], node: Node) -> bool:
    return min(len(rows) for rows in classes(table, node).values()) >= K


def cheapest(table: Sequence[Row]) -> Chosen:
    return [(next(node for node in ORDER if keeps(table, node)), Fraction(1))]


def any_minimal(table: Sequence[Row]) -> Chosen:
    """Return the choices of levels that keep the promise, and none below them; all as likely."""
    good = [node for node in NODES if keeps(table, node)]
    found = [
        node
        for node in good
        if not any(other != node and other[0] <= node[0] and other[1] <= node[1] for other in good)
    ]
    return [(node, Fraction(1, len(found))) for node in found]


def study(choose: Callable[[Sequence[Row]], Chosen]) -> tuple[float, float, float]:
    """Return the share of rows in classes of 1 and of up to 5 ways to fill them, and the loss.

    Of rows that are generalized, over all tables of five rows; a way counts where a table of it may
    be released like that, however unlikely.
    """
    ways: dict[object, set[tuple[Row, ...]]] = defaultdict(set)
    values: list[tuple[object, Node, Fraction, tuple[Row, ...]]] = []
    tables = list(combinations_with_replacement(list(product(A, B)), 5))
    for table in tables:
        for node, chance in choose(table):
            shown = classes(table, node)
            release = (node, tuple(sorted((cell, len(rows)) for cell, rows in shown.items())))
            for cell, rows in shown.items():
                ways[release, cell].add(rows)
                values.append(((release, cell), node, chance, rows))
    above = [one for one in values if one[1] != (0, 0)]
    one_way = sum(p * len(rows) for key, _, p, rows in above if len(ways[key]) == 1)
    few = sum(p * len(rows) for key, _, p, rows in above if len(ways[key]) <= 5)
    everyone = 5 * len(tables)
    paid = sum(p * len(rows) * loss(node) for _, node, p, rows in values)
    return float(one_way / everyone), float(few / everyone), float(paid / everyone)


def test_a_random_choice_among_minimal_levels_helps_a_little_and_costs_a_little() -> None:
    assert study(cheapest) == pytest.approx((0, 0.2424, 0.507), abs=5e-4)
    assert study(any_minimal) == pytest.approx((0, 0.2222, 0.524), abs=5e-4)
