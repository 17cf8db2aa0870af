"""What local recodings lose on the benchmark table, next to the best figures known of other tools.

The other tools' figures were measured with them on the same table, hierarchies and measures when
the workbench was planned; they are not measured again here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from anon_core import run
from anon_core.recipe.plan import Plan
from benchmarks.bench import Bench, read
from benchmarks.tables import Source
from benchmarks.timing import Row, table

#: k → mean loss of the best known tool's local recoding at hierarchy nodes, nine columns. It
#: removes up to 43 rows.
NODES = {2: 0.1136, 5: 0.2032, 10: 0.2181, 50: 0.3299}
MOST_REMOVED = 43
#: k → NCP of the best known Mondrian with ranges, eight columns.
RANGES = {5: 0.071, 10: 0.096}

_NODES: tuple[Mapping[str, Any], ...] = (
    {"name": "anytime"},
    {"name": "mondrian", "cut_at": "best-gain", "output": "node", "metric": "loss"},
    {"name": "local-recoding"},
)
_RANGES: tuple[Mapping[str, Any], ...] = (
    {"name": "mondrian", "cut_at": "quartiles"},
    {"name": "mondrian", "cut_at": "best-gain"},
)


def peers(bench: Bench, source: Source) -> None:
    """Measure local recodings and check that one of each kind loses less than the best known."""
    eight = tuple(name for name in source.quasi if name != "salary-class")
    _compare(
        bench, source, "loss at hierarchy nodes", "loss", source.quasi, _NODES, NODES, at_nodes=True
    )
    _compare(bench, source, "NCP with ranges", "ncp", eight, _RANGES, RANGES)


def _compare(
    bench: Bench,
    source: Source,
    title: str,
    metric: str,
    quasi: tuple[str, ...],
    ways: tuple[Mapping[str, Any], ...],
    known: Mapping[int, float],
    *,
    at_nodes: bool = False,
) -> None:
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    recipe = source.recipe(f"peers-{metric}", "mondrian", quasi=quasi)
    plan, dataset, levels = read(source, recipe)
    for k, peer in known.items():
        lost: list[float] = []
        for given in ways:
            what = ", ".join(str(value) for value in given.values())
            asked = {"algorithm": given, "models": [{"name": "k-anonymity", "k": k}]}
            chosen = Plan.from_mapping(plan.as_mapping() | asked)
            row, result = bench.time(
                f"k = {k}: {what}", lambda chosen=chosen: run(chosen, dataset, levels), once=True
            )
            value, removed = result.measures[metric].value, result.release.suppressed
            note = f"{metric} {value:.4f}, {removed} rows suppressed"
            rows.append(replace(row, note=note))
            names = result.problem.quasi
            nodes = all(int(result.release.vocabularies[n].level.min()) >= 0 for n in names)
            checks.append(
                (
                    result.verification.holds
                    and int(result.class_sizes.min()) >= k
                    and (nodes or not at_nodes),
                    f"k = {k}: {what} verifies{', every cell a node' if at_nodes else ''}",
                )
            )
            lost.append(value if removed <= MOST_REMOVED else np.inf)
        rows.append(Row(what=f"k = {k}: best known tool", seconds=(), note=f"{metric} {peer:.4f}"))
        checks.append((min(lost) < peer, f"k = {k}: {min(lost):.4f} is below {peer:.4f}"))
    print(
        table(f"Next to the best known tool: {title}, {len(quasi)} columns, each a whole run", rows)
    )
    for holds, sentence in checks:
        bench.check(holds, sentence)
