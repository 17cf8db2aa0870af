"""Attacks by hand."""

from __future__ import annotations

import dataclasses

import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.methods.matching import fitting_people as population
from anon_core.methods.matching.fitting_people import population_risk
from anon_core.pipeline.runner import run
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import raw_view
from anon_core.techniques.attacks.homogeneity import Homogeneity
from anon_core.techniques.attacks.journalist import Journalist
from anon_core.techniques.attacks.marketer import Marketer
from anon_core.techniques.attacks.prosecutor import Prosecutor
from tests import naive
from tests.asked import attacked
from tests.making import PATIENTS, Case, by_hand

CONTEXT = Context()
PROBLEM = PATIENTS.problem()
BLOCK = (("age", "zip", "illness"),)


def test_prosecutor() -> None:
    (raw,) = Prosecutor(threshold=0.5).run(*attacked(PROBLEM, raw_view(PROBLEM)), CONTEXT)
    assert (raw.succeeded, raw.rate, raw.worst) == (4, 4 / 6, 1)
    assert (raw.baseline, raw.raw, raw.at_risk) == (1 / 6, 4 / 6, 2)
    assert raw.per_class.tolist() == [0.5, 1, 1, 0.5]
    assert "every time, at worst; 66.7% of the time on average" in raw.sentence
    release = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels).release
    (one,) = Prosecutor().run(*attacked(PROBLEM, release.view), CONTEXT)
    assert (one.rate, one.worst, one.at_risk) == (2 / 6, 1 / 3, 6)
    # 1 in 3 is at risk above 1 in 5, and not above 1 in 3.
    (one,) = Prosecutor(threshold=1 / 3).run(*attacked(PROBLEM, release.view), CONTEXT)
    assert one.at_risk == 0


def test_removed_people_are_attempted_but_not_eligible() -> None:
    release = by_hand(PROBLEM, [0, 0, 0, -1, 1, 1], BLOCK)
    (result,) = Prosecutor().run(*attacked(PROBLEM, release.view), CONTEXT)
    assert (result.attempted, result.eligible) == (6, 5)
    # (20, 101) twice, (20, 102) and (40, 202) twice
    assert (result.succeeded, result.rate) == (3, 0.5)


def test_homogeneity() -> None:
    (raw,) = Homogeneity().run(*attacked(PROBLEM, raw_view(PROBLEM)), CONTEXT)
    assert (raw.column, raw.succeeded, raw.rate, raw.worst) == ("illness", 2, 2 / 6, 1)
    assert (raw.baseline, raw.raw, raw.at_risk, raw.threshold) == (0, 2 / 6, 2, 1)
    assert "certain for 2 of 6 people (33.3%)" in raw.sentence
    release = by_hand(PROBLEM, [0] * 6, (("age",), ("zip",), ("illness",)))
    (one,) = Homogeneity().run(*attacked(PROBLEM, release.view), CONTEXT)
    assert (one.succeeded, one.worst) == (0, 0.5)


def test_homogeneity_of_a_column_with_one_value_is_known_without_the_release() -> None:
    same = dataclasses.replace(PATIENTS, columns=PATIENTS.columns | {"illness": ["flu"] * 6})
    (result,) = Homogeneity().run(*attacked(same.problem(), raw_view(same.problem())), CONTEXT)
    assert (result.rate, result.baseline) == (1, 1)


def test_homogeneity_needs_a_value_the_attacker_does_not_know() -> None:
    known = dataclasses.replace(PATIENTS, sensitive=("zip",)).problem()
    assert Homogeneity().reason_not_applicable(raw_view(known), audience_of(known)) == (
        "It needs a sensitive column that is not also a quasi-identifier."
    )
    both = dataclasses.replace(PATIENTS, sensitive=("zip", "illness")).problem()
    assert Homogeneity().reason_not_applicable(raw_view(both), audience_of(both)) == ""
    assert [r.column for r in Homogeneity().run(*attacked(both, raw_view(both)), CONTEXT)] == [
        "illness"
    ]


