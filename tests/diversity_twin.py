"""Slow exact twins of what models ask of sensitive values: one group at a time, in fractions."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from anon_core.contracts.group_stats import Histogram

getcontext().prec = 80

Group = Sequence[Any]
Parts = Sequence[Group]


def counted(groups: Sequence[Sequence[int]], rng: np.random.Generator | None = None) -> Histogram:
    """Return the histogram of groups of leaf numbers, its entries in any order."""
    entries = [(g, v, n) for g, own in enumerate(groups) for v, n in Counter(own).items()]
    if rng is not None:
        entries = [entries[i] for i in rng.permutation(len(entries))]
    group, value, count = (np.array(c) for c in zip(*entries, strict=True))
    return Histogram(
        group=group.astype(np.int64),
        value=value.astype(np.int32),
        count=count.astype(np.int64),
        groups=len(groups),
    )


def ln(number: Fraction) -> Decimal:
    return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def shares(group: Group) -> dict[Any, Fraction]:
    return {v: Fraction(c, len(group)) for v, c in Counter(group).items()}


def keeps_entropy(group: Group, l: Fraction) -> bool:  # noqa: E741
    """H ≥ log l, as the product of p^-p ≥ l with all exponents multiplied by the rows."""
    left, right = Fraction(1), Fraction(l) ** len(group)
    for share in shares(group).values():
        left *= (1 / share) ** int(share * len(group))
    return left >= right


def entropy_of(group: Group) -> float:
    return float(-sum(Decimal(s.numerator) / s.denominator * ln(s) for s in shares(group).values()))


def ranked(group: Group) -> list[int]:
    return sorted(Counter(group).values(), reverse=True)


def recursive(group: Group, c: Fraction, l: int) -> bool:  # noqa: E741
    own = ranked(group)
    return len(own) >= l and own[0] < c * sum(own[l - 1 :])


def bounded(group: Group, factor: Fraction) -> bool:
    """Whatever one value is ruled out, each other stays at most factor : 1 against the rest."""
    counts = Counter(group)
    for out in counts:
        left = {v: n for v, n in counts.items() if v != out}
        if not left or any(n > factor * (sum(left.values()) - n) for n in left.values()):
            return False
    return True


def most_share(group: Group) -> Fraction:
    return max(shares(group).values())


def equal(group: Group, table: Group) -> Fraction:
    q, p = shares(group), shares(table)
    return sum((abs(q.get(v, Fraction(0)) - p[v]) for v in p), Fraction(0)) / 2


def ordered(group: Group, table: Group) -> Fraction:
    order = sorted(set(table))
    if len(order) == 1:
        return Fraction(0)
    q, p = shares(group), shares(table)
    upto, total = Fraction(0), Fraction(0)
    for value in order[:-1]:
        upto += q.get(value, Fraction(0)) - p[value]
        total += abs(upto)
    return total / (len(order) - 1)


def transported(
    group: Group, table: Group, distance: Callable[[Any, Any], Fraction | float]
) -> float:
    """The least work that makes the table's shares of the group's: a linear program."""
    values = sorted(set(table))
    q, p = shares(group), shares(table)
    pairs = list(itertools.product(range(len(values)), repeat=2))
    cost = [float(distance(values[i], values[j])) for i, j in pairs]
    leaves = [[float(i == v) for i, _ in pairs] for v in range(len(values))]
    arrives = [[float(j == v) for _, j in pairs] for v in range(len(values))]
    want = [float(q.get(v, 0)) for v in values] + [float(p[v]) for v in values]
    found = linprog(cost, A_eq=np.array(leaves + arrives), b_eq=np.array(want))
    assert found.fun is not None
    return float(found.fun)


def tree_steps(tree: Mapping[Any, Sequence[Any]], root: Any) -> Callable[[Any, Any], Fraction]:
    """Return the distance of two leaves: height of the lowest common node over the root's."""

    def height(node: Any) -> int:
        return 1 + max(map(height, tree[node])) if node in tree else 0

    def path(node: Any) -> list[Any]:
        for parent, children in tree.items():
            if node in children:
                return [*path(parent), node]
        return [node]

    def steps(one: Any, other: Any) -> Fraction:
        both = [a for a, b in zip(path(one), path(other), strict=False) if a == b]
        return Fraction(height(both[-1]), height(root))

    return steps


def gain(group: Group, table: Group) -> Fraction:
    q, p = shares(group), shares(table)
    return max([Fraction(0), *((q[v] - p[v]) / p[v] for v in q)])


def unsurprising(group: Group, table: Group) -> bool:
    q, p = shares(group), shares(table)
    gains = {v: (q[v] - p[v]) / p[v] for v in q if q[v] > p[v]}
    return all(Decimal(g.numerator) / g.denominator <= -ln(p[v]) for v, g in gains.items())


def disclosed(group: Group, table: Group) -> Decimal | None:
    """The largest |ln(q / p)|; None where a value is absent."""
    q, p = shares(group), shares(table)
    if set(q) != set(p):
        return None
    return max(abs(ln(q[v] / p[v])) for v in p)


def spread(group: Group, k: int, e: Fraction) -> bool:
    numbers = [Fraction(str(v)) for v in group]
    return len(set(numbers)) >= k and max(numbers) - min(numbers) >= e


def crowd(group: Group, epsilon: Fraction, *, relative: bool) -> int:
    numbers = [Fraction(str(v)) for v in group]
    return max(
        sum(abs(y - x) <= epsilon * (x if relative else 1) for y in numbers) for x in numbers
    )


def partitions(rows: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """Every way to group rows."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for parts in partitions(rest):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]
