"""Adult: the benchmark setting of ARX, where it is staged, and our own sample by enumeration."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import prod
from pathlib import Path
from time import process_time

import pytest

from anon_core import run
from anon_core.base.context import Context
from anon_core.data.hierarchy import read_levels
from anon_core.data.hierarchy.label_truth import with_true_labels
from anon_core.data.reading import read_table
from anon_core.data.samples import hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.recipe.plan import Plan
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests import naive
from tests.making import Case

TABLE, HIERARCHIES = "ANONYMITY_ADULT_ARX", "ANONYMITY_ADULT_HIERARCHIES"


STAGED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "adult"


def staged() -> tuple[Path, Path]:
    """Return the benchmark's table and its hierarchies: as named, or next to the checkout."""
    table = os.environ.get(TABLE) or STAGED / "adult_arx_30162.csv.gz"
    return Path(table), Path(os.environ.get(HIERARCHIES) or STAGED / "hierarchies_arx")


def staged_levels(dataset: Dataset, names: Sequence[str]) -> dict[str, list[list[str]]]:
    """Return the benchmark's groups by column; some labels of its ages say what is not true."""
    _, folder = staged()
    return {
        n: with_true_labels(
            read_levels(folder / f"adult_hierarchy_{n}.csv", n), dataset.column(n).kind
        )
        for n in names
    }


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
    table, _ = staged()
    dataset = read_table(table)
    levels = staged_levels(dataset, dataset.names)
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


@pytest.mark.skipif(
    not all(place.exists() for place in staged()),
    reason=f"the table of the ARX benchmarks is not staged ({TABLE}, {HIERARCHIES})",
)
def test_the_optimum_of_entropy_3_by_whole_numbers() -> None:
    """Every class of N rows keeps N^N ≥ 3^N · Π c^c, and what was removed does not."""
    table, _ = staged()
    dataset = read_table(table)
    quasi = [n for n in dataset.names if n != "occupation"]
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": quasi, "sensitive": ["occupation"]},
            "algorithm": {"name": "optimal", "metric": "loss", "max_suppression": 0.02},
            "models": [{"name": "entropy-l-diversity", "l": 3}],
        }
    )
    levels = staged_levels(dataset, quasi)
    result = run(plan, dataset, levels, assess=False)
    node = (0, 3, 0, 1, 3, 1, 1, 0)
    assert result.account.node == dict(zip(quasi, node, strict=True))
    above = {
        n: {line[0]: line[up] for line in levels[n]} for n, up in zip(quasi, node, strict=True)
    }
    classes: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for *key, value in dataset.frame()[[*quasi, "occupation"]].itertuples(index=False):
        classes[tuple(above[n][cell] for n, cell in zip(quasi, key, strict=True))][value] += 1
    kept: list[list[int]] = []
    removed = 0
    for shown in classes.values():
        rows = sorted(shown.values())
        if sum(rows) ** sum(rows) >= 3 ** sum(rows) * prod(c**c for c in rows):
            kept.append(rows)
        else:
            removed += sum(rows)
    assert (len(kept), removed) == (201, 548) == (len(result.class_sizes), removed)
    assert sorted(map(sum, kept)) == sorted(result.class_sizes.tolist())
    assert result.release.suppressed == removed <= 0.02 * dataset.rows
    exactly = [r for r in kept if sum(r) ** sum(r) == 3 ** sum(r) * prod(c**c for c in r)]
    assert Counter(map(tuple, exactly)) == {(1, 1, 1): 17, (2, 2, 2): 2}


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


@pytest.mark.skipif(
    not all(place.exists() for place in staged()),
    reason=f"the table of the ARX benchmarks is not staged ({TABLE}, {HIERARCHIES})",
)
@pytest.mark.parametrize(
    ("sensitive", "model", "loss", "seconds"),
    [
        ("occupation", {"name": "l-diversity", "l": 3}, 0.234469, 0.3),
        # At age 3, marital-status 1, education 3, native-country 1, workclass 1 and the others as
        # they are, 548 of the 603 rows that may go; the smallest entropy that stays is ln 3
        # exactly, of 17 classes of 1, 1, 1 and two of 2, 2, 2. In floats the latter may come to
        # 2.9999999999999996 and go: then it is 560 rows and .286644.
        ("occupation", {"name": "entropy-l-diversity", "l": 3}, 0.286335, 0.3),
        ("occupation", {"name": "recursive-l-diversity", "c": 4, "l": 3}, 0.275168, 0.3),
        ("occupation", {"name": "t-closeness", "t": 0.2}, 0.839694, 0.6),
        ("age", {"name": "t-closeness", "t": 0.2, "distance": "ordered"}, 0.163234, 0.6),
    ],
)
def test_the_optimum_with_two_per_cent_removed(
    sensitive: str, model: dict[str, object], loss: float, seconds: float
) -> None:
    table, _ = staged()
    dataset = read_table(table)
    quasi = [n for n in dataset.names if n != sensitive]
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": quasi, "sensitive": [sensitive]},
            "algorithm": {"name": "optimal", "metric": "loss", "max_suppression": 0.02},
            "models": [model],
        }
    )
    result = run(plan, dataset, staged_levels(dataset, quasi), assess=False)
    assert result.account.proven
    assert result.account.cost == pytest.approx(loss, abs=1e-6)
    assert result.release.suppressed <= 603
    # Compiled by now; time of the processor, since others may use it as well.
    spent: list[float] = []
    for _ in range(3):
        begun = process_time()
        plan.algorithm.run(result.problem, plan.models, Context())
        spent.append(process_time() - begun)
        if spent[-1] < seconds:
            break
    assert min(spent) < seconds
    assert result.verification.holds
