"""The cheapest further suppressions: patterns of the literature, found by cutting planes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from anon_core.base.errors import Infeasible
from anon_core.tables.audit import Insider, audit
from anon_core.tables.suppression import costs_of, suppress
from anon_core.tables.system import Bounds, Level, System, union
from tests.golden.tables.test_audit import CHILDREN, INVESTMENT, SMALL, counties
from tests.tabulated import grid

WIDTH = Level(sliding=1)


def solved(
    system: System,
    needs: dict[str, Level],
    bounds: Bounds | None = None,
    insiders: tuple[Insider, ...] = (),
) -> tuple[int, set[str]]:
    levels = {system.place[name]: level for name, level in needs.items()}
    known = bounds or Bounds.of(system)
    costs = costs_of(system, "value")
    found = suppress(system, levels, known, costs, insiders=insiders)
    assert found.optimal
    assert audit(system, found.cells, levels, known, insiders=insiders).safe
    quick = suppress(system, levels, known, costs, insiders=insiders, optimal=False)
    assert audit(system, quick.cells, levels, known, insiders=insiders).safe
    assert quick.cost >= found.cost
    return found.cost, {system.names[cell] for cell in found.secondary}


def test_what_a_reader_knows_decides_the_pattern() -> None:  # TB-02
    needs = dict.fromkeys(SMALL, WIDTH)
    assert solved(CHILDREN, needs) == (0, set())
    least = Bounds.of(CHILDREN, lower=1)
    assert solved(CHILDREN, needs, least) == (18, {"high|T", "low|black", "low|white"})
    two = dict.fromkeys(SMALL, Level(sliding=2))
    assert solved(CHILDREN, two, least) == (33, {"high|T", "low|T", "low|black", "low|white"})


def test_one_cell_of_a_hundred_records() -> None:  # TB-26
    table = grid(list("ABCD"), ["male", "female"], [[18, 2], [14, 19], [12, 10], [11, 14]])
    assert solved(table, {"A|female": WIDTH}) == (40, {"A|male", "C|female", "C|male"})


def test_a_level_of_a_fifth() -> None:  # TB-27
    table = grid(list("ABCD"), ["male", "female"], [[895, 137], [753, 973], [569, 486], [540, 793]])
    level = Level(lower=Fraction(137, 5), upper=Fraction(137, 5))
    assert solved(table, {"A|female": level}) == (1950, {"A|male", "C|female", "C|male"})


def test_a_tree() -> None:  # TB-28
    tree = System.of(
        {"T": 53, "A": 25, "B": 28, "A1": 2, "A2": 9, "A3": 14, "B1": 7, "B2": 1, "B3": 20},
        ["T=A+B", "A=A1+A2+A3", "B=B1+B2+B3"],
    )
    needs = {"A1": Level(lower=2, upper=2), "B2": Level(lower=1, upper=2)}
    assert solved(tree, needs) == (16, {"A2", "B1"})


@pytest.mark.parametrize(
    ("level", "cost", "cells"),
    [
        (1, 37, {"III|A", "III|C", "II|A"}),
        (5, 37, {"III|A", "III|C", "II|A"}),
        (8, 37, {"III|A", "III|C", "II|A"}),
        (12, 63, {"III|B", "III|C", "II|B"}),
        (18, 101, {"III|B", "III|C", "II|A", "II|B", "I|A", "I|C"}),
    ],
)
def test_patterns_by_level(level: int, cost: int, cells: set[str]) -> None:  # TB-32
    assert solved(INVESTMENT, {"II|C": Level(lower=level, upper=level)}) == (cost, cells)


def test_linked_tables_are_protected_together() -> None:  # TB-38
    both = union(counties())
    assert solved(both, dict.fromkeys("ABKLM", WIDTH)) == (7, {"N"})


def test_single_respondents_cost_more() -> None:  # TB-47
    table = grid(["r1", "r2"], ["c1", "c2", "c3"], [[5, 7, 20], [9, 11, 30]])
    needs = {"r1|c1": WIDTH, "r1|c2": WIDTH}
    assert solved(table, needs) == (20, {"r2|c1", "r2|c2"})
    insiders = (
        Insider(name="u1", known={table.place["r1|c1"]: (5, 5)}),
        Insider(name="u2", known={table.place["r1|c2"]: (7, 7)}),
    )
    expected = {"r1|c3", "r2|c1", "r2|c2", "r2|c3"}
    assert solved(table, needs, insiders=insiders) == (70, expected)


@pytest.mark.parametrize("upper", [10**6, 10**8])
def test_a_large_bound_leaks_nothing(upper: int) -> None:  # TB-49
    needs = {"II|C": Level(lower=5, upper=5)}
    found = solved(INVESTMENT, needs, Bounds.of(INVESTMENT, upper=upper))
    assert found == (37, {"III|A", "III|C", "II|A"})


def test_what_has_to_be_published_can_forbid_it() -> None:  # TB-91
    cell = INVESTMENT.place["II|C"]
    costs = costs_of(INVESTMENT, "value")
    with pytest.raises(Infeasible, match=r"'II\|C' is sensitive and has to be published"):
        suppress(INVESTMENT, {cell: WIDTH}, Bounds.of(INVESTMENT), costs, published=[cell])
    rest = [c for c in range(len(costs)) if c != cell]
    with pytest.raises(Infeasible, match=r"'II\|C' cannot be hidden"):
        suppress(INVESTMENT, {cell: WIDTH}, Bounds.of(INVESTMENT), costs, published=rest)


def test_nothing_sensitive_suppresses_nothing() -> None:
    assert solved(INVESTMENT, {}) == (0, set())
