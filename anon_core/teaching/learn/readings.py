"""What someone reads at a step of a lesson, and what they know of a person beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32
from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.explain.answers.fitting import fitting_view
from anon_core.methods.partition.box_release import covered_outcome, hulls, published_cells
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.problem import Problem
from anon_core.release.release import Release, View, raw_view

if TYPE_CHECKING:
    from anon_core.teaching.learn.trace import Run, Trace

#: First and last leaf of what every row publishes in a column.
Ends = tuple[I32, I32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """A table that is read, row by row: what it shows, and which columns are known of a person.

    Attributes
    ----------
    view : View
        What attacks read.
    rows : int64 array of shape (rows,)
        Place of every row of the table among the cells of `ends`, -1 where it is suppressed.
    ends : mapping of str to pair of int32 arrays
        What every place publishes in each known column.
    published : bool
        Whether a run publishes it; else it is what would be published if one stopped here.
    release : Release or None
        What `view` is of; None where it is the table as it is.
    """

    problem: Problem
    view: View
    rows: npt.NDArray[np.int64]
    ends: dict[str, Ends]
    known: tuple[str, ...]
    published: bool = True
    release: Release | None = None

    @property
    def secret(self) -> tuple[str, ...]:
        """Sensitive columns that are not known."""
        return tuple(name for name in self.problem.sensitive if name not in self.known)

    @cached_property
    def _leaves(self) -> I32:
        codes = [self.problem.leaf_codes(name) for name in self.known]
        return np.stack(codes, axis=1).astype(np.int32)

    def fits(self, person: int) -> tuple[int, ...]:
        """Return the rows of the table whose published cells cover what is known of a person."""
        fit = self.rows >= 0
        for place, name in enumerate(self.known):
            low, high = self.ends[name]
            own = self._leaves[person, place]
            fit &= (low[self.rows] <= own) & (own <= high[self.rows])
        return tuple(np.flatnonzero(fit).tolist())

    def values(self, person: int, column: str) -> dict[str, int]:
        """Return how many of the rows that fit a person show each value, the commonest first."""
        leaves = self.problem.hierarchies[column].leaves
        found = fitting_view(
            self.view, self.known, self._leaves[person : person + 1], column, leaves
        )
        shown = {text: round(n) for text, n in zip(leaves, found.shown[0].tolist(), strict=True)}
        return {t: n for t, n in sorted(shown.items(), key=lambda one: -one[1]) if n}


def published(run: Run, known: Sequence[str] = ()) -> Seen:
    """Return what a run publishes, read by someone who knows columns, by default the quasi ones."""
    release = run.release
    columns = tuple(known) or release.problem.quasi
    _, first = np.unique(release.seen_group, return_index=True)
    ends: dict[str, Ends] = {}
    exact = np.arange(len(run.together), dtype=np.int32)
    rows = np.asarray(run.together, dtype=np.int64)
    for name in columns:
        if name in release.cells:
            low, high = release.ends(name)
            ends[name] = (low[first][rows], high[first][rows])
        else:  # a sensitive column that the attacker knows is published as it is
            own = release.problem.leaf_codes(name)
            ends[name] = (own, own)
    return Seen(
        problem=release.problem,
        view=release.view,
        rows=np.where(rows >= 0, exact, -1),
        ends=ends,
        known=columns,
        release=release,
    )


def as_held(trace: Trace, known: Sequence[str] = ()) -> Seen:
    """Return the table without identifiers, as it is held."""
    problem, columns = trace.problem, tuple(known) or trace.quasi
    return Seen(
        problem=problem,
        view=raw_view(problem),
        rows=np.arange(trace.rows),
        ends={n: (problem.leaf_codes(n), problem.leaf_codes(n)) for n in columns},
        known=columns,
        published=False,
    )


def as_read(release: Release, place: npt.NDArray[np.int64]) -> Seen:
    """Return a release that is read by its quasi-identifiers; `place` is the class of every row."""
    return Seen(
        problem=release.problem,
        view=release.view,
        rows=place,
        ends={name: release.ends(name) for name in release.problem.quasi},
        known=release.problem.quasi,
        published=False,
        release=release,
    )


def if_boxes(trace: Trace, together: Sequence[int]) -> Seen:
    """Return what parts would publish if none were cut any further: each its own range."""
    problem = trace.problem
    part = np.asarray(together, dtype=np.int64)
    key = problem.frequency.row_key
    pair, count = np.unique(np.stack([key, part], axis=1), axis=0, return_counts=True)
    buckets = Buckets(
        key=pair[:, 0].astype(np.int64),
        group=pair[:, 1].astype(np.int64),
        count=count.astype(np.int64),
    )
    low, high = hulls(problem, buckets)
    as_nodes = [cut_by_tree(problem, hierarchy) for hierarchy in problem.quasi_hierarchies]
    pools, cells = published_cells(problem, low, high, as_nodes)
    outcome = covered_outcome(problem, buckets, low, high, as_nodes)
    ends = {n: (pools[n].lo[cells[n]], pools[n].hi[cells[n]]) for n in problem.quasi}
    return Seen(
        problem=problem,
        view=outcome.release.view,
        rows=part,
        ends=ends,
        known=problem.quasi,
        published=False,
        release=outcome.release,
    )


def if_levels(
    trace: Trace, levels: Sequence[int], models: Sequence[GroupModel] = (), share: float = 0.0
) -> Seen:
    """Return the release at a node of the lattice, with at most a share of rows suppressed."""
    problem = trace.problem
    asked = {"levels": dict(zip(problem.quasi, levels, strict=True)), "max_suppression": share}
    made = cast(Algorithm, find("algorithm", "fixed-levels")(**asked))
    release = made.run(problem, models, Context()).release
    grouping = release.grouping
    place = np.searchsorted(grouping.key, problem.frequency.row_key)
    return as_read(release, grouping.member[place].astype(np.int64))
