"""Top-down, one dimension at a time: equal values publish alike, and nothing more can be split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from anon_core.base.errors import Infeasible
from anon_core.pipeline.runner import run
from tests.making import Case
from tests.often import times
from tests.strategies import cases


@pytest.mark.often
def test_equal_values_publish_the_same_everywhere() -> None:
    split = 0

    @settings(max_examples=times(160))
    @given(case=cases(rows=(4, 40)))
    def tried(case: Case) -> None:
        nonlocal split
        plan = case.plan(
            algorithm={"name": "single-dimension", "weights": {"q0": 2}},
            models=[
                {"name": "k-anonymity", "k": 3},
                {"name": "l-diversity", "l": 2, "column": "s0"},
            ],
        )
        try:
            result = run(plan, case.dataset, case.levels, assess=False)
        except Infeasible:
            return
        assert result.verification.holds
        problem, release = result.problem, result.release
        member = release.grouping.member
        for d, name in enumerate(problem.quasi):
            said = release.cells[name][member]
            leaf = problem.frequency.codes[:, d]
            pairs = np.unique(np.stack([leaf, said], axis=1), axis=0)
            assert len(pairs) == len(np.unique(leaf))
        split += len(result.class_sizes) > 1

    tried()
    assert split > 10
