"""Unique rows by combination of columns: how many there are, and which combinations have most.

Where one person has several rows, people are counted: a person is unique in a combination where
some row of theirs is like no other person's row in it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1
from anon_core.base.context import Context
from anon_core.base.errors import listing
from anon_core.methods.reidentification.equivalence_counts import RowsAlike
from anon_core.release.attack_result import Details

_SHOWN = 10  # combinations that are listed


@dataclass(frozen=True, kw_only=True, eq=False)
class UniqueRows:
    """Unique rows, or people, of every combination of at most so many columns.

    Attributes
    ----------
    columns : tuple of str
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
    told = [
        (found.words(c), found.rows[c], of_raw[tuple(found.columns[d] for d in c)])
        for c in found.worst
    ]
    told.append(("all quasi-identifiers", found.in_all, raw.in_all))
    if everything is not None:
        told.append(("all published columns", *everything))
    return Details(
        title=f"Combinations that single out most {found.counted}",
        rows=tuple(
            {
                "columns": words,
                found.counted: own,
                "unique": own / everyone,
                "in the raw table": other / everyone,
            }
            for words, own, other in told
        ),
        x="columns",
        y=("unique", "in the raw table"),
        drawn="bars",
        note="All published columns include sensitive and insensitive ones: an attacker who knows "
        f"these too singles out that many {found.counted}.",
    )
