"""A table reads alike by either reader of CSV and from Parquet, or is refused in the same words."""

from __future__ import annotations

import csv
import io
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.errors import BadInput
from anon_core.cli.output import own_folder
from anon_core.verification.files import csv_files, reading
from anon_core.verification.files.reading_options import Reading
from anon_core.verification.text.cells import TextTable, text_of

_CELL = st.text(alphabet="ab\",;' é\n", max_size=4) | st.sampled_from(["NA", "null", "", "1", "''"])
_LINE = st.text(alphabet='a,"', max_size=6)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("read") / "it's a table.csv"


def cells(table: TextTable) -> dict[str, list[str]]:
    return {
        f"{place} {name}": [text or "" for text in table.column_at(place).row_texts()]
        for place, name in enumerate(table.names)
    }


def both(path: Path, options: Reading = Reading()) -> bool:  # noqa: B008
    """Read a file by both readers; say whether the quick one read it."""
    found: list[object] = []
    asked: list[bool] = []
    plain = csv_files._split_plain

    def quick(*given: Any) -> Any:
        split = plain(*given)
        asked.append(split is not None)
        return split

    for way in (quick, lambda *_: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_files, "_split_plain", way)
            try:
                found.append(cells(reading.read_table(path, options)))
            except BadInput as error:
                found.append(error.message)
    assert found[0] == found[1]
    return any(asked)


@settings(max_examples=25)
@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(_CELL, min_size=n, max_size=n))),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_a_table_reads_alike(
    place: Path, rows: list[list[str]], separator: str, end: str, listed: bool
) -> None:
    made = io.StringIO(newline="")
    names = ["a", "b c", "d"][: len(rows[0]) if rows else 1]
    csv.writer(made, lineterminator=end, delimiter=separator).writerows([names, *rows])
    place.write_bytes(made.getvalue().encode())
    quick = both(place, Reading(separator=separator if listed else ""))
    if listed and end == "\n" and len(names) > 1 and "\n" not in "".join(map("".join, rows)):
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
def test_a_parquet_file_reads_as_its_values(place: Path, index: bool) -> None:
    columns = dict(_COLUMNS)
    names = list(columns)
    if index:
        columns = {"__index_level_0__": [5, 4, 3, 2, 1], **columns}
        columns["empty"] = pa.array([None] * 5, pa.string())
    table = pa.table(columns)
    pq.write_table(table, place, row_group_size=2)
    found = reading.read_table(place)
    assert list(found.names) == names
    for name in names:
        matching = [None if v is None or v != v else v for v in table.column(name).to_pylist()]
        if name == "narrow":
            matching = ["0.1", None, "3", None, "1000000015047466219876688855040"]
        assert found.column(name).row_texts() == [
            None if v is None else text_of(v) for v in matching
        ], name


def test_columns_of_one_name_are_read_by_their_places(place: Path) -> None:
    columns = [pa.array(["a", "b"]), pa.array(["c", "d"]), pa.array([["e"], ["f"]])]
    pq.write_table(pa.Table.from_arrays(columns, names=["x", "x", "x.y"]), place)
    found = reading.read_parquet(place.read_bytes(), "t.parquet", every=True)
    values = [found.column_at(at).row_texts() for at in (1, 0, 2)]
    assert values == [["c", "d"], ["a", "b"], ["['e']", "['f']"]]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_that_changes_while_it_is_read_is_told(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"table.{suffix}"
    if suffix == "csv":
        path.write_text("a,b\n1,2\n")
        plain = csv_files._split_plain

        def changing(*given: Any) -> Any:
            found = plain(*given)
            path.write_text("a,b\n1,3\n4,5\n")
            return found

        monkeypatch.setattr(csv_files, "_split_plain", changing)
        with pytest.raises(BadInput, match="changed while it was read"):
            reading.read_table(path)
        return
    pq.write_table(pa.table({"a": ["1"]}), path)
    table = reading.read_table(path)
    pq.write_table(pa.table({"a": ["1", "2"]}), path)
    with pytest.raises(BadInput, match="changed while it was read"):
        table.column("a")


@pytest.mark.skipif(os.name != "posix", reason="who may read a folder is shown so on POSIX only")
def test_a_copy_beside_the_table_is_its_owners_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = tmp_path / "anonymity-verification-999999999-abc"
    gone.mkdir()
    (gone / "spilled.tmp").write_text("private")
    other = tmp_path / f"anonymity-verification-{os.getpid()}-abc"
    other.mkdir()
    with own_folder() as refused:
        (folder,) = set(tmp_path.iterdir()) - {other}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert refused == str(folder)
    assert set(tmp_path.iterdir()) == {other}


@pytest.mark.parametrize("places", [[0, 1, 2], [2], [0, 2], [1]])
def test_empty_cells_are_texts_whichever_columns_are_read(place: Path, places: list[int]) -> None:
    rows = [['""', "x", ""], ["", "NULL", '""'], ["", "", "a"], ["b", '"x,"', ""]]
    place.write_text("a,b,c\n" + "".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    table = reading.read_table(place, Reading())
    plain = [[cell.strip('"') for cell in row] for row in rows]
    table.prefetch(table.names[at] for at in places)
    for at in places:
        assert table.column_at(at).row_texts() == [row[at] for row in plain]
