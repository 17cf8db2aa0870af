"""Top-down local recoding against a plain recursion."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.contracts.model import GroupModel, ModelLogic
from anon_core.kernels import cuts, specialize
from anon_core.methods.lattice.local_search import clock
from anon_core.techniques.algorithms import anytime as specialization
from anon_core.techniques.algorithms.anytime import local_parts, steers, whole_holds
from anon_core.techniques.metrics.loss import Loss
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.making import random_case
from tests.often import times


@pytest.fixture(params=["compiled", "plain"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test twice: with the kernels as they are, and with none of them compiled."""
    if request.param == "plain":
        names = ["common_level", "count_children", "pool_small", "specialize"]
        for name in names:
            kernel = getattr(specialize, name)
            monkeypatch.setattr(specialize, name, getattr(kernel, "py_func", kernel))
        for name in ("room_for", "side_holds"):
            kernel = getattr(cuts, name)
            monkeypatch.setattr(specialize, name, getattr(kernel, "py_func", kernel))
        monkeypatch.setattr(specialization, "specialize", specialize.specialize)
    return str(request.param)


@pytest.mark.often
@pytest.mark.kernels
@pytest.mark.parametrize("promises", ["k", "k+l"])
def test_parts_are_those_of_a_recursion(kernels: str, promises: str) -> None:
    rng = np.random.default_rng([36, len(promises)])
    parted = 0
    for _ in range(times(100 if kernels == "compiled" else 40, share=3)):
        case = random_case(rng, rows=int(rng.integers(4, 50)))
        models: list[GroupModel] = [KAnonymity(k=2)]
        models += [DistinctLDiversity(l=2)] if promises == "k+l" else []
        problem = case.problem()
        if not whole_holds(problem, models):
            continue
        needs = [(case.column(n), 2) for n in case.sensitive] if promises == "k+l" else []
        for weight in (0.0, 0.5, 1.0):
            part = local_parts(problem, models, Loss(), weight, clock(Context(), 60))
            assert part is not None
            member = part[problem.frequency.run[problem.frequency.row_key]]
            found = {tuple(np.flatnonzero(member == p).tolist()) for p in np.unique(member)}
            expected = naive.local_parts(case.rows, case.attributes, weight, 2, needs)
            assert found == {tuple(p) for p in expected}
            parted += len(found) > 1
    assert parted > times(30, share=3)


def test_which_models_can_steer_parts() -> None:
    class Other(KAnonymity):
        logic: ClassVar[ModelLogic] = replace(KAnonymity.logic, by_limits=False)

    assert steers([KAnonymity(k=2), DistinctLDiversity(l=2)])
    assert not steers([KAnonymity(k=2), Other(k=2)])


def test_time_that_is_up_gives_no_parts() -> None:
    problem = random_case(np.random.default_rng(3), rows=20, quasi=2).problem()
    late = clock(Context(deadline=0.0), 60)
    assert local_parts(problem, [KAnonymity(k=2)], Loss(), 1.0, late) is None
