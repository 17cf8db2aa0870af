"""A table at an address of object storage: which objects it has, and what changes with them."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from anon_core.base.concurrency import ordered_map
from anon_core.base.errors import BadInput, InputChanged, clipped
from anon_core.base.private_file import for_owner


def brought(stored: Stored, folder: Path) -> Path:
    """Return where a copy of what an address holds was put on this machine.

    Parameters
    ----------
    stored : Stored
        What lies at the address.
    folder : Path
        Where a copy goes: it is no one else's, and goes with the run.

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


#: What Arrow reads from without anything being installed. ``file`` is for trying it out.
SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "file")
#: Requests that are under way at once: each waits for the network, and takes no processor.
AT_ONCE = 8
_BLOCK = 1 << 23
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")
_NOTHING_RELEASED = "Nothing was released."


def is_address(path: Path) -> bool:
    """Return whether a path is an address such as ``s3://bucket/table.parquet``.

    Examples
    --------
    >>> is_address(Path("s3://bucket/table.parquet")), is_address(Path("table.parquet"))
    (True, False)
    """
    return _ADDRESS.match(str(path)) is not None and not path.exists()


def name_of(path: Path) -> str:
    """Return what a table is called in messages: of an address the last part, without keys.

    Examples
    --------
    >>> name_of(Path("folder/t.csv")), name_of(Path("s3://bucket/t.parquet?region=eu"))
    ('t.csv', 't.parquet')
    """
    return path.name.partition("?")[0] if is_address(path) else path.name


