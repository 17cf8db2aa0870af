"""The database that reads large files for the second computation, in memory and nowhere else.

What does not fit into its memory it may write into a folder of its own, which only its owner may
read, and which goes when it closes. What a killed process left there goes at the next start.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

#: Bytes that the database keeps in memory at most before it writes to its folder.
MOST_MEMORY = 2 * 10**9
#: Less than this it is never given: it could not even sort.
LEAST_MEMORY = 1 << 29
_memory: ContextVar[int] = ContextVar("memory", default=MOST_MEMORY)
_spill: ContextVar[Path | None] = ContextVar("spill", default=None)
_PREFIX = "anonymity-verification-"


@contextmanager
def within(memory: int | None, spill: Path | None = None) -> Generator[None]:
    """Let databases that are opened meanwhile keep to what a process may take.

    Parameters
    ----------
    memory : int or None
        Bytes that the process may take: a third is for databases, the rest for what is read, the
        codes of both tables. None leaves what is usual.
    spill : Path or None
        A folder that only its owner may read, for what does not fit; else one is made where the
        system keeps temporary files.
    """
    usual = _memory.get() if memory is None else memory // 3
    before = _memory.set(min(max(usual, LEAST_MEMORY), MOST_MEMORY)), _spill.set(spill)
    try:
        yield
    finally:
        _memory.reset(before[0])
        _spill.reset(before[1])


@contextmanager
def own_folder() -> Generator[str]:
    """Make a folder for as long as it is needed that only its owner may read."""
    remove_left_over()
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=_spill.get()) as folder:
        yield folder


@contextmanager
def engine() -> Generator[duckdb.DuckDBPyConnection]:
    """Open an empty database that reads local files and loads nothing from elsewhere."""
    import duckdb

    with own_folder() as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{_memory.get() // 2**20}MiB",
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with duckdb.connect(":memory:", config=settings) as database:
            yield database


def quoted(text: str) -> str:
    """Return a text as it is written in SQL."""
    return "'" + text.replace("'", "''") + "'"


def remove_left_over() -> bool:
    """Remove the folders of processes that ended without removing theirs; whether there were any.

    Only those that the system keeps temporary files among, and that are ours.
    """
    if os.name != "posix":  # elsewhere nobody may be asked whether a process lives
        return False
    removed = False
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        found = re.match(r"(\d+)-", folder.name.removeprefix(_PREFIX))
        if found is None or _lives(int(found[1])):
            continue
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                shutil.rmtree(folder)
                removed = True
    return removed


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
