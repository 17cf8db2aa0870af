"""Reading: broken files are refused with place and remedy, good ones come back whole."""

from __future__ import annotations

import codecs
import csv
import datetime
import decimal
import gzip
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from anon_core.base.errors import AnonError, BadInput, BadPlan
from anon_core.data.column import Column
from anon_core.data.frames import coded_arrow
from anon_core.data.reading import DataOptions, read_table
from anon_core.data.table import MISSING_TOKENS, Dataset
from anon_core.verification.files.reading import read_table as read_again
from tests.often import often

SECRET = "Zebulon"


def texts(dataset: Dataset, name: str) -> list[str | None]:
    return dataset.column(name).texts().tolist()


def refused(
    source: bytes | str | Path,
    *words: str,
    remedy: str,
    options: DataOptions | None = None,
    **more: object,
) -> BadInput:
    """Read what must be refused; the message holds `words` and the remedy and no cell value."""
    with pytest.raises(BadInput) as caught:
        read_table(source, options or DataOptions(), **more)  # type: ignore[arg-type]
    for word in words:
        assert word in caught.value.message
    assert remedy in caught.value.remedy
    assert SECRET not in str(caught.value)
    return caught.value


def as_parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


# Good tables


def test_a_plain_table() -> None:
    d = read_table(b"zip,age,job\n01234,39,clerk\n01250,7,\n01234,10,?\n", name="people")
    assert d.names == ("zip", "age", "job")
    assert (d.rows, d.source, d.notes, d.dropped) == (3, "people", (), 0)
    assert [c.kind for c in d.columns] == ["text", "number", "text"]
    assert texts(d, "zip") == ["01234", "01250", "01234"]
    assert d.column("age").values == ("7", "10", "39")
    assert texts(d, "job") == ["clerk", None, None]
    assert d.column("job").missing == 2


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_out(separator: str) -> None:
    text = separator.join("abc") + "\n" + separator.join(["x", "1", "z"]) + "\n"
    d = read_table(text.encode())
    assert d.names == ("a", "b", "c")
    assert texts(d, "b") == ["1"]


def test_the_separator_that_splits_evenly_wins() -> None:
    d = read_table(b"a;b, or c\n1,5;2\n2,5;3\n7;4\n")
    assert d.names == ("a", "b, or c")


@pytest.mark.parametrize("separator", [",", " ", "^"])
def test_a_declared_separator(separator: str) -> None:
    data = f"a{separator}b\n1{separator}2;3\n".encode()
    assert texts(read_table(data, DataOptions(separator=separator)), "b") == ["2;3"]


def test_a_declared_separator_and_a_header_of_one_quoted_name() -> None:
    d = read_table(b'"a,b"\n1;2\n', DataOptions(separator=","))
    assert d.names == ("a,b",)


def test_blanks_around_cells_and_names_are_removed() -> None:
    d = read_table(b"age, work , sex\n39, State-gov ,\tM\n50,State-gov, ? \n")
    assert d.names == ("age", "work", "sex")
    assert d.column("work").values == ("State-gov",)
    assert texts(d, "sex") == ["M", None]


def test_quoted_cells_hold_anything() -> None:
    d = read_table(b'a,b\n"x, y","line\nbreak"\n"say ""hi""",2\n')
    assert texts(d, "a") == ["x, y", 'say "hi"']
    assert texts(d, "b") == ["line\nbreak", "2"]


def test_blank_lines_are_no_rows() -> None:
    d = read_table(b"\n\na,b\n\n1,2\n\n\n3,4\n\n")
    assert d.rows == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    assert read_table(end.join(["a,b", "1,2", "3,4"]).encode()).rows == 2


def test_one_column_is_allowed_and_noted() -> None:
    d = read_table(b"age\n30\n40\n")
    assert texts(d, "age") == ["30", "40"]
    assert "one column" in d.notes[0]


def test_a_header_of_numbers_is_noted() -> None:
    d = read_table(b"39,State-gov,77516\n50,Private,83311\n")
    assert "column 1, 3" in d.notes[0]
    assert "header" in d.notes[0]


def test_own_missing_values() -> None:
    options = DataOptions(missing_values=("-9", " none "))
    d = read_table(b"a,b\n-9,NA\nnone,\n1,?\n", options)
    assert texts(d, "a") == [None, None, "1"]
    assert texts(d, "b") == ["NA", None, "?"]