def on_this_machine(path: Path) -> Path:
    """Return where an address of this machine lies; other paths and addresses as they are.

    Examples
    --------
    >>> str(on_this_machine(Path("file:///home/t.parquet"))), on_this_machine(Path("t.csv")).name
    ('/home/t.parquet', 't.csv')
    """
    if not is_address(path) or str(path).partition(":")[0].lower() != "file":
        return path
    return Path(unquote(urlsplit(str(path)).path))


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """One object.

    Attributes
    ----------
    name : str
        Its path within the folder that the address names; of a single object its last part.
    place : str
        What the storage calls it.
    mark : str
        Changes when it is written to: when that was, and the storage's tag of its content.
    """

    name: str
    place: str
    size: int
    mark: str


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The objects of a table, as they were when it was looked at.

    Attributes
    ----------
    shown : str
        The address without keys.
    name : str
        Its last part.
    files : tuple of StoredFile
        In the order of their names.
    """

    shown: str
    name: str
    is_folder: bool
    files: tuple[StoredFile, ...]
    storage: Any

    @property
    def size(self) -> int:
        """Bytes of all objects."""
        return sum(file.size for file in self.files)

    @property
    def is_parquet(self) -> bool:
        """Whether the first object begins as Parquet does."""
        with storage_errors(self.shown), self.storage.open_input_file(self.files[0].place) as first:
            return first.read_at(4, 0) == b"PAR1"

    def opened(self, file: StoredFile) -> Any:
        """Open an object of the table, which must be the one that was looked at.

        Raises
        ------
        BadInput
            If it cannot be opened.
        InputChanged
            If it is another one by now.
        """
        with storage_errors(self.shown):
            found = self.storage.open_input_file(file.place)
            if (found.size(), _tag(found)) != (file.size, file.mark.rpartition(" ")[2]):
                raise changed(self.name)
        return found

    def part(self, opened: Any, begin: int, count: int) -> bytes:
        """Return some bytes of an object that was opened.

        Raises
        ------
        BadInput
            If they cannot be read, or fewer come.
        """
        with storage_errors(self.shown):
            found = opened.read_at(count, begin)
        if len(found) != count:
            raise BadInput(
                f"{self.shown} ends early: {len(found):,} of {count:,} bytes came.",
                remedy="Check the network, and that the object was stored whole. "
                + _NOTHING_RELEASED,
            )
        return found

    def blocks(self, file: StoredFile) -> Iterator[bytes]:
        """Yield the bytes of an object in their order; some blocks are fetched ahead."""
        with self.opened(file) as opened:

            def block(begin: int) -> bytes:
                return self.part(opened, begin, min(_BLOCK, file.size - begin))

            yield from ordered_map(block, range(0, file.size, _BLOCK), AT_ONCE)

    def footer(self, nth: int) -> Any:
        """Return the footer of a Parquet object, by its place among the objects.

        Raises
        ------
        BadInput
            If it is no Parquet, or none that can be read.
        """
        from pyarrow import ArrowInvalid, ArrowNotImplementedError, parquet

        file = self.files[nth]
        with storage_errors(self.shown), self.opened(file) as opened:
            try:
                return parquet.read_metadata(opened)
            except (ArrowInvalid, ArrowNotImplementedError):
                raise BadInput(
                    f"{clipped(file.name)} is a broken or encrypted Parquet file.",
                    remedy="Store it again, or write it again without encryption.",
                ) from None

    def sha256(self) -> str:
        """Return the SHA-256 of the table; the objects are read from their begin to their end."""
        digests: list[str] = []
        for file in self.files:
            digest = hashlib.sha256()
            for block in self.blocks(file):
                digest.update(block)
            digests.append(digest.hexdigest())
        return self.digest_of(digests)

    def digest_of(self, digests: Sequence[str]) -> str:
        """Return the SHA-256 of the table by those of its objects, as of files on this machine."""
        from anon_core.data.reading.parts import digest_of

        return digest_of([f.name for f in self.files], digests) if self.is_folder else digests[0]


def located(path: Path) -> Stored:
    """Return what lies at an address.

    Parameters
    ----------
    path : Path
        The address of a file or of a folder. Who may read it is known by the environment, as the
        storage's own tools have it; what the storage's address has after ``?`` is passed on.

    Raises
    ------
    BadInput
        If it is no address that is read, cannot be read, or holds nothing.
    """
    from pyarrow import fs

    scheme = str(path).partition(":")[0].lower()
    # A path has lost all slashes but one.
    address = _ADDRESS.sub(rf"{scheme}:///" if scheme == "file" else rf"{scheme}://", str(path), 1)
    shown = clipped(_without_keys(address))
    if scheme not in SCHEMES:
        raise BadInput(
            f"{shown} is not an address that is read: '{scheme}'.",
            remedy="Name a file, or an address that begins with s3://, gs://, abfs:// or hdfs://.",
        )
    with storage_errors(shown):
        storage, place = fs.FileSystem.from_uri(address)
        own = storage.get_file_info(place)
        root = place.rstrip("/")
        if own.type == fs.FileType.Directory:
            every = storage.get_file_info(fs.FileSelector(place, recursive=True))
            named = {one.path[len(root) + 1 :]: one for one in every if one.is_file}
            named = {name: one for name, one in named.items() if not _is_note(name)}
        else:
            named = {root.rpartition("/")[2]: own} if own.is_file else {}
        if not named:
            raise BadInput(
                f"There is nothing at {clipped(place)}.", remedy="Check the address of the table."
            )
        with ThreadPoolExecutor(AT_ONCE) as pool:
            names = sorted(named)
            found = [named[name] for name in names]
            files = pool.map(partial(_looked_at, storage), names, found)
            return Stored(
                shown=shown,
                name=root.rpartition("/")[2] or "table",
                is_folder=own.type == fs.FileType.Directory,
                files=tuple(files),
                storage=storage,
            )


def changed(name: str) -> InputChanged:
    """Return the error of a table that someone wrote to while it was read."""
    return InputChanged(
        f"{clipped(name)} was changed while it was read.",
        remedy=f"{_NOTHING_RELEASED} Run again when no program writes to it.",
    )


@contextmanager
def storage_errors(shown: str) -> Generator[None]:
    """Tell in one sentence what went wrong with an address; no key is in it.

    Raises
    ------
    BadInput
    """
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        line = " ".join(str(error).split())
        for why, remedy, signs in _REASONS:
            if any(sign in line for sign in signs):
                raise BadInput(f"{shown} {why}.", remedy=f"{remedy} {_NOTHING_RELEASED}") from None
        why = clipped(_without_keys(line.rstrip("."))) or type(error).__name__
        raise BadInput(
            f"{shown} cannot be read: {why}.",
            remedy="Check the address, the network, and that the environment says who you are, as "
            f"the storage's own tools have it. {_NOTHING_RELEASED}",
        ) from None


#: What is said of a failure, what to do, and words of the storage by which it is known.
_REASONS = (
    (
        "may not be read with the rights that you have there",
        "Check that the environment says who you are, as the storage's own tools have it, and that "
        "you may read and list it.",
        (
            *("ACCESS_DENIED", "HTTP status 403", "AuthorizationFailure", "EXPIRED"),
            *("INVALID_ACCESS_KEY_ID", "INVALID_CLIENT_TOKEN_ID", "UNRECOGNIZED_CLIENT"),
            "SIGNATURE_DOES_NOT_MATCH",
        ),
    ),
    (
        "does not exist: there is no such bucket",
        "Check the address of the table.",
        ("NO_SUCH_BUCKET", "ContainerNotFound"),
    ),
    (
        "cannot be reached, or the connection broke",
        "Check the network and the address of the storage, and try again.",
        ("NETWORK_CONNECTION", "curlCode", "Timeout", "timed out", "Unable to connect"),
    ),
)


def _looked_at(storage: Any, name: str, found: Any) -> StoredFile:
    with storage.open_input_file(found.path) as file:
        size, tag = file.size(), _tag(file)
    # A listing knows the time alone, and the object itself the tag; its size has to be one.
    made = "" if found.mtime_ns is None else found.mtime_ns
    return StoredFile(name=name, place=found.path, size=size, mark=f"{made} {tag}")


def _tag(file: Any) -> str:
    """Return the storage's tag of an object's content; empty where it has none."""
    own = {str(key).lower(): value for key, value in (_metadata(file) or {}).items()}
    found = own.get("etag", b"")
    tag = found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
    return tag.replace(" ", "")


def _metadata(file: Any) -> dict[Any, Any] | None:
    read: Callable[[], dict[Any, Any] | None] | None = getattr(file, "metadata", None)
    return None if read is None else read()


def _is_note(name: str) -> bool:
    """Return whether a file of a folder is someone's note: `parts_of` passes these over, too."""
    return any(part.startswith((".", "_")) for part in name.split("/"))


def _without_keys(text: str) -> str:
    """Return a text in which addresses tell no key: neither before ``@`` nor after ``?``."""
    # A key may hold strokes that no one spelled as an address has them.
    text = re.sub(r"://[^\s?]*:[^\s?]*@", "://", text)
    return re.sub(r"\?\S*", "", re.sub(r"://[^/\s]*@", "://", text))
