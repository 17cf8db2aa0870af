"""The optimal search where much is looked at: a million nodes, or a hundred thousand leaves."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from anon_core import Plan, load_hierarchies, read_table, run
from anon_core.pipeline.result import Result
from benchmarks.bench import Bench, read
from benchmarks.large_tables import levels_of
from benchmarks.tables import CENSUS_QUASI, K, Source
from benchmarks.timing import Row, shown, table

#: Ten columns of the census: 1,152,000 nodes with proposed hierarchies, 292,741 different rows.
TEN = (*CENSUS_QUASI, "occupation", "salary-class", "state")
_LEAVES, _ROWS = 100_000, 30_000


def large_lattices(bench: Bench, source: Source) -> None:
    """Measure both, on the census and on a table made for it."""
    many_nodes(bench, source)
    many_leaves(bench, source.folder)


def many_nodes(bench: Bench, source: Source) -> None:
    """Measure how soon the best of a million nodes is proven to be that."""
    wide = replace(source, quasi=TEN, hierarchies={})
    levels = {name: Path(path) for name, path in levels_of(wide).items()}
    wide = replace(wide, hierarchies=levels)
    recipe = wide.recipe("ten", "optimal", 0.02)
    row, result = bench.time(
        "file read → verified release", lambda: run(*read(wide, recipe)), once=True
    )
    account = result.account
    search = Row(
        what="  its search",
        seconds=(result.seconds["search"],),
        note=f"loss {result.measures['loss'].value:.6f}, {account.nodes:,} nodes",
    )
    title = f"Many nodes: {len(TEN)} columns of the census, k = {K}, 2% suppression"
    print(table(title, [row, search]))
    bench.check(account.proven, "the best node is proven to be that")
    bench.check(result.verification.holds, "the release verifies")


def many_leaves(bench: Bench, folder: Path) -> None:
    """Measure a hierarchy of as many leaves as there are ZIP codes: a first run, and a second."""
    rng = np.random.default_rng(7)
    values = (rng.integers(0, most, _ROWS).tolist() for most in (_LEAVES, 90, 12))
    rows = [[f"{zip_:05d}", str(age), f"i{ill}"] for zip_, age, ill in zip(*values, strict=True)]
    _write(folder / "people.csv", [["zip", "age", "illness"], *rows])
    leaves = [f"{leaf:05d}" for leaf in range(_LEAVES)]
    masked = [[*(leaf[: 5 - n] + n * "*" for n in range(5)), "*"] for leaf in leaves]
    _write(folder / "zip.csv", masked)
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["zip", "age"], "sensitive": ["illness"]},
            "types": {"zip": "text", "age": "number"},
            "hierarchies": {"zip": "zip.csv"},
            "algorithm": {"name": "optimal", "max_suppression": 0.02},
            "models": [{"name": "k-anonymity", "k": K}],
        }
    )

    def whole() -> Result:
        data = read_table(folder / "people.csv", plan.data, kinds=plan.types)
        return run(plan, data, load_hierarchies(plan, folder))

    rows_told: list[Row] = []
    nodes: list[object] = []
    for what in ("first run", "second run of a process"):
        row, result = bench.time(what, whole, once=True)
        stages = ", ".join(f"{name} {shown(took)}" for name, took in result.seconds.items())
        rows_told.append(replace(row, note=stages))
        nodes.append(result.account.node)
        bench.check(result.verification.holds, f"{what}: the release verifies")
    print(table(f"Many leaves: {_LEAVES:,} of one hierarchy, {_ROWS:,} rows, k = {K}", rows_told))
    bench.check(nodes[0] == nodes[1], "both runs find the same node")


def _write(path: Path, lines: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
