"""Statistics before and after: PE-46 and PE-47, and that the truth is within every bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from statistics import mean, median, pvariance, stdev

import numpy as np
import pytest

from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.measure.column_statistics import (
    column_statistics,
    spread_bounds,
    total_variation,
    two_way,
)
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests.making import Case, Levels

AGES = ["30", "30", "31", "41", "41", "42", "52", "52"]
AGE_LEVELS: Levels = [
    ("30", "30-31", "*"), ("31", "30-31", "*"), ("41", "41-42", "*"), ("42", "41-42", "*"),
    ("52", "52", "*"),
]  # fmt: skip


def test_pe_47_bounds_of_statistics_from_published_ranges() -> None:
    case = Case(
        columns={"age": AGES}, quasi=("age",), kinds={"age": "number"}, levels={"age": AGE_LEVELS}
    )
    plan = case.plan(algorithm={"name": "fixed-levels", "levels": {"age": 1}})
    result = run(plan, case.dataset, case.levels)
    found = column_statistics(result, "age")
    before, after = found.before, found.after
    assert before.mean is not None
    assert after.mean is not None
    assert (before.mean.low, before.mean.high) == (319 / 8, 319 / 8)
    assert (after.mean.low, after.mean.high) == (317 / 8, 323 / 8)
    assert before.median is not None
    assert str(before.median) == "41"
    assert str(after.median) == "41 to 42"
    assert before.deviation is not None
    assert after.deviation is not None
    assert before.deviation.low**2 == pytest.approx(657 / 8)
    assert after.deviation.low**2 == pytest.approx(534 / 7)
    assert after.deviation.high**2 == pytest.approx(600 / 7)
    assert (str(after.minimum), str(after.maximum)) == ("30 to 31", "52")
    assert (before.distinct, after.distinct, found.removed) == (5, 3, 0)
    assert (before.mode, after.mode) == ("30", "30-31")
    figures = figures_of(result)["before_and_after"]
    assert figures[0]["after"]["mean"] == {"low": 317 / 8, "high": 323 / 8}


def of_two_columns(place: list[str]) -> Result:
    rows = [("F", "flu")] * 3 + [("F", "cold")] * 2 + [("M", "flu")] + [("M", "cold")] * 4
    sex, illness = (list(column) for column in zip(*rows, strict=True))
    case = Case(
        columns={"sex": sex, "place": place, "illness": illness},
        quasi=("sex", "place"),
        sensitive=("illness",),
        levels={
            "sex": [("F", "*"), ("M", "*")],
            "place": [(p, "*") for p in dict.fromkeys(place)],
        },
    )
    plan = case.plan(
        algorithm={
            "name": "fixed-levels", "levels": {"sex": 0, "place": 0}, "max_suppression": 0.2
        }
    )  # fmt: skip
    return run(plan, case.dataset, case.levels)


def test_pe_46_two_columns_of_which_two_rows_are_gone() -> None:
    result = of_two_columns(["b", *["a"] * 4, "c", *["a"] * 4])
    found = two_way(result, "sex", "illness")
    assert found is not None
    assert found.labels[0] == ("F", "M")
    order = [found.labels[1].index(name) for name in ("flu", "cold")]
    assert found.before[:, order].tolist() == [[3, 2], [1, 4]]
    assert found.after[:, order].tolist() == [[2, 2], [0, 4]]
    assert (found.removed, found.emptied) == (2, (("M", "flu"),))
    assert found.total_variation == pytest.approx(float(Fraction(3, 20)))
    assert found.chi_square == pytest.approx((5 / 3, 8 / 3))
    assert found.cramers_v == pytest.approx((0.40824829, 0.577350269))
    assert not found.spread


def test_values_that_nobody_published_has_are_labels_of_their_own() -> None:
    result = of_two_columns(["b", *["a"] * 4, "c", *["a"] * 4])
    found = two_way(result, "place", "illness")
    assert found is not None
    assert set(found.labels[0]) == {"a", "b", "c"}
    assert found.before.sum() == 10
    assert found.after.sum() == 8


@pytest.mark.parametrize("seed", range(40))
def test_no_choice_of_values_is_outside_of_the_bounds(seed: int) -> None:
    draw = np.random.default_rng(seed)
    low = draw.integers(0, 8, draw.integers(1, 6)).astype(float)
    high = low + draw.integers(0, 4, len(low))
    bounds = spread_bounds(low, high, np.ones(len(low), dtype=np.int64))
    ends = [sorted({a, b, (a + b) / 2}) for a, b in zip(low, high, strict=True)]
    spreads = [pvariance(values) * len(values) for values in product(*ends)]
    assert bounds.low <= min(spreads) + 1e-9
    assert bounds.high >= max(spreads) - 1e-9
    # The least one is reached: by the values nearest to one centre.
    centres = np.linspace(low.min(), high.max(), 2001)
    near = [float(((np.clip(c, low, high) - c) ** 2).sum()) for c in centres]
    assert bounds.low == pytest.approx(min(near), abs=1e-4)


@pytest.mark.parametrize("technique", ["mondrian", "optimal", "permutation", "k-member"])
@pytest.mark.parametrize("seed", [3, 4])
def test_the_truth_is_within_what_a_release_says(technique: str, seed: int) -> None:
    draw = np.random.default_rng(seed)
    ages = [str(v) for v in draw.integers(20, 60, 60)]
    illness = draw.choice(["flu", "cold", "gout"], 60).tolist()
    case = Case(
        columns={"age": ages, "illness": illness},
        quasi=("age",),
        sensitive=("illness",),
        kinds={"age": "number", "illness": "text"},
        levels={"age": [(a, f"{int(a) // 10 * 10}-{int(a) // 10 * 10 + 9}", "*") for a in
                        sorted(set(ages))]},
    )  # fmt: skip
    model = "bucket-size" if technique == "permutation" else "k-anonymity"
    plan = case.plan(models=[{"name": model, "k": 4}], algorithm={"name": technique})
    result = run(plan, case.dataset, case.levels)
    assert result.release.suppressed == 0
    after = column_statistics(result, "age").after
    numbers = list(map(float, ages))
    for bounded, true in (
        (after.mean, mean(numbers)),
        (after.median, median(numbers)),
        (after.deviation, stdev(numbers)),
        (after.minimum, min(numbers)),
        (after.maximum, max(numbers)),
    ):
        assert bounded is not None
        assert bounded.low - 1e-9 <= true <= bounded.high + 1e-9
    found = two_way(result, "age", "illness")
    assert found is not None
    assert found.before.sum() == pytest.approx(60)
    assert found.after.sum() == pytest.approx(60)
    assert 0 <= found.total_variation <= 1


def test_cells_that_may_hide_a_missing_value_have_no_bounds() -> None:
    case = Case(
        columns={"age": ["30", "31", "", "41"]},
        quasi=("age",),
        kinds={"age": "number"},
        levels={"age": [("30", "*"), ("31", "*"), ("41", "*")]},
    )
    result = run(case.plan(algorithm={"name": "fixed-levels", "levels": {"age": 1}}), case.dataset,
                 case.levels)  # fmt: skip
    found = column_statistics(result, "age")
    assert (found.before.rows, found.before.missing) == (3, 1)
    assert found.before.mean is not None
    assert found.after.mean is None


def test_shares_differ_by_at_most_one() -> None:
    assert total_variation(np.array([4.0, 0.0]), np.array([0.0, 2.0])) == 1
