"""Releases of groups that a source prints: who is in which is given, and nothing is searched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_core.release.grouping import Grouping
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import of_level


def in_groups(problem: Problem, group: Sequence[int], blocks: Sequence[tuple[str, ...]]) -> Release:
    """Return a release of exact values in groups whose number is published.

    Parameters
    ----------
    group : sequence of int
        Group of every row; -1 leaves a row out.
    blocks : sequence of tuples of str
        Columns that stay linked row by row; different blocks are shuffled apart.
    """
    frequency = problem.frequency
    own = np.asarray(group, dtype=np.int64)
    run = frequency.run[frequency.row_key]
    runs = len(frequency.run_count)
    placed = np.where(own >= 0, own * runs + run, -1)
    classes = np.unique(placed[placed >= 0])
    member = np.where(own >= 0, np.searchsorted(classes, placed), -1)
    pair, count = np.unique(
        np.stack([frequency.row_key, member], axis=1), axis=0, return_counts=True
    )
    names = dict.fromkeys((*problem.quasi, *problem.sensitive))
    shown = frequency.run_codes[classes % runs]
    return Release(
        problem=problem,
        grouping=Grouping(
            key=pair[:, 0].astype(np.int64),
            member=pair[:, 1].astype(np.int64),
            count=count.astype(np.int64),
            group=classes // runs,
            published=True,
        ),
        vocabularies={n: of_level(problem.hierarchies[n], 0) for n in names},
        cells={n: shown[:, d].astype(np.int32) for d, n in enumerate(problem.quasi)},
        blocks=tuple(blocks),
    )
