"""Rows that sets of columns single out: k-anonymity of several sets at once, and uniqueness."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.data.frequency import dense_rank
from anon_core.methods.reidentification.equivalence_counts import RowsAlike
from anon_core.release.attack_result import Details

#: Sets of columns that one privacy model may be about.
MOST_SETS = 2000
Codes = npt.NDArray[np.int64]


def named_sets(
    quasi: Sequence[str], columns: Sequence[str], subsets: int, owner: str
) -> tuple[tuple[str, ...], ...]:
    """Return the sets of columns a privacy model is about.

    Parameters
    ----------
    quasi : sequence of str
        All quasi-identifiers.
    columns : sequence of str
        Those the privacy model is about; none represents all of them.
    subsets : int
        How many columns each set has; 0 is one set of them all.
    owner : str
        For messages.

    Raises
    ------
    BadPlan
        If a column is not a quasi-identifier, sets have more columns than exist, or there are too
        many of them.

    Examples
    --------
    >>> named_sets(("age", "sex", "zip"), (), 2, "k")
    (('age', 'sex'), ('age', 'zip'), ('sex', 'zip'))
    >>> named_sets(("age", "sex", "zip"), ("zip", "age"), 0, "k")
    (('age', 'zip'),)
    """
    for name in columns:
        if name not in quasi:
            raise BadPlan(
                f"{owner} names '{name}', which is not a quasi-identifier; they are "
                f"{listing(quasi)}.",
                remedy=f"Remove it, or mark it as a quasi-identifier.{nearest(name, quasi)}",
            )
    chosen = tuple(name for name in quasi if not columns or name in columns)
    if subsets > len(chosen):
        raise BadPlan(
            f"{owner} asks for sets of {subsets} columns, and there are {len(chosen)}.",
            remedy=f"Set subsets to at most {len(chosen)}, or 0 for one set of them all.",
        )
    if subsets and math.comb(len(chosen), subsets) > MOST_SETS:
        raise BadPlan(
            f"{owner} asks for {math.comb(len(chosen), subsets):,} sets of columns; at most "
            f"{MOST_SETS:,} are looked at.",
            remedy="Name fewer columns, or choose smaller or larger sets.",
        )
    return tuple(itertools.combinations(chosen, subsets)) if subsets else (chosen,)


def combination_of(
    cells: Mapping[str, Codes], sets: Sequence[Sequence[str]]
) -> list[npt.NDArray[np.int64]]:
    """Return, for every set, which combination each class shows, (classes,) each."""
    found: list[npt.NDArray[np.int64]] = []
    for names in sets:
        columns = [cells[name].astype(np.int32) for name in names]
        found.append(dense_rank(columns, [int(c.max(initial=0)) + 1 for c in columns])[0])
    return found


def fewest(
    sizes: Codes, combinations: Sequence[Codes], keep: npt.NDArray[np.bool_]
) -> tuple[Codes, int]:
    """Return each class's rarest combination in rows, shape (classes,), and the set of the rarest.

    Only rows of kept classes count.
    """
    least = np.full(len(sizes), np.iinfo(np.int64).max)
    worst, place = np.iinfo(np.int64).max, 0
    kept = np.where(keep, sizes, 0)
    for number, own in enumerate(combinations):
        rows = np.bincount(own, weights=kept).astype(np.int64)[own]
        least = np.minimum(least, rows)
        rarest = int(rows[keep].min(initial=worst))
        if rarest < worst:
            worst, place = rarest, number
    return least, place


def largest_valid(
    sizes: Codes, combinations: Sequence[Codes], k: int, keep: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return the classes left once combinations of fewer than k rows are suppressed until none is.

    That is the one largest valid choice: a class removed in a round shows a combination of fewer
    than k rows among all that were left, and so in any choice among these; it is in no valid one.
    Hence every valid choice survives every round. What is removed for one set of columns may break
    another (rows (0,0), (0,1), (1,0), (1,1) with k = 2 for each column: without the rows of the
    first 0, each value of the second is once), so rounds go on until nothing changes.
    """
    while True:
        least, _ = fewest(sizes, combinations, keep)
        left = keep & (least >= k)
        if np.array_equal(left, keep):
            return keep
        keep = left


_SHOWN = 10  # combinations that are listed


