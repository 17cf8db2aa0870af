"""k-Optimize against the enumeration of every set of indices."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.techniques.algorithms.k_optimize import KOptimize
from anon_core.techniques.metrics.classification import Classification
from anon_core.techniques.metrics.discernibility import Discernibility
from anon_core.techniques.models.entropy_l_diversity import EntropyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import diversity_twin as twin
from tests import naive
from tests.asked import measured
from tests.making import Case, random_case
from tests.often import crossed, times
from tests.strategies import cases


def cheapest(
    case: Case, k: int, least: int, budget: float, labels: str = "", spread: str = ""
) -> int | None:
    """Return the least cost over all cuts of the ordered domains into intervals.

    That is discernibility or, where a column of labels is named, rows suppressed or outvoted. Of
    `spread`, a column, every class has an entropy of two values.
    """
    rows = case.rows
    needs = [(case.column(name), 2) for name in case.sensitive] if least else []
    place: list[list[int]] = []
    cuts: list[tuple[int, int]] = []
    for d, a in enumerate(case.attributes):
        seen = [leaf for leaf in a.leaves if any(row[d] == leaf for row in rows)]
        place.append([seen.index(row[d]) for row in rows])
        cuts += [(d, i) for i in range(1, len(seen))]
    best: int | None = None
    for size in range(len(cuts) + 1):
        for chosen in combinations(cuts, size):
            groups: dict[tuple[int, ...], list[int]] = {}
            for i in range(len(rows)):
                cell = tuple(
                    sum(d == e and at <= own[i] for e, at in chosen) for d, own in enumerate(place)
                )
                groups.setdefault(cell, []).append(i)
            kept = [g for g in groups.values() if naive.keeps(g, k, needs)]
            if spread:
                loaded = case.column(spread)
                kept = [g for g in kept if twin.keeps_entropy([loaded[i] for i in g], Fraction(2))]
            removed = len(rows) - sum(map(len, kept))
            if kept and removed <= budget * len(rows) + 1e-9:
                cost = naive.discernibility(map(len, kept), removed, len(rows))
                if labels:
                    loaded = case.column(labels)
                    cost = naive.outvoted([[loaded[i] for i in g] for g in kept], removed)
                best = cost if best is None else min(best, cost)
    return best


@pytest.mark.often
@crossed("promises, labels", ["k", "k+l", "k+entropy"], ["", "s0", "s1"], share=3)
def test_the_tree_finds_what_enumeration_finds(promises: str, labels: str) -> None:
    decided = 0

    @settings(max_examples=times(200))
    @given(
        case=cases(rows=(4, 19), quasi=(1, 2), sensitive="abcd"),
        k=st.integers(2, 3),
        budget=st.sampled_from([0.0, 0.2, 1.0]),
    )
    def tried(case: Case, k: int, budget: float) -> None:
        nonlocal decided
        assume(sum(len(set(case.column(n))) - 1 for n in case.quasi) <= 7)
        models: list[GroupModel] = [KAnonymity(k=k)]
        models += [DistinctLDiversity(l=2)] if promises == "k+l" else []
        spread = "s0" if promises == "k+entropy" else ""
        models += [EntropyLDiversity(l=2, column=spread)] if spread else []
        best = cheapest(case, k, 2 if promises == "k+l" else 0, budget, labels, spread)
        search = KOptimize(
            max_suppression=budget,
            metric=Classification(column=labels) if labels else Discernibility(),
        )
        if best is None:
            with pytest.raises(Infeasible):
                search.run(case.problem(), models, Context())
            return
        outcome = search.run(case.problem(), models, Context())
        account = outcome.account
        assert account.proven
        assert account.cost == account.bound
        unit = len(case.rows) if labels else 1
        assert account.cost == pytest.approx(best / unit)
        found = Classification(column=labels) if labels else Discernibility()
        reached = found.measure(outcome.release.problem, outcome.release, Context())
        assert reached.value == pytest.approx(best / unit)
        for model in models:
            view = outcome.release.view
            assert all(
                v.holds for v in model.measure(*measured(outcome.release.problem, view), Context())
            )
        decided += 1

    tried()
    assert decided > 20


def test_a_short_time_box_still_gives_a_release_and_a_bound() -> None:
    case = random_case(np.random.default_rng(5), rows=200, quasi=4, kinds=("number", "ordered"))
    late = Context(deadline=0.0)
    account = KOptimize().run(case.problem(), [KAnonymity(k=5)], late).account
    assert not account.proven
    assert account.cost is not None
    assert account.bound is not None
    assert account.bound <= account.cost
