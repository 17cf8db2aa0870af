"""A table at an address of object storage: brought to this machine first, and read as any other."""

from __future__ import annotations

import shutil
from pathlib import Path

from anon_core.base.errors import BadInput
from anon_core.base.private_file import for_owner
from anon_core.data.reading.stored import Stored


def brought(stored: Stored, folder: Path) -> Path:
    """Return where a copy of what an address holds was put on this machine.

    Parameters
    ----------
    stored : Stored
        What lies at the address.
    folder : Path
        Where a copy goes: it is nobody else's, and goes with the run.

    Raises
    ------
    BadInput
        If it cannot be read, or the disk has no room for it.
    InputChanged
        If it changes meanwhile.
    """
    room = shutil.disk_usage(folder).free
    if stored.size > room:
        raise BadInput(
            f"{stored.shown} has {stored.size / 1e9:.1f} GB, and the disk has room for "
            f"{room / 1e9:.1f} GB.",
            remedy="Make room, name a folder on a larger disk (TMPDIR), or read a Parquet table "
            "where it lies, with --engine duckdb. Nothing was released.",
        )
    copy = folder / stored.name
    for file in stored.files:
        target = copy / file.name if stored.is_folder else copy
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "xb", opener=for_owner) as written:
            for block in stored.blocks(file):
                written.write(block)
    return copy
