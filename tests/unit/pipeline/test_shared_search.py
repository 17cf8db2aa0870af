"""One search for several k releases what the searches one by one release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.data.hierarchy import read_levels
from anon_core.data.samples import hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.pipeline.sweep import sweep
from anon_core.pipeline.sweep.sweep import with_best_levels
from anon_core.recipe.plan import Plan

KS = (2, 3, 4, 5, 6, 9, 10, 20)
GIVEN = sample("samarati")


@pytest.fixture(scope="module")
def table() -> Dataset:
    kinds: Any = dict(GIVEN.types)
    return Dataset.from_frame(GIVEN.frame(), kinds=kinds)


@pytest.fixture(scope="module")
def levels() -> dict[str, Any]:
    return {c: read_levels(hierarchy_folder() / p, c) for c, p in GIVEN.hierarchies.items()}


def plan_of(*others: dict[str, Any], **settings: Any) -> Plan:
    return Plan.from_mapping(
        {
            "types": dict(GIVEN.types),
            "roles": {"quasi": list(GIVEN.quasi), "sensitive": list(GIVEN.sensitive)},
            "algorithm": {"name": "optimal", "max_suppression": 0.34, **settings},
            "models": [{"name": "k-anonymity", "k": 7}, *others],
        }
    )


@pytest.mark.parametrize("metric", ["loss", "discernibility", "average-class-size", "ncp"])
def test_the_levels_are_those_of_the_search(metric: str, table: Dataset, levels: Any) -> None:
    plan = plan_of(metric=metric)
    found = with_best_levels(plan, KS, table, levels, None, Context())
    assert set(found) == {2, 3, 4, 5, 6, 9}  # the table has 9 rows: the search says why not 10
    for k, chosen in found.items():
        model: Any = find("model", "k-anonymity")
        searched = run(replace(plan, models=(model(k=k),)), table, levels, assess=False)
        released = run(chosen, table, levels, assess=False)
        assert released.account.node == searched.account.node
        assert released.files == searched.files
        assert released.verification.holds
        assert [v.parameters for v in released.verdicts] == [{"k": k}]


@pytest.mark.parametrize(
    "plan",
    [
        plan_of(max_suppression=0.0),
        plan_of(max_suppression=0.01),  # no row of nine
        plan_of(transformation="AG"),
        plan_of({"name": "l-diversity", "l": 2}),
    ],
)
def test_other_plans_are_left_to_the_search(plan: Plan, table: Dataset, levels: Any) -> None:
    assert not with_best_levels(plan, KS, table, levels, None, Context())


def test_few_searches_and_large_lattices_are_left_to_the_search(
    table: Dataset, levels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not with_best_levels(plan_of(), KS[:2], table, levels, None, Context())
    assert with_best_levels(
        plan_of(metric="discernibility"), KS[:1], table, levels, None, Context()
    )
    monkeypatch.setattr(sweep, "_MOST_WALKED", 100)
    assert not with_best_levels(plan_of(), KS, table, levels, None, Context())
