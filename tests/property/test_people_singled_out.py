"""Who is singled out or linked where one person has several rows, against going row by row."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.attacks.special_uniques import SpecialUniques
from anon_core.attacks.uniqueness import Uniqueness
from anon_core.base.context import Context
from anon_core.contracts.attack import Attack
from anon_core.identity.lines import quasi_lines
from anon_core.identity.minimal_uniques import file_risk, minimal_uniques
from anon_core.identity.unique_rows import unique_rows
from anon_core.release.attack_result import AttackResult
from anon_core.release.audience import audience_of
from anon_core.release.release import Release
from anon_core.release.truth import truth_of
from tests.making import Case
from tests.often import often
from tests.property.test_unique_rows import told
from tests.strategies import Boxed, groups_of, repeated

Cells = list[list[tuple[int, int]]]
Sets = Sequence[tuple[int, ...]]


@st.composite
def of_people(draw: st.DrawFn) -> Boxed:
    """Draw a release of ranges that may overlap, of people with several rows."""
    case = draw(repeated(rows=(5, 30), quasi=(2, 3)))
    return Boxed(case=case, groups=draw(groups_of(len({*case.rows}), most=8, removed=True)))


def whose(release: Release, case: Case) -> list[str]:
    """Return the person of every published row, in the order of `told`."""
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


def attacked(attack: Attack, release: Release) -> AttackResult:
    known = audience_of(release.problem), truth_of(release.problem, release)
    assert attack.counts_people
    assert not attack.reason_not_applicable(release.view, known[0])
    (found,) = attack.run(release.view, *known, Context())
    return cast(AttackResult, found)


@often(100)
@given(drawn=of_people())
def test_people_are_unique_whose_rows_alone_fit_somebody(drawn: Boxed) -> None:
    release = drawn.release
    rows, people = told(release)
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


@often(60)
@given(drawn=of_people())
def test_sets_are_special_that_one_person_has(drawn: Boxed) -> None:
    release = drawn.release
    rows, people = told(release)
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
