"""Workbooks, SPSS, Stata and SAS: what the run reads is what the second computation reads."""

from __future__ import annotations

import datetime as dt
import struct
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
import xlsxwriter

from anon_core.base.errors import BadInput, BadPlan
from anon_core.data.reading import DataOptions, read_table
from anon_core.data.reading.spreadsheet import named_sheets
from anon_core.data.table import MISSING_TOKENS, Dataset
from anon_core.verification.files.reading import read_table as read_again
from anon_core.verification.files.reading_options import read_options

SURVEY = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 2.0, None],
        "age": [34.0, -9.0, 50.0, 61.5],
        "born": [dt.date(1990, 1, 2), dt.date(1991, 3, 4), None, dt.date(1992, 5, 6)],
        "job": ["clerk", "nurse", "", "clerk"],
    }
)
LABELS = {"sex": {1: "Male", 2: "Female"}, "age": {99: "Refused"}}


def both(path: Path, **options: Any) -> Dataset:
    """Read a file twice; both readers must have found the same cells."""
    found = read_table(path, DataOptions(**options))
    again = read_again(path, read_options(options))
    assert again.names == tuple(found.names)
    for place, name in enumerate(found.names):
        own = [(text or "").strip() for text in again.column_at(place).row_texts()]
        own = ["" if text in MISSING_TOKENS else text for text in own]
        assert own == [text or "" for text in found.column(name).texts().tolist()]
    return found


def cells(data: Dataset, name: str) -> list[str | None]:
    return data.column(name).texts().tolist()


def workbook(path: Path, sheets: dict[str, list[list[object]]], merge: str = "") -> Path:
    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "dd/mm/yyyy"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for y, row in enumerate(rows):
                for x, cell in enumerate(row):
                    if isinstance(cell, dt.date):
                        sheet.write_datetime(y, x, cell, day)
                    elif cell is not None:
                        sheet.write(y, x, cell)
            if merge:
                sheet.merge_range(merge, rows[0][0])
    return path


ROWS: list[list[object]] = [
    ["Patients of 2024"],
    [],
    ["Name", "Born", "Zip", "Cost", " "],
    ["Ann", dt.date(1990, 12, 31), "01234", 12.5, None],
    ["Bob", dt.date(1991, 1, 2), "01250", 7, None],
    [],
    ["Cem", None, "9", 1e6, " "],
]


def test_a_sheet_with_a_title_blank_rows_and_an_empty_column(tmp_path: Path) -> None:
    found = both(workbook(tmp_path / "p.xlsx", {"Data": ROWS, "Empty": []}))
    assert found.names == ("Name", "Born", "Zip", "Cost")
    assert cells(found, "Born") == ["1990-12-31", "1991-01-02", None]
    assert cells(found, "Zip") == ["01234", "01250", "9"]
    assert cells(found, "Cost") == ["12.5", "7", "1000000"]
    assert [found.column(n).kind for n in found.names] == ["text", "date", "text", "number"]
    assert "header in row 3" in found.notes[0]
    assert "above the header" in found.notes[1]


@pytest.mark.parametrize("number", [-5, 0, 0.25, 2_958_466, 1e7])
def test_a_number_that_is_shown_as_a_day_and_is_none_is_refused_by_both(
    tmp_path: Path, number: float
) -> None:
    path = tmp_path / "days.xlsx"
    for rows in ([44_000, number], [number, 44_000.5], [number, number], [1, 44_000]):
        with xlsxwriter.Workbook(path) as book:
            sheet, day = book.add_worksheet(), book.add_format({"num_format": "dd/mm/yyyy hh:mm"})
            sheet.write_row(0, 0, ["born", "sex"])
            for y, value in enumerate(rows, 1):
                sheet.write_number(y, 0, value, day)
                sheet.write_string(y, 1, "f")
        if number not in rows or (rows[0] == rows[1] and 0 <= number < 1):
            both(path)  # days alone, or times of day alone
            continue
        if rows[0] == rows[1] and number > 0:  # also where no day says that it holds days
            assert (
                cells(read_table(path, kinds={"born": "number"}), "born") == [f"{number:.0f}"] * 2
            )
        cell = f"A{2 + rows.index(number)}"
        said = f"holds days, and 1 number that is not a day of the calendar, in {cell}"
        with pytest.raises(BadInput, match=said):
            read_table(path)
        if rows[0] != rows[1]:
            with pytest.raises(BadInput, match="holds days and a number that is not one"):
                read_again(path)


