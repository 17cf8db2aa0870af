"""Local recoding: never coarser than what it starts from."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from anon_core.base.errors import Infeasible
from anon_core.pipeline.runner import run
from tests.asked import lost
from tests.making import Case
from tests.often import times
from tests.strategies import cases


@pytest.mark.often
@pytest.mark.parametrize("first", ["optimal", "datafly"])
@pytest.mark.parametrize("budget", [0.0, 0.2, 1.0])
def test_it_never_loses_more_than_its_first_step(first: str, budget: float) -> None:
    better = 0

    @settings(max_examples=times(60))
    @given(case=cases(rows=(20, 40)))
    def tried(case: Case) -> None:
        nonlocal better
        models = [
            {"name": "k-anonymity", "k": 3},
            {"name": "l-diversity", "l": 2, "column": "s0"},
        ]
        start = {"name": first, "max_suppression": budget}
        local = {"name": "local-recoding", "first": first, "max_suppression": budget}
        try:
            before = run(
                case.plan(algorithm=start, models=models), case.dataset, case.levels, assess=False
            )
        except Infeasible:
            with pytest.raises(Infeasible):
                run(
                    case.plan(algorithm=local, models=models),
                    case.dataset,
                    case.levels,
                    assess=False,
                )
            return
        after = run(
            case.plan(algorithm=local, models=models), case.dataset, case.levels, assess=False
        )
        assert after.verification.holds
        assert after.release.suppressed <= before.release.suppressed
        assert lost(after) <= lost(before) + 1e-12
        better += lost(after) < lost(before) - 1e-9

    tried()
    assert better > 0
