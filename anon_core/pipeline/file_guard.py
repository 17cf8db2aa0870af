"""A file that must stay as it is while it is read more than once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from anon_core.base.errors import AnonError, BadInput, InputChanged, clipped
from anon_core.data.reading.stored import is_address, located, name_of

#: What is known of the files: their names, places on the disk, sizes and times.
_State = tuple[tuple[str | int, ...], ...]


@contextmanager
def unchanged(*paths: Path) -> Generator[None]:
    """Refuse what the block finds where somebody wrote to a file, or put another there, meanwhile.

    Whatever the block refuses then is told as that change, since it is no fault of anything else.

    Parameters
    ----------
    *paths : Path
        Files, or folders of files; one that is not there is told of by whoever reads it.

    Raises
    ------
    InputChanged
    """
    before = [_state(path) for path in paths]
    try:
        yield
    except (AnonError, OSError, ValueError) as error:
        _refuse_changed(paths, before, error)
        raise
    _refuse_changed(paths, before, None)


def _refuse_changed(paths: tuple[Path, ...], before: list[_State], error: Exception | None) -> None:
    for path, state in zip(paths, before, strict=True):
        if _state(path) != state:
            raise InputChanged(
                f"{clipped(name_of(path))} was changed while it was read.",
                remedy="Nothing was released or confirmed. Try again when no program writes to it.",
            ) from error


def _state(path: Path) -> _State:
    if is_address(path):
        try:
            return tuple((one.place, one.size, one.mark) for one in located(path).files)
        except BadInput:
            return ()
    try:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        found = [(str(file), file.stat()) for file in files]
    except (OSError, ValueError):
        return ()
    return tuple((name, own.st_ino, own.st_size, own.st_mtime_ns) for name, own in found)
