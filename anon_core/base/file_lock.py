"""A lock between processes that a killed one gives back: the operating system's own, on a file."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_PAUSE = 0.01  # seconds between two tries


@contextmanager
def alone(path: Path, *, wait: bool) -> Generator[bool, None, None]:
    """Hold a lock on a file, which is made where it is not there, while the block runs.

    Parameters
    ----------
    path : Path
        It stays behind, empty.
    wait : bool
        Wait for anyone who holds it, else go on at once.

    Yields
    ------
    bool
        Whether no other process holds it. Also where the file system knows no locks.

    Raises
    ------
    OSError
        If the file can't be made, or was removed while it was waited for.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        held = _taken(handle)
        while wait and not held:
            time.sleep(_PAUSE)
            held = _taken(handle)
        if held and not os.path.samestat(os.fstat(handle), path.stat()):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        yield held
    finally:
        os.close(handle)  # gives the lock back


@contextmanager
def in_turn(folder: Path) -> Generator[None]:
    """Let processes that ask for one folder run the block one after the other.

    Nothing is written. Where a folder cannot be opened or locked, as on Windows, no one waits.
    """
    handle = -1
    try:
        while True:
            try:
                handle = os.open(folder, os.O_RDONLY)
            except OSError:
                break
            while not _taken(handle):
                time.sleep(_PAUSE)
            try:
                if os.path.samestat(os.fstat(handle), folder.stat()):
                    break
            except OSError:
                break
            os.close(handle)  # another has come into its place meanwhile
            handle = -1
        yield
    finally:
        if handle >= 0:
            os.close(handle)  # gives the lock back


def _taken(handle: int) -> bool:
    """Try to take the lock on an open file; whether no one else holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _BUSY  # else there are no locks on this file system
    return True
