"""What is offered after a refusal is the nearest that releases: the same as by trying all."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, Infeasible
from anon_core.explain.advice import trials
from anon_core.explain.advice.countermeasures import Inputs
from anon_core.explain.advice.fixes import Change
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from tests.making import Case
from tests.often import EVERY, times

LEVELS = {
    "age": [(str(a), f"{3 * (a // 3)} to {3 * (a // 3) + 2}", "*") for a in range(9)],
    "zip": [(str(z), f"Group {z // 2}", "*") for z in range(6)],
}


def case(drawn: random.Random, rows: int = 24) -> Case:
    return Case(
        columns={
            "age": [str(drawn.randrange(9)) for _ in range(rows)],
            "zip": [str(drawn.randrange(6)) for _ in range(rows)],
            "ill": [drawn.choice("abc") for _ in range(rows)],
        },
        quasi=("age", "zip"),
        sensitive=("ill",),
        kinds={"age": "number", "zip": "text", "ill": "text"},
        levels=LEVELS,
    )


def recipe_of(made: Case, **tables: Any) -> dict[str, Any]:
    """Return a recipe as a session has it: with the hierarchies that are given."""
    files = {name: f"{name}.csv" for name in LEVELS}
    return {**made.plan(**tables).as_mapping(), "hierarchies": files}


def outcome(made: Case, recipe: Mapping[str, Any]) -> float | None:
    """Return the loss of what a recipe releases; None where it releases or says nothing."""
    try:
        plan = Plan.from_mapping(recipe)
        levels = {name: rows for name, rows in made.levels.items() if name in plan.hierarchies}
        result = run(plan, made.dataset, levels)
    except AnonError:
        return None
    return None if result.is_silent else result.measures["loss"].share


def offered(made: Case, recipe: Mapping[str, Any]) -> list[Change]:
    given = Inputs(dataset=made.dataset, levels=made.levels)
    with pytest.raises(Infeasible) as refused:
        run(Plan.from_mapping(recipe), made.dataset, made.levels)
    return trials.mended(recipe, refused.value, given, Context())


@pytest.mark.often
@pytest.mark.parametrize("turn", range(times(12, share=3)))
def test_the_nearest_of_each_kind_is_that_of_trying_all(turn: int) -> None:
    drawn = random.Random(turn)
    made = case(drawn)
    levels = {"age": drawn.randrange(2), "zip": drawn.randrange(2)}
    recipe = recipe_of(
        made,
        algorithm={"name": "fixed-levels", "levels": levels, "max_suppression": 0.0},
        models=[{"name": "k-anonymity", "k": 12}],
    )

    def with_k(k: int) -> dict[str, Any]:
        return {**recipe, "models": [{"name": "k-anonymity", "k": k}]}

    def allowing(share: float) -> dict[str, Any]:
        return {**recipe, "algorithm": {**recipe["algorithm"], "max_suppression": share}}

    found = offered(made, recipe)
    sizes = [c for c in found if c.about == "size"]
    largest = next((k for k in range(11, 1, -1) if outcome(made, with_k(k)) is not None), None)
    assert [c.tables["models"][0]["k"] for c in sizes] == [largest] * (largest is not None)

    budgets = [c for c in found if c.about == "budget"]
    offers = {round(1000 * c.tables["algorithm"]["max_suppression"]) for c in budgets}
    near = {0, 500, *offers, *(one - 1 for one in offers)}
    shares = (s / 1000 for s in range(501) if EVERY or s in near or s % 20 == 0)
    least = next((one for one in shares if outcome(made, allowing(one)) is not None), None)
    assert [c.tables["algorithm"]["max_suppression"] for c in budgets] == (
        [least] * (least is not None)
    )

    left = [c for c in found if c.leaves_out]
    losses: dict[str, float] = {}
    for column in ("age", "zip"):
        rest = next(name for name in ("age", "zip") if name != column)
        roles = {**recipe["roles"], "quasi": [rest]}
        files = {rest: recipe["hierarchies"][rest]}
        own = {**recipe["algorithm"], "levels": {rest: levels[rest]}}
        loss = outcome(made, {**recipe, "roles": roles, "hierarchies": files, "algorithm": own})
        if loss is not None:
            losses[column] = loss
    if losses and len(found) == len(sizes) + len(budgets) + len(left):
        assert [c.leaves_out for c in left] == [min(losses, key=losses.__getitem__)]
    for change in found:
        assert outcome(made, {**recipe, **change.tables}) is not None, change.label


def test_a_share_that_cannot_be_had_is_raised_to_the_least_that_can() -> None:
    made = case(random.Random(3))
    recipe = recipe_of(
        made,
        algorithm={
            "name": "fixed-levels",
            "levels": {"age": 1, "zip": 2},
            "max_suppression": 0.0,
        },
        models=[{"name": "t-closeness", "t": 0.01}],
    )
    change = next(c for c in offered(made, recipe) if c.about == "size")
    t = change.tables["models"][0]["t"]
    assert 0.01 < t < 1

    def with_t(value: float) -> dict[str, Any]:
        return {**recipe, "models": [{**recipe["models"][0], "t": value}]}

    assert outcome(made, with_t(t)) is not None
    assert outcome(made, with_t(t - 0.002)) is None


def test_a_release_that_says_nothing_is_offered_what_says_something() -> None:
    made = case(random.Random(5))
    recipe = recipe_of(
        made,
        algorithm={"name": "optimal", "max_suppression": 0.0},
        models=[{"name": "k-anonymity", "k": 24}],
    )
    assert run(Plan.from_mapping(recipe), made.dataset, made.levels).is_silent
    given = Inputs(dataset=made.dataset, levels=made.levels)
    found = trials.telling(recipe, given, Context())
    assert [c.about for c in found][:1] == ["size"]
    highest = found[0].tables["models"][0]["k"]

    def with_k(k: int) -> dict[str, Any]:
        return {**recipe, "models": [{"name": "k-anonymity", "k": k}]}

    assert outcome(made, with_k(highest)) is not None
    assert outcome(made, with_k(highest + 1)) is None
    for change in found:
        assert outcome(made, {**recipe, **change.tables}) is not None, change.label
