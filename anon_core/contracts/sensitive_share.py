"""Models that no sensitive value fills more than 1/l: what they ask of each group by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import Infeasible
from anon_core.base.params import integer
from anon_core.contracts.group_stats import GroupStats, Histogram
from anon_core.contracts.model import ModelLogic
from anon_core.contracts.sensitive_values import SensitiveValues, protected_column
from anon_core.release.private_reference import Reference, ValueCounts
from anon_core.release.problem import Problem


def known_rows(problem: Problem, column: str) -> npt.NDArray[np.int64]:
    """Return the rows of every value that occurs in a column; missing does not count."""
    rows, missing = problem.leaf_counts(column), problem.hierarchies[column].missing_leaf
    return rows[(rows > 0) & (np.arange(len(rows)) != missing)]


def largest_share(rows: npt.NDArray[np.int64], removable: int) -> int:
    """Return the largest l such that no value fills more than 1/l once some rows are suppressed.

    Let f(c) be the rows left when every value keeps at most c of its rows. Rows S whose most common
    value is in c of them number at most f(c), so if at most b rows are suppressed
    n − f(c) ≤ n − |S| ≤ b. S keeps l exactly if c·l ≤ |S|, so l ≤ f(c) / c, and the f(c) rows reach
    that. f is concave with f(0) = 0, hence f(c) / c falls, and the best c is the least with
    n − f(c) ≤ b. Rows without a value count on neither side, and need not be removed.

    Parameters
    ----------
    rows : int64 array of shape (values,)
        Rows of each value that occurs.
    removable : int
        b.

    Examples
    --------
    >>> import numpy as np
    >>> [largest_share(np.array([5, 1]), b) for b in (0, 3, 4)]
    [1, 1, 2]
    """
    if not len(rows):
        return 0
    level = least_level(rows, removable)
    return int(np.minimum(rows, level).sum()) // level


def least_level(rows: npt.NDArray[np.int64], removable: int) -> int:
    """Return the least c ≥ 1 such that every value keeps at most c of its rows within a budget.

    Parameters
    ----------
    rows : int64 array of shape (values,)
        Rows of each value that occurs; at least one does.
    """
    low, high = 1, int(rows.max())  # the least c lies between
    while low < high:
        middle = (low + high) // 2
        if int(np.maximum(rows - middle, 0).sum()) <= removable:
            high = middle
        else:
            low = middle + 1
    return low


def refuse_more_than_values(problem: Problem, column: str, l: int, title: str) -> None:  # noqa: E741
    """Refuse an l above the number of values that a column has.

    Raises
    ------
    Infeasible
        Naming the column and the largest possible l.
    """
    values = len(known_rows(problem, column))
    if l <= values:
        return
    raise Infeasible(
        f"{title} with l = {l} on '{column}' is impossible: the column has only {values} distinct "
        f"{'value' if values == 1 else 'values'}; missing does not count.",
        remedy=f"Choose l of at most {values}." if values > 1 else "Protect another column.",
        best=float(values),
        best_of="distinct values",
    )


def diverse(counted: Histogram, l: int) -> npt.NDArray[np.bool_]:  # noqa: E741
    """Return which groups have a value, and none in more than 1/l of the rows that have one."""
    return np.maximum(counted.most, 1) * l <= counted.known


def refuse_ineligible(problem: Problem, column: str, l: int, removable: int = 0) -> None:  # noqa: E741
    """Refuse an l that rows cannot be grouped for, whichever `removable` of them are removed.

    Groups in which no value is too common keep that when merged, so a grouping exists exactly where
    one group of all rows left keeps it; see `largest_share`.

    Raises
    ------
    Infeasible
        Naming the column and the largest l the table is eligible for.
    """
    rows = known_rows(problem, column)
    largest = largest_share(rows, removable)
    if l <= largest:
        return
    known, common = int(rows.sum()), int(rows.max(initial=0))
    missing = problem.rows - known
    having = f" that have one ({missing} have none)" if missing else ""
    also = f", and at most {removable} may be suppressed" if removable else ""
    ways = [f"choose l of at most {largest}"] if largest > 1 else []
    if l <= len(rows):
        ways.append("choose a technique that removes rows and allow it more suppression")
    remedy = " or ".join(ways or ["protect another column"])
    raise Infeasible(
        f"The table is not eligible for l = {l} on '{column}': its most common value occurs in "
        f"{common} of {known} rows{having}{also}.",
        remedy=f"{remedy[0].upper()}{remedy[1:]}.",
        best=float(largest),
        best_of="largest l",
    )


@dataclass(frozen=True, kw_only=True)
class MostShare(SensitiveValues):
    """The part that frequency l-diversity and l-diversity for slicing have in common."""

    # Merged with a group in which a value is too common, one that keeps it may break it.
    logic: ClassVar[ModelLogic] = ModelLogic(monotone_merge=False, closed_under_union=True)

    l: int = integer(default=4, low=2, help="No value may fill more.", label="l")  # noqa: E741
    column: str = protected_column()

    def holds(self, counted: Histogram, table: ValueCounts) -> npt.NDArray[np.bool_]:
        """Return which groups have no value in more than 1/l of the rows that have one."""
        return diverse(counted, self.l)

    def possible(self, counted: Histogram, table: ValueCounts) -> npt.NDArray[np.bool_]:
        """Return which groups have l values: one row of each is a group that keeps it.

        Counted in persons they are needed as well: anyone who has a value has one of them.
        """
        return counted.distinct >= self.l

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how many rows the commonest value fills in the worst group, of one column."""
        counted = next(iter(stats.histograms.values()))
        worst = int(np.argmax(counted.most / np.maximum(counted.known, 1)))
        return (
            f"The commonest value fills {int(counted.most[worst])} of {int(counted.known[worst])} "
            f"rows; at most 1 in {self.l} is allowed."
        )

    def least_size(self) -> int:
        """Return l: in a smaller group that keeps it by itself a value fills more than 1/l."""
        return self.l

    def most_share(self, problem: Problem) -> Mapping[str, int]:
        """Return l for every column concerned; none where other sensitive values are known."""
        if self.needs_combined(problem):
            return {}
        return dict.fromkeys(self.protects(problem), self.l)
