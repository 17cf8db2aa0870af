"""Macrodata of Samarati (2008), slides 7 and 9, by count queries on the rows behind them."""

from __future__ import annotations

from itertools import product

from anon_core.methods.queries.count_queries import by_hand
from anon_core.methods.queries.query_answers import counts
from anon_core.release.problem import Problem
from tests.making import Case

_AGES = ("0-19", "20-39", "40-59", "60-79", "80-99", "100+")
_CELLS = {
    "A": (2, 4, 18, 20, 7, 1),
    "B": (0, 0, 7, 9, 0, 0),
    "C": (0, 6, 30, 15, 4, 0),
}
_EDUCATION = ["very high", "high", "high", "high", "medium", *["low"] * 15]
_RACE = "bwbwwwbwwbwbbwbwwbbw"


def counted(problem: Problem, queries: list[dict[str, list[str]]]) -> list[int]:
    workload, query = by_hand(problem, queries)
    found = counts(problem, workload).tolist()
    return [
        sum(n for n, q in zip(found, query.tolist(), strict=True) if q == at)
        for at in range(len(queries))
    ]


def test_k_22_totals_and_the_cells_below_three() -> None:
    """The threshold rule: a cell of one or two respondents is sensitive; zeros are not."""
    rows = [
        (c, age)
        for c, own in _CELLS.items()
        for age, n in zip(_AGES, own, strict=True)
        for _ in range(n)
    ]
    case = Case(
        columns={"county": [c for c, _ in rows], "age": [age for _, age in rows]},
        quasi=("county", "age"),
        kinds={"county": "text", "age": "text"},
    )
    problem = case.problem()
    assert counted(problem, [{"county": [c]} for c in _CELLS]) == [52, 16, 55]
    places = [(c, age) for c, age in product(_CELLS, _AGES) if _CELLS[c][_AGES.index(age)]]
    found = counted(problem, [{"county": [c], "age": [age]} for c, age in places])
    assert found == [_CELLS[c][_AGES.index(age)] for c, age in places]
    below = [place for place, n in zip(places, found, strict=True) if n < 3]
    assert below == [("A", "0-19"), ("A", "100+")]


def test_k_25_the_children_of_slide_9_tabulated() -> None:
    races = ["black" if letter == "b" else "white" for letter in _RACE]
    case = Case(
        columns={"EducHH": list(_EDUCATION), "RaceHH": list(races)},
        quasi=("EducHH", "RaceHH"),
        kinds={"EducHH": "text", "RaceHH": "text"},
    )
    places = sorted(set(zip(_EDUCATION, races, strict=True)))
    found = counted(case.problem(), [{"EducHH": [e], "RaceHH": [r]} for e, r in places])
    expected = dict(zip(places, found, strict=True))
    assert expected == {
        ("high", "black"): 1,
        ("high", "white"): 2,
        ("low", "black"): 7,
        ("low", "white"): 8,
        ("medium", "white"): 1,
        ("very high", "black"): 1,
    }
    assert sorted(place for place, n in expected.items() if n < 3) == [
        ("high", "black"),
        ("high", "white"),
        ("medium", "white"),
        ("very high", "black"),
    ]
    assert sum(found) == 20
