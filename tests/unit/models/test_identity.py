"""Promises about identity: worked examples, what is refused, and both computations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.registry import find
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.release.release import raw_view
from anon_core.techniques.models.average_risk import AverageRisk
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.k_map import KMap
from anon_core.techniques.models.maximum_risk import MaximumRisk
from anon_core.verification.checks import verify
from tests.asked import measured
from tests.making import PATIENTS, Case

#: Table R of the worked examples: two classes of 2 and 1 rows; of the register 3 and 2, and 1 more.
ROWS = Case(columns={"qi": ["q1", "q1", "q2"]}, quasi=("qi",), kinds={"qi": "text"})
REGISTER = Dataset.from_frame(
    replace(ROWS, columns={"qi": ["q1", "q1", "q1", "q2", "q2", "q3"]}).frame, kinds=ROWS.kinds
)
#: Table Z: sex, age and zip of five people.
FIVE = Case(
    columns={
        "sex": ["F", "F", "M", "M", "M"],
        "age": ["30", "30", "30", "40", "40"],
        "zip": ["1", "2", "1", "1", "2"],
    },
    quasi=("sex", "age", "zip"),
    kinds={"sex": "text", "age": "number", "zip": "text"},
)


@pytest.mark.parametrize(
    ("model", "register", "reached", "holds"),
    [
        (KMap(k=2), True, 2, True),  # M-35
        (KMap(k=3), True, 2, False),  # M-36
        (AverageRisk(risk=0.67), False, Fraction(2, 3), True),  # M-39
        (AverageRisk(risk=0.66), False, Fraction(2, 3), False),
        (MaximumRisk(risk=0.5), False, 1, False),  # M-40
        (AverageRisk(risk=0.4), True, Fraction(7, 18), True),  # M-41
        (AverageRisk(risk=0.38), True, Fraction(7, 18), False),
        (MaximumRisk(risk=0.5), True, Fraction(1, 2), True),  # M-42
        (MaximumRisk(risk=0.49), True, Fraction(1, 2), False),
    ],
)
def test_the_worked_examples_of_risks_and_registers(
    model: GroupModel, register: bool, reached: Fraction, holds: bool
) -> None:
    problem = ROWS.problem(REGISTER if register else None)
    (verdict,) = model.measure(*measured(problem, raw_view(problem)), Context())
    assert verdict.holds == holds
    assert verdict.reached == pytest.approx(float(reached))


@pytest.mark.parametrize(
    ("columns", "k", "reached"), [(["sex"], 2, 2), (["age"], 2, 2), (["sex", "age"], 2, 1)]
)
def test_the_worked_example_of_sets_of_columns(columns: list[str], k: int, reached: int) -> None:
    """M-47: each column alone has two of everything, and M with 30 is alone."""
    problem = FIVE.problem()
    model = KAnonymity.from_mapping({"k": k, "columns": columns})
    (verdict,) = model.measure(*measured(problem, raw_view(problem)), Context())
    assert verdict.reached == reached
    assert verdict.holds == (reached >= k)
    assert all(f"'{name}'" in verdict.sentence for name in columns)


def test_removing_one_row_is_enough_in_the_worked_example() -> None:
    asked: list[Any] = [
        {"name": "k-anonymity", "k": 2, "columns": names}
        for names in (["sex"], ["age"], ["sex", "age"])
    ]
    plan = FIVE.plan(algorithm={"name": "fixed-levels", "levels": {}}, models=asked)
    exact = {"sex": 0, "age": 0, "zip": 0}
    plan = FIVE.plan(
        algorithm={"name": "fixed-levels", "levels": exact, "max_suppression": 0.2}, models=asked
    )
    result = run(plan, FIVE.dataset, assess=False)
    assert result.release.suppressed == 1
    assert [v.reached for v in result.verdicts] == [2, 2, 2]
    # Recomputed from the file, stricter promises are broken, and rows are named.
    recipe = plan.completed()
    for k, names, broken in ((3, ["sex", "age"], True), (2, ["age"], False), (3, ["age"], True)):
        recipe_fields = recipe | {"models": [{"name": "k-anonymity", "k": k, "columns": names}]}
        found = verify(recipe_fields, FIVE.frame, {}, dict(result.files))
        (check,) = [c for c in found.checks if c.name == "k-anonymity"]
        assert (not check.holds) == broken
        assert bool(check.rows) == broken


@pytest.mark.parametrize("subsets", [0, 1, 2, 3])
def test_every_few_columns_are_recomputed(subsets: int) -> None:
    """Both computations reach the same rarest combination, whatever the k."""
    recipe = {"name": "k-anonymity", "k": 2, "columns": ["sex", "age", "zip"], "subsets": subsets}
    plan = FIVE.plan(algorithm={"name": "optimal", "max_suppression": 0.4}, models=[recipe])
    result = run(plan, FIVE.dataset, assess=False)
    (check,) = [c for c in result.verification.checks if c.name == "k-anonymity"]
    assert check.reached == result.verdicts[0].reached
    if subsets == 1:  # single columns have two of everything already
        assert result.account.node == {"sex": 0, "age": 0, "zip": 0}
        assert result.release.suppressed == 0
        assert result.class_sizes.min() == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"columns": ["zpi"]}, "Did you mean 'zip'"),
        ({"columns": ["age"], "subsets": 2}, "sets of 2 columns, and there are 1"),
        ({"subsets": 4}, "sets of 4 columns, and there are 3"),
    ],
)
def test_columns_that_are_not_there_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(BadPlan) as refused:
        KAnonymity.from_mapping({"k": 2, **given}).check(FIVE.problem())
    assert words in str(refused.value)


@pytest.mark.parametrize("name", ["average-risk", "maximum-risk"])
@pytest.mark.parametrize("risk", [0, 2, -0.1, 1.5])
def test_a_risk_is_a_share(name: str, risk: float) -> None:
    with pytest.raises(BadPlan, match="a number from 1e-06 to 1"):
        find("model", name).from_mapping({"risk": risk})


@pytest.mark.parametrize("model", [AverageRisk, MaximumRisk])
def test_no_risk_is_below_one_in_all(model: type[AverageRisk | MaximumRisk]) -> None:
    problem = PATIENTS.problem()
    model(risk=0.17).check(problem)
    assert model().feasible(problem)[0].low == pytest.approx(1 / 6)
    with pytest.raises(Infeasible) as refused:
        model(risk=0.16).check(problem)
    assert refused.value.best == pytest.approx(1 / 6)
    assert "0.1667" in refused.value.remedy
    # With a register it is one of all its people.
    doubled = Dataset.from_frame(PATIENTS.frame.loc[[*range(6)] * 2], kinds=PATIENTS.kinds)
    model(risk=0.084).check(PATIENTS.problem(doubled))
    with pytest.raises(Infeasible):
        model(risk=0.083).check(PATIENTS.problem(doubled))


def test_a_register_must_hold_everyone() -> None:
    with pytest.raises(BadPlan, match="needs a public table"):
        KMap().check(ROWS.problem())
    with pytest.raises(BadPlan, match="Its size alone does not say"):
        KMap().check(ROWS.problem(10))
    other = replace(ROWS, columns={"qi": ["q1", "q1", "q3"]}).dataset
    with pytest.raises(BadPlan, match="1 of 3 rows have no person of their own"):
        KMap().check(ROWS.problem(other))
    assert KMap().feasible(ROWS.problem(REGISTER))[0].high == 6
    with pytest.raises(Infeasible, match="has 6 whom") as refused:
        KMap(k=7).check(ROWS.problem(REGISTER))
    assert refused.value.best == 6


@pytest.mark.parametrize(
    ("promise", "strict"),
    [
        ({"name": "k-map", "k": 2}, {"k": 3}),
        ({"name": "maximum-risk", "risk": 0.5}, {"risk": 0.3}),
        ({"name": "average-risk", "risk": 0.4}, {"risk": 0.38}),
    ],
)
def test_both_computations_agree_with_a_register(
    promise: dict[str, Any], strict: dict[str, Any]
) -> None:
    plan = ROWS.plan(models=[promise])
    result = run(plan, ROWS.dataset, population=REGISTER, assess=False)
    assert result.account.node == {"qi": 0}
    (check,) = [c for c in result.verification.checks if c.name == promise["name"]]
    assert check.holds
    assert check.reached == pytest.approx(result.verdicts[0].reached)
    recipe = plan.completed() | {"models": [promise | strict]}
    found = verify(recipe, ROWS.frame, {}, dict(result.files), REGISTER.frame())
    (check,) = [c for c in found.checks if c.name == promise["name"]]
    assert not check.holds
    # Without the register a risk is that of the rows, and k-map is not decided.
    alone = verify(plan.completed(), ROWS.frame, {}, dict(result.files))
    (check,) = [c for c in alone.checks if c.name == promise["name"]]
    assert not check.holds


def test_a_sample_is_no_register() -> None:
    """Nobody outside knows who was drawn, but a promise counts only people that a table names."""
    case = replace(PATIENTS, columns={n: [*v] * 20 for n, v in PATIENTS.columns.items()})
    plan = case.plan(data={"sample": 0.5}, models=[{"name": "maximum-risk", "risk": 0.25}])
    result = run(plan, case.dataset, case.levels, assess=False)
    assert result.class_sizes.min() >= 4
    assert "published rows" in result.verdicts[0].sentence


def test_quiet_parameters_leave_recipes_as_they_were() -> None:
    assert KAnonymity(k=3).as_mapping() == {"k": 3}
    recipe = KAnonymity.from_mapping({"k": 3, "columns": ["age"], "subsets": 1}).as_mapping()
    assert recipe == {"k": 3, "columns": ["age"], "subsets": 1}
