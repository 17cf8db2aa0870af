"""Adult: the benchmark setting of ARX, where it is staged, and our own sample by enumeration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anon_core import run
from anon_core.algorithms.optimal import Optimal
from anon_core.context import Context
from anon_core.hierarchy import read_levels
from anon_core.models.k_anonymity import KAnonymity
from anon_core.plan import Plan
from anon_core.reading import read_table
from anon_core.samples import hierarchy_folder, sample
from tests import naive
from tests.making import Case

TABLE, HIERARCHIES = "ANONYMITY_ADULT_ARX", "ANONYMITY_ADULT_HIERARCHIES"


BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "adult"


def staged() -> tuple[Path, Path]:
    """Return the benchmark's table and its hierarchies: as named, or beside the checkout."""
    table = os.environ.get(TABLE) or BESIDE / "adult_arx_30162.csv.gz"
    return Path(table), Path(os.environ.get(HIERARCHIES) or BESIDE / "hierarchies_arx")


@pytest.mark.skipif(
    not all(place.exists() for place in staged()),
    reason=f"the table of the ARX benchmarks is not staged ({TABLE}, {HIERARCHIES})",
)
@pytest.mark.parametrize(
    ("budget", "loss", "suppressed", "classes"),
    [(0.0, 0.635543846, 0, 24), (0.02, 0.357482489, 506, 222)],
)
def test_the_optimum_of_5_anonymity(
    budget: float, loss: float, suppressed: int, classes: int
) -> None:
    table, folder = staged()
    dataset = read_table(table)
    levels = {n: read_levels(folder / f"adult_hierarchy_{n}.csv", n) for n in dataset.names}
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": list(dataset.names)},
            "algorithm": {"name": "optimal", "metric": "loss", "max_suppression": budget},
            "models": [{"name": "k-anonymity", "k": 5}],
        }
    )
    result = run(plan, dataset, levels)
    assert dataset.rows == 30_162
    assert result.account.nodes == 12_960
    assert result.account.cost == pytest.approx(loss, abs=1e-8)
    assert result.measures["loss"].value == pytest.approx(loss, abs=1e-8)
    assert result.release.suppressed == suppressed
    assert len(result.class_sizes) == classes
    assert result.verification.holds


@pytest.mark.skipif(not sample("adult").available(), reason="the Adult table is not in the cache")
def test_three_columns_of_the_sample_by_enumeration() -> None:
    adult = sample("adult")
    quasi = ("age", "workclass", "race")
    frame = adult.frame().iloc[::5]  # every fifth person, so that loops are quick
    case = Case(
        columns={n: frame[n].tolist() for n in quasi},
        quasi=quasi,
        kinds={"age": "number", "workclass": "text", "race": "text"},
        levels={
            n: [tuple(line) for line in read_levels(hierarchy_folder() / adult.hierarchies[n], n)]
            for n in quasi
        },
    )
    rows, attributes = case.rows, case.attributes
    removed: dict[naive.Node, int] = {}
    costs: dict[str, dict[naive.Node, float]] = {"loss": {}, "discernibility": {}}
    for node in naive.every_node(attributes):
        found = naive.classes(rows, attributes, node)
        kept = naive.kept_classes(found, 5)
        removed[node] = sum(map(len, found.values())) - sum(map(len, kept.values()))
        covers = naive.covers_at(kept, attributes, node)
        for metric in costs:
            costs[metric][node] = float(naive.cost(metric, rows, attributes, covers))
    problem = case.problem()
    for metric, by_node in costs.items():
        for budget in (0.0, 0.0005, 0.02, 1.0):
            within = [n for n in removed if removed[n] <= budget * len(rows)]
            search = Optimal(metric=metric, max_suppression=budget, list_minimal=True)
            outcome = search.run(problem, [KAnonymity(k=5)], Context())
            best = min(by_node[n] for n in within)
            assert outcome.account.cost == pytest.approx(best, abs=1e-12, rel=1e-12)
            assert set(outcome.account.minimal) == naive.minimal_nodes(within)
