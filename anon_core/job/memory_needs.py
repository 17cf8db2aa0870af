"""What a run takes at its largest, told before anything is searched and held against its setting.

Measured on whole runs of 10 and 30 million rows, with up to 10 million tuples of 4 to 9 columns:
the most is taken where classes are priced and attacked, or where they are verified.
"""

from __future__ import annotations

from ..base.errors import BadInput
from .counted_table import CountedTable

#: Bytes for each number of a distinct tuple: the tuple, its class and what both are verified with.
BYTES_A_CODE = 110
#: Bytes that libraries, and what is read or written at a time, take of a run of any size.
BYTES_OF_ANY = 10**9
#: Bytes for each row beside its codes: its line, and a number that is sorted.
_BYTES_A_ROW = 12


def refuse_too_large(
    table: CountedTable, names: tuple[str, ...], published: tuple[str, ...]
) -> None:
    """Refuse a table that a run within the memory setting has no room for.

    Parameters
    ----------
    table : CountedTable
        It was read.
    names : tuple of str
        Quasi-identifiers and sensitive columns, whose distinct tuples are looked at.
    published : tuple of str
        All columns; verification holds a code of each for every row, twice.

    Raises
    ------
    BadInput
    """
    tuples, rows = table.how_many(names), table.dataset.rows
    codes = sum(_width(len(table.coded[name].tally)) for name in published)
    of_tuples = tuples * len(names) * BYTES_A_CODE
    of_rows = rows * (2 * codes + _BYTES_A_ROW)
    needed = BYTES_OF_ANY + of_tuples + of_rows
    if needed <= table.memory:
        return
    give = f"Give it more, with --memory {-(-needed // 10**8) / 10:g}GB"
    if of_tuples >= of_rows:
        raise BadInput(
            f"The table has {tuples:,} different combinations of the {len(names)} columns that "
            f"are looked at. A run may need {needed / 1e9:.1f} GB for them, and may take "
            f"{table.memory / 1e9:.1f} GB.",
            remedy=f"{give}, or fewer or coarser quasi-identifiers: ages in whole years, incomes "
            "in thousands.",
        )
    raise BadInput(
        f"The table has {rows:,} rows of {len(published)} published columns. A run may need "
        f"{needed / 1e9:.1f} GB until they are verified, and may take {table.memory / 1e9:.1f} GB.",
        remedy=f"{give}, or publish fewer columns.",
    )


def _width(texts: int) -> int:
    """Return the bytes of a code of a column's texts."""
    return 1 if texts < 1 << 7 else 2 if texts < 1 << 15 else 4