@pytest.mark.parametrize(("number", "is_day"), [(59, True), (60, False), (60.5, False), (61, True)])
def test_the_day_that_1900_lacks_is_refused(tmp_path: Path, number: float, is_day: bool) -> None:
    path = tmp_path / "days.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet, day = book.add_worksheet(), book.add_format({"num_format": "dd/mm/yyyy"})
        sheet.write_row(0, 0, ["sex", "born"])
        for y, value in enumerate([44_000, 1, number], 2):
            sheet.write_string(y, 0, "f")
            sheet.write_number(y, 1, value, day)
    if is_day:
        expected = {59: "1900-02-28", 61: "1900-03-01"}[int(number)]
        assert cells(both(path), "born") == ["2020-06-18", "1900-01-01", expected]
        return
    with pytest.raises(BadInput, match=r"in B5: .* 1900 has no 29 February"):
        read_table(path)


def test_numbers_below_zero_alone_are_no_times_of_day(tmp_path: Path) -> None:
    path = tmp_path / "days.xlsx"
    for rows in ([-3, -5], [0.5, -1], [0.5, 0]):
        with xlsxwriter.Workbook(path) as book:
            sheet, day = book.add_worksheet(), book.add_format({"num_format": "hh:mm"})
            sheet.write_row(0, 0, ["at", "sex"])
            for y, value in enumerate(rows, 1):
                sheet.write_number(y, 0, value, day)
                sheet.write_string(y, 1, "f")
        if min(rows) < 0:
            with pytest.raises(BadInput, match=f"in A{2 + rows.index(min(rows)) * (rows[0] > 0)}"):
                read_table(path)
        else:
            both(path)


