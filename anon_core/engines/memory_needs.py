"""What a run takes at its largest, reported before any search and held against its setting.

Measured on whole runs of 10 and 30 million rows, with up to 10 million tuples of 4 to 9 columns:
the most is taken where classes are priced and attacked, or where they are verified.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from anon_core.base.errors import BadInput
from anon_core.engines.counted_table import CountedTable

#: Bytes for each number of a distinct tuple: the tuple, its class and what both are verified with.
BYTES_A_CODE = 110
#: Bytes for each number of a tuple of a piece that is cut by itself.
BYTES_A_CODE_CUT = 40
#: Bytes for each published cell of a row that differs from others: what rows are verified with.
BYTES_A_CELL = 20
#: Bytes that libraries, and what is read or written at a time, take of a run of any size.
BYTES_OF_ANY = 10**9
_COARSER = (
    "; or let a search raise levels, such as the optimal one with transformation = 'AG_TS', which "
    "counts coarser levels where tuples do not fit; or cut strictly at medians with Mondrian, for "
    "models that count rows and distinct or most frequent values"
)
#: Bytes for each row next to its codes: its line, and a number that is sorted.
_BYTES_A_ROW = 12


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a run takes of a table at its largest.

    Attributes
    ----------
    rows, columns, published : int
        Rows; columns whose distinct tuples are looked at; columns that are published.
    lines : int
        At most so many rows differ in what is published of them.
    of_rows : int
        Bytes that rows take until they are verified: a code of each published column, twice.
    memory : int
        Bytes that the run may take.
    """

    rows: int
    columns: int
    published: int
    lines: int
    of_rows: int
    memory: int

    def bytes(self, tuples: int) -> int:
        """Return what a run takes that looks at so many distinct tuples."""
        return BYTES_OF_ANY + self.of_rows + self.of_lines + self.of_tuples(tuples)

    @property
    def of_lines(self) -> int:
        """Bytes that the second computation takes for rows that differ."""
        return self.lines * self.published * BYTES_A_CELL

    def of_tuples(self, tuples: int) -> int:
        """Return what the tuples take of it."""
        return tuples * self.columns * BYTES_A_CODE

    def fits(self, tuples: int) -> bool:
        """Return whether memory has room for so many distinct tuples."""
        return self.bytes(tuples) <= self.memory

    def room_to_cut(self) -> int:
        """Return how many distinct tuples are cut at a time."""
        free = max(self.memory - BYTES_OF_ANY - self.of_rows - self.of_lines, BYTES_OF_ANY // 4)
        return free // (2 * self.columns * BYTES_A_CODE_CUT)

    def refuse(self, tuples: int, where: str = "") -> None:
        """Refuse a table that a run within the memory setting has no room for.

        Parameters
        ----------
        where : str
            The levels they were counted at, as the end of a sentence; empty for values as they are.

        Raises
        ------
        BadInput
        """
        if self.fits(tuples):
            return
        needed = self.bytes(tuples)
        give = f"Give it more, with --memory {-(-needed // 10**8) / 10:g}GB"
        if self.of_lines >= max(self.of_tuples(tuples), self.of_rows):
            raise BadInput(
                f"The table has {self.lines:,} different rows of {self.published} published "
                f"columns. The second computation may need {needed / 1e9:.1f} GB for them, and may "
                f"take {self.memory / 1e9:.1f} GB.",
                remedy=f"{give}, or publish fewer columns: one that differs from row to row, such "
                "as an exact amount, costs most.",
            )
        if self.of_tuples(tuples) >= self.of_rows:
            raise BadInput(
                f"The table has {tuples:,} different combinations of the {self.columns} columns "
                f"that are looked at{where}. A run may need {needed / 1e9:.1f} GB for them, and "
                f"may take {self.memory / 1e9:.1f} GB.",
                remedy=f"{give}, or fewer or coarser quasi-identifiers: ages in whole years, "
                f"incomes in thousands{'' if where else _COARSER}.",
            )
        raise BadInput(
            f"The table has {self.rows:,} rows of {self.published} published columns. A run may "
            f"need {needed / 1e9:.1f} GB until they are verified, and may take "
            f"{self.memory / 1e9:.1f} GB.",
            remedy=f"{give}, or publish fewer columns.",
        )


def needs(table: CountedTable, names: tuple[str, ...], published: tuple[str, ...]) -> Needs:
    """Return what a run takes of a table that was read.

    Parameters
    ----------
    names : tuple of str
        Quasi-identifiers and sensitive columns, whose distinct tuples are looked at.
    published : tuple of str
        All columns that are published.
    """
    codes = sum(_width(len(table.coded[name].tally)) for name in published)
    rows = table.dataset.rows
    found = Needs(
        rows=rows,
        columns=len(names),
        published=len(published),
        lines=rows,
        of_rows=rows * (2 * codes + _BYTES_A_ROW),
        memory=table.memory,
    )
    # Which rows differ is counted only where it matters: it takes as long as reading the table.
    return found if found.fits(0) else replace(found, lines=table.how_many(published))


def _width(texts: int) -> int:
    """Return the bytes of a code of a column's texts."""
    return 1 if texts < 1 << 7 else 2 if texts < 1 << 15 else 4
