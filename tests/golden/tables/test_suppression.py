"""The cheapest further suppressions: patterns of the literature, found by cutting planes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_core.base.context import Context, Standing
from anon_core.base.errors import Infeasible
from anon_core.tables.audit import Insider, audit, intervals
from anon_core.tables.reader import Reader
from anon_core.tables.recipe import Protection, TableRecipe
from anon_core.tables.sensitivity import PPercent, Threshold
from anon_core.tables.suppressed import hide, judge
from anon_core.tables.suppression import (
    _Search,  # pyright: ignore[reportPrivateUsage]
    costs_of,
    suppress,
)
from anon_core.tables.system import Bounds, Level, System, union
from anon_core.tables.table import Layout
from tests.golden.tables.test_audit import CHILDREN, INVESTMENT, SMALL, counties
from tests.tabulated import dataset_of, grid

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


TREE = System.of(
    {"T": 53, "A": 25, "B": 28, "A1": 2, "A2": 9, "A3": 14, "B1": 7, "B2": 1, "B3": 20},
    ["T=A+B", "A=A1+A2+A3", "B=B1+B2+B3"],
)


def test_a_tree() -> None:  # TB-28
    needs = {"A1": Level(lower=2, upper=2), "B2": Level(lower=1, upper=2)}
    assert solved(TREE, needs) == (16, {"A2", "B1"})


@pytest.mark.parametrize(
    ("table", "cell", "level", "signs", "cost"),
    [
        (INVESTMENT, "II|C", 5, {"II|C": 1, "II|A": -1, "III|C": -1, "III|A": 1}, 37),
        (TREE, "A", 2, {"A": 1, "A2": 1, "B": -1, "B1": -1}, 44),
    ],
)
@pytest.mark.parametrize("optimal", [True, False])
def test_a_product_move_is_a_witness_both_ways(  # TB-29
    table: System, cell: str, level: int, signs: dict[str, int], cost: int, optimal: bool
) -> None:
    hidden, at = table.cells(signs), table.place[cell]
    found = suppress(
        table,
        {at: Level(lower=level, upper=level)},
        Bounds.of(table),
        costs_of(table, "value"),
        published=set(range(len(table.names))) - hidden,  # nothing but the move is left
        optimal=optimal,
    )
    assert (found.cells, found.cost) == (hidden, cost)
    reader = Reader(table, hidden, Bounds.of(table))
    for sign in (1, -1):
        side = reader.side(at, sign)
        assert side.exact
        moved = {table.names[c]: x for c, x in side.witness.items()}
        assert moved == {name: sign * s * side.reached for name, s in signs.items()}
        # The same move by the level is a table too, while every value is at least the level.
        assert all(table.values[c] >= level for c in hidden)
        assert side.reached >= level


def test_intervals_of_a_product_move_in_a_tree() -> None:  # TB-29
    hidden = TREE.cells(["A", "A2", "B", "B1"])
    found = intervals(TREE, hidden, Bounds.of(TREE))
    assert {TREE.names[c]: (one.low, one.high) for c, one in found.items()} == {
        "A": (16, 32), "A2": (0, 16), "B": (21, 37), "B1": (0, 16),
    }  # fmt: skip


def test_a_cut_and_its_strengthening() -> None:  # TB-45
    table, cell = INVESTMENT, INVESTMENT.place["II|C"]
    bounds = Bounds(lower=(0,) * 16, upper=tuple(v + 1000 for v in table.values))
    costs = costs_of(table, "value")
    search = _Search(table, {cell: Level(upper=5)}, bounds, costs, [], [], Context())
    (task,) = search.tasks
    row = next(n for n, r in enumerate(table.distinct) if table.names[r.parent] == "II|T")
    cut = search.coefficients(task, 1, {row: 1})
    names = [table.names[c] for c in search.firsts]
    raw = {name: c for name, c in zip(names, cut, strict=True) if c}
    assert raw == {"II|A": 8, "II|B": 19, "II|T": 1000}
    assert search.add(task, cut)
    # Kept divided by the level: 5 x(II|A) + 5 x(II|B) + 5 x(II|T) >= 5.
    (kept,) = search.cuts
    assert {names[n]: c * 5 for n, c in kept} == dict.fromkeys(raw, 5)
    # A two-hundredth of a suppression satisfies the raw cut, and does not satisfy this one.
    part = {"II|T": Fraction(1, 200)}
    assert sum(c * part.get(name, 0) for name, c in raw.items()) >= 5
    assert sum(c * part.get(names[n], 0) for n, c in kept) < 1
    assert not search.add(task, cut)


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


def test_a_search_that_is_stopped_returns_a_safe_pattern_with_its_bound() -> None:
    draw = np.random.default_rng(5)
    inner = draw.integers(1, 60, (8, 8)).tolist()
    system = grid([f"r{n}" for n in range(8)], [f"c{n}" for n in range(8)], inner)
    bounds, costs = Bounds.of(system, lower=0), costs_of(system, "value")
    small = [c for c, v in enumerate(system.values) if 4 <= v <= 8]
    needs = {c: Level(lower=3, upper=3) for c in small}
    seen = list[Standing]()

    def taken(_share: float, _stage: str) -> None:
        if context.so_far.standing is not None:
            seen.append(context.so_far.standing)
            context.so_far.taken.set()

    context = Context(progress=taken)
    found = suppress(system, needs, bounds, costs, context=context)
    whole = suppress(system, needs, bounds, costs)
    assert seen
    assert found.bound is not None
    assert found.bound <= whole.cost <= found.cost == seen[0].cost
    assert whole.optimal
    assert audit(system, found.cells, needs, bounds).safe


def test_a_search_for_the_best_names_what_it_cannot_hide() -> None:
    rows = {"a": list("pppqqqqq"), "b": list("xxyxxyyy"), "v": [5, 4, 100, 100, 3, 50, 50, 50]}
    recipe = TableRecipe(
        layout=Layout(columns=("a", "b"), value="v"),
        rules=(PPercent(p=60),),
        protection=Protection(levels="cap"),
    )
    with pytest.raises(Infeasible, match=r"'p\|Total' cannot be hidden from respondent 3, who is"):
        hide(judge(dataset_of(rows), recipe, {}))


def test_nothing_is_left_to_be_taken_once_the_search_is_over() -> None:
    rows = {"a": list("pppppqqqqq"), "b": list("xyyzzxxyyz")}
    recipe = TableRecipe(layout=Layout(columns=("a", "b")), rules=(Threshold(n=2),))
    seen: list[bool] = []
    context = Context(progress=lambda _, __: seen.append(context.so_far.standing is not None))
    hide(judge(dataset_of(rows), recipe, {}), context)
    assert any(seen)
    assert context.so_far.standing is None
