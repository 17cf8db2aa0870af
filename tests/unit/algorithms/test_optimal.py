"""The optimal search: its account, its refusals, its progress."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled, Infeasible
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.making import PATIENTS, Case, random_case

PROBLEM = PATIENTS.problem()


def test_the_account_adds_up() -> None:
    account = Optimal().run(PROBLEM, [KAnonymity(k=2)], Context()).account
    assert account.proven
    assert account.node == {"age": 0, "zip": 1}
    assert account.minimal == ((0, 1),)
    assert account.cost == pytest.approx(1 / 6)
    assert (account.nodes, account.checked + account.inferred) == (9, 9)
    assert account.bounded >= 0
    assert account.partition is None


@pytest.mark.parametrize(
    ("metric", "node", "cost", "suppressed"),
    [
        # Three cells in four of two classes of three stay; removing two rows would lose 1/3.
        ("loss", {"age": 0, "zip": 1}, 1 / 6, 0),
        # Two classes of three cost 18; two of two and two suppressed rows 8 + 12.
        ("discernibility", {"age": 0, "zip": 1}, 18, 0),
        # Two classes either way, so the lower node wins.
        ("average-class-size", {"age": 0, "zip": 0}, 3, 2),
    ],
)
def test_rows_are_removed_where_that_costs_less(
    metric: str, node: dict[str, int], cost: float, suppressed: int
) -> None:
    search = Optimal(metric=metric, max_suppression=2 / 6)
    outcome = search.run(PROBLEM, [KAnonymity(k=2)], Context())
    assert outcome.account.node == node
    assert outcome.account.cost == pytest.approx(cost)
    assert outcome.release.suppressed == suppressed


def test_equal_costs_go_to_the_lower_then_the_first_node() -> None:
    case = Case(
        columns={"a": list("xyxy"), "b": list("uvuv")},
        quasi=("a", "b"),
        kinds={"a": "text", "b": "text"},
    )
    account = (
        Optimal(metric="discernibility").run(case.problem(), [KAnonymity(k=3)], Context()).account
    )
    # Every row has a twin, and no three rows are alike below the top.
    assert account.node == {"a": 1, "b": 1}
    assert account.minimal == ((1, 1),)
    account = (
        Optimal(metric="discernibility").run(case.problem(), [KAnonymity(k=2)], Context()).account
    )
    assert account.node == {"a": 0, "b": 0}


def test_a_budget_of_everything_still_publishes_something() -> None:
    case = Case(columns={"q": list("abcdef")}, quasi=("q",), kinds={"q": "text"})
    release = Optimal(max_suppression=1.0).run(case.problem(), [KAnonymity(k=3)], Context()).release
    assert (release.suppressed, release.view.rows) == (0, 6)


def test_binary_shares_do_not_lose_a_row() -> None:
    """0.29 · 100 is a hair below 29 in binary."""
    case = Case(
        columns={"q": ["a"] * 71 + [f"b{i}" for i in range(29)]}, quasi=("q",), kinds={"q": "text"}
    )
    outcome = Optimal(max_suppression=0.29).run(case.problem(), [KAnonymity(k=2)], Context())
    assert outcome.account.node == {"q": 0}
    assert outcome.release.suppressed == 29


def test_infeasible_says_what_the_best_node_would_remove() -> None:
    case = dataclasses.replace(PATIENTS, columns=PATIENTS.columns | {"illness": list("aaaaab")})
    problem = case.problem()
    with pytest.raises(Infeasible) as refused:
        Optimal(max_suppression=0.5).run(
            problem, [KAnonymity(k=2), DistinctLDiversity(l=3)], Context()
        )
    assert refused.value.best == 1.0
    assert (
        "with at most 3 of 6 rows suppressed; the best removes 6 (100.0%" in refused.value.message
    )
    one = Case(columns={"q": ["a", "b"]}, quasi=("q",), kinds={"q": "text"})
    with pytest.raises(Infeasible) as refused:
        Optimal().run(one.problem(), [KAnonymity(k=3)], Context())
    assert refused.value.best == 1.0


@pytest.mark.parametrize("metric", ["loss", "discernibility"])
def test_progress_rises_from_0_to_1(metric: str) -> None:
    seen: list[tuple[float, str]] = []
    context = Context(progress=lambda share, stage: seen.append((share, stage)))
    case = random_case(np.random.default_rng(149), rows=200, quasi=4, kinds=("number", "ordered"))
    Optimal(metric=metric, max_suppression=0.3).run(case.problem(), [KAnonymity(k=2)], context)
    shares = [share for share, _ in seen]
    assert shares
    assert all(0 <= a <= b <= 1 for a, b in pairwise(shares))
    assert {stage for _, stage in seen} <= {"Searching the lattice", "Proving the best node"}


def test_the_search_stops_within_a_few_nodes_of_being_cancelled() -> None:
    case = random_case(np.random.default_rng(151), rows=200, quasi=4, kinds=("number", "ordered"))
    context = Context()
    reports: list[str] = []

    def stop(share: float, stage: str) -> None:
        reports.append(stage)
        context.cancel.set()

    with pytest.raises(Cancelled):
        Optimal(max_suppression=0.3).run(
            case.problem(), [KAnonymity(k=2)], dataclasses.replace(context, progress=stop)
        )
    assert len(reports) == 1