def test_one_of_several_sheets_is_asked_for(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", {"Data": ROWS, "Notes": [["a"], [1]]})
    assert named_sheets(path.read_bytes(), "p.xlsx") == ("Data", "Notes")
    with pytest.raises(BadInput, match=r"p\.xlsx has 2 sheets .* 'Data', 'Notes'") as caught:
        read_table(path)
    assert "sheet =" in caught.value.remedy
    with pytest.raises(BadInput, match="may hold the table"):
        read_again(path)
    assert both(path, sheet="Notes").names == ("a",)
    with pytest.raises(BadInput, match="has no sheet 'data'"):
        read_table(path, DataOptions(sheet="data"))


def test_a_merged_header_is_refused_until_its_row_is_named(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Person", None, "Stay"], ["zip", "age", "days"], ["1", 2, 3]]
    path = workbook(tmp_path / "p.xlsx", {"Data": rows}, merge="A1:B1")
    with pytest.raises(
        BadInput, match=r"Sheet 'Data' of p\.xlsx has no name in row 1.* column 'B'"
    ):
        read_table(path)
    with pytest.raises(BadInput, match="lacks a name"):
        read_again(path)
    assert both(path, header_row=2).names == ("zip", "age", "days")
    with pytest.raises(BadInput, match="ends with row 3"):
        read_table(path, DataOptions(header_row=9))


def written(path: Path) -> Path:
    frame = SURVEY.drop(columns="job") if path.suffix == ".xpt" else SURVEY
    if path.suffix in (".sav", ".zsav"):
        pyreadstat.write_sav(
            frame,
            path,
            column_labels={"sex": "Sex of the person"},
            variable_value_labels=LABELS,
            missing_ranges={"age": [-9]},
            compress=path.suffix == ".zsav",
        )
    elif path.suffix == ".dta":
        pyreadstat.write_dta(frame, path, variable_value_labels=LABELS)
    else:
        write = {".por": pyreadstat.write_por, ".xpt": pyreadstat.write_xport}[path.suffix]
        write(frame, path)
    return path


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_labels_and_codes_are_kept_apart(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"s{suffix}")
    found = both(path)
    assert cells(found, "sex") == ["Male", "Female", "Female", None]
    assert found.meanings["sex"].labels == {"1": "Male", "2": "Female"}
    assert cells(found, "born") == ["1990-01-02", "1991-03-04", None, "1992-05-06"]
    assert found.column("born").kind == "date"
    assert cells(found, "job") == ["clerk", "nurse", None, "clerk"]
    # Of its values none has a label: they stay numbers.
    assert found.column("age").kind == "number"
    assert any("labels for 0 of its" in note for note in found.column("age").notes)
    codes = both(path, value_labels="codes")
    assert cells(codes, "sex") == ["1", "2", "2", None]
    assert codes.meanings == found.meanings


def test_values_that_the_file_declares_as_missing_are_missing_and_told(tmp_path: Path) -> None:
    found = both(written(tmp_path / "s.sav"))
    assert cells(found, "age") == ["34", None, "50", "61.5"]
    assert any(
        "1 cell holds a value that the file declares" in n for n in found.column("age").notes
    )
    assert any("Sex of the person" in note for note in found.column("sex").notes)


@pytest.mark.parametrize("suffix", [".por", ".xpt"])
def test_transport_files(tmp_path: Path, suffix: str) -> None:
    found = both(written(tmp_path / f"s{suffix}"))
    assert [c.kind for c in found.columns][:3] == ["number", "number", "date"]
    assert found.rows == 4


def test_broken_files_are_refused_with_their_format(tmp_path: Path) -> None:
    for suffix, what in ((".sav", "SPSS"), (".dta", "Stata")):
        path = written(tmp_path / f"s{suffix}")
        path.write_bytes(path.read_bytes()[:150])
        with pytest.raises(BadInput, match=f"broken or encrypted {what} file"):
            read_table(path)
        with pytest.raises(BadInput, match="cannot be read"):
            read_again(path)
    with pytest.raises(BadInput, match="cannot be read as one"):
        read_table(b"PK\x03\x04xl/workbook.xml")


@pytest.mark.parametrize("key", ["sheet", "header_row", "value_labels"])
def test_options_are_refused_by_both(key: str) -> None:
    for value in (-1, True, [], "text" if key != "sheet" else 3):
        with pytest.raises(BadPlan, match=key):
            DataOptions.from_mapping({key: value})
        with pytest.raises(BadPlan, match=key):
            read_options({key: value})
    assert DataOptions(sheet="a", header_row=2).as_mapping()["header_row"] == 2
    assert key not in DataOptions().as_mapping()


DATES = {
    "only days first": (["31/12/2025", "1/2/2026"], ["2025-12-31", "2026-02-01"]),
    "only months first": (["12/31/2025", "01/02/2026"], ["2025-12-31", "2026-01-02"]),
    "dashes": (["31-12-2025", "?"], ["2025-12-31", None]),
    "the same in both": (["01/01/2025", "02/02/2025"], ["2025-01-01", "2025-02-02"]),
    "neither": (["31/12/2025", "12/31/2025"], ["31/12/2025", "12/31/2025"]),
    "no day": (["31/02/2025", "1/2/2026"], ["31/02/2025", "1/2/2026"]),
    "not all": (["31/12/2025", "unknown"], ["31/12/2025", "unknown"]),
}


def csv(path: Path, texts: list[str]) -> Path:
    path.write_text("x;y\n" + "".join(f"{text};1\n" for text in texts))
    return path


@pytest.mark.parametrize("what", DATES)
def test_the_order_of_day_and_month_is_found_in_the_whole_column(tmp_path: Path, what: str) -> None:
    texts, expected = DATES[what]
    found = both(csv(tmp_path / "t.csv", texts)).column("x")
    assert found.texts().tolist() == expected
    assert (found.kind == "date") == (expected != texts)
    assert not found.undecided


def test_dates_in_two_orders_stay_undecided_until_somebody_says_which(tmp_path: Path) -> None:
    path = csv(tmp_path / "t.csv", ["01/02/2025", "3/4/2025"])
    found = both(path).column("x")
    assert (found.kind, found.undecided) == ("text", "dates")
    for order, first in (("dmy", "2025-02-01"), ("mdy", "2025-01-02"), ("text", "01/02/2025")):
        found = both(path, dates={"x": order}).column("x")
        assert found.texts().tolist()[0] == first
        assert not found.undecided
    path = csv(path, ["45000", "1"])
    assert cells(both(path, dates={"x": "excel"}), "x") == ["2023-03-15", "1899-12-31"]


NUMBERS = {
    ",": (["1.234,5", "1 234", "-7,25", "1'000.000"[:5], "12"], "1234.5 1234 -7.25 1000 12"),
    ".": (["1,234.5", "1 234", "-7.25", "1,000", ".5"], "1234.5 1234 -7.25 1000 .5"),
}


@pytest.mark.parametrize("mark", NUMBERS)
def test_numbers_are_read_by_the_mark_that_somebody_names(tmp_path: Path, mark: str) -> None:
    texts, expected = NUMBERS[mark]
    found = both(csv(tmp_path / "t.csv", texts), decimals={"x": mark}).column("x")
    assert found.texts().tolist() == expected.split()
    assert found.kind == "number"


@pytest.mark.parametrize("texts", [["1,234", "950"], ["12.500", "3.250"]])
def test_marks_that_may_be_either_stay_undecided(tmp_path: Path, texts: list[str]) -> None:
    path = csv(tmp_path / "t.csv", texts)
    assert both(path).column("x").undecided == "decimals"
    assert not both(path, decimals={"x": ","}).column("x").undecided
    assert not both(csv(path, [*texts, "1.5"])).column("x").undecided
    assert not both(csv(path, ["0123", *texts])).column("x").undecided
    pd.DataFrame({"x": [12.125, 3.25e3]}).to_parquet(tmp_path / "t.parquet")
    assert not both(tmp_path / "t.parquet").column("x").undecided


@pytest.mark.parametrize(
    ("said", "what"), [({"dates": {"x": "mdy"}}, "month/day"), ({"decimals": {"x": ","}}, "comma")]
)
def test_a_column_that_is_not_written_as_somebody_says(
    tmp_path: Path, said: dict[str, dict[str, str]], what: str
) -> None:
    path = csv(tmp_path / "t.csv", ["31/12/2025", "1.5"])
    with pytest.raises(BadInput, match=f"Column 'x' is to be read as {what}") as caught:
        read_table(path, DataOptions(**said))  # type: ignore[arg-type]
    assert "31/12" not in caught.value.message
    with pytest.raises(BadInput, match="not written as the recipe says"):
        read_again(path, read_options(said)).column("x")
    key = next(iter(said))
    for wrong in ("x", {"x": "ymd"}):
        with pytest.raises(BadPlan, match=key):
            DataOptions.from_mapping({key: wrong})
        with pytest.raises(BadPlan, match=key):
            read_options({key: wrong})


# ---- zeros that only a number format adds --------------------------------------------------------


def open_document(path: Path, rows: str) -> Path:
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for short, long in (("office", "office"), ("table", "table"), ("text", "text"))
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="A">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("META-INF/manifest.xml", "<manifest/>")
        packed.writestr("content.xml", content)
    return path


def open_cell(text: str, value: str = "", more: str = "") -> str:
    kind = f'"float" office:value="{value}"' if value else '"string"'
    return (
        f"<table:table-cell office:value-type={kind} {more}><text:p>{text}</text:p>"
        "</table:table-cell>"
    )


def test_an_open_document_keeps_the_zeros_it_shows(tmp_path: Path) -> None:
    lines = [
        open_cell("zip") + open_cell("n") + open_cell("part"),
        open_cell("02139", "2139") + open_cell("12", "12") + open_cell("01-02", "102"),
        open_cell("94110", "94110", 'table:number-columns-repeated="1"')
        + open_cell("1,000", "1000")
        + open_cell("11-02", "1102"),
        open_cell("00501", "501") + open_cell("7.50", "7.5") + open_cell("00-07", "7"),
    ]
    repeated = ["", "", "", ' table:number-rows-repeated="2"']
    rows = "".join(
        f"<table:table-row{more}>{line}</table:table-row>"
        for line, more in zip(lines, repeated, strict=True)
    )
    found = both(open_document(tmp_path / "z.ods", rows))
    assert cells(found, "zip") == ["02139", "94110", "00501", "00501"]
    assert cells(found, "n") == ["12", "1000", "7.5", "7.5"]
    assert cells(found, "part") == ["01-02", "11-02", "00-07", "00-07"]


def old_workbook(path: Path, form: str, numbers: list[float], short: bool = False) -> Path:
    """Write an .xls file: a sheet with the column zip, and the number format of its cells."""

    def record(kind: int, content: bytes) -> bytes:
        return struct.pack("<HH", kind, len(content)) + content

    answer = struct.pack("<HHB", 164, len(form), 0) + form.encode()
    begin = record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 1997, 0, 0)) + record(0x41E, answer)
    for number in (0, 164):  # the styles
        begin += record(0xE0, struct.pack("<HH16x", 0, number))
    end = record(0x0A, b"")
    at = len(begin) + 4 + 9 + len(end)
    begin += record(0x85, struct.pack("<IBBBB", at, 0, 0, 1, 0) + b"A") + end
    cells = record(0x204, struct.pack("<HHHHB", 0, 0, 0, 3, 0) + b"zip")
    for row, number in enumerate(numbers, 1):
        if short and number % 1 == 0:
            cells += record(0xBD, struct.pack("<HHHIH", row, 0, 1, int(number) << 2 | 2, 0))
        else:
            cells += record(0x203, struct.pack("<HHHd", row, 0, 1, number))
    stream = begin + record(0x809, struct.pack("<HHHHII", 0x600, 16, 0, 1997, 0, 0)) + cells + end
    stream += bytes(4096)  # what is shorter is kept elsewhere
    sectors = -(-len(stream) // 512)
    chain = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, 2 + sectors), 0xFFFFFFFE]
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(512, b"\xff")
    header = (
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 62, 3, 65534, 9, 6)
    )
    header += bytes(6) + struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<I", 0) + b"\xff" * 432

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        text = (name + "\0").encode("utf-16-le")
        free = 0xFFFFFFFF
        return (
            text.ljust(64, b"\0")
            + struct.pack("<HBBIII", len(text), kind, 1, free, free, child)
            + bytes(36)
            + struct.pack("<IQ", start, size)
        )

    folder = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0)
    folder += entry("Workbook", 2, 0xFFFFFFFF, 2, len(stream))
    content = header + table + folder.ljust(512, b"\0") + stream.ljust(512 * sectors, b"\0")
    path.write_bytes(content)
    return path


