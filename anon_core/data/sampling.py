"""A simple random sample of a table's rows, whatever order they are in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.base.secret import stream
from anon_core.data.frequency import dense_rank, stable_order
from anon_core.data.table import Dataset


def sampled(
    dataset: Dataset, names: Sequence[str], share: float, seed: int, rows: int = 0
) -> Dataset:
    """Return a sample of a table without replacement; counts the rows that were not drawn.

    Rows are drawn from the table sorted by `names`, so that its own order plays no part; rows that
    are equal in all of them represent each other.

    Parameters
    ----------
    names : sequence of str
        The columns that will be published.
    share : float
        Share of the rows, above 0 and at most 1; rounded down to whole rows.
    rows : int
        How many rows to draw; 0 draws the share.

    Raises
    ------
    BadPlan
        If the share is less than one row, or more rows are to be drawn than there are.
    """
    if share >= 1 and not rows:
        return dataset
    if rows > dataset.rows:
        raise BadPlan(
            f"[data] benchmark draws {rows:,} rows, and the table has {dataset.rows:,} complete "
            "ones.",
            remedy="Write a smaller number.",
        )
    # The decimal as it is written, not its float; a third of 30 is a hair below 10: the guard keeps
    # the row.
    size = rows or math.floor(Fraction(str(share)) * dataset.rows + Fraction(1, 10**9))
    if size < 1:
        raise BadPlan(
            f"A sample of {share:g} of {dataset.rows} rows has no row.",
            remedy="Raise [data] sample, or load more rows.",
        )
    columns = [dataset.column(name) for name in names]
    # The missing value comes after all others.
    codes = [np.where(c.codes < 0, len(c.values), c.codes).astype(np.int32) for c in columns]
    rank, first = dense_rank(codes, [len(c.values) + 1 for c in columns])
    order = stable_order(rank, len(first))
    draw = stream(seed, "sample").permutation(dataset.rows)[:size]
    keep = np.zeros(dataset.rows, dtype=np.bool_)
    keep[order[draw]] = True
    # Which of several equal rows is drawn depends on their order. What is published must not depend
    # on how that one spells its numbers: all have the table's one spelling of a value.
    alike = [replace(c, spelled=None) for c in dataset.columns]
    return replace(
        dataset,
        columns=tuple(c.take(keep) for c in alike),
        rows=size,
        undrawn=dataset.rows - size,
    )