@dataclass(frozen=True, kw_only=True, eq=False)
class UniqueRows:
    """Unique rows, or people, of every combination of at most so many columns.

    Attributes
    ----------
    rows : mapping of tuple of int to int
        Combination, as places of columns → rows that are unique in it.
    of_size : tuple of int
        Rows that are unique in some combination of at most 1, 2, … columns.
    in_all : int
        Rows that are unique in all of the columns together.
    unique : bool array of shape (lines,)
        Lines that are unique in some combination.
    counted : str
        What is counted: rows, or people where one has several.
    """

    columns: tuple[str, ...]
    rows: dict[tuple[int, ...], int]
    of_size: tuple[int, ...]
    in_all: int
    unique: B1
    counted: str = "rows"

    @property
    def ever(self) -> int:
        """Rows, or people, that are unique in some combination."""
        return self.of_size[-1]

    @property
    def worst(self) -> list[tuple[int, ...]]:
        """The combinations that single out most rows, fewer columns first where that is equal."""
        return sorted(self.rows, key=lambda c: (-self.rows[c], len(c), c))[:_SHOWN]

    def words(self, chosen: tuple[int, ...]) -> str:
        """Return a combination in words."""
        return " + ".join(self.columns[d] for d in chosen)

    @property
    def worst_words(self) -> str:
        """The combination that singles out most rows."""
        return listing([self.columns[d] for d in self.worst[0]])


def unique_rows(lines: RowsAlike, size: int, context: Context, begins: float) -> UniqueRows:
    """Count the unique rows of every combination of at most `size` columns.

    Parameters
    ----------
    context : Context
        Asked between any two combinations whether to go on; progress is reported from `begins` on.

    Notes
    -----
    A line of two rows or more, or of two people, is unique in no combination. Where every line is
    such a one, as where k-anonymity holds, nothing is left to look at.
    """
    columns = range(len(lines.columns))
    size = min(size, len(lines.columns))
    sets = [c for of in range(1, size + 1) for c in itertools.combinations(columns, of)]
    single = bool((lines.own == 1).any())
    ever = np.zeros(len(lines.count), dtype=np.bool_)
    rows: dict[tuple[int, ...], int] = {}
    of_size: list[int] = []
    for number, chosen in enumerate(sets):
        context.report(begins + 0.4 * number / len(sets), "Trying combinations of columns")
        rows[chosen] = 0
        if single:
            here = lines.alike(chosen, context) == 1
            rows[chosen] = lines.singled_out(here)
            ever |= here
        if number + 1 == len(sets) or len(sets[number + 1]) > len(chosen):
            of_size.append(lines.singled_out(ever))
    every = tuple(columns)
    in_all = rows.get(every)
    if in_all is None:
        in_all = lines.singled_out(lines.alike(every, context) == 1) if single else 0
    return UniqueRows(
        columns=lines.columns,
        rows=rows,
        of_size=tuple(of_size),
        in_all=in_all,
        unique=ever,
        counted=lines.counted,
    )


def by_size(found: UniqueRows, raw: UniqueRows, everyone: int) -> Details:
    """Return the share of unique rows by the number of columns that are known at most."""
    return Details(
        title=f"Unique {found.counted} by the number of columns known",
        rows=tuple(
            {
                "columns known": number,
                found.counted: own,
                "unique": own / everyone,
                "in the raw table": other / everyone,
            }
            for number, (own, other) in enumerate(
                zip(found.of_size, raw.of_size, strict=True), start=1
            )
        ),
        x="columns known",
        y=("unique", "in the raw table"),
        note=f"{found.counted.capitalize()} that are unique in at least one combination of at most "
        "so many quasi-identifiers.",
    )


def bars(
    found: UniqueRows, raw: UniqueRows, everyone: int, everything: tuple[int, int] | None
) -> Details:
    """Return the combinations that single out most rows, and what all columns together do.

    Parameters
    ----------
    found, raw : UniqueRows
        Of the release, and of the table as it is.
    everyone : int
        Rows of the table, or its people.
    everything : tuple of int, or None
        Rows that are unique over all published columns, in the release and in the table.
    """
    of_raw = {tuple(raw.columns[d] for d in c): n for c, n in raw.rows.items()}
    worst = [
        (found.words(c), found.rows[c], of_raw[tuple(found.columns[d] for d in c)])
        for c in found.worst
    ]
    worst.append(("all quasi-identifiers", found.in_all, raw.in_all))
    if everything is not None:
        worst.append(("all published columns", *everything))
    return Details(
        title=f"Combinations that single out most {found.counted}",
        rows=tuple(
            {
                "columns": words,
                found.counted: own,
                "unique": own / everyone,
                "in the raw table": other / everyone,
            }
            for words, own, other in worst
        ),
        x="columns",
        y=("unique", "in the raw table"),
        drawn="bars",
        note="All published columns include sensitive and insensitive ones: an attacker who knows "
        f"these too singles out that many {found.counted}.",
    )
