"""δ-presence through the searches of the lattice, against looking at every node by plain loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from anon_core.algorithms.annealing import Annealing
from anon_core.algorithms.anytime import Anytime
from anon_core.algorithms.datafly import Datafly
from anon_core.algorithms.fixed_levels import FixedLevels
from anon_core.algorithms.genetic import Genetic
from anon_core.algorithms.incognito import Incognito
from anon_core.algorithms.optimal import Optimal
from anon_core.algorithms.samarati import Samarati
from anon_core.algorithms.spalm import Spalm
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.job.runner import run
from anon_core.lattice.preference import CRITERIA
from anon_core.models.delta_presence import DeltaPresence
from anon_core.models.k_anonymity import KAnonymity
from anon_core.release.results import SearchAccount
from tests import naive
from tests.making import Case
from tests.often import chunks
from tests.presence_cases import chances_by_listing, random_public

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


def drawn(rng: np.random.Generator) -> tuple[Case, Dataset, list[GroupModel], EveryNode]:
    case, public = random_public(
        rng,
        rows=int(rng.integers(5, 16)),
        more=int(rng.integers(2, 16)),
        quasi=int(rng.integers(1, 4)),
        missing=bool(rng.random() < 0.3),
    )
    low = Fraction(int(rng.choice([0, 0, 0, 1, 2])), 8)
    high = Fraction(int(rng.integers(4, 9)), 8)
    k = int(rng.integers(1, 4))
    models: list[GroupModel] = [DeltaPresence(delta_min=float(low), delta_max=float(high))]
    models += [KAnonymity(k=k)] if k > 1 else []
    return case, public, models, EveryNode(case, public, low, high, k)


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


@pytest.mark.parametrize("chunk", chunks(2, 4))
def test_searches_of_the_whole_lattice_find_what_enumeration_finds(chunk: int) -> None:
    rng = np.random.default_rng([408, chunk])
    decided = gaps = 0
    for _ in range(20):
        case, public, models, every = drawn(rng)
        problem = case.problem(public)
        for budget in BUDGETS:
            nodes = every.satisfied(budget)
            searches: list[Algorithm] = [
                Samarati(max_suppression=budget, prefer=str(rng.choice(list(CRITERIA)))),
                Incognito(max_suppression=budget, prefer=str(rng.choice(list(CRITERIA)))),
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
    assert decided > 40
    assert gaps > 0


@pytest.mark.parametrize("chunk", chunks(1, 3))
def test_searches_that_look_at_some_nodes_publish_one_that_holds(chunk: int) -> None:
    rng = np.random.default_rng([409, chunk])
    released = climbed = 0
    for _ in range(15):
        case, public, models, every = drawn(rng)
        problem = case.problem(public)
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
    assert released > 40
    assert climbed > 5


def test_what_is_published_is_verified_and_keeps_the_bounds() -> None:
    rng = np.random.default_rng(410)
    released = 0
    names = ("samarati", "incognito", "datafly", "annealing", "genetic", "anytime")
    for turn in range(48):
        case, public, models, _ = drawn(rng)
        if not feasible(models, case, public):
            continue
        budget = {"max_suppression": 0.3 * (turn % 2)}
        plan = case.plan(
            algorithm={"name": names[turn % len(names)], **budget},
            models=[{"name": m.name, **m.as_mapping()} for m in models],
        )
        try:
            result = run(plan, case.dataset, case.levels, population=public)
        except (Infeasible, NotFound):
            continue
        assert result.verification.holds
        assert all(v.holds for v in result.verdicts)
        released += 1
    assert released > 15


def test_top_down_uncovers_values_while_everyone_stays_within_bounds() -> None:
    """Values of a column stand at different levels, so chances are listed, not looked up."""
    rng = np.random.default_rng(412)
    uncovered = refused = 0
    for turn in range(60):
        case, public = random_public(
            rng,
            rows=int(rng.integers(5, 9)),
            more=int(rng.integers(2, 7)),
            quasi=int(rng.integers(1, 4)),
            missing=turn % 3 == 0,
        )
        low, high = sorted(rng.choice([0.0, 0.0, 0.25, 0.5, 0.75, 0.9, 1.0], 2).tolist())
        model = DeltaPresence(delta_min=low, delta_max=high)
        plan = case.plan(
            algorithm={"name": "top-down"},
            models=[{"name": "delta-presence", "delta_min": low, "delta_max": high}],
        )
        problem = case.problem(public)
        whole = model.bounds.admits(Fraction(problem.rows, len(public.frame())))
        try:
            result = run(plan, case.dataset, case.levels, population=public)
        except (Infeasible, NotFound):
            assert not whole
            refused += 1
            continue
        assert whole
        assert result.verification.holds
        assert result.release.suppressed == 0
        chances = chances_by_listing(result.problem, result.release.view)
        assert all(model.bounds.admits(c) for c in chances)
        uncovered += len(result.account.steps) > 0
    assert uncovered > 15
    assert refused > 5


def test_top_down_counts_people_of_values_that_only_they_have() -> None:
    """Whoever has a value of their own below an uncovered node is known to be absent."""
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
        result = run(plan, case.dataset, case.levels, population=public)
        assert set(result.published.column("q").to_pylist()) == shown
        assert result.verification.holds


def test_chosen_levels_are_judged_as_every_node_is() -> None:
    rng = np.random.default_rng(411)
    held = failed = 0
    for _ in range(20):
        case, public, models, every = drawn(rng)
        problem = case.problem(public)
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
    assert held > 20
    assert failed > 20
