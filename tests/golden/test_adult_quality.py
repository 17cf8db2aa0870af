"""How little local recoding loses on Adult, against the best published tools' figures."""

from __future__ import annotations

import pytest

from anon_core import run
from anon_core.data.reading import read_table
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan
from tests.asked import lost
from tests.golden.test_adult import HIERARCHIES, TABLE, staged, staged_levels

pytestmark = pytest.mark.skipif(
    not all(place.exists() for place in staged()),
    reason=f"the table of the ARX benchmarks is not staged ({TABLE}, {HIERARCHIES})",
)


def released(k: int, without: str = "", **algorithm: object) -> Result:
    table, _ = staged()
    dataset = read_table(table)
    names = [n for n in dataset.names if n != without]
    plan = Plan.from_mapping(
        {
            "roles": {"identifier": [without] if without else [], "quasi": names},
            "algorithm": algorithm,
            "models": [{"name": "k-anonymity", "k": k}],
        }
    )
    levels = staged_levels(dataset, names)
    return run(plan, dataset, levels, assess=False)


@pytest.mark.parametrize(
    ("k", "peer"), [(5, 0.071), pytest.param(10, 0.096, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("cuts", ["quartiles", "best-gain"])
def test_mondrian_with_ranges_keeps_more_than_the_best_peer(cuts: str, k: int, peer: float) -> None:
    result = released(k, without="salary-class", name="mondrian", cut_at=cuts)
    assert lost(result, "ncp") < peer
    assert result.class_sizes.min() >= k
    assert result.release.suppressed == 0
    assert result.verification.holds


@pytest.mark.parametrize(
    ("k", "peer"),
    [(2, 0.1136), (5, 0.2032), pytest.param(10, 0.2181, marks=pytest.mark.long), (50, 0.3299)],
)
def test_mondrian_with_nodes_keeps_more_than_the_best_local_recoding(k: int, peer: float) -> None:
    result = released(k, name="mondrian", cut_at="best-gain", output="node", metric="loss")
    assert lost(result) < peer
    assert result.release.suppressed == 0
    assert result.verification.holds
