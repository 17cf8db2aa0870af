"""A file that changes while it is read is named as the cause, not its reader."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_core.base.errors import BadInput, InputChanged
from anon_core.pipeline.input_tables import unchanged


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more\n")


def _replace(path: Path) -> None:
    other = path.with_suffix(".other")
    shutil.copy2(path, other)  # with the time of the first
    other.replace(path)


CHANGES: list[Callable[[Path], object]] = [
    _append,
    _replace,
    lambda path: os.truncate(path, 3),
    lambda path: path.unlink(),
    lambda path: os.utime(path, ns=(1, 1)),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_a_change_is_told(
    tmp_path: Path, change: Callable[[Path], object], folder: bool, fails: bool
) -> None:
    path = tmp_path / "part.csv"
    path.write_text("first\n")
    read = tmp_path if folder else path

    def reading() -> None:
        with unchanged(read):
            change(path)
            if fails:
                raise BadInput("A row is broken.", remedy="Mend it.")

    with pytest.raises(InputChanged, match="was changed while it was read"):
        reading()


def test_what_stays_is_read_and_refused_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "part.csv"
    path.write_text("first\n")
    with unchanged(path, tmp_path / "none.csv"):
        assert path.read_text()
    with pytest.raises(BadInput, match="broken"), unchanged(path):
        raise BadInput("A row is broken.", remedy="Mend it.")
