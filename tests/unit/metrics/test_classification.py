"""The classification metric by hand, against its slow twin, and as what a search goes by."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.contracts.algorithm import Algorithm
from anon_core.methods.lattice.lattice import Lattice
from anon_core.methods.lattice.node_cost import NodeCost
from anon_core.pipeline.runner import run
from anon_core.techniques.algorithms.annealing import Annealing
from anon_core.techniques.algorithms.genetic import Genetic
from anon_core.techniques.algorithms.k_optimize import KOptimize
from anon_core.techniques.metrics.classification import Classification
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests import naive
from tests.making import PATIENTS, Case, by_hand, random_case


def test_a_small_release() -> None:
    """Two classes of three: flu outvotes one cold; flu, angina and cold leave two outvoted."""
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    found = result.measures["classification"]
    assert found.value == pytest.approx(3 / 6)
    assert found.share == 1  # anyone who sees nothing but the labels is wrong of three as well
    # By themselves the rows of one age and ZIP code already disagree: (20, 101) and (40, 202).
    assert found.also == pytest.approx({"of the table itself": 2 / 6})


def test_removed_rows_and_several_columns_of_labels() -> None:
    case = Case(
        columns={"q": list("aaabbb"), "s": list("xxyzzz"), "t": list("uvwuuu")},
        quasi=("q",),
        sensitive=("s", "t"),
    )
    release = by_hand(case.problem(), [0, 0, 0, 1, 1, -1], (("q", "s", "t"),))
    first = Classification().measure(release.problem, release, Context())
    assert first.value == pytest.approx(2 / 6)  # one y, one removed
    assert first.also == pytest.approx({"of the table itself": 1 / 6, "labels of 't'": 3 / 6})
    other = Classification(column="t").measure(release.problem, release, Context())
    assert other.value == pytest.approx(3 / 6)


def test_without_labels_it_is_left_out_and_searches_say_what_is_missing() -> None:
    case = Case(columns={"q": list("aabb")}, quasi=("q",))
    result = run(case.plan(), case.dataset)
    assert "classification" not in result.measures
    assert Classification().reason_not_applicable(case.problem()).startswith("It needs")
    for technique in (KOptimize, Genetic, Annealing):
        with pytest.raises(BadPlan, match="needs a sensitive column") as refused:
            technique(metric="classification").run(case.problem(), [KAnonymity(k=2)], Context())
        assert "sensitive" in refused.value.remedy


def test_a_search_that_has_no_bound_for_it_lists_what_it_takes() -> None:
    with pytest.raises(BadPlan, match="one of 'loss', 'average-class-size'"):
        PATIENTS.plan(algorithm={"name": "optimal", "metric": "classification"})


def test_a_node_costs_what_its_release_measures() -> None:
    rng = np.random.default_rng(775047)
    for _ in range(30):
        case = random_case(rng)
        problem = case.problem()
        lattice = Lattice(problem)
        cost = NodeCost(problem, Classification(column="s1"))
        labels, rows = case.column("s1"), case.rows
        for node in list(product(*(range(n) for n in lattice.shape)))[:12]:
            classes, stats = lattice.stats(node)
            keep = stats.sizes >= 2
            fields = [lattice.field(classes, d) for d in range(len(node))]
            groups: dict[tuple[int, ...], list[int]] = {}
            codes = problem.frequency.codes[problem.frequency.row_key]
            for i in range(len(rows)):
                cells = (
                    int(h.node(level)[codes[i, d]])
                    for d, (h, level) in enumerate(
                        zip(problem.quasi_hierarchies, node, strict=True)
                    )
                )
                groups.setdefault(tuple(cells), []).append(i)
            kept = [[labels[i] for i in g] for g in groups.values() if len(g) >= 2]
            removed = len(rows) - sum(map(len, kept))
            expected = naive.outvoted(kept, removed) / len(rows)
            assert cost.of(node, classes, keep, fields) == pytest.approx(expected)


@pytest.mark.parametrize("technique", [Genetic, Annealing])
def test_walks_report_what_the_release_measures(technique: type[Algorithm]) -> None:
    rng = np.random.default_rng(2002)
    for _ in range(5):
        problem = random_case(rng, rows=24, missing=False).problem()
        search = technique.from_mapping(
            {"metric": {"name": "classification", "column": "s1"}, "max_suppression": 1.0}
        )
        outcome = search.run(problem, [KAnonymity(k=2)], Context())
        found = Classification(column="s1").measure(problem, outcome.release, Context())
        assert outcome.account.cost == pytest.approx(found.value)
