"""A population changes nothing that is published or measured; attackers read cells as printed."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core import run
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.methods.matching.fitting_people import population_risk
from anon_core.methods.membership.decisions import YES, find_members
from anon_core.pipeline.result import Result
from tests.asked import attacked
from tests.making import Case
from tests.often import times
from tests.strategies import cells_of

PLANS: tuple[dict[str, object], ...] = (
    {"algorithm": {"name": "optimal", "max_suppression": 0.2}},
    {"algorithm": {"name": "mondrian"}},
    {"algorithm": {"name": "one-attribute-slicing"}},
    {
        "algorithm": {"name": "anatomy"},
        "models": [{"name": "frequency-l-diversity", "l": 2, "column": "illness"}],
    },
    {"algorithm": {"name": "bucketization"}},
)
BUCKETS = [{"name": "bucket-size", "k": 2}]
AGES = [str(v) for v in range(10, 50, 2)]
DECADES = {"1": "10-19", "2": "[20, 30)", "3": "30..39", "4": "old"}
ZIPS = ["941", "942", "951", "952"]


@st.composite
def drawn(draw: st.DrawFn, people: int, rows: int) -> tuple[Case, Case]:
    """Draw a table and a population with values of its own: numbers, categories, missing."""
    halves = [f"{v}.5" for v in range(9, 52, 3)]
    known = {"age": [*AGES, *halves, "7", "90"], "zip": [*ZIPS, "961", "94"], "grade": [*"abc"]}
    everyone: dict[str, list[str | None]] = {}
    for name, values in known.items():
        gaps = [None] * (len(values) // 4 + 1) if draw(st.integers(0, 9)) >= 6 else []
        everyone[name] = draw(cells_of([*values, *gaps], people))
    ages, zips = everyone["age"], everyone["zip"]
    inside = [i for i in range(people) if ages[i] in AGES and zips[i] in ZIPS][:rows]
    assume(inside)
    columns = {name: [cells[i] for i in inside] for name, cells in everyone.items()}
    lines = [(a, DECADES[a[0]], "<30" if a < "30" else "30+", "*") for a in AGES]
    case = Case(
        columns=columns | {"illness": draw(cells_of([*"xyz"], len(inside)))},
        quasi=("age", "zip", "grade"),
        sensitive=("illness",),
        kinds={"age": "number", "zip": "text", "grade": "ordered"},
        levels={"age": lines, "zip": [(z, f"{z[:2]}*", "*") for z in ZIPS]},
    )
    return case, dataclasses.replace(case, columns=everyone, sensitive=())


def carry_out(case: Case, population: Case | None, plan: dict[str, object]) -> Result | None:
    given = {
        "models": BUCKETS
        if "slic" in str(plan) or "bucket" in str(plan)
        else [{"name": "k-anonymity", "k": 2}]
    }
    try:
        return run(
            case.plan(**(given | plan)),
            case.dataset,
            case.levels,
            population=population.dataset if population else None,
        )
    except Infeasible:
        return None


@pytest.mark.often
@pytest.mark.parametrize("plan", PLANS, ids=lambda p: p["algorithm"]["name"])
def test_a_population_changes_neither_release_nor_metrics(plan: dict[str, object]) -> None:
    released = 0

    @settings(max_examples=times(32))
    @given(drawn=drawn(60, 20))
    def tried(drawn: tuple[Case, Case]) -> None:
        nonlocal released
        case, people = drawn
        bare, known = carry_out(case, None, plan), carry_out(case, people, plan)
        assert (bare is None) == (known is None)
        if bare is None or known is None:
            return
        released += 1
        assert known.files == bare.files
        assert known.parquet_files == bare.parquet_files
        assert {n: (m.value, m.also) for n, m in known.measures.items()} == {
            n: (m.value, m.also) for n, m in bare.measures.items()
        }
        assert [(v.model, v.reached) for v in known.verdicts] == [
            (v.model, v.reached) for v in bare.verdicts
        ]
        assert {n: v.texts for n, v in known.release.vocabularies.items()} == {
            n: v.texts for n, v in bare.release.vocabularies.items()
        }

    tried()
    assert released > 3


def holds(case: Case, column: str, text: str, value: str | None) -> bool:
    """Say whether a published cell covers a person's value, reading the text as a person would."""
    if text == "*":
        return True
    if value is None or text == "":
        return value is None and text == ""
    if text.startswith("{"):
        return value in text[1:-1].split(", ")
    if column != "age":
        return text == value or any(
            row[0] == value and text in row for row in case.levels.get(column, [])
        )
    age = float(value)
    if text.startswith("[") and text.endswith("]"):
        low, high = text[1:-1].split(", ")
        return float(low) <= age <= float(high)
    ranges = {
        "10-19": 10 <= age <= 19,
        "[20, 30)": 20 <= age < 30,
        "30..39": 30 <= age <= 39,
        "old": 40 <= age <= 48,
        "<30": age < 30,
        "30+": age >= 30,
    }
    return ranges[text] if text in ranges else float(text) == age


