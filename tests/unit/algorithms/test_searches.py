"""Searches of the lattice: their accounts, refusals and limits."""

from __future__ import annotations

import numpy as np
import pytest

import anon_core.techniques.algorithms.samarati as distance
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.methods.lattice.recoding_models import restricted
from anon_core.techniques.algorithms.datafly import Datafly
from anon_core.techniques.algorithms.incognito import Incognito
from anon_core.techniques.algorithms.samarati import Samarati, distance_matrix
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.making import PATIENTS, Case, random_case

PROBLEM = PATIENTS.problem()


def test_the_accounts_of_the_searches() -> None:
    account = Samarati().run(PROBLEM, [KAnonymity(k=2)], Context()).account
    assert account.node == {"age": 0, "zip": 1}
    # Of height 4 in all, 2 is tried first; what is lower is searched on.
    assert [dict(s) for s in account.steps] == [
        {"height": 2, "nodes": 3, "checked": 1, "solution": "yes"},
        {"height": 1, "nodes": 2, "checked": 1, "solution": "yes"},
        {"height": 0, "nodes": 1, "checked": 1, "solution": "no"},
    ]
    account = Incognito().run(PROBLEM, [KAnonymity(k=2)], Context()).account
    assert [s["columns"] for s in account.steps] == [1, 2]
    assert account.checked == sum(int(s["checked"]) for s in account.steps)
    assert account.inferred == sum(int(s["marked"]) for s in account.steps)
    for s in account.steps:
        assert int(s["nodes"]) == int(s["pruned"]) + int(s["candidates"])
        assert int(s["candidates"]) == int(s["checked"]) + int(s["marked"])
    account = Datafly(max_suppression=0).run(PROBLEM, [KAnonymity(k=2)], Context()).account
    assert account.node == {"age": 0, "zip": 1}
    assert [dict(s) for s in account.steps] == [
        {"step": 0, "rows left over": 2, "column raised": "zip"},
        {"step": 1, "rows left over": 0, "column raised": ""},
    ]


def test_the_matrix_answers_for_k_anonymity_of_small_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = Samarati(check="distance vectors")
    with pytest.raises(BadPlan, match="answers for k-anonymity alone"):
        search.run(PROBLEM, [KAnonymity(k=2), DistinctLDiversity(l=2)], Context())
    monkeypatch.setattr(distance, "_ROOM", 5)
    with pytest.raises(BadPlan, match="at most 5 are kept"):
        distance_matrix(PROBLEM, 2)


@pytest.mark.parametrize("transformation", ["TS", "AS", "AG", "AG_TS"])
def test_the_matrix_counts_where_columns_may_not_rise(transformation: str) -> None:
    for model, budget in ((2, 0.0), (2, 0.4), (3, 1.0)):
        found: list[object] = []
        for check in ("classes", "distance vectors"):
            search = Samarati(max_suppression=budget, check=check, transformation=transformation)
            try:
                outcome = search.run(PROBLEM, [KAnonymity(k=model)], Context())
                found.append((outcome.account.node, outcome.release.suppressed))
            except Infeasible as error:
                found.append(error.best)
        assert found[0] == found[1]


def test_a_table_without_a_solution_at_any_height() -> None:
    case = Case(columns={"q": ["a", "b"]}, quasi=("q",), kinds={"q": "text"})
    for technique in (Samarati, Incognito, Datafly):
        with pytest.raises(Infeasible) as refused:
            technique().run(case.problem(), [KAnonymity(k=3)], Context())
        assert refused.value.best == 1.0
        assert refused.value.remedy


def test_levels_of_a_restricted_problem() -> None:
    blanks = restricted(PROBLEM, "AS")
    assert blanks.levels == ((0, 2), (0, 2))
    assert blanks.original((1, 0)) == (2, 0)
    assert [h.height for h in blanks.problem.quasi_hierarchies] == [1, 1]
    assert not blanks.removes_rows
    rows = restricted(PROBLEM, "TS")
    assert rows.levels == ((0,), (0,))
    assert rows.removes_rows
    assert restricted(PROBLEM, "AG").problem is PROBLEM


@pytest.mark.parametrize("technique", [Samarati, Incognito, Datafly])
def test_progress_is_told(technique: type[Samarati | Incognito | Datafly]) -> None:
    seen: list[float] = []
    context = Context(progress=lambda share, stage: seen.append(share))
    case = random_case(np.random.default_rng(149), rows=200, quasi=4, kinds=("number", "ordered"))
    technique(max_suppression=0.3).run(case.problem(), [KAnonymity(k=2)], context)
    assert seen
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= 1
