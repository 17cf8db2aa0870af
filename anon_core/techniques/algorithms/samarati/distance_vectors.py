"""The distance-vector matrix: how far tuples have to rise before they are equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan
from anon_core.release.problem import Problem

#: Bytes the matrix may take.
_ROOM = 400_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class DistanceMatrix:
    """Minimal distance vectors that make an outlier and another tuple equal (Samarati 2001).

    Whether a node is k-anonymous follows from it without building the node's table: two tuples are
    equal at a node exactly if their vector lies below it in every attribute.

    Attributes
    ----------
    k : int
    outliers : int64 array of shape (outliers,)
        Distinct quasi tuples with fewer than k rows, by their number in the frequency set.
    count : int64 array of shape (tuples,)
        Rows of every distinct quasi tuple.
    vectors : uint8 array of shape (outliers, tuples, quasi)
    """

    k: int
    outliers: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.uint8]

    def together(self, node: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """Return how many rows are equal to each outlier at a node, shape (outliers,)."""
        below = np.all(self.vectors <= np.array(node, dtype=np.uint8), axis=2)
        return (below @ self.count).astype(np.int64)

    def removed(self, node: tuple[int, ...]) -> int:
        """Return how many rows k-anonymity has to remove at a node."""
        return int(self.count[self.outliers][self.together(node) < self.k].sum())


def distance_matrix(problem: Problem, k: int) -> DistanceMatrix:
    """Compare every outlier with every distinct quasi tuple.

    Raises
    ------
    BadPlan
        If the matrix would be too large to keep.
    """
    codes, count = problem.frequency.run_codes, problem.frequency.run_count
    outliers = np.flatnonzero(count < k)
    cells = len(outliers) * len(count) * codes.shape[1]
    if cells > _ROOM:
        raise BadPlan(
            f"The distance-vector matrix of {len(outliers):,} outliers and {len(count):,} distinct "
            f"tuples has {cells:,} cells; at most {_ROOM:,} are kept.",
            remedy="Check nodes by their classes instead, which gives the same answer.",
        )
    vectors = np.empty((len(outliers), len(count), codes.shape[1]), dtype=np.uint8)
    for d, hierarchy in enumerate(problem.quasi_hierarchies):
        one, other = np.broadcast_arrays(codes[outliers, None, d], codes[None, :, d])
        level = hierarchy.smallest_node(one, other)
        # Where columns may not rise, no level makes different values equal.
        equal = hierarchy.first_leaf[level, one] == hierarchy.first_leaf[level, other]
        vectors[:, :, d] = np.where(equal, level, hierarchy.height + 1)
    return DistanceMatrix(k=k, outliers=outliers.astype(np.int64), count=count, vectors=vectors)
