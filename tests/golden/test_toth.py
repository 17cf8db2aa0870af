"""Worked examples of Toth (2015), Data Anonymization. Ids are those of our list of examples.

T-01 to T-04, T-06, T-07 and T-20 are here; T-05, T-08, T-09 and T-17 to T-19 in `test_presence`.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.data.hierarchy import from_rows
from anon_core.data.table import Dataset
from anon_core.methods.lattice.lattice import Lattice
from anon_core.release.release import Release, raw_view
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.metrics.discernibility import Discernibility
from anon_core.techniques.metrics.generalization_height import GeneralizationHeight
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.asked import measured
from tests.making import Case, sample_case

ZIP = [(z, "537*") for z in ("5370", "5371", "5372", "5373")]
AGE = [("25", "20-30"), ("27", "20-30")]
PRIVATE = sample_case("toth-private", {"Zip": ZIP, "Age": AGE})
PUBLIC = sample_case("toth-public", {"Zip": ZIP, "Age": AGE})
# Figure 2.6.
PEOPLE = Case(
    columns={
        "Name": ["Julie", "Ada", "Sara", "James", "Mary", "Barbara"],
        "Zip": ["5370", "5370", "5371", "5372", "5376", "5376"],
        "Age": ["21", "27", "27", "32", "38", "39"],
    },
    identifier=("Name",),
    quasi=("Zip", "Age"),
    kinds={"Zip": "ordered", "Age": "number"},
    levels={
        "Zip": [(z, "537*") for z in ("5370", "5371", "5372", "5376")],
        "Age": [(str(a), "21-30" if a <= 30 else "31-40", "*") for a in range(21, 41)],
    },
)
PEOPLE_KINDS = {"Zip": "ordered", "Age": "number"}
CONTEXT = Context()


def classes_of(case: Case, release: Release, column: str) -> dict[tuple[str, ...], list[str]]:
    """Return the values of a column by the class's published cells."""
    member = release.grouping.of_rows(release.problem.frequency, np.random.default_rng(0))
    found: dict[tuple[str, ...], list[str]] = {}
    for c, value in zip(member.tolist(), case.columns[column], strict=True):
        cells = tuple(release.vocabularies[n].texts[release.cells[n][c]] for n in case.quasi)
        found.setdefault(cells, []).append(str(value))
    return {cells: sorted(values) for cells, values in found.items()}


def least_sizes(case: Case) -> dict[tuple[int, ...], int]:
    lattice = Lattice(case.problem())
    return {node: int(lattice.stats(node)[1].sizes.min()) for node in lattice.nodes()}


def test_t_01_the_class_of_clara() -> None:
    problem = PUBLIC.problem()
    view = raw_view(problem)
    keys = problem.frequency.run[problem.frequency.row_key]
    names = PUBLIC.columns["Name"]
    mates = {n for n, k in zip(names, keys, strict=True) if k == keys[names.index("Clara")]}
    assert mates == {"Clara", "Elizabeth", "Julie"}
    assert sorted(view.group_size.tolist()) == [1, 1, 1, 2, 2, 3]


def test_t_02_one_step_up_and_one_step_down_a_leaf() -> None:
    """Specialization is a function once the leaf is fixed: a node has several children."""
    countries = Dataset.from_frame(
        pd.DataFrame({"country": ["Denmark", "Sweden", "Spain"]}), kinds={"country": "text"}
    ).column("country")
    h = from_rows(
        countries,
        [
            ("Denmark", "N.Europe", "Europe", "*"),
            ("Sweden", "N.Europe", "Europe", "*"),
            ("Spain", "S.Europe", "Europe", "*"),
        ],
    )
    denmark = h.code["Denmark"]
    chain = [h.labels[level][h.node(level)[denmark]] for level in range(h.height + 1)]
    up = dict(itertools.pairwise(chain))
    assert up == {"Denmark": "N.Europe", "N.Europe": "Europe", "Europe": "*"}
    down = dict(itertools.pairwise(reversed(chain)))
    assert down == {"*": "Europe", "Europe": "N.Europe", "N.Europe": "Denmark"}
    # Without the leaf a step down from Europe has two answers.
    assert h.labels[1] == ("N.Europe", "S.Europe")


