"""Top-down specialization: promises are kept, and a value is published in one way only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.techniques.algorithms.top_down import TopDownSpecialization, _information
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.asked import measured
from tests.making import Case, random_case
from tests.often import times
from tests.strategies import cases


@pytest.mark.often
@pytest.mark.parametrize("promises", ["k", "k+l"])
def test_releases_are_single_dimensional(promises: str) -> None:
    released = uncovered = 0

    @settings(max_examples=times(240, share=4))
    @given(case=cases(rows=(6, 50), quasi=(1, 3)), apart=st.booleans())
    def tried(case: Case, apart: bool) -> None:
        nonlocal released, uncovered
        if apart and promises == "k":
            case = replace(case, sensitive=())
        models: list[GroupModel] = [KAnonymity(k=2)]
        models += [DistinctLDiversity(l=2)] if promises == "k+l" else []
        problem = case.problem()
        try:
            outcome = TopDownSpecialization().run(problem, models, Context())
        except Infeasible as error:
            assert error.best is not None  # noqa: PT017 - most cases release
            return
        release = outcome.release
        released += 1
        uncovered += bool(outcome.account.steps)
        assert release.suppressed == 0
        for model in models:
            assert all(v.holds for v in model.measure(*measured(problem, release.view), Context()))
        member = release.grouping.member[problem.frequency.run_start]
        for d, name in enumerate(problem.quasi):
            codes = problem.frequency.run_codes[:, d]
            cells = release.cells[name][member]
            said: dict[int, int] = {}
            for code, cell in zip(codes.tolist(), cells.tolist(), strict=True):
                assert said.setdefault(code, cell) == cell
            vocabulary = release.vocabularies[name]
            assert np.all((vocabulary.lo[cells] <= codes) & (codes <= vocabulary.hi[cells]))

    tried()
    assert released > 30
    assert uncovered > 20


def test_information_is_that_of_the_definition() -> None:
    value = np.array([0, 0, 1, 1], dtype=np.int32)
    alike = np.array([0, 0, 1, 1], dtype=np.int32)
    apart = np.array([0, 1, 0, 1], dtype=np.int32)
    count = np.ones(4)
    assert _information(value, alike, count) == pytest.approx(1.0)
    assert _information(value, apart, count) == pytest.approx(0.0)
    assert _information(value, apart, np.array([3.0, 1.0, 1.0, 3.0])) == pytest.approx(
        1 - 0.811278, abs=1e-6
    )


def test_a_target_that_is_not_sensitive_is_refused() -> None:
    case = random_case(np.random.default_rng(62), rows=20, quasi=2)
    with pytest.raises(BadPlan, match="not marked as sensitive"):
        TopDownSpecialization(target="q0").run(case.problem(), [KAnonymity(k=2)], Context())


def test_without_time_everything_stays_hidden() -> None:
    case = random_case(np.random.default_rng(61), rows=40, quasi=2)
    outcome = TopDownSpecialization().run(case.problem(), [KAnonymity(k=2)], Context(deadline=0.0))
    assert outcome.release.grouping.classes == 1