def test_a_long_row_and_a_long_quoted_cell() -> None:
    long = "x" * (3 << 20)
    d = read_table(f'a,b\n1,"{long}\n{long}"\n2,y\n'.encode())
    assert len(texts(d, "b")[0] or "") == (6 << 20) + 1
    assert d.rows == 2


def test_a_small_file_is_read_without_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of Arrow that lets go of its bytes late ends a program with a signal."""
    asked: list[bool] = []

    def noted(call: Any) -> Any:
        def noting(*args: Any, use_threads: bool = True, **more: Any) -> Any:
            asked.append(use_threads)
            return call(*args, use_threads=use_threads, **more)

        return noting

    def split(*args: Any, read_options: Any, **more: Any) -> Any:
        asked.append(read_options.use_threads)
        return read_csv(*args, read_options=read_options, **more)

    read_csv = arrow_csv.read_csv
    monkeypatch.setattr(arrow_csv, "read_csv", split)
    for name in ("read", "read_row_group"):
        monkeypatch.setattr(parquet.ParquetFile, name, noted(getattr(parquet.ParquetFile, name)))
    file = as_parquet(pa.table({"age": ["20", "30"]}))
    for content in (b"age\n20\n30\n", file):
        (tmp_path / "table").write_bytes(content)
        assert read_table(tmp_path / "table").rows == 2
        assert read_again(tmp_path / "table").column("age").row_texts() == ["20", "30"]
    assert asked == [False] * 4
    large = np.random.default_rng(1).bytes(4_500_000).hex()
    cells = [large[n : n + 90] for n in range(0, len(large), 90)]
    assert read_table(as_parquet(pa.table({"age": cells}))).rows == len(cells)
    assert asked[4:] == [True]


def test_many_blocks_share_one_dictionary() -> None:
    rows = "\n".join(f"{i % 7},value {i % 11}" for i in range(300_000))
    d = read_table(f"a,b\n{rows}\n".encode())
    assert d.rows == 300_000
    assert len(d.column("b").values) == 11
    assert texts(d, "b")[299_999] == f"value {299_999 % 11}"


# Notes on columns


def notes(column: Column) -> str:
    return " ".join(column.notes)


def test_decimal_commas_are_numbers() -> None:
    c = read_table(b"a;b\n1,5;2\n10;2\n2,25;2\n").column("a")
    assert c.kind == "number"
    assert c.measure is not None
    assert c.measure.tolist() == [1.5, 2.25, 10]
    assert "Decimal commas" in notes(c)
    again = c.take(np.array([True, True, False]))
    assert again.notes == c.notes


def test_a_mixed_column_is_text_and_says_where() -> None:
    cells = ["1", "2", SECRET, "4", "5", "6", "7", "8", "9", "10", SECRET]
    c = read_table(("a,b\n" + "".join(f"{x},x\n" for x in cells)).encode()).column("a")
    assert c.kind == "text"
    assert "1 of 10 distinct values are not numbers (first in row 3)" in notes(c)
    assert SECRET not in notes(c)


def test_dates_among_other_texts_are_noted_with_the_remedy() -> None:
    cells = [f"{day:02d}.03.1990" for day in range(1, 10)]
    c = read_table(("a,b\n" + "".join(f"{x},x\n" for x in [*cells, SECRET])).encode()).column("a")
    assert c.kind == "text"
    assert "1 of 10 distinct values are not dates (first in row 10)" in notes(c)
    assert "texts read as missing" in notes(c)
    assert SECRET not in notes(c)


def test_dates_in_an_unknown_form_are_noted() -> None:
    c = read_table(b"a,b\n12/31/1990,x\n31/12/1991,y\n02/28/1992,z\n").column("a")
    assert c.kind == "text"
    assert "31.12.2026" in notes(c)
    assert read_table(b"a,b\n1.2.3,x\n1.2.4,y\n1.2.5,z\n").column("a").notes == ()


def test_numbers_with_marked_thousands_are_read_and_noted() -> None:
    for cells, first in (
        (["4.110,04", "14.147,63", "950,00"], "950,00"),
        (["4,110.04", "9,000.5", "1,222,333"], "4110.04"),
        (["4 110,04", "950"], "950"),
        (["4'110.04", "950"], "950"),
    ):
        rows = "".join(f'"{cell}";x\n' for cell in cells)
        c = read_table(("a;b\n" + rows).encode()).column("a")
        assert c.kind == "number"
        assert c.values[0] == first
        assert "read as marks between thousands" in notes(c)
    for cells in (["4.110,04", "9.5"], ["4 110", "950"]):
        rows = "".join(f'"{cell}";x\n' for cell in cells)
        c = read_table(("a;b\n" + rows).encode()).column("a")
        assert c.kind == "text"
        assert "marks between thousands" in notes(c)
    rows = "".join(f"{n}.110,04;x\n" for n in range(1, 9))
    c = read_table(f"a;b\n{rows}none;y\n".encode()).column("a")
    assert "1 of 9 distinct values are not numbers (first in row 9)" in notes(c)
    assert read_table(b"a;b\n1.2.3;x\nx;y\n10.0.0.1;z\n").column("a").notes == ()


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("a;b;\n1;x;\n2;y; \n", "An empty column without a name was left out"),
        ('a;b;;\n1;x;;"" \n2;y;;\n', "Empty columns without a name were left out"),
        ('a;b;\n1;"x";""\n2;y;\n', "An empty column"),
    ],
)
def test_lines_that_end_with_a_separator(content: str, note: str, tmp_path: Path) -> None:
    d = read_table(content.encode())
    assert d.names == ("a", "b")
    assert d.column("b").texts().tolist() == ["x", "y"]
    assert any(one.startswith(note) for one in d.notes)
    place = tmp_path / "table.csv"
    place.write_text(content)
    second = read_again(place)
    assert second.names == ("a", "b")
    assert second.column("b").row_texts() == ["x", "y"]


@pytest.mark.parametrize("content", ["a;b;\n1;x;\n2;y;z\n", ";a\n;1\n;2\n", ";;\n;;\n;;\n"])
def test_a_column_without_a_name_is_refused_still(content: str) -> None:
    with pytest.raises(BadInput, match="has no name"):
        read_table(content.encode())


def test_commas_that_may_mark_thousands_are_doubted() -> None:
    c = read_table(b"a;b\n12,500;x\n1,250;y\n950;z\n").column("a")
    assert c.kind == "text"
    assert "use the comma for decimals or thousands" in notes(c)
    c = read_table(b"a;b\n12,500;x\n1,250;y\n950;z\n", kinds={"a": "number"}).column("a")
    assert c.measure is not None
    assert c.measure.tolist() == [1.25, 12.5, 950]
    assert "If they mark thousands" in notes(c)
    assert "If they mark thousands" in notes(c.take(np.array([True, False, True])))
    decimals = read_table(b"a;b\n12,50;x\n1,250;y\n950;z\n").column("a")
    assert decimals.kind == "number"
    assert "mark thousands" not in notes(decimals)


def test_a_declared_date_that_is_none_is_named_by_its_first_row() -> None:
    rows = "".join(f"{month:02d}/13/90,x\n" for month in (9, 3, 5))
    with pytest.raises(BadInput, match="first in row 1") as caught:
        read_table(f"a,b\n{rows}".encode(), kinds={"a": "date"})
    assert "31.12.2026" in caught.value.remedy


def test_a_text_column_with_few_numbers_has_no_note() -> None:
    assert read_table(b"a,b\nx,1\ny,2\n3,3\n4,5\n5,6\n").column("a").notes == ()


def test_zip_codes_with_leading_zero_are_text_without_note() -> None:
    c = read_table(b"a,b\n01234,1\n22345,2\n").column("a")
    assert (c.kind, c.notes) == ("text", ())


def test_a_mixed_column_declared_as_text_has_no_note() -> None:
    data = b"a,b\n" + b"".join(b"%d,x\n" % i for i in range(9)) + b"?x,x\n"
    assert read_table(data, kinds={"a": "text"}).column("a").notes == ()


def test_all_missing_and_constant_columns_are_noted() -> None:
    d = read_table(b"a,b,c\n,x,1\n?,x,\n")
    assert "Every value is missing" in notes(d.column("a"))
    assert d.column("a").values == ()
    assert "same value" in notes(d.column("b"))
    assert d.column("c").notes == ()


@pytest.mark.parametrize("day", ["2020-02-29", "2020/02/29", "29.02.2020"])
def test_dates_are_recognised(day: str) -> None:
    c = read_table(f"a,b\n{day},1\n,2\n".encode()).column("a")
    assert c.kind == "date"
    assert c.measure is not None
    assert c.measure.tolist() == [datetime.date(2020, 2, 29).toordinal()]


# Not a table


def test_no_such_file(tmp_path: Path) -> None:
    refused(tmp_path / "gone.csv", "no file", "gone.csv", remedy="Check the path")


def test_a_folder(tmp_path: Path) -> None:
    refused(tmp_path, "folder", remedy="parts of one table")


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    refused("a\0b", "cannot be read", remedy="Check the path")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n1\n")
    path.chmod(0)
    refused(path, "a.csv cannot be read", remedy="permissions")


def test_a_file_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n1\n")

    def fail(*_given: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", fail)
    refused(path, "Permission denied", remedy="permissions")


def test_an_empty_file() -> None:
    refused(b"", "people is empty", remedy="header and rows", name="people")


@pytest.mark.parametrize("data", [b"\n\r\n \n", codecs.BOM_UTF8, codecs.BOM_UTF8 + b"\n"])
def test_blank_lines_only(data: bytes) -> None:
    refused(data, "blank lines only", remedy="header and rows")


@pytest.mark.parametrize("data", [b"a,b", b"a,b\n\n", b'"a",b\r\n'])
def test_a_header_only(data: bytes) -> None:
    refused(data, "2 columns but no rows", remedy="at least one row")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04....data.csv", "zip archive"),
        (b"%PDF-1.7", "PDF"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\n <!DOCTYPE html>", "web page"),
        (b'[{"a": 1}]', "JSON"),
        (b"BZh91AY", "bzip2"),
        (bytes(range(1, 9)) * 9, "binary file"),
    ],
)
def test_files_of_other_kinds(data: bytes, what: str) -> None:
    refused(data, "people", what, remedy="", name="people")


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    data = b"a,b\n" + b"1,2\n" * 1000
    path = tmp_path / "big.csv"
    path.write_bytes(data)
    for source in (path, data):
        error = refused(source, "MiB", remedy="Parquet", most_bytes=100)
        assert "command line" in error.remedy
    assert read_table(path, most_bytes=len(data)).rows == 1000


def test_a_small_gzip_that_unpacks_to_much() -> None:
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 250_000)
    assert len(bomb) < 10_000
    refused(bomb, "unpacks to more than", remedy="command line", most_bytes=10_000)


def test_a_gzip_file(tmp_path: Path) -> None:
    data = b"a,b\n1,2\n3,4\n"
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(data))
    d = read_table(str(path))
    assert (d.rows, d.source) == (2, "people.csv.gz")
    members = gzip.compress(data) + gzip.compress(b"5,6\n")
    assert read_table(members).rows == 3


@pytest.mark.parametrize("cut", [12, -6])
def test_a_broken_gzip(cut: int) -> None:
    refused(gzip.compress(b"a,b\n1,2\n" * 9)[:cut], "broken gzip", remedy="again")


# Broken tables


def test_the_wrong_separator_names_the_right_one() -> None:
    data = f"a;b\n1;{SECRET}\n2;x\n".encode()
    refused(
        data,
        "set to comma",
        "separated by semicolon",
        "2 columns",
        remedy="semicolon",
        options=DataOptions(separator=","),
    )
    refused(data, "set to the given", remedy="semicolon", options=DataOptions(separator="^"))


def test_a_separator_that_fits_nothing_better_gives_one_column() -> None:
    assert read_table(b"a,b\nx\ny\nz\n", DataOptions(separator=";")).names == ("a,b",)


def test_duplicate_names() -> None:
    refused(b"age,zip, age\n1,2,3\n", "'age'", "1 and 3", remedy="Rename")


@pytest.mark.parametrize("data", [b",age,\n1,2,3\n", b" ,age,  \n1,2,3\n"])
def test_unnamed_columns(data: bytes) -> None:
    refused(data, "Column 1, 3", "no name", remedy="first line")


def test_ragged_rows_are_named_with_their_cells() -> None:
    data = f"a,b\n1,2\n{SECRET}\n3,4\n5,6,{SECRET}\n7\n8\n9\n".encode()
    error = refused(
        data, "header has 2 cells", "row 2 has 1", "row 4 has 3", "row 5", remedy="quotes"
    )
    assert "2 more rows" in error.message


def test_a_ragged_row_is_counted_in_rows_not_lines() -> None:
    data = f'a,b\n\n"one\ntwo\nthree",1\n\n\n"x",2\n{SECRET}\n'.encode()
    refused(data, "row 3 has 1", remedy="counted from 1 below the header")


def test_a_ragged_row_after_many() -> None:
    data = b"a,b\n" + b"1,2\n" * 700_000 + b"1,2,3\n" + b"1,2\n" * 10
    refused(data, "row 700001 has 3", remedy="Correct")


def test_row_names_without_a_header() -> None:
    refused(b"a,b\n1,x,y\n2,x,y\n", "header has 2", "has 3", remedy="without row names")


def test_one_unquoted_comma_too_many() -> None:
    refused(b"name\nSmith, John\n", "header has 1 cell", "row 1 has 2", remedy="holds a comma")


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (f'a,b\n1,2\n3,"{SECRET}\n5,6\n', "row 2, column 2"),
        (f'a,b\n1,2\n"{SECRET},3\n5,6\n', "row 2"),
        ('a,b\n"1",2\n3,"', "row 2, column 2"),
        (f'a,b,c\n1,"{SECRET},3\n4,5,6\n', "row 1"),
        (f'a,"b\n1,{SECRET}\n', "header"),
        (f'a\n1\n"{SECRET}\n' + "3\n" * 2_000_000, "row 2"),
    ],
)
def test_an_open_quote(data: str, place: str) -> None:
    refused(data.encode(), place, "never closed", remedy="Close the quote")


def test_an_open_quote_that_a_later_one_closes_in_the_header() -> None:
    # The names are then cells, so the message gives the column by number.
    refused(f'a,"b\n1,{SECRET}\n'.encode() * 3, "never closed", remedy="Close the quote")


def test_an_open_quote_below_a_name_that_ends_with_a_break() -> None:
    d = read_table(b'a,"b\nc"\n1,2\n')
    assert d.names == ("a", "b\nc")


def test_text_that_arrow_cannot_split(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import csv as arrow_csv

    def fail(*_: object, **__: object) -> None:
        raise pa.ArrowInvalid(f"CSV parse error {SECRET}")

    monkeypatch.setattr(arrow_csv, "read_csv", fail)
    refused(b"a,b\n1,2\n", "rows and cells", remedy="quotes")


def test_a_header_that_is_split_otherwise_costs_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.data.reading.delimited.find_separator", lambda *_: (",", 3))
    d = read_table(b'a,b\n"1",2\n3,4\n')
    assert texts(d, "a") == ["1", "3"]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'a,b\n\n"1\n2",3\r\n4\0,5\n', "row 2"),
        (b"a\0,b\n1,2\n", "the header"),
        (b"a,b\r1,2\r3,4\r\r5,\0" + b"\r1,2" * 20, "row 3"),
    ],
)
def test_nul_bytes(data: bytes, place: str) -> None:
    refused(data, "NUL", place, remedy="plain text")


def test_too_many_columns() -> None:
    wide = ",".join(f"c{i}" for i in range(2001))
    refused(f"{wide}\n{wide}\n".encode(), "2,001 columns", "2,000", remedy="Leave out columns")
    narrow = ",".join(f"c{i}" for i in range(2000))
    assert len(read_table(f"{narrow}\n{narrow}\n".encode()).names) == 2000


def test_a_head_without_a_whole_row_is_enough() -> None:
    # The first row is longer than what is looked at to find the separator.
    d = read_table(("a;b\n" + "x," * (1 << 20) + ";1\n").encode())
    assert d.names == ("a", "b")


# Encodings


@pytest.mark.parametrize(
    ("encoding", "mark", "note"),
    [
        ("utf-8", b"", ""),
        ("utf-8", codecs.BOM_UTF8, ""),
        ("utf-16-le", codecs.BOM_UTF16_LE, "UTF-16"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "UTF-16"),
        ("utf-32-le", codecs.BOM_UTF32_LE, "UTF-32"),
        ("latin-1", b"", "Latin-1"),
        ("cp1252", b"", "Windows-1252"),
    ],
)
def test_encodings_come_back(encoding: str, mark: bytes, note: str) -> None:
    data = mark + "größe,ort\n1,Zürich\n2,Málaga\n".encode(encoding)
    d = read_table(data)
    assert d.names == ("größe", "ort")
    assert texts(d, "ort") == ["Zürich", "Málaga"]
    assert (note in " ".join(d.notes)) if note else d.notes == ()


def test_latin_1_says_which_byte_and_keeps_windows_signs() -> None:
    d = read_table("a,b\n€,„x“\n".encode("cp1252"))
    assert texts(d, "a") == ["€"]
    assert "not valid UTF-8 at byte 5" in d.notes[0]


def test_bytes_that_windows_1252_lacks_are_latin_1() -> None:
    d = read_table(b"a,b\nx\x81y,1\n")
    assert texts(d, "a") == ["x\x81y"]
    assert "Latin-1:" in d.notes[0]


def test_a_wrong_byte_behind_the_first_piece() -> None:
    piece = 1 << 24
    data = b"a\n" + b"x" * (piece - 3) + "é\n".encode() + b"\xe9\n"
    d = read_table(data)
    assert f"byte {len(data) - 1}" in d.notes[0]


def test_a_declared_encoding_is_taken_at_its_word() -> None:
    data = "a,b\nłódź,1\n".encode("cp1250")
    d = read_table(data, DataOptions(encoding="cp1250"))
    assert (texts(d, "a"), d.notes) == (["łódź"], ())
    marked = codecs.BOM_UTF8 + "ä,b\n1,2\n".encode()
    assert read_table(marked, DataOptions(encoding="utf8")).names == ("ä", "b")
    wide = "ä,b\n1,2\n".encode("utf-16-le")
    assert read_table(wide, DataOptions(encoding="utf-16-le")).names == ("ä", "b")


def test_a_declared_encoding_that_fails() -> None:
    options = DataOptions(encoding="utf-8")
    data = f"a,b\nx,1\n{SECRET}\xe9,1\n".encode("latin-1")
    refused(
        data,
        "declared as utf-8",
        "byte 16",
        "row 2",
        remedy="Leave the encoding empty",
        options=options,
    )
    data = codecs.BOM_UTF16_LE + b"a\0,\0\x00\xd8"
    refused(data, "marked as utf-16", "byte", remedy="UTF-8")


def test_utf_16_without_its_mark() -> None:
    refused("a,b\n1,2\n".encode("utf-16-le"), "without its mark", remedy="utf-16-le")


def test_an_encoding_that_fails_without_a_place() -> None:
    data = b"xn--" + b"\xff" * 9
    refused(data, "is not valid", remedy="UTF-8", options=DataOptions(encoding="idna"))


# Declared kinds


def test_a_kind_for_a_column_that_is_not_there() -> None:
    error = refused(
        b"age,zip\n1,2\n", "'agee'", "'age', 'zip'", remedy="name", kinds={"agee": "number"}
    )
    assert "Did you mean 'age'?" in error.remedy


def test_an_unknown_kind() -> None:
    refused(
        b"age,zip\n1,2\n", "'age'", "'float'", "'number'", remedy="types", kinds={"age": "float"}
    )


@pytest.mark.parametrize("kind", ["number", "date"])
def test_a_declared_kind_that_the_values_are_not_of(kind: str) -> None:
    day = "2020-01-01" if kind == "date" else "1"
    data = f"age,zip\n{day},2\n{SECRET},2\n".encode()
    error = refused(data, "'age'", kind, "row 2", remedy="as text", kinds={"age": kind})
    assert error.values == (SECRET,)
    assert SECRET in error.full_text(show_values=True)


def test_a_declared_kind_is_kept() -> None:
    d = read_table(b"zip,b\n1234,1\n1.0,2\n1,3\n", kinds={"zip": "text", "b": "ordered"})
    assert d.column("zip").values == ("1", "1.0", "1234")
    assert [c.kind for c in d.columns] == ["text", "ordered"]


# Parquet


def test_parquet_types_become_texts(tmp_path: Path) -> None:
    midnight = datetime.datetime(2020, 5, 1)
    table = pa.table(
        {
            "text": ["01", " x ", None],
            "whole": pa.array([3, None, 20], pa.int64()),
            "float": pa.array([39.0, 0.1, float("nan")], pa.float64()),
            "small": pa.array([0.1, None, 2], pa.float32()),
            "flag": [True, False, None],
            "money": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")]),
            "day": pa.array([midnight.date(), None, None], pa.date32()),
            "stamp": pa.array([midnight, None, midnight], pa.timestamp("us")),
            "time": pa.array([midnight.replace(hour=5), midnight, None], pa.timestamp("ns")),
            "cat": pa.array(["b", "a", None]).dictionary_encode(),
            "level": pa.array([5, 5, None], pa.int8()).dictionary_encode(),
            "nothing": pa.nulls(3),
            "large": pa.array(["p", "q", "?"], pa.large_string()),
        }
    )
    path = tmp_path / "people.parquet"
    parquet.write_table(table, path)
    d = read_table(path)
    assert d.rows == 3
    assert {n: texts(d, n) for n in d.names} == {
        "text": ["01", "x", None],
        "whole": ["3", None, "20"],
        "float": ["39", "0.1", None],
        "small": ["0.1", None, "2"],
        "flag": ["True", "False", None],
        "money": ["1.50", None, "2.25"],
        "day": ["2020-05-01", None, None],
        "stamp": ["2020-05-01 00:00:00", None, "2020-05-01 00:00:00"],
        "time": ["2020-05-01 05:00:00", "2020-05-01 00:00:00", None],
        "cat": ["b", "a", None],
        "level": ["5", "5", None],
        "nothing": [None, None, None],
        "large": ["p", "q", None],
    }
    assert d.column("whole").kind == "number"
    assert d.column("stamp").kind == "date"
    assert d.column("stamp").values == ("2020-05-01",)
    assert d.column("time").kind == "datetime"


def test_parquet_and_csv_read_alike() -> None:
    frame = pd.DataFrame({"zip": ["01", "02", None], "age": [3, 4, 4], "x": [1.5, None, 2.25]})
    frame.index = pd.Index([7, 9, 7])
    from_csv = read_table(frame.to_csv(index=False).encode())
    from_parquet = read_table(as_parquet(pa.Table.from_pandas(frame)))
    assert from_csv.fingerprint == from_parquet.fingerprint
    assert Dataset.from_frame(frame).fingerprint == from_csv.fingerprint
    assert from_parquet.names == ("zip", "age", "x")
    assert "row labels" in from_parquet.notes[0]


def test_parquet_in_several_row_groups() -> None:
    sink = io.BytesIO()
    table = pa.table({"a": [str(i % 5) for i in range(1000)], "b": list(range(1000))})
    parquet.write_table(table, sink, row_group_size=100)
    d = read_table(sink.getvalue())
    assert texts(d, "a") == table["a"].to_pylist()
    assert texts(d, "b") == [str(i) for i in range(1000)]


def test_a_parquet_column_of_many_chunks() -> None:
    chunked = pa.chunked_array([pa.array(["a", "b"]), pa.array(["b", None, "c"])])
    codes, pool = coded_arrow(chunked, "x")
    assert [pool[c] if c >= 0 else None for c in codes] == ["a", "b", "b", None, "c"]


def test_a_parquet_dictionary_with_narrow_indices() -> None:
    values = [f"v{i:03}" for i in range(128)]
    array = pa.DictionaryArray.from_arrays(pa.array([*range(128), None], pa.int8()), values)
    assert texts(read_table(as_parquet(pa.table({"a": array}))), "a") == [*values, None]


@pytest.mark.parametrize("keep", [6, 200])
def test_a_broken_parquet_file(keep: int) -> None:
    whole = as_parquet(pa.table({"a": [SECRET] * 500, "b": list(range(500))}))
    refused(whole[:keep], "broken", "Parquet", remedy="again")


def test_a_parquet_file_broken_in_its_data() -> None:
    whole = bytearray(as_parquet(pa.table({"a": [f"{SECRET} {i}" for i in range(5000)]})))
    whole[4:2000] = b"\xff" * 1996
    refused(bytes(whole), "broken", "Parquet", remedy="again")


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (pa.array([[1, 2]]), "nested"),
        (pa.array([{"x": 1}]), "nested"),
        (pa.array([b"\xff"]), "raw bytes"),
    ],
)
def test_parquet_columns_without_one_plain_value(array: pa.Array, what: str) -> None:
    data = as_parquet(pa.table({"a": ["x"], "deep": array}))
    refused(data, "column 'deep'", what, remedy="plain columns")


def test_parquet_without_rows_or_with_bad_names() -> None:
    refused(as_parquet(pa.table({"a": pa.array([], pa.string())})), "no rows", remedy="one row")
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", " a "])
    refused(as_parquet(twice), "'a'", "1 and 2", remedy="Rename")
    wide = pa.table({f"c{i}": [1] for i in range(2001)})
    refused(as_parquet(wide), "2,001 columns", remedy="Leave out")


# Options


def test_options_come_back() -> None:
    options = DataOptions(
        separator=";", missing="drop", missing_values=("", "-9"), encoding="cp1252"
    )
    assert DataOptions.from_mapping(options.as_mapping()) == options
    assert DataOptions.from_mapping({}) == DataOptions()
    assert DataOptions().missing_values == MISSING_TOKENS


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seperator": ","}, ("'seperator'", "Did you mean 'separator'?")),
        ({"separator": ",,"}, ("separator", "',,'", "one character")),
        ({"separator": "x"}, ("separator", "one character")),
        ({"separator": 5}, ("separator", "5")),
        ({"separator": "ä"}, ("separator",)),
        ({"missing": "dropp"}, ("missing", "'keep', 'drop'", "Did you mean 'drop'?")),
        ({"missing": 1}, ("missing", "1")),
        ({"missing_values": "NA"}, ("missing_values", "list")),
        ({"missing_values": 5}, ("missing_values", "list")),
        ({"missing_values": ["NA", -9]}, ("missing_values", "quotes")),
        ({"encoding": "utf8x"}, ("encoding", "'utf8x'", "'utf-8'")),
        ({"encoding": "hex"}, ("encoding", "'hex'")),
        ({"encoding": "a\0"}, ("encoding",)),
        ({"encoding": 8}, ("encoding", "8")),
    ],
)
def test_bad_options_name_the_key_and_what_is_allowed(
    given: dict[str, object], words: tuple[str, ...]
) -> None:
    with pytest.raises(BadPlan) as caught:
        DataOptions.from_mapping(given)
    for word in ("[data]", *words):
        assert word in str(caught.value)
    assert caught.value.remedy


# Properties

_cell = st.one_of(
    st.sampled_from(
        ["", "?", "NA", " NA ", "1", "1.0", "01", 'a"b', "x,y", "x;y", "\n", '"', "a\r\nb"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6),
)


def _tables(width: int) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(_cell, min_size=width, max_size=width), min_size=1, max_size=12)


@often(150)
@given(
    rows=st.integers(1, 4).flatmap(_tables),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_the_csv_module_writes_is_read(
    rows: list[list[str]], separator: str, quoting: int, end: str
) -> None:
    width = len(rows[0])
    names = [f"col {i}" for i in range(width)]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
    writer.writerow(names)
    writer.writerows(rows)
    # Where no separator is in the header none can be found out.
    options = DataOptions(separator=separator if width == 1 else "")
    d = read_table(file.getvalue().encode(), options, kinds=dict.fromkeys(names, "text"))
    assert d.names == tuple(names)
    for i, name in enumerate(names):
        want = [row[i].strip() for row in rows]
        assert texts(d, name) == [None if t in MISSING_TOKENS else t for t in want]


def _read_or_refused(data: bytes) -> None:
    refusal: AnonError | None = None
    try:
        d = read_table(data)
    except AnonError as error:
        refusal = error
    else:
        assert d.rows > 0
        assert all(len(c.codes) == d.rows for c in d.columns)
    assert refusal is None or (refusal.message and refusal.remedy)


@often(100)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    _read_or_refused(data)


@often(200)
@given(st.text(alphabet='ab1,;"\n\r \x00\x81', max_size=60))
def test_any_broken_text_is_read_or_refused(text: str) -> None:
    _read_or_refused(text.encode())


def test_texts_that_look_like_dates_are_noted_with_what_to_do() -> None:
    (note,) = read_table(b"day\n31/12/2025\n01/13/2026\n").column("day").notes
    assert note.startswith("Its values look like dates, but the column is text: write them as ")
    assert "in the file and load it again" in note
    assert "calendar on Hierarchies" in note


@pytest.mark.parametrize("first", ["x", "\x02end of table\x03"])
def test_a_cell_that_says_what_ends_a_table_is_a_cell(first: str) -> None:
    sentinel = "\x02end of table\x03"
    text = "x" * 200  # few signs of a binary file among it
    table = read_table(f'a,b\n{text},0\n"{first}",1\n{sentinel},2\n'.encode())
    assert list(table.column("a").texts()) == [text, first, sentinel]
    assert list(table.column("b").texts()) == ["0", "1", "2"]


@pytest.mark.parametrize("block", [48, 49, 50, 64, 1 << 20])
def test_returns_in_quotes_are_kept_wherever_a_block_ends(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("anon_core.data.reading.delimited._BLOCK", block)
    for blanks in range(block if block < 100 else 1):
        said = f'a,b\r\n1,{"x" * blanks}\r\n2,"one\r\ntwo"\r\n3,"\r\n"\r\n'
        table = read_table(said.encode(), DataOptions(missing_values=()))
        column = table.column("b")
        matching = [column.values[code] for code in column.codes.tolist() if code >= 0]
        assert [text for text in matching if "one" in text] == ["one\r\ntwo"]
