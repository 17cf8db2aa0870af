"""Promises about identity: the optimal search with each of them against every node."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.methods.reidentification.reidentification import (
    mean_chance,
    rarest_first,
    smallest_first,
)
from anon_core.methods.reidentification.unique_rows import combination_of, largest_valid
from anon_core.release.problem import Problem
from anon_core.techniques.algorithms.incognito import Incognito
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.algorithms.samarati import Samarati
from anon_core.techniques.models.average_risk import AverageRisk
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.k_map import KMap
from anon_core.techniques.models.maximum_risk import MaximumRisk
from tests import identity_twin as twin
from tests import naive
from tests.making import Case
from tests.often import often, times
from tests.strategies import cases, publics

BUDGETS = (0.0, 0.1, 0.3)
LOOKED_AT = ("loss", "discernibility", "average-class-size")
KINDS = ("sets", "average", "maximum", "average+sets", "k-map", "average in P", "maximum in P")


def people_of(case: Case, public: Dataset) -> list[naive.Row]:
    texts = [
        [(*own.values, naive.MISSING)[code] for code in own.codes.tolist()]
        for own in map(public.column, case.quasi)
    ]
    return list(zip(*texts, strict=True))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A table and who is around it, promises, and every node under them."""

    case: Case
    people: list[naive.Row]
    models: Sequence[GroupModel]
    problem: Problem = field(repr=False)
    every: twin.EveryNode = field(repr=False)


@st.composite
def asked(draw: st.DrawFn, kind: str) -> Asked:
    """Draw a table, promises of a kind, and every node under them."""
    people: list[naive.Row] = []
    if kind in ("k-map", "average in P", "maximum in P"):
        case = draw(cases(rows=(5, 15), quasi=(1, 3), missing=False))
        public = draw(publics(case, more=11))
        problem, people = case.problem(public), people_of(case, public)
    else:
        case = draw(cases(rows=(5, 19), quasi=(1, 3)))
        problem = case.problem()
    quasi = len(case.quasi)
    k = draw(st.integers(2, 5))
    risk = draw(st.sampled_from([0.05, 0.2, 0.25, 0.3, 0.35, 0.5, 0.6, 0.9]))
    mean = twin.keep_mean(Fraction(str(risk)), case.attributes)
    subsets = draw(st.integers(0, quasi))
    width = subsets or quasi
    sets = list(itertools.combinations(range(quasi), width))
    of_sets = KAnonymity(k=k, columns=case.quasi, subsets=subsets)
    models: Sequence[GroupModel]
    if kind == "sets":
        # A second promise of one column, with a k of its own.
        own = draw(st.integers(2, 5))
        models = [of_sets, KAnonymity(k=own, columns=(case.quasi[0],))]
        rule = twin.both(twin.keep_sets(sets, k), twin.keep_sets([(0,)], own))
    elif kind == "average+sets":
        models = [of_sets, AverageRisk(risk=risk)]
        rule = twin.both(twin.keep_sets(sets, k), mean)
    elif kind == "k-map":
        models, rule = [KMap(k=k)], twin.keep_people(k)
    elif kind.startswith("average"):
        models, rule = [AverageRisk(risk=risk)], mean
    else:
        models, rule = (
            [MaximumRisk(risk=risk)],
            twin.keep_people(math.ceil(1 / Fraction(str(risk)))),
        )
    every = twin.EveryNode(case, rule, people, LOOKED_AT)
    return Asked(case=case, people=people, models=models, problem=problem, every=every)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.often
def test_the_optimal_search_finds_what_enumeration_finds(kind: str) -> None:

    @settings(max_examples=times(24))
    @given(asked=asked(kind), listed=st.booleans())
    def tried(asked: Asked, listed: bool) -> None:
        problem, models, every = asked.problem, asked.models, asked.every
        for metric, budget in itertools.product(LOOKED_AT, BUDGETS):
            search = Optimal.from_mapping(
                {"metric": metric, "max_suppression": budget, "list_minimal": listed}
            )
            nodes = every.satisfied(budget)
            if not nodes:
                with pytest.raises(Infeasible):
                    search.run(problem, models, Context())
                continue
            account = search.run(problem, models, Context()).account
            assert account.node is not None
            node = tuple(account.node.values())
            cost, best = every.best(metric, nodes)
            assert account.cost == pytest.approx(float(cost), abs=1e-12)
            assert node == best
            assert account.proven
            if account.minimal:
                assert set(account.minimal) == naive.minimal_nodes(nodes)
            release = search.run(problem, models, Context()).release
            assert release.suppressed == every.removed[node]

    tried()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.often
def test_other_searches_find_the_same_nodes(kind: str) -> None:

    @settings(max_examples=times(24))
    @given(asked=asked(kind))
    def tried(asked: Asked) -> None:
        problem, models, every = asked.problem, asked.models, asked.every
        for search, budget in itertools.product((Samarati, Incognito), BUDGETS):
            nodes = every.satisfied(budget)
            made = search(max_suppression=budget)
            if not nodes:
                with pytest.raises(Infeasible):
                    made.run(problem, models, Context())
                continue
            account = made.run(problem, models, Context()).account
            if search is Incognito:
                assert set(account.minimal) == naive.minimal_nodes(nodes)
            assert account.node is not None
            assert tuple(account.node.values()) in nodes

    tried()