def binary_workbook(path: Path, form: str, numbers: list[float], short: bool = False) -> Path:
    """Write the same as an .xlsb file."""

    def record(kind: int, content: bytes = b"") -> bytes:
        name = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
        assert len(content) < 128
        return name + bytes([len(content)]) + content

    def text(own: str) -> bytes:
        return struct.pack("<I", len(own)) + own.encode("utf-16-le")

    styles = record(615, struct.pack("<I", 1)) + record(44, struct.pack("<H", 164) + text(form))
    styles += record(616) + record(617, struct.pack("<I", 2))
    for number in (0, 164):
        styles += record(47, struct.pack("<HH12x", 0, number))
    rows = record(0, struct.pack("<I21x", 0)) + record(6, struct.pack("<II", 0, 0) + text("zip"))
    for row, number in enumerate(numbers, 1):
        rows += record(0, struct.pack("<I21x", row))
        if short and number % 1 == 0:
            rows += record(2, struct.pack("<III", 0, 1, int(number) << 2 | 2))
        else:
            rows += record(5, struct.pack("<IId", 0, 1, number))
    sheet = record(129) + record(148, struct.pack("<IIII", 0, len(numbers), 0, 0))
    sheet += record(145) + rows + record(146) + record(130)
    book = (
        record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + text("r1") + text("A"))
    )
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.bin"/>'
        "</Relationships>"
    )
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("[Content_Types].xml", "<Types/>")
        parts.writestr("xl/workbook.bin", book + record(144) + record(132))
        parts.writestr("xl/_rels/workbook.bin.rels", links)
        parts.writestr("xl/styles.bin", record(278) + styles + record(618) + record(279))
        parts.writestr("xl/worksheets/sheet1.bin", sheet)
    return path


