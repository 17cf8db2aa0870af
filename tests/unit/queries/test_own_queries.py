"""Count queries written by hand: P-02 … P-04 as questions of one's own, and what is refused."""

from __future__ import annotations

import json

import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.methods.queries.count_queries import asking, by_hand
from anon_core.methods.queries.query_answers import counts, estimates
from anon_core.techniques.metrics.query_error import QueryError
from tests.golden.test_queries import anatomy, generalized, permuted
from tests.making import PATIENTS, Case

QUESTION = {"Age": {"low": 40, "high": 70}, "Sex": ["F"], "Disease": ["Flu"]}


@pytest.mark.parametrize(
    ("of", "spread", "expected"),
    [
        pytest.param("generalized", "length", 3 / 8, id="P-02"),
        pytest.param("anatomy", "leaves", 0.9, id="P-03"),
        pytest.param("permuted", "leaves", 0.855, id="P-04"),
    ],
)
def test_the_question_of_li(of: str, spread: str, expected: float) -> None:
    release = {"generalized": generalized, "anatomy": anatomy, "permuted": permuted}[of]()
    metric = QueryError.from_mapping({"own": [QUESTION], "spread": spread})
    found = metric.measure(release.problem, release, Context())
    (row,) = found.details[0].rows
    assert row["question"] == "Age from 40 to 70, Sex F, Disease Flu"
    assert row["in the table"] == 1
    assert row["by the release"] == pytest.approx(expected)
    assert found.value == pytest.approx(1 - expected)


def test_values_that_are_no_neighbours_add_up() -> None:
    problem = PATIENTS.problem()
    asked, query = by_hand(problem, [{"zip": ("101", "201")}, {"age": {"high": 30}}])
    assert query.tolist() == [0, 0, 1]
    assert counts(problem, asked).tolist() == [2, 1, 3]
    zips = problem.hierarchies["zip"].code
    same = asking([{"zip": (zips["101"], zips["101"])}, {"zip": (zips["201"], zips["201"])}])
    whole = estimates(anatomy().view, anatomy().problem.hierarchies, by_hand_of_ages())
    assert whole.sum() == 9
    assert counts(problem, same).tolist() == [2, 1]


def by_hand_of_ages():
    return by_hand(anatomy().problem, [{"Age": {"low": 0}}])[0]


def test_dates_are_compared_as_dates() -> None:
    days = ["2020-01-05", "2020-02-05", "2020-03-05"]
    case = Case(columns={"day": days}, quasi=("day",), kinds={"day": "date"})  # type: ignore[dict-item]
    asked, _ = by_hand(case.problem(), [{"day": {"low": "2020-02-01"}}])
    assert counts(case.problem(), asked).tolist() == [2]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"note": ["a"]}, "neither quasi-identifier nor sensitive"),
        ({"zip": ["999"]}, "does not have"),
        ({"zip": {"low": 1}}, "cannot be compared"),
        ({"age": {"low": "young"}}, "cannot be compared"),
        ({"age": {"low": 90}}, "none of its values"),
    ],
)
def test_what_cannot_be_asked_is_said(query: dict[str, object], text: str) -> None:
    metric = QueryError.from_mapping({"own": [query]})
    plan = PATIENTS.plan(metrics=[{"name": "query-error", "own": [query]}])
    assert json.loads(json.dumps(plan.as_mapping()))["metrics"][0]["own"] == [query]
    release = anatomy()
    with pytest.raises(BadPlan, match=text) as refused:
        metric.measure(PATIENTS.problem(), release, Context())
    assert refused.value.remedy
