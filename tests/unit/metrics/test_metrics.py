"""Metrics by hand."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.pipeline.runner import run
from anon_core.techniques.metrics.average_class_size import AverageClassSize
from anon_core.techniques.metrics.discernibility import Discernibility
from anon_core.techniques.metrics.loss import Loss
from anon_core.techniques.metrics.ncp import CertaintyPenalty
from tests.making import PATIENTS, Case

CONTEXT = Context()


def ends(*cells: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    lo, hi = zip(*cells, strict=True)
    return np.array(lo, dtype=np.int32), np.array(hi, dtype=np.int32)


def test_a_small_release() -> None:
    """Ages stay, ZIP codes lose their last digit: two classes of three."""
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    assert result.account.node == {"age": 0, "zip": 1}
    expected = {
        "loss": (0 + 1 / 3) / 2,
        "ncp": (0 + 2 / 4) / 2,
        "discernibility": 18,
        "average-class-size": 3 / 2,  # in units of the k = 2 that was asked for
    }
    assert {n: result.measures[n].value for n in expected} == pytest.approx(expected)
    assert result.measures["ncp"].also == pytest.approx({"NCP of the table": 3.0})
    assert result.measures["discernibility"].also == {"published classes only": 18.0}
    assert result.measures["average-class-size"].also == {"published rows per class": 3.0}
    assert result.measures["discernibility"].share == pytest.approx((18 - 6) / (36 - 6))
    assert result.measures["average-class-size"].share == pytest.approx(2 / 5)
    assert result.measures["loss"].per_column == pytest.approx({"age": 0, "zip": 1 / 3})
    assert result.measures["loss"].per_class == pytest.approx([1 / 6, 1 / 6])


def numbers(values: list[str | None], hierarchy: list[str]) -> Case:
    return Case(
        columns={"q": values},
        quasi=("q",),
        kinds={"q": "number"},
        levels={"q": [(v, "*") for v in hierarchy]},
    )


def test_ncp_counts_the_observed_range_and_loss_the_leaves() -> None:
    problem = numbers(["10", "20", "40"], ["0", "10", "20", "30", "40", "50"]).problem()
    lo, hi = ends((0, 5), (1, 2), (2, 4), (3, 3), (0, 1), (3, 5))
    price = CertaintyPenalty().price(problem, "q", lo, hi)
    # 10..40 are observed; [0, 10] holds one of them, [30, 50] as well.
    assert price == pytest.approx([1, 1 / 3, 2 / 3, 0, 0, 0])
    assert Loss().price(problem, "q", lo, hi) == pytest.approx([1, 0.2, 0.4, 0, 0.2, 0.4])


def test_ncp_of_missing_among_numbers_is_all() -> None:
    problem = numbers(["10", "20", None], ["10", "20"]).problem()
    lo, hi = ends((0, 2), (1, 2), (0, 1), (2, 2))
    assert CertaintyPenalty().price(problem, "q", lo, hi).tolist() == [1, 1, 1, 0]


def test_ncp_of_one_number_or_none() -> None:
    same = numbers(["10", "10"], ["10", "20"]).problem()
    assert CertaintyPenalty().price(same, "q", *ends((0, 1), (0, 0))).tolist() == [0, 0]
    none = Case(columns={"q": [None, None]}, quasi=("q",), kinds={"q": "number"}).problem()
    assert CertaintyPenalty().price(none, "q", *ends((0, 0))).tolist() == [0]
    assert Loss().price(none, "q", *ends((0, 0))).tolist() == [0]


def test_nothing_published() -> None:
    nobody = np.empty(0, dtype=np.int64)
    assert AverageClassSize().of_sizes(nobody, 5, 5) == np.inf
    assert AverageClassSize().share_of(np.inf, 5) == 1
    assert AverageClassSize().also(nobody, 5, 5) == {"published rows per class": 0.0}
    assert AverageClassSize().floor_below(4, 5, 2) == np.inf
    assert Discernibility().of_sizes(nobody, 5, 5) == 25
    assert Discernibility().share_of(25, 5) == 1


def test_a_table_of_one_row_has_nothing_to_lose() -> None:
    assert AverageClassSize().share_of(1.0, 1) == 0
    assert Discernibility().share_of(1.0, 1) == 0


def test_average_class_size_in_units_of_k() -> None:
    sizes = np.array([5, 7])
    assert AverageClassSize(k=2).of_sizes(sizes, 3, 15) == 15 / 4
    assert AverageClassSize(k=2).share_of(15 / 4, 15) == AverageClassSize().share_of(15 / 2, 15)


def test_rounded_averages_lose_no_more_than_all_of_a_column() -> None:
    case = Case(columns={"age": ["1", "2", "2"]}, quasi=("age",), kinds={"age": "number"})
    by = {"name": "microaggregation", "decimals": 0}
    plan = case.plan(algorithm=by, models=[{"name": "k-anonymity", "k": 3}])
    found = run(plan, case.dataset).measures["squared-error"]
    # The average 5/3 is published as 2: one row is off by 1, where 2/3 is all there was.
    assert found.value == pytest.approx(3 / 2)
    assert (found.share, found.per_column) == (1.0, {"age": 1.0})
