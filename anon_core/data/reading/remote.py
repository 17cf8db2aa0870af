"""A table at an address of object storage: brought to this machine first, and read as any other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from ...base.errors import BadInput, clipped

#: What Arrow reads from without anything being installed. ``file`` is for trying it out.
SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "file")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")


def is_address(path: Path) -> bool:
    """Return whether a path is an address such as ``s3://bucket/table.parquet``.

    Examples
    --------
    >>> is_address(Path("s3://bucket/table.parquet")), is_address(Path("table.parquet"))
    (True, False)
    """
    return _ADDRESS.match(str(path)) is not None and not path.exists()


def brought(path: Path, folder: Path) -> Path:
    """Return where a copy of what an address holds was put on this machine.

    Parameters
    ----------
    path : Path
        The address of a file or of a folder. Who may read it is told by the environment, as the
        storage's own tools have it; what the storage's address has after ``?`` is passed on.
    folder : Path
        Where a copy goes: it is nobody else's, and goes with the run.

    Raises
    ------
    BadInput
        If it cannot be read, holds nothing, changes meanwhile, or the disk has no room for it.
    """
    from pyarrow import ArrowException, fs

    scheme = str(path).partition(":")[0].lower()
    # A path has lost all slashes but one.
    told = _ADDRESS.sub(rf"{scheme}:///" if scheme == "file" else rf"{scheme}://", str(path), 1)
    shown = clipped(_without_keys(told))
    if scheme not in SCHEMES:
        raise BadInput(
            f"{shown} is no address that is read: '{scheme}'.",
            remedy="Name a file, or an address that begins with s3://, gs://, abfs:// or hdfs://.",
        )
    try:
        storage, place = fs.FileSystem.from_uri(told)
        parts = _parts(storage, place)
        size = sum(part.size for part in parts)
        room = shutil.disk_usage(folder).free
        if size > room:
            raise BadInput(
                f"{shown} has {size / 1e9:.1f} GB, and the disk has room for {room / 1e9:.1f} GB.",
                remedy="Make room, or name a folder on a larger disk. Nothing was released.",
            )
        copy = folder / (place.rstrip("/").rpartition("/")[2] or "table")
        whole = parts[0].path == place if len(parts) == 1 else False
        for part in parts:
            target = copy if whole else copy / part.path[len(place.rstrip("/")) + 1 :]
            target.parent.mkdir(parents=True, exist_ok=True)
            with storage.open_input_stream(part.path) as stored, target.open("xb") as file:
                shutil.copyfileobj(stored, file, 1 << 22)
            if target.stat().st_size != part.size:
                raise BadInput(
                    f"{shown} was changed while it was read.",
                    remedy="Nothing was released. Run again when nobody writes to it.",
                )
    except (ArrowException, OSError) as error:
        raise BadInput(
            f"{shown} cannot be read: {_why(error)}.",
            remedy="Check the address, the network, and that the environment says who you are, as "
            "the storage's own tools have it. Nothing was released.",
        ) from None
    return copy


def _parts(storage: Any, place: str) -> list[Any]:
    """Return the files at a place, one or all of a folder.

    Raises
    ------
    BadInput
        If there are none.
    """
    from pyarrow import fs

    found = storage.get_file_info(place)
    if found.type == fs.FileType.Directory:
        every = storage.get_file_info(fs.FileSelector(place, recursive=True))
        files = sorted((one for one in every if one.is_file), key=lambda one: one.path)
    else:
        files = [found] if found.is_file else []
    if not files:
        raise BadInput(
            f"There is nothing at {clipped(place)}.", remedy="Check the address of the table."
        )
    return files


def _why(error: Exception) -> str:
    """Return what the storage says, in one line."""
    line = " ".join(str(error).split()).rstrip(".")
    return clipped(_without_keys(line)) or type(error).__name__


def _without_keys(text: str) -> str:
    """Return a text in which addresses tell no key: neither before ``@`` nor after ``?``."""
    return re.sub(r"\?\S*", "", re.sub(r"://[^/\s]*@", "://", text))