BINARY = {"xls": old_workbook, "xlsb": binary_workbook}


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("ending", BINARY)
def test_days_that_are_none_or_get_lost_are_refused_in_binary_workbooks(
    tmp_path: Path, ending: str, short: bool
) -> None:
    write, path = BINARY[ending], tmp_path / f"a.{ending}"
    write(path, "yyyy-mm-dd", [45_000, 45_001], short)
    if ending == "xlsb" and short:  # which the library reads as numbers
        with pytest.raises(BadInput, match=r"shows numbers as days, first in A2") as caught:
            read_table(path)
        assert "Save the workbook as .xlsx" in caught.value.remedy
    else:
        assert cells(both(path), "zip") == ["2023-03-15", "2023-03-16"]
    assert cells(both(write(path, "#,##0", [3e6, 4e6], short)), "zip") == ["3000000", "4000000"]
    for numbers in ([3e6, 4e6], [45_000.5, 4e6], [2_958_466.5, 3e6]):
        write(path, "dd/mm/yyyy", numbers, short)
        with pytest.raises(
            BadInput, match=f"not (a day|days).* in A{3 if numbers[0] < 1e6 else 2}"
        ):
            read_table(path)
    loaded = read_table(path, kinds={"zip": "number"})
    assert cells(loaded, "zip") == ["2958466.5", "3000000"]


