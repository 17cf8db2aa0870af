"""Bounds propagation to a fixpoint, and the independent parts that are left."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import I64
from anon_core.methods.membership.equations import System

if TYPE_CHECKING:
    import scipy.sparse
    import scipy.sparse.csgraph

_FAR = np.int64(1) << 40


@dataclass(frozen=True, kw_only=True, eq=False)
class Presolved:
    """Bounds that hold in every solution.

    Attributes
    ----------
    lower, upper : int64 arrays of shape (variables,)
    infeasible : bool array of shape (variables,)
        Parts whose equations contradict each other; their bounds are the ones given.
    broken_rows : bool array of shape (rows,)
        The rows of such parts.
    rounds : int
        Sweeps until nothing changed.
    """

    lower: I64
    upper: I64
    infeasible: npt.NDArray[np.bool_]
    broken_rows: npt.NDArray[np.bool_]
    rounds: int

    @property
    def free(self) -> I64:
        """Variables whose value is still open."""
        return np.flatnonzero((self.lower < self.upper) & ~self.infeasible)


def parts(rows: npt.NDArray[np.int32], size: int) -> tuple[int, I64, I64]:
    """Return the connected parts of variables and rows.

    Parameters
    ----------
    rows : int32 array of shape (variables, width)
    size : int
        Number of rows.

    Returns
    -------
    parts : int
    of_variable : int64 array of shape (variables,)
    of_row : int64 array of shape (rows,)
    """
    n = len(rows)
    if n and any(np.all(column == column[0]) and column[0] >= 0 for column in rows.T):
        # All of them add to one row: one part, and each row nobody adds to is one by itself.
        own = np.ones(size, dtype=np.bool_)
        own[rows[rows >= 0]] = False
        of_row = np.where(own, np.cumsum(own), 0).astype(np.int64)
        return 1 + int(own.sum()), np.zeros(n, dtype=np.int64), of_row
    variable, place = np.nonzero(rows >= 0)
    ends = rows[variable, place] + n
    graph = scipy.sparse.coo_array(
        (np.ones(len(ends), np.int8), (variable, ends)), shape=(n + size, n + size)
    )
    found, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    label = label.astype(np.int64)
    return int(found), label[:n], label[n:]


def open_parts(rows: npt.NDArray[np.int32], size: int, free: I64) -> list[I64]:
    """Return the variables of every connected part of the variables `free`.

    Parameters
    ----------
    rows : int32 array of shape (variables, width)
    size : int
        Number of rows.
    free : int64 array
    """
    if not len(free):
        return []
    found, label, _ = parts(rows[free], size)
    order = np.argsort(label, kind="stable")
    cuts = np.searchsorted(label[order], np.arange(found + 1))
    return [free[order[a:b]] for a, b in pairwise(cuts) if b > a]


def presolve(system: System) -> Presolved:
    """Propagate bounds until nothing changes (Toth 2015, alg. 5, by equations).

    Every row f = Σ x gives x_j ≤ f − Σ_{i≠j} lower_i and x_j ≥ f − Σ_{i≠j} upper_i.

    Notes
    -----
    Sound, not complete: what it fixes is fixed in every solution, but more may be.
    """
    size = len(system.total)
    # Variables without a row at a place point to one more row that never binds.
    rows = np.where(system.rows < 0, size, system.rows)
    flat, width = rows.ravel(), rows.shape[1]
    total = np.append(system.total, 0)
    lower, upper = system.lower.copy(), system.upper.copy()
    _, label, row_label = parts(system.rows, size)
    broken = np.zeros(system.variables + size, dtype=np.bool_)  # by part
    rounds = 0
    while True:
        rounds += 1
        low_sum = np.bincount(flat, np.repeat(lower, width), size + 1).astype(np.int64)
        high_sum = np.bincount(flat, np.repeat(upper, width), size + 1).astype(np.int64)
        room, need = total - low_sum, total - high_sum
        room[size], need[size] = _FAR, -_FAR
        broken[row_label[((room < 0) | (need > 0))[:size]]] = True
        broken[label[lower > upper]] = True
        lost = broken[label]
        tight_upper = np.minimum(upper, lower + room[rows].min(axis=1, initial=_FAR))
        tight_lower = np.maximum(lower, upper + need[rows].max(axis=1, initial=-_FAR))
        # Bounds of contradicting equations mean nothing, and would drift for ever.
        tight_upper = np.where(lost, system.upper, tight_upper)
        tight_lower = np.where(lost, system.lower, tight_lower)
        if np.array_equal(tight_upper, upper) and np.array_equal(tight_lower, lower):
            return Presolved(
                lower=lower,
                upper=upper,
                infeasible=lost,
                broken_rows=broken[row_label],
                rounds=rounds,
            )
        lower, upper = tight_lower, tight_upper
