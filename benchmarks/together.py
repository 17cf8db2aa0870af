"""What all attacks on classes and all metrics of a run take together, on few rows and on many."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd

from anon_core import Dataset, run
from anon_core.base.context import Context
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import Metric
from anon_core.pipeline.result import Result
from anon_core.release.ground_truth import truth_of
from benchmarks.bench import Bench, read
from benchmarks.stops import SENSITIVE
from benchmarks.tables import K, Source
from benchmarks.timing import Row, shown, table

LARGE = 1_000_000
_SMALL_SECONDS, _LARGE_SECONDS = 1.0, 15.0


def together(bench: Bench, source: Source) -> None:
    """Assess a release as every run does, and one of a million rows drawn column by column."""
    source = replace(source, sensitive=(SENSITIVE,))
    quasi = tuple(name for name in source.quasi if name != SENSITIVE)
    plan, dataset, levels = read(source, source.recipe("together", "mondrian", quasi=quasi))
    dataset = dataset.without_missing((*quasi, SENSITIVE))
    small = run(plan, dataset, levels, assess=False)
    rows = [_assessed(bench, small, _SMALL_SECONDS)]
    if not bench.quick:
        rng = np.random.default_rng(401)
        frame = dataset.frame()
        drawn = {n: frame[n].to_numpy()[rng.integers(0, len(frame), LARGE)] for n in frame.columns}
        kinds = {name: dataset.column(name).kind for name in dataset.names}
        many = Dataset.from_frame(pd.DataFrame(drawn), kinds=kinds)
        rows.append(_assessed(bench, run(plan, many, levels, assess=False), _LARGE_SECONDS))
    print(table(f"All metrics and attacks of a run: {source.title}, Mondrian, k = {K}", rows))


def _assessed(bench: Bench, result: Result, asked: float) -> Row:
    rows = result.problem.rows
    row, many = bench.time(f"{rows:,} rows", lambda: _assess(result))
    tracemalloc.start()
    _assess(result)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    note = (
        f"{many} of them, under {shown(asked)} was asked; {most / 2**20:,.0f} MB at most, "
        f"{most / rows:,.0f} bytes a row"
    )
    return replace(row, note=note)


def _assess(result: Result) -> int:
    """Measure and attack a release again: nothing that was counted of it before is kept."""
    release = replace(result.release)
    truth, many = truth_of(result.problem, release), 0
    for kind in family("metric").values():
        metric = cast(type[Metric], kind)()
        if metric.use.by_default and not metric.reason_not_applicable(result.problem):
            metric.measure(result.problem, release, Context())
            many += 1
    for kind in family("attack").values():
        attack = cast(type[Attack], kind)()
        if attack.use.by_default and not not_applicable(attack, release.view, result.audience):
            attack.run(release.view, result.audience, truth, Context())
            many += 1
    return many
