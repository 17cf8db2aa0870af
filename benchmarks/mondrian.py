"""Mondrian next to a plain recursion, and what local recodings lose."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from anon_core import Dataset
from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.pipeline.prepare import prepare
from anon_core.recipe.plan import Plan
from benchmarks import baseline
from benchmarks.bench import Bench, read
from benchmarks.tables import K, Source
from benchmarks.timing import Row, table

#: What each way to recode locally is asked for; the order is that of the table.
_LOCAL: tuple[dict[str, Any], ...] = (
    {"name": "mondrian"},
    {"name": "mondrian", "cut_at": "quartiles"},
    {"name": "mondrian", "cut_at": "best-gain"},
    {"name": "mondrian", "cut_at": "best-gain", "output": "node", "metric": "loss"},
    {"name": "local-recoding"},
    {"name": "k-member"},
    {"name": "utility-halving"},
    {"name": "spatial-order"},
    {"name": "single-dimension"},
)


def mondrian(bench: Bench, source: Source) -> None:
    """Measure Mondrian next to the recursive baseline on the same ordered columns."""
    rows: list[Row] = []
    plan, dataset, levels = read(source, source.recipe("tree", "mondrian"))
    problem = prepare(plan, dataset, levels)
    row, _ = bench.time(
        "partition, categories by hierarchy",
        lambda: plan.algorithm.run(problem, plan.models, Context()),
    )
    rows.append(row)
    bare = source.recipe("order", "mondrian", with_hierarchies=False)
    flat, dataset, _ = read(source, bare)
    ordered = prepare(flat, dataset)
    row, outcome = bench.time(
        "partition, categories by order",
        lambda: flat.algorithm.run(ordered, flat.models, Context()),
    )
    rows.append(row)
    numbers = pd.DataFrame({name: _places(ordered.dataset, name) for name in source.quasi})
    row, parts = bench.time(
        "plain recursion over data frames",
        lambda: baseline.mondrian(numbers, K),
        "not warmed up: it compiles and keeps nothing",
        warm=0,
    )
    rows.append(row)
    print(table(f"Mondrian: {source.title}, k = {K}", rows))
    sizes = np.sort([len(part) for part in parts])
    bench.check(
        np.array_equal(sizes, np.sort(outcome.release.grouping.sizes)),
        f"both make the same {len(parts):,} parts, the smallest of {sizes[0]} rows",
    )


def quality(bench: Bench, source: Source) -> None:
    """Measure what local recodings lose, next to strict Mondrian at the median."""
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    plan, dataset, levels = read(source, source.recipe("quality", "mondrian"))
    problem = prepare(plan, dataset, levels)
    median = math.inf
    for given in _LOCAL:
        what = ", ".join(str(value) for value in given.values())
        chosen = replace(
            plan, algorithm=Plan.from_mapping(plan.as_mapping() | {"algorithm": given}).algorithm
        )
        row, outcome = bench.time(
            what, lambda chosen=chosen: chosen.algorithm.run(problem, chosen.models, Context())
        )
        lost = {
            name: find("metric", name)().measure(problem, outcome.release, Context()).value  # type: ignore[attr-defined]
            for name in ("ncp", "loss")
        }
        sizes = outcome.release.grouping.sizes
        note = f"NCP {lost['ncp']:.2%}, loss {lost['loss']:.4f}, {len(sizes):,} classes"
        rows.append(Row(what=row.what, seconds=row.seconds, note=note))
        checks.append((int(sizes.min()) >= K, f"{what}: every class has {K} rows"))
        median = min(median, lost["ncp"]) if given == _LOCAL[0] else median
        if given.get("cut_at") and given.get("output") is None:
            checks.append((lost["ncp"] < median, f"{what}: loses less than the median"))
    print(table(f"Local recoding: {source.title}, k = {K}", rows))
    for holds, sentence in checks:
        bench.check(holds, sentence)


def _places(dataset: Dataset, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a column as numbers: its own where it is one, else the place in the order."""
    column = dataset.column(name)
    pool = (
        column.measure if column.measure is not None else np.arange(len(column.values), dtype=float)
    )
    return pool[column.codes]
