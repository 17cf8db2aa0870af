"""A parameter is declared once; the declaration validates and words the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from anon_core.base.errors import BadPlan
from anon_core.base.params import Technique, choice, flag, integer, number, sensitive_column


@dataclass(frozen=True, kw_only=True)
class Example(Technique):
    """Every kind of parameter."""

    name: ClassVar[str] = "example"
    title: ClassVar[str] = "Example"
    summary: ClassVar[str] = "Nothing."

    rounds: int = integer(default=3, low=1, high=9, help="How often.", label="Rounds", unit="times")
    least: int = integer(default=2, low=2, help="At least.")
    share: float = number(default=0.5, low=0, high=1, help="How much.", unit="share")
    weight: float = number(default=1.0, low=0, help="How heavy.")
    way: str = choice(default="up", options=("up", "down"), help="Which way.")
    quick: bool = flag(default=False, help="Whether to hurry.")
    column: str = sensitive_column(help="Which column.")
    note: str = ""  # no parameter


def test_declared_parameters_come_in_order() -> None:
    names = [p.name for p in Example.parameters()]
    assert names == ["rounds", "least", "share", "weight", "way", "quick", "column"]
    by_name = {p.name: p for p in Example.parameters()}
    assert (by_name["rounds"].label, by_name["rounds"].unit) == ("Rounds", "times")
    assert by_name["rounds"].as_json() == {
        "name": "rounds",
        "type": "integer",
        "range": [1, 9],
        "options": None,
        "aliases": None,
        "options_of": None,
        "each": None,
        "default": 3,
        "unit": "times",
        "help": "How often.",
    }
    assert by_name["way"].as_json()["options"] == ["up", "down"]
    assert by_name["way"].as_json()["range"] is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rounds", "a whole number from 1 to 9"),
        ("least", "a whole number of at least 2"),
        ("share", "a number from 0 to 1"),
        ("weight", "a number of at least 0"),
        ("way", "one of 'up', 'down'"),
        ("quick", "true or false"),
        ("column", "the name of a sensitive column, or empty for every sensitive column"),
    ],
)
def test_what_is_allowed_in_words(name: str, words: str) -> None:
    found = next(p for p in Example.parameters() if p.name == name)
    assert found.allowed() == words
    with pytest.raises(BadPlan) as refused:
        Example(**{name: -1})
    default = getattr(Example(), name)
    assert refused.value.message == f"example: parameter '{name}' is -1; allowed is {words}."
    assert refused.value.remedy == f"Set '{name}' to {words}, for example {default!r}."


def test_a_number_without_bounds() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Free(Technique):
        name: ClassVar[str] = "free"
        shift: int = integer(default=0, low=None, help="Any.")  # type: ignore[arg-type]

    assert Free.parameters()[0].allowed() == "a whole number"
    assert Free(shift=-5).shift == -5


def test_values_take_the_parameters_type() -> None:
    made = Example(share=1)
    assert made.share == 1.0
    assert isinstance(made.share, float)
    assert made == Example(share=1.0)
    with pytest.raises(BadPlan):
        Example(rounds=np.float64(3))  # type: ignore[arg-type]


def test_mappings() -> None:
    made = Example.from_mapping({"rounds": 4, "quick": True, "column": "illness"})
    assert made.as_mapping() == {
        "rounds": 4,
        "least": 2,
        "share": 0.5,
        "weight": 1.0,
        "way": "up",
        "quick": True,
        "column": "illness",
    }
    with pytest.raises(BadPlan) as refused:
        Example.from_mapping({"round": 4})
    assert "unknown parameter 'round'; it has 'rounds', 'least'" in refused.value.message
    assert refused.value.remedy == "Remove or rename 'round'. Did you mean 'rounds'?"
    with pytest.raises(BadPlan):
        Example.from_mapping({"note": "x"})


def test_a_technique_without_parameters_says_so() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Bare(Technique):
        name: ClassVar[str] = "bare"

    with pytest.raises(BadPlan, match="it has no parameters"):
        Bare.from_mapping({"k": 2})
    assert Bare.from_mapping({}).as_mapping() == {}