def test_t_03_full_domain_generalization() -> None:
    assert least_sizes(PRIVATE) == {(0, 0): 1, (0, 1): 1, (1, 0): 3, (1, 1): 8}
    outcome = Optimal().run(PRIVATE.problem(), [KAnonymity(k=2)], CONTEXT)
    assert outcome.account.node == {"Zip": 1, "Age": 0}
    assert outcome.account.minimal == ((1, 0),)
    assert classes_of(PRIVATE, outcome.release, "Salary") == {
        ("537*", "25"): ["15k", "25k", "30k", "45k", "9k"],
        ("537*", "27"): ["30k", "40k", "42k"],  # E-39: the figure prints 12k for Bob
    }
    (verdict,) = KAnonymity(k=2).measure(
        *measured(outcome.release.problem, outcome.release.view), CONTEXT
    )
    assert verdict.reached == 3
    assert sorted(outcome.release.grouping.sizes.tolist()) == [3, 5]


@pytest.mark.parametrize("quasi", [("Zip", "Age"), ("Age", "Zip")])
def test_t_04_mondrian_whichever_tied_column_comes_first(quasi: tuple[str, ...]) -> None:
    """E-18: with ≤ the lower median alone neither order reaches the figure."""
    case = dataclasses.replace(PRIVATE, quasi=quasi)
    release = Mondrian().run(case.problem(), [KAnonymity(k=2)], CONTEXT).release
    assert sorted(classes_of(case, release, "Name").values()) == [
        ["Ada", "Bob", "Sara"],
        ["Amanda", "Ashley", "Taylor"],
        ["Clara", "Julie"],
    ]
    by_salary = {tuple(v): c for c, v in classes_of(case, release, "Salary").items()}
    place = [quasi.index(n) for n in ("Zip", "Age")]
    assert {s: tuple(c[p] for p in place) for s, c in by_salary.items()} == {
        ("30k", "40k", "42k"): ("{5370, 5371}", "27"),
        ("25k", "45k", "9k"): ("{5372, 5373}", "25"),
        ("15k", "30k"): ("5370", "25"),
    }
    # With nodes for cells, the figure's own: 537* for several ZIP codes.
    nodes = Mondrian(output="node").run(case.problem(), [KAnonymity(k=2)], CONTEXT).release
    by_salary = {tuple(v): c for c, v in classes_of(case, nodes, "Salary").items()}
    assert {s: tuple(c[p] for p in place) for s, c in by_salary.items()} == {
        ("30k", "40k", "42k"): ("537*", "27"),
        ("25k", "45k", "9k"): ("537*", "25"),
        ("15k", "30k"): ("5370", "25"),
    }
    assert sorted(nodes.grouping.sizes.tolist()) == [2, 3, 3]


def test_t_06_full_domain_with_two_age_groups() -> None:
    sizes = least_sizes(PEOPLE)
    assert {n: s for n, s in sizes.items() if n[1] < 2} == {
        (0, 0): 1,
        (1, 0): 1,
        (0, 1): 1,
        (1, 1): 3,
    }
    outcome = Optimal().run(PEOPLE.problem(), [KAnonymity(k=2)], CONTEXT)
    assert outcome.account.node == {"Zip": 1, "Age": 1}
    assert classes_of(PEOPLE, outcome.release, "Name") == {
        ("537*", "21-30"): ["Ada", "Julie", "Sara"],
        ("537*", "31-40"): ["Barbara", "James", "Mary"],
    }


def test_t_07_mondrian_with_free_ranges() -> None:
    release = Mondrian().run(PEOPLE.problem(), [KAnonymity(k=2)], CONTEXT).release
    assert classes_of(PEOPLE, release, "Name") == {
        ("{5370, 5371}", "[21, 27]"): ["Ada", "Julie", "Sara"],
        ("{5372, 5376}", "[32, 39]"): ["Barbara", "James", "Mary"],
    }
    nodes = Mondrian(output="node").run(PEOPLE.problem(), [KAnonymity(k=2)], CONTEXT).release
    assert classes_of(PEOPLE, nodes, "Name") == {
        ("537*", "21-30"): ["Ada", "Julie", "Sara"],
        ("537*", "31-40"): ["Barbara", "James", "Mary"],
    }


def test_t_20_discernibility_and_amount_of_generalization_of_both_figures() -> None:
    problem = PRIVATE.problem()
    full = Optimal().run(problem, [KAnonymity(k=2)], CONTEXT).release
    partition = Mondrian().run(problem, [KAnonymity(k=2)], CONTEXT).release
    assert Discernibility().measure(problem, full, CONTEXT).value == 34
    assert Discernibility().measure(problem, partition, CONTEXT).value == 22
    height = GeneralizationHeight()
    assert height.measure(problem, full, CONTEXT).also == {"levels climbed (AG)": 8}
    assert height.measure(problem, partition, CONTEXT).also == {"levels climbed (AG)": 6}
