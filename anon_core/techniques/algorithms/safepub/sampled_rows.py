"""Which rows are in the sample: each by a coin of its own, keyed by the secret, plan and table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from anon_core.release.problem import Problem
from anon_core.techniques.algorithms.safepub.account import GRAIN
from anon_core.techniques.algorithms.safepub.coins import Coins

_CELL, _ROW = "\x1f", "\x1e"


@dataclass(frozen=True, kw_only=True, eq=False)
class SortedRows:
    """The table's rows in the order of their texts: its own order and its hierarchies have no part.

    Attributes
    ----------
    order : int64 array of shape (runs,)
        The distinct quasi tuples by their texts.
    count : int64 array of shape (runs,)
        Rows of each, in that order.
    digest : bytes
        Of all texts and counts.
    """

    order: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    digest: bytes

    def coins(self, secret: bytes, purpose: str, plan: object) -> Coins:
        """Return the coins for one purpose, keyed by the secret, by plan and table.

        The same secret for another table, or for other promises, tosses coins that have nothing in
        common, which is what adding up budgets takes. `plan` is plain values.
        """
        return Coins(secret, purpose.encode(), told(plan).encode(), self.digest)

    def sampled(self, share: Fraction, coins: Coins) -> npt.NDArray[np.int64]:
        """Draw how many rows of every quasi tuple are in the sample, shape (runs,).

        `share` is the chance of every row, a multiple of 2**-64.
        """
        heads = coins.words(int(self.count.sum())) < np.uint64(share * GRAIN)
        found = np.empty(len(self.order), dtype=np.int64)
        starts = np.cumsum(self.count) - self.count
        found[self.order] = np.add.reduceat(heads, starts, dtype=np.int64)
        return found


def sorted_rows(problem: Problem) -> SortedRows:
    """Return the rows of a table, as far as quasi-identifiers tell them apart, in one order."""
    codes = problem.frequency.run_codes
    texts = [[h.leaves[c] for c in codes[:, d]] for d, h in enumerate(problem.quasi_hierarchies)]
    rows = list(zip(*texts, strict=True))
    order = sorted(range(len(rows)), key=rows.__getitem__)
    count = problem.frequency.run_count[order]
    digest = hashlib.sha256(_CELL.join(problem.quasi).encode("utf-8", "surrogatepass"))
    for place, times in zip(order, count.tolist(), strict=True):
        line = _ROW + _CELL.join((*rows[place], str(times)))
        digest.update(line.encode("utf-8", "surrogatepass"))
    return SortedRows(order=np.array(order, dtype=np.int64), count=count, digest=digest.digest())


def told(value: object) -> str:
    """Return plain values as one text: equal ones, such as 1 and 1.0, as the same.

    Examples
    --------
    >>> told({"b": 1.0, "a": [True, "x"]}) == told({"a": [True, "x"], "b": 1})
    True
    """
    if isinstance(value, Mapping):
        named = cast(Mapping[str, object], value)
        return "{" + ",".join(f"{k!r}:{told(named[k])}" for k in sorted(named)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(told(v) for v in cast(Sequence[object], value)) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(Fraction(str(value)))
    return repr(value)
