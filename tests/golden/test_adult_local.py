"""Local recoding of Adult at hierarchy nodes, against the best known tool's mean loss."""

from __future__ import annotations

import pytest

from anon_core import run
from anon_core.data.reading import read_table
from anon_core.recipe.plan import Plan
from tests.asked import lost
from tests.golden.test_adult import HIERARCHIES, TABLE, staged, staged_levels


@pytest.mark.skipif(
    not all(place.exists() for place in staged()),
    reason=f"the table of the ARX benchmarks is not staged ({TABLE}, {HIERARCHIES})",
)
@pytest.mark.parametrize(
    ("k", "peer"),
    [(2, 0.1136), (5, 0.2032), pytest.param(10, 0.2181, marks=pytest.mark.long), (50, 0.3299)],
)
def test_nodes_part_by_part_lose_less_than_local_recoding_elsewhere(k: int, peer: float) -> None:
    table, _ = staged()
    dataset = read_table(table)
    levels = staged_levels(dataset, dataset.names)
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": list(dataset.names)},
            "algorithm": {"name": "anytime"},
            "models": [{"name": "k-anonymity", "k": k}],
        }
    )
    result = run(plan, dataset, levels, assess=False)
    assert result.verification.holds
    assert result.release.suppressed == 0
    assert lost(result) < peer * 0.75
    for name in dataset.names:
        assert result.release.vocabularies[name].level.min() >= 0
