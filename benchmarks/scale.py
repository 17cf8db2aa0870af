"""Strict Mondrian on large tables: how long each stage takes, and how much memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pandas as pd

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.data.frequency import frequency_set
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.mondrian_cuts import strict_parts
from anon_core.pipeline.prepare import prepare
from anon_core.release.problem import Problem
from benchmarks import baseline, synthetic
from benchmarks.bench import Bench, read
from benchmarks.tables import K, Source
from benchmarks.timing import Row, table

SEED = 2006
MILLION = 1_000_000
#: Leaves of the columns of Adult; and of five columns with hardly more combinations than rows.
ADULT_LIKE = (2, 72, 5, 7, 16, 41, 7, 14, 2)
FEW = (72, 16, 7, 5, 2)
MANY = (1000, 500, 100, 50, 20)


def adult(bench: Bench, source: Source) -> None:
    """Measure the stages on Adult."""
    plan, dataset, levels = read(source, source.recipe("scale", "mondrian"))
    _stages(bench, f"Mondrian at scale: {source.title}", prepare(plan, dataset, levels))


def synthetic_tables(bench: Bench, *, large: bool) -> None:
    """Measure the stages on tables drawn from a seed, and check the cuts on a small one."""
    _same_as_recursion(bench)
    _stages(
        bench,
        "Mondrian at scale: 1M rows, 5 columns, many alike",
        synthetic.skewed(MILLION, FEW, SEED),
    )
    _stages(
        bench,
        "Mondrian at scale: 1M rows, 9 columns, hardly any alike",
        synthetic.skewed(MILLION, ADULT_LIKE, SEED),
    )
    if not large:
        print("\n10M rows: left out without --large.")
        return
    _stages(
        bench,
        "Mondrian at scale: 10M rows, 5 columns, many alike",
        synthetic.skewed(10 * MILLION, FEW, SEED),
    )
    _stages(
        bench,
        "Mondrian at scale: 10M rows, 5 columns, none alike",
        synthetic.distinct(10 * MILLION, MANY, SEED),
    )


def _stages(bench: Bench, title: str, problem: Problem) -> None:
    """Measure counting, cutting and boxes, each from what the one before leaves."""
    model = cast(GroupModel, find("model", "k-anonymity").from_mapping({"k": K}))
    codes = [problem.leaf_codes(name) for name in problem.quasi]
    sizes = [len(h.leaves) for h in problem.quasi_hierarchies]
    encoded = sum(column.nbytes for column in codes)

    def measured(what: str, work: Callable[[], Any]) -> tuple[Row, Any]:
        row, found = bench.time(what, work)
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        note = f"{peak / 2**20:,.1f} MiB at most, {peak / encoded:.1f} × the encoded table"
        return Row(what=what, seconds=row.seconds, note=note), found

    counting, frequency = measured(
        "count equal rows", lambda: frequency_set(problem.quasi, codes, sizes, quasi=len(sizes))
    )
    cutting, part = measured("cut", lambda: strict_parts(problem, [model], Context()))
    buckets = run_buckets(problem, part)
    plain = [False] * len(sizes)
    boxing, outcome = measured("box and label", lambda: box_outcome(problem, buckets, plain))
    print(table(title, [counting, cutting, boxing]))
    rows = np.bincount(part, weights=problem.frequency.run_count)
    bench.check(
        int(rows.sum()) == problem.rows and rows.min() >= K,
        f"{problem.rows:,} rows, {len(frequency.count):,} of them different, in {len(rows):,} "
        f"parts of at least {K}",
    )
    bench.check(outcome.release.suppressed == 0, "no row is suppressed")


def _same_as_recursion(bench: Bench) -> None:
    """Cut a table small enough for the plain recursion."""
    problem = synthetic.skewed(3000, FEW, SEED)
    model = cast(GroupModel, find("model", "k-anonymity").from_mapping({"k": K}))
    cutting, part = bench.time("cut", lambda: strict_parts(problem, [model], Context()))
    frame = pd.DataFrame({name: problem.leaf_codes(name) for name in problem.quasi})
    plainly, parts = bench.time(
        "plain recursion over data frames",
        lambda: baseline.mondrian(frame, K),
        "not warmed up: it compiles and keeps nothing",
        once=True,
    )
    print(table("Mondrian at scale: 3,000 rows, 5 columns", [cutting, plainly]))
    sizes = np.bincount(part[problem.frequency.run[problem.frequency.row_key]])
    bench.check(
        np.array_equal(np.sort(sizes), np.sort([len(p) for p in parts])),
        f"both make {len(parts):,} parts of the same sizes",
    )
