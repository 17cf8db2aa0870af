"""Mondrian's choices of cuts, cells and weights against their recursion on sets of rows."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.pipeline.runner import run
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.asked import lost
from tests.making import Case, random_case
from tests.often import often, times
from tests.property.test_mondrian import parts_of
from tests.strategies import cases

pytestmark = pytest.mark.kernels


@pytest.mark.often
@pytest.mark.parametrize("metric", ["ncp", "loss"])
@pytest.mark.parametrize("output", ["mixed", "node", "set"])
@pytest.mark.parametrize("cuts", ["median", "quartiles", "best-gain"])
def test_cuts_are_those_of_the_recursion(cuts: str, output: str, metric: str) -> None:
    cut = 0

    @settings(max_examples=times(40))
    @given(
        case=cases(),
        k=st.integers(1, 3),
        least=st.sampled_from([0, 0, 2, 3]),
        quarters=st.lists(st.integers(1, 7), min_size=4, max_size=4),
    )
    def tried(case: Case, k: int, least: int, quarters: list[int]) -> None:
        nonlocal cut
        models: list[GroupModel] = [KAnonymity(k=max(k, 2))]
        needs: list[tuple[list[str], int]] = []
        if least:
            models.append(DistinctLDiversity(l=least, column="s0"))
            needs = [(case.column("s0"), least)]
        weights = {n: Fraction(w, 4) for n, w in zip(case.quasi, quarters, strict=False)}
        search = Mondrian(
            cut_at=cuts,
            output=output,
            metric=metric,
            weights={n: float(w) for n, w in weights.items()},
        )
        problem = case.problem()
        if not naive.keeps(range(problem.rows), max(k, 2), needs):
            with pytest.raises(Infeasible):
                search.run(problem, models, Context())
            return
        release = search.run(problem, models, Context()).release
        attributes = [
            dataclasses.replace(a, tree=output != "set" and a.tree) for a in case.attributes
        ]
        shown = [dataclasses.replace(a, tree=output == "node" or a.tree) for a in attributes]
        size = max(k, 2, least)
        ordered = list(weights.values())
        expected = (
            naive.mondrian(case.rows, attributes, size, needs, weights=ordered)
            if cuts == "median"
            else naive.gain_mondrian(
                case.rows,
                shown,
                size,
                needs,
                metric=metric,
                weights=ordered,
                quartiles=cuts == "quartiles",
            )
        )
        # Parts that publish the same box are one class.
        by_box: dict[tuple[tuple[str, ...], ...], list[int]] = {}
        for cells, members in naive.boxes(case.rows, shown, expected):
            by_box.setdefault(tuple(map(tuple, cells)), []).extend(members)
        assert parts_of(release) == {frozenset(part) for part in by_box.values()}
        cut += len(expected) > 1

    tried()
    assert cut > 2


@pytest.mark.parametrize("output", ["mixed", "node", "set"])
@pytest.mark.parametrize("cuts", ["median", "quartiles", "best-gain"])
@often(24)
@given(case=cases(rows=(6, 40)))
def test_what_is_published_verifies(cuts: str, output: str, case: Case) -> None:
    plan = case.plan(
        algorithm={"name": "mondrian", "cut_at": cuts, "output": output},
        models=[{"name": "k-anonymity", "k": 3}],
    )
    result = run(plan, case.dataset, case.levels, assess=False)
    assert result.verification.holds
    assert result.class_sizes.min() >= 3


def test_looking_for_savings_never_ends_dearer_on_average() -> None:
    rng = np.random.default_rng(41)
    cost: dict[str, float] = dict.fromkeys(("median", "quartiles", "best-gain"), 0.0)
    for _ in range(12):
        case = random_case(rng, rows=120, quasi=4)
        for cuts in cost:
            plan = case.plan(algorithm={"name": "mondrian", "cut_at": cuts})
            cost[cuts] += lost(run(plan, case.dataset, case.levels, assess=False), "ncp")
    assert cost["best-gain"] < cost["median"]
    assert cost["quartiles"] < cost["median"]
