"""A file that changes while it is read is named as the cause, not its reader."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.base.errors import BadInput, Cancelled, InputChanged
from anon_core.pipeline import input_tables
from anon_core.pipeline.input_tables import Reader, read_alongside, unchanged
from anon_core.recipe.plan import Plan, read_plan
from anon_core.verification.files import csv_files
from anon_core.verification.files.bounded_reading import FileBytes
from anon_core.verification.files.reading_options import Reading
from anon_core.verification.text.cells import TextTable


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


# The second computation reads the private table in a thread while a run works on it.


_RECIPE = """version = 3
models = [{name = "k-anonymity", k = 2}]
[roles]
quasi = ["a"]
[algorithm]
name = "mondrian"
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Plan, Path, Path]:
    """Return a plan, its recipe and a table, which is worth a thread."""
    monkeypatch.setattr(input_tables, "_WORTH_A_THREAD", 1)
    recipe, data = tmp_path / "r.toml", tmp_path / "t.csv"
    recipe.write_text(_RECIPE)
    plan = read_plan(recipe)
    data.write_text("a,b\n1,x\n2,y\n")
    return plan, recipe, data


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_table_read_alongside_is_the_one_that_is_asked_for(
    job: tuple[Plan, Path, Path], ending: str
) -> None:
    plan, recipe, data = job
    if ending == "parquet":
        data = data.with_suffix(".parquet")
        pq.write_table(pa.table({"a": ["1", "2"], "b": ["x", "y"]}), data)
    began: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        plainly = input_tables.read_by_itself

        def noting(path: Path, reading: Reading) -> TextTable:
            began.append(threading.current_thread().name)
            return plainly(path, reading)

        patch.setattr(input_tables, "read_by_itself", noting)
        with read_alongside(plan, recipe, data) as read:
            for _ in range(2):  # a run may verify several attempts
                assert read(data, Reading()).column("a").row_texts() == ["1", "2"]
        assert len(began) == 1
        with read_alongside(plan, recipe, data) as read:  # asked for in another way: read again
            found = read(data, Reading(missing=("x",)))
        assert found.column("b").row_texts() == ["x", "y"]
    assert len(began) == 3
    assert threading.main_thread().name not in began[:2]
    assert began[2] == threading.main_thread().name


def test_what_is_wrong_with_the_table_is_raised_where_it_is_asked_for(
    job: tuple[Plan, Path, Path],
) -> None:
    plan, recipe, data = job
    data.write_text("a,b\n1\n")
    with read_alongside(plan, recipe, data) as read:
        time.sleep(0.2)  # it failed long ago
        with pytest.raises(BadInput, match=r"Row 1 of t\.csv has 1 cells"):
            read(data, Reading())
    with read_alongside(plan, recipe, data):  # nobody asks
        pass


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_changes_after_it_was_read_alongside_is_refused(
    job: tuple[Plan, Path, Path], change: Callable[[Path], object]
) -> None:
    plan, recipe, data = job

    def carried_out() -> None:
        with unchanged(data), read_alongside(plan, recipe, data) as read:
            read(data, Reading())
            change(data)

    with pytest.raises(InputChanged, match="was changed while it was read"):
        carried_out()


@pytest.mark.parametrize("plain", [True, False])
def test_a_run_that_fails_ends_the_reading(
    job: tuple[Plan, Path, Path], monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    plan, recipe, data = job
    data.write_text("a,b\n" + "1,x\n" * 3_000_000)
    if not plain:  # as far as the slow reader goes
        monkeypatch.setattr(csv_files, "_split_plain", lambda *given: None)
    begun, opened = threading.Event(), FileBytes.opened

    def noting(self: FileBytes) -> io.BufferedReader:
        begun.set()
        return opened(self)

    monkeypatch.setattr(FileBytes, "opened", noting)
    kept: list[Reader] = []

    def carried_out() -> None:
        with read_alongside(plan, recipe, data) as read:
            kept.append(read)
            begun.wait()
            raise RuntimeError("no release")

    with pytest.raises(RuntimeError, match="no release"):
        carried_out()
    with pytest.raises(Cancelled):
        kept[0](data, Reading())


def test_small_and_packed_tables_are_read_when_they_are_asked_for(
    job: tuple[Plan, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, recipe, data = job
    packed = data.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(data.read_bytes()))
    for path in (packed, data.parent, data.parent / "none.csv"):
        with read_alongside(plan, recipe, path) as read:
            assert read is input_tables.read_by_itself
    monkeypatch.setattr(input_tables, "_WORTH_A_THREAD", 1 << 20)
    with read_alongside(plan, recipe, data) as read:
        assert read is input_tables.read_by_itself
