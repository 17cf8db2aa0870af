"""Searches steered by models of sensitive values, against every choice of levels one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.registry import find
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel
from anon_core.release.private_reference import reference_of
from anon_core.techniques.algorithms.incognito import Incognito
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.algorithms.samarati import Samarati
from tests import diversity_twin as twin
from tests import naive
from tests.diversity_twin import counted
from tests.making import Case
from tests.often import often
from tests.strategies import numbered_cases

F = Fraction
Group = Sequence[Any]
#: Whether a group keeps a promise; given are the group and the whole table.
Judge = Callable[[Group, Group], bool]

_DELTA = Decimal("1.3")
PROMISES: dict[str, tuple[dict[str, object], Judge]] = {
    "entropy-l-diversity": ({"l": 2}, lambda g, _: twin.keeps_entropy(g, F(2))),
    "entropy-l-diversity, 1.7": (
        {"l": 1.7},
        lambda g, _: twin.keeps_entropy(g, F(17, 10)),
    ),
    "recursive-l-diversity": (
        {"c": 1.5, "l": 2},
        lambda g, _: twin.recursive(g, F(3, 2), 2),
    ),
    "recursive-l-diversity, 3": (
        {"c": 2, "l": 3},
        lambda g, _: twin.recursive(g, F(2), 3),
    ),
    "alpha-k-anonymity": (
        {"alpha": 0.6, "k": 2},
        lambda g, _: len(g) >= 2 and twin.most_share(g) <= F(3, 5),
    ),
    "t-closeness": ({"t": 0.25}, lambda g, t: twin.equal(g, t) <= F(1, 4)),
    "t-closeness, ordered": (
        {"t": 0.2, "distance": "ordered"},
        lambda g, t: twin.ordered(g, t) <= F(1, 5),
    ),
    "k-e-anonymity": ({"k": 2, "e": 2}, lambda g, _: twin.spread(g, 2, F(2))),
    "epsilon-m-anonymity": (
        {"epsilon": 1, "m": 1.5},
        lambda g, _: F(3, 2) * twin.crowd(g, F(1), relative=False) <= len(g),
    ),
    "epsilon-m-anonymity, relative": (
        {"epsilon": 0.5, "m": 2, "relative": True},
        lambda g, _: 2 * twin.crowd(g, F(1, 2), relative=True) <= len(g),
    ),
    "beta-likeness": (
        {"beta": 0.8},
        lambda g, t: twin.gain(g, t) <= F(4, 5) and twin.unsurprising(g, t),
    ),
    "beta-likeness, basic": (
        {"beta": 0.5, "enhanced": False},
        lambda g, t: twin.gain(g, t) <= F(1, 2),
    ),
    "delta-disclosure": (
        {"delta": float(_DELTA)},
        lambda g, t: (found := twin.disclosed(g, t)) is not None and found < _DELTA,
    ),
    "background-bound": ({"factor": 1.5}, lambda g, _: twin.bounded(g, F(3, 2))),
}


@pytest.mark.parametrize("name", PROMISES)
@often(24)
@given(case=numbered_cases(), budget=st.sampled_from([0.0, 0.1, 0.3]))
def test_the_best_node_is_the_best_of_all(name: str, case: Case, budget: float) -> None:
    asked, judge = PROMISES[name]
    promise = {"column": "s0", **asked}
    model: GroupModel = find("model", name.split(",")[0]).from_mapping(promise)  # type: ignore[assignment]
    values = [int(v) for v in case.column("s0")]
    rows, attributes = case.rows, case.attributes
    problem = case.problem()
    allowed = int(np.floor(budget * len(rows) + 1e-9))
    removed: dict[naive.Node, int] = {}
    costs: dict[naive.Node, Fraction] = {}
    for node in naive.every_node(attributes):
        found = naive.classes(rows, attributes, node)
        kept = {c: m for c, m in found.items() if judge([values[i] for i in m], values)}
        removed[node] = len(rows) - sum(map(len, kept.values()))
        covers = naive.covers_at(kept, attributes, node)
        costs[node] = naive.cost("loss", rows, attributes, covers)
    within = [n for n in removed if removed[n] <= allowed and removed[n] < len(rows)]
    searches = [
        Optimal(max_suppression=budget),
        Optimal(max_suppression=budget, list_minimal=True),
        Incognito(max_suppression=budget),
        Samarati(max_suppression=budget),
    ]
    if not within:
        for search in searches:
            with pytest.raises(Infeasible):
                search.run(problem, [model], Context())
        return
    model.check(problem, allowed)  # what can be kept is not refused
    for search in searches:
        outcome = search.run(problem, [model], Context())
        node = tuple((outcome.account.node or {}).values())
        assert outcome.release.suppressed == removed[node] <= allowed
        if isinstance(search, Optimal):
            assert outcome.account.cost == pytest.approx(float(min(costs[n] for n in within)))
        if not isinstance(search, Optimal) or search.list_minimal:
            every = naive.minimal_nodes(within)
            assert set(outcome.account.minimal) == every or isinstance(search, Samarati)
            assert set(outcome.account.minimal) <= every


@often(60)
@given(
    values=st.lists(st.sampled_from([1, 2, 3, 6]), min_size=12, max_size=12),
    cuts=st.sets(st.integers(1, 12), min_size=2, max_size=2).map(sorted),
)
def test_the_facts_that_searches_lean_on(values: list[int], cuts: list[int]) -> None:
    """What a class says of merging holds: U, A, and that good groups lie only in possible ones."""
    one, other = values[: cuts[0]], values[cuts[0] : cuts[1]]
    case = Case(
        columns={"q": [str(i) for i in range(12)], "s": [str(v) for v in values]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "number"},
    )
    problem = case.problem()
    order = {v: i for i, v in enumerate(sorted(set(values)))}
    groups = [[order[v] for v in own] for own in (one, other, one + other)]
    for name, (asked, judge) in PROMISES.items():
        kind = find("model", name.split(",")[0])
        model: GroupModel = kind.from_mapping(asked)  # type: ignore[assignment]
        stats = GroupStats(
            sizes=np.array([len(g) for g in groups]), histograms={"s": counted(groups)}
        )
        good = model.per_group(stats, reference_of(problem)).tolist()
        assert good == [judge(g, values) for g in (one, other, one + other)]
        possible = model.relaxed_per_group(stats, reference_of(problem)).tolist()
        assert all(p for g, p in zip(good, possible, strict=True) if g)
        assert possible[2] or not (possible[0] or possible[1])
        assert all(len(g) >= model.least_size() for g, ok in zip(groups, good, strict=True) if ok)
        if model.logic.closed_under_union and good[0] and good[1]:
            assert good[2]
        if model.logic.monotone_merge and (good[0] or good[1]):
            assert good[2]
