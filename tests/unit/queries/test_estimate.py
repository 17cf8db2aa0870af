"""Overlaps, cancellation, and the metric that compares releases by their answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan, Cancelled
from anon_core.base.registry import find
from anon_core.methods.bucketized.reconstruction import (
    anatomy_reconstruction,
    permutation_reconstruction,
)
from anon_core.methods.queries import query_answers as answers
from anon_core.methods.queries.count_queries import asking
from anon_core.methods.queries.query_answers import counts, estimates, overlap
from anon_core.release.grouping import Grouping
from anon_core.release.release import Release, one_block
from anon_core.release.vocabulary import of_boxes, of_level
from anon_core.techniques.metrics.query_error import QueryError
from tests.making import PATIENTS, Case, by_hand, random_case

AGES = Case(
    columns={"age": ["10", "20", "40", "80", None]},
    quasi=("age",),
    kinds={"age": "number"},
    levels={"age": [("10", "*"), ("20", "*"), ("40", "*"), ("80", "*"), ("90", "*")]},
)


def shares(lo: int, hi: int, cell: tuple[int, int], spread: str) -> float:
    problem = AGES.problem()
    hierarchy = problem.hierarchies["age"]
    first, last = (np.array([c], dtype=np.int32) for c in cell)
    vocabulary, code = of_boxes(hierarchy, "number", first, last, as_nodes=False)
    asked = np.array([lo], dtype=np.int32), np.array([hi], dtype=np.int32)
    return float(overlap(hierarchy, vocabulary, *asked, spread=spread)[0, code[0]])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lo", "hi", "cell", "leaves", "length"),
    [
        (1, 2, (0, 3), 1 / 2, 20 / 70),
        (0, 1, (1, 3), 1 / 3, 0.0),
        (2, 4, (0, 3), 1 / 2, 40 / 70),
        (2, 2, (0, 3), 1 / 4, 0.0),
        (0, 4, (1, 2), 1.0, 1.0),
        (3, 4, (0, 2), 0.0, 0.0),
        (2, 3, (2, 2), 1.0, 1.0),
        (0, 1, (2, 2), 0.0, 0.0),
        (5, 5, (5, 5), 1.0, 1.0),
        (0, 1, (0, 5), 1 / 3, 1 / 3),
        (5, 5, (0, 5), 1 / 6, 1 / 6),
    ],
)
def test_overlap(lo: int, hi: int, cell: tuple[int, int], leaves: float, length: float) -> None:
    """Leaf 5 is the missing value: it has no length, so what hides it goes by leaves."""
    assert shares(lo, hi, cell, "leaves") == pytest.approx(leaves)
    assert shares(lo, hi, cell, "length") == pytest.approx(length)


def test_leaves_that_are_not_counted_have_no_weight_beside_others() -> None:
    hierarchy = AGES.problem().hierarchies["age"]
    hierarchy = replace(hierarchy, counted=np.array([True, False, True, False, False, True]))
    top = of_level(hierarchy, 1)
    lo, hi = np.array([0, 1], dtype=np.int32), np.array([1, 1], dtype=np.int32)
    assert overlap(hierarchy, top, lo, hi).ravel().tolist() == pytest.approx([1 / 3, 0.0])
    exact = overlap(hierarchy, of_level(hierarchy, 0), lo, hi)
    assert exact.tolist() == [[1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]


def test_a_column_that_is_not_published_cannot_be_asked_about() -> None:
    problem = PATIENTS.problem()
    release = by_hand(problem, [0] * 6, (("age", "zip"), ("illness",)))
    for asked in ({"note": (0, 0)}, {"age": (0, 0), "name": (0, 1)}):
        with pytest.raises(AnonError, match="cannot be asked about"):
            estimates(release.view, problem.hierarchies, asking([asked]))
        with pytest.raises(AnonError, match="cannot be asked about"):
            counts(problem, asking([asked]))


def test_cancelling_stops_exact_counts_and_estimates() -> None:
    problem = PATIENTS.problem()
    release = by_hand(problem, [0, 0, 1, 1, 2, 2], (("age", "zip"), ("illness",)))
    context = Context()
    context.cancel.set()
    asked = asking([{"age": (0, 0)}])
    with pytest.raises(Cancelled):
        counts(problem, asked, context)
    with pytest.raises(Cancelled):
        estimates(release.view, problem.hierarchies, asked, context=context)


def test_parts_of_the_work_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PATIENTS.problem()
    release = by_hand(problem, [0, 0, 1, 1, 2, 2], (("age", "zip"), ("illness",)))
    asked = asking([{"age": (a, 1), "zip": (0, z)} for a in (0, 1) for z in range(4)] + [{}])
    whole = estimates(release.view, problem.hierarchies, asked)
    assert whole[-1] == 6.0
    for table, threads in ((1, 1), (1, 4), (1 << 20, 1)):
        monkeypatch.setattr(answers, "_TABLE", table)
        monkeypatch.setattr(answers, "_MOST_THREADS", threads)
        assert np.array_equal(estimates(release.view, problem.hierarchies, asked), whole)


# ---- the metric ----------------------------------------------------------------------------------


def exact_release(case: Case = PATIENTS) -> Release:
    problem = case.problem()
    columns = (*problem.quasi, *problem.sensitive)
    return by_hand(problem, range(problem.rows), (columns,))


def test_an_unchanged_table_has_no_error() -> None:
    release = exact_release()
    found = QueryError().measure(release.problem, release, Context())
    assert found.value == found.share == 0.0
    assert found.also["median"] == found.also["90% quantile"] == 0.0


def test_an_empty_release_misses_every_answer() -> None:
    problem = PATIENTS.problem()
    release = by_hand(problem, [-1] * 6, (("age", "zip", "illness"),))
    found = QueryError().measure(problem, release, Context())
    assert found.value == found.share == 1.0


def test_removed_rows_are_missed() -> None:
    problem = PATIENTS.problem()
    release = by_hand(problem, [-1, -1, -1, 0, 1, 2], (("age", "zip", "illness"),))
    found = QueryError(selectivity=1.0).measure(problem, release, Context())
    assert found.value == found.share == 0.5


def test_the_metric_by_hand() -> None:
    """One column, two values, all suppressed: 1 row in 4 is estimated as 2, and 3 as 2."""
    case = Case(columns={"q": ["a", "b", "b", "b"]}, quasi=("q",))
    problem = case.problem()
    whole = of_level(problem.hierarchies["q"], 1)
    grouping = Grouping(
        key=np.arange(2),
        member=np.zeros(2, np.int64),
        count=np.array([1, 3]),
        group=np.zeros(1, np.int64),
    )
    release = one_block(problem, grouping, {"q": whole}, {"q": np.zeros(1, np.int32)})
    found = QueryError(queries=1000).measure(problem, release, Context())
    assert 1 / 3 < found.value < 1
    assert found.value == pytest.approx(2 / 3, abs=0.05)  # half the queries each
    assert found.share == 1  # it is the error of hiding everything
    floored = QueryError(queries=1000, sanity=1.0).measure(problem, release, Context())
    assert (floored.value, floored.share) == (0.25, 1)


def skewed() -> Case:
    """Ten values on paper, one in the data: most intervals hold no row."""
    return Case(
        columns={"q": ["v0"] * 5},
        quasi=("q",),
        levels={"q": [(f"v{i}", "*") for i in range(10)]},
    )


def test_queries_without_an_answer_are_left_out_and_counted() -> None:
    release = exact_release(skewed())
    found = QueryError(queries=100).measure(release.problem, release, Context())
    assert 50 < found.also["queries without an answer"] < 100
    assert found.value == 0.0
    floored = QueryError(queries=100, sanity=0.1).measure(release.problem, release, Context())
    assert floored.also["queries without an answer"] == 0.0


def test_where_no_query_has_an_answer_errors_are_in_rows() -> None:
    problem = skewed().problem()
    top = of_level(problem.hierarchies["q"], 1)
    grouping = Grouping(
        key=np.zeros(1, np.int64),
        member=np.zeros(1, np.int64),
        count=np.array([5]),
        group=np.zeros(1, np.int64),
    )
    release = one_block(problem, grouping, {"q": top}, {"q": np.zeros(1, np.int32)})
    measured = [
        QueryError(queries=1, seed=seed).measure(problem, release, Context()) for seed in range(9)
    ]
    lost = [m for m in measured if m.also["queries without an answer"] == 1.0]
    assert lost
    assert all(m.value == 0.5 and m.share == 1 for m in lost)


def test_the_seed_repeats() -> None:
    case = random_case(np.random.default_rng(8), rows=60, quasi=4)
    problem = case.problem()
    blocks = tuple((name,) for name in (*case.quasi, *case.sensitive))
    release = by_hand(problem, [row // 10 for row in range(60)], blocks)
    first, second, other = (
        QueryError(seed=seed, queries=50).measure(problem, release, Context()).value
        for seed in (3, 3, 4)
    )
    assert first == second != other


def test_it_is_registered_and_refuses_what_the_table_cannot_answer() -> None:
    assert find("metric", "query-error") is QueryError
    release = exact_release()
    with pytest.raises(BadPlan):
        QueryError(predicates=4).measure(release.problem, release, Context())
    with pytest.raises(BadPlan):
        QueryError(spread="evenly")


# ---- reconstruction ------------------------------------------------------------------------------


def test_reconstruction_needs_exact_groups_and_the_sensitive_column_by_itself() -> None:
    problem = PATIENTS.problem()
    groups = [0, 0, 0, 1, 1, 1]
    linked = by_hand(problem, groups, (("age", "zip", "illness"),))
    unnamed = by_hand(problem, groups, (("age", "zip"), ("illness",)), published=False)
    fine = by_hand(problem, groups, (("age", "zip"), ("illness",)))
    coarse = replace(
        fine,
        vocabularies={**fine.vocabularies, "age": of_level(problem.hierarchies["age"], 2)},
        cells={**fine.cells, "age": np.zeros(fine.grouping.classes, np.int32)},
    )
    for release in (linked, unnamed, coarse):
        with pytest.raises(AnonError, match="groups of exact cells"):
            permutation_reconstruction(release, "illness", 2)
        with pytest.raises(AnonError, match="groups of exact cells"):
            anatomy_reconstruction(release, "illness", 2)
    assert not anatomy_reconstruction(fine, "illness", 2).bound_holds  # flu twice in the first
