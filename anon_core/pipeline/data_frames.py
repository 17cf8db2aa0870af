"""From a data frame to the released data frame in one call, verified on the way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.errors import BadPlan
from anon_core.data.frames import ArrowFrame, is_pandas
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def anonymize(
    frame: pd.DataFrame | ArrowFrame,
    plan: Plan,
    hierarchies: Mapping[str, LevelTable] | None = None,
    *,
    population: pd.DataFrame | ArrowFrame | None = None,
) -> pd.DataFrame | pa.Table:
    """Return the release of a data frame as a data frame of texts, in canonical order.

    Nothing is returned unless every privacy model was recomputed from the published text. Metrics
    and attacks are left out; `run` measures them.

    Parameters
    ----------
    frame : pandas.DataFrame, or a frame of polars, pyarrow or another library that speaks Arrow
        Its index plays no part.
    hierarchies : mapping of str to level table, optional
        See `run`.
    population : a frame like `frame`, optional
        A table of the population, for privacy models about it.

    Returns
    -------
    pandas.DataFrame or pyarrow.Table
        A pandas frame for a pandas frame, else an Arrow table. An empty text is a missing value.

    Raises
    ------
    BadPlan
        If the technique publishes two tables; `run` gives both.
    InputChanged, Infeasible, NotVerified, BadInput, BadHierarchy
        As `run` does.
    """
    read = partial(
        Dataset.from_frame, missing=plan.data.missing_values, missing_in=plan.data.missing_in
    )
    public = None if population is None else read(population)
    dataset = read(frame, kinds=plan.types)
    result = run(plan, dataset, hierarchies, population=public, assess=False)
    if len(result.tables) > 1:
        raise BadPlan(
            f"'{plan.algorithm.name}' publishes two tables, not one frame.",
            remedy="Call run and take its tables.",
        )
    table = texts_of(result.published)
    return table.to_pandas() if is_pandas(frame) else table


def texts_of(table: pa.Table) -> pa.Table:
    """Return a table of dictionaries as a table of plain texts."""
    import pyarrow as pa

    columns = [cast(Any, column.combine_chunks()) for column in table.columns]
    plain = [c.dictionary.cast(pa.large_string()).take(c.indices) for c in columns]
    return pa.Table.from_arrays(plain, names=table.column_names)
