"""Learn and infer: what is learned of the table itself, and what is known of people in general."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.data.table import Dataset
from anon_core.methods.inference.naive_bayes import base_rates, learn
from anon_core.methods.inference.prediction_scores import corrected, wilson
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import raw_view
from anon_core.techniques.attacks.learn_and_infer import LearnAndInfer
from tests.asked import attacked
from tests.making import PATIENTS, Case, by_hand

CONTEXT = Context()
AGES = [str(a) for a in range(20, 60)]


def people(rows: int, number: int, *, depends: bool) -> Case:
    """Draw people whose illness goes with their age, or with nothing."""
    rng = np.random.default_rng([353, number])
    age = rng.integers(20, 60, rows)
    odds = np.where(age < 40, 0.9, 0.1) if depends else np.full(rows, 0.5)
    ill = np.where(rng.random(rows) < odds, "flu", "gout")
    return Case(
        columns={"age": [str(a) for a in age.tolist()], "illness": ill.tolist()},
        quasi=("age",),
        sensitive=("illness",),
        kinds={"age": "number", "illness": "text"},
        levels={"age": [(a, f"{int(a) // 10}*", "*") for a in AGES]},
    )


def released(
    case: Case, level: int, population: Case | None = None, **plan: object
) -> AttackResult:
    result = run(
        case.plan(
            algorithm={"name": "fixed-levels", "levels": {"age": level}},
            attacks=[{"name": "learn-and-infer"}],
            **plan,
        ),
        case.dataset,
        case.levels,
        population=None if population is None else population.dataset,
    )
    (found,) = (a for a in result.attacks if a.attack == "learn-and-infer")
    return found


def together(one: Case, other: Case) -> Case:
    columns = {name: [*one.columns[name], *other.columns[name]] for name in one.columns}
    return dataclasses.replace(one, columns=columns)


def test_w_12_intervals_and_the_risk_that_is_left() -> None:
    attack, control = wilson(300, 1000), wilson(250, 1000)
    assert (attack.value, attack.error) == pytest.approx((0.30076535, 0.02835851), abs=1e-8)
    assert (control.value, control.error) == pytest.approx((0.25095669, 0.02680359), abs=1e-8)
    left = corrected(attack, control)
    assert left is not None
    assert (left.value, left.error) == pytest.approx((0.06649637, 0.05048958), abs=1e-8)
    whole = AttackResult(
        attack="a", attempted=1000, eligible=1000, succeeded=300, rate=0.3, worst=1, baseline=0,
        raw=1, at_risk=0, threshold=1, per_class=np.empty(0), sentence="", control=0.25,
    )  # fmt: skip
    assert whole.corrected == pytest.approx(0.06666667, abs=1e-8)


def test_what_holds_of_everyone_is_no_leak() -> None:
    case, others = people(400, 1, depends=True), people(400, 2, depends=True)
    found = released(case, 1, together(case, others))
    assert found.rate > 0.8 > 0.6 > found.baseline
    assert found.control == pytest.approx(found.rate, abs=0.06)
    assert found.corrected == pytest.approx(0, abs=0.3)
    assert found.interval is not None
    assert found.interval[0] < found.rate < found.interval[1]


def test_what_holds_of_the_table_alone_is_one() -> None:
    case, others = people(400, 3, depends=True), people(400, 4, depends=False)
    found = released(case, 1, together(case, others))
    assert found.rate > 0.8
    assert found.control == pytest.approx(0.5, abs=0.08)
    assert (found.corrected or 0) > 0.5
    assert "of this table itself it learns" in found.sentence


def test_all_hidden_tells_no_more_than_the_commonest_value() -> None:
    case = people(300, 5, depends=True)
    found = released(case, 2)
    assert found.rate == found.baseline
    assert found.raw > found.rate
    assert (found.control, found.interval) == (None, None)
    assert "no people outside the release" in found.sentence


def test_rows_that_were_not_drawn_are_a_control() -> None:
    found = released(people(400, 6, depends=True), 1, data={"sample": 0.5})
    assert found.attempted == 200
    assert found.control == pytest.approx(found.rate, abs=0.1)
    assert "Of 200 people who had no part in the release" in found.sentence


def test_a_population_without_the_sensitive_column_is_no_control() -> None:
    case = people(60, 7, depends=True)
    bare = Dataset.from_frame(
        pd.DataFrame({"age": case.columns["age"] * 2}), kinds={"age": "number"}
    )
    assert case.problem(bare).holdout is None
    problem = dataclasses.replace(case.problem(), larger=(bare, together(case, case).dataset))
    assert problem.holdout is not None
    assert problem.holdout.people == 60


def test_people_of_a_larger_table_are_counted_beyond_those_of_this_one() -> None:
    case = dataclasses.replace(
        people(3, 8, depends=True),
        columns={"age": ["20", "20", "30"], "illness": ["flu", "flu", "gout"]},
    )
    larger = Dataset.from_frame(
        pd.DataFrame(
            {
                "age": ["20.0", "20", "20", "30", "99", "30"],
                "illness": ["flu", "flu", "flu", "gout", "flu", "cold"],
            }
        ),
        kinds={"age": "number", "illness": "text"},
    )
    found = dataclasses.replace(case.problem(), larger=(larger,)).holdout
    assert found is not None
    expected = {
        tuple(c): n for c, n in zip(found.codes.tolist(), found.count.tolist(), strict=True)
    }
    assert expected == {(0, 0): 1, (-1, 0): 1, (10, -1): 1}  # next to 20 and flu: 99, and a cold


def test_cells_are_spread_and_groups_are_expected() -> None:
    problem = PATIENTS.problem()
    base = {"age": np.array([0.5, 0.5]), "zip": np.array([0.25] * 4)}
    whole = learn(raw_view(problem), "illness", base)
    # Of three with the flu two are 20 years old; leaves: angina, cold, flu.
    assert np.exp(whole.says[0][:2, 2]) == pytest.approx([(2 + 1) / (3 + 2), (1 + 1) / (3 + 2)])
    assert np.exp(whole.prior) == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    apart = by_hand(problem, [0, 0, 1, 1, 1, 1], (("age", "zip"), ("illness",)))
    two = learn(apart.view, "illness", base)
    # Both of the first group have the flu; of the second 1 of 4 is 20 and 1 of 4 has the flu.
    assert np.exp(two.says[0][0, 2]) == pytest.approx((2 + 1 / 4 + 1) / (3 + 2))
    at = {"name": "fixed-levels", "levels": {"age": 0, "zip": 2}}
    hidden = run(PATIENTS.plan(algorithm=at), PATIENTS.dataset, PATIENTS.levels).release.view
    base["zip"] = np.array([0.1, 0.2, 0.3, 0.4])
    spread = learn(hidden, "illness", base)
    # The row more is one of the text '*', and spread as its rows are.
    assert np.exp(spread.says[1][:4, 2]) == pytest.approx((3 + 1) * base["zip"] / (3 + 1))


def test_absent_values_are_neither_learned_nor_guessed() -> None:
    case = people(200, 9, depends=True)
    gaps = [None if i % 3 == 0 else v for i, v in enumerate(case.columns["illness"])]
    found = released(dataclasses.replace(case, columns={**case.columns, "illness": gaps}), 1)
    assert (found.attempted, found.eligible) == (200, 133)
    assert found.succeeded <= 133
    none: list[str | None] = [None] * 200
    empty = released(dataclasses.replace(case, columns={**case.columns, "illness": none}), 1)
    assert (empty.eligible, empty.rate, empty.worst) == (0, 0, 0)


def test_it_can_be_cancelled() -> None:
    context = Context()
    context.cancel.set()
    problem = PATIENTS.problem()
    with pytest.raises(Cancelled):
        LearnAndInfer().run(*attacked(problem, raw_view(problem)), context)


def of_persons(rows: int, number: int, first: int) -> Case:
    """Draw rows of persons who have one to three, numbered from `first`."""
    case = people(rows, number, depends=True)
    whose = np.sort(np.random.default_rng([354, number]).integers(0, rows // 2, rows)) + first
    named: list[str | None] = [str(w) for w in whose.tolist()]
    return dataclasses.replace(case, columns={**case.columns, "who": named}, person="who")


def test_persons_are_guessed_once_and_held_out_whole() -> None:
    case, others = of_persons(60, 13, 0), of_persons(80, 14, 24)
    larger = together(case, others)
    found = released(case, 1, larger)
    mine, values = case.column("who"), larger.column("who")
    outside = set(values) - set(mine)
    assert 10 < len(outside) < len(set(others.column("who")))  # some are in both
    problem = dataclasses.replace(case.problem(), larger=(larger.dataset,))
    held = problem.holdout
    assert held is not None
    assert held.people == len(outside)
    assert len(held.codes) == sum(w in outside for w in values)
    nobody = {**larger.columns, "who": [None, *larger.columns["who"][1:]]}
    unnamed = dataclasses.replace(larger, columns=nobody).dataset
    without = dataclasses.replace(case.problem(), larger=(unnamed,)).holdout
    assert without is not None
    assert len(without.codes) == len(held.codes)  # a row of nobody is no one's
    # Row by row, by what is learned of the release.
    at = {"name": "fixed-levels", "levels": {"age": 1}}
    view = run(case.plan(algorithm=at), case.dataset, case.levels).release.view
    learned = learn(view, "illness", base_rates(audience_of(problem)))
    leaves = problem.hierarchies["age"].code

    def right(table: Case, whom: set[str]) -> int:
        best: dict[str, tuple[float, bool]] = {}
        has = set(zip(table.column("who"), table.column("illness"), strict=True))
        for who, age in zip(table.column("who"), table.column("age"), strict=True):
            if who in whom:
                belief = learned.beliefs(np.array([[leaves.get(age, -1)]], dtype=np.int32))[0]
                guess = ("flu", "gout")[int(belief.argmax())]
                here = float(belief.max()), (who, guess) in has
                best[who] = max(best.get(who, here), here)
        return sum(hit for _, hit in best.values())

    everyone = len(set(mine))
    assert (found.attempted, found.eligible) == (everyone, everyone)
    assert found.succeeded == right(case, set(mine))
    assert found.control == right(larger, outside) / len(outside)
    flu = {w for w, i in zip(mine, case.column("illness"), strict=True) if i == "flu"}
    gout = {w for w, i in zip(mine, case.column("illness"), strict=True) if i == "gout"}
    assert found.baseline == max(len(flu), len(gout)) / everyone
    assert f"of {everyone} people" in found.sentence


def test_a_score_is_all_that_hangs_on_the_truth() -> None:
    case, other = people(60, 11, depends=True), people(60, 12, depends=True)
    view, audience = raw_view(case.problem()), audience_of(case.problem())
    mine, theirs = (
        LearnAndInfer().run(view, audience, truth_of(c.problem()), CONTEXT)[0]
        for c in (case, other)
    )
    assert (mine.attempted, mine.eligible) == (theirs.attempted, theirs.eligible)
    assert mine.rate != theirs.rate
