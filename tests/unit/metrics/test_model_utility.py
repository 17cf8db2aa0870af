"""What a model learns from a release: 0 unchanged, 1 hidden, and between where links are cut."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from anon_core.techniques.metrics.model_utility import (
    ModelUtility,
    original,
    published,
)
from tests.contract.test_registry_contracts import at_levels
from tests.making import PATIENTS, Case, by_hand


def table(rows: int = 300) -> Case:
    """Return a table whose label depends on an age and a job, with some noise."""
    rng = np.random.default_rng(17)
    age, job = rng.integers(20, 60, rows), rng.choice(["a", "b", "c", "d"], rows)
    ill = (age > 40) ^ (rng.random(rows) < 0.1) | (job == "d")
    known = [str(a) for a in range(20, 60)]
    return Case(
        columns={
            "age": [str(a) for a in age],
            "job": [str(j) for j in job],
            "ill": ["yes" if i else "no" for i in ill],
        },
        quasi=("age", "job"),
        sensitive=("ill",),
        kinds={"age": "number", "job": "text", "ill": "text"},
        levels={
            "age": [(a, f"{int(a) // 20 * 20}-{int(a) // 20 * 20 + 19}", "*") for a in known],
            "job": [(j, "ab" if j in "ab" else "cd", "*") for j in "abcd"],
        },
    )


def test_features_of_exact_cells_are_those_of_the_table() -> None:
    case = table()
    release = at_levels(case, 0)
    shown, labels, row = published(release.problem, release, "ill", np.random.default_rng(0))
    assert np.array_equal(row, np.arange(300))
    assert np.array_equal(shown, original(release.problem))
    assert np.array_equal(labels, release.problem.leaf_codes("ill"))


def test_coarse_cells_are_fed_at_their_middle_and_in_shares() -> None:
    case = table()
    release = at_levels(case, 1)
    shown, _, _ = published(release.problem, release, "ill", np.random.default_rng(0))
    ages = np.unique(np.round(shown[:, 0] * 39 + 20, 6))
    assert ages.tolist() == [29.5, 49.5]
    assert np.unique(shown[:, 1:]).tolist() == [0.0, 0.5]
    assert np.allclose(shown[:, 1:].sum(axis=1), 1)


def test_columns_permuted_apart_are_paired_within_their_groups() -> None:
    case = Case(
        columns={"age": [str(20 + i) for i in range(80)], "ill": list("yn" * 40)},
        quasi=("age",),
        sensitive=("ill",),
        kinds={"age": "number", "ill": "text"},
    )
    group = [i % 8 for i in range(80)]
    problem = case.problem()
    release = by_hand(problem, [g // 2 for g in group], (("age",), ("ill",)))
    _, labels, row = published(problem, release, "ill", np.random.default_rng(0))
    true = problem.leaf_codes("ill")[row]
    assert np.any(labels != true)
    for g in range(4):
        mine = row % 8 // 2 == g
        assert sorted(labels[mine]) == sorted(true[mine])


def test_from_unchanged_to_hidden() -> None:
    pytest.importorskip("sklearn", reason="the extra 'models' is not installed")
    case = table()
    shares = []
    for level in (0, 1, 2, None):
        release = at_levels(case, level)
        found = ModelUtility().measure(release.problem, release, Context())
        shares.append(found.share)
        assert (
            found.also["accuracy of the table"] > found.also["accuracy of the most frequent value"]
        )
    assert shares[0] == 0
    assert 0 <= shares[1] < 0.5  # the label turns at 40, where the ranges do
    assert shares[2:] == [1, 1]
    forest = ModelUtility(model="forest")
    release = at_levels(case, 0)
    assert forest.measure(release.problem, release, Context()).value == 0


def test_it_is_measured_on_request_only() -> None:
    pytest.importorskip("sklearn", reason="the extra 'models' is not installed")
    case = table()
    assert "model-utility" not in run(case.plan(), case.dataset, case.levels).measures
    plan = case.plan(metrics=[{"name": "model-utility"}])
    figures = json.loads(
        json.dumps(figures_of(run(plan, case.dataset, case.levels)), allow_nan=False)
    )
    (details,) = figures["metric_details"]["model-utility"]
    for row in details["rows"]:
        assert row["from"] <= row["accuracy"] <= row["to"]
    assert "model-utility" not in run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels).measures


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    release = at_levels(table(), 0)
    with pytest.raises(AnonError, match="scikit-learn") as refused:
        ModelUtility().measure(release.problem, release, Context())
    assert "models" in refused.value.remedy
