"""One error tree whose messages hold no cell value."""

from __future__ import annotations

import pytest

from anon_core.base import errors
from anon_core.base.errors import AnonError, Infeasible, listing, nearest

KINDS = [
    k
    for k in vars(errors).values()
    if isinstance(k, type) and issubclass(k, AnonError) and k is not AnonError
]


def test_the_tree() -> None:
    assert {k.__name__ for k in KINDS} >= {
        "BadInput",
        "BadHierarchy",
        "BadPlan",
        "InputChanged",
        "Infeasible",
        "NotVerified",
        "Cancelled",
    }
    assert issubclass(AnonError, ValueError)


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_shown_only_when_asked_for(kind: type[AnonError]) -> None:
    error = kind("Row 3 is bad.", remedy="Mend it.", values=["secret", "it's"])
    assert str(error) == "Row 3 is bad. Mend it."
    assert (error.message, error.remedy) == ("Row 3 is bad.", "Mend it.")
    assert error.values == ("secret", "it's")
    assert error.full_text() == str(error)
    assert error.full_text(show_values=True) == str(error) + " Values: 'secret', \"it's\"."
    assert kind("Bad.").full_text(show_values=True) == "Bad."


def test_infeasible_carries_the_best_value_reached() -> None:
    assert Infeasible("No.").best is None
    assert Infeasible("No.", best=0.25).best == 0.25


def test_the_nearest_name() -> None:
    assert nearest("agee", ["age", "zip"]) == " Did you mean 'age'?"
    assert nearest("income", ["age", "zip"]) == ""
    assert nearest("x", []) == ""


def test_long_lists_are_cut() -> None:
    assert listing(["a", "b"]) == "'a', 'b'"
    assert listing([]) == ""
    assert listing(iter("abcd"), 2) == "'a', 'b' and 2 more"
    assert listing("abc", 3) == "'a', 'b', 'c'"
