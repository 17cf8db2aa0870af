"""What promises are defined against, and where people stand: against counting the rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from anon_core.base.errors import BadInput
from anon_core.data.roles.roles import Roles
from anon_core.release.ground_truth import truth_of
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem, build_problem
from tests.making import PATIENTS, Case, by_hand, random_case

PAID = Case(
    columns={
        "age": ["20", "20", "30", "30", "30"],
        "pay": ["9", "100", None, "9", "20"],
        "own k": ["2", None, "5", "2", "2"],
        "guard": ["a", "a", "b", "b", None],
    },
    quasi=("age",),
    sensitive=("pay",),
    kinds={"age": "number", "pay": "number", "own k": "number", "guard": "text"},
)


def unnamed(case: Case) -> Problem:
    """Return the problem of a case whose two last columns have no role: they stay private."""
    return build_problem(case.dataset, Roles(quasi=case.quasi, sensitive=case.sensitive))


def test_the_counts_are_those_of_the_whole_table() -> None:
    problem = PAID.problem()
    pay = reference_of(problem).counts("pay")
    assert pay.number is not None
    assert pay.number[:3].tolist() == [9, 20, 100]  # by value, the missing one last
    assert np.isnan(pay.number[3])
    assert pay.rows.tolist() == [2, 1, 1, 1]
    assert pay.known.tolist() == [2, 1, 1, 0]
    assert (pay.total, pay.values, pay.missing_leaf) == (4, 3, 3)
    # A release that leaves rows out does not move it.
    by_hand(problem, [0, -1, -1, 0, 0], (("age", "pay"),))
    assert reference_of(problem).counts("pay").rows.tolist() == [2, 1, 1, 1]
    assert reference_of(problem).counts("age").rows.tolist() == [2, 3]
    assert reference_of(problem).rows == 5


@pytest.mark.parametrize("seed", range(5))
def test_counts_of_any_table(seed: int) -> None:
    case = random_case(np.random.default_rng([227, seed]), quasi=2)
    problem = case.problem()
    for name in (*case.quasi, *case.sensitive):
        found = reference_of(problem).counts(name)
        texts = problem.hierarchies[name].leaves
        counted = Counter(case.columns[name])
        missing = counted.pop(None, 0)
        assert {t: n for t, n in zip(texts, found.known.tolist(), strict=True) if n} == counted
        assert (found.total, found.values) == (counted.total(), len(counted))
        assert int(found.rows.sum()) == counted.total() + missing
        if name in case.sensitive:
            assert (
                truth_of(problem).known_rows(name).tolist() == found.known[found.known > 0].tolist()
            )


def test_a_reference_is_made_once_for_a_problem() -> None:
    problem = PAID.problem()
    assert reference_of(problem) is reference_of(problem)
    assert reference_of(problem).counts("pay") is reference_of(problem).counts("pay")
    assert reference_of(problem).own("guard") is reference_of(problem).own("guard")
    assert reference_of(PAID.problem()) is not reference_of(problem)


def test_a_private_column_stands_beside_the_keys() -> None:
    problem = unnamed(PAID)
    assert "own k" not in problem.roles.published(problem.dataset)
    for name in ("own k", "guard"):
        own = reference_of(problem).own(name)
        found = {
            (int(k), own.texts[v] if v >= 0 else None): n
            for k, v, n in zip(own.key, own.value.tolist(), own.count.tolist(), strict=True)
        }
        keys = problem.frequency.row_key.tolist()
        assert found == Counter(zip(keys, PAID.columns[name], strict=True))
    with pytest.raises(BadInput, match="no column 'nobody'"):
        reference_of(problem).own("nobody")


def test_the_truth_tells_where_rows_stand() -> None:
    problem = PATIENTS.problem()
    names = (*PATIENTS.quasi, *PATIENTS.sensitive)
    release = by_hand(problem, [0, 0, -1, 1, 1, -1], ((*PATIENTS.quasi,), PATIENTS.sensitive))
    places = truth_of(problem, release).places
    groups = range(len(release.view.group_size))
    assert [int(places.count[places.group == g].sum()) for g in groups] == (
        release.view.group_size.tolist()
    )
    gone = places.key[places.group < 0]
    pools = [problem.hierarchies[n].leaves for n in names]
    texts = [
        tuple(p[c] for p, c in zip(pools, row, strict=True))
        for row in problem.frequency.codes[gone].tolist()
    ]
    assert texts == [("20", "101", "cold"), ("40", "202", "cold")]
    raw = truth_of(problem)
    assert raw.raw.rows == raw.rows == 6
    assert raw.places.group.tolist() == problem.frequency.run.tolist()
