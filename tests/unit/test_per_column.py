"""Weights and levels of columns as a person writes them."""

from __future__ import annotations

import pytest

from anon_core.errors import BadPlan
from anon_core.per_column import attribute_levels, attribute_weights
from tests.making import PATIENTS

PROBLEM = PATIENTS.problem()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [1, 1]),
        (" | ", [1, 1]),
        ("zip = 2", [1, 2]),
        ("zip=0.5|age = 3", [3, 0.5]),
        ("age = 1e-3", [0.001, 1]),
    ],
)
def test_weights_by_column(text: str, expected: list[float]) -> None:
    assert attribute_weights(PROBLEM, text, "mondrian").tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ages = 2", "weight for 'ages', which is no quasi-identifier; they are 'age', 'zip'"),
        ("age", "weight for 'age', which is no quasi-identifier"),
        ("illness = 2", "weight for 'illness'"),
        ("age = 2 | age = 3", "'age' has two weights"),
        ("age = much", "the weight of 'age' is 'much'; allowed is a number above 0"),
        ("age = 0", "the weight of 'age' is '0'"),
        ("age = -1", "the weight of 'age' is '-1'"),
        ("age = nan", "the weight of 'age' is 'nan'"),
        ("age = inf", "the weight of 'age' is 'inf'"),
    ],
)
def test_weights_that_mean_nothing(text: str, message: str) -> None:
    with pytest.raises(BadPlan) as refused:
        attribute_weights(PROBLEM, text, "mondrian")
    assert message in refused.value.message
    assert refused.value.remedy


def test_levels_by_column() -> None:
    assert attribute_levels(PROBLEM, "", "x") == (0, 0)
    assert attribute_levels(PROBLEM, "zip = 1", "x") == (0, 1)
    assert attribute_levels(PROBLEM, "zip = 2 | age = 1", "x") == (1, 2)


@pytest.mark.parametrize("text", ["zip = 3", "zip = -1", "zip = 1.0", "zip = x", "zip = "])
def test_levels_a_hierarchy_lacks(text: str) -> None:
    with pytest.raises(BadPlan, match="its hierarchy has the levels 0 to 2"):
        attribute_levels(PROBLEM, text, "x")
    with pytest.raises(BadPlan, match="level for 'no', which is no quasi-identifier"):
        attribute_levels(PROBLEM, "no = 1", "x")
