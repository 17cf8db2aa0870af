"""Who pays for a release, and how its columns are spread, by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from anon_core.methods.queries.count_queries import parts_of
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.measure.column_statistics import column_statistics
from anon_core.pipeline.measure.value_breakdown import distribution, listed_columns, who_pays
from anon_core.pipeline.runner import run
from tests.making import PATIENTS, Case


def test_a_small_release_value_by_value() -> None:
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    assert listed_columns(result.problem) == ("age", "zip", "illness")
    pays = who_pays(result, "illness")
    assert pays is not None
    assert {r["value"]: r["rows"] for r in pays.rows} == {"angina": 1, "cold": 2, "flu": 3}
    assert all(r["rows suppressed"] == 0 for r in pays.rows)
    assert [r["mean loss"] for r in pays.rows] == pytest.approx([1 / 6] * 3)
    text = {str(r["value"]): (r["before"], r["after"]) for r in distribution(result, "zip").rows}
    assert text["101"] == pytest.approx((2 / 6, 1.5 / 6))
    assert text["201"] == pytest.approx((1 / 6, 1.5 / 6))
    assert all(r["before"] == r["after"] for r in distribution(result, "illness").rows)


def test_who_is_removed_is_told() -> None:
    """One woman among men is alone and is removed: all women are hidden, and no man is."""
    case = Case(
        columns={"sex": ["m"] * 6 + ["f"], "s": list("abababa")},
        quasi=("sex",),
        sensitive=("s",),
        kinds={"sex": "text", "s": "text"},
    )
    plan = case.plan(algorithm={"name": "optimal", "max_suppression": 0.2})
    result = run(plan, case.dataset, case.levels)
    assert result.release.suppressed == 1
    pays = who_pays(result, "sex")
    assert pays is not None
    found = {r["value"]: (r["rows suppressed"], r["mean loss"]) for r in pays.rows}
    assert found == {"f": (1.0, 1.0), "m": (0.0, 0.0)}
    figures = json.loads(json.dumps(figures_of(result), allow_nan=False))
    assert figures["by_value"]["sex"]["who_pays"][0] == {
        "value": "f",
        "rows": 1,
        "rows suppressed": 1.0,
        "mean loss": 1.0,
    }
    assert figures["by_value"]["sex"]["distribution"][0]["after"] == 0


def test_many_numbers_become_ranges_and_many_texts_the_frequent_ones() -> None:
    case = Case(
        columns={
            "n": [*(str(i) for i in range(40)), None],
            "t": [f"t{i % 20}" for i in range(41)],
        },
        quasi=("n", "t"),
        kinds={"n": "number", "t": "text"},
    )
    problem = case.problem()
    rows = problem.leaf_rows
    ranges = parts_of(problem.hierarchies["n"], rows["n"], most=4)
    assert ranges.labels == ("0 – 9", "10 – 19", "20 – 29", "30 – 39", "missing")
    assert np.bincount(ranges.part, rows["n"]).tolist() == [10, 10, 10, 10, 1]
    few = parts_of(problem.hierarchies["t"], rows["t"], most=4)
    assert few.labels == ("t0", "t1", "t10", "t11", "other values")
    assert np.bincount(few.part, rows["t"]).tolist() == [3, 2, 2, 2, 32]


def test_cut_links_pay_by_their_groups() -> None:
    case = Case(
        columns={"q": list("abcdefgh"), "s": list("xyxyxyxz")},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    plan = case.plan(
        algorithm={"name": "anatomy"}, models=[{"name": "frequency-l-diversity", "l": 2}]
    )
    result = run(plan, case.dataset, case.levels)
    pays = who_pays(result, "s")
    assert pays is not None
    assert all(0 < float(r["mean loss"]) <= 1 for r in pays.rows)
    assert result.measures["loss"].value == 0


def test_before_is_what_the_table_had_before_its_cells_were_changed() -> None:
    case = Case(
        columns={"n": [str(i) for i in range(40)], "s": list("abcd") * 10},
        quasi=("n",),
        sensitive=("s",),
        kinds={"n": "number", "s": "text"},
    )
    changes = [
        {"name": "additive-noise", "columns": ["n"], "alpha": 4.0},
        {"name": "pram", "columns": ["s"], "keep": 0.0},
    ]
    plan = case.plan(models=[], algorithm={"name": "as-is"}, changes=changes)
    result = run(plan, case.dataset, case.levels)
    found = column_statistics(result, "n")
    ends = [found.before.minimum, found.before.maximum, found.before.mean]
    assert [str(one) for one in ends] == ["0", "39", "19.5"]
    assert found.after != found.before
    answer = distribution(result, "n").rows
    assert sum(row["before"] for row in answer) == pytest.approx(1)
    assert [row["before"] for row in answer] != pytest.approx([row["after"] for row in answer])
    letters = {row["value"]: row["before"] for row in distribution(result, "s").rows}
    assert letters == pytest.approx(dict.fromkeys("abcd", 0.25))
