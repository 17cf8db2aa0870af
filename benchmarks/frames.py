"""From a data frame to the released data frame: searched only, verified, and with every measure."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from anon_core import Dataset, Plan, Result, anonymize, run
from anon_core.base.context import Context
from anon_core.pipeline.data_frames import texts_of
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.publish.published_table import public_edition
from anon_core.pipeline.random_streams import chances
from anon_core.recipe.plan import LevelTable
from benchmarks.bench import Bench
from benchmarks.timing import Row


def from_frame(
    bench: Bench, plan: Plan, dataset: Dataset, levels: Mapping[str, LevelTable], result: Result
) -> tuple[list[Row], bool]:
    """Measure each way, and say whether all of them release the rows of `result`.

    A release that is not verified is nothing the workbench offers; it is here since no other
    tool verifies.
    """
    frame = dataset.frame()

    def searched() -> pd.DataFrame:
        problem = prepare(plan, Dataset.from_frame(frame, kinds=plan.types), levels)
        release = plan.algorithm.run(problem, plan.models, Context()).release
        edition = public_edition(release, chances(plan, problem).publish)
        return texts_of(edition.tables["release"]).to_pandas()

    def measured() -> pd.DataFrame:
        made = run(plan, Dataset.from_frame(frame, kinds=plan.types), levels)
        return texts_of(made.published).to_pandas()

    ways = (
        ("  frame → released frame, searched only", searched),
        ("  frame → released frame, verified", lambda: anonymize(frame, plan, levels)),
        ("  frame → released frame, verified, measured, attacked", measured),
    )
    rows: list[Row] = []
    wanted = texts_of(result.published).to_pandas()
    agree = True
    for what, work in ways:
        row, made = bench.time(what, work)
        rows.append(row)
        agree = agree and wanted.equals(made)
    return rows, agree
