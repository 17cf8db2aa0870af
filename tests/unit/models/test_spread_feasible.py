"""What a table allows the models of sensitive values to ask, and what they refuse in words."""

from __future__ import annotations

import pytest

from anon_core.base.errors import AnonError, BadPlan, Infeasible
from anon_core.base.registry import find
from anon_core.contracts.model import GroupModel
from tests.making import Case

SALARY = ["10", "10", "10", "11", "20", "40"]
CASE = Case(
    columns={"q": list("aabbcc"), "salary": list(SALARY), "job": list("xxxyyz")},
    quasi=("q",),
    sensitive=("salary", "job"),
    kinds={"q": "text", "salary": "number", "job": "text"},
)


def model(name: str, **given: object) -> GroupModel:
    return find("model", name).from_mapping(given)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("name", "given", "parameter", "low", "high"),
    [
        ("k-anonymity", {"k": 2}, "k", 2, 6),
        ("l-diversity", {"column": "job"}, "l", 2, 3),
        ("frequency-l-diversity", {"column": "job"}, "l", 2, 2),
        ("alpha-k-anonymity", {"column": "job", "k": 2}, "alpha", 0.5, 1),
        ("recursive-l-diversity", {"column": "job", "l": 2}, "c", 1, None),
        ("background-bound", {"column": "job"}, "factor", 3, None),
        ("t-closeness", {"column": "job"}, "t", 0, 1),
        ("beta-likeness", {"column": "job"}, "beta", 0, None),
        ("delta-disclosure", {"column": "job"}, "delta", 0, None),
        ("k-e-anonymity", {"column": "salary"}, "e", 0, 30),
        ("epsilon-m-anonymity", {"column": "salary", "epsilon": 1}, "m", 1, 1.5),
        ("epsilon-m-anonymity", {"column": "salary", "epsilon": 0}, "m", 1, 2),
    ],
)
def test_what_a_table_allows(
    name: str, given: dict[str, object], parameter: str, low: float, high: float | None
) -> None:
    expected = {a.parameter: a for a in model(name, **given).feasible(CASE.problem())}
    assert (expected[parameter].low, expected[parameter].high) == (low, high)


@pytest.mark.parametrize(
    ("name", "given", "best", "advised"),
    [
        ("entropy-l-diversity", {"l": 2.8, "column": "job"}, 2.7495, {"l": 2.749}),
        ("recursive-l-diversity", {"c": 1, "column": "job"}, 1.0, {"c": 1.001}),
        ("alpha-k-anonymity", {"alpha": 0.49, "k": 2, "column": "job"}, 0.5, {"alpha": 0.5}),
        ("background-bound", {"factor": 2.9, "column": "job"}, 3.0, {"factor": 3}),
        ("k-e-anonymity", {"e": 30.5, "column": "salary"}, 30.0, {"e": 30}),
        ("epsilon-m-anonymity", {"m": 1.6, "epsilon": 1, "column": "salary"}, 1.5, {"m": 1.5}),
    ],
)
def test_a_refusal_names_the_best_and_what_it_advises_is_let_pass(
    name: str, given: dict[str, object], best: float, advised: dict[str, object]
) -> None:
    problem = CASE.problem()
    with pytest.raises(Infeasible) as refused:
        model(name, **given).check(problem)
    assert refused.value.best == pytest.approx(best, abs=1e-4)
    assert all(f"{value:g}" in refused.value.remedy for value in advised.values())  # type: ignore[str-format]
    model(name, **{**given, **advised}).check(problem)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("k-e-anonymity", {"column": "job"}, "about numbers"),
        ("epsilon-m-anonymity", {"column": "job"}, "about numbers"),
        ("epsilon-m-anonymity", {"column": "salary", "relative": True}, "above 0 and below 1"),
        ("t-closeness", {"column": "job", "distance": "ordered"}, "have no declared order"),
        ("t-closeness", {"column": "job", "distance": "hierarchical"}, "has no hierarchy"),
        ("entropy-l-diversity", {"column": "q"}, "not marked as sensitive"),
    ],
)
def test_what_a_column_cannot_be_asked(name: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(BadPlan, match=words):
        model(name, **given).check(CASE.problem())


def test_missing_values_have_no_place_among_numbers() -> None:
    columns: dict[str, list[str | None]] = {"q": list("ab"), "salary": ["1", None]}
    case = Case(columns=columns, quasi=("q",), sensitive=("salary",), kinds={"salary": "number"})
    for name, given in (
        ("k-e-anonymity", {}),
        ("epsilon-m-anonymity", {}),
        ("t-closeness", {"distance": "ordered"}),
    ):
        with pytest.raises(AnonError, match="missing values"):
            model(name, **given).check(case.problem())


@pytest.mark.parametrize(
    ("given", "fewest"),
    [
        ({"name": "t-closeness", "t": 0.2}, 8),
        ({"name": "delta-disclosure", "delta": 1}, 10),
        # One row of N is 1/N of them, a value 1/10 of the table: N ≥ 10 / (1 + β).
        ({"name": "beta-likeness", "beta": 0.5}, 7),
    ],
)
def test_a_column_of_different_values_is_told_to_leave_one_class(
    given: dict[str, object], fewest: int
) -> None:
    own = [str(10 + i) for i in range(10)]
    case = Case(columns={"q": list("aabbccddee"), "s": own}, quasi=("q",), sensitive=("s",))
    asked = {n: v for n, v in given.items() if n != "name"}
    (cautions,) = model(str(given["name"]), **asked).cautions(case.problem())
    assert f"at least {fewest} of 10 rows" in cautions
    few = Case(
        columns={"q": list("aabbccddee"), "s": list("xy" * 5)}, quasi=("q",), sensitive=("s",)
    )
    assert model(str(given["name"]), **asked).cautions(few.problem()) == ()
    by_order = model("t-closeness", t=0.2, distance="ordered")
    assert by_order.cautions(case.problem()) == ()
