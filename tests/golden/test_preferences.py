"""What somebody prefers of a search: levels within bounds, column weights, the price of removal.

PE-36 to PE-39, each found by looking at all nodes of the table below, and by ARX 3.9.2 where it has
the feature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from anon_core.base.errors import BadPlan, Infeasible
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.techniques.metrics.choices_left import ChoicesLeft
from anon_core.techniques.metrics.largest_loss import LargestLoss
from anon_core.verification.checks import verify
from tests.making import Case, Levels

ROWS = (
    *(("F", "30", "1010"), ("F", "30", "1010"), ("F", "31", "1010"), ("M", "41", "1020")),
    *(("M", "41", "1020"), ("M", "42", "1030"), ("F", "52", "1030"), ("F", "52", "1030")),
    *(("M", "52", "1020"), ("M", "30", "1010"), ("F", "41", "1020"), ("F", "42", "1020")),
)
LEVELS: dict[str, Levels] = {
    "sex": [("F", "*"), ("M", "*")],
    "age": [(age, f"{age[0]}0s", "*") for age in ("30", "31", "41", "42", "52")],
    "zip": [("1010", "A", "*"), ("1020", "A", "*"), ("1030", "B", "*")],
}
QUASI = ("sex", "age", "zip")
CASE = Case(
    columns={name: [row[d] for row in ROWS] for d, name in enumerate(QUASI)},
    quasi=QUASI,
    kinds=dict.fromkeys(QUASI, "text"),
    levels=LEVELS,
)


def released(
    bounds: Mapping[str, object] | None = None, *, removed: int = 0, **algorithm: object
) -> Result:
    """Run a recipe of k = 2 with bounds on levels, where so many rows may go."""
    budget = {} if algorithm.get("name") == "spalm" else {"max_suppression": removed / len(ROWS)}
    plan = CASE.plan(
        algorithm={"name": "optimal", **budget, **algorithm},
        **({"level_bounds": bounds} if bounds else {}),
    )
    return run(plan, CASE.dataset, LEVELS)


def node(result: Result) -> tuple[int, ...]:
    assert result.account.node is not None
    return tuple(result.account.node[name] for name in QUASI)


@pytest.mark.parametrize(
    ("bounds", "removed", "found", "loss", "gone"),
    [
        ({}, 0, (1, 2, 0), Fraction(2, 3), 0),
        ({"age": {"most": 1}}, 0, (1, 1, 2), Fraction(35, 48), 0),
        ({"zip": {"least": 1}}, 3, (0, 1, 1), Fraction(19, 48), 3),
    ],
)
def test_pe_37_the_best_within_bounds(
    bounds: dict[str, object], removed: int, found: tuple[int, ...], loss: Fraction, gone: int
) -> None:
    result = released(bounds, removed=removed)
    assert node(result) == found
    assert result.account.proven
    assert result.account.cost == pytest.approx(float(loss))
    assert result.measures["loss"].value == pytest.approx(float(loss))
    assert result.release.suppressed == gone
    assert result.verification.holds
    checked = {check.name: check for check in result.verification.checks}
    assert ("level-bounds" in checked) == bool(bounds)


def test_pe_37_what_no_bounds_allow_names_the_bound_to_lift() -> None:
    with pytest.raises(Infeasible) as refused:
        released({"age": {"most": 1}, "zip": {"most": 0}})
    assert "the highest level of 'age' (1) or the highest level of 'zip' (0)" in str(refused.value)


def weighted(**given: Any) -> dict[str, Any]:
    return {"metric": {"name": "weighted-loss", **given}}


def test_pe_38_weights_of_columns() -> None:
    even = released(removed=2, **weighted())
    assert (node(even), even.account.cost) == ((0, 2, 0), pytest.approx(4 / 9))
    age = released(removed=2, **weighted(weights={"age": 3.0}))
    assert age.account.cost == pytest.approx(13 / 30)
    assert age.release.suppressed == 2
    # The example's node costs the same; of equals the lowest is taken.
    bounds = {name: {"least": n, "most": n} for name, n in zip(QUASI, (0, 1, 2), strict=True)}
    other = released(bounds, removed=2, **weighted(weights={"age": 3.0}))
    assert (node(other), other.account.cost) == ((0, 1, 2), pytest.approx(13 / 30))
    assert node(age) == (1, 1, 0)


@pytest.mark.parametrize(
    ("share", "found", "loss", "gone"),
    [
        (1.0, (0, 1, 0), Fraction(43, 144), 3),
        (0.5, (0, 1, 0), Fraction(13, 72), 3),
        (0.25, (0, 1, 0), Fraction(35, 288), 3),
        (0.0, (0, 0, 0), Fraction(0), 6),
    ],
)
def test_pe_39_what_a_removed_row_counts(
    share: float, found: tuple[int, ...], loss: Fraction, gone: int
) -> None:
    result = released(removed=12, **weighted(removed_counts=share))
    assert node(result) == found
    assert result.account.cost == pytest.approx(float(loss))
    assert result.release.suppressed == gone


def test_pe_36_and_39_the_loss_of_one_node() -> None:
    bounds = {name: {"least": n, "most": n} for name, n in zip(QUASI, (0, 1, 1), strict=True)}
    whole = released(bounds, removed=3)
    columns = {"sex": 1 / 4, "age": 19 / 48, "zip": 13 / 24}
    assert whole.measures["loss"].per_column == pytest.approx(columns)
    assert whole.measures["loss"].value == pytest.approx(19 / 48)
    asked = replace(whole.plan, metrics=(*whole.plan.metrics, LargestLoss()))
    most = run(asked, CASE.dataset, LEVELS)
    assert most.measures["largest-loss"].value == pytest.approx(13 / 24)
    half = released(bounds, removed=3, **weighted(removed_counts=0.5))
    assert half.account.cost == pytest.approx(7 / 24)


@pytest.mark.parametrize(
    ("levels", "ambiguity", "share"),
    [
        ((0, 1, 1), Fraction(10), 0.487760888),
        ((0, 0, 0), Fraction(31, 2), 0.5),
        ((1, 1, 1), Fraction(32, 3), 0.608222602),
        ((0, 2, 1), Fraction(65, 6), 0.669943944),
    ],
)
def test_pe_34_and_35_the_choices_that_are_left(
    levels: tuple[int, int, int], ambiguity: Fraction, share: float
) -> None:
    """k = 2, removed rows count as all 30 combinations; 12 rows."""
    bounds = {name: {"least": n, "most": n} for name, n in zip(QUASI, levels, strict=True)}
    plan = replace(released(bounds, removed=12).plan, metrics=(ChoicesLeft(),))
    found = run(plan, CASE.dataset, LEVELS).measures["choices-left"]
    assert found.value == found.share == pytest.approx(share)
    assert list(found.also.values()) == pytest.approx([float(ambiguity)])


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"age": {"least": 2, "most": 1}}, "the lowest level, 2, is above the highest, 1"),
        (
            {"age": {"most": 3}},
            "highest level set for 'age' is 3; its hierarchy has the levels 0 to 2",
        ),
        (
            {"age": {"least": 3}},
            "lowest level set for 'age' is 3; its hierarchy has the levels 0 to 2",
        ),
        ({"age": {"least": -1}}, "least is -1"),
        ({"age": {"least": True}}, "least is True"),
        ({"age": {"least": "1"}}, "least is '1'"),
        ({"age": {"lowest": 1}}, "unknown key 'lowest'"),
        ({"age": {}}, "Write { least = 1, most = 2 }"),
        ({"age": 1}, "Write { least = 1, most = 2 }"),
        ({"ages": {"least": 1}}, "'ages', which is not a quasi-identifier"),
    ],
)
def test_bounds_that_are_none_are_refused_by_name(bounds: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPlan) as refused:
        released(bounds)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", ["mondrian", "anytime", "local-recoding", "k-member", "anatomy"])
def test_a_technique_that_cannot_keep_bounds_is_refused_by_name(name: str) -> None:
    plan = CASE.plan(algorithm={"name": name}, level_bounds={"age": {"least": 1}})
    with pytest.raises(BadPlan) as refused:
        run(plan, CASE.dataset, LEVELS)
    assert refused.value.message.startswith(plan.algorithm.title)
    assert "'age'" in refused.value.message


@pytest.mark.parametrize("model", ["TS", "AS"])
def test_what_may_be_changed_and_bounds_that_leave_no_level_are_refused(model: str) -> None:
    with pytest.raises(BadPlan, match="'age' has no level from 1 to 1"):
        released({"age": {"least": 1, "most": 1}}, removed=12, transformation=model)


def test_whole_columns_may_be_suppressed_within_bounds() -> None:
    found = released({"zip": {"least": 1}}, removed=12, transformation="AS")
    assert node(found)[2] == 2


def test_chosen_levels_beyond_the_bounds_are_refused() -> None:
    with pytest.raises(BadPlan, match="lowest and highest level are set to 0 and 1"):
        released({"age": {"most": 1}}, name="fixed-levels", levels={"age": 2})


def test_weights_that_are_all_zero_or_name_no_column_are_refused() -> None:
    with pytest.raises(BadPlan, match="every column has the weight 0"):
        released(**weighted(weights=dict.fromkeys(QUASI, 0.0)))
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        released(**weighted(weights={"ages": 1.0}))
    with pytest.raises(BadPlan, match="-1"):
        released(**weighted(weights={"age": -1.0}))


def test_the_second_computation_finds_a_level_beyond_the_bounds() -> None:
    result = released(removed=3)  # at levels 0, 1, 0
    for bounds, holds in (
        ({"age": {"least": 1, "most": 1}, "zip": {"most": 0}}, True),
        ({"age": {"least": 2}}, False),
        ({"age": {"most": 0}}, False),
        ({"zip": {"least": 1}}, False),
    ):
        recipe = {**result.recipe.completed(), "level_bounds": bounds}
        found = verify(recipe, CASE.frame, LEVELS, result.files)
        (check,) = [c for c in found.checks if c.name == "level-bounds"]
        assert check.holds == holds
        assert found.holds == holds
    for odd in ({"age": {}}, {"age": {"least": "x"}}, {"sexes": {"least": 1}}, {"age": 1}):
        with pytest.raises(BadPlan, match="level_bounds"):
            verify({**result.recipe.completed(), "level_bounds": odd}, CASE.frame, LEVELS, {})


def test_a_recipe_keeps_its_bounds() -> None:
    plan = CASE.plan(level_bounds={"age": {"least": 1}, "zip": {"most": 1}})
    again = type(plan).from_toml(plan.as_toml())
    assert again.level_bounds == plan.level_bounds
    assert again.as_mapping()["level_bounds"] == {"age": {"least": 1}, "zip": {"most": 1}}
