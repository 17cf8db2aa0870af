"""The optimal search against the enumeration of every node, on lattices small enough for that."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.registry import family, find
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel, ModelLogic
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.release.outcome import Outcome
from anon_core.techniques.algorithms import optimal
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.enumeration import METRICS, Enumeration
from tests.making import Case
from tests.often import crossed, often, times
from tests.strategies import cases, ks

BUDGETS = (0.0, 0.02, 1.0)  # and one more, drawn for each lattice
#: Lattices that each metric and budget is tried on, with each kind of promise.
LATTICES = times(240, share=16)


def test_the_costs_enumerated_here_are_all_there_are() -> None:
    costs = {n for n, m in family("metric").items() if issubclass(m, CellCost | SizeCost)}
    (choices,) = [p.options for p in Optimal.parameters() if p.name == "metric"]
    assert set(METRICS) == costs == set(choices)


def check(case: Case, outcome: Outcome, all_nodes: Enumeration, metric: str, budget: float) -> None:
    nodes = all_nodes.satisfied(budget)
    cost, best = all_nodes.best(metric, nodes)
    account = outcome.account
    assert account.cost == pytest.approx(float(cost), abs=1e-12, rel=1e-12)
    assert account.proven
    assert account.node == dict(zip(case.quasi, best, strict=True))
    if account.minimal:  # without being asked to, the search leaves them open
        assert set(account.minimal) == naive.minimal_nodes(nodes)
    assert len(account.minimal) == len(set(account.minimal))
    assert account.nodes == len(all_nodes.removed)
    assert outcome.release.suppressed == all_nodes.removed[best]
    technique = find("metric", metric)()
    assert isinstance(technique, Metric)
    measured = technique.measure(outcome.release.problem, outcome.release, Context())
    assert measured.value == pytest.approx(float(cost), abs=1e-12, rel=1e-12)


@pytest.mark.often
@pytest.mark.parametrize("promises", ["k", "k+l"])
def test_the_search_finds_what_enumeration_finds(promises: str) -> None:
    decided = spared = 0

    # Of 100 rows and more, 2 % are two rows at least.
    @settings(max_examples=LATTICES)
    @given(
        case=cases(quasi=(1, 3)) | cases(rows=(100, 180), quasi=(1, 3)),
        budget=st.floats(0.0, 0.5).map(lambda b: round(b, 3)),
        data=st.data(),
    )
    def tried(case: Case, budget: float, data: st.DataObject) -> None:
        nonlocal decided, spared
        budgets = sorted([*BUDGETS, budget])
        k = data.draw(ks(case))
        models: list[GroupModel] = [KAnonymity(k=k)]
        if promises == "k+l":
            models.append(DistinctLDiversity(l=2))
        problem = case.problem()
        all_nodes = Enumeration(case, k, 2 if promises == "k+l" else 0)
        for metric in METRICS:
            before = np.inf
            for budget in budgets:
                search = Optimal(metric=metric, max_suppression=budget)
                if not all_nodes.satisfied(budget):
                    with pytest.raises(Infeasible) as refused:
                        search.run(problem, models, Context())
                    fewest = min(all_nodes.removed.values()) / all_nodes.size
                    assert refused.value.best == pytest.approx(fewest)
                    continue
                outcome = search.run(problem, models, Context())
                check(case, outcome, all_nodes, metric, budget)
                if metric == "loss":  # which nodes are minimal does not depend on the metric
                    complete = dataclasses.replace(search, list_minimal=True)
                    listed = complete.run(problem, models, Context())
                    check(case, listed, all_nodes, metric, budget)
                    assert listed.account.minimal
                decided += 1
                spared += budget == 0.02 and outcome.release.suppressed > 0
                # A larger budget must never cost utility.
                assert outcome.account.cost is not None
                assert outcome.account.cost <= before + 1e-12
                before = outcome.account.cost

    tried()
    assert decided > LATTICES * len(METRICS)
    assert spared > 0  # 2 % matters


@pytest.mark.often
@crossed(
    "promises, worth, bits",
    ["k", "k+l"],
    [1, 16, 10**6],  # from the first rare row to the last
    [62, 5],  # keys of one word, and of several
    share=2,
)
def test_many_nodes_are_closed_at_once_as_they_are_one_by_one(
    promises: str, worth: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_core.methods.lattice.lattice.WORD_BITS", bits)
    monkeypatch.setattr("anon_core.methods.lattice.node_decisions._FEW", 1)
    monkeypatch.setattr("anon_core.methods.lattice.node_decisions._WORTH", worth)
    monkeypatch.setattr("anon_core.methods.lattice.node_decisions._WORK", 40)
    monkeypatch.setattr("anon_core.methods.lattice.lattice._STOPS", 8)
    saved = 0

    @settings(max_examples=times(60))
    @given(case=cases(quasi=(2, 4)), data=st.data())
    def tried(case: Case, data: st.DataObject) -> None:
        nonlocal saved
        k = data.draw(ks(case))
        models: list[GroupModel] = [KAnonymity(k=k)]
        if promises == "k+l":
            models.append(DistinctLDiversity(l=2))
        all_nodes = Enumeration(case, k, 2 if promises == "k+l" else 0, metrics=("loss",))
        if not all_nodes.satisfied(0.0):
            with pytest.raises(Infeasible) as refused:
                Optimal().run(case.problem(), models, Context())
            fewest = min(all_nodes.removed.values()) / all_nodes.size
            assert refused.value.best == pytest.approx(fewest)
            return
        outcome = Optimal().run(case.problem(), models, Context())
        check(case, outcome, all_nodes, "loss", 0.0)
        account = outcome.account
        assert account.minimal
        assert account.checked + account.inferred == account.nodes
        assert all(all_nodes.removed[node] == rows for node, rows in account.looked.items())
        saved += account.inferred

    tried()
    assert saved > 50


@pytest.mark.often
@pytest.mark.parametrize("walked", [True, False])
def test_one_pass_and_best_first_agree(walked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.methods.lattice.node_decisions._FEW", 1)
    monkeypatch.setattr(
        "anon_core.methods.lattice.node_decisions._MOST_WALKED", 10**9 if walked else 0
    )
    refusals = passes = 0

    @settings(max_examples=times(80))
    @given(case=cases(quasi=(1, 3)), data=st.data())
    def tried(case: Case, data: st.DataObject) -> None:
        nonlocal refusals, passes
        k = data.draw(st.sampled_from([2, 3, 4, len(case.rows) + 1]))
        problem, all_nodes = case.problem(), Enumeration(case, k)
        for metric in METRICS:
            for budget in (0.1, 0.3):
                search = Optimal(metric=metric, max_suppression=budget, list_minimal=True)
                if not all_nodes.satisfied(budget):
                    with pytest.raises(Infeasible) as refused:
                        search.run(problem, [KAnonymity(k=k)], Context())
                    fewest = min(all_nodes.removed.values()) / all_nodes.size
                    assert refused.value.best == pytest.approx(fewest)
                    refusals += 1
                    continue
                outcome = search.run(problem, [KAnonymity(k=k)], Context())
                check(case, outcome, all_nodes, metric, budget)
                assert outcome.account.minimal
                if walked and budget * all_nodes.size >= 1:
                    assert outcome.account.checked == outcome.account.nodes
                    passes += 1
                looked = outcome.account.looked
                assert all(all_nodes.removed[node] == rows for node, rows in looked.items())

    tried()
    assert refusals > 10
    assert (passes > 20) == walked


@pytest.mark.often
@pytest.mark.parametrize("promises", ["k", "k+l"])
def test_large_tables_are_searched_alike(promises: str, monkeypatch: pytest.MonkeyPatch) -> None:
    climbed = 0
    climb = optimal._BestFirst._climbed

    def counted(own: optimal._BestFirst, node: tuple[int, ...], gone: int) -> tuple[int, ...]:
        nonlocal climbed
        found = climb(own, node, gone)
        climbed += found != node
        return found

    monkeypatch.setattr(optimal._BestFirst, "_climbed", counted)

    @settings(max_examples=times(60))
    @given(case=cases(rows=(20, 120), quasi=(3, 4)), budget=st.sampled_from((0.02, 0.1)))
    def tried(case: Case, budget: float) -> None:
        models: list[GroupModel] = [KAnonymity(k=3)]
        if promises == "k+l":
            models.append(DistinctLDiversity(l=2))
        problem, search = case.problem(), Optimal(metric="loss", max_suppression=budget)
        found: list[tuple[object, object] | str] = []
        for many in (1, 10**9):
            monkeypatch.setattr(optimal, "_MANY", many)
            monkeypatch.setattr(optimal, "MOST_LISTED", 0 if many == 1 else 10**9)
            try:
                account = search.run(problem, models, Context()).account
            except Infeasible:
                found.append("infeasible")
            else:
                assert account.proven
                found.append((account.node, account.cost))
        assert found[0] == found[1]

    tried()
    assert climbed


@dataclasses.dataclass(frozen=True, kw_only=True)
class LateAfter(Context):
    """A deadline that passes at the n-th look at the clock."""

    after: int
    looks: list[None] = dataclasses.field(default_factory=list[None])

    def out_of_time(self) -> bool:
        self.looks.append(None)
        return len(self.looks) > self.after


@pytest.mark.often
def test_out_of_time_it_says_how_far_from_proven_it_is() -> None:
    open_ = 0

    @settings(max_examples=times(160))
    @given(
        case=cases(rows=(10, 60), quasi=(3, 3)),
        metric=st.sampled_from(METRICS),
        budget=st.sampled_from([0.0, 0.1, 1.0]),
    )
    def tried(case: Case, metric: str, budget: float) -> None:
        nonlocal open_
        every = Enumeration(case, 2, metrics=(metric,))
        problem = case.problem()
        nodes = every.satisfied(budget)
        if not nodes:
            return
        best = float(every.best(metric, nodes)[0])
        search = Optimal(metric=metric, max_suppression=budget)
        for after in (0, 1, 3):
            context = LateAfter(after=after) if after else Context()
            if not after:  # someone takes the first release found
                context.so_far.taken.set()
            outcome = search.run(problem, [KAnonymity(k=2)], context)
            account = outcome.account
            if (standing := context.so_far.standing) is not None:
                assert account.cost <= standing.cost
                assert standing.bound <= best + 1e-12
            node = tuple((account.node or {}).values())
            assert node in nodes
            assert account.cost == pytest.approx(float(every.costs[metric][node]), abs=1e-12)
            assert outcome.release.suppressed == every.removed[node]
            assert (account.bound is None) == account.proven
            if account.bound is None:
                assert account.cost == pytest.approx(best, abs=1e-12, rel=1e-12)
            else:
                assert account.bound <= best + 1e-12
                assert account.bounded == 0  # what is left was not ruled out
                open_ += 1

    tried()
    assert open_ > 8


@often(120)
@given(case=cases(quasi=(2, 2)))
def test_a_single_sensitive_column_and_one_of_two(case: Case) -> None:
    rows, attributes = case.rows, case.attributes
    needs = [(case.column("s1"), 2)]
    satisfied = [
        node
        for node in naive.every_node(attributes)
        if not naive.removed_rows(
            found := naive.classes(rows, attributes, node),
            naive.kept_classes(found, 1, needs),
        )
    ]
    search, model = Optimal(), DistinctLDiversity(l=2, column="s1")
    if not satisfied:
        with pytest.raises(Infeasible):
            search.run(case.problem(), [model], Context())
        return
    outcome = search.run(case.problem(), [model], Context())
    assert set(outcome.account.minimal) == naive.minimal_nodes(satisfied)


def test_a_good_class_may_be_lost_by_merging_it_with_one_of_a_common_value() -> None:
    """Of the two rows that may go, those of v1 go; a level up, g takes v0 with it."""
    case = Case(
        columns={"q": [f"v{i // 2}" for i in range(8)], "s": list("abaabcbc")},
        quasi=("q",),
        sensitive=("s",),
        levels={"q": [("v0", "g", "*"), ("v1", "g", "*"), ("v2", "h", "*"), ("v3", "h", "*")]},
    )
    models = [KAnonymity(k=2), FrequencyLDiversity(l=2)]
    search = Optimal(max_suppression=0.25, list_minimal=True)
    account = search.run(case.problem(), models, Context()).account
    assert account.node == {"q": 0}
    assert account.cost == pytest.approx(0.25)
    assert account.minimal == ((0,),)


@pytest.mark.often
def test_frequency_l_diversity_with_a_budget_is_decided_node_by_node() -> None:
    decided = lost = 0

    @settings(max_examples=times(120))
    @given(case=cases(rows=(8, 40), quasi=(3, 3), sensitive="abcd"))
    def tried(case: Case) -> None:
        nonlocal decided, lost
        rows, attributes, values = case.rows, case.attributes, case.column("s0")
        assume(2 * max(Counter(values).values()) <= len(values))  # refused before the search
        costs: dict[naive.Node, Fraction] = {}
        for node in naive.every_node(attributes):
            found = naive.classes(rows, attributes, node)
            kept = {c: m for c, m in found.items() if naive.rare(m, [(values, 2)])}
            if kept and len(naive.removed_rows(found, kept)) <= 0.5 * len(rows) + 1e-9:
                covers = naive.covers_at(kept, attributes, node)
                costs[node] = naive.cost("loss", rows, attributes, covers)
        models = [FrequencyLDiversity(l=2, column="s0")]
        outcome = Optimal(max_suppression=0.5).run(case.problem(), models, Context())
        assert outcome.account.cost == pytest.approx(float(min(costs.values())), abs=1e-12)
        decided += 1
        lost += len(costs) < len(list(naive.every_node(attributes)))

    tried()
    assert decided > 15
    assert lost > 3


class TogetherAtMost(KAnonymity):
    """A promise that merging can break: classes of k to k + 3 rows."""

    logic: ClassVar[ModelLogic] = replace(KAnonymity.logic, monotone_merge=False)

    def per_group(self, stats, reference):  # type: ignore[no-untyped-def]
        return (stats.sizes >= self.k) & (stats.sizes <= self.k + 3)


@pytest.mark.often
@pytest.mark.parametrize("metric", METRICS)
def test_promises_that_merging_breaks_are_decided_node_by_node(metric: str) -> None:
    decided = 0

    @settings(max_examples=times(100))
    @given(case=cases(quasi=(2, 2)))
    def tried(case: Case) -> None:
        nonlocal decided
        rows, attributes = case.rows, case.attributes
        costs: dict[naive.Node, Fraction] = {}
        for node in naive.every_node(attributes):
            found = naive.classes(rows, attributes, node)
            kept = {c: m for c, m in found.items() if 2 <= len(m) <= 5}
            if kept and len(naive.removed_rows(found, kept)) <= 0.5 * len(rows) + 1e-9:
                covers = naive.covers_at(kept, attributes, node)
                costs[node] = naive.cost(metric, rows, attributes, covers)
        search = Optimal(metric=metric, max_suppression=0.5)
        if not costs:
            with pytest.raises(Infeasible):
                search.run(case.problem(), [TogetherAtMost(k=2)], Context())
            return
        outcome = search.run(case.problem(), [TogetherAtMost(k=2)], Context())
        assert outcome.account.cost == pytest.approx(float(min(costs.values())), abs=1e-12)
        decided += 1

    tried()
    assert decided > 5
