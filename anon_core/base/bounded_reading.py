"""Reading a file that someone named: a regular file only, and never more of it than allowed.

A path may lead to a device without an end, a pipe that no one fills, a link to itself, or hold a
character that no path may hold. All of these are reported as an `OSError` with its reason in words.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

#: Largest recipe or hierarchy file that is read: 256 MiB.
MOST_TEXT_BYTES = 1 << 28
_MORE = 1 << 24
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class TooManyBytes(OSError):
    """A file of more bytes than are read; `size` is how many it has at least."""

    def __init__(self, size: int, most: int) -> None:
        words = f"it has {size / 2**20:,.1f} MiB, at most {most / 2**20:,.1f} MiB are read"
        super().__init__(errno.EFBIG, words)
        self.size = size


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a regular file.

    Raises
    ------
    OSError
        If there is none, or it cannot be read; `TooManyBytes` where it is larger than allowed.
    """
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise TooManyBytes(size, most_bytes)
        content = file.read(size + 1)  # room for more than that is asked for where there is more
        while size < len(content) <= most_bytes:  # it has grown, or does not tell its size
            more = file.read(min(_MORE, most_bytes + 1 - len(content)))
            if not more:
                break
            content += more
    if len(content) > most_bytes:
        raise TooManyBytes(len(content), most_bytes)
    return content


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a regular file, fewer where it has no more.

    Raises
    ------
    OSError
        If there is none, or it cannot be read.
    """
    with _opened(path) as file:
        return file.read(count)


@contextmanager
def _opened(path: Path) -> Generator[BinaryIO]:
    try:
        _refuse_odd(os.stat(path))
        # Not waiting for anybody, should the file have become a pipe since.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except ValueError as error:
        raise OSError(errno.EINVAL, "the path is not valid") from error
    with os.fdopen(handle, "rb") as file:
        _refuse_odd(os.fstat(handle))
        yield file


def _refuse_odd(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        what = next((words for test, words in _KINDS if test(found.st_mode)), "something else")
        raise OSError(errno.EINVAL, f"it is {what}, not a file")
