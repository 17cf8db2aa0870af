"""How many people share a class: counted in a table, or estimated from a size."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled
from anon_core.methods.lattice.nodes import Nodes
from anon_core.methods.matching import fitting_people as module
from anon_core.methods.matching.fitting_people import expected_inverse, population_risk
from anon_core.release.release import raw_view
from anon_core.techniques.attacks.journalist import Journalist
from anon_core.techniques.attacks.marketer import Marketer
from tests import naive
from tests.asked import attacked
from tests.making import PATIENTS, Case, random_case


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1, 0.01])
def test_the_estimate_is_the_sum_of_its_series(share: float) -> None:
    sizes = np.array([1, 2, 3, 5, 10, 39, 40, 41, 42, 100, 1000])
    expected = [naive.expected_inverse(int(f), share) for f in sizes]
    assert expected_inverse(sizes, share) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("share", [1e-5, 1e-8, 1e-10])
def test_the_estimate_stays_finite_for_huge_populations(share: float) -> None:
    found = expected_inverse(np.arange(1, 200), share)
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) < 0)
    # Far from 1, E[1/F] is share / (f − 1), and −share · ln(share) for a single row.
    assert found[0] == pytest.approx(-share * np.log(share), rel=1e-3)
    assert found[9:] == pytest.approx(share / np.arange(9, 199), rel=1e-3)


def test_a_whole_population_is_counted_not_estimated() -> None:
    assert expected_inverse(np.array([1, 4]), 1.0).tolist() == [1.0, 0.25]


def test_without_a_population_the_table_is_all_there_is() -> None:
    problem = PATIENTS.problem()
    view = raw_view(problem)
    persons = view.persons(view.blocks[0])
    risk = population_risk(view, persons, *attacked(problem, view)[1:], Context())
    assert risk.chance.tolist() == (1.0 / persons.sizes).tolist()
    assert (risk.size, risk.estimated, risk.unmatched) == (6, False, 0)


def test_a_stated_size_gives_an_estimate() -> None:
    problem = PATIENTS.problem(population=60)
    view = raw_view(problem)
    persons = view.persons(view.blocks[0])
    risk = population_risk(view, persons, *attacked(problem, view)[1:], Context())
    expected = [naive.expected_inverse(int(f), 0.1) for f in persons.sizes]
    assert risk.chance == pytest.approx(expected, rel=1e-9)
    assert (risk.size, risk.estimated) == (60, True)


def test_everybody_fits_a_class_that_says_nothing() -> None:
    problem = PATIENTS.problem(population=12)
    tops = [len(problem.hierarchies[name].labels) - 1 for name in problem.quasi]
    nodes = Nodes(problem, [], 0, Context())
    view = nodes.release(tuple(tops)).view
    (one,) = Journalist().run(*attacked(problem, view), Context())
    assert one.worst == one.rate == pytest.approx(1 / 12)
    assert not one.estimated


@pytest.mark.parametrize("pairs", [1, 1 << 25])
def test_a_population_table_is_counted(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAIRS", pairs)
    rng = np.random.default_rng(2008)
    for _ in range(15):
        case = random_case(rng, rows=20)
        part = {name: cells[:8] for name, cells in case.columns.items()}
        private = dataclasses.replace(case, columns=part)
        problem = private.problem(population=case.dataset)
        heights = [h.height for h in problem.quasi_hierarchies]
        for node in ([0] * len(heights), [int(rng.integers(0, h + 1)) for h in heights]):
            # Values that no private row has are unknown to a flat hierarchy: no cell covers them.
            view = Nodes(problem, [], 0, Context()).release(tuple(node)).view
            persons = view.persons(view.blocks[0])
            risk = population_risk(view, persons, *attacked(problem, view)[1:], Context())
            people = problem.population
            assert people is not None
            covers = [people.cover(view.vocabularies[n]) for n in persons.columns]
            for c, codes in enumerate(persons.codes):
                cells = [
                    people.hierarchies[n].leaves[low[code] : high[code] + 1]
                    for n, (low, high), code in zip(persons.columns, covers, codes, strict=True)
                ]
                assert risk.chance[c] == 1 / naive.covered_people(cells, case.rows)
            assert (risk.size, risk.estimated, risk.unmatched) == (20, False, 0)


def test_a_table_that_is_no_sample_of_the_population_is_noticed() -> None:
    strangers = dataclasses.replace(
        PATIENTS, columns={n: c[:3] * 3 for n, c in PATIENTS.columns.items()}
    )
    problem = PATIENTS.problem(population=strangers.dataset)
    view = raw_view(problem)
    risk = population_risk(
        view, view.persons(view.blocks[0]), *attacked(problem, view)[1:], Context()
    )
    # (40, 201) and (40, 202) are nobody's; the others are three people each, (20, 101) six.
    assert risk.unmatched == 2
    assert sorted(risk.chance.tolist()) == [1 / 6, 1 / 3, 1 / 2, 1.0]
    (result,) = Journalist().run(*attacked(problem, view), Context())
    assert "2 classes hold more rows than the population" in result.sentence


def test_a_population_smaller_than_the_table_is_refused() -> None:
    with pytest.raises(BadPlan, match="population has 5 people, but the table has 6"):
        PATIENTS.problem(population=5)


def test_counting_can_be_cancelled() -> None:
    context = Context()
    problem = PATIENTS.problem(population=PATIENTS.dataset)
    context.cancel.set()
    for attack in (Journalist(), Marketer()):
        with pytest.raises(Cancelled):
            attack.run(*attacked(problem, raw_view(problem)), context)


def test_a_coarser_cell_covers_more_people() -> None:
    case = Case(
        columns={"q": ["1", "2"]},
        quasi=("q",),
        kinds={"q": "text"},
        levels={"q": [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*")]},
    )
    people = dataclasses.replace(case, columns={"q": ["1", "2", "2", "3"]})
    problem = case.problem(population=people.dataset)
    view = raw_view(problem)
    risk = population_risk(
        view, view.persons(view.blocks[0]), *attacked(problem, view)[1:], Context()
    )
    assert risk.chance.tolist() == [1.0, 0.5]


def test_a_column_of_numbers_without_any_value_in_the_population() -> None:
    case = Case(columns={"age": ["34", None]}, quasi=("age",), kinds={"age": "number"})
    nobody = dataclasses.replace(case, columns={"age": [None, None, None]})
    population = case.problem(population=nobody.dataset).population
    assert population is not None
    assert population.codes is not None
    assert population.tuple_count is not None
    assert population.codes.tolist() == [[1]]  # the missing value, behind 34
    assert population.tuple_count.tolist() == [3]
