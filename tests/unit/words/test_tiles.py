"""The three figures of a result: what is certain, missed or undecided never looks good."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.base.registry import family
from anon_core.explain.text.checklist import thresholds
from anon_core.explain.text.phrases import kind_of
from anon_core.explain.text.tiles import Tile, certain, proven, standing, tiles
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from tests.ui.sessions import carried_out, load
from ui.state import state


@pytest.fixture(scope="module")
def result() -> Result:
    """Return eight people in classes of three and more, k = 2 asked for."""
    return carried_out(load())


def changed(result: Result, **by: dict[str, Any]) -> tuple[Tile, Tile, Tile]:
    """Return the tiles of a result of whose attacks some found something else; None drops one."""
    attacks: list[AttackResult] = []
    for attack in result.attacks:
        other = by.get(attack.attack.replace("-", "_"), by.get("every", {}))
        if other is not None:
            attacks.append(replace(attack, **other))
    return tiles(replace(result, attacks=tuple(attacks)))


#: No more than one in the smallest class, which has three.
FINE: dict[str, Any] = {"worst": 1 / 3, "threshold": 0.5, "at_risk": 0, "undecided": 0}


def test_a_missed_threshold_is_told_as_bad(result: Result) -> None:
    chance, people, lost = tiles(result)
    assert chance.figure == "1 in 3 (0.333)"
    assert chance.word == "beyond your threshold of 1 in 5 (0.2)"
    assert people.figure == "8 of 8"
    assert (chance.verdict, people.verdict, lost.verdict) == ("bad", "bad", "plain")
    assert lost.figure == f"{result.measures['loss'].value:.3f}"


def test_everything_within_its_threshold_is_good() -> None:
    held = load(models=[{"name": "k-anonymity", "k": 3}])
    with patch.object(st, "session_state", held):
        state.set_roles(replace(state.roles(), sensitive=()), ("Salary",))
    chance, people, _ = changed(carried_out(held), every=FINE)
    assert (chance.verdict, people.verdict) == ("good", "good")
    assert chance.word == "within your threshold of 1 in 2 (0.5)"
    assert people.figure == "0 of 8"
    assert people.word == "no threshold passed; no column is sensitive"
    assert "No attack guesses a value" in people.note


@pytest.mark.parametrize(
    ("found", "verdicts", "word"),
    [
        (
            {"marketer": FINE | {"worst": 0.6}},
            ("bad", "doubtful"),
            # What is cut off in a narrow strip is its end.
            "threshold missed by Marketer",
        ),
        ({"homogeneity": FINE | {"worst": 1.0, "at_risk": 3}}, ("bad", "bad"), "for 3 of 8 people"),
        ({"prosecutor": FINE | {"undecided": 2}}, ("doubtful",) * 2, "not all is decided"),
        ({"background": FINE | {"worst": 1.0, "at_risk": 1}}, ("doubtful",) * 2, "know more"),
    ],
)
def test_what_is_certain_missed_or_undecided_is_never_good(
    result: Result, found: dict[str, Any], verdicts: tuple[str, str], word: str
) -> None:
    chance, people, _ = changed(result, every=FINE, **found)
    assert (chance.verdict, people.verdict) == verdicts
    assert word in chance.word


def test_what_was_not_tested_is_never_good(result: Result) -> None:
    chance, people, _ = tiles(replace(result, attacks=()))
    assert (chance.figure, chance.verdict) == ("not tested", "doubtful")
    assert (people.figure, people.verdict) == ("not tested", "doubtful")
    chance, people, _ = changed(result, every=FINE | {"eligible": 0})
    assert {chance.verdict, people.verdict} == {"doubtful"}


def test_without_a_limit_the_surest_guess_is_told_neutrally_unless_it_is_certain(
    result: Result,
) -> None:
    guess = next(a for a in result.attacks if a.attack == "attribute-inference")
    chance, people, _ = tiles(replace(result, attacks=(guess,)))
    assert (chance.figure, chance.verdict) == ("1 in 3 (0.333)", "plain")
    assert people.verdict == "doubtful"
    chance, _, _ = tiles(replace(result, attacks=(replace(guess, worst=1.0, at_risk=2),)))
    assert (chance.figure, chance.verdict) == ("certain (1)", "doubtful")


def test_rows_unique_over_all_columns_are_told_with_the_people(result: Result) -> None:
    _, people, _ = changed(result, every=FINE)
    assert people.verdict == "doubtful"
    assert "8 of 8 rows (100%) are unique over all published columns" in people.note


def test_who_knows_the_class_is_told_where_cells_of_other_classes_cover_the_same(
    result: Result,
) -> None:
    vague = {"worst": 0.01, "threshold": 0.2, "at_risk": 0, "undecided": 0}
    chance, _, _ = changed(result, every=vague)
    assert chance.figure == "1 in 3 (0.333)"
    assert chance.attacker == "with the class known"
    assert chance.note.startswith("Of someone who knows the person's class.")
    assert chance.verdict == "doubtful"
    assert "1 in 100 (0.01)" in chance.note


def test_a_tile_is_never_rosier_than_an_attack(result: Result) -> None:
    chance, people, _ = changed(result, background={"worst": 0.9, "at_risk": 8})
    assert people.figure == "8 of 8"
    chance, people, _ = changed(result, every=FINE, background=FINE | {"worst": 0.9, "at_risk": 7})
    assert (people.figure, people.attacker) == ("7 of 8", "Background knowledge on Salary")
    assert "1 time in 1.11, at worst (Background knowledge on Salary)" in chance.note


def test_who_puts_most_people_at_risk_is_said_in_a_sentence(result: Result) -> None:
    names = dict.fromkeys(attack.attack for attack in result.attacks)
    assert {"skewness", "background", "uniqueness"} <= {*names}
    for name in names:
        most = FINE | {"worst": 0.4, "at_risk": 7}
        chance, people, _ = changed(result, every=FINE, **{name.replace("-", "_"): most})
        assert people.of is not None
        assert people.of.attack == name
        achieves = kind_of(people.of).report.achieves
        # One attacker is described once: by the chance, where both figures are of one attack.
        by_chance = chance.of is people.of and achieves and achieves in chance.note
        assert bool(by_chance) != (family("attack")[name].summary in people.note), name


def test_a_run_that_was_not_released_tells_how_it_stood(result: Result) -> None:
    answer = standing(result)
    prosecutor = "Prosecutor re-identification"
    assert answer["Worst chance"] == (
        f"1 in 3 (0.333) ({prosecutor}), beyond your threshold of 1 in 5 (0.2)"
    )
    assert answer["People at risk"].startswith("8 of 8")
    assert "k = 2 holds" in answer["Privacy models"]
    assert answer["Suppression"] == "No row is suppressed."
    assert answer["Thresholds met"].startswith("0 of 2; missed: Prosecutor")


def test_what_is_certain_asks_for_a_reason(result: Result) -> None:
    sure = tuple(
        replace(a, worst=1.0, at_risk=1) if a.attack == "homogeneity" else a for a in result.attacks
    )
    marks = {i.about: i.mark for i in thresholds(replace(result, attacks=sure))}
    assert marks["attack:homogeneity:Salary"] == "warning"
    assert marks["attack:background:Salary"] == "note"


def test_an_upper_limit_that_nobody_reaches_is_treated_as_certain_but_not_called_proven(
    result: Result,
) -> None:
    found = next(a for a in result.attacks if a.attack == "prosecutor")
    limit = replace(found, worst=1.0, succeeded=0.0, upper_bound=True)
    assert certain(limit)
    assert not proven(limit)
    assert proven(replace(limit, upper_bound=False))
