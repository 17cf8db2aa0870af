"""Weights of columns as a person writes them."""

from __future__ import annotations

import pytest

from anon_core.errors import BadPlan
from anon_core.weights import attribute_weights
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