@pytest.mark.parametrize("kind", [k for k in KINDS if "+" not in k])
@pytest.mark.often
def test_what_is_refused_at_first_is_impossible_and_nothing_else(kind: str) -> None:
    """All rows as one class are the best there is: the top of every lattice drawn here."""
    seen = set[bool]()

    @settings(max_examples=times(48))
    @given(asked=asked(kind))
    def tried(asked: Asked) -> None:
        problem, models, every = asked.problem, asked.models, asked.every
        top = tuple(a.height for a in asked.case.attributes)
        refused = False
        for model in models:
            try:
                model.check(problem, problem.rows)
            except Infeasible as error:
                refused = error.best is not None
        assert refused == (every.kept[top] == 0)
        seen.add(refused)

    tried()
    assert seen == {True, False} or kind in ("sets", "k-map")  # k rows, and k people, there are


@often(200)
@given(columns=st.integers(1, 3), k=st.integers(1, 5), data=st.data())
def test_what_is_removed_for_sets_of_columns_is_as_little_as_can_be(
    columns: int, k: int, data: st.DataObject
) -> None:
    cell = st.tuples(*[st.integers(0, 2)] * columns)
    classes = data.draw(st.dictionaries(cell, st.integers(1, 3), min_size=1, max_size=8))
    cells = np.array(sorted(classes))
    sizes = np.array([classes[c] for c in sorted(classes)])
    every = [c for n in range(1, columns + 1) for c in itertools.combinations(range(columns), n)]
    sets = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=2, unique=True))
    names = {str(d): cells[:, d].astype(np.int64) for d in range(columns)}
    found = combination_of(names, [[str(d) for d in own] for own in sets])
    kept = largest_valid(sizes, found, k, np.ones(len(cells), dtype=np.bool_))
    listed = [(tuple(map(str, c)), int(n)) for c, n in zip(cells.tolist(), sizes, strict=True)]
    left = [one for one, stays in zip(listed, kept, strict=True) if stays]
    assert twin.sets_hold(left, sets, k)
    most = twin.largest_subset(listed, partial(twin.sets_hold, sets=sets, k=k))
    assert sum(n for _, n in left) == most


@often(200)
@given(
    classes=st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=8),
    risk=st.sampled_from([0.25, 0.5]) | st.integers(10, 100).map(lambda n: n / 100),
)
def test_what_is_removed_for_a_mean_risk_is_as_little_as_can_be(
    classes: list[tuple[int, int]], risk: float
) -> None:
    sizes, more = (np.array(own) for own in zip(*classes, strict=True))
    everyone, rank = np.ones(len(sizes), dtype=np.bool_), np.flatnonzero
    kept = smallest_first(sizes, everyone, rank, risk)
    bound = Fraction(str(risk))

    holds = partial(twin.own_mean_holds, risk=bound)
    listed = [((str(i),), int(n)) for i, n in enumerate(sizes)]
    left = [one for one, stays in zip(listed, kept, strict=True) if stays]
    assert holds(left)
    assert sum(n for _, n in left) == twin.largest_subset(listed, holds)
    # With people around, what is left holds, and removing one class less would not have.
    people = sizes + more
    kept = rarest_first(sizes, people, everyone, rank, risk)
    assert mean_chance(sizes[kept], people[kept]) <= bound
    gone = np.flatnonzero(~kept)
    if len(gone):
        last = gone[np.lexsort([gone, -sizes[gone], -people[gone]])[0]]
        kept[last] = True
        assert mean_chance(sizes[kept], people[kept]) > bound


def test_the_known_counterexamples() -> None:
    """Removing a class breaks a mean, and one set of columns another (see the models' words)."""
    assert mean_chance(np.array([1, 2]), np.array([1, 2])) == Fraction(2, 3)
    assert mean_chance(np.array([1]), np.array([1])) == 1
    cells = {"a": np.array([0, 0, 1, 1]), "b": np.array([0, 1, 0, 1])}
    found = combination_of(cells, [["a"], ["b"]])
    rows = np.ones(4, dtype=np.int64)
    assert largest_valid(rows, found, 2, np.ones(4, np.bool_)).all()
    assert not largest_valid(rows, found, 2, np.array([False, False, True, True])).any()


def test_merging_never_breaks_what_holds() -> None:
    """U and A of the risks and of sets of columns, on all pairs of small classes."""
    for a, b, c in itertools.product(range(1, 5), repeat=3):
        for risk in (Fraction(1, 4), Fraction(1, 2), Fraction(2, 3)):
            apart = twin.mean_risk([(a, a), (b, b), (c, c)])
            together = twin.mean_risk([(a + b, a + b), (c, c)])
            assert together <= risk or apart > risk
            for p, q in itertools.product(range(4), repeat=2):
                apart = twin.mean_risk([(a, a + p), (b, b + q)])
                assert twin.mean_risk([(a + b, a + b + p + q)]) <= apart
