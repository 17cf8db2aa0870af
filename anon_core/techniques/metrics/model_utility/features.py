"""What a model is fed: original rows, and published ones, in the same features."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.methods.queries.associations import numbers_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import Vocabulary, of_level

#: Values of a column that have a feature of their own, the most frequent ones.
_MOST = 100


def original(problem: Problem) -> F64:
    """Return the features of every row of the table, shape (rows, features)."""
    exact = {name: of_level(problem.hierarchies[name], 0) for name in problem.quasi}
    codes = {name: problem.leaf_codes(name).astype(np.int64) for name in problem.quasi}
    return _features(problem, exact, codes)


def published(
    problem: Problem, release: Release, target: str, generator: np.random.Generator
) -> tuple[F64, I64, I64]:
    """Return the features and labels an analyst has, row by row of the table.

    Columns that are permuted apart are paired by chance within their group, as whoever reads the
    published rows side by side does.

    Parameters
    ----------
    problem : Problem
    release : Release
    target : str
        The column of labels.
    generator : numpy.random.Generator

    Returns
    -------
    features : float64 array of shape (published rows, features)
    labels : int64 array of shape (published rows,)
    row : int64 array of shape (published rows,)
        The row of the table whose first block it holds: it tells training rows from held-out ones.
    """
    member = release.grouping.of_rows(problem.frequency, generator, problem.row_order)
    row = np.flatnonzero(member >= 0)
    member = member[row]
    group = release.seen_group[member]
    codes: dict[str, I64] = {}
    for place, block in enumerate(release.blocks):
        names = [n for n in block if n in problem.quasi or n == target]
        order = np.arange(len(row))
        if place and names:
            # Both orders list the rows group by group: one as they are, one shuffled.
            slots = np.argsort(group, kind="stable")
            shuffled = generator.permutation(len(row))
            order[slots] = shuffled[np.argsort(group[shuffled], kind="stable")]
        for name in names:
            told = release.cells[name][member] if name in release.cells else None
            own = problem.leaf_codes(name)[row] if told is None else told
            codes[name] = own[order].astype(np.int64)
    features = _features(problem, release.vocabularies, codes)
    return features, codes[target], row


def _features(problem: Problem, known: Mapping[str, Vocabulary], codes: Mapping[str, I64]) -> F64:
    """Return numbers as shares of their range, and a share of every frequent value for the rest."""
    parts: list[F64] = []
    for name in problem.quasi:
        hierarchy, vocabulary = problem.hierarchies[name], known[name]
        number = numbers_of(hierarchy, vocabulary)
        if number is not None and hierarchy.measure is not None:
            told = hierarchy.measure[~np.isnan(hierarchy.measure)]
            low, high = (float(told.min()), float(told.max())) if len(told) else (0.0, 0.0)
            shift = (number - low) / (high - low if high > low else 1.0)
            missing = np.isnan(shift).astype(np.float64)
            parts.append(np.nan_to_num(shift, nan=0.5)[codes[name], None])
            if hierarchy.has_missing:
                parts.append(missing[codes[name], None])
            continue
        rows = problem.leaf_rows[name]
        leaves = np.sort(np.argsort(-rows, kind="stable")[:_MOST])
        first, last = vocabulary.lo[:, None], vocabulary.hi[:, None]
        covered = (first <= leaves) & (leaves <= last)
        width = (vocabulary.hi - vocabulary.lo + 1).astype(np.float64)
        parts.append((covered / width[:, None])[codes[name]])
    return np.concatenate(parts, axis=1) if parts else np.empty((problem.rows, 0))
