"""Log-linear risk: PE-15 to PE-18 through whole runs, and fits against a Poisson regression."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import poisson

from anon_core.base.context import Context
from anon_core.methods.reidentification import log_linear_models
from anon_core.methods.reidentification.log_linear_models import (
    fitted_rows,
    single_row_chances,
)
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from tests.making import Case, weighted

COUNTS = np.array([[12, 5, 1], [4, 2, 0], [3, 1, 2]])
CELLS = [f"{a}{b}" for a, b in np.ndindex(3, 3) for _ in range(COUNTS[a, b])]
TABLE = Case(
    columns={"row": [c[0] for c in CELLS], "column": [c[1] for c in CELLS]},
    quasi=("row", "column"),
    kinds={"row": "text", "column": "text"},
)


def released(case: Case = TABLE, people: int | None = 300, **attack: Any) -> Result:
    plan = case.plan(
        algorithm={"name": "fixed-levels", "levels": dict.fromkeys(case.quasi, 0)},
        models=[{"name": "maximum-risk", "risk": 1.0}],
        attacks=[{"name": "log-linear", **attack}],
        **({} if people is None else {"population": {"size": people}}),
    )
    return run(plan, case.dataset)


def attacked(case: Case = TABLE, people: int | None = 300, **attack: Any) -> AttackResult:
    (found,) = (a for a in released(case, people, **attack).attacks if a.attack == "log-linear")
    return found


@pytest.mark.parametrize(
    ("mean", "drawn", "unique", "right"),
    [
        (4, 0.1, 0.027323722447, 0.270187854876),
        (10, 0.05, 7.485183e-05, 0.105255278755),
        (1.5, 0.5, 0.472366552741, 0.703511263012),
    ],
)
def test_pe_15_a_person_who_was_drawn_alone(
    mean: float, drawn: float, unique: float, right: float
) -> None:
    found = single_row_chances(np.array([mean]), np.array([drawn]))
    assert np.concatenate(found) == pytest.approx([unique, right], rel=1e-7)
    people = np.arange(1, 200)
    seen = poisson.pmf(people, mean) * people * drawn * (1 - drawn) ** (people - 1)
    named = float((seen / people).sum())
    assert [seen[0] / seen.sum(), named / seen.sum()] == pytest.approx([unique, right], rel=1e-7)


def test_nobody_else_is_left_where_everyone_was_drawn() -> None:
    assert [one.tolist() for one in single_row_chances(np.array([7.0]), np.ones(1))] == [[1], [1]]


def test_pe_16_independent_columns_and_pe_17_no_mean_of_the_sample() -> None:
    found = attacked()
    models, rows = found.details
    first, pairs = models.rows
    assert (first["model"], first["parameters"], first["fit"]) == ("independent columns", 5, "")
    assert first["unique in the population"] == pytest.approx(6.495263776e-07, rel=1e-9)
    assert first["named right"] == pytest.approx(0.131172795, rel=1e-8)
    assert first["share named right"] == pytest.approx(0.131172795 / 2, rel=1e-8)
    assert [r["people who fit"] for r in rows.rows] == pytest.approx([16, 18])
    assert [r["row"] for r in rows.rows] == ["row = 2, column = 1", "row = 0, column = 2"]
    assert (found.succeeded, found.rate * 30) == pytest.approx((0.131172795, 0.131172795))
    assert found.raw == found.rate
    assert found.baseline == pytest.approx(2 / 300 / 30)
    assert found.worst == pytest.approx((1 - np.exp(-14.4)) / 14.4)
    assert (found.estimated, found.at_risk) == (True, 0)
    # PE-17 would have 0.054 and 0.128 of the eight filled cells.
    assert "6.5e-07" in found.sentence
    assert pairs["parameters"] == 9


def test_pe_18_a_saturated_model_borrows_nothing() -> None:
    found = attacked(model="pairs")
    assert [r["people who fit"] for r in found.details[1].rows] == pytest.approx([10, 10])
    assert found.details[1].rows[0]["unique in the population"] == pytest.approx(
        0.000123409804, rel=1e-8
    )
    assert "every cell has its own parameter, nothing is borrowed" in found.sentence


def test_weights_are_the_chance_of_a_cell() -> None:
    """The same π where each row represents ten people, whatever size is stated."""
    even = attacked(weighted(TABLE, ["10"] * 30), None)
    assert even.succeeded == pytest.approx(0.131172795, rel=1e-8)
    own = ["1" if cell == "21" else "10" for cell in CELLS]
    rare = attacked(weighted(TABLE, own), None, threshold=0.5)
    assert (rare.worst, rare.at_risk) == (1.0, 1)


def three_way(number: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([83, number])
    codes = np.array(list(itertools.product(range(3), range(2), range(3))), dtype=np.int32)
    return codes, rng.integers(1, 9, len(codes))


@pytest.mark.parametrize("pairs", [(), ((0, 1),), ((0, 2), (1, 2)), ((0, 1), (0, 2), (1, 2))])
def test_a_fit_is_the_poisson_regression(pairs: tuple[tuple[int, int], ...]) -> None:
    codes, count = three_way(len(pairs))
    terms = [np.ones(len(codes)), *(codes[:, d] == v for d in range(3) for v in (1, 2))]
    terms += [
        (codes[:, a] == v) & (codes[:, b] == w) for a, b in pairs for v in (1, 2) for w in (1, 2)
    ]
    design = np.stack(terms, 1).astype(float)

    def cost(at: np.ndarray) -> tuple[float, np.ndarray]:
        mean = np.exp(design @ at)
        return float(mean.sum() - count @ (design @ at)), design.T @ (mean - count)

    best = minimize(cost, np.zeros(design.shape[1]), jac=True, method="BFGS", tol=1e-9)
    found = fitted_rows(codes, count, pairs, Context())
    assert found == pytest.approx(np.exp(design @ best.x), rel=1e-5)


THREE = Case(
    columns={
        name: [str(v) for v in np.repeat(three_way(7)[0][:, d], three_way(7)[1])] + [value]
        for d, (name, value) in enumerate({"a": "3", "b": "0", "c": "0"}.items())
    },
    quasi=("a", "b", "c"),
    kinds=dict.fromkeys("abc", "text"),
)


def test_three_models_next_to_each_other() -> None:
    found = attacked(THREE, model="chosen", sets=[["a", "c"]])
    names = ["independent columns", "all pairs", "chosen pairs"]
    assert [r["model"] for r in found.details[0].rows] == names
    assert [r["parameters"] for r in found.details[0].rows] == [7, 18, 13]
    assert len({r["named right"] for r in found.details[0].rows}) == 3
    assert found.succeeded == found.details[0].rows[2]["named right"]


def test_a_model_that_does_not_converge_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_linear_models, "_ROUNDS", 1)
    found = attacked(THREE, model="pairs")
    singles = released(THREE).class_sizes.tolist().count(1)
    assert (found.undecided, found.at_risk, found.worst, found.succeeded) == (
        singles,
        singles,
        1,
        0,
    )
    assert "not converged" in found.sentence
    assert found.details[0].rows[1]["named right"] == "no estimate"
    assert attacked(THREE).undecided == 0


@pytest.mark.parametrize(
    ("attack", "people", "said"),
    [
        ({}, None, "needs a population"),
        ({"model": "chosen"}, 300, "at least two columns"),
        ({"sets": [["a"]]}, 300, "at least two columns"),
        ({"sets": [["a", "x"]]}, 300, "'x' is chosen and no quasi-identifier"),
    ],
)
def test_what_cannot_be_fitted_is_said(
    attack: dict[str, Any], people: int | None, said: str
) -> None:
    assert said in released(THREE, people, **attack).not_run["log-linear"]


def test_too_many_cells_are_refused_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_linear_models, "MOST_CELLS", 12)
    details = attacked(THREE).details[0].rows[1]
    assert (details["named right"], details["fit"]) == ("no estimate", "24 cells; at most 12")
    assert "24 cells" in released(THREE, model="pairs").not_run["log-linear"]


def test_a_raw_table_of_too_many_cells_is_bounded_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = {"b": [("0", "*"), ("1", "*")]}
    monkeypatch.setattr(log_linear_models, "MOST_CELLS", 12)
    plan = THREE.plan(
        algorithm={"name": "fixed-levels", "levels": {"a": 0, "b": 1, "c": 0}},
        models=[{"name": "maximum-risk", "risk": 1.0}],
        attacks=[{"name": "log-linear", "model": "pairs"}],
        population={"size": 300},
    )
    found = next(a for a in run(plan, THREE.dataset, levels).attacks if a.attack == "log-linear")
    singles = released(THREE).class_sizes.tolist().count(1)
    assert found.raw == singles / len(THREE.rows)
    assert "all single rows count" in found.sentence
    assert found.undecided == 0


def test_labels_that_overlap_are_no_cells() -> None:
    levels = {"row": [(v, "*") for v in "012"], "column": [(v, "*") for v in "012"]}
    case = replace(TABLE, levels=levels)
    plan = case.plan(
        algorithm={"name": "cell-suppression"},
        attacks=[{"name": "log-linear"}],
        population={"size": 300},
    )
    assert "overlap" in run(plan, case.dataset, levels).not_run["log-linear"]


def test_several_rows_of_a_person_count_once() -> None:
    """Each row twice, with its person: the figures are those of the table of persons."""
    twice = Case(
        columns={
            **{name: [v for v in own for _ in "ab"] for name, own in TABLE.columns.items()},
            "who": [str(i) for i in range(len(CELLS)) for _ in "ab"],
        },
        quasi=TABLE.quasi,
        kinds=TABLE.kinds,
        person="who",
    )
    once, found = attacked(), attacked(twice)
    assert (found.attempted, found.eligible) == (once.attempted, once.eligible) == (30, 30)
    for name in ("succeeded", "rate", "worst", "baseline", "raw", "at_risk"):
        assert getattr(found, name) == pytest.approx(getattr(once, name), rel=1e-12)
    assert "2 combinations are of one person alone in the release, 2 people" in found.sentence
    weights = attacked(weighted(twice, ["10"] * 60), None)
    assert weights.succeeded == pytest.approx(0.131172795, rel=1e-8)


def test_a_person_is_as_exposed_as_the_most_exposed_row() -> None:
    """Random persons with rows in several cells, against a count by hand."""
    compared = 0
    for number in range(12):
        rng = np.random.default_rng([41, number])
        rows = [(str(rng.integers(4)), str(rng.integers(5))) for _ in range(40)]
        who = [str(p) for p in rng.integers(0, 25, 40)]
        case = Case(
            columns={"row": [a for a, _ in rows], "column": [b for _, b in rows], "who": who},
            quasi=("row", "column"),
            kinds=TABLE.kinds,
            person="who",
        )
        cells = {cell: {w for c, w in zip(rows, who, strict=True) if c == cell} for cell in rows}
        total = sum(map(len, cells.values()))
        of = [dict.fromkeys("01234", 0), dict.fromkeys("01234", 0)]
        for (a, b), people in cells.items():
            of[0][a] += len(people)
            of[1][b] += len(people)
        drawn = len(set(who)) / 300
        chance: dict[str, float] = {}
        for (a, b), people in cells.items():
            if len(people) == 1:
                others = (1 - drawn) * of[0][a] * of[1][b] / total / drawn
                (one,) = people
                chance[one] = max(chance.get(one, 0), (1 - np.exp(-others)) / others)
        found = attacked(case)
        assert found.succeeded == pytest.approx(sum(chance.values()), rel=1e-9)
        assert found.worst == pytest.approx(max(chance.values(), default=0), rel=1e-9)
        compared += len(chance) > 1
    assert compared >= 8
