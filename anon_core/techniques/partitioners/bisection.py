"""Li's preprocessing: halve the table into similar sub-tables, then deal each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Grouping, Partitioner, buckets_of_rows
from anon_core.data.frequency import row_order
from anon_core.kernels.cuts import Cuts
from anon_core.kernels.l_diverse_groups import Points, bisect
from anon_core.methods.lattice.lattice import layout_of
from anon_core.methods.partition.leading_share import leading_share, mended
from anon_core.methods.partition.mondrian_cuts import normalized_positions, rows_of_keys
from anon_core.release.problem import Problem

_WORK = 5_000_000  # row visits between two looks at the cancel button, about 0.2 s


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class Bisection(Partitioner):
    """Recursive halving by growing boxes, then groups of l to 2l − 1 rows (Li et al. 2015).

    For every piece, beginning with the whole table (algorithm 2):

    1. Seeds are two artificial rows at the extremes, the largest and the smallest of every column.
    2. Each row joins the half whose normalized box it makes grow less.
    3. If both halves are l-eligible, without the artificial rows, go on with each; otherwise
       shuffle and try again, some times, before the piece is left whole.

    4. Each piece is sorted by sensitive value and dealt into groups (algorithm 1).
    """

    name: ClassVar[str] = "bisection"
    title: ClassVar[str] = "Halving, then dealing"
    summary: ClassVar[str] = (
        "Halves the table into pieces of similar rows while both halves can be dealt into "
        "l-diverse groups. Then deals each piece by sensitive value."
    )
    formula: ClassVar[str] = (
        "each row joins the half whose normalized box grows less; halves must be l-eligible"
    )
    source: ClassVar[str] = "Li et al. 2015, algorithms 1 and 2"
    from_counts: ClassVar[bool] = True
    way: ClassVar[Grouping] = Grouping(by_sensitive=True)

    tries: int = integer(
        default=5,
        low=1,
        high=100,
        help="How often a piece is shuffled and tried before it is left whole.",
        label="Rounds",
    )

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        column, least = leading_share(problem, models, self.title)
        frequency = problem.frequency
        key = rows_of_keys(problem)
        points = _points(problem, column, key)
        hierarchy = problem.hierarchies[column]
        value = frequency.codes[key, frequency.columns.index(column)]
        missing = value == hierarchy.missing_leaf
        rows = len(key)
        order = np.arange(rows, dtype=np.int64)
        stack = np.empty((rows + 1, 2), dtype=np.int64)
        stack[0] = 0, rows
        parts = np.empty((rows, 2), dtype=np.int64)
        cuts = Cuts(order, stack, parts)
        state = context.generator.integers(1, 1 << 64, size=4, dtype=np.uint64)
        # 1. to 3. Halve.
        depth, found = 1, 0
        work = 1 if context.listening else _WORK  # a listener gets every piece
        while depth:
            context.report(int(parts[found - 1, 1]) / rows if found else 0.0, "Halving")
            depth, found = bisect(points, cuts, depth, found, least, self.tries, state, work)
            if context.listening:
                runs = np.concatenate([parts[:found], stack[:depth]])
                runs = runs[np.argsort(runs[:, 0])].tolist()
                context.event("halved", pieces=[key[order[start:stop]] for start, stop in runs])
        # 4. All pieces are dealt at once: ordered by piece and value, each into its own groups.
        piece = np.empty(rows, dtype=np.int32)
        runs = parts[:found][np.argsort(parts[:found, 0])]
        sizes = runs[:, 1] - runs[:, 0]
        piece[order] = np.repeat(np.arange(found), sizes)
        drawn = context.generator.permutation(rows)
        ranked = drawn[row_order([piece[drawn], value[drawn]], [found, len(hierarchy.leaves)])]
        # Rows without a value, the last of each piece, are no part of what makes it diverse.
        known = np.bincount(piece[~missing], minlength=found)
        groups = np.maximum(known // least, 1)
        first_group = np.cumsum(groups) - groups
        place = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        group = np.empty(rows, dtype=np.int64)
        group[ranked] = np.repeat(first_group, sizes) + place % np.repeat(groups, sizes)
        context.event("dealt", keys=key[ranked], groups=group[ranked])
        return mended(problem, models, buckets_of_rows(key, group), context)


def _points(problem: Problem, column: str, key: npt.NDArray[np.int64]) -> Points:
    """Return rows by their keys, with one sensitive column, as the halving looks at them."""
    frequency, hierarchy = problem.frequency, problem.hierarchies[column]
    quasi = problem.quasi_hierarchies
    columns = [*range(len(quasi)), frequency.columns.index(column)]
    sizes = [len(h.leaves) for h in quasi]
    layout = layout_of([*sizes, len(hierarchy.leaves)])
    words = np.zeros((layout.words, len(frequency.count)), dtype=np.int64)
    for d, word, shift in zip(columns, layout.word, layout.shift, strict=True):
        words[word] |= frequency.codes[:, d].astype(np.int64) << shift
    return Points(
        words=words[:, key],
        word=layout.word,
        shift=layout.shift,
        mask=layout.mask,
        offset=np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        position=np.concatenate([np.minimum(normalized_positions(h), 1.0) for h in quasi]),
        values=len(hierarchy.leaves),
        missing=hierarchy.missing_leaf,
    )