@pytest.mark.often
@pytest.mark.parametrize("plan", PLANS[:2], ids=lambda p: p["algorithm"]["name"])
def test_people_are_counted_as_the_printed_cells_say(plan: dict[str, object]) -> None:
    coarse = 0

    @settings(max_examples=times(60))
    @given(drawn=drawn(60, 14))
    def tried(drawn: tuple[Case, Case]) -> None:
        nonlocal coarse
        case, people = drawn
        result = carry_out(case, people, plan)
        if result is None:
            return
        problem, view = result.problem, result.release.view
        assert problem.population is not None
        persons = view.persons(view.blocks[0])
        risk = population_risk(view, persons, *attacked(problem, view)[1:], Context())
        for c, codes in enumerate(persons.codes):
            cells = [
                view.vocabularies[n].texts[k] for n, k in zip(persons.columns, codes, strict=True)
            ]
            fit = sum(
                all(
                    holds(case, n, t, p)
                    for n, t, p in zip(persons.columns, cells, person, strict=True)
                )
                for person in zip(*(people.columns[n] for n in persons.columns), strict=True)
            )
            assert risk.chance[c] == 1 / fit
            coarse += any(t[0] in "[{<3" and len(t) > 2 for t in cells if t)

    tried()
    assert coarse > 5


@pytest.mark.often
@pytest.mark.parametrize("plan", PLANS[:2], ids=lambda p: p["algorithm"]["name"])
def test_membership_is_decided_as_the_printed_cells_say(plan: dict[str, object]) -> None:
    proven = open_ = 0

    @settings(max_examples=times(200))
    @given(drawn=drawn(9, 5))
    def tried(drawn: tuple[Case, Case]) -> None:
        nonlocal proven, open_
        case, people = drawn
        assume(len(case.columns["age"]) > 1)
        result = carry_out(case, people, plan)
        if result is None:
            return
        problem, view = result.problem, result.release.view
        population = problem.population
        assert population is not None
        assert population.row_tuple is not None
        persons = view.persons(view.blocks[0])
        printed = [
            [view.vocabularies[n].texts[k] for n, k in zip(persons.columns, codes, strict=True)]
            for codes in persons.codes
        ]
        everyone = list(zip(*(people.columns[n] for n in persons.columns), strict=True))
        fit = [
            [
                all(holds(case, n, t, v) for n, t, v in zip(persons.columns, cells, p, strict=True))
                for cells in printed
            ]
            for p in everyone
        ]
        # Only who fits one class is looked at: overlapping classes are tested by themselves.
        if max(map(sum, fit)) > 1:
            return
        counts = Counter(row.index(True) for row in fit if any(row))
        found = find_members(view, population, Context())
        assert not found.published.unclear.any()
        for person, row in enumerate(fit):
            expected = any(row) and counts[row.index(True)] == persons.sizes[row.index(True)]
            assert (found.present[population.row_tuple[person]] == YES) == expected
            proven += expected
            open_ += any(row) and not expected

    tried()
    assert proven > 10
    assert open_ > 10
