"""Recipes of older versions are renewed with a note; those of newer ones are refused."""

from __future__ import annotations

from typing import Any

import pytest

from anon_core.base.errors import BadPlan
from anon_core.base.secret import draw, spell
from anon_core.recipe.old_recipes import VERSION, renewed
from anon_core.recipe.plan import Plan
from anon_core.verification.recipe import VERSIONS, read_terms

#: As recipes were written before they had a version.
OLD: dict[str, Any] = {
    "seed": 7,
    "roles": {"quasi": ["age", "sex"], "sensitive": ["illness"]},
    "algorithm": {"name": "mondrian", "weights": "age = 2 | sex = 0.5"},
    "models": [{"name": "k-anonymity", "k": 2}],
}
COLUMNS = ["age", "sex", "illness", "note"]


def test_an_older_recipe_is_renewed_and_says_what_changed() -> None:
    found, notes = renewed(OLD)
    assert found["version"] == VERSION
    assert found["algorithm"]["weights"] == {"age": 2.0, "sex": 0.5}
    assert found["seed"] == 7, "the release of then is made of it"
    assert len(notes) == 3
    for note, subject in zip(notes, ("insensitive", "seed", "weights"), strict=True):
        assert subject in note
    assert Plan.from_mapping(OLD).notes == notes
    assert renewed(found) == (found, ()), "what is renewed says nothing more"


def test_what_an_older_recipe_says_as_it_is_said_now_is_not_noted() -> None:
    roles = {**OLD["roles"], "insensitive": []}
    recipe = {**OLD, "seed": spell(draw()), "roles": roles, "algorithm": {"name": "mondrian"}}
    assert renewed(recipe)[1] == ()


def test_a_plan_writes_the_version_first() -> None:
    plan = Plan.from_mapping(OLD)
    assert plan.as_toml().startswith(f"version = {VERSION}\n")
    again = Plan.from_toml(plan.as_toml())
    assert again == plan
    assert again.notes == ()


def test_a_recipe_of_this_version_is_not_written_the_old_way() -> None:
    with pytest.raises(BadPlan, match="parameter 'weights'"):
        Plan.from_mapping({**OLD, "version": VERSION})


@pytest.mark.parametrize("version", [VERSION + 1, 0, -1, True, 1.0, "2", [2]])
def test_a_version_that_is_not_known_is_refused_twice(version: object) -> None:
    given = {**OLD, "version": version}
    with pytest.raises(BadPlan, match="version") as refused:
        Plan.from_mapping(given)
    assert refused.value.remedy
    with pytest.raises(BadPlan, match="version"):
        read_terms(given, COLUMNS)


def test_both_computations_know_the_same_versions() -> None:
    assert list(VERSIONS) == list(range(1, VERSION + 1))
    for version in VERSIONS:
        assert renewed({"version": version})[0] == {"version": VERSION}
        assert read_terms({**OLD, "version": version}, COLUMNS).quasi == ("age", "sex")
    assert read_terms(OLD, COLUMNS).left_out == ("note",)
