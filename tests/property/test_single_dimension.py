"""Top-down, one dimension at a time: equal values publish alike, and nothing more can be split."""

from __future__ import annotations

import numpy as np

from anon_core.base.errors import Infeasible
from anon_core.job.runner import run
from tests.making import random_case


def test_equal_values_publish_the_same_everywhere() -> None:
    rng = np.random.default_rng(97)
    split = 0
    for _ in range(40):
        case = random_case(rng, rows=30)
        plan = case.plan(
            algorithm={"name": "single-dimension", "weights": {"q0": 2}},
            models=[
                {"name": "k-anonymity", "k": 3},
                {"name": "l-diversity", "l": 2, "column": "s0"},
            ],
        )
        try:
            result = run(plan, case.dataset, case.levels)
        except Infeasible:
            continue
        assert result.verification.holds
        problem, release = result.problem, result.release
        member = release.grouping.member
        for d, name in enumerate(problem.quasi):
            said = release.cells[name][member]
            leaf = problem.frequency.codes[:, d]
            pairs = np.unique(np.stack([leaf, said], axis=1), axis=0)
            assert len(pairs) == len(np.unique(leaf))
        split += len(result.class_sizes) > 1
    assert split > 10
