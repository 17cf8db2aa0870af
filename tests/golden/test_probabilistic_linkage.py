"""Probabilistic linkage: a worked example, and Bayes' rule and assignments on random tables."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.data.table import Dataset
from anon_core.methods.matching.fitting_people import matched
from anon_core.methods.reidentification.best_links import best_links, blocking_column, link_shares
from anon_core.methods.reidentification.fellegi_sunter import agreement, compared, posterior
from anon_core.methods.reidentification.register import register_of
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import Release
from anon_core.techniques.attacks.probabilistic_linkage import ProbabilisticLinkage
from tests.making import Case
from tests.often import often, times
from tests.property.test_overlap import overlapping
from tests.strategies import Boxed, boxed

PEOPLE = ["20x", "20y", "30x", "40x", "30y", "40y", "20x", "30x"]  # p1 … p8
LEVELS = {
    "age": [["20", "{20, 30}", "*"], ["30", "{20, 30}", "*"], ["40", "40", "*"]],
    "kind": [["x", "*"], ["y", "*"]],
}


def frame(people: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"age": [p[:2] for p in people], "kind": [p[2:] for p in people]})


def example(**attack: object) -> tuple[AttackResult, Release]:
    """Release p1, p3, p7 and p8 as ({20, 30}, x), with all eight as the register."""
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["age", "kind"]},
            "types": {"age": "text", "kind": "text"},
            "hierarchies": {"age": "age.csv", "kind": "kind.csv"},
            "algorithm": {"name": "fixed-levels", "levels": {"age": 1, "kind": 0}},
            "models": [{"name": "k-anonymity", "k": 4}],
            "attacks": [{"name": "probabilistic-linkage", **attack}],
        }
    )
    table = Dataset.from_frame(frame(["20x", "30x", "20x", "30x"]), kinds=plan.types)
    levels = {"age": [["20", "young", "*"], ["30", "young", "*"]], "kind": [["x", "*"]]}
    public = Dataset.from_frame(frame(PEOPLE), kinds=plan.types)
    found = run(plan, table, levels, population=public)
    return next(a for a in found.attacks if a.attack == "probabilistic-linkage"), found.release


def test_the_worked_example() -> None:
    found, release = example()
    weights, decisions = found.details
    age, kind = weights.rows
    assert (
        age["share of the register in the cell"],
        kind["share of the register in the cell"],
    ) == (
        3 / 4,
        5 / 8,
    )
    assert age["agreement"] == pytest.approx(0.3859, abs=5e-5)
    assert kind["agreement"] == pytest.approx(0.6489, abs=5e-5)
    assert age["disagreement"] == pytest.approx(-3.6439, abs=5e-5)
    assert kind["disagreement"] == pytest.approx(-4.2288, abs=5e-5)
    possible = next(r for r in decisions.rows if r["link"] == "possible")
    assert possible["rows"] == 4
    assert possible["mean posterior"] == pytest.approx(0.2462, abs=5e-5)
    # Four people look the same, each is behind one of four rows: right one time in four.
    assert (found.undecided, found.rate, found.worst) == (0, pytest.approx(1 / 4), 1 / 4)
    assert (found.at_risk, found.interval, found.upper_bound) == (4, None, False)
    assert found.baseline == 1 / 4
    # Everyone's posterior, and without errors.
    problem = release.problem
    people = register_of(audience_of(problem), truth_of(problem, release))
    for epsilon, wanted in (
        (
            0.02,
            {"20x": 0.2462, "30x": 0.2462, "20y": 0.005, "40x": 0.005, "30y": 0.005, "40y": 1e-4},
        ),
        (1e-9, {"20x": 0.25, "30x": 0.25}),
    ):
        columns = [
            agreement(people, n, release.view.vocabularies[n], epsilon, 0.0) for n in problem.quasi
        ]
        cells = matched(release.view).codes[0]
        match = compared(columns, cells, people.codes)
        chance = posterior(match.likelihood, people.count)
        pop = problem.population
        assert pop is not None
        leaves = [pop.hierarchies[n].leaves for n in problem.quasi]
        for line, of in zip(people.codes.tolist(), chance.tolist(), strict=True):
            who = "".join(leaf[v] for leaf, v in zip(leaves, line, strict=True))
            assert of == pytest.approx(wanted.get(who, 0.0), abs=5e-5)
        if epsilon == 0.02:
            odds = 2.0**match.bits / 7
            assert float((odds / (1 + odds)) @ people.count) == pytest.approx(0.9436, abs=5e-5)


def test_guesses_are_scored_by_what_they_come_to() -> None:
    """Whatever the bounds say of a link, it is right one time in four."""
    found, _ = example(lower=0.3)
    assert found.undecided == 0
    assert found.rate == pytest.approx(1 / 4)
    assert found.interval is None
    # p2, p4, p5 and p6 are not in the table: their posteriors are far below the bound.
    assert found.control == pytest.approx((0.00502 * 3 + 0.0001) / 4, abs=5e-5)
    # A stranger who looks like a member is as good a link.
    more = [*PEOPLE, "20x"]
    assert control_among(more) > 0


def control_among(people: list[str]) -> float:
    case = Case(
        columns={"kind": ["x"], "age": ["20"]}, quasi=("age", "kind"), kinds={"age": "text"}
    )
    public = replace(
        case, columns={"age": [p[:2] for p in people], "kind": [p[2:] for p in people]}
    )
    problem = case.problem(population=public.dataset)
    audience, truth = audience_of(problem), truth_of(problem)
    (found,) = ProbabilisticLinkage().run(truth.raw, audience, truth, Context())
    assert found.control is not None
    return found.control


# ---- random tables -------------------------------------------------------------------------------


@pytest.mark.parametrize("people", [2, 4, 5])
def test_rows_that_say_nothing_are_guesses_however_few_they_are(people: int) -> None:
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["age"]},
            "types": {"age": "text"},
            "hierarchies": {"age": "age.csv"},
            "algorithm": {"name": "fixed-levels", "levels": {"age": 1}},
            "models": [{"name": "k-anonymity", "k": 2}],
            "attacks": [{"name": "probabilistic-linkage"}],
        }
    )
    ages = [str(20 + n) for n in range(people)]
    table = Dataset.from_frame(pd.DataFrame({"age": ages}), kinds=plan.types)
    found = next(
        a
        for a in run(plan, table, {"age": [[age, "*"] for age in ages]}).attacks
        if a.attack == "probabilistic-linkage"
    )
    assert found.undecided == 0
    assert found.at_risk == 0
    assert found.rate == pytest.approx(1 / people)


@often(80)
@given(drawn=boxed())
def test_weights_and_posteriors_are_bayes_rule(drawn: Boxed) -> None:
    release = drawn.release
    problem, view = release.problem, release.view
    people = register_of(audience_of(problem), truth_of(problem, release))
    persons = matched(view)
    place = [people.columns.index(n) for n in persons.columns]
    codes, count = people.codes[:, place], people.count
    epsilon = 0.1
    columns = [agreement(people, n, view.vocabularies[n], epsilon, 0.0) for n in persons.columns]
    everyone = [
        tuple(line) for line, n in zip(codes.tolist(), count, strict=True) for _ in range(n)
    ]
    for cells in persons.codes[:3]:
        match = compared(columns, cells, codes)
        expected = {}
        for who in set(everyone):
            chance = Fraction(1)
            for d, name in enumerate(persons.columns):
                v = view.vocabularies[name]
                low, high = int(v.lo[cells[d]]), int(v.hi[cells[d]])
                covered = [low <= p[d] <= high for p in everyone]
                if all(covered):
                    continue
                chance *= Fraction(9, 10) if low <= who[d] <= high else Fraction(1, 10)
            expected[who] = chance
        whole = sum(expected[p] for p in everyone)
        got = posterior(match.likelihood, count)
        for line, chance in zip(codes.tolist(), got.tolist(), strict=True):
            assert chance == pytest.approx(float(expected[tuple(line)] / whole))
        assert float((got * count).sum()) == pytest.approx(1)


@often(48)
@given(drawn=boxed(rows=(3, 14)), data=st.data())
def test_no_other_assignment_weighs_more(drawn: Boxed, data: st.DataObject) -> None:
    release = drawn.release
    problem, view = release.problem, release.view
    people = register_of(audience_of(problem), truth_of(problem, release))
    persons = matched(view)
    codes = people.codes[:, [people.columns.index(n) for n in persons.columns]]
    columns = [agreement(people, n, view.vocabularies[n], 0.1, 0.0) for n in persons.columns]
    one = st.integers(0, len(persons.codes) - 1)
    rows = persons.codes[data.draw(st.lists(one, min_size=3, max_size=3))]
    links = best_links(columns, rows, people, codes, None, Context())
    bits = np.stack([compared(columns, cells, codes).bits for cells in rows])
    share = np.zeros(bits.shape)
    for row, kind in enumerate(links.kind.tolist()):
        share[row, links.tuples[kind]] = links.shares[kind]
    assert share.sum(axis=1) == pytest.approx(1)
    assert np.all(share.sum(axis=0) <= people.count + 1e-9)
    copies = np.repeat(np.arange(len(codes)), np.minimum(people.count, len(rows)))
    if len(copies) > 40:
        return
    weights = {
        chosen: sum(bits[r, copies[p]] for r, p in enumerate(chosen))
        for chosen in itertools.permutations(range(len(copies)), len(rows))
    }
    best = max(weights.values())
    assert float((share * bits).sum()) == pytest.approx(best)
    # Each link of a best assignment has a share, and no other.
    tied = np.zeros(bits.shape, dtype=np.bool_)
    for chosen, weight in weights.items():
        if weight > best - 1e-9:
            tied[np.arange(len(rows)), copies[list(chosen)]] = True
    assert np.array_equal(share > 1e-9, tied)


def test_links_that_weigh_the_same_are_equally_likely() -> None:
    def shares(bits: list[list[float]], rows: list[int], people: list[int]) -> list[list[float]]:
        return link_shares(np.array(bits), np.array(rows), np.array(people)).tolist()

    assert shares([[3.0]], [2], [5]) == [[pytest.approx(1)]]
    assert shares([[1.0, 1.0, 0.0]], [1], [1, 3, 9]) == [
        [pytest.approx(1 / 4), pytest.approx(3 / 4), 0]
    ]
    # More rows than people: everyone is linked, to either.
    assert shares([[1.0], [1.0]], [1, 3], [2]) == [[pytest.approx(1 / 2)], [pytest.approx(1 / 2)]]
    # The first would have both, and the second only one: it gets that one.
    assert shares([[1.0, 1.0], [-9.0, 1.0]], [1, 1], [1, 1]) == [
        [pytest.approx(1), pytest.approx(0)],
        [pytest.approx(0), pytest.approx(1)],
    ]
    # A ring: either way round.
    assert shares([[1.0, 1.0, -9], [-9, 1.0, 1.0], [1.0, -9, 1.0]], [1] * 3, [1] * 3) == [
        [pytest.approx(v / 2) for v in line] for line in ([1, 1, 0], [0, 1, 1], [1, 0, 1])
    ]


@often(60)
@given(data=st.data())
def test_shares_of_links_depend_on_no_order(data: st.DataObject) -> None:
    kinds, tuples = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 7))
    weight = st.sampled_from([0.0, 0.1, 0.2, 0.3, -1.5])
    line = st.lists(weight, min_size=tuples, max_size=tuples)
    bits = np.array(data.draw(st.lists(line, min_size=kinds, max_size=kinds)))
    rows = np.array(data.draw(st.lists(st.integers(1, 4), min_size=kinds, max_size=kinds)))
    people = np.array(data.draw(st.lists(st.integers(1, 4), min_size=tuples, max_size=tuples)))
    found = link_shares(bits, rows, people)
    assert np.all((rows @ found) <= people + 1e-9)
    assert rows @ found.sum(axis=1) == pytest.approx(min(rows.sum(), people.sum()))
    one = np.array(data.draw(st.permutations(range(kinds))))
    other = np.array(data.draw(st.permutations(range(tuples))))
    again = link_shares(bits[one][:, other], rows[one], people[other])
    np.testing.assert_allclose(again, found[one][:, other], atol=1e-9)


@pytest.mark.often
def test_blocks_are_made_of_cells_that_share_no_value() -> None:
    seen = set()

    @settings(max_examples=times(160))
    @given(drawn=boxed())
    def tried(drawn: Boxed) -> None:
        view = drawn.release.view
        block = blocking_column(view, matched(view))
        seen.add(block is None)
        if block is not None:
            persons = matched(view)
            v = view.vocabularies[persons.columns[block]]
            used = np.unique(persons.codes[:, block]).tolist()
            spans = sorted((int(v.lo[c]), int(v.hi[c])) for c in used)
            assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))

    tried()
    assert seen == {True, False}


def test_numbers_just_outside_a_cell_are_near() -> None:
    case = Case(columns={"n": ["1", "2", "5", "9"]}, quasi=("n",), kinds={"n": "number"}, levels={})
    problem = case.problem()
    from anon_core.release.release import raw_view

    people = register_of(audience_of(problem), truth_of(problem))
    one = agreement(people, "n", raw_view(problem).vocabularies["n"], 0.2, 1.0)
    assert one.level(0, np.arange(4, dtype=np.int32)).tolist() == [0, 1, 2, 2]
    assert one.chance[0].tolist() == [0.25, 0.25, 0.5]
    assert one.match[0].tolist() == pytest.approx([0.8, 0.1, 0.1])
    assert one.level(3, np.arange(4, dtype=np.int32)).tolist() == [2, 2, 2, 0]
    assert one.match[3].tolist() == pytest.approx([0.8, 0.0, 0.2])


def test_a_sample_of_rows_has_an_interval_and_it_can_be_cancelled() -> None:
    release = overlapping()
    problem = release.problem
    known = release.view, audience_of(problem), truth_of(problem, release)
    (found,) = ProbabilisticLinkage(people=4).run(*known, Context())
    assert cast(AttackResult, found).interval is not None
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        ProbabilisticLinkage().run(*known, replace(Context(), cancel=cancel))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_class_of_k_who_are_alike_is_linked_right_one_time_in_k(k: int) -> None:
    """A link between the bounds is open to the attacker, and no less decided for us."""
    people = [(a, b) for a, b in itertools.product("pqr", "xy") for _ in range(k)]
    table = pd.DataFrame(people, columns=["a", "b"])
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["a", "b"]},
            "algorithm": {"name": "mondrian"},
            "models": [{"name": "k-anonymity", "k": k}],
            "attacks": [{"name": "probabilistic-linkage"}],
        }
    )
    found = next(
        a
        for a in run(plan, Dataset.from_frame(table)).attacks
        if a.attack == "probabilistic-linkage"
    )
    assert (found.undecided, found.interval) == (0, None)
    assert (found.rate, found.worst) == (pytest.approx(1 / k), pytest.approx(1 / k))
    assert found.rate == pytest.approx(found.baseline)
