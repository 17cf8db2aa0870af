"""Large tables are read by a database: the same cells as the plain reader finds, or left to it."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.errors import BadInput
from anon_core.verification.files import engine, reading
from anon_core.verification.files.plain_bytes import plain_lines
from anon_core.verification.files.reading_options import Reading
from anon_core.verification.text.cells import TextTable

_CELL = st.text(alphabet="ab\",;' é\n", max_size=4) | st.sampled_from(["NA", "null", "", "1", "''"])
_LINE = st.text(alphabet='a,"', max_size=6)


@pytest.fixture(autouse=True, scope="module")
def every_size() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "FROM_BYTES", 1)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("read") / "it's a table.csv"


def cells(table: TextTable) -> dict[str, list[str]]:
    return {
        f"{place} {name}": [text or "" for text in table.column_at(place).told()]
        for place, name in enumerate(table.names)
    }


def both(path: Path, options: Reading = Reading()) -> bool:  # noqa: B008
    """Read a file twice; say whether the database read it."""
    try:
        expected = cells(reading._read_plainly(path, options))
    except BadInput as error:
        words = error.message
    else:
        words = ""
    if words:
        with pytest.raises(BadInput) as told:
            cells(reading.read_table(path, options))
        assert told.value.message == words
        return False
    found = reading._in_bulk(path, options)
    assert cells(reading.read_table(path, options)) == expected
    if found is None:
        return False
    assert cells(found) == expected
    return True


@settings(max_examples=25)
@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(_CELL, min_size=n, max_size=n))),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_a_table_reads_alike(
    place: Path, rows: list[list[str]], separator: str, end: str, told: bool
) -> None:
    made = io.StringIO(newline="")
    names = ["a", "b c", "d"][: len(rows[0]) if rows else 1]
    csv.writer(made, lineterminator=end, delimiter=separator).writerows([names, *rows])
    place.write_bytes(made.getvalue().encode())
    quick = both(place, Reading(separator=separator if told else ""))
    if told and not any("\n" in cell for row in rows for cell in row) and len(names) > 1:
        assert quick


@settings(max_examples=25)
@given(st.lists(_LINE, max_size=5), st.sampled_from(["", "\n", "\r\n", " "]))
def test_what_is_no_table_ends_in_the_same_words(place: Path, lines: list[str], end: str) -> None:
    place.write_bytes(("x,y\n" + "\n".join(lines) + end).encode())
    both(place)


@pytest.mark.parametrize(
    "content", [b"a,b\n1\xff,2\n", b"a,\n1,2\n", b"\xef\xbb\xbfa,b\n1,2\n", b"a,b\n1,2\r\n"]
)
def test_what_readers_may_differ_about_is_left_to_the_plain_one(
    place: Path, content: bytes
) -> None:
    place.write_bytes(content)
    both(place)


_COLUMNS: dict[str, list[Any]] = {
    "text": ["a", "b", None, "", " b "],
    "coded": pa.array(["x", None, "y", "x", "é"]).dictionary_encode(),
    "whole": [1, None, 2, -3, 1],
    "flag": [True, None, False, True, True],
    "wide": [0.5, None, 3.0, float("nan"), -0.0],
    "narrow": pa.array([0.1, None, 3.0, float("nan"), 1e30], pa.float32()),
    "day": pa.array([0, None, 365, 10_000, -1], pa.int32()).cast(pa.date32()),
    "A": ["1", "2", "3", "4", "5"],
    "a": ["5", "4", "3", "2", "1"],
    "empty": [None] * 5,
}


@pytest.mark.parametrize("index", [False, True])
def test_a_parquet_file_reads_alike(place: Path, index: bool) -> None:
    columns = dict(_COLUMNS) if index else {k: v for k, v in _COLUMNS.items() if k != "empty"}
    if index:
        columns = {"__index_level_0__": [5, 4, 3, 2, 1], **columns}
        columns["empty"] = pa.array([None] * 5, pa.string())
    pq.write_table(pa.table(columns), place, row_group_size=2)
    assert both(place)


def test_moments_and_lists_are_left_to_the_plain_reader(place: Path) -> None:
    pq.write_table(pa.table({"t": pa.array([0, 1], pa.timestamp("ms")), "l": [[1], [2]]}), place)
    assert not both(place)


def test_a_file_that_changes_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    table = reading.read_table(path)
    path.write_text("a,b\n1,3\n4,5\n")
    with pytest.raises(BadInput, match="changed while it was read"):
        table.column("a")


def test_lines_and_cells_are_counted_block_by_block(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_core.verification.files.plain_bytes._BLOCK", 4)
    for content, width, lines in (
        (b'a,b\n"x",1\n"y","2"\nz,', 2, 4),
        (b'a,b\n"x,y,",1\n"y",""\n', 2, 3),
        (b"a,b\n" + b"x" * 20 + b",", 2, 2),
        (b"a,b\n1,2\n3,4,\n", 2, None),
        (b"a\nb\n\nc\n", 1, None),
        (b'a\n"b\n"\nc\n', 1, None),
        (b'a\n"b"c\n', 1, None),
    ):
        place.write_bytes(content)
        assert plain_lines(place, ",", width) == lines, content


@pytest.mark.skipif(os.name != "posix", reason="who may read a folder is told so on POSIX only")
def test_what_is_written_beside_the_memory_is_its_owners_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.tempfile, "tempdir", str(tmp_path))
    gone = tmp_path / "anonymity-verification-999999999-abc"
    gone.mkdir()
    (gone / "spilled.tmp").write_text("private")
    other = tmp_path / f"anonymity-verification-{os.getpid()}-abc"
    other.mkdir()
    with engine.engine() as database:
        (folder,) = set(tmp_path.iterdir()) - {other}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        told = database.execute("SELECT current_setting('temp_directory')").fetchone()
        assert told == (str(folder),)
    assert set(tmp_path.iterdir()) == {other}


def test_the_database_keeps_to_its_part_of_the_memory() -> None:
    def limit() -> str:
        with engine.engine() as database:
            found = database.execute("SELECT current_setting('memory_limit')").fetchone()
            assert found is not None
            return str(found[0])

    usual = limit()
    with engine.within(3 << 30):
        assert limit() == "1.0 GiB"
        with engine.within(1):
            assert limit() == "512.0 MiB"
        assert limit() == "1.0 GiB"
    assert limit() == usual


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_files_about_which_no_two_readers_differ_are_plain(place: Path, end: str) -> None:
    for content, plain in (
        ('a,b\n"x,y","""z"""\n', True),
        ("a,b\n1,2\n\n", False),
        ("\na,b\n", False),
        ('a,b\n1,"2\n3"\n', False),
        ('a,b\n1,"2"x\n', False),
        ("a,b\n1,2\r3\n", False),
        ("a,b\n1,2\0\n", False),
    ):
        place.write_bytes(content.replace("\n", end).encode())
        assert (plain_lines(place, ",", 2) is not None) == plain, content


@pytest.mark.parametrize("places", [[0, 1, 2], [2], [0, 2], [1]])
def test_empty_cells_are_texts_whichever_columns_are_read(place: Path, places: list[int]) -> None:
    rows = [['""', "x", ""], ["", "NULL", '""'], ["", "", "a"], ["b", '"x,"', ""]]
    place.write_text("a,b,c\n" + "".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    table = reading.read_table(place, Reading())
    plain = [[cell.strip('"') for cell in row] for row in rows]
    table.prefetch(table.names[at] for at in places)
    for at in places:
        assert table.column_at(at).told() == [row[at] for row in plain]
