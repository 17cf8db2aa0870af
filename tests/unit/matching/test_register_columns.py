"""Registers that lack quasi-identifiers: attacks go by the columns they have, promises refuse."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.contracts.attack import Attack
from anon_core.release.attack_result import AttackResult
from anon_core.release.problem import Problem
from anon_core.release.release import View, raw_view
from anon_core.techniques.attacks.journalist import Journalist
from anon_core.techniques.attacks.linking import Linking
from anon_core.techniques.attacks.marketer import Marketer
from anon_core.techniques.attacks.membership import Membership
from anon_core.techniques.attacks.probabilistic_linkage import ProbabilisticLinkage
from anon_core.techniques.models.delta_presence import DeltaPresence
from anon_core.techniques.models.k_map import KMap
from anon_core.techniques.models.maximum_risk import MaximumRisk
from tests.asked import attacked, measured
from tests.making import Case, random_case


def known_only(case: Case, gone: str) -> Case:
    """Return the case without a column: what is left to anyone who does not know it."""
    return dataclasses.replace(
        case,
        columns={name: cells for name, cells in case.columns.items() if name != gone},
        quasi=tuple(name for name in case.quasi if name != gone),
        kinds={name: kind for name, kind in case.kinds.items() if name != gone},
        levels={name: rows for name, rows in case.levels.items() if name != gone},
    )


def private_part(case: Case, rows: int = 8) -> Case:
    return dataclasses.replace(case, columns={n: c[:rows] for n, c in case.columns.items()})


def cases() -> list[tuple[Case, str]]:
    found: list[tuple[Case, str]] = []
    rng = np.random.default_rng(14)
    while len(found) < 12:
        case = random_case(rng, rows=16)
        if len(case.quasi) > 1:
            found.append((case, case.quasi[int(rng.integers(len(case.quasi)))]))
    return found


def result_of(attack: Attack, problem: Problem, view: View | None = None) -> AttackResult:
    handed = attacked(problem, raw_view(problem) if view is None else view)
    (found,) = attack.run(*handed, Context(generator=np.random.default_rng(1)))
    return found


@pytest.mark.parametrize(
    "attack",
    [Journalist(), Marketer(), Membership(), Linking(people=100), ProbabilisticLinkage()],
    ids=lambda attack: attack.name,
)
def test_what_is_learned_is_what_the_known_columns_tell(attack: Attack) -> None:
    for case, gone in cases():
        register = known_only(case, gone).dataset
        lacking = private_part(case).problem(population=register)
        without = known_only(private_part(case), gone).problem(population=register)
        found, expected = result_of(attack, lacking), result_of(attack, without)
        assert f"The population table has no '{gone}'" in found.sentence
        assert lacking.strangers == without.strangers == 0
        assert found.rate == pytest.approx(expected.rate, abs=1e-9)
        assert found.raw == pytest.approx(expected.raw, abs=1e-9)
        assert found.worst == pytest.approx(expected.worst)


def test_the_person_of_a_row_is_found_by_what_the_register_has() -> None:
    for case, gone in cases():
        register = known_only(case, gone).dataset
        lacking = private_part(case).problem(population=register)
        without = known_only(private_part(case), gone).problem(population=register)
        for row in (1, 8):
            found, expected = (result_of(Linking(row=row), p) for p in (lacking, without))
            assert found.rate == pytest.approx(expected.rate)


def test_a_column_the_register_lacks_cannot_be_named_as_known() -> None:
    case, gone = cases()[0]
    problem = private_part(case).problem(population=known_only(case, gone).dataset)
    with pytest.raises(BadPlan, match=f"names '{gone}'"):
        result_of(Linking(columns=(gone,)), problem)


@pytest.mark.parametrize("model", [KMap(k=2), DeltaPresence()], ids=lambda model: model.name)
def test_a_promise_about_people_needs_every_column(model: KMap | DeltaPresence) -> None:
    case, gone = cases()[0]
    problem = private_part(case).problem(population=known_only(case, gone).dataset)
    with pytest.raises(BadPlan, match="is defined by all quasi-identifiers"):
        model.check(problem)
    with pytest.raises(BadPlan, match="is defined by all quasi-identifiers"):
        model.measure(*measured(problem, raw_view(problem)), Context())


def test_a_bound_on_the_risk_counts_rows_where_the_register_lacks_a_column() -> None:
    case, gone = cases()[0]
    private, risk = private_part(case), MaximumRisk(risk=0.5)
    lacking = private.problem(population=known_only(case, gone).dataset)
    assert not risk.counts_public(lacking.population)
    sentence = [
        risk.measure(*measured(problem, raw_view(problem)), Context())[0].sentence
        for problem in (lacking, private.problem())
    ]
    assert sentence[0] == sentence[1]
