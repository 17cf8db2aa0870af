"""Opening what is read: regular files within limits, and objects of a storage where they lie.

What is verified may have been made by anybody: a pipe that nobody fills, a device without an end,
or a few KiB that unpack to more than the memory holds. Larger tables than these limits are refused.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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
        words = f"{what} cannot be read: {name} ({error.strerror})."
        raise BadInput(words, remedy="Check the path and your permissions.") from error
    except ValueError as error:  # BadInput, or a character that no path may hold
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{what} cannot be read: {name} (the path is not valid).", remedy="Check the path."
        ) from error
    _refuse_large(f"{what} {name}", max(size, len(content)), most)
    return content


class _Watched(io.FileIO):
    """A file that asks before each read whether it goes on."""

    def __init__(self, path: Path, go_on: Callable[[], object]) -> None:
        super().__init__(path)
        self._go_on = go_on

    def readinto(self, buffer: Any, /) -> int:
        self._go_on()
        return super().readinto(buffer)


class FileBytes:
    """The bytes of a regular file, read from the disk where they are asked for.

    `go_on` is asked before each read, and may raise to end it.
    """

    def __init__(self, path: Path, what: str, go_on: Callable[[], object] = bool) -> None:
        read_bytes(path, what, MOST_BYTES, part=0)
        self.path, self._go_on = path, go_on
        self._mark = _mark(path)
        self._size = os.stat(path).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._size)
        with self.opened() as file:
            file.seek(start)
            return file.read(max(stop - start, 0))

    def opened(self) -> io.BufferedReader:
        """Open it for who closes it."""
        return io.BufferedReader(_Watched(self.path, self._go_on))

    def refuse_changed(self) -> None:
        """Refuse a file that was written to since it was first looked at.

        Raises
        ------
        BadInput
        """
        if _mark(self.path) != self._mark:
            raise _changed(self.path.name)


def _changed(name: str) -> BadInput:
    """Return the error of a file that was written to meanwhile."""
    what = f"The file {clipped(name)} changed while it was read."
    return BadInput(what, remedy="Try again when no program writes to the file.")


def _refuse_large(what: str, size: int, most: int) -> None:
    """Refuse a file of more bytes than are read."""
    if size > most:
        words = f"{what} has {size / 2**20:,.1f} MiB; at most {most / 2**20:,.1f} are read."
        raise BadInput(words, remedy="Leave out columns that the release does not need.")


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
        words = f"{what} {name} is a pipe, a device or a socket, not a file."
        raise BadInput(words, remedy="Save it as a file and name that.")


def refuse_wide(columns: int, name: str) -> None:
    """Refuse a table of more columns than are read.

    Raises
    ------
    BadInput
    """
    if columns > MOST_COLUMNS:
        what = f"{name} has {columns:,} columns; at most {MOST_COLUMNS:,} are read."
        raise BadInput(what, remedy="Leave out columns that the release does not need.")


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


# A private table at an address of object storage, read where it lies.
#
# The run has code of its own for this. Both are given the address, and nothing but Arrow is the
# same.


_SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "file")
#: A scheme, then slashes; one that went through a path has a single slash left.
_ADDRESS = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/+(.*)$", re.DOTALL)
_REQUESTS = 8


@dataclass(frozen=True)
class StoredObject:
    """One object: its name, and how it was when the table was first looked at.

    Attributes
    ----------
    name : str
        Within the folder, or its last part.
    place : str
        What the storage calls it.
    mark : tuple
        Changes when it is written to.
    """

    name: str
    place: str
    size: int
    storage: Any
    mark: tuple[object, ...]

    @contextmanager
    def opened(self) -> Generator[Any]:
        """Open it, and refuse what goes wrong with it until it is closed, in one sentence.

        Raises
        ------
        BadInput
            If it cannot be read, or is another one than was first looked at.
        """
        self.refuse_changed()
        with failing(self.name), self.storage.open_input_file(self.place) as file:
            yield file

    def refuse_changed(self) -> None:
        """Refuse an object that was written to since it was first looked at.

        Raises
        ------
        BadInput
        """
        with failing(self.name):
            if _mark_of(self.storage, self.place) != self.mark:
                raise _changed(self.name)

    def content(self) -> bytes:
        """Return all of its bytes.

        Raises
        ------
        BadInput
            If it is larger than files that are read, or cannot be read.
        """
        _refuse_large(clipped(self.name), self.size, MOST_BYTES)
        with self.opened() as file:
            found = bytes(file.read())
        if len(found) != self.size:
            raise _changed(self.name)
        self.refuse_changed()
        return found


def is_address(path: Path) -> bool:
    """Return whether a path names something in object storage, and nothing on this machine."""
    return _ADDRESS.match(str(path)) is not None and not path.exists()


def objects_at(address: Path) -> tuple[bool, list[StoredObject]]:
    """Return whether an address is a folder, and its objects in the order of their names.

    Objects are passed over whose names, or those of their folders, start with a dot or an
    underscore.

    Raises
    ------
    BadInput
        If there is nothing, or it cannot be read.
    """
    from pyarrow import fs

    found = _ADDRESS.match(str(address))
    scheme, rest = (found[1].lower(), found[2]) if found else ("", "")
    last = rest.partition("?")[0].rstrip("/").rpartition("/")[2]
    if scheme not in _SCHEMES:
        raise BadInput(
            f"{clipped(last)} lies in no storage that is read: '{clipped(scheme)}'.",
            remedy="Name a file, or an address that begins with s3://, gs://, abfs:// or hdfs://.",
        )
    with failing(last):
        storage, place = fs.FileSystem.from_uri(f"{scheme}://{'/' * (scheme == 'file')}{rest}")
        info = storage.get_file_info(place)
        folder = info.type == fs.FileType.Directory
        places = [place] if info.is_file else []
        if folder:
            under = storage.get_file_info(fs.FileSelector(place, recursive=True))
            places = [one.path for one in under if one.is_file]
        cut = len(place.rstrip("/")) + 1
        names = {one[cut:] if folder else last: one for one in places}
        kept = sorted(n for n in names if not folder or re.search(r"(^|/)[._]", n) is None)
        if not kept:
            raise BadInput(f"There is nothing at {clipped(last)}.", remedy="Check the address.")
        with ThreadPoolExecutor(_REQUESTS) as pool:
            marks = list(pool.map(partial(_mark_of, storage), [names[name] for name in kept]))
    return folder, [
        StoredObject(
            name=name, place=names[name], size=int(str(mark[0])), storage=storage, mark=mark
        )
        for name, mark in zip(kept, marks, strict=True)
    ]


def _mark_of(storage: Any, place: str) -> tuple[object, ...]:
    """Return an object's size, when it was written, and the tag that the storage gave it."""
    info = storage.get_file_info(place)
    with storage.open_input_file(place) as file:
        own = file.metadata() if hasattr(file, "metadata") else None
        tags = [str(v) for k, v in (own or {}).items() if str(k).lower() == "etag"]
        return file.size(), info.mtime_ns, *tags


@contextmanager
def failing(name: str) -> Generator[None]:
    """Tell in one sentence what storage failed with; its own words may hold keys: hide them.

    Raises
    ------
    BadInput
    """
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        raise BadInput(
            f"{clipped(name)} cannot be read from the object storage ({type(error).__name__}): it "
            "is not reached, broke off, may not be read by you, or is broken.",
            remedy="Check the network, the address, your rights there, and that the object was "
            "stored whole.",
        ) from None
