"""Linking a register, against comparing every person with every row or group."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled
from anon_core.methods.reidentification.candidates import Known, candidates
from anon_core.methods.reidentification.equivalence_counts import known_sets, with_errors
from anon_core.methods.reidentification.register import register_of
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import Release, raw_view
from anon_core.techniques.attacks.linking import Linking
from anon_core.techniques.attacks.prosecutor import Prosecutor
from tests.making import Case, by_hand, random_case
from tests.often import often
from tests.property.test_overlap import overlapping
from tests.property.test_unique_rows import leaves_of
from tests.strategies import Boxed, boxed, cases, groups_of, layouts


def attacked(release: Release, context: Context | None = None, **given: object) -> AttackResult:
    problem = release.problem
    known = audience_of(problem), truth_of(problem, release)
    attack = Linking.from_mapping(given)
    (found,) = attack.run(release.view, *known, context or Context())
    return cast(AttackResult, found)


@often(100)
@given(drawn=boxed(), seed=st.integers(0, 99))
def test_rows_that_fit_are_counted_and_one_is_picked(drawn: Boxed, seed: int) -> None:
    release = drawn.release
    rows, people = leaves_of(release)
    quasi = range(len(release.problem.quasi))
    for chosen in known_sets(list(quasi), np.random.default_rng(seed)):
        fit = [sum(all(c[d][0] <= p[d] <= c[d][1] for d in chosen) for c in rows) for p in people]
        names = [release.problem.quasi[d] for d in chosen]
        found = attacked(release, columns=names)
        assert found.succeeded == pytest.approx(sum(1 / m for m in fit))
        assert found.details[0].rows[-1]["single row fits"] == pytest.approx(
            sum(m == 1 for m in fit) / len(people)
        )
        assert found.at_risk == sum(1 / m > 0.2 for m in fit)
        assert found.interval is None
    audience, truth = audience_of(release.problem), truth_of(release.problem, release)
    (known,) = Prosecutor().run(release.view, audience, truth, Context())
    assert attacked(release).succeeded == pytest.approx(known.succeeded)


@often(80)
@given(drawn=boxed(removed=True))
def test_hidden_people_are_tried_and_never_found(drawn: Boxed) -> None:
    release = drawn.release
    problem = release.problem
    rows, _ = leaves_of(release)
    frequency = problem.frequency
    member = release.grouping.of_rows(frequency, np.random.default_rng(0)).tolist()
    people = frequency.codes[frequency.row_key, : len(problem.quasi)].tolist()
    expected = 0.0
    for person, own in zip(people, member, strict=True):
        if own >= 0:
            expected += 1 / sum(
                all(low <= v <= high for (low, high), v in zip(c, person, strict=True))
                for c in rows
            )
    found = attacked(release)
    assert found.attempted == problem.rows
    assert found.succeeded == pytest.approx(expected)


@pytest.mark.parametrize("which", ["anatomy", "a block per column"])
@often(40)
@given(case=cases(quasi=(2, 2)), data=st.data())
def test_permuted_groups_that_can_hold_a_person(
    which: str, case: Case, data: st.DataObject
) -> None:
    group = data.draw(groups_of(len(case.rows)))
    problem = case.problem()
    release = by_hand(problem, group, layouts(case)[which])
    people = list(zip(*(case.column(n) for n in case.quasi), strict=True))
    chances = []
    for person in people:
        if which == "anatomy":  # quasi-identifiers stay together: rows fit as rows
            fit = sum(p == person for p in people)
        else:
            members = [[people[i] for i in range(len(group)) if group[i] == g] for g in set(group)]
            fit = sum(
                len(rows)
                for rows in members
                if all(any(r[d] == person[d] for r in rows) for d in range(len(person)))
            )
        chances.append(1 / fit)
    found = attacked(release)
    assert found.succeeded == pytest.approx(sum(chances))
    assert found.rate <= found.raw + 1e-12


def test_a_population_table_is_the_register() -> None:
    case = Case(
        columns={"q": ["a", "a", "b"]},
        quasi=("q",),
        kinds={"q": "text"},
        levels={"q": [("a", "*"), ("b", "*")]},
    )
    public = replace(case, columns={"q": list("aaabc")})
    problem = case.problem(population=public.dataset)
    release = by_hand(problem, [0, 0, 0], (("q",),), published=False)
    found = attacked(release)
    # Of three a two are in the table, each one of two rows; the b is found, the c is nobody's.
    assert found.attempted == 5
    assert found.succeeded == pytest.approx(3 * (2 / 3) / 2 + 1)
    assert found.baseline == 1 / 5
    assert attacked(release, row=1).succeeded == pytest.approx(1 / 2)
    assert attacked(release, row=3).succeeded == 1


def test_numbers_known_roughly_fit_more_rows() -> None:
    numbers = ["1", "3", "4", "9", "12"]
    case = Case(columns={"n": numbers}, quasi=("n",), kinds={"n": "number"})  # type: ignore[dict-item]
    release = by_hand(case.problem(), [0] * 5, (("n",),), published=False)
    for tolerance in (0.0, 1.0, 2.0, 5.0, 50.0):
        values = [float(n) for n in numbers]
        fit = [sum(abs(a - b) <= tolerance for b in values) for a in values]
        found = attacked(release, tolerance=tolerance)
        assert found.succeeded == pytest.approx(sum(1 / m for m in fit))


def test_errors_lower_what_is_linked_and_are_scored_by_the_own_row() -> None:
    rng = np.random.default_rng(5)
    case = random_case(rng, rows=200, quasi=3, kinds=("text", "number"), missing=False)
    problem = case.problem()
    release = by_hand(problem, [0] * 200, ((*case.quasi, *case.sensitive),), published=False)
    rates = []
    for errors in (0.0, 0.3, 1.0):
        found = attacked(release, Context(generator=np.random.default_rng(1)), errors=errors)
        assert (found.interval is None) == (errors == 0)
        rates.append(found.rate)
        assert found.raw == pytest.approx(found.rate, abs=1e-9)  # the same code on the same rows
    assert rates[0] > rates[1] > rates[2]
    # Row by row: an own row is picked where every wrong value happens to be the own.
    register, truth = register_of(audience_of(problem), truth_of(problem)), truth_of(problem)
    true = problem.frequency.run_codes
    wrong = with_errors(true, register.codes, register.count, 0.3, np.random.default_rng(2))
    group = np.arange(len(true))
    known = Known(codes=wrong, true=true, group=group)
    got = candidates(raw_view(problem), register, known, [(0, 1, 2)], Context())
    counts = truth.frequency.run_count
    for i, line in enumerate(wrong.tolist()):
        assert got.rows[0, i] == counts[np.all(true == line, axis=1)].sum()
        assert got.held[0, i] == (line == true[i].tolist())


def test_more_people_than_are_tried_are_drawn_with_an_interval() -> None:
    rng = np.random.default_rng(9)
    case = random_case(rng, rows=300, quasi=2)
    release = by_hand(case.problem(), [0] * 300, ((*case.quasi, *case.sensitive),))
    everyone = attacked(release)
    inside = 0
    for seed in range(40):
        some = attacked(release, Context(generator=np.random.default_rng(seed)), people=60)
        assert some.attempted == some.eligible == 60
        assert some.interval is not None
        inside += some.interval[0] <= everyone.rate <= some.interval[1]
    assert inside >= 36


def test_what_is_not_there_is_refused() -> None:
    release = overlapping()
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        attacked(release, columns=["nothing"])
    with pytest.raises(BadPlan, match="is to be attacked, but the table has"):
        attacked(release, row=10_000)


def test_it_can_be_cancelled() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        attacked(overlapping(), Context(cancel=cancel))
