"""Mondrian's choices of cuts, cells and weights against their recursion on sets of rows."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from anon_core.algorithms.mondrian import Mondrian
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.job.runner import run
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.making import random_case
from tests.property.test_mondrian import parts_of

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("metric", ["ncp", "loss"])
@pytest.mark.parametrize("output", ["mixed", "node", "set"])
@pytest.mark.parametrize("cuts", ["median", "quartiles", "best-gain"])
def test_cuts_are_those_of_the_recursion(cuts: str, output: str, metric: str) -> None:
    rng = np.random.default_rng([31, len(cuts), len(output), len(metric)])
    cut = 0
    for _ in range(25):
        case = random_case(rng)
        k, least = int(rng.integers(1, 4)), int(rng.choice([0, 0, 2, 3]))
        models: list[GroupModel] = [KAnonymity(k=max(k, 2))]
        needs: list[tuple[list[str], int]] = []
        if least:
            models.append(DistinctLDiversity(l=least, column="s0"))
            needs = [(case.column("s0"), least)]
        weights = {n: Fraction(int(rng.integers(1, 8)), 4) for n in case.quasi}
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
            continue
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
    assert cut > 5


@pytest.mark.parametrize("output", ["mixed", "node", "set"])
@pytest.mark.parametrize("cuts", ["median", "quartiles", "best-gain"])
def test_what_is_published_verifies(cuts: str, output: str) -> None:
    rng = np.random.default_rng(37)
    for _ in range(8):
        case = random_case(rng, rows=40)
        plan = case.plan(
            algorithm={"name": "mondrian", "cut_at": cuts, "output": output},
            models=[{"name": "k-anonymity", "k": 3}],
        )
        result = run(plan, case.dataset, case.levels)
        assert result.verification.holds
        assert result.class_sizes.min() >= 3


def test_looking_for_savings_never_ends_dearer_on_average() -> None:
    rng = np.random.default_rng(41)
    cost: dict[str, float] = dict.fromkeys(("median", "quartiles", "best-gain"), 0.0)
    for _ in range(20):
        case = random_case(rng, rows=200, quasi=4)
        for cuts in cost:
            plan = case.plan(algorithm={"name": "mondrian", "cut_at": cuts})
            cost[cuts] += run(plan, case.dataset, case.levels).measures["ncp"].value
    assert cost["best-gain"] < cost["median"]
    assert cost["quartiles"] < cost["median"]
