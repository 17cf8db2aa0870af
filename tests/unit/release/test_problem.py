"""The problem: what the searches see of a table does not depend on the order of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.errors import BadInput, BadPlan, InputChanged
from anon_core.data.frequency import FrequencySet, dense_rank, frequency_set
from anon_core.data.hierarchy import flat, from_rows
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.release.problem import Problem, build_problem
from tests.often import often

SECRET = "Zebulon"
ROLES = Roles(identifier=("name",), quasi=("age", "zip"), sensitive=("pay",), insensitive=("cat",))


def dataset(**cells: Sequence[object]) -> Dataset:
    return Dataset.from_frame(pd.DataFrame({n: list(c) for n, c in cells.items()}))


def people() -> Dataset:
    return dataset(
        name=["p", "q", "r", "s", "t"],
        age=[30, 25, 30, 25, 30],
        zip=["b", "a", "b", None, "a"],
        pay=["low", "high", "high", "low", "low"],
        cat=["u", "v", "u", "v", "u"],
    )


def keys(problem: Problem) -> Counter[tuple[str, ...]]:
    f = problem.frequency
    leaves = [problem.hierarchies[name].leaves for name in f.columns]
    return Counter(
        {
            tuple(pool[c] for pool, c in zip(leaves, key, strict=True)): int(count)
            for key, count in zip(f.codes.tolist(), f.count, strict=True)
        }
    )


# The frequency set


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 1 << 20, 1 << 31]), min_size=1, max_size=6))
    cells = [st.sampled_from(sorted({0, size // 2, size - 1})) for size in sizes]
    return draw(st.lists(st.tuples(*cells).map(list), min_size=1, max_size=20)), sizes


def arrays(table: list[list[int]], width: int) -> list[np.ndarray]:
    return [np.array([row[i] for row in table], dtype=np.int32) for i in range(width)]


@often(200)
@given(tables(), st.data())
def test_distinct_rows_are_counted(
    drawn: tuple[list[list[int]], list[int]], data: st.DataObject
) -> None:
    table, sizes = drawn
    width = len(sizes)
    quasi = data.draw(st.integers(1, width))
    names = [f"c{i}" for i in range(width)]
    f = frequency_set(names, arrays(table, width), sizes, quasi=quasi)
    counted = Counter(map(tuple, table))
    assert f.codes.tolist() == [list(key) for key in sorted(counted)]
    assert f.count.tolist() == [counted[key] for key in sorted(counted)]
    assert [f.codes[k].tolist() for k in f.row_key] == table
    assert (f.rows, f.columns, f.quasi) == (len(table), tuple(names), quasi)
    part = Counter(tuple(row[:quasi]) for row in table)
    assert f.run_codes.tolist() == [list(key) for key in sorted(part)]
    assert f.run_count.tolist() == [part[key] for key in sorted(part)]
    assert [f.run_codes[r].tolist() for r in f.run] == f.codes[:, :quasi].tolist()
    assert f.run[f.run_start].tolist() == list(range(len(part)))

    mixed = data.draw(st.permutations(table))
    again = frequency_set(names, arrays(mixed, width), sizes, quasi=quasi)
    assert again.codes.tolist() == f.codes.tolist()
    assert again.count.tolist() == f.count.tolist()


def test_keys_wider_than_a_word_rank_in_order() -> None:
    generator = np.random.default_rng(5)
    sizes = [1 << 31] * 5
    columns = [generator.choice([0, 1, (1 << 31) - 1], 400).astype(np.int32) for _ in sizes]
    rank, first = dense_rank(columns, sizes)
    wanted = sorted(set(zip(*(c.tolist() for c in columns), strict=True)))
    place = {key: i for i, key in enumerate(wanted)}
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    assert rank.tolist() == [place[row] for row in rows]
    assert [rows[i] for i in first] == wanted


def test_no_columns_have_no_rank() -> None:
    rank, first = dense_rank([], [])
    assert (len(rank), len(first)) == (0, 0)


# Encoding


def test_what_the_searches_see() -> None:
    problem = build_problem(people(), ROLES)
    assert problem.quasi == ("age", "zip")
    assert problem.sensitive == ("pay",)
    assert problem.rows == 5
    assert set(problem.hierarchies) == {"age", "zip", "pay", "cat"}
    f = problem.frequency
    assert (f.columns, f.quasi) == (("age", "zip", "pay"), 2)
    assert keys(problem) == {
        ("25", "a", "high"): 1,
        ("25", "", "low"): 1,
        ("30", "a", "low"): 1,
        ("30", "b", "low"): 1,
        ("30", "b", "high"): 1,
    }
    assert f.run_count.tolist() == [1, 1, 1, 2]
    assert [h.column for h in problem.quasi_hierarchies] == ["age", "zip"]
    assert {n: c.tolist() for n, c in problem.leaf_rows.items()} == {
        "age": [2, 3],
        "zip": [2, 2, 1],
    }
    assert problem.leaf_codes("zip").tolist() == [1, 0, 1, 2, 0]
    assert problem.leaf_codes("cat").tolist() == [0, 1, 0, 1, 0]
    assert problem.population is None


def test_a_column_that_is_quasi_and_sensitive_stands_once() -> None:
    problem = build_problem(people(), Roles(quasi=("age", "pay"), sensitive=("pay", "cat")))
    assert problem.frequency.columns == ("age", "pay", "cat")


def test_a_given_hierarchy_is_used() -> None:
    d = people()
    levels = [["c", "bc", "*"], ["b", "bc", "*"], ["a", "a-", "*"]]
    problem = build_problem(d, ROLES, {"zip": from_rows(d.column("zip"), levels)})
    assert problem.hierarchies["zip"].height == 2
    assert problem.leaf_codes("zip").tolist() == [1, 2, 1, 3, 2]
    assert problem.leaf_rows["zip"].tolist() == [0, 2, 2, 1]


def test_a_hierarchy_of_another_column_has_no_effect() -> None:
    d = people()
    other = from_rows(d.column("pay"), [["low", "x", "*"], ["high", "x", "*"]])
    assert build_problem(d, ROLES, {"pay": other}).hierarchies["pay"].height == 1
    with pytest.raises(BadInput, match="no column 'paid'"):
        build_problem(d, ROLES, {"paid": other})


def test_a_hierarchy_of_another_table() -> None:
    d = people()
    other = flat(dataset(zip=["a", "c"]).column("zip"))
    with pytest.raises(InputChanged) as caught:
        build_problem(d, ROLES, {"zip": other})
    assert "'zip'" in caught.value.message
    assert "1 of its values" in caught.value.message
    assert "very table" in caught.value.remedy
    assert caught.value.values == ("b",)
    full = flat(dataset(zip=["a", "b"]).column("zip"))
    with pytest.raises(InputChanged, match="does not know its missing values"):
        build_problem(d, ROLES, {"zip": full})


def test_roles_are_checked() -> None:
    with pytest.raises(BadInput, match="no column 'agee'"):
        build_problem(people(), Roles(quasi=("agee",)))
    with pytest.raises(BadPlan, match="No column is marked"):
        build_problem(people(), Roles(sensitive=("pay",)))


def test_a_fingerprint_of_data_roles_and_hierarchies() -> None:
    d = people()
    levels = [["a", "ab", "*"], ["b", "ab", "*"]]
    other = people().with_kinds({"cat": "ordered"})
    prints = [
        build_problem(d, ROLES).fingerprint,
        build_problem(other, ROLES).fingerprint,
        build_problem(d, Roles(quasi=("age", "zip"), sensitive=("pay",))).fingerprint,
        build_problem(d, Roles(quasi=("zip", "age"), sensitive=("pay",))).fingerprint,
        build_problem(d, ROLES, {"zip": from_rows(d.column("zip"), levels)}).fingerprint,
    ]
    assert len(set(prints)) == len(prints)
    assert build_problem(people(), ROLES).fingerprint == prints[0]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.sampled_from("xy")),
        min_size=1,
        max_size=25,
    ),
    st.data(),
)
def test_the_order_of_rows_has_no_influence(
    cells: list[tuple[int, str | None, str]], data: st.DataObject
) -> None:
    def built(rows: Sequence[tuple[int, str | None, str]]) -> Problem:
        frame = pd.DataFrame(rows, columns=["age", "zip", "pay"])
        return build_problem(
            Dataset.from_frame(frame, kinds={"age": "number", "zip": "text"}),
            Roles(quasi=("age", "zip"), sensitive=("pay",)),
        )

    one, two = built(cells), built(data.draw(st.permutations(cells)))
    assert one.frequency.codes.tolist() == two.frequency.codes.tolist()
    assert one.frequency.count.tolist() == two.frequency.count.tolist()
    assert keys(one) == Counter((str(a), z or "", p) for a, z, p in cells)


# Populations


def test_a_population_by_size() -> None:
    population = build_problem(people(), ROLES, population=1000).population
    assert population is not None
    assert (population.size, population.codes, population.tuple_count) == (1000, None, None)


def test_a_population_smaller_than_the_table() -> None:
    for small in (4, dataset(age=[30], zip=["a"])):
        with pytest.raises(BadPlan) as caught:
            build_problem(people(), ROLES, population=small)
        assert "table has 5 rows" in caught.value.message
        assert "size of the population" in caught.value.remedy


def test_a_population_table() -> None:
    table = dataset(
        zip=["b", "a", SECRET, None, "a", "a"], age=["30.0", "25", "99", "25", "25", "30.00"]
    )
    problem = build_problem(people(), ROLES, population=table)
    population = problem.population
    assert population is not None
    assert population.codes is not None
    assert population.tuple_count is not None
    assert population.size == 6
    # Columns in the roles' order, age first; 99 and the unknown ZIP are leaves of its own.
    assert population.hierarchies["age"].leaves == ("25", "30", "99")
    assert population.hierarchies["zip"].leaves == ("a", "b", SECRET, "")
    assert population.codes.tolist() == [[0, 0], [0, 3], [1, 0], [1, 1], [2, 2]]
    assert population.tuple_count.tolist() == [2, 1, 1, 1, 1]
    assert population.row_tuple is not None
    assert population.row_tuple.tolist() == [3, 0, 4, 1, 0, 2]
    assert problem.hierarchies["age"].leaves == ("25", "30")
    assert problem.hierarchies["zip"].leaves == ("a", "b", "")


def test_a_population_with_missing_values_that_the_table_has_not() -> None:
    table = dataset(age=[1, 2, 3], zip=["a", None, "b"])
    problem = build_problem(
        dataset(age=[1, 2], zip=["a", "b"]), Roles(quasi=("zip",)), population=table
    )
    assert problem.population is not None
    assert problem.population.codes is not None
    assert problem.population.codes.tolist() == [[0], [1], [2]]
    assert problem.population.hierarchies["zip"].leaves == ("a", "b", "")
    assert not problem.hierarchies["zip"].has_missing


@pytest.mark.parametrize("named", [{"job": ["a"] * 9}, {"age": [1] * 9, "ZIP": ["a"] * 9}])
def test_a_population_that_only_seems_to_have_a_quasi_identifier(named: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"no column .*'zip'"):
        build_problem(people(), ROLES, population=dataset(**named))


def test_an_empty_frequency_set_counts_no_rows() -> None:
    empty = FrequencySet(
        columns=(),
        quasi=0,
        codes=np.empty((0, 0), np.int32),
        count=np.empty(0, np.int64),
        row_key=np.empty(0, np.int64),
    )
    assert empty.rows == 0
