"""A Mondrian partition of a table whose distinct tuples no memory holds.

The first cuts are made where the table is held, where they would be made in memory: an attribute's
widths, medians and the privacy models on both sides are known by counts of its values alone. As
soon as a piece fits, it is finished here. What is left of the table is one tuple for each class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadInput
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, run_buckets
from anon_core.data.counted_rows import counted_set
from anon_core.data.frequency import dense_rank
from anon_core.kernels.boxes_of_groups import widen_boxes
from anon_core.kernels.mondrian_split import Axes
from anon_core.methods.partition.mondrian_cuts import (
    limits,
    refuse_whole,
    sensitive_codes,
    values_of,
    ways_to_cut,
)
from anon_core.methods.partition.parallel_split import Tuples, axes_of, by_width, cut, cut_once
from anon_core.release.problem import Problem
from anon_core.release.table_pieces import Piece, Pieces


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """A table that was cut, by its classes.

    Attributes
    ----------
    problem : Problem
        Its frequency set has one quasi tuple for each class.
    low, high : int32 arrays of shape (parts, quasi)
        First and last leaf of each part.
    """

    problem: Problem
    parts: Buckets
    low: I32
    high: I32


def classes_in_pieces(
    problem: Problem,
    pieces: Pieces,
    models: Sequence[GroupModel],
    context: Context,
    *,
    by_tree: Sequence[bool],
    weights: npt.NDArray[np.float64],
) -> Classes:
    """Cut a table as `strict_parts` does, and return its classes.

    Parameters
    ----------
    problem : Problem
        Of its frequency set nothing is taken but what sensitive columns count.
    models : sequence of GroupModel
        Limits describe all of them.
    by_tree : sequence of bool
        Per quasi-identifier, whether it is cut along its hierarchy; see `cut_by_tree`.
    weights : float64 array of shape (quasi,)
        Factor on the width of each quasi-identifier.

    Raises
    ------
    Infeasible
        If not even the whole table as one part keeps the privacy models.
    BadInput
        If a piece that memory has no room for cannot be cut, or what is left does not fit.
    """
    refuse_whole(problem, models)
    return _Cuts(problem, pieces, models, context, by_tree, weights).all()


class _Cuts:
    def __init__(
        self,
        problem: Problem,
        pieces: Pieces,
        models: Sequence[GroupModel],
        context: Context,
        by_tree: Sequence[bool],
        weights: npt.NDArray[np.float64],
    ) -> None:
        self.problem, self.pieces, self.context = problem, pieces, context
        by = ways_to_cut(problem, by_tree, weights)
        self.axes = axes_of(
            by.hierarchies, by.positions, by.by_tree.tolist(), by.loose.tolist(), by.weights
        )
        self.watched, self.distinct, self.share = limits(problem, models)
        self.extra = [problem.frequency.columns.index(name) for name in self.watched]
        self.least = max((model.least_size() for model in models), default=1)
        self.quasi = len(problem.quasi)
        self.low = [np.empty((0, self.quasi), dtype=np.int32)]
        self.high = [np.empty((0, self.quasi), dtype=np.int32)]
        self.part = [np.empty(0, dtype=np.int64)]  # of every key
        others = len(problem.frequency.columns) - self.quasi
        self.shown = [np.empty((0, others), dtype=np.int32)]  # what else it shows
        self.count = [np.empty(0, dtype=np.int64)]
        self.parts = 0

    def all(self) -> Classes:
        """Cut pieces until they fit, finish each, and put what is left together."""
        waiting = [self.pieces.whole()]
        rows, settled = waiting[0].rows, 0
        while waiting:
            self.context.report(settled / rows, "Partitioning")
            piece = waiting.pop()
            if piece.tuples > self.pieces.room:
                waiting += reversed(self._cut(piece))
            else:
                self._finish(piece)
                settled += piece.rows
        return self._classes()

    def _cut(self, piece: Piece) -> list[Piece]:
        """Cut a piece once, along the first of its attributes that can be cut, the widest first."""
        for d in by_width(piece.low, piece.high, self.axes):
            found = self.pieces.counted(piece, [d, *self.extra])
            part = cut_once(self._tuples(found.codes, 1, found.count), _only(self.axes, d))
            if part is None:
                continue
            code = found.codes[:, 0]
            ends = [
                (int(code[own].min()), int(code[own].max()))
                for own in (part == nth for nth in range(int(part.max()) + 1))
            ]
            return self.pieces.cut(piece, d, ends)
        raise BadInput(
            f"No cut of these {piece.tuples:,} distinct rows satisfies the privacy models, and "
            "together they do not fit in memory.",
            remedy="Give it more memory, or fewer or coarser quasi-identifiers.",
        )

    def _tuples(self, codes: I32, quasi: int, count: I64) -> Tuples:
        """Return tuples whose watched columns come after so many others."""
        watched = codes[:, quasi : quasi + len(self.watched)]
        return Tuples(
            codes=np.ascontiguousarray(codes[:, :quasi]),
            count=count,
            sensitive=sensitive_codes(self.problem, self.watched, watched),
            values=values_of(self.problem, self.watched),
            distinct=self.distinct,
            share=self.share,
            least=self.least,
        )

    def _finish(self, piece: Piece) -> None:
        """Cut a piece to the end, and keep of it what its classes show."""
        columns = range(len(self.problem.frequency.columns))
        found = self.pieces.counted(piece, columns)
        own, count = found.codes[:, : self.quasi], found.count
        every = np.hstack([own, found.codes[:, self.extra]])
        part = cut(self._tuples(every, self.quasi, count), self.axes, self.context)
        del every
        self.pieces.settle(piece, own, part + self.parts)
        parts = int(part.max(initial=-1)) + 1
        low = np.full((parts, self.quasi), np.iinfo(np.int32).max, dtype=np.int32)
        high = np.full(low.shape, -1, dtype=np.int32)
        every_tuple = np.arange(len(part))
        widen_boxes(np.ascontiguousarray(own), every_tuple, every_tuple, part, low, high)
        shown = found.codes[:, self.quasi :]
        arrays = [part.astype(np.int32), *shown.T]
        rank, first = dense_rank(arrays, [int(column.max(initial=0)) + 1 for column in arrays])
        self.low.append(low)
        self.high.append(high)
        self.part.append(part[first] + self.parts)
        self.shown.append(shown[first])
        self.count.append(np.bincount(rank, weights=count, minlength=len(first)).astype(np.int64))
        self.parts += parts

    def _classes(self) -> Classes:
        """Return the table by its classes, each known by its least corner, which no other has."""
        problem, before = self.problem, self.problem.frequency
        low, high = np.concatenate(self.low), np.concatenate(self.high)
        part, count = np.concatenate(self.part), np.concatenate(self.count)
        shown = np.concatenate(self.shown)
        keys = counted_set(
            before.columns,
            [*(low[part, d] for d in range(self.quasi)), *shown.T],
            [len(problem.hierarchies[name].leaves) for name in before.columns],
            count,
            quasi=self.quasi,
        )
        key = np.empty(self.parts, dtype=np.int64)
        key[part] = keys.of_tuple
        self.pieces.finish(key)
        by_class = replace(problem, frequency=keys.frequency, pieces=None)
        of_run = np.empty(len(keys.frequency.run_count), dtype=np.int64)
        of_run[keys.frequency.run[keys.of_tuple]] = part
        return Classes(problem=by_class, parts=run_buckets(by_class, of_run), low=low, high=high)


def _only(by: Axes, d: int) -> Axes:
    return by._replace(axes=by.axes[d : d + 1])
