"""Rounding and cell keys: examples of the handbook and of other programs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from anon_core.base.errors import BadPlan, Infeasible
from anon_core.tables.audit import intervals
from anon_core.tables.axis import Axis
from anon_core.tables.publication import protect, report_of
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.rounding import (
    bounds_of_noise,
    bounds_of_rounded,
    cell_chance,
    cell_key,
    chances,
    controlled,
    conventional,
    known_of_rounded,
    noise,
    noise_row,
    perturbed,
    perturbed_amount,
    random_rounding,
    small_cells,
)
from anon_core.tables.suppressed import judge
from anon_core.tables.system import System
from anon_core.tables.table import relations_of
from tests.tabulated import dataset_of, grid

F = Fraction


def test_random_rounding() -> None:  # TB-50, TB-51
    third, two = F(1, 3), F(2, 3)
    assert [chances(v, 3) for v in range(7)] == [
        {0: 1}, {0: two, 3: third}, {0: third, 3: two}, {3: 1}, {3: two, 6: third},
        {3: third, 6: two}, {6: 1},
    ]  # fmt: skip
    for base, variance in ((3, 2), (5, 6)):
        drawn = chances(7, base)
        assert sum(z * p for z, p in drawn.items()) == 7
        assert sum((z - 7) ** 2 * p for z, p in drawn.items()) == variance
    assert random_rounding(7, 5, F(2, 5)) == 5
    assert random_rounding(7, 5, F(399, 1000)) == 10


def test_the_same_rows_are_rounded_the_same_way() -> None:
    assert cell_chance(7, [3, 1, 2]) == cell_chance(7, [1, 2, 3])
    assert len({cell_chance(7, [1]), cell_chance(8, [1]), cell_chance(7, [2])}) == 3


def test_margins_unpick_random_rounding() -> None:  # TB-52
    total = known_of_rounded([0], 3)[0]
    parts = known_of_rounded([3, 3], 3)
    tables = [
        pair
        for pair in product(*(range(lo, hi + 1) for lo, hi in parts))
        if total[0] <= sum(pair) <= total[1]
    ]
    assert tables == [(1, 1)]


def test_controlled_rounding() -> None:  # TB-53
    table = grid(list("ABC"), ["M", "F"], [[1, 0], [3, 3], [12, 20]])
    values, bound = controlled(table, 5)
    distance = sum(abs(z - int(a)) for z, a in zip(values, table.values, strict=True))
    assert (distance, bound) == (18, 18)
    assert all(z in (a // 5 * 5, -(-a // 5) * 5) for z, a in zip(values, table.values, strict=True))


def test_three_ways_may_have_no_rounding() -> None:  # TB-54
    axes = [
        Axis.from_tree(n, {"T": list(pair)})
        for n, pair in zip("123", ("ab", "cd", "ef"), strict=True)
    ]
    inner = {"ade": 0, "adf": 1, "bcf": 1, "bde": 1}
    values = []
    for x, y, z in product("Tab", "Tcd", "Tef"):
        values.append(
            sum(
                n
                for (i, j, k), n in inner.items()
                if x in ("T", i) and y in ("T", j) and z in ("T", k)
            )
        )
    system = System(
        names=tuple(map("|".join, product("Tab", "Tcd", "Tef"))),
        values=tuple(values),
        relations=relations_of(axes),
    )
    assert system.values[system.place["T|T|T"]] == 3
    with pytest.raises(Infeasible, match="within 0 steps"):
        controlled(system, 2)
    rounded, _ = controlled(system, 2, steps=1)
    assert all(z % 2 == 0 and abs(z - a) < 4 for z, a in zip(rounded, values, strict=True))


def test_what_a_rounded_value_tells() -> None:  # TB-55
    assert known_of_rounded([0, 5, 10, 15], 5) == [(0, 4), (1, 9), (6, 14), (11, 19)]
    assert known_of_rounded([0, 5, 10, 15], 5, 1) == [(0, 9), (0, 14), (1, 19), (6, 24)]
    for z, (low, high) in zip([0, 5, 10, 15], known_of_rounded([0, 5, 10, 15], 5), strict=True):
        assert [a for a in range(30) if z in chances(a, 5)] == list(range(low, high + 1))


def test_small_cells_add_up_again() -> None:  # TB-57
    inner = [[6, 0, 1, 3, 4], [1, 2, 3, 1, 2], [0, 1, 1, 0, 2]]
    table = grid(["r1", "r2", "r3"], ["c1", "c2", "c3", "c4", "c5"], inner)
    draws = [F(n % 7, 7) for n in range(len(table.names))]
    found = small_cells(table, 5, draws)
    System(names=table.names, values=found, relations=table.relations)
    same = {"r1|c1": 6, "r1|c2": 0, "r3|c1": 0, "r3|c4": 0}
    assert {name: found[table.place[name]] for name in same} == same
    small = [v for row in inner for v in row if 0 < v < 5]
    assert (len(small), sum(v * (5 - v) for v in small)) == (11, 54)
    assert all(found[table.place[f"r2|c{n}"]] in (0, 5) for n in range(1, 6))


def test_noise_of_a_count_of_one() -> None:  # TB-60, TB-66
    assert noise_row(1, 2, F(21, 20)) == {-1: F(61, 120), 1: F(19, 40), 2: F(1, 60)}
    assert noise_row(1, 2, F(27, 25)) == {-1: F(77, 150), 1: F(23, 50), 2: F(2, 75)}
    assert noise_row(0, 2, F(21, 20)) == {0: 1}
    with pytest.raises(BadPlan, match="allowed are 1 to 2"):
        noise_row(1, 2, F(9, 10))


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (2, {-2: 0.16155827, 0: 0.55565037, 1: 0.24246618, 2: 0.04032518}),
        (3, {-1: 0.41231301, 0: 0.28806097, 1: 0.18693903, 2: 0.11268699}),
        (4, {-2: 0.07012498, -1: 0.24450007, 0: 0.3707499, 1: 0.24450007, 2: 0.07012498}),
    ],
)
def test_noise_of_maximum_entropy(count: int, expected: dict[int, float]) -> None:  # TB-61
    found = noise_row(count, 2, F(21, 20))
    assert {v: float(p) for v, p in found.items()} == pytest.approx(expected, abs=1e-7)


def test_cell_keys() -> None:  # TB-62, TB-65
    key = cell_key([F(9, 10), F(3, 10), F(3, 5)])
    row = {-1: F(3, 10), 0: F(2, 5), 1: F(3, 10)}
    assert (key, noise(row, key)) == (F(4, 5), 1)
    assert perturbed(3, key, [{0: F(1)}] * 3 + [row]) == 4
    assert noise(row, F(3, 10)) == 0  # the upper end belongs to the next
    assert cell_key([F(2, 5), F(1, 2)]) == F(9, 10)


def test_magnitudes_lie_between_two_rows() -> None:  # TB-63
    rows = [{0: F(1)}, {0: F(1)}, {0: F(1)}, {1: F(1)}]
    assert perturbed_amount(300, 200, F(3, 5), F(4, 5), rows) == 360


def test_conventional_rounding() -> None:  # TB-92
    values = [1, 3, 12, 20, 16, 23, 6, 32, 39]
    assert [conventional(v, 5) for v in values] == [0, 5, 10, 20, 15, 25, 5, 30, 40]


def test_a_base_of_one_rounds_nothing() -> None:  # TB-91
    with pytest.raises(BadPlan, match="The base is 1; allowed are whole numbers from 2 up"):
        chances(3, 1)


def test_margins_narrow_bounded_noise() -> None:  # TB-64
    published, most = {"a": 2, "b": 4, "T": 9}, 2
    assert published["T"] != published["a"] + published["b"]
    system = System.of({"a": 3, "b": 4, "T": 7}, ["T=a+b"])
    limits = bounds_of_noise([published[name] for name in system.names], most)
    alone = [
        range(int(lo or 0), int(hi or 0) + 1)
        for lo, hi in zip(limits.lower, limits.upper, strict=True)
    ]
    assert (alone[0][0], alone[0][-1]) == (0, 4)
    pairs = [pair for pair in product(alone[0], alone[1]) if sum(pair) in alone[2]]
    assert pairs == [
        (1, 6), (2, 5), (2, 6), (3, 4), (3, 5), (3, 6), (4, 3), (4, 4), (4, 5), (4, 6),
    ]  # fmt: skip
    found = intervals(system, range(3), limits, whole=True)
    assert (found[0].low, found[0].high, found[0].exact) == (1, 4, True)


def test_margins_unpick_random_rounding_in_the_audit() -> None:  # TB-52
    system = System.of({"T": 2, "a": 1, "b": 1}, ["T=a+b"])
    found = intervals(system, range(3), bounds_of_rounded([0, 3, 3], 3), whole=True)
    assert [(one.low, one.high) for one in found.values()] == [(2, 2), (1, 1), (1, 1)]


@pytest.mark.parametrize("method", ["random-rounding", "small-cells", "cell-key"])
def test_what_a_reader_proves_is_what_all_tables_say(method: str) -> None:
    rows: dict[str, list[object]] = {"x": list("aaabbbbb"), "y": list("ppqpqqqq")}
    for seed in range(6):
        recipe = TableRecipe.from_mapping(
            {
                "table": {"columns": ["x", "y"]},
                "rules": [{"name": "threshold", "n": 3}],
                "protect": {"method": method, "base": 3},
                "seed": seed + 1,
            }
        )
        done = protect(judge(dataset_of(rows), recipe, {}))
        limits, table = done.limits, done.table
        assert limits is not None
        assert set(done.learned) == set(done.judged.findings)
        place = table.system.place
        inner = [place[name] for name in ("a|p", "a|q", "b|p", "b|q")]
        ranges = [range(int(limits.lower[c] or 0), int(limits.upper[c] or 0) + 1) for c in inner]
        seen: dict[int, set[int]] = {}
        for p, q, r, s in product(*ranges):
            whole = {
                "a|p": p, "a|q": q, "b|p": r, "b|q": s, "a|Total": p + q, "b|Total": r + s,
                "Total|p": p + r, "Total|q": q + s, "Total|Total": p + q + r + s,
            }  # fmt: skip
            kept = True
            for name, value in whole.items():
                low, high = limits.lower[place[name]], limits.upper[place[name]]
                kept = kept and (low is None or value >= low) and (high is None or value <= high)
            if kept:
                for name, value in whole.items():
                    seen.setdefault(place[name], set()).add(value)
        for cell, one in done.learned.items():
            assert table.values[cell] in seen[cell]
            assert (one.low, one.high) == (min(seen[cell]), max(seen[cell]))
        near = [c for c, one in done.learned.items() if one.low == one.high]
        assert f"learns {len(near)} of {len(done.learned)} sensitive cells" in " ".join(done.notes)
        proven = report_of(done)["a reader proves"]
        assert [one["cell"] for one in proven] == [table.names[c] for c in done.judged.findings]
