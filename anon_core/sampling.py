"""A simple random sample of a table's rows, whatever order they stand in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from .errors import BadPlan
from .frequency import dense_rank, stable_order
from .table import Dataset

#: Tells the draw of a sample from every other draw of the same seed.
STREAM = 54


def sampled(dataset: Dataset, names: Sequence[str], share: float, seed: int) -> Dataset:
    """Return a sample of a table without replacement; counts the rows that were not drawn.

    Rows are drawn from the table sorted by `names`, so that its own order plays no part; rows that
    are equal in all of them stand for each other.

    Parameters
    ----------
    dataset : Dataset
    names : sequence of str
        The columns that will be published.
    share : float
        Share of the rows, above 0 and at most 1; rounded down to whole rows.
    seed : int

    Raises
    ------
    BadPlan
        If the share is less than one row.
    """
    if share >= 1:
        return dataset
    # The decimal as it is written, not its float; a third of 30 is a hair below 10: the guard keeps
    # the row.
    size = math.floor(Fraction(str(share)) * dataset.rows + Fraction(1, 10**9))
    if size < 1:
        raise BadPlan(
            f"A sample of {share:g} of {dataset.rows} rows has no row.",
            remedy="Raise [data] sample, or load more rows.",
        )
    columns = [dataset.column(name) for name in names]
    # The missing value comes after all others.
    codes = [np.where(c.codes < 0, len(c.values), c.codes).astype(np.int32) for c in columns]
    sizes = [len(c.values) + 1 for c in columns]
    # Equal numbers may be spelled apart, and what is drawn decides which spelling is published.
    for spelled, texts in (c.spelled for c in columns if c.spelled is not None):
        place = np.empty(len(texts) + 1, dtype=np.int32)
        place[[*sorted(range(len(texts)), key=texts.__getitem__), -1]] = np.arange(len(texts) + 1)
        codes.append(place[spelled])
        sizes.append(len(texts) + 1)
    rank, first = dense_rank(codes, sizes)
    order = stable_order(rank, len(first))
    draw = np.random.default_rng([seed, STREAM]).permutation(dataset.rows)[:size]
    keep = np.zeros(dataset.rows, dtype=np.bool_)
    keep[order[draw]] = True
    return replace(
        dataset,
        columns=tuple(c.take(keep) for c in dataset.columns),
        rows=size,
        undrawn=dataset.rows - size,
    )
