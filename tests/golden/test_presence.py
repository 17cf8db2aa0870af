"""δ-presence on the examples of Toth (2015): T-05, T-08, T-09, T-17, T-18, T-19."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.data.table import Dataset
from anon_core.methods.bucketized.coarsening import Group, Shelf, ascending
from anon_core.methods.lattice.lattice import Lattice
from anon_core.methods.matching.fitting_people import public_people
from anon_core.methods.membership.equations_from_view import published_buckets
from anon_core.methods.membership.exact_chances import count, shares
from anon_core.methods.membership.presence import Bounds, judge
from anon_core.methods.partition.public_partition import Part, PublicPartition
from anon_core.pipeline.runner import run
from anon_core.techniques.algorithms.combined import CombinedAlg
from anon_core.techniques.algorithms.mpalm import Mpalm
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.delta_presence import DeltaPresence
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.asked import measured
from tests.golden.test_toth import AGE, PRIVATE, PUBLIC, ZIP, classes_of
from tests.making import Case
from tests.presence_cases import chances_by_listing

CONTEXT = Context()
ASKED = DeltaPresence(delta_min=0.1, delta_max=0.9)
PROBLEM = PRIVATE.problem(PUBLIC.dataset)


def deltas(release, problem=PROBLEM):  # type: ignore[no-untyped-def]
    """Return δ by name of the public table."""
    joint = published_buckets(release.view, problem.population, CONTEXT).joint
    found = shares(joint, count(joint.system).mean)
    tuples = {tuple(c): d for c, d in zip(problem.population.codes.tolist(), found, strict=True)}
    codes = [
        [problem.hierarchies[n].code[str(v)] for v in PUBLIC.columns[n]] for n in problem.quasi
    ]
    return {
        name: float(tuples[key])
        for name, key in zip(PUBLIC.columns["Name"], zip(*codes, strict=True), strict=True)
    }


def test_t_05_delta_presence_of_a_generalization() -> None:
    release = Optimal().run(PROBLEM, [KAnonymity(k=2)], CONTEXT).release
    (verdict,) = ASKED.measure(*measured(PROBLEM, release.view), CONTEXT)
    assert verdict.state == "holds"
    assert verdict.reached == 5 / 6
    assert sorted(verdict.per_class.tolist()) == [3 / 4, 5 / 6]
    by_age = dict(zip(PUBLIC.columns["Name"], PUBLIC.columns["Age"], strict=True))
    assert deltas(release) == {n: 3 / 4 if a == "27" else 5 / 6 for n, a in by_age.items()}
    assert by_age["Sara"] == "27"
    assert set(chances_by_listing(PROBLEM, release.view)) == {Fraction(3, 4), Fraction(5, 6)}
    # The bounds belong to what is allowed; a hair inside of them does not.
    for low, high, state in (
        (3 / 4, 0.84, "holds"),
        (0.76, 0.84, "broken"),
        (3 / 4, 0.83, "broken"),
    ):
        (verdict,) = DeltaPresence(delta_min=low, delta_max=high).measure(
            *measured(PROBLEM, release.view), CONTEXT
        )
        assert verdict.state == state


def test_the_search_finds_figure_2_3_for_its_delta_presence() -> None:
    outcome = Optimal().run(PROBLEM, [ASKED], CONTEXT)
    assert outcome.account.node == {"Zip": 1, "Age": 0}
    assert set(classes_of(PRIVATE, outcome.release, "Name")) == {("537*", "25"), ("537*", "27")}
    assert ZIP[0] == ("5370", "537*")
    assert AGE[0] == ("25", "20-30")


# ---- MPALM -----------------------------------------------------------------------------------


def ratios(search: PublicPartition, parts: list[Part] | None, column: str) -> dict[str, Fraction]:
    """Return |T_j| / |P_j| of parts by the value of a column they stand for."""
    d = search.problem.quasi.index(column)
    counts = search.problem.frequency.run_count
    assert parts is not None
    return {
        search.wide[d].leaves[int(search.codes[part.people[0], d])]: Fraction(
            int(counts[part.runs].sum()), int(search.public.count[part.people].sum())
        )
        for part in parts
    }


def test_t_08_the_trace_along_hierarchies_e06() -> None:
    search = PublicPartition(PROBLEM, [ASKED], "hierarchy", "MPALM")
    root = search.root()
    assert search.column_order(root) == [0, 1]  # Zip first, as in the figures
    assert Fraction(PROBLEM.rows, search.public.size) == Fraction(4, 5)
    by_zip, by_age = search.children(root, 0), search.children(root, 1)
    assert ratios(search, by_zip, "Zip") == {
        "5370": Fraction(3, 4),
        "5371": 1,
        "5372": Fraction(2, 3),
        "5373": 1,
    }
    assert by_zip is not None
    assert by_age is not None
    assert search.allowed(by_zip) is None
    assert search.allowed(by_age) is not None
    assert ratios(search, by_age, "Age") == {"25": Fraction(5, 6), "27": Fraction(3, 4)}
    young, old = by_age
    assert ratios(search, search.children(young, 0), "Zip") == {
        "5370": Fraction(2, 3),
        "5372": 1,
        "5373": 1,
    }
    assert ratios(search, search.children(old, 0), "Zip") == {"5370": 1, "5371": 1, "5372": 0}
    outcome = Mpalm(cuts="hierarchy").run(PROBLEM, [ASKED], CONTEXT)
    sizes = {cells: len(n) for cells, n in classes_of(PRIVATE, outcome.release, "Name").items()}
    assert sizes == {("537*", "25"): 5, ("537*", "27"): 3}
    found = search.search(CONTEXT)
    # Figure 2.13 prints eleven rows; there are six people of 25 and four of 27.
    assert sorted(found.people.tolist()) == [4, 6]
    (verdict,) = ASKED.measure(*measured(PROBLEM, outcome.release.view), CONTEXT)
    assert (verdict.state, verdict.reached) == ("holds", 5 / 6)


def test_t_09_cuts_between_values_as_printed() -> None:
    """The printed rule allows two Zip cuts that the figures forbid: both meanings are offered."""
    search = PublicPartition(PROBLEM, [ASKED], "values", "MPALM")
    allowed, cuts = search.all_cuts(search.root(), 0)
    expected = {
        search.wide[0].leaves[cut.value]: (
            *(Fraction(r, p) for r, p in zip(cut.rows, cut.people, strict=True)),
            bool(good),
        )
        for cut, good in zip(cuts, allowed, strict=True)
    }
    assert expected == {
        "5371": (Fraction(3, 4), Fraction(5, 6), True),
        "5372": (Fraction(5, 6), Fraction(3, 4), True),
        "5373": (Fraction(7, 9), 1, False),
    }
    release = Mpalm(cuts="values").run(PROBLEM, [ASKED], CONTEXT).release
    assert set(classes_of(PRIVATE, release, "Name")) == {
        ("5370", "[25, 27]"),
        ("{5371, 5372, 5373}", "[25, 27]"),
    }


SQUARE = Case(
    columns={"col1": ["0", "1"], "col2": ["1", "0"]},
    quasi=("col1", "col2"),
    kinds={"col1": "text", "col2": "text"},
)
SQUARE_PUBLIC = Dataset.from_frame(
    pd.DataFrame({"col1": list("0011"), "col2": list("0101")}, dtype=object),
    kinds=SQUARE.kinds,
)
HALF = DeltaPresence(delta_min=0.5, delta_max=0.5)


@pytest.mark.parametrize("cuts", ["by-kind", "hierarchy", "values"])
def test_t_19_mpalm_publishes_one_column_of_two(cuts: str) -> None:
    problem = SQUARE.problem(SQUARE_PUBLIC)
    release = Mpalm(cuts=cuts).run(problem, [HALF], CONTEXT).release
    texts = [release.vocabularies[n].texts for n in problem.quasi]
    assert texts == [("0", "1"), ("*",)]
    (verdict,) = HALF.measure(*measured(problem, release.view), CONTEXT)
    assert (verdict.state, verdict.reached) == ("holds", 0.5)
    assert chances_by_listing(problem, release.view) == [Fraction(1, 2)] * 4
    people = PublicPartition(problem, [HALF], cuts, "MPALM").search(CONTEXT).people
    assert sum(n * n for n in people.tolist()) == 8  # discernibility on public rows


# ---- CombinedAlg -----------------------------------------------------------------------------


def test_t_18_the_nodes_of_a_group_by_sum_of_levels() -> None:
    levels = {"Zip": ZIP, "Age": [(a, "20-30", "*") for a, _ in AGE]}
    problem = dataclasses.replace(PRIVATE, levels=levels).problem(PUBLIC.dataset)
    assert Lattice(problem).size == 6
    runs = np.arange(len(problem.frequency.run_count))
    group = Group(
        problem,
        public_people(problem.population, problem.frequency, "x"),
        runs,
        problem.frequency.run_count,
    )
    start = [[option.level for option in column] for column in group.options]
    assert start == [[0, 1], [0, 1]]  # the group's node is <Z1, A1>
    assert list(ascending(start)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    # What groups share on a shelf is what each of them would work out by itself.
    public = group.public
    shelf = Shelf(public)
    for part in (runs[:3], runs[2:], runs[:3]):
        counts = problem.frequency.run_count[part]
        alone, shared = (
            Group(problem, public, part, counts),
            Group(problem, public, part, counts, shelf=shelf),
        )
        assert alone.people.tolist() == shared.people.tolist()
        for one, two in zip(alone.options, shared.options, strict=True):
            assert [(o.level, o.cells) for o in one] == [(o.level, o.cells) for o in two]


@pytest.mark.parametrize("partition", ["mondrian", "mpalm"])
def test_t_17_the_first_node_fails_and_the_second_holds(partition: str) -> None:
    """E-07, E-16: the multisets are those of the bucket, and the first node that holds wins."""
    runs = np.arange(len(PROBLEM.frequency.run_count))
    group = Group(
        PROBLEM,
        public_people(PROBLEM.population, PROBLEM.frequency, "x"),
        runs,
        PROBLEM.frequency.run_count,
    )
    levels = [[option.level for option in column] for column in group.options]
    assert list(ascending(levels))[:2] == [(0, 0), (0, 1)]
    bounds = Bounds.of(0.1, 0.9)
    expected = {node: judge(group.at(node)[0], bounds, CONTEXT).state for node in ascending(levels)}
    assert expected == {(0, 0): "broken", (0, 1): "broken", (1, 0): "holds", (1, 1): "holds"}
    exact = CombinedAlg(partition="mondrian").run(
        PROBLEM, [DeltaPresence(delta_min=0.0, delta_max=1.0), BucketSize(k=4)], CONTEXT
    )
    assert deltas(exact.release) == pytest.approx(
        {
            "Elizabeth": 4 / 5,
            "Clara": 4 / 5,
            "Julie": 4 / 5,
            "Ada": 3 / 5,
            "Sara": 1,
            "Bob": 1,
            "Taylor": 4 / 5,
            "Ashley": 4 / 5,
            "Amanda": 1,
            "Jesper": 2 / 5,
        }
    )
    models = [
        {"name": "delta-presence", "delta_min": 0.1, "delta_max": 0.9},
        {"name": "bucket-size", "k": 4 if partition == "mondrian" else 6},
    ]
    plan = PRIVATE.plan(algorithm={"name": "combined", "partition": partition}, models=models)
    result = run(plan, PRIVATE.dataset, PRIVATE.levels, population=PUBLIC.dataset)
    assert result.verification.holds
    assert result.class_sizes.tolist() == [8]
    rows = result.published.to_pydict()
    assert rows["Zip"] == ["537*"] * 8
    assert sorted(rows["Age"]) == ["25"] * 5 + ["27"] * 3
    assert sorted(rows["Salary"]) == sorted(["15k", "25k", "30k", "30k", "40k", "42k", "45k", "9k"])
    by_age = {"25": 5 / 6, "27": 3 / 4}
    found = deltas(result.release)
    for name, age in zip(PUBLIC.columns["Name"], PUBLIC.columns["Age"], strict=True):
        assert found[str(name)] == pytest.approx(by_age[str(age)])
    (attack,) = [a for a in result.attacks if a.attack == "membership"]
    assert (attack.succeeded, attack.worst) == (0, pytest.approx(5 / 6))


def test_t_19_combined_publishes_both_columns() -> None:
    """Every δ is exactly on both bounds: no rounding may decide."""
    models = [{"name": "delta-presence", "delta_min": 0.5, "delta_max": 0.5}]
    plan = SQUARE.plan(
        algorithm={"name": "combined", "partition": "mondrian"},
        models=[*models, {"name": "bucket-size", "k": 2}],
    )
    result = run(plan, SQUARE.dataset, population=SQUARE_PUBLIC, assess=False)
    assert result.verification.holds
    rows = result.published.to_pydict()
    assert sorted(rows["col1"]) == sorted(rows["col2"]) == ["0", "1"]
    assert chances_by_listing(result.problem, result.release.view) == [Fraction(1, 2)] * 4
    sizes = published_buckets(result.release.view, result.problem.population, CONTEXT).joint.count
    assert int(sizes.sum()) ** 2 == 16  # discernibility on public rows: one group of four
