"""A private table at an address of object storage, read where it lies.

The run has code of its own for this. Both are told the address, and nothing but Arrow is the same.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anon_core.base.errors import BadInput, clipped
from anon_core.verification.files.bounded_reading import MOST_BYTES

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
        with failing(self.name):
            if _mark(self.storage, self.place) != self.mark:
                raise self.changed()
            with self.storage.open_input_file(self.place) as file:
                yield file

    def refuse_changed(self) -> None:
        """Refuse an object that was written to since it was first looked at.

        Raises
        ------
        BadInput
        """
        with failing(self.name):
            if _mark(self.storage, self.place) != self.mark:
                raise self.changed()

    def content(self) -> bytes:
        """Return all of its bytes.

        Raises
        ------
        BadInput
            If it is larger than files that are read, or cannot be read.
        """
        if self.size > MOST_BYTES:
            raise BadInput(
                f"{clipped(self.name)} has {self.size / 2**20:,.1f} MiB; at most "
                f"{MOST_BYTES / 2**20:,.1f} are read.",
                remedy="Leave out columns that the release does not need.",
            )
        with self.opened() as file:
            found = bytes(file.read())
        if len(found) != self.size:
            raise self.changed()
        self.refuse_changed()
        return found

    def changed(self) -> BadInput:
        """Return the error of an object that was written to meanwhile."""
        return BadInput(
            f"The file {clipped(self.name)} changed while it was read.",
            remedy="Try again when no program writes to the file.",
        )


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
            marks = list(pool.map(partial(_mark, storage), [names[name] for name in kept]))
    return folder, [
        StoredObject(
            name=name, place=names[name], size=int(str(mark[0])), storage=storage, mark=mark
        )
        for name, mark in zip(kept, marks, strict=True)
    ]


def _mark(storage: Any, place: str) -> tuple[object, ...]:
    """Return an object's size, when it was written, and the tag that the storage gave it."""
    info = storage.get_file_info(place)
    with storage.open_input_file(place) as file:
        own = file.metadata() if hasattr(file, "metadata") else None
        tags = [str(v) for k, v in (own or {}).items() if str(k).lower() == "etag"]
        return file.size(), info.mtime_ns, *tags


@contextmanager
def failing(name: str) -> Generator[None]:
    """Tell in one sentence what storage failed with; its own words may hold keys, and are not told.

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
