"""Promises about identity by plain loops, from their definitions: slow, and sharing nothing."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from tests import naive
from tests.enumeration import METRICS, Enumeration
from tests.making import Case

#: What a node shows → which of its classes stay: both by published cells.
Keep = Callable[[naive.Classes, naive.Classes], list[naive.Row]]


def sets_hold(
    classes: Iterable[tuple[naive.Row, int]], sets: Sequence[Sequence[int]], k: int
) -> bool:
    """Say whether each combination of each set of columns is in k rows."""
    for columns in sets:
        rows: Counter[naive.Row] = Counter()
        for cells, size in classes:
            rows[tuple(cells[d] for d in columns)] += size
        if any(n < k for n in rows.values()):
            return False
    return True


def largest_subset(
    classes: Sequence[tuple[naive.Row, int]],
    holds: Callable[[Sequence[tuple[naive.Row, int]]], bool],
) -> int:
    """Return the most rows of a choice of classes that holds, by trying every choice."""
    most = 0
    for length in range(len(classes) + 1):
        for chosen in itertools.combinations(classes, length):
            if holds(chosen):
                most = max(most, sum(size for _, size in chosen))
    return most


def mean_risk(classes: Sequence[tuple[int, int]]) -> Fraction:
    """Return Σ N/P over n of (rows, people) per class; 0 without rows."""
    rows = sum(n for n, _ in classes)
    return sum((Fraction(n, p) for n, p in classes), Fraction(0)) / max(rows, 1)


def own_mean_holds(classes: Sequence[tuple[naive.Row, int]], risk: Fraction) -> bool:
    """Say whether the mean risk of classes whose rows are all the people there are is low."""
    return mean_risk([(size, size) for _, size in classes]) <= risk


def keep_sets(sets: Sequence[Sequence[int]], k: int) -> Keep:
    """Remove what violates a set until nothing does."""

    def keep(found: naive.Classes, around: naive.Classes) -> list[naive.Row]:
        left = dict(found)
        while True:
            bad: set[naive.Row] = set()
            for columns in sets:
                for cells in left:
                    alike = [len(m) for other, m in left.items() if same(cells, other, columns)]
                    if sum(alike) < k:
                        bad.add(cells)
            if not bad:
                return list(left)
            left = {cells: m for cells, m in left.items() if cells not in bad}

    return keep


def same(one: naive.Row, other: naive.Row, columns: Sequence[int]) -> bool:
    return all(one[d] == other[d] for d in columns)


def keep_people(least: int) -> Keep:
    """Keep classes that enough people fit: those of the public table where there is one."""
    return lambda found, around: [c for c in found if len((around or found)[c]) >= least]


def keep_mean(risk: Fraction, attributes: Sequence[naive.Attribute]) -> Keep:
    """Remove the smallest class, or that of the fewest people, until the mean is low enough."""

    def place(cells: naive.Row) -> list[int]:
        return [
            min(a.leaves.index(v) for v in a.leaves if text in a.labels[v])
            for a, text in zip(attributes, cells, strict=True)
        ]

    def keep(found: naive.Classes, around: naive.Classes) -> list[naive.Row]:
        left = {c: (len(m), len((around or found)[c])) for c, m in found.items()}
        if around:  # those of most people stay longest, of these the largest, then the first
            order = sorted(left, key=lambda c: (-left[c][1], -left[c][0], place(c)))[::-1]
        else:
            order = sorted(left, key=lambda c: (left[c][0], place(c)))
        while left and mean_risk(list(left.values())) > risk:
            del left[order.pop(0)]
        return list(left)

    return keep


def both(*rules: Keep) -> Keep:
    """Apply several rules in turn until nothing changes."""

    def keep(found: naive.Classes, around: naive.Classes) -> list[naive.Row]:
        left = dict(found)
        while True:
            before = len(left)
            for rule in rules:
                left = {c: left[c] for c in rule(left, around)}
            if len(left) == before:
                return list(left)

    return keep


class EveryNode(Enumeration):
    """Every node of a case under a rule for which classes stay."""

    def __init__(
        self,
        case: Case,
        rule: Keep,
        people: Sequence[naive.Row] = (),
        metrics: Sequence[str] = METRICS,
    ) -> None:
        rows, attributes = case.rows, case.attributes
        self.size = len(rows)
        self.kept: dict[naive.Node, int] = {}
        self.removed: dict[naive.Node, int] = {}
        self.costs: dict[str, dict[naive.Node, Fraction]] = {m: {} for m in metrics}
        for node in naive.every_node(attributes):
            found = naive.classes(rows, attributes, node)
            around = naive.classes(people, attributes, node) if people else {}
            kept = {cells: found[cells] for cells in rule(found, around)}
            self.removed[node] = len(naive.removed_rows(found, kept))
            self.kept[node] = len(kept)
            if kept:
                covers = naive.covers_at(kept, attributes, node)
                for metric in metrics:
                    self.costs[metric][node] = naive.cost(metric, rows, attributes, covers)


def keep_own(own: Sequence[int]) -> Keep:
    """Keep classes of as many rows as anyone in them asks for."""
    return lambda found, around: [c for c, m in found.items() if own_holds(m, own)]


def own_holds(members: Sequence[int], own: Sequence[int]) -> bool:
    return all(len(members) >= own[i] for i in members)


def keep_guards(
    values: Sequence[str], guards: Sequence[str], lines: dict[str, Sequence[str]], most: Fraction
) -> Keep:
    """Keep classes in which no guarded value is too likely for anyone who guards it."""
    return lambda found, around: [
        c for c, m in found.items() if guards_hold(m, values, guards, lines, most)
    ]


def guards_hold(
    members: Sequence[int],
    values: Sequence[str],
    guards: Sequence[str],
    lines: dict[str, Sequence[str]],
    most: Fraction,
) -> bool:
    """Say whether each guarded row of a class has at most p of its rows under its guard."""
    for i in members:
        if guards[i] != naive.MISSING:
            inside = sum(guards[i] in lines[values[j]] for j in members)
            if Fraction(inside, len(members)) > most:
                return False
    return True
