"""Two folders that change places in one step, where the system can do that."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

_HERE, _SWAP = -100, 2  # AT_FDCWD; RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def exchanged(one: Path, other: Path) -> bool:
    """Let two paths of one file system name each other's folder, in one step or not at all.

    Parameters
    ----------
    one, other : Path
        Both are there.

    Returns
    -------
    bool
        False, and nothing is changed, where the system or the file system knows no such step or
        refuses it, as it does of a folder that is mounted.
    """
    if sys.platform not in ("linux", "darwin"):
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "linux":
            return int(library.renameat2(_HERE, first, _HERE, second, _SWAP)) == 0
        return int(library.renamex_np(first, second, _SWAP)) == 0
    except AttributeError:  # an older system library
        return False


def made_like(new: Path, place: Path) -> bool:
    """Let a folder be for whom another one is; False where that one must keep its place.

    Whoever stands in a folder would see it go, and who may read one that belongs to others, or has
    rules of its own, need not be whom we can let read another.

    Parameters
    ----------
    new, place : Path
        The folder that was made, and the one whose place it would take.

    Returns
    -------
    bool
    """
    there, made = place.stat(), new.stat()
    try:
        inside = Path.cwd().is_relative_to(place)
    except OSError:  # it is gone
        inside = False
    if inside or (there.st_uid, there.st_gid) != (made.st_uid, made.st_gid):
        return False
    new.chmod(stat.S_IMODE(there.st_mode))
    return _rules(new) == _rules(place)


def _rules(folder: Path) -> dict[str, bytes]:
    """Return what a file system notes of a folder beside its mode, such as who else may read."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(folder, name) for name in os.listxattr(folder)}
    except OSError:  # it notes nothing
        return {}
