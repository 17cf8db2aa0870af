"""Attacks that are run when asked for, and what a result then tells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.contracts.attack import Attack
from anon_core.data.table import Dataset
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.measure.assessment import evidence
from anon_core.pipeline.measure.extra_attacks import attack, attacked
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from tests import toy_attack

TABLE = Dataset.from_frame(pd.DataFrame({"age": ["1", "1", "2", "2"], "ill": ["a", "a", "b", "c"]}))
RECIPE = {
    "roles": {"quasi": ["age"], "sensitive": ["ill"]},
    "algorithm": {"name": "mondrian"},
    "models": [{"name": "k-anonymity", "k": 2}],
}


@pytest.fixture(autouse=True)
def asked_for() -> Iterator[type[Attack]]:
    with toy_attack.asked_for() as attack:
        yield attack


def made(**more: object) -> Result:
    return run(Plan.from_mapping({**RECIPE, **more}), TABLE)


def test_it_is_not_run_unless_asked_for(asked_for: type[Attack]) -> None:
    result = made()
    assert result.not_run["asked-for"] == "It is run when asked for."
    assert "asked-for" not in {a.attack for a in result.attacks}


def test_a_recipe_asks_for_it_and_a_person_gets_the_same_later(asked_for: type[Attack]) -> None:
    plain = made(seed="7" * 32)
    later = attacked(plain, asked_for(), attack(plain, asked_for(), Context()))
    at_once = made(seed="7" * 32, attacks=[{"name": "asked-for"}])
    assert later.plan == at_once.plan
    assert json.dumps(figures_of(later)["attacks"][-1]) in {
        json.dumps(a) for a in figures_of(at_once)["attacks"]
    }
    again = attacked(later, asked_for(), attack(later, asked_for(), Context()))
    assert len(again.attacks) == len(later.attacks)


def test_what_is_written_of_it(asked_for: type[Attack]) -> None:
    plain = made()
    later = attacked(plain, asked_for(), attack(plain, asked_for(), Context()))
    figures = figures_of(later)["attacks"][-1]
    assert figures["control"] == 0.25
    assert figures["corrected"] == pytest.approx(1 / 3)
    assert figures["classes_hit"] == [0]
    assert figures["details"][0]["rows"][0]["known"] == 0
    assert "asked-for" not in figures_of(later)["attacks_not_run"]


def test_what_does_not_apply_is_refused(asked_for: type[Attack]) -> None:
    plan = Plan.from_mapping({**RECIPE, "roles": {"quasi": ["age"], "insensitive": ["ill"]}})
    result = run(plan, TABLE)
    with pytest.raises(BadPlan, match="Asked for cannot be run on this release: It needs a secret"):
        attack(result, asked_for(), Context())


def test_the_questions_say_what_was_not_tested(asked_for: type[Attack]) -> None:
    plain = made()
    waiting = [e for e in evidence(plain) if e.attack == "asked-for"]
    assert [(e.question, e.tested, e.rate) for e in waiting] == [("linkability", False, None)]
    assert "asked for" in waiting[0].why
    later = attacked(plain, asked_for(), attack(plain, asked_for(), Context()))
    figures = [e for e in figures_of(later)["questions"] if e["attack"] == "asked-for"]
    assert [(e["tested"], e["rate"]) for e in figures] == [(True, 0.5)]
    assert {e.question for e in evidence(plain)} == {"singling out", "linkability", "inference"}


def test_every_figure_of_an_attack_is_explained() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "attacks.md").read_text()
    said = {"name", "column", "discloses", "answers"}  # in words
    said |= {"exposed", "threshold_met", "estimated", "upper_bound"}  # follow from the others
    for figure in figures_of(made())["attacks"]:
        assert not [key for key in figure if key not in said and f"`{key}`" not in text]


def test_every_key_of_the_figures_is_explained() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "figures.md").read_text()
    assert not [key for key in figures_of(made()) if f"`{key}`" not in text]
