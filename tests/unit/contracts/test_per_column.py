"""Weights, levels and limits of columns, and what older recipes say of them."""

from __future__ import annotations

from typing import Any

import pytest

from anon_core.base.errors import BadPlan
from anon_core.contracts.per_column import levels_by_column, limits_by_column, weights_by_column
from anon_core.recipe.old_recipes import VERSION, renewed
from tests.making import PATIENTS, Case

PROBLEM = PATIENTS.problem()
BORN = Case(
    columns={"born": ["2001-01-01", "2002-02-02"], "age": ["1", "2"]},
    quasi=("born", "age"),
    kinds={"born": "date", "age": "number"},
).problem()


def test_weights_by_column() -> None:
    assert weights_by_column(PROBLEM, {}, "mondrian").tolist() == [1, 1]
    assert weights_by_column(PROBLEM, {"zip": 0.5, "age": 3.0}, "mondrian").tolist() == [3, 0.5]


def test_levels_by_column() -> None:
    assert levels_by_column(PROBLEM, {}, "x") == (0, 0)
    assert levels_by_column(PROBLEM, {"zip": 1}, "x") == (0, 1)
    assert levels_by_column(PROBLEM, {"zip": 2, "age": 1}, "x") == (1, 2)
    assert levels_by_column(PROBLEM, {"zip": 0}, "x", unnamed=(2, 2)) == (2, 0)
    with pytest.raises(BadPlan, match="the level of 'zip' is 3; its hierarchy has the levels 0 to"):
        levels_by_column(PROBLEM, {"zip": 3}, "x")
    with pytest.raises(BadPlan, match="its hierarchy has the levels 0 to 2"):
        levels_by_column(PROBLEM, {"zip": 10**5000}, "x")


def test_limits_by_column() -> None:
    given: dict[str, Any] = {"age": {"low": 1, "high": 2.5}, "born": {"low": "2001-06-01"}}
    assert limits_by_column(BORN, given, "x") == {"age": ("1", "2.5"), "born": ("2001-06-01", "")}
    for wrong in ({"born": {"low": 5, "high": 3}}, {"age": {"low": 3, "high": 3}}):
        with pytest.raises(BadPlan, match="two numbers or dates in order"):
            limits_by_column(BORN, wrong, "x")


@pytest.mark.parametrize("read", [weights_by_column, levels_by_column, limits_by_column])
def test_columns_that_are_no_quasi_identifiers(read: Any) -> None:
    for name in ("ages", "illness"):
        with pytest.raises(BadPlan) as refused:
            read(PROBLEM, {name: 1}, "mondrian")
        assert f"names '{name}', which is not a quasi-identifier; they are 'age', 'zip'" in str(
            refused.value
        )


@pytest.mark.parametrize(
    ("parameter", "text", "expected"),
    [
        ("weights", "", {}),
        ("weights", " | ", {}),
        ("weights", "zip=0.5|age = 3", {"zip": 0.5, "age": 3}),
        ("weights", "a = b = 1e-3", {"a = b": 0.001}),
        ("levels", "age = 2 | sex = 1", {"age": 2, "sex": 1}),
        (
            "limits",
            "age = 18..80 | hours = ..60",
            {"age": {"low": 18, "high": 80}} | {"hours": {"high": 60}},
        ),
        ("limits", "born = 2010-01-01..", {"born": {"low": "2010-01-01"}}),
        ("limits", "x = 018..1.50", {"x": {"low": "018", "high": "1.50"}}),
        ("limits", "x = -1.5..", {"x": {"low": -1.5}}),
        ("sets", " age + note| illness |", [["age", "note"], ["illness"]]),
        ("sets", "", []),
    ],
)
def test_what_an_older_recipe_writes_as_a_text(parameter: str, text: str, expected: object) -> None:
    given = {"name": "x", parameter: text}
    found, notes = renewed({"algorithm": given})
    assert found["algorithm"][parameter] == expected
    assert parameter in notes[0]
    assert given[parameter] == text, "what was given is left as it is"
    assert renewed(found) == (found, ())


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        ("weights", "age"),
        ("weights", "age = much"),
        ("weights", "age = 2 | age = 3"),
        ("levels", "zip = 1.0"),
        ("levels", "= 1"),
        ("limits", "age = 5"),
        ("limits", "age = 1..2..3"),
    ],
)
def test_what_an_older_recipe_says_badly_is_refused_by_the_plan(parameter: str, text: str) -> None:
    algorithm = {"weights": "mondrian", "levels": "fixed-levels", "limits": "top-bottom-coding"}
    given = {"name": algorithm[parameter], parameter: text}
    assert renewed({"algorithm": given}) == ({"version": VERSION, "algorithm": given}, ())
    with pytest.raises(BadPlan, match=f"parameter '{parameter}' is '.*'; allowed is a table of"):
        PATIENTS.plan(algorithm=given)
