"""Worked examples of Aalborg group 3 (2022), Anonymization techniques.

A-15, A-16 and A-21 are in `test_aalborg_single_dimension`.
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.contracts.group_stats import GroupStats
from anon_core.data.hierarchy import from_rows
from anon_core.data.hierarchy.files.relations import parse_relations
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.release.private_reference import reference_of
from anon_core.release.release import raw_view
from anon_core.techniques.attacks.homogeneity import Homogeneity
from anon_core.techniques.attacks.prosecutor import Prosecutor
from anon_core.techniques.metrics.average_class_size import AverageClassSize
from anon_core.techniques.metrics.discernibility import Discernibility
from anon_core.techniques.metrics.ncp import CertaintyPenalty
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.asked import attacked, measured
from tests.making import Case, by_hand

QUASI = ("Age", "Salary", "Profession")
CONTEXT = Context()


def figure(classes: list[tuple[str, str, str, str]]) -> Case:
    columns = dict(zip((*QUASI, "Disease"), map(list, zip(*classes, strict=True)), strict=True))
    kinds = dict.fromkeys(columns, "text")
    return Case(columns=columns, quasi=QUASI, sensitive=("Disease",), kinds=kinds)  # type: ignore[arg-type]


YOUNG = ("25-30", "1800-2300", "Public safety")
OLDER = ("31-35", "2450-2800", "Health service")
FIGURE_3_5 = figure([(*YOUNG, d) for d in "ABB"] + [(*OLDER, d) for d in "AAB"])
FIGURE_3_6 = figure(
    [
        ("25-30", "1800", "Police officer", "A"),
        ("25-30", "2450", "Teacher", "B"),
        ("31-35", "1900", "Firefighter", "B"),
        ("31-35", "3100", "Nurse", "A"),
        ("36-40", "2750", "Teacher", "A"),
        ("36-40", "3350", "Doctor", "B"),
    ]
)


def test_a_04_two_classes_of_three() -> None:
    """E-29: the text counts three classes, and calls one homogeneous that is not."""
    problem = FIGURE_3_5.problem()
    view = raw_view(problem)
    (verdict,) = KAnonymity(k=3).measure(*measured(problem, view), CONTEXT)
    assert (verdict.reached, verdict.holds, verdict.per_class.tolist()) == (3, True, [3, 3])
    (verdict,) = DistinctLDiversity(l=2).measure(*measured(problem, view), CONTEXT)
    assert (verdict.reached, verdict.per_class.tolist()) == (2, [2, 2])
    (result,) = Homogeneity().run(*attacked(problem, view), CONTEXT)
    assert (result.succeeded, result.worst) == (0, pytest.approx(2 / 3))


def test_a_05_exact_columns_single_everyone_out() -> None:
    problem = FIGURE_3_6.problem()
    (verdict,) = KAnonymity(k=2).measure(*measured(problem, raw_view(problem)), CONTEXT)
    assert (verdict.reached, verdict.state) == (1, "broken")
    (result,) = Prosecutor().run(*attacked(problem, raw_view(problem)), CONTEXT)
    assert (result.rate, result.worst, result.at_risk) == (1.0, 1.0, 6)
    by_age = dataclasses.replace(FIGURE_3_6, quasi=("Age",)).problem()
    (verdict,) = KAnonymity(k=2).measure(*measured(by_age, raw_view(by_age)), CONTEXT)
    assert (verdict.reached, verdict.holds) == (2, True)
    (verdict,) = DistinctLDiversity(l=2).measure(*measured(by_age, raw_view(by_age)), CONTEXT)
    assert (verdict.reached, verdict.holds) == (2, True)
    (result,) = Homogeneity().run(*attacked(by_age, raw_view(by_age)), CONTEXT)
    assert result.succeeded == 0


def test_a_10_every_class_is_checked() -> None:
    """E-35: the printed algorithm returns after the first class."""
    stats = GroupStats(sizes=np.array([5, 1, 4]), histograms={})
    assert KAnonymity(k=2).per_group(stats, reference_of(FIGURE_3_5.problem())).tolist() == [
        True,
        False,
        True,
    ]


def test_a_12_two_classes_of_three_cost() -> None:
    sizes = np.array([3, 3])
    assert Discernibility().of_sizes(sizes, 0, 6) == 18
    assert AverageClassSize(k=3).of_sizes(sizes, 0, 6) == 1.0


def test_a_13_a_class_below_k_costs_the_whole_table() -> None:
    """S-124: a class below k is one that a k-anonymous release removes."""
    assert Discernibility().of_sizes(np.array([4, 3]), 1, 8) == 33
    assert Discernibility().also(np.array([4, 3]), 1, 8) == {"published classes only": 25}
    assert AverageClassSize(k=2).of_sizes(np.array([4, 3, 1]), 0, 8) == pytest.approx(4 / 3)
    case = Case(columns={"q": list("aaaabbbc")}, quasi=("q",), kinds={"q": "text"})
    problem = case.problem()
    release = by_hand(problem, [0] * 4 + [1] * 3 + [-1], (("q",),))
    assert Discernibility().measure(problem, release, CONTEXT).value == 33


def test_a_14_categories_cost_their_share_of_the_domain() -> None:
    lines = [(v, "pair" if v in "ab" else f"only {v}", "*") for v in "abcde"]
    case = Case(
        columns={"q": list("abcde")}, quasi=("q",), kinds={"q": "text"}, levels={"q": lines}
    )
    problem = case.problem()
    hierarchy = from_rows(case.dataset.column("q"), lines)
    bounds = [hierarchy.bounds(level) for level in range(3)]
    lo = np.array([bounds[0][0][0], bounds[1][0][0], bounds[2][0][0]], dtype=np.int32)
    hi = np.array([bounds[0][1][0], bounds[1][1][0], bounds[2][1][0]], dtype=np.int32)
    assert CertaintyPenalty().price(problem, "q", lo, hi).tolist() == [0.0, 0.4, 1.0]


def test_a_17_the_taxonomy_format() -> None:
    rows = parse_relations("Root : A, B\nA : a1, a2\nB : b1, b2, b3", "x")
    case = Case(columns={"x": [row[0] for row in rows]}, quasi=("x",), kinds={"x": "text"})  # type: ignore[arg-type]
    h = from_rows(case.dataset.column("x"), rows)
    assert h.height == 2
    inside = {h.labels[1][n]: [h.leaves[i] for i in np.flatnonzero(h.node(1) == n)] for n in (0, 1)}
    assert inside == {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}
    assert (h.labels[2], len(h.leaves)) == (("*",), 5)  # Root is published as *


needs_adult = pytest.mark.skipif(
    not sample("adult").available(), reason="the Adult table is not in the cache"
)


@needs_adult
def test_a_18_and_t_23_the_facts_of_adult() -> None:
    """The training part of it; E-38 corrects the numbers of rows, ages and work classes."""
    adult = sample("adult")
    table = Dataset.from_frame(adult.frame(), kinds=dict(adult.types))  # type: ignore[arg-type]
    complete = table.without_missing(table.names)
    assert (table.rows, complete.rows, complete.dropped) == (32_561, 30_162, 2_399)
    distinct = {c.name: len(c.values) for c in complete.columns}
    assert {
        n: distinct[n]
        for n in (
            "age",
            "workclass",
            "education",
            "marital-status",
            "occupation",
            "relationship",
            "race",
            "gender",
            "native-country",
            "income",
        )
    } == {
        "age": 72,
        "workclass": 7,
        "education": 16,
        "marital-status": 7,
        "occupation": 14,
        "relationship": 6,
        "race": 5,
        "gender": 2,
        "native-country": 41,
        "income": 2,
    }
    assert len(table.column("workclass").values) == 8
    ranges = {
        "age": (17, 90),
        "education-num": (1, 16),
        "capital-gain": (0, 99_999),
        "capital-loss": (0, 4_356),
        "hours-per-week": (1, 99),
    }
    for name, (low, high) in ranges.items():
        measure = complete.column(name).measure
        assert measure is not None
        assert (measure[0], measure[-1]) == (low, high)


SIX = Case(
    columns={
        "First name": ["John", "Maria", "Peter", "Meredith", "Hans", "Martin"],
        "Last name": ["Roe", "Garcia", "Martinez", "Malone", "Pedersen", "Jørgensen"],
        "Age": ["24", "35", "30", "57", "50", "62"],
        "Salary": ["1800", "2450", "1900", "3100", "2750", "3350"],
        "Profession": ["Police officer", "Teacher", "Firefighter", "Nurse", "Teacher", "Doctor"],
        "Disease": list("ABBAAB"),
    },
    identifier=("First name", "Last name"),
    quasi=QUASI,
    sensitive=("Disease",),
    kinds={"Age": "number", "Salary": "number"},
)


def test_a_01_names_are_left_out_and_the_rest_stays() -> None:
    plan = SIX.plan(
        algorithm={"name": "fixed-levels", "levels": dict.fromkeys(QUASI, 0)},
        models=[{"name": "average-risk", "risk": 1.0}],
    )
    published = run(plan, SIX.dataset, assess=False).published.to_pandas().astype(str)
    assert list(published.columns) == [*QUASI, "Disease"]
    own = zip(*(SIX.columns[name] for name in published.columns), strict=True)
    assert sorted(published.itertuples(index=False, name=None)) == sorted(own)


def test_a_03_ages_sorted_and_grouped_by_two() -> None:
    by_age = dataclasses.replace(SIX, quasi=("Age",), sensitive=())
    plan = by_age.plan(
        algorithm={"name": "spatial-order"}, models=[{"name": "k-anonymity", "k": 2}]
    )
    result = run(plan, by_age.dataset, assess=False)
    groups: dict[int, set[str]] = {}
    for name, group in zip(SIX.columns["First name"], result.row_group.tolist(), strict=True):
        groups.setdefault(group, set()).add(str(name))
    assert sorted(map(sorted, groups.values())) == [
        ["Hans", "Maria"],
        ["John", "Peter"],
        ["Martin", "Meredith"],
    ]
    ranges = {tuple(map(int, re.findall(r"\d+", t))) for t in result.published["Age"].to_pylist()}
    assert ranges == {(24, 30), (35, 50), (57, 62)}


def test_a_20_the_printed_class_sizes_are_those_of_one_class_of_all() -> None:
    """E-40: 45,222 rows in one class are 6,460 times k = 7, already two classes half as much."""
    assert AverageClassSize(k=7).of_sizes(np.array([45_222]), 0, 45_222) == pytest.approx(
        6460, abs=0.5
    )
    halves = np.array([22_611, 22_611])
    assert AverageClassSize(k=7).of_sizes(halves, 0, 45_222) == pytest.approx(3230, abs=0.5)