def test_marketer_without_a_population_is_classes_over_rows() -> None:
    (raw,) = Marketer().run(*attacked(PROBLEM, raw_view(PROBLEM)), CONTEXT)
    assert raw.rate == raw.raw == raw.worst == pytest.approx(4 / 6)
    assert (raw.at_risk, raw.threshold, raw.estimated) == (6, 0.05, False)
    (calm,) = Marketer(threshold=0.7).run(*attacked(PROBLEM, raw_view(PROBLEM)), CONTEXT)
    assert calm.at_risk == 0


def test_a_stated_population() -> None:
    problem = PATIENTS.problem(population=60)
    (one,) = Journalist(threshold=0.1).run(*attacked(problem, raw_view(problem)), CONTEXT)
    alone, pair = naive.expected_inverse(1, 0.1), naive.expected_inverse(2, 0.1)
    assert one.per_class == pytest.approx([pair, alone, alone, pair])
    assert one.succeeded == pytest.approx(2 * alone + 4 * pair)
    assert one.worst == pytest.approx(alone)
    assert one.baseline == 1 / 60
    assert one.at_risk == 2
    assert one.estimated
    assert "Among 60 people" in one.sentence
    assert "estimated from the population's size" in one.sentence
    (link,) = Marketer().run(*attacked(problem, raw_view(problem)), CONTEXT)
    assert link.rate == pytest.approx((2 * alone + 4 * pair) / 6)
    assert link.baseline == 1 / 60


def test_a_population_table() -> None:
    columns = {name: cells * 3 for name, cells in PATIENTS.columns.items()}
    problem = PATIENTS.problem(population=dataclasses.replace(PATIENTS, columns=columns).dataset)
    (one,) = Journalist().run(*attacked(problem, raw_view(problem)), CONTEXT)
    assert one.per_class == pytest.approx([1 / 6, 1 / 3, 1 / 3, 1 / 6])
    assert not one.estimated
    assert "estimated" not in one.sentence
    assert one.at_risk == 2
    (link,) = Marketer().run(*attacked(problem, raw_view(problem)), CONTEXT)
    assert link.rate == pytest.approx((2 / 3 + 4 / 6) / 6)


def test_the_population_of_one_number_in_two_spellings() -> None:
    case = Case(
        columns={"q": ["1", "2"]},
        quasi=("q",),
        kinds={"q": "number"},
        levels={"q": [("1", "*"), ("2", "*")]},
    )
    people = dataclasses.replace(case, columns={"q": ["1.0", "1.0", "2.0", "3.0", None]})
    problem = case.problem(population=people.dataset)
    (one,) = Journalist().run(*attacked(problem, raw_view(problem)), CONTEXT)
    assert one.per_class.tolist() == [0.5, 1]


def test_a_journalist_needs_a_population() -> None:
    whole = raw_view(PROBLEM)
    assert Journalist().reason_not_applicable(whole, audience_of(PROBLEM)) == (
        "It needs a population: a table of it, or its size."
    )
    with pytest.raises(AnonError, match="It needs a population"):
        Journalist().run(*attacked(PROBLEM, raw_view(PROBLEM)), CONTEXT)
    assert (
        Prosecutor().reason_not_applicable(whole, audience_of(PROBLEM))
        == Marketer().reason_not_applicable(whole, audience_of(PROBLEM))
        == ""
    )


def test_the_raw_table_is_linked_once_for_both_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PATIENTS.problem(population=PATIENTS.dataset)
    view = raw_view(problem)
    counted: list[object] = []

    def count(view: object, *rest: object) -> object:
        counted.append(view)
        return population_risk(view, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(population, "population_risk", count)
    attack_result = attacked(problem, view)
    (first,) = Journalist().run(*attack_result, Context())
    (second,) = Marketer().run(*attack_result, Context())
    assert len(counted) == 3
    assert first.raw == second.raw == first.rate
    other = PATIENTS.problem(population=60)
    (third,) = Marketer().run(*attacked(other, raw_view(other)), Context())
    assert third.raw != second.raw
