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
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

#: What the database keeps in memory before it writes to its folder.
MEMORY = "2GB"
_PREFIX = "anonymity-verification-"


@contextmanager
def engine() -> Generator[duckdb.DuckDBPyConnection]:
    """Open an empty database that reads local files and loads nothing from elsewhere."""
    import duckdb

    _remove_left_over()
    # The folder is its owner's alone.
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with duckdb.connect(":memory:", config=settings) as database:
            yield database


def quoted(text: str) -> str:
    """Return a text as it is written in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _remove_left_over() -> None:
    """Remove the folders of processes that ended without removing theirs."""
    if os.name != "posix":  # elsewhere nobody may be asked whether a process lives
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        found = re.match(r"(\d+)-", folder.name.removeprefix(_PREFIX))
        if found is None or _lives(int(found[1])):
            continue
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
