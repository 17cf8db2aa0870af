"""How large a table may be, and the refusals of larger ones."""

from __future__ import annotations

from ..errors import BadInput

MOST_COLUMNS = 2000
#: Largest file, packed or unpacked, that is read unless the caller says otherwise: 1 GiB.
MOST_BYTES = 1 << 30


def too_large(name: str, size: int, most_bytes: int) -> BadInput:
    """Return the refusal of a file of more bytes than are read."""
    return BadInput(
        f"{name} has {size / 2**20:,.1f} MiB; at most {most_bytes / 2**20:,.1f} MiB are read here.",
        remedy="Leave out columns that are not needed, save it as Parquet, or use the command "
        "line for a table of this size.",
    )


def too_wide(name: str, width: int) -> BadInput:
    """Return the refusal of a table of more columns than are read."""
    return BadInput(
        f"{name} has {width:,} columns; at most {MOST_COLUMNS:,} are read.",
        remedy="Leave out columns that are not needed for the release.",
    )
