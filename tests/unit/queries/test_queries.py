"""Workloads of count queries: what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.base.errors import AnonError, BadPlan
from anon_core.methods.queries.count_queries import (
    Workload,
    asking,
    interval_length,
    most_predicates,
    workload,
)
from anon_core.release.problem import Problem
from tests.making import PATIENTS, Case


def wide_case(rows: int = 30, **roles: tuple[str, ...]) -> Case:
    rng = np.random.default_rng(5)
    sizes = {"a": 20, "b": 7, "c": 3, "s": 5, "t": 4}
    columns: dict[str, list[str | None]] = {
        name: [*map(str, range(10, 10 + n)), *(str(v) for v in rng.integers(10, 10 + n, rows - n))]
        for name, n in sizes.items()
    }
    return Case(
        columns=columns,
        quasi=roles.get("quasi", ("a", "b", "c")),
        sensitive=roles.get("sensitive", ("s",)),
        kinds={"a": "number", "b": "ordered", "c": "text", "s": "text", "t": "text"},
    )


def draw(problem: Problem, seed: int = 0, **given: float) -> Workload:
    return workload(problem, generator=np.random.default_rng(seed), **given)  # type: ignore[arg-type]


def asked(found: Workload) -> list[set[str]]:
    return [{found.columns[c] for c in line if c >= 0} for line in found.column.tolist()]


def test_every_query_asks_about_quasi_identifiers_and_the_sensitive_column() -> None:
    found = draw(wide_case().problem(), queries=300, predicates=3)
    assert found.queries == 300
    assert all(len(columns) == 3 and "s" in columns for columns in asked(found))
    pairs = {frozenset(columns - {"s"}) for columns in asked(found)}
    assert pairs == {frozenset("ab"), frozenset("ac"), frozenset("bc")}


def test_zero_predicates_are_all_there_can_be() -> None:
    problem = wide_case().problem()
    assert most_predicates(problem) == 4
    assert all(columns == set("abcs") for columns in asked(draw(problem, queries=20)))


def test_without_a_sensitive_column_quasi_identifiers_are_asked_about() -> None:
    problem = wide_case(sensitive=()).problem()
    assert most_predicates(problem) == 3
    assert all(len(columns) == 2 for columns in asked(draw(problem, predicates=2, queries=20)))


def test_each_of_several_sensitive_columns_is_asked_about() -> None:
    found = draw(wide_case(sensitive=("s", "t")).problem(), queries=50, predicates=1)
    assert {frozenset(columns) for columns in asked(found)} == {frozenset("s"), frozenset("t")}


def test_a_sensitive_quasi_identifier_is_asked_about_once() -> None:
    problem = wide_case(sensitive=("b",)).problem()
    assert most_predicates(problem) == 3
    found = draw(problem, queries=40, predicates=2)
    assert {frozenset(c) for c in asked(found)} == {frozenset("ab"), frozenset("bc")}


def test_intervals_have_the_length_of_the_selectivity_and_lie_anywhere() -> None:
    problem = wide_case().problem()
    found = draw(problem, queries=400, predicates=2, selectivity=0.25)
    length = found.hi - found.lo + 1
    for place, name in enumerate(found.columns):
        size = len(problem.hierarchies[name].leaves)
        here = found.column == place
        assert set(length[here].tolist()) == {interval_length(size, 0.25, 2)}
        assert set(found.lo[here].tolist()) == set(range(size - size // 2 + 1))


def test_a_selectivity_of_one_asks_for_everything() -> None:
    found = draw(wide_case().problem(), queries=5, selectivity=1.0)
    assert set(found.lo.ravel().tolist()) == {0}


@pytest.mark.parametrize(
    ("size", "selectivity", "predicates", "length"),
    [(2, 0.1, 3, 1), (1, 0.1, 1, 1), (100, 0.01, 2, 10), (1000, 0.001, 3, 100), (10, 1.0, 4, 10)],
)
def test_interval_length(size: int, selectivity: float, predicates: int, length: int) -> None:
    assert interval_length(size, selectivity, predicates) == length


def test_a_seed_repeats_and_another_differs() -> None:
    problem = wide_case().problem()
    one, same, other = draw(problem), draw(problem), draw(problem, seed=1)
    for name in ("column", "lo", "hi"):
        assert np.array_equal(getattr(one, name), getattr(same, name))
    assert not np.array_equal(one.lo, other.lo)


@pytest.mark.parametrize(
    "given",
    [{"predicates": 5}, {"predicates": -1}, {"queries": 0}, {"selectivity": 0.0}],
    ids=str,
)
def test_what_cannot_be_drawn_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(BadPlan) as caught:
        draw(wide_case().problem(), **given)
    assert caught.value.remedy


def test_too_many_predicates_say_how_many_there_can_be() -> None:
    with pytest.raises(BadPlan, match="from 1 to 3"):
        draw(PATIENTS.problem(), predicates=4)


def made(column: list[int], lo: list[int], hi: list[int]) -> Workload:
    shape = (1, -1)
    return Workload(
        columns=("a", "b"),
        column=np.array(column, dtype=np.int32).reshape(shape),
        lo=np.array(lo, dtype=np.int32).reshape(shape),
        hi=np.array(hi, dtype=np.int32).reshape(shape),
    )


@pytest.mark.parametrize(
    ("column", "lo", "hi"),
    [
        ([2], [0], [0]),
        ([0, 0], [0, 0], [1, 1]),
        ([0], [2], [1]),
        ([0], [-1], [1]),
        ([0, 1], [0], [1]),
    ],
    ids=["no such column", "twice", "empty", "before the first leaf", "shapes"],
)
def test_a_workload_that_cannot_be_read_is_refused(
    column: list[int], lo: list[int], hi: list[int]
) -> None:
    with pytest.raises(AnonError):
        made(column, lo, hi)


def test_queries_of_several_lengths_written_by_hand() -> None:
    found = asking([{"x": (3, 5), "y": (0, 0)}, {"y": (1, 1)}, {}])
    assert found.columns == ("x", "y")
    assert asked(found) == [{"x", "y"}, {"y"}, set()]
    lo, hi, which = found.intervals(1)
    assert list(zip(lo.tolist(), hi.tolist(), strict=True)) == [(0, 0), (1, 1)]
    assert which.tolist() == [0, 1, -1]
    assert asked(found.part(1, 3)) == [{"y"}, set()]
