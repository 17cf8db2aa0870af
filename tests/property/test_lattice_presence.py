"""δ-presence through the searches of the lattice, against looking at every node by plain loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.methods.lattice.nodes import CRITERIA
from anon_core.pipeline.runner import run
from anon_core.release.outcome import SearchAccount
from anon_core.techniques.algorithms.annealing import Annealing
from anon_core.techniques.algorithms.anytime import Anytime
from anon_core.techniques.algorithms.datafly import Datafly
from anon_core.techniques.algorithms.fixed_levels import FixedLevels
from anon_core.techniques.algorithms.genetic import Genetic
from anon_core.techniques.algorithms.incognito import Incognito
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.algorithms.samarati import Samarati
from anon_core.techniques.algorithms.spalm import Spalm
from anon_core.techniques.models.delta_presence import DeltaPresence
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests import naive
from tests.making import Case
from tests.often import times
from tests.presence_cases import chances_by_listing
from tests.strategies import cases, publics

BUDGETS = (0.0, 0.3, 1.0)
WHOLE = (Samarati, Incognito, Optimal)
DRAWN = (Annealing, Genetic, Anytime)


class EveryNode:
    """What every node removes for δ-presence with k-anonymity, and what it costs by loss."""

    def __init__(self, case: Case, public: Dataset, low: Fraction, high: Fraction, k: int) -> None:
        rows, attributes = case.rows, case.attributes
        texts = [
            [(*own.values, naive.MISSING)[code] for code in own.codes.tolist()]
            for own in map(public.column, case.quasi)
        ]
        people = list(zip(*texts, strict=True))
        self.size = len(rows)
        self.removed: dict[naive.Node, int] = {}
        self.cost: dict[naive.Node, Fraction] = {}
        for node in naive.every_node(attributes):
            found = naive.classes(rows, attributes, node)
            around = naive.classes(people, attributes, node)
            assert set(found) <= set(around)
            share = {c: Fraction(len(found.get(c, ())), len(m)) for c, m in around.items()}
            kept = {c: m for c, m in found.items() if len(m) >= k and low <= share[c] <= high}
            # Nobody of a class without rows, or of one that goes, is in the release.
            if low > 0 and set(kept) != set(around):
                kept = {}
            self.removed[node] = len(naive.removed_rows(found, kept))
            if kept:
                covers = naive.covers_at(kept, attributes, node)
                self.cost[node] = naive.cost("loss", rows, attributes, covers)

    def satisfied(self, budget: float) -> list[naive.Node]:
        most = budget * self.size + 1e-9
        return [n for n, gone in self.removed.items() if gone <= most and gone < self.size]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A table, who is around it, promises about presence, and every node under them."""

    case: Case
    people: list[tuple[str | None, ...]]
    models: list[GroupModel]
    public: Dataset = field(repr=False)
    every: EveryNode = field(repr=False)


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """Draw a table and a public one around it, and what is promised of presence."""
    case = draw(cases(rows=(5, 15), quasi=(1, 3)))
    public = draw(publics(case, more=20))
    low = Fraction(draw(st.sampled_from([0, 0, 0, 1, 2])), 8)
    high = Fraction(draw(st.integers(4, 8)), 8)
    k = draw(st.integers(1, 3))
    models: list[GroupModel] = [DeltaPresence(delta_min=float(low), delta_max=float(high))]
    models += [KAnonymity(k=k)] if k > 1 else []
    every = EveryNode(case, public, low, high, k)
    people = list(public.frame().itertuples(index=False, name=None))
    return Asked(case=case, people=people, models=models, public=public, every=every)


def node_of(account: SearchAccount) -> naive.Node:
    assert account.node is not None
    return tuple(account.node.values())


def feasible(models: list[GroupModel], case: Case, public: Dataset) -> bool:
    """Say whether the models' own first look lets the search begin, as a run does."""
    try:
        for model in models:
            model.check(case.problem(public))
    except Infeasible:
        return False
    return True


