"""Which published rows fit what someone knows of a person, and the sensitive values they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.errors import BadPlan, listing
from anon_core.data.frequency import dense_rank
from anon_core.pipeline.result import Result
from anon_core.release.problem import Problem
from anon_core.release.release import BlockTable, View

#: First and last leaf that each published text covers, by column.
Covers = Mapping[str, tuple[I32, I32]]
#: People times published cells that are compared at most: a second or two.
_MOST = 400_000_000
#: People that are compared at once.
_AT_ONCE = 2_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitting:
    """What fits each combination of known values.

    Attributes
    ----------
    rows : float64 array of shape (combinations,)
        Published rows that fit. Where columns that are known are permuted separately, the rows that
        fit on average over all ways to put them together.
    shown : float64 array of shape (combinations, values)
        Of these rows, how many have each sensitive value; empty where no column was asked for.
    values : tuple of str
        The sensitive values, in the order of `shown`.
    exact : bool
        Whether `rows` are counted, and not an average.
    """

    rows: F64
    shown: F64
    values: tuple[str, ...]
    exact: bool


def known_combinations(
    problem: Problem, columns: Sequence[str]
) -> tuple[npt.NDArray[np.int32], I64, I64]:
    """Return the distinct combinations of values that the people of the table have in columns.

    Returns
    -------
    leaves : int32 array of shape (combinations, columns)
    rows : int64 array of shape (combinations,)
        Rows of the table that have each.
    of_key : int64 array of shape (keys,)
        Combination of each key of the frequency set.

    Raises
    ------
    BadPlan
        If a column is not a quasi-identifier, or none is named.
    """
    wrong = [name for name in columns if name not in problem.quasi]
    if wrong or not columns:
        raise BadPlan(
            f"{listing(wrong)} is not a quasi-identifier." if wrong else "No column is named.",
            remedy=f"Name some of {listing(problem.quasi)}.",
        )
    codes = [problem.frequency.codes[:, problem.quasi.index(name)] for name in columns]
    rank, first = dense_rank(codes, [len(problem.hierarchies[n].leaves) for n in columns])
    leaves = np.stack([c[first] for c in codes], axis=1).astype(np.int32)
    rows = np.bincount(rank, weights=problem.frequency.count).astype(np.int64)
    return leaves, rows, rank.astype(np.int64)


def fitting(
    result: Result,
    columns: Sequence[str],
    leaves: npt.NDArray[np.int32],
    sensitive: str = "",
    covers: Covers | None = None,
) -> Fitting:
    """Return which published rows fit people of whom some columns are known.

    Parameters
    ----------
    columns : sequence of str
        Quasi-identifiers.
    leaves : int32 array of shape (combinations, columns)
        What is known, as leaves of the columns' hierarchies.
    sensitive : str
        A sensitive column to be reported; empty for none.
    covers : mapping of str to pair of int32 arrays of shape (texts,), optional
        First and last leaf that each published text covers, where `leaves` are not those of the
        table's hierarchies.

    Raises
    ------
    BadPlan
        If no one fits a cell for sure, or there is too much to compare.

    Notes
    -----
    Where m_b of a group's N rows fit what is known of the columns of block b, N · Π_b m_b / N of
    its rows fit, on average over all ways to put its blocks together: with one block, the count.
    """
    values = result.problem.hierarchies[sensitive].leaves if sensitive else ()
    return fitting_view(result.release.view, columns, leaves, sensitive, values, covers)


def fitting_view(
    view: View,
    columns: Sequence[str],
    leaves: npt.NDArray[np.int32],
    sensitive: str = "",
    values: Sequence[str] = (),
    covers: Covers | None = None,
) -> Fitting:
    """Do what `fitting` does, for a view; `values` are the leaves of the sensitive column."""
    if view.averaged:
        raise BadPlan(
            "Averages replace the values, and an average matches no person for sure.",
            remedy="Ask it of a release of ranges, levels or groups.",
        )
    blocks = [b for b in view.blocks if any(name in b.columns for name in columns)]
    home = view.block_of(sensitive) if sensitive else None
    if home is not None and all(b is not home for b in blocks):
        blocks.append(home)
    matchers = [_Matcher(view, block, columns, covers or {}) for block in blocks]
    if len(leaves) * max(sum(len(m.lo) for m in matchers), 1) > _MOST:
        raise BadPlan(
            "Too many people and cells would have to be compared.", remedy="Choose fewer columns."
        )
    rows, shown = np.zeros(len(leaves)), np.zeros((len(leaves), len(values)))
    wide = [len(m.lo) for m in matchers]
    if len(blocks) > 1:
        wide.append(len(view.group_size) * max(len(values), 1))
    step = max(_AT_ONCE // max(wide), 1)
    for start in range(0, len(leaves), step):
        part = slice(start, start + step)
        if len(blocks) == 1:
            rows[part], shown[part] = matchers[0].totals(leaves[part], sensitive, len(values))
        else:
            rows[part], shown[part] = _on_average(
                matchers, leaves[part], view.group_size, sensitive, len(values)
            )
    return Fitting(rows=rows, shown=shown, values=tuple(values), exact=len(blocks) == 1)


def _on_average(
    matchers: Sequence[_Matcher],
    leaves: npt.NDArray[np.int32],
    sizes: I64,
    sensitive: str,
    values: int,
) -> tuple[F64, F64]:
    """Return rows that fit, and those of each value, on average over how blocks come together."""
    chance = np.ones((len(leaves), len(sizes)))
    home = None
    for matcher in matchers:
        if sensitive in matcher.block.columns:
            home = matcher
        else:
            chance *= matcher.by_group(leaves, len(sizes)) / sizes
    if home is None:
        return (chance * sizes).sum(axis=1), np.zeros((len(leaves), 0))
    shown = np.stack(
        [
            (chance * home.by_group(leaves, len(sizes), sensitive, value)).sum(axis=1)
            for value in range(values)
        ],
        axis=1,
    )
    return shown.sum(axis=1), shown


class _Matcher:
    """The cells of one block, reduced to the columns that are known."""

    def __init__(
        self, view: View, block: BlockTable, columns: Sequence[str], covers: Covers
    ) -> None:
        self.block = block
        known = [name for name in columns if name in block.columns]
        self.place = [list(columns).index(name) for name in known]
        codes = [block.codes[:, block.columns.index(name)] for name in known]
        self.rank, first = np.zeros(len(block.group), dtype=np.int64), np.zeros(1, dtype=np.int64)
        if known:
            rank, first = dense_rank(codes, [len(view.vocabularies[name].texts) for name in known])
            self.rank = rank.astype(np.int64)
        nothing = np.zeros((len(first), 0), dtype=np.int32)
        pools = [view.vocabularies[name] for name in known]
        ends = [covers.get(n, (p.lo, p.hi)) for n, p in zip(known, pools, strict=True)]
        both = list(zip(ends, codes, strict=True))
        self.lo = np.stack([lo[c[first]] for (lo, _), c in both], axis=1) if known else nothing
        self.hi = np.stack([hi[c[first]] for (_, hi), c in both], axis=1) if known else nothing

    def fits(self, leaves: npt.NDArray[np.int32]) -> F64:
        """Return 1 where cells cover what is known, shape (combinations, cells)."""
        fit = np.ones((len(leaves), len(self.lo)), dtype=np.bool_)
        for d, place in enumerate(self.place):
            own = leaves[:, place][:, None]
            fit &= (self.lo[None, :, d] <= own) & (own <= self.hi[None, :, d])
        return fit.astype(np.float64)

    def totals(self, leaves: npt.NDArray[np.int32], sensitive: str, values: int) -> tuple[F64, F64]:
        """Return the rows that fit, and those of each sensitive value, over all groups."""
        fit, count = self.fits(leaves), self.block.count
        rows = fit @ np.bincount(self.rank, weights=count, minlength=len(self.lo))
        if not values:
            return rows, np.zeros((len(leaves), 0))
        value = self.block.codes[:, self.block.columns.index(sensitive)]
        table = np.zeros((len(self.lo), values))
        np.add.at(table, (self.rank, value), count)
        return rows, fit @ table

    def by_group(
        self, leaves: npt.NDArray[np.int32], groups: int, sensitive: str = "", value: int = 0
    ) -> F64:
        """Return the rows of each group that fit, of one sensitive value where one is named."""
        inside = np.ones(len(self.rank), dtype=np.bool_)
        if sensitive:
            inside = self.block.codes[:, self.block.columns.index(sensitive)] == value
        fit = self.fits(leaves)[:, self.rank[inside]] * self.block.count[inside]
        found = np.zeros((groups, len(leaves)))
        np.add.at(found, self.block.group[inside], fit.T)
        return found.T
