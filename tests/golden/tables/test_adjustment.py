"""Controlled adjustment: sensitive cells move by their level, totals add up, little else moves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from anon_core.base.errors import BadPlan, Infeasible
from anon_core.tables.publication import protect
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.rounding import adjusted
from anon_core.tables.suppressed import judge
from anon_core.tables.system import Bounds, Level, Number, System
from tests.golden.tables.test_audit import INVESTMENT
from tests.often import times
from tests.tabulated import CHILDREN, dataset_of, grid

FIVE = Level(lower=5, upper=5)
Known = dict[int, tuple[Number | None, Number | None]]


def moved(
    system: System, needs: dict[int, Level], known: Known | None = None
) -> tuple[int, tuple[int, ...]]:
    """Return the least total change and the table, after sums, levels and the bound are checked."""
    bounds = Bounds.of(system).with_known(known or {})
    values, bound = adjusted(system, needs, bounds)
    System(names=system.names, values=values, relations=system.relations)
    change = [z - int(a) for z, a in zip(values, system.values, strict=True)]
    for cell, level in needs.items():
        assert change[cell] <= -level.lower or change[cell] >= level.upper
    assert all(value >= 0 for value in values)
    least = sum(map(abs, change))
    assert bound <= least
    assert known is not None or bound == least
    return least, values


def test_one_cell_up_or_down() -> None:  # TB-70
    cell = INVESTMENT.place["II|C"]
    least, values = moved(INVESTMENT, {cell: FIVE})
    assert least == 20  # and not 10, of a cell that is raised and lowered at once
    assert values[cell] in (17, 27)
    assert sum(z != a for z, a in zip(values, INVESTMENT.values, strict=True)) == 4
    for limits, value in (((23, None), 27), ((None, 21), 17)):
        least, values = moved(INVESTMENT, {cell: FIVE}, {cell: limits})
        assert (least, values[cell]) == (20, value)


@pytest.mark.often
def test_the_least_of_all_directions() -> None:
    draw = np.random.default_rng(5)
    for _ in range(times(12, share=3)):
        table = grid(list("rst"), list("abc"), draw.integers(0, 30, (3, 3)).tolist())
        cells = draw.choice(len(table.names), 3, replace=False).tolist()
        needs = {
            c: Level(lower=int(draw.integers(1, 9)), upper=int(draw.integers(1, 9))) for c in cells
        }
        each: list[int] = []
        for signs in product((1, -1), repeat=3):
            known: Known = {
                c: (table.values[c], None) if sign > 0 else (None, table.values[c])
                for c, sign in zip(cells, signs, strict=True)
            }
            try:
                each.append(moved(table, needs, known)[0])
            except Infeasible:
                continue
        assert moved(table, needs)[0] == min(each)


def test_a_cell_that_cannot_fall_rises() -> None:
    table = grid(list("rs"), list("ab"), [[2, 9], [8, 7]])
    cell = table.place["r|a"]
    _, values = moved(table, {cell: FIVE})
    assert values[cell] == 7
    with pytest.raises(Infeasible, match=r"'r\|a' is sensitive and can move neither down by 5"):
        moved(table, {cell: FIVE}, {cell: (2, 2)})
    fixed: Known = {c: (v, v) for c, v in enumerate(table.values) if c != cell}
    with pytest.raises(Infeasible, match="No table adds up"):
        moved(table, {cell: FIVE}, fixed)


def recipe(protect: dict[str, object]) -> TableRecipe:
    return TableRecipe.from_mapping(
        {
            "table": {"columns": ["education", "race"]},
            "rules": [{"name": "threshold", "n": 3}],
            "protect": {"method": "adjust", **protect},
            "seed": 7,
        }
    )


def test_a_table_of_a_recipe_is_adjusted() -> None:
    judged = judge(dataset_of(CHILDREN), recipe({"published": ["Total|Total"]}), {})
    done = protect(judged)
    values = dict(zip(done.table.names, map(int, done.texts), strict=True))
    true = dict(zip(done.table.names, done.table.values, strict=True))
    assert values["Total|Total"] == 20
    assert all(values[done.table.names[c]] != done.table.values[c] for c in judged.findings)
    assert all(values[name] == 0 for name, value in true.items() if not value)
    assert done.texts == protect(judged).texts
    assert "no adjusted table has less than" in done.notes[0]


def test_what_is_published_is_a_cell_and_not_sensitive() -> None:
    with pytest.raises(BadPlan, match="published names 'low'"):
        protect(judge(dataset_of(CHILDREN), recipe({"published": ["low"]}), {}))
    with pytest.raises(Infeasible, match=r"'medium\|Total' is sensitive and can move neither"):
        protect(judge(dataset_of(CHILDREN), recipe({"published": ["medium|Total"]}), {}))
    with pytest.raises(BadPlan, match="method is 'adjusted'; allowed are"):
        recipe({"method": "adjusted"})


@pytest.mark.parametrize("method", ["random-rounding", "controlled-rounding", "cell-key"])
def test_cells_that_stay_are_refused_where_every_cell_changes(method: str) -> None:
    with pytest.raises(BadPlan, match=f"{method} changes any cell"):
        recipe({"method": method, "published": ["Total|Total"]})
