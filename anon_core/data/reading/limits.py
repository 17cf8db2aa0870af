"""How large a table may be, and the refusals of larger ones."""

from __future__ import annotations

from anon_core.base.errors import BadInput

MOST_COLUMNS = 2000
#: Largest file, packed or unpacked, that is read unless the caller says otherwise: 1 GiB.
MOST_BYTES = 1 << 30
#: Largest file the command line reads: 16 GiB.
MOST_BYTES_OF_COMMANDS = 1 << 34
#: How many times its own size a packed file may unpack to, beyond what always may.
MOST_RATIO = 200
ALWAYS_UNPACKED = 1 << 28
#: Rows times columns of a Parquet file: in few bytes it can declare any number of rows.
MOST_CELLS = 1 << 30
#: Bytes from which a file is read in threads. One that lets go of Python's bytes after the last
#: line of a program ends it with a signal; little is read so shortly before.
MUCH = 1 << 22


def too_large(name: str, size: int, most_bytes: int) -> BadInput:
    """Return the refusal of a file of more bytes than are read."""
    return BadInput(
        f"{name} has {size / 2**20:,.1f} MiB; at most {most_bytes / 2**20:,.1f} MiB are read here.",
        remedy=f"Leave out columns that are not needed{_or_elsewhere(most_bytes)}.",
    )


def unpacks_too_far(name: str, packed: int, most: int, most_bytes: int) -> BadInput:
    """Return the refusal of a packed file that holds more than is read, or far too much for it."""
    what = f"{name} unpacks to more than {most / 2**20:,.1f} MiB"
    if most == most_bytes:
        return BadInput(
            f"{what}, the most that is read here.",
            remedy=f"Leave out columns that are not needed{_or_elsewhere(most_bytes)}.",
        )
    return BadInput(
        f"{what}, over {most // max(packed, 1):,} times its size, as no table does.",
        remedy="If it is a table all the same, unpack it and name the unpacked file.",
    )


def _or_elsewhere(most_bytes: int) -> str:
    if most_bytes >= MOST_BYTES_OF_COMMANDS:
        return ""
    return ", save it as Parquet, or use the command line for a table of this size"


def too_many_cells(name: str, rows: int, columns: int) -> BadInput:
    """Return the refusal of a Parquet file of more cells than are read."""
    return BadInput(
        f"{name} declares {rows:,} rows of {columns:,} columns; at most {MOST_CELLS:,} cells are "
        "read.",
        remedy="Leave out columns that are not needed for the release.",
    )


def too_wide(name: str, width: int) -> BadInput:
    """Return the refusal of a table of more columns than are read."""
    return BadInput(
        f"{name} has {width:,} columns; at most {MOST_COLUMNS:,} are read.",
        remedy="Leave out columns that are not needed for the release.",
    )
