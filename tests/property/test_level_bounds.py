"""Searches within bounds on levels, by a weighted loss, against the enumeration of every node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.recoding_models import restricted
from anon_core.methods.lattice.size_sweep import size_sweep
from anon_core.release.problem import Problem
from anon_core.techniques.algorithms.fixed_levels import FixedLevels
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.metrics.weighted_loss import WeightedLoss
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.k_map import KMap
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.enumeration import Enumeration
from tests.making import Case
from tests.often import times
from tests.strategies import cases, ks, publics

Bounds = Mapping[str, tuple[int, int]]
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(0))


@dataclass(frozen=True)
class Wish:
    """What somebody prefers of a table, and the promise of k they ask for."""

    case: Case
    k: int
    bounds: Bounds
    weights: tuple[int, ...]
    removed: Fraction
    budget: float

    @property
    def problem(self) -> Problem:
        heights = [a.height for a in self.case.attributes]
        own = {
            name: ends
            for (name, ends), height in zip(self.bounds.items(), heights, strict=True)
            if ends != (0, height)
        }
        return replace(self.case.problem(), level_bounds=own)

    @property
    def metric(self) -> WeightedLoss:
        weights = dict(zip(self.case.quasi, map(float, self.weights), strict=True))
        return WeightedLoss(weights=weights, removed_counts=float(self.removed))

    def allowed(self, node: naive.Node) -> bool:
        return all(
            low <= n <= high for n, (low, high) in zip(node, self.bounds.values(), strict=True)
        )

    def cost(self, node: naive.Node, least: int = 0) -> Fraction:
        """Return the weighted loss of a node, cell by cell."""
        case = self.case
        needs = [(case.column(name), least) for name in case.sensitive] if least else []
        found = naive.classes(case.rows, case.attributes, node)
        gone = set(naive.removed_rows(found, naive.kept_classes(found, self.k, needs)))
        total = Fraction(0)
        for d, (a, weight) in enumerate(zip(case.attributes, self.weights, strict=True)):
            for number, row in enumerate(case.rows):
                share = naive.loss_of(a, a.under(a.labels[row[d]][node[d]], node[d]))
                total += weight * (share + self.removed * (1 - share) * (number in gone))
        return total / (len(case.rows) * sum(self.weights))


@st.composite
def wishes(draw: st.DrawFn) -> Wish:
    """Draw a table with bounds on its levels, weights of its columns, and a budget."""
    case = draw(cases(rows=(4, 20), quasi=(1, 3)))
    bounds = {}
    for name, a in zip(case.quasi, case.attributes, strict=True):
        low = draw(st.integers(0, a.height))
        bounds[name] = (low, draw(st.integers(low, a.height)))
    weights = tuple(draw(st.integers(0, 5)) for _ in case.quasi)
    assume(any(weights))
    return Wish(
        case=case,
        k=draw(ks(case)),
        bounds=bounds,
        weights=weights,
        removed=draw(st.sampled_from(SHARES)),
        budget=draw(st.sampled_from((0.0, 0.1, 0.3, 1.0))),
    )


def models_of(wish: Wish, least: int) -> list[GroupModel]:
    models: list[GroupModel] = [KAnonymity(k=wish.k)]
    return [*models, DistinctLDiversity(l=least)] if least else models


@pytest.mark.often
@pytest.mark.parametrize("least", [0, 2])
def test_the_optimum_within_bounds_is_that_of_enumeration(least: int) -> None:
    counted = {"found": 0, "infeasible": 0, "bound": 0, "freed": 0}

    @settings(max_examples=times(300))
    @given(wish=wishes())
    def tried(wish: Wish) -> None:
        every = Enumeration(wish.case, wish.k, least, metrics=())
        fitting = every.satisfied(wish.budget)
        allowed = [node for node in fitting if wish.allowed(node)]
        problem, models = wish.problem, models_of(wish, least)
        search = Optimal(metric=wish.metric, max_suppression=wish.budget)
        if not allowed:
            with pytest.raises(Infeasible) as refused:
                search.run(problem, models, Context())
            said = refused.value.message
            for name, (low, high) in problem.level_bounds.items():
                height = problem.hierarchies[name].height
                for end, bound, ends in (
                    (f"the highest level of '{name}' ({high})", high < height, (low, height)),
                    (f"the lowest level of '{name}' ({low})", low > 0, (0, high)),
                ):
                    other = replace(wish, bounds={**wish.bounds, name: ends})
                    helps = bound and any(other.allowed(node) for node in fitting)
                    assert (end in said) == helps
                    counted["freed"] += helps
            counted["infeasible"] += 1
            return
        outcome = search.run(problem, models, Context())
        costs = {node: wish.cost(node, least) for node in allowed}
        cost = min(costs.values())
        assert outcome.account.proven
        assert outcome.account.cost == pytest.approx(float(cost), abs=1e-12)
        assert outcome.account.node is not None
        node = tuple(outcome.account.node[name] for name in problem.quasi)
        assert costs[node] == cost
        assert outcome.release.suppressed == every.removed[node]
        measured = wish.metric.measure(problem, outcome.release, Context())
        assert measured.value == pytest.approx(float(cost), abs=1e-12)
        counted["found"] += 1
        counted["bound"] += len(allowed) < len(fitting)

    tried()
    assert min(counted.values()) >= times(300) // 30, counted


def _searches() -> dict[str, type[Algorithm]]:
    """Return the techniques that keep bounds on levels, as they are set by themselves."""
    known = cast(dict[str, type[Algorithm]], family("algorithm"))
    return {name: kind for name, kind in known.items() if kind().keeps_level_bounds()}


def test_these_keep_bounds_and_all_others_are_refused() -> None:
    assert set(_searches()) == {
        "annealing",
        "datafly",
        "fixed-levels",
        "genetic",
        "incognito",
        "optimal",
        "samarati",
        "spalm",
    }
    assert find("algorithm", "anytime").from_mapping({"recoding": "full-domain"})


def settings_of(name: str, wish: Wish) -> dict[str, Any]:
    if name == "spalm":
        return {}
    expected: dict[str, Any] = {"max_suppression": wish.budget}
    if name == "anytime":
        return {**expected, "recoding": "full-domain", "restarts": 2}
    if name == "fixed-levels":
        return {**expected, "levels": {n: ends[0] for n, ends in wish.bounds.items()}}
    return expected


@pytest.mark.often
@pytest.mark.parametrize("name", [*_searches(), "anytime"])
def test_every_search_of_the_lattice_keeps_the_bounds(name: str) -> None:
    found = refused = 0

    @settings(max_examples=times(120, share=10))
    @given(wish=wishes())
    def tried(wish: Wish) -> None:
        nonlocal found, refused
        every = Enumeration(wish.case, wish.k, metrics=())
        budget = 0.0 if name == "spalm" else wish.budget
        allowed = [node for node in every.satisfied(budget) if wish.allowed(node)]
        search = cast(Algorithm, find("algorithm", name).from_mapping(settings_of(name, wish)))
        models = [KAnonymity(k=wish.k)]
        context = Context(generator=np.random.default_rng(1))
        try:
            outcome = search.run(wish.problem, models, context)
        except NotFound:  # it says itself that others may
            refused += 1
            return
        except Infeasible:
            assert not allowed or name == "fixed-levels"
            refused += 1
            return
        found += 1
        node = tuple(cast(Any, outcome.account.node)[n] for n in wish.case.quasi)
        assert node in allowed
        assert outcome.release.suppressed == every.removed[node]
        if outcome.account.minimal:
            below = {n for n in outcome.account.minimal if not wish.allowed(n)}
            assert not below
            assert set(outcome.account.minimal) <= naive.minimal_nodes(allowed)

    tried()
    assert min(found, refused) >= max(1, times(120, share=10) // 20), (found, refused)


@pytest.mark.often
def test_with_a_register_the_bounds_hold_as_without_a_lattice() -> None:
    """Look at each node by itself, without bounds: people stand at higher leaves as rows do."""
    found = 0

    @settings(max_examples=times(100))
    @given(wish=wishes(), data=st.data())
    def tried(wish: Wish, data: st.DataObject) -> None:
        nonlocal found
        people = data.draw(publics(wish.case))
        problem: Problem = wish.case.problem(people)
        models: list[GroupModel] = [KMap(k=wish.k)]
        free: dict[naive.Node, float] = {}
        for node in filter(wish.allowed, naive.every_node(wish.case.attributes)):
            levels = dict(zip(wish.case.quasi, node, strict=True))
            fixed = FixedLevels(levels=levels, max_suppression=wish.budget)
            try:
                release = fixed.run(problem, models, Context()).release
            except Infeasible:
                continue
            free[node] = wish.metric.measure(problem, release, Context()).value
        bounded = replace(problem, level_bounds=wish.problem.level_bounds)
        search = Optimal(metric=wish.metric, max_suppression=wish.budget)
        if not free:
            with pytest.raises(Infeasible):
                search.run(bounded, models, Context())
            return
        found += 1
        cost = search.run(bounded, models, Context()).account.cost
        assert cost == pytest.approx(min(free.values()), abs=1e-12)

    tried()
    assert found >= times(100) // 4


@pytest.mark.often
def test_one_pass_prices_as_each_node_is_priced() -> None:
    @settings(max_examples=times(80))
    @given(wish=wishes())
    def tried(wish: Wish) -> None:
        allowed = restricted(wish.problem, "AG_TS")
        swept = size_sweep(allowed.problem, (wish.k,), Context(), metric=wish.metric)
        costs = swept.cost(wish.metric).reshape(swept.shape)
        for place in np.ndindex(*swept.shape):
            node = allowed.original(place)
            assert costs[place] == pytest.approx(float(wish.cost(node)), abs=1e-12)

    tried()