@pytest.mark.often
def test_searches_of_the_whole_lattice_find_what_enumeration_finds() -> None:
    decided = gaps = 0
    preferences = st.sampled_from(list(CRITERIA))

    @settings(max_examples=times(120))
    @given(asked=asked(), first=preferences, second=preferences)
    def tried(asked: Asked, first: str, second: str) -> None:
        nonlocal decided, gaps
        case, models, every = asked.case, asked.models, asked.every
        problem = case.problem(asked.public)
        for budget in BUDGETS:
            nodes = every.satisfied(budget)
            searches: list[Algorithm] = [
                Samarati(max_suppression=budget, prefer=first),
                Incognito(max_suppression=budget, prefer=second),
                Optimal(max_suppression=budget, list_minimal=True),
                *([] if budget else [Spalm()]),
            ]
            minimal = naive.minimal_nodes(nodes)
            # A node may hold although one above it does not.
            gaps += any(
                all(a <= b for a, b in zip(low, high, strict=True))
                for low in minimal
                for high in every.removed
                if high not in nodes
            )
            for search in searches:
                if not nodes:
                    with pytest.raises(Infeasible):
                        search.run(problem, models, Context())
                    continue
                outcome = search.run(problem, models, Context())
                account = outcome.account
                node = node_of(account)
                assert node in nodes
                assert outcome.release.suppressed == every.removed[node]
                assert account.looked[node] == every.removed[node]
                by_height = isinstance(search, Samarati) and search.prefer == "absolute distance"
                # Where rows may go the promise is not monotone, and every node is looked at.
                lowest = {n for n in nodes if sum(n) == min(map(sum, nodes))}
                alone = by_height and not int(budget * every.size + 1e-9)
                assert set(account.minimal) == (lowest if alone else minimal)
                if isinstance(search, Optimal | Spalm):
                    best = min(every.cost[n] for n in nodes)
                    assert account.cost == pytest.approx(float(best), abs=1e-12)
                else:
                    assert node in minimal
                decided += 1

    tried()
    assert decided > 40
    assert gaps > 0


@pytest.mark.often
def test_searches_that_look_at_some_nodes_publish_one_that_holds() -> None:
    released = climbed = 0

    @settings(max_examples=times(48))
    @given(asked=asked())
    def tried(asked: Asked) -> None:
        nonlocal released, climbed
        case, models, every = asked.case, asked.models, asked.every
        problem = case.problem(asked.public)
        for budget in BUDGETS:
            nodes = every.satisfied(budget)
            for technique in DRAWN:
                search = technique(max_suppression=budget)
                try:
                    outcome = search.run(problem, models, Context())
                except (Infeasible, NotFound):
                    # The walk may miss what holds; from the top it sees at least the top.
                    assert tuple(a.height for a in case.attributes) not in nodes
                    continue
                account = outcome.account
                node = node_of(account)
                assert node in nodes
                assert outcome.release.suppressed == every.removed[node]
                assert account.cost == pytest.approx(float(every.cost[node]), abs=1e-12)
                assert account.looked
                assert all(every.removed[n] == gone for n, gone in account.looked.items())
                if account.bound is not None:
                    best = min(every.cost[n] for n in nodes)
                    assert account.bound <= float(best) + 1e-12
                released += 1
            # Datafly goes up until a node holds, and looks at no other.
            try:
                account = Datafly(max_suppression=budget).run(problem, models, Context()).account
            except (Infeasible, NotFound):
                assert tuple(a.height for a in case.attributes) not in nodes
                continue
            assert node_of(account) in nodes
            assert [n in nodes for n in account.looked] == [False] * (len(account.looked) - 1) + [
                True
            ]
            climbed += len(account.looked) > 1

    tried()
    assert released > 30
    assert climbed > 3


