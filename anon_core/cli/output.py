"""What every command ends with: its exit status, and what goes to standard output."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from anon_core.base.errors import clipped
from anon_core.base.plain_values import finite

_PREFIX = "anonymity-verification-"


@contextmanager
def at_hand(options: argparse.Namespace) -> Generator[None]:
    """Bring the table of a command to this machine, for as long as it lasts, where it is not here.

    Parquet stays where it lies for a command that reads it there: one whose options hold
    ``reads_there``, a function of the options and of what lies at the address.

    Raises
    ------
    BadInput
        If there is nothing at its address, or it cannot be read.
    """
    from anon_core.data.reading.stored import brought, is_address, located

    data = getattr(options, "data", None)
    if not isinstance(data, Path) or not is_address(data):
        yield
        return
    stored = located(data)
    reads_there = getattr(options, "reads_there", None)
    if reads_there is not None and stored.is_parquet and reads_there(options, stored):
        sys.stderr.write(f"{stored.shown} is read where it lies, and not copied to this disk.\n")
        yield
        return
    if remove_left_over():
        sys.stderr.write(LEFT_OVER)
    with own_folder() as folder:
        sys.stderr.write(
            f"{stored.shown} is copied to this machine for as long as the command lasts "
            f"({stored.size / 1e6:,.1f} MB).\n"
        )
        options.address, options.data = data, brought(stored, Path(folder))
        yield


class Stages:
    """Progress for people: one line a stage on standard error."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, share: float, stage: str) -> None:
        """Write a stage as it begins."""
        if stage != self.last:
            self.last = stage
            sys.stderr.write(f"{share:4.0%} {stage}\n")


_MOST_LETTERS = 20_000
#: Where a killed run had left something private behind.
LEFT_OVER = "An earlier run was killed; what it had put aside of the table was removed.\n"
#: Exit statuses.
OK, ERROR, INFEASIBLE, BROKEN, CHANGED, NOT_FOUND, STOPPED = 0, 1, 2, 3, 4, 5, 130


def write_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to standard output."""
    json.dump(finite(value), sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


def tell(line: str) -> None:
    """Write one line to standard output.

    Signs that a terminal would carry out are spelled, since lines name columns and paths.
    """
    sys.stdout.write(clipped(line, _MOST_LETTERS) + "\n")


def note(notes: Sequence[str]) -> None:
    """Tell what was renewed in a recipe of an older version."""
    for note in notes:
        sys.stderr.write(f"Older recipe: {note}\n")


@contextmanager
def own_folder() -> Generator[str]:
    """Make a folder for as long as it is needed that only its owner may read."""
    remove_left_over()
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        yield folder


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