@pytest.mark.parametrize("ending", BINARY)
def test_a_binary_workbook_with_a_format_of_zeros_is_refused_until_it_is_told(
    tmp_path: Path, ending: str
) -> None:
    write = BINARY[ending]
    plain = both(write(tmp_path / f"a.{ending}", "#,##0", [2139, 94110]))
    assert cells(plain, "zip") == ["2139", "94110"]
    path = write(tmp_path / f"b.{ending}", "00000", [2139, 94110])
    with pytest.raises(BadInput, match=r"format of 5 zeros.* 'zip' may lack zeros") as caught:
        read_table(path)
    assert ".xlsx" in caught.value.remedy
    assert 'zip = "number"' in caught.value.remedy
    assert read_table(path, kinds={"zip": "number"}).column("zip").values == ("2139", "94110")
    both(write(tmp_path / f"c.{ending}", "00000", [12139, 94110]))


@pytest.mark.parametrize(
    ("form", "zeros"),
    [("00000", 5), ("000-00-0000", 9), ("00000;[Red]0", 5), ("0.00", 0), ("0", 0), ("#,##0", 0)],
)
@pytest.mark.parametrize("ending", BINARY)
def test_formats_of_zeros_in_binary_workbooks(
    tmp_path: Path, ending: str, form: str, zeros: int
) -> None:
    path = BINARY[ending](tmp_path / f"a.{ending}", form, [7, 8])
    if zeros:
        with pytest.raises(BadInput, match=f"format of {zeros} zeros"):
            read_table(path)
    else:
        both(path)
