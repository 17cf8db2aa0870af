"""Roles: contradictions are refused, everything not named is published as it is."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_core.errors import BadInput, BadPlan
from anon_core.roles import Roles
from anon_core.table import Dataset

TABLE = Dataset.from_frame(
    pd.DataFrame(
        {"name": ["x", "y"], "age": [1, 2], "zip": [3, 4], "pay": [5, 6], "cat": ["a", "b"]}
    )
)


@pytest.mark.parametrize("role", ["identifier", "quasi", "sensitive"])
def test_a_column_twice_in_a_role(role: str) -> None:
    with pytest.raises(BadPlan) as caught:
        Roles(**{role: ("age", "zip", "age")})
    assert f"Role {role}" in caught.value.message
    assert "'age'" in caught.value.message
    assert "'zip'" not in caught.value.message
    assert "once" in caught.value.remedy


@pytest.mark.parametrize(
    ("role", "word"), [("quasi", "quasi-identifier"), ("sensitive", "sensitive")]
)
def test_an_identifier_is_nothing_else(role: str, word: str) -> None:
    with pytest.raises(BadPlan) as caught:
        Roles(identifier=("name", "age"), **{role: ("age",)})
    assert "'age'" in caught.value.message
    assert word in caught.value.message
    assert "removed from the release" in caught.value.remedy


def test_quasi_and_sensitive_may_coincide() -> None:
    roles = Roles(quasi=("age",), sensitive=("age",))
    assert roles.of("age") == ("quasi", "sensitive")


def test_no_quasi_identifier() -> None:
    with pytest.raises(BadPlan) as caught:
        Roles(sensitive=("pay",)).check(TABLE)
    assert "No column is marked as quasi-identifier" in caught.value.message
    assert "Mark at least one" in caught.value.remedy


@pytest.mark.parametrize("role", ["identifier", "quasi", "sensitive"])
def test_a_column_that_is_not_there(role: str) -> None:
    with pytest.raises(BadInput) as caught:
        Roles(**{role: ("agee",)}).check(TABLE)
    assert "'agee'" in caught.value.message
    assert "Did you mean 'age'?" in caught.value.remedy


def test_what_each_column_is() -> None:
    roles = Roles(identifier=("name",), quasi=("zip", "age"), sensitive=("pay",))
    roles.check(TABLE)
    assert [roles.of(n) for n in TABLE.names] == [
        ("identifier",),
        ("quasi",),
        ("quasi",),
        ("sensitive",),
        ("insensitive",),
    ]
    assert roles.insensitive(TABLE) == ("cat",)
    assert roles.published(TABLE) == ("age", "zip", "pay", "cat")
