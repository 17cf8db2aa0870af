"""Opening files for the second computation: regular ones, and no more of them than stated here.

What is verified may have been made by anybody: a pipe that nobody fills, a device without an end,
or a few KiB that unpack to more than the memory holds. Larger tables than these limits are refused.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import zlib
from pathlib import Path

from anon_core.base.errors import BadInput, clipped

#: Largest file, packed or unpacked: 16 GiB.
MOST_BYTES = 1 << 34
#: Largest recipe or hierarchy file: 256 MiB.
MOST_TEXT_BYTES = 1 << 28
_MORE = 1 << 24
#: A packed file may unpack to this many times its own size, and to 256 MiB in any case.
MOST_RATIO, ALWAYS_UNPACKED = 200, 1 << 28
#: Rows times columns of a Parquet file, which can declare any number of rows in few bytes.
MOST_CELLS = 1 << 31
#: Columns of a table.
MOST_COLUMNS = 2000


def read_bytes(path: Path, what: str, most: int = MOST_BYTES, part: int | None = None) -> bytes:
    """Return a regular file's bytes, or some of the first.

    Raises
    ------
    BadInput
        If the file is not there, cannot be read, is no regular file, or is too large.
    """
    name = clipped(path.name)
    try:
        _refuse_irregular(os.stat(path).st_mode, what, name)
        # Not waiting for anybody, should it have become a pipe since.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            _refuse_irregular(found.st_mode, what, name)
            size = found.st_size
            wanted = min(size, most) + 1 if part is None else part
            content = file.read(wanted) if size <= most else b""
            while part is None and size < len(content) <= most:  # it has grown
                more = file.read(min(_MORE, most + 1 - len(content)))
                if not more:
                    break
                content += more
    except OSError as error:
        raise BadInput(
            f"{what} cannot be read: {name} ({error.strerror}).",
            remedy="Check the path and your permissions.",
        ) from error
    except ValueError as error:  # BadInput, or a character that no path may hold
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{what} cannot be read: {name} (the path is not valid).", remedy="Check the path."
        ) from error
    size = max(size, len(content))
    if size > most:
        raise BadInput(
            f"{what} {name} has {size / 2**20:,.1f} MiB; at most {most / 2**20:,.1f} are read.",
            remedy="Leave out columns that the release does not need.",
        )
    return content


class FileBytes:
    """The bytes of a regular file, read from the disk where they are asked for."""

    def __init__(self, path: Path, what: str) -> None:
        read_bytes(path, what, MOST_BYTES, part=0)
        self.path = path
        self._mark = _mark(path)
        self._size = os.stat(path).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._size)
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(max(stop - start, 0))

    def refuse_changed(self) -> None:
        """Refuse a file that was written to since it was first looked at.

        Raises
        ------
        BadInput
        """
        if _mark(self.path) != self._mark:
            raise BadInput(
                f"The file {clipped(self.path.name)} changed while it was read.",
                remedy="Try again when no program writes to the file.",
            )


def _mark(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


#: A published file: its bytes, or where they lie.
Content = bytes | FileBytes


def _refuse_irregular(mode: int, what: str, name: str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise BadInput(
            f"{what} {name} is a pipe, a device or a socket, not a file.",
            remedy="Save it as a file and name that.",
        )


def refuse_wide(columns: int, name: str) -> None:
    """Refuse a table of more columns than are read.

    Raises
    ------
    BadInput
    """
    if columns > MOST_COLUMNS:
        raise BadInput(
            f"{name} has {columns:,} columns; at most {MOST_COLUMNS:,} are read.",
            remedy="Leave out columns that the release does not need.",
        )


def unpack(content: bytes, name: str) -> bytes:
    """Return what a gzip file holds, and other files as they are.

    Raises
    ------
    BadInput
        If the gzip file is damaged, or unpacks to more than a table could.
    """
    if not content.startswith(b"\x1f\x8b"):
        return content
    most = min(MOST_BYTES, max(ALWAYS_UNPACKED, MOST_RATIO * len(content)))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            found = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(
            f"{clipped(name)} is a damaged gzip file.", remedy="Copy or download it again."
        ) from error
    if len(found) > most:
        raise BadInput(
            f"{clipped(name)} unpacks to more than {most / 2**20:,.0f} MiB, the most that is read "
            f"of {len(content) / 2**20:,.1f} MiB.",
            remedy="If it is a table all the same, unpack it and name the unpacked file.",
        )
    return found
