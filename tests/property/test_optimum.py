"""The optimum of small tables, against every partition one by one, and below every technique."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.methods.lattice.nodes import Nodes, rows_removable
from anon_core.methods.partition.exhaustive_partition import MOST_ROWS, optimum
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.making import PATIENTS, Case
from tests.often import often, times
from tests.strategies import cases


def partitions(rows: list[int]) -> Iterator[list[list[int]]]:
    """Return every way to part rows into groups."""
    if not rows:
        yield []
        return
    first, *others = rows
    for rest in partitions(others):
        yield [[first], *rest]
        for place in range(len(rest)):
            yield [*rest[:place], [first, *rest[place]], *rest[place + 1 :]]


def price(case: Case, members: list[int]) -> float:
    """Return the loss of a group whose cells are the lowest nodes that cover it."""
    total = 0.0
    for d, a in enumerate(case.attributes):
        values = {case.rows[i][d] for i in members}
        level = naive.covering_level(a, values) if len(values) > 1 else 0
        cover = a.under(a.labels[next(iter(values))][level], level)
        total += float(naive.loss_of(a, cover))
    return total * len(members)


def least(case: Case, k: int, values: int, removable: int) -> float:
    """Return the least loss of any partition; one group may be suppressed instead."""
    secret, wide = case.column("s0"), len(case.attributes)
    best = float("inf")

    def good(group: list[int]) -> bool:
        return len(group) >= k and len({secret[i] for i in group} - {None}) >= values

    for groups in partitions(list(range(len(case.rows)))):
        for gone in (None, *range(len(groups))):
            lost = [] if gone is None else groups[gone]
            kept = [g for i, g in enumerate(groups) if i != gone]
            if kept and len(lost) <= removable and all(map(good, kept)):
                best = min(best, sum(price(case, g) for g in kept) + len(lost) * wide)
    return best / (len(case.rows) * wide)


@pytest.mark.kernels
@often(40)
@given(
    case=cases(rows=(2, 7), quasi=(2, 2), kinds=("text", "number"), sensitive="abcd"),
    k=st.integers(2, 3),
    removable=st.integers(0, 2),
    values=st.integers(2, 3),
)
def test_no_partition_costs_less(case: Case, k: int, removable: int, values: int) -> None:
    models = [KAnonymity(k=k), DistinctLDiversity(l=values, column="s0")]
    problem = case.problem()
    release = Nodes(problem, [], 0, Context()).release((0, 0))  # as it is: all cells are nodes
    found = optimum(problem, models, release, removable, Context())
    expected = least(case, k, values, removable)
    if expected == float("inf"):
        assert found is None
        return
    assert found is not None
    assert set(found.cells.values()) == {"nodes"}
    assert found.cost == pytest.approx(expected)


@pytest.mark.often
def test_no_technique_publishes_anything_cheaper() -> None:
    """Whatever technique, with whatever cells: its release costs no less than its optimum."""
    values, met = 0, set[str]()

    @settings(max_examples=times(16))
    @given(case=cases(rows=(6, MOST_ROWS), quasi=(2, 2)))
    def tried(case: Case) -> None:
        nonlocal values
        case = replace(case, sensitive=("s0",))
        levels: dict[str, Any] = {n: [list(r) for r in rows] for n, rows in case.levels.items()}
        for name, kind in family("algorithm").items():
            assert issubclass(kind, Algorithm)
            if kind.shape.permutes or kind.shape.mechanism or kind.needs.public:
                continue
            plan = case.plan(algorithm={"name": name}, models=[{"name": "k-anonymity", "k": 2}])
            try:
                result = run(plan, case.dataset, levels, assess=False)
            except AnonError:
                continue
            removable = rows_removable(result.problem, plan.algorithm)
            best = optimum(result.problem, plan.models, result.release, removable, Context())
            if best is None:
                assert kind.shape.averages or result.release.replaced
                continue
            values += 1
            assert best.cost <= best.release + 1e-12
            if best.release < best.cost + 1e-12:
                met.add(name)

    tried()
    assert values
    assert met  # some release is the optimum


@often(24)
@given(case=cases(rows=(4, MOST_ROWS), quasi=(2, 2)))
def test_the_exact_method_meets_it(case: Case) -> None:
    algorithm = {"name": "cell-suppression", "transformation": "CG", "method": "exact"}
    plan = case.plan(algorithm=algorithm, models=[{"name": "k-anonymity", "k": 2}])
    levels = {n: [list(line) for line in lines] for n, lines in case.levels.items()}
    result = run(plan, case.dataset, levels)
    assert result.optimum is not None
    assert result.optimum.cost == pytest.approx(result.optimum.release)
    assert result.optimum.release == pytest.approx(result.measures["loss"].value)
    assert figures_of(result)["optimum"]["cost"] == result.optimum.cost


def test_larger_tables_and_permuted_columns_have_none() -> None:
    many = {name: (cells * MOST_ROWS)[: MOST_ROWS + 1] for name, cells in PATIENTS.columns.items()}
    case = replace(PATIENTS, columns=many)
    result = run(case.plan(algorithm={"name": "mondrian"}), case.dataset)
    assert result.optimum is None
    assert figures_of(result)["optimum"] is None
