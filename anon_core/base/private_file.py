"""Files that hold a secret or private rows: their owner alone reads them, and no link leads away.

Whatever of the workbench writes such a file writes it here. It is there whole or not at all.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from anon_core.base.errors import BadInput, clipped


def write_private(place: Path, content: bytes, part: Path | None = None) -> None:
    """Write a file that only its owner may read, instead of one that is there.

    It is written next to its place and moved there: a link in its place is replaced, not followed.

    Parameters
    ----------
    part : Path, optional
        Where it waits until it is whole, in the same folder; nothing may be there.

    Raises
    ------
    OSError
    """
    _write(place, content, part, for_owner)


def write_public(place: Path, content: bytes) -> None:
    """Write a file for others as `write_private` does: whole, and through no link.

    Raises
    ------
    OSError
    """
    _write(place, content, None, None)


def _write(
    place: Path,
    content: bytes,
    part: Path | None,
    opener: Callable[[str, int], int] | None,
) -> None:
    part = part or place.with_name(f".{place.name[:200]}.{secrets.token_hex(4)}")
    with open(part, "xb", opener=opener) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            part.replace(place)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise


def new_private(place: Path, content: bytes) -> None:
    """Write a new file that only its owner may read.

    Raises
    ------
    FileExistsError
        If something is there, a link among others.
    OSError
    """
    with open(place, "xb", opener=for_owner) as file:
        file.write(content)


def refuse_link(place: Path) -> None:
    """Refuse a link where a secret is to be written: it would be written elsewhere.

    Raises
    ------
    BadInput
    """
    if place.is_symlink():
        raise BadInput(
            f"{clipped(str(place))} is a link; private content is written to nothing behind one.",
            remedy="Name the file or folder itself, or remove the link.",
        )


def for_owner(path: str, flags: int) -> int:
    """Open a file that only its owner may read, through no link; an opener of `open`."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


class FilesOnDisk(Mapping[str, bytes]):
    """Files that take no memory: they are in one without a name, which ends with this object.

    Parameters
    ----------
    files : mapping of str to bytes

    Raises
    ------
    OSError
        If there is no room on the disk.

    Examples
    --------
    >>> FilesOnDisk({"a.csv": b"age", "b.csv": b"sex"})["b.csv"]
    b'sex'
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, tuple[int, int]] = {}
        self._disk = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this object is
        for name, content in files.items():
            self._places[name] = self._disk.tell(), len(content)
            self._disk.write(content)
        self._disk.flush()

    def __getitem__(self, name: str) -> bytes:
        """Return a file's content."""
        begin, size = self._places[name]
        with self._lock:
            self._disk.seek(begin)
            return self._disk.read(size)

    def __iter__(self) -> Iterator[str]:
        """Yield the names, as they were given."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return how many files there are."""
        return len(self._places)
