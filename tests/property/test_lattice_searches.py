"""Searches of the lattice other than the optimal one, against the enumeration of every node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.contracts.model import GroupModel, ModelLogic
from anon_core.methods.lattice.lattice_decisions import SATISFIED, Classification
from anon_core.methods.lattice.nodes import CRITERIA
from anon_core.methods.lattice.recoding_models import LEVEL_MODELS
from anon_core.techniques.algorithms.datafly import Datafly
from anon_core.techniques.algorithms.incognito import Incognito
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.algorithms.samarati import Samarati, distance_matrix
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.enumeration import Enumeration
from tests.making import Case
from tests.often import often, times
from tests.strategies import cases, ks

BUDGETS = (0.0, 0.1, 0.3)
#: Tables that each kind of promise is tried on.
TABLES = times(160)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Case, int]:
    """Draw a table and a k it has rows enough for."""
    case = draw(cases(quasi=(1, 3)))
    return case, draw(ks(case))


def criterion(case: Case, found: Enumeration, node: naive.Node, which: str) -> Fraction:
    heights = [a.height for a in case.attributes]
    if which == "absolute distance":
        return Fraction(sum(node))
    if which == "relative distance":
        return sum((Fraction(n, h) for n, h in zip(node, heights, strict=True) if h), Fraction(0))
    if which == "distinct tuples":
        return Fraction(-found.kept[node])
    return Fraction(found.removed[node])


def best(case: Case, found: Enumeration, nodes: Sequence[naive.Node], which: str) -> naive.Node:
    return min(nodes, key=lambda n: (criterion(case, found, n, which), sum(n), n))


@pytest.mark.often
@pytest.mark.parametrize("promises", ["k", "k+l"])
def test_samarati_and_incognito_find_what_enumeration_finds(promises: str) -> None:
    decided = 0

    @settings(max_examples=TABLES)
    @given(asked=asked())
    def tried(asked: tuple[Case, int]) -> None:
        nonlocal decided
        case, k = asked
        least = 2 if promises == "k+l" else 0
        models: list[GroupModel] = [KAnonymity(k=k)]
        models += [DistinctLDiversity(l=2)] if least else []
        found = Enumeration(case, k, least, metrics=())
        problem = case.problem()
        for budget in BUDGETS:
            nodes = found.satisfied(budget)
            if not nodes:
                for technique in (Samarati, Incognito):
                    with pytest.raises(Infeasible) as refused:
                        technique(max_suppression=budget).run(problem, models, Context())
                    fewest = min(found.removed.values()) / found.size
                    assert refused.value.best == pytest.approx(fewest)
                continue
            decided += 1
            minimal = naive.minimal_nodes(nodes)
            lowest = {n for n in nodes if sum(n) == min(map(sum, nodes))}
            for which in CRITERIA:
                expected = best(case, found, sorted(minimal), which)
                for technique in (Samarati, Incognito):
                    outcome = technique(prefer=which, max_suppression=budget).run(
                        problem, models, Context()
                    )
                    account = outcome.account
                    assert account.node == dict(zip(case.quasi, expected, strict=True))
                    by_height = technique is Samarati and which == "absolute distance"
                    assert set(account.minimal) == (lowest if by_height else minimal)
                    assert account.proven
                    assert account.steps
                    assert outcome.release.suppressed == found.removed[expected]
                    assert outcome.release.grouping.classes == found.kept[expected]

    tried()
    assert decided > TABLES


@often(160)
@given(asked=asked())
def test_the_matrix_counts_what_the_classes_count(asked: tuple[Case, int]) -> None:
    case, k = asked
    problem = case.problem()
    found = Enumeration(case, k, metrics=())
    matrix = distance_matrix(problem, k)
    assert {n: matrix.removed(n) for n in found.removed} == found.removed
    try:
        by_classes = Samarati(max_suppression=0.2).run(problem, [KAnonymity(k=k)], Context())
    except Infeasible:
        return
    by_matrix = Samarati(max_suppression=0.2, check="distance vectors").run(
        problem, [KAnonymity(k=k)], Context()
    )
    assert by_matrix.account.node == by_classes.account.node
    assert by_matrix.account.minimal == by_classes.account.minimal
    assert by_matrix.account.steps == by_classes.account.steps


@pytest.mark.often
def test_nodes_decided_at_once_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.methods.lattice.node_decisions._FEW", 1)
    both = {True: 0, False: 0}

    @settings(max_examples=times(160))
    @given(asked=asked())
    def tried(asked: tuple[Case, int]) -> None:
        case, k = asked
        found = Enumeration(case, k, metrics=())
        for budget in (0.0, 0.3):
            nodes = found.satisfied(budget)
            if not nodes:
                continue
            search = Samarati(prefer="distinct tuples", max_suppression=budget)
            account = search.run(case.problem(), [KAnonymity(k=k)], Context()).account
            assert set(account.minimal) == naive.minimal_nodes(nodes)
            assert account.checked + account.inferred == account.nodes == len(found.removed)
            assert account.inferred >= 0
            assert all(found.removed[n] == rows for n, rows in account.looked.items())
            both[budget > 0] += 1

    tried()
    assert min(both.values()) > 16


@often(160)
@given(asked=asked())
def test_locally_minimal_nodes_are_the_lowest_of_a_path(asked: tuple[Case, int]) -> None:
    case, k = asked
    found = Enumeration(case, k, metrics=())
    nodes = set(found.satisfied(0.1))
    if not nodes:
        return
    search = Classification(case.problem(), [KAnonymity(k=k)], int(0.1 * found.size), Context())
    search.decide()
    assert {n for n in found.removed if search.status[n] == SATISFIED} == nodes
    below = {n: [m for m in found.removed if naive_step(m, n)] for n in nodes}
    expected = {n for n in nodes if not any(n) or any(m not in nodes for m in below[n])}
    assert set(search.locally_minimal()) == expected
    whole = Optimal(max_suppression=0.1, list_minimal=True)
    account = whole.run(case.problem(), [KAnonymity(k=k)], Context()).account
    assert set(account.locally_minimal) == expected
    assert set(search.minimal()) <= expected


def naive_step(low: naive.Node, high: naive.Node) -> bool:
    return all(a <= b for a, b in zip(low, high, strict=True)) and sum(high) - sum(low) == 1


@pytest.mark.often
def test_datafly_takes_the_steps_of_its_definition() -> None:
    climbed = 0

    @settings(max_examples=times(400))
    @given(asked=asked())
    def tried(asked: tuple[Case, int]) -> None:
        nonlocal climbed
        case, k = asked
        rows, attributes = case.rows, case.attributes
        node = [0] * len(attributes)
        while True:
            found = naive.classes(rows, attributes, tuple(node))
            gone = len(naive.removed_rows(found, naive.kept_classes(found, k)))
            if gone <= 0.1 * len(rows) + 1e-9 and gone < len(rows):
                break
            distinct = [
                len({a.labels[row[d]][node[d]] for row in rows}) if node[d] < a.height else -1
                for d, a in enumerate(attributes)
            ]
            if max(distinct) < 0:
                node = []
                break
            node[distinct.index(max(distinct))] += 1
        if not node:
            with pytest.raises(Infeasible, match="Raising every column"):
                Datafly(max_suppression=0.1).run(case.problem(), [KAnonymity(k=k)], Context())
            return
        outcome = Datafly(max_suppression=0.1).run(case.problem(), [KAnonymity(k=k)], Context())
        assert outcome.account.node == dict(zip(case.quasi, node, strict=True))
        assert outcome.release.suppressed == gone
        assert not outcome.account.proven
        climbed += sum(node) > 0

    tried()
    assert climbed > 15


@pytest.mark.often
@pytest.mark.parametrize("transformation", LEVEL_MODELS)
def test_the_model_matrix_by_enumeration(transformation: str) -> None:
    released = 0

    @settings(max_examples=times(120))
    @given(asked=asked())
    def tried(asked: tuple[Case, int]) -> None:
        nonlocal released
        case, k = asked
        found = Enumeration(case, k, metrics=("loss",))
        heights = [a.height for a in case.attributes]
        budget = 0.3 if transformation in ("AG_TS", "TS") else 0.0
        nodes = [
            n
            for n in found.satisfied(budget)
            if not (transformation == "TS" and any(n))
            and not (
                transformation == "AS"
                and any(level not in (0, h) for level, h in zip(n, heights, strict=True))
            )
        ]
        for technique in (Optimal, Samarati, Incognito):
            search = technique(max_suppression=0.3, transformation=transformation)
            if not nodes:
                with pytest.raises(Infeasible):
                    search.run(case.problem(), [KAnonymity(k=k)], Context())
                continue
            outcome = search.run(case.problem(), [KAnonymity(k=k)], Context())
            node = tuple((outcome.account.node or {}).values())
            assert node in nodes
            assert outcome.release.suppressed == found.removed[node]
            if technique is Optimal:
                assert outcome.account.cost == pytest.approx(float(found.best("loss", nodes)[0]))
            released += 1

    tried()
    assert released > 25


class TogetherAtMost(KAnonymity):
    """A promise that merging can break: classes of k to k + 3 rows."""

    logic: ClassVar[ModelLogic] = replace(KAnonymity.logic, monotone_merge=False)

    def per_group(self, stats, reference):  # type: ignore[no-untyped-def]
        return (stats.sizes >= self.k) & (stats.sizes <= self.k + 3)


@pytest.mark.often
@pytest.mark.parametrize("technique", [Samarati, Incognito])
def test_promises_that_merging_breaks_are_decided_node_by_node(
    technique: type[Samarati | Incognito],
) -> None:
    released = 0

    @settings(max_examples=times(160))
    @given(case=cases(quasi=(2, 2)))
    def tried(case: Case) -> None:
        nonlocal released
        nodes = []
        for node in naive.every_node(case.attributes):
            found = naive.classes(case.rows, case.attributes, node)
            kept = {c: m for c, m in found.items() if 2 <= len(m) <= 5}
            if kept and len(naive.removed_rows(found, kept)) <= 0.5 * len(case.rows) + 1e-9:
                nodes.append(node)
        search = technique(max_suppression=0.5)
        if not nodes:
            with pytest.raises(Infeasible):
                search.run(case.problem(), [TogetherAtMost(k=2)], Context())
            return
        account = search.run(case.problem(), [TogetherAtMost(k=2)], Context()).account
        assert tuple((account.node or {}).values()) == min(nodes, key=lambda n: (sum(n), n))
        assert {sum(n) for n in account.minimal} >= {min(map(sum, nodes))}
        released += 1

    tried()
    assert released > 10
