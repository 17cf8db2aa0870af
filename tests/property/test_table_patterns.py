"""Cutting planes find what trying every set finds; what is suppressed passes the exact audit."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from anon_core.base.errors import Infeasible
from anon_core.tables import reader, suppression
from anon_core.tables.audit import Insider, audit
from anon_core.tables.axis import Axis
from anon_core.tables.product_moves import (
    INSIDE,
    OUTSIDE,
    PAIRS,
    Moves,
    Witness,
    cheapest,
    product_moves,
    sides_of,
)
from anon_core.tables.recipe import Protection, TableRecipe
from anon_core.tables.sensitivity import Threshold
from anon_core.tables.suppressed import Hidden, hide, judge
from anon_core.tables.suppression import costs_of, suppress
from anon_core.tables.system import Bounds, Level, System
from anon_core.tables.table import Layout, relations_of
from tests.often import times
from tests.tabulated import dataset_of, grid


@pytest.mark.often
@pytest.mark.parametrize("number", range(times(100, share=20)))
def test_cutting_planes_equal_all_subsets(number: int) -> None:
    rng = np.random.default_rng(number)
    shape = (2, 2 + int(rng.random() < 0.4))
    inner = rng.integers(0, 12, shape) * (rng.random(shape) > 0.2)
    system = grid(list("xyz")[: shape[0]], list("abc")[: shape[1]], inner.tolist())
    least = int(rng.integers(0, 2))
    bounds = Bounds.of(system, lower=least)
    positive = [c for c, v in enumerate(system.values) if v > 0]
    if not positive:
        return
    chosen = sorted(rng.choice(positive, min(2, len(positive)), replace=False).tolist())
    needs = {}
    for cell in chosen:
        value = int(system.values[cell])
        lower = min(int(rng.integers(0, 4)), value - least)
        needs[cell] = Level(lower=lower, upper=int(rng.integers(0, 4)), sliding=1)
    insiders: tuple[Insider, ...] = ()
    if rng.random() < 0.4:
        value = system.values[chosen[0]]
        insiders = (Insider(name="u", known={chosen[0]: (value, value)}),)
    costs = costs_of(system, "value")
    others = [c for c, v in enumerate(system.values) if c not in needs and v >= least]
    sets = [extra for size in range(len(others) + 1) for extra in combinations(others, size)]
    sets.sort(key=lambda extra: sum(costs[c] for c in extra))
    every = {*needs, *others}
    if not audit(system, every, needs, bounds, insiders=insiders).safe:
        sets = []  # to publish less never helps a reader: no smaller set is safe either
    # For the same reason a cell that all others cannot do without is in every set that is safe.
    needed = {
        c
        for c in others
        if sets and not audit(system, every - {c}, needs, bounds, insiders=insiders).safe
    }
    sets = [extra for extra in sets if needed <= set(extra)]
    best = next(
        (
            sum(costs[c] for c in extra)
            for extra in sets
            if audit(system, {*needs, *extra}, needs, bounds, insiders=insiders).safe
        ),
        None,
    )
    if best is None:
        with pytest.raises(Infeasible):
            suppress(system, needs, bounds, costs, insiders=insiders)
        return
    found = suppress(system, needs, bounds, costs, insiders=insiders)
    assert found.optimal
    assert found.cost == best
    assert audit(system, found.cells, needs, bounds, insiders=insiders).safe


@pytest.mark.often
@pytest.mark.parametrize("number", range(times(6, share=2)))
def test_product_moves_hide_each_cell_they_serve_from_every_reader(number: int) -> None:
    rng = np.random.default_rng(number)
    trees: list[dict[str, list[str]]] = [
        {"T": ["a", "b", "c"], "a": ["a1", "a2"], "b": ["b1", "b2", "b3"]},
        {"T": ["x", "y"], "x": ["x1", "x2"]},
        {"T": ["u", "v", "w"]},
    ]
    axes = [Axis.from_tree("c", tree) for tree in trees[: 2 + number % 2]]
    shape = [len(axis.labels) for axis in axes]
    values = np.zeros(shape, dtype=np.int64)
    for leaf in product(*(axis.leaves for axis in axes)):
        chains = [
            [n for n in axis.chains[:, node] if n >= 0]
            for axis, node in zip(axes, leaf, strict=True)
        ]
        values[np.ix_(*chains)] += rng.integers(0, 9)
    system = System(
        names=tuple(map(str, range(values.size))),
        values=tuple(values.ravel().tolist()),
        relations=relations_of(axes),
    )
    bounds = Bounds.of(system, lower=0)
    positive = [c for c, v in enumerate(system.values) if v > 0]
    chosen = rng.choice(positive, 5, replace=False).tolist()
    needs = {c: Level(lower=min(2, int(system.values[c])), upper=2) for c in chosen}
    needs[chosen[0]] = Level(sliding=1)
    costs, slack = costs_of(system, "value"), [int(v) for v in system.values]
    found = product_moves(axes, system, needs, costs, slack)
    assert found.witnesses.keys() | set(found.unserved) == needs.keys()
    served = {c: needs[c] for c in found.witnesses}
    assert served
    assert audit(system, found.hidden, served, bounds).safe
    begun = suppress(system, needs, bounds, costs, optimal=False, start=found)
    assert audit(system, begun.cells, needs, bounds).safe
    if len(shape) == 2:
        best = suppress(system, needs, bounds, costs)
        assert suppress(system, needs, bounds, costs, start=found).cost == best.cost


def above(axis: Axis, leaf: int) -> list[int]:
    return [leaf] if axis.parents[leaf] < 0 else [leaf, *above(axis, axis.parents[leaf])]


def plain_move(
    axes: list[Axis], cell: tuple[int, ...], price: np.ndarray, room: np.ndarray, up: int, down: int
) -> dict[tuple[int, ...], int] | None:
    """Return the cheapest move of those that are tried, each written down cell by cell."""
    most, pairs = OUTSIDE[len(axes)], PAIRS[len(axes)]
    if room[cell] < down:
        return None
    tried: list[list[dict[int, int]]] = []
    for at, axis in enumerate(axes):

        def there(leaf: int, at: int = at) -> tuple[int, ...]:
            return (*cell[:at], leaf, *cell[at + 1 :])

        inside = [leaf for leaf in axis.leaves if cell[at] in above(axis, leaf)]
        others = [leaf for leaf in axis.leaves if leaf not in inside and room[there(leaf)] >= up]
        inside.sort(key=lambda leaf: -room[there(leaf)])
        others.sort(key=lambda leaf: (price[there(leaf)], -room[there(leaf)]))
        own = inside[:INSIDE]
        found: list[dict[int, int]] = []
        if cell[at] == 0:
            found = [dict.fromkeys(above(axis, leaf), 1) for leaf in own]
        for other in others[:most] if cell[at] else ():
            for leaf in own:
                one, two = above(axis, leaf), above(axis, other)
                plus = {n: 1 for n in one if n not in two}
                found.append(plus | {n: -1 for n in two if n not in one})
        tried.append(found[:pairs] if cell[at] else found)
    best: dict[tuple[int, ...], int] | None = None
    least = None
    for parts in product(*tried):
        move = {
            nodes: int(np.prod([part[n] for part, n in zip(parts, nodes, strict=True)]))
            for nodes in product(*parts)
        }
        cost = sum(int(price[one]) for one in move)
        fits = all(room[one] >= max(down if sign > 0 else up, 0) for one, sign in move.items())
        if fits and (least is None or cost < least):
            best, least = move, cost
    return best


@pytest.mark.parametrize("number", range(4))
def test_the_cheapest_move_is_that_of_writing_down_each(number: int) -> None:
    rng = np.random.default_rng(number)
    trees: list[dict[str, list[str]]] = [
        {"T": ["a", "b", "c"], "a": ["a1", "a2"], "b": ["b1", "b2", "b3"]},
        {"T": ["x", "y"], "x": ["x1", "x2"]},
        {"T": ["u", "v"]},
    ]
    axes = [Axis.from_tree("c", tree) for tree in trees[: 2 + number % 2]]
    shape = tuple(len(axis.labels) for axis in axes)
    strides = [int(np.prod(shape[at + 1 :])) for at in range(len(shape))]
    price, room = rng.integers(0, 9, shape), rng.integers(-1, 12, shape)
    found = 0
    for cell in product(*map(range, shape)):
        for up, down in ((2, 2), (3, 1), (1, 4)):
            at = int(np.ravel_multi_index(cell, shape))
            fast = cheapest(
                at, cell, strides, sides_of(axes), price.ravel(), room.ravel(), (up, down)
            )
            plain = plain_move(axes, cell, price, room, up, down)
            assert (fast is None) == (plain is None)
            if fast is not None and plain is not None:
                moved = dict(zip(fast[0].tolist(), fast[1].tolist(), strict=True))
                assert moved == {int(np.ravel_multi_index(k, shape)): n for k, n in plain.items()}
                found += 1
    assert found > 10


def test_a_change_that_keeps_not_every_sum_is_no_witness() -> None:
    system = grid("xy", "ab", [[4, 6], [3, 9]])
    cells = system.cells(["x|a", "x|b"])
    wrong = Moves(
        hidden=cells,
        witnesses={min(cells): Witness(change={min(cells): 1, max(cells): -1}, up=2, down=2)},
        unserved=(),
    )
    needs, bounds = {min(cells): Level(lower=2, upper=2)}, Bounds.of(system, lower=0)
    found = suppress(system, needs, bounds, costs_of(system, "value"), start=wrong)
    assert audit(system, found.cells, needs, bounds).safe
    assert len(found.cells) == 4


def test_what_is_known_of_a_system_stays_true_with_sums() -> None:
    system = grid("xyz", "abc", [[4, 6, 1], [3, 9, 2], [5, 8, 7]])
    tree = relations_of([Axis.from_tree("c", {"T": ["A", "B"], "A": ["a", "b"], "B": ["B1"]})])
    repeated = System(names=tuple("TAabBC"), values=(10, 6, 2, 4, 4, 4), relations=tree)
    for one, sums in ((system, [(1, 2), (5, 6, 9)]), (repeated, [(2, 4), (3, 5)])):
        more = one.with_sums(sums)
        plain = System(names=more.names, values=more.values, relations=more.relations)
        assert (more.same, more.distinct) == (plain.same, plain.distinct)
        assert list(map(sorted, more.relations_of)) == list(map(sorted, plain.relations_of))
        assert more.closed([4]) == {c for c, f in enumerate(plain.same) if f == plain.same[4]}


def test_what_is_asked_once_is_answered_as_if_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # Respondents who are alone in a suppressed cell may read, each of them.
    recipe = TableRecipe(
        layout=Layout(columns=("a", "b")),
        rules=(Threshold(n=2),),
        protection=Protection(levels="cap"),
    )
    rows = {"a": list("pppppqqqq"), "b": list("xyyzzxxyz")}
    asked: list[int] = []
    solver = optimize.linprog

    def counting(*given: Any, **more: Any) -> Any:
        asked[-1] += 1
        return solver(*given, **more)

    monkeypatch.setattr(reader, "linprog", counting)
    monkeypatch.setattr(optimize, "linprog", counting)
    found: list[Hidden] = []
    for slow in (False, True):
        if slow:
            monkeypatch.setattr(reader, "SMALL", 0)
            monkeypatch.setattr(suppression, "SMALL", 0)
            monkeypatch.setattr(suppression, "_SEEN", 0)
        asked.append(0)
        found.append(hide(judge(dataset_of(rows), recipe, {})))
    quick, plain = found
    assert quick.pattern == plain.pattern
    assert quick.audit == plain.audit
    assert quick.sums == plain.sums
    assert quick.audit.readers == 4
    assert asked[0] < 0.75 * asked[1]