@pytest.mark.often
def test_what_is_published_is_verified_and_keeps_the_bounds() -> None:
    released = 0
    names = ("samarati", "incognito", "datafly", "annealing", "genetic", "anytime")

    @settings(max_examples=times(120))
    @given(asked=asked(), name=st.sampled_from(names), budget=st.sampled_from([0.0, 0.3]))
    def tried(asked: Asked, name: str, budget: float) -> None:
        nonlocal released
        case, public, models = asked.case, asked.public, asked.models
        if not feasible(models, case, public):
            return
        plan = case.plan(
            algorithm={"name": name, "max_suppression": budget},
            models=[{"name": m.name, **m.as_mapping()} for m in models],
        )
        try:
            result = run(plan, case.dataset, case.levels, population=public, assess=False)
        except (Infeasible, NotFound):
            return
        assert result.verification.holds
        assert all(v.holds for v in result.verdicts)
        released += 1

    tried()
    assert released > 5


@pytest.mark.often
def test_top_down_uncovers_values_while_everyone_stays_within_bounds() -> None:
    """Values of a column stand at different levels, so chances are listed, not looked up."""
    uncovered = refused = 0
    bound = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.75, 0.9, 1.0])

    @settings(max_examples=times(160))
    @given(case=cases(rows=(4, 7), quasi=(1, 3)), one=bound, other=bound, data=st.data())
    def tried(case: Case, one: float, other: float, data: st.DataObject) -> None:
        nonlocal uncovered, refused
        public = data.draw(publics(case, more=8))
        low, high = min(one, other), max(one, other)
        model = DeltaPresence(delta_min=low, delta_max=high)
        plan = case.plan(
            algorithm={"name": "top-down"},
            models=[{"name": "delta-presence", "delta_min": low, "delta_max": high}],
        )
        problem = case.problem(public)
        whole = model.bounds.admits(Fraction(problem.rows, len(public.frame())))
        try:
            result = run(plan, case.dataset, case.levels, population=public, assess=False)
        except (Infeasible, NotFound):
            assert not whole
            refused += 1
            return
        assert whole
        assert result.verification.holds
        assert result.release.suppressed == 0
        chances = chances_by_listing(result.problem, result.release.view)
        assert all(model.bounds.admits(c) for c in chances)
        uncovered += len(result.account.steps) > 0

    tried()
    assert uncovered > 5
    assert refused > 5


def test_top_down_counts_people_of_values_that_only_they_have() -> None:
    """Anyone who has a value of their own below an uncovered node is known to be absent."""
    levels = [("a", "A", "*"), ("b", "A", "*"), ("c", "C", "*"), ("d", "C", "*")]
    case = Case(
        columns={"q": ["a", "a", "b", "b", "c", "c"]},
        quasi=("q",),
        kinds={"q": "text"},
        levels={"q": levels},
    )
    public = Dataset.from_frame(pd.DataFrame({"q": [*"aabbcc", *"abccdd"]}), kinds={"q": "text"})
    for low, high, shown in (
        (0.0, 0.7, {"a", "b", "c"}),  # 2 of 3, 2 of 3, 2 of 4; nobody of d is in
        (0.0, 0.6, {"*"}),
        (0.3, 0.7, {"a", "b", "C"}),  # d may not be known to be absent
    ):
        plan = case.plan(
            algorithm={"name": "top-down"},
            models=[{"name": "delta-presence", "delta_min": low, "delta_max": high}],
        )
        result = run(plan, case.dataset, case.levels, population=public, assess=False)
        assert set(result.published.column("q").to_pylist()) == shown
        assert result.verification.holds


@pytest.mark.often
def test_chosen_levels_are_judged_as_every_node_is() -> None:
    held = failed = 0

    @settings(max_examples=times(60))
    @given(asked=asked())
    def tried(asked: Asked) -> None:
        nonlocal held, failed
        case, models, every = asked.case, asked.models, asked.every
        problem = case.problem(asked.public)
        nodes = every.satisfied(0.3)
        for node in every.removed:
            levels = dict(zip(case.quasi, node, strict=True))
            search = FixedLevels(levels=levels, max_suppression=0.3)
            if node in nodes:
                held += 1
                outcome = search.run(problem, models, Context())
                assert outcome.release.suppressed == every.removed[node]
            else:
                failed += 1
                with pytest.raises(Infeasible):
                    search.run(problem, models, Context())

    tried()
    assert held > 20
    assert failed > 20
