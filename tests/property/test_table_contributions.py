"""What respondents contribute to all cells at once is what it is cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from anon_core.tables.contributions import Contributions, Members
from anon_core.tables.sensitivity import (
    Dominance,
    PPercent,
    Rule,
    Threshold,
    ZeroCells,
    sensitive_cells,
)
from anon_core.tables.table import Layout, Table, build
from tests.tabulated import dataset_of

LEVELS = {"place": [["a1", "a", "*"], ["a2", "a", "*"], ["b1", "b", "*"], ["b2", "b", "*"]]}
RULES: Sequence[Rule] = [
    Threshold(n=3),
    Dominance(m=2, k=80),
    PPercent(p=Fraction(15, 2)),
    PPercent(p=10, q=40, coalition=2),
    ZeroCells(),
]


def drawn(number: int) -> tuple[Mapping[str, Sequence[object]], Layout]:
    """Return rows with waivers, negative amounts or weights, and what is made of them."""
    draw = np.random.default_rng(number)
    many = 70
    signed, weighted, expanded = number % 2 == 1, number % 3 == 1, number % 3 == 2
    columns: dict[str, Sequence[object]] = {
        "place": draw.choice(["a1", "a2", "b1", "b2"], many).tolist(),
        "kind": draw.choice(list("xyz"), many).tolist(),
        "amount": (
            draw.integers(-20 if signed else 0, 40, many) * draw.integers(0, 2, many)
        ).tolist(),
        "firm": draw.integers(0, 30, many).tolist(),
        "agreed": ["yes" if n < 12 else "" for n in draw.integers(0, 30, many)],
        "weight": [f"{n}.5" if weighted else n for n in draw.integers(0, 4, many).tolist()],
    }
    layout = Layout(
        columns=("place", "kind"),
        value="amount",
        respondent="" if expanded else "firm",
        waiver="agreed" if number % 4 == 0 else "",
        weight="weight" if weighted or expanded else "",
        expanded=expanded,
        negatives="absolute" if signed else "refused",
    )
    return columns, layout


def by_cell(
    columns: Mapping[str, Sequence[object]], layout: Layout, table: Table
) -> list[Contributions]:
    """Return the contributions of each cell, row by row: the plain twin."""
    firms = columns["firm"] if layout.respondent else list(range(len(columns["firm"])))
    refused = {f for f, word in zip(firms, columns["agreed"], strict=True) if not word}
    found: list[Contributions] = []
    for name in table.names:
        place, kind = name.split("|")
        rows = [
            at
            for at, (p, k) in enumerate(zip(columns["place"], columns["kind"], strict=True))
            if place in ("Total", p, str(p)[0]) and kind in ("Total", k)
        ]
        weight = [
            Fraction(str(columns["weight"][r])) if layout.weight else Fraction(1) for r in rows
        ]
        amount = [int(str(columns["amount"][r])) for r in rows]
        who = [firms[r] for r in rows]
        if layout.expanded:
            one = Contributions.of(map(abs, amount), weights=weight, expanded=True)
            found.append(
                Contributions(amounts=one.amounts, total=one.total, respondents=len(set(who)))
            )
            continue
        unit = 10 if layout.weight else 1  # weights such as 1.5
        sums: dict[object, list[Fraction]] = {}
        for one, x, w in zip(who, amount, weight, strict=True):
            own = sums.setdefault(one, [Fraction(0), Fraction(0)])
            own[0] += x
            own[1] += x * w
        order = sorted(sums, key=lambda one: -abs(sums[one][0]))
        found.append(
            Contributions(
                amounts=tuple(abs(sums[one][0]) * unit for one in order),
                total=sum((abs(sums[one][1]) for one in order), Fraction(0)) * unit,
                respondents=len(sums),
                waived=frozenset(
                    at for at, one in enumerate(order) if layout.waiver and one not in refused
                ),
            )
        )
    return found


@pytest.mark.parametrize("number", range(12))
def test_arrays_hold_what_each_cell_does(number: int) -> None:
    columns, layout = drawn(number)
    table = build(dataset_of(columns), layout, LEVELS)
    plain = by_cell(columns, layout, table)
    assert len(plain) == len(table.contributions) == 7 * 4
    for one, other in zip(plain, table.contributions, strict=True):
        assert (one.amounts, one.total, one.respondents) == (
            other.amounts, other.total, other.respondents,
        )  # fmt: skip
        agreed = [sorted(c.amounts[n] for n in c.waived) for c in (one, other)]
        assert agreed[0] == agreed[1]
    # All cells are judged as they are one by one, by each rule alone and by all.
    for rules in ([rule] for rule in RULES):
        assert sensitive_cells(table.contributions, rules) == sensitive_cells(plain, rules)
    assert sensitive_cells(table.contributions, RULES) == sensitive_cells(plain, RULES)
    assert len(sensitive_cells(plain, RULES)) > 0


def test_ties_are_judged_exactly() -> None:
    """The floats of all cells choose whom to ask, and do not answer."""
    columns = {"place": list("aaabbbcc"), "amount": [100, 50, 10, 100, 50, 9, 10**17, 10**17 // 4]}
    layout = Layout(columns=("place",), value="amount")
    table = build(dataset_of(columns), layout)
    found = sensitive_cells(table.contributions, [PPercent(p=10)])
    assert {table.names[cell] for cell in found} == {"b", "c", "Total"}
    plain = [table.contributions[at] for at in range(4)]
    for k in (80, Fraction(799999999, 10**7), Fraction(800000001, 10**7)):
        rule = Dominance(m=1, k=k)
        assert sensitive_cells(table.contributions, [rule]) == sensitive_cells(plain, [rule])


def test_members_are_mappings() -> None:
    draw = np.random.default_rng(5)
    cells: list[dict[int, int]] = []
    for _ in range(20):
        chosen = draw.choice(12, draw.integers(0, 5), replace=False).tolist()
        cells.append({one: int(draw.integers(0, 9)) for one in chosen})
    held = Members.of(cells)
    assert list(held) == cells
    assert held[3:5] == cells[3:5]
    assert held[-1] == cells[-1]
    people = {1, 4, 7, 40}
    assert held.most(people).tolist() == [
        max((own[one] for one in own.keys() & people), default=0) for own in cells
    ]
    assert held.sole == {one for own in cells if len(own) == 1 for one in own}
    sums = [(0, 1, 2), (5, 9)]
    more = held.with_sums(sums)
    for at, parts in enumerate(sums, start=20):
        whole: dict[int, int] = {}
        for part, one in product(parts, range(12)):
            if one in cells[part]:
                whole[one] = whole.get(one, 0) + cells[part][one]
        assert more[at] == whole
    asked = np.array([2, 7, 3])
    entry, cell = held.entries(asked)
    assert list(zip(cell.tolist(), held.who[entry].tolist(), strict=True)) == [
        (c, one) for c in (2, 7, 3) for one in sorted(cells[c])
    ]
