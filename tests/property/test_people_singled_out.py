"""Who is singled out or linked where one person has several rows, against going row by row."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.contracts.attack import Attack
from anon_core.methods.reidentification.attack_targets import aim
from anon_core.methods.reidentification.distinct_rows import quasi_lines
from anon_core.methods.reidentification.minimal_uniques import file_risk, minimal_uniques
from anon_core.methods.reidentification.register import register_of
from anon_core.methods.reidentification.unique_rows import unique_rows
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import Release
from anon_core.techniques.attacks.linking import Linking
from anon_core.techniques.attacks.special_uniques import SpecialUniques
from anon_core.techniques.attacks.uniqueness import Uniqueness
from tests.making import Case
from tests.often import often
from tests.property.test_unique_rows import leaves_of
from tests.strategies import Boxed, groups_of, repeated
from tests.strategies.groupings import by_boxes

Cells = list[list[tuple[int, int]]]
Sets = Sequence[tuple[int, ...]]


@st.composite
def of_people(draw: st.DrawFn) -> Boxed:
    """Draw a release of ranges that may overlap, of people with several rows."""
    case = draw(repeated(rows=(5, 30), quasi=(2, 3)))
    return Boxed(case=case, groups=draw(groups_of(len({*case.rows}), most=8, removed=True)))


def whose(release: Release, case: Case) -> list[str]:
    """Return the person of every published row, in the order of `leaves_of`."""
    frequency = release.problem.frequency
    member = release.grouping.of_rows(frequency, np.random.default_rng(0)).tolist()
    return [str(p) for p, m in zip(case.columns["who"], member, strict=True) if m >= 0]


def alone(
    rows: Cells, who: list[str], people: list[list[int]], chosen: tuple[int, ...]
) -> set[str]:
    """Return the persons whose rows alone fit somebody by some columns."""
    found: set[str] = set()
    for person in people:
        fit = {
            w
            for w, c in zip(who, rows, strict=True)
            if all(c[d][0] <= person[d] <= c[d][1] for d in chosen)
        }
        if len(fit) == 1:
            found |= fit
    return found


def every_set(columns: int, size: int) -> Sets:
    return [c for of in range(1, size + 1) for c in itertools.combinations(range(columns), of)]


def attacked(attack: Attack, release: Release, context: Context | None = None) -> AttackResult:
    known = audience_of(release.problem), truth_of(release.problem, release)
    assert attack.needs.counts_people
    assert not attack.reason_not_applicable(release.view, known[0])
    (found,) = attack.run(release.view, *known, context or Context())
    return cast(AttackResult, found)


@often(48)
@given(drawn=of_people())
def test_people_are_unique_whose_rows_alone_fit_somebody(drawn: Boxed) -> None:
    release = drawn.release
    rows, people = leaves_of(release)
    who, quasi = whose(release, drawn.case), release.problem.quasi
    lines = quasi_lines(release.view, truth_of(release.problem, release))
    place = [quasi.index(name) for name in lines.columns]
    found = unique_rows(lines, 2, Context(), 0.0)
    ever: set[str] = set()
    for chosen in every_set(len(quasi), 2):
        here = alone(rows, who, people, tuple(place[d] for d in chosen))
        assert found.rows[chosen] == len(here)
        ever |= here
    assert found.of_size[-1] == len(ever)
    assert found.in_all == len(alone(rows, who, people, tuple(range(len(quasi)))))
    one = attacked(Uniqueness(size=2), release)
    everyone = len(set(drawn.case.columns["who"]))
    assert (one.attempted, one.eligible) == (everyone, len(set(who)))
    assert (one.succeeded, one.rate) == (len(ever), len(ever) / everyone)
    assert f"of {everyone} people are unique" in one.sentence
    raw = [[(v, v) for v in p] for p in people]
    named = [str(p) for p in drawn.case.columns["who"]]
    sets = every_set(len(quasi), 2)
    assert one.raw == len(set().union(*(alone(raw, named, people, c) for c in sets))) / everyone


@often(48)
@given(drawn=of_people())
def test_sets_are_special_that_one_person_has(drawn: Boxed) -> None:
    release = drawn.release
    rows, people = leaves_of(release)
    who, columns = whose(release, drawn.case), len(release.problem.quasi)
    lines = quasi_lines(release.view, truth_of(release.problem, release))
    place = [release.problem.quasi.index(name) for name in lines.columns]
    found = minimal_uniques(lines, 2, Context())
    # A line is singled out where somebody fits it, and all that they fit is one person's.
    shown = [
        [
            (int(lines.vocabularies[n].lo[c]), int(lines.vocabularies[n].hi[c]))
            for n, c in zip(lines.columns, line, strict=True)
        ]
        for line in lines.codes.tolist()
    ]
    unique: dict[tuple[int, ...], set[int]] = {}
    for chosen in every_set(columns, 2):
        own = tuple(place[d] for d in chosen)
        unique[chosen] = {
            at
            for at, line in enumerate(shown)
            for p in people
            if all(line[d][0] <= p[place[d]] <= line[d][1] for d in chosen)
            and len(alone(rows, who, [p], own)) == 1
        }
    score = [0] * len(shown)
    special: set[int] = set()
    for chosen, here in unique.items():
        minimal = here - set().union(*(unique[c] for c in unique if set(c) < set(chosen)))
        for at in minimal:
            score[at] += prod(columns - i for i in range(len(chosen), min(2, columns - 1) + 1))
        special |= minimal
    assert found.score.tolist() == score
    behind = {
        w
        for at in special
        for w, row in zip(who, rows, strict=True)
        if [row[d] for d in place] == shown[at]
    }
    one = attacked(SpecialUniques(size=2), release)
    everyone = len(set(drawn.case.columns["who"]))
    assert (one.succeeded, one.attempted) == (len(behind), everyone)
    assert (one.at_risk, one.eligible) == (len(behind), len(set(who)))


def test_a_file_is_of_combinations_of_one_person_and_of_two() -> None:
    # 20 is p0 alone, who has it twice; 30 is of two; 40 of three.
    case = Case(
        columns={
            "age": ["20", "20", "30", "30", "30", "40", "40", "40"],
            "who": ["p0", "p0", "p0", "p1", "p1", "p1", "p2", "p3"],
        },
        quasi=("age",),
        kinds={"age": "text"},
        person="who",
    )
    problem = case.problem()
    release = Boxed(case=case, groups=[0, 1, 2]).release
    found = attacked(SpecialUniques(size=1, share=0.1, variant="proportional"), release)
    assert (found.succeeded, found.attempted, found.rate) == (1, 4, 1 / 4)
    assert problem.people == 4
    assert found.sentence.startswith("1 of 4 people are special uniques (25%)")
    (row,) = found.details[2].rows
    assert row["row"] == "age = 20"
    assert row["DIS-SUDA"] == pytest.approx(file_risk(1, 1, 0.1))
    assert found.details[1].rows[0]["people"] == 1
    # By whole rows: the same, as no other column is published.
    unique = attacked(Uniqueness(), release)
    assert unique.details[1].rows[-1]["columns"] == "all published columns"
    assert unique.details[1].rows[-1]["people"] == 1


@often(48)
@given(drawn=of_people(), seed=st.integers(0, 99))
def test_a_match_is_right_that_is_one_of_the_persons_rows(drawn: Boxed, seed: int) -> None:
    release, problem = drawn.release, drawn.release.problem
    rows, people = leaves_of(release)
    who, named = whose(release, drawn.case), drawn.case.columns["who"]
    truth, audience = truth_of(problem, release), audience_of(problem)
    register = register_of(audience, truth)
    assert register.size == len(set(named))
    seeded = [Context(generator=np.random.default_rng(seed)) for _ in range(2)]
    aimed = aim(register, release.view, truth, 100, 0, seeded[0])
    found = attacked(Linking(people=100), release, seeded[1])
    number = dict(enumerate(sorted({str(w) for w in named})))
    expected = raw = 0.0
    own_only, published = 0, 0
    assert aimed.raw is not None
    for at in range(len(aimed.tuple)):
        values = problem.frequency.run_codes[aimed.tuple[at]].tolist()
        person = number[at]  # persons are tried in the order of their names
        mine = [p for p, w in zip(people, named, strict=True) if w == person]
        assert values in mine  # known are the values of one of their rows
        fit = [
            w
            for w, c in zip(who, rows, strict=True)
            if all(low <= v <= high for (low, high), v in zip(c, values, strict=True))
        ]
        expected += fit.count(person) / max(len(fit), 1)
        own_only += set(fit) == {person}
        published += person in who
        equal = [w for p, w in zip(people, named, strict=True) if p == values]
        raw += equal.count(person) / len(equal)
    assert (found.attempted, found.eligible) == (len(number), published)
    assert found.succeeded == pytest.approx(expected)
    assert found.raw == pytest.approx(raw / len(number))
    assert found.baseline == 1 / len(number)
    assert found.details[0].rows[-1]["only own rows fit"] == pytest.approx(own_only / len(number))
    several = any(
        len({tuple(p) for p, w in zip(people, named, strict=True) if w == n}) > 1 for n in named
    )
    assert (found.interval is not None) == several


def test_one_of_those_with_these_values_is_looked_for_in_a_population() -> None:
    # p0 has two rows of a, p1 one; p2 is the only one with b.
    case = Case(
        columns={"q": ["a", "a", "a", "b"], "who": ["p0", "p0", "p1", "p2"]},
        quasi=("q",),
        kinds={"q": "text"},
        levels={"q": [("a", "*"), ("b", "*"), ("c", "*")]},
        person="who",
    )
    public = replace(case, columns={"q": list("aaabc"), "who": [f"x{i}" for i in range(5)]})
    release = by_boxes(case.problem(population=public.dataset), [0, 1])
    found = attacked(Linking(), release)
    assert (found.attempted, found.baseline) == (5, 1 / 5)
    # Of three with a two are in the table; whichever is meant, p0 is found 2 times in 3.
    options = [sum(p) * 2 / 3 + 1 for p in itertools.product([1 / 3, 2 / 3], repeat=3)]
    assert min(abs(found.succeeded - o) for o in options) < 1e-12
    assert attacked(Linking(row=1), release).succeeded == pytest.approx(2 / 3)
    assert attacked(Linking(row=3), release).succeeded == pytest.approx(1 / 3)
    assert (
        "a row of theirs is picked 100% of the time" in attacked(Linking(row=4), release).sentence
    )
