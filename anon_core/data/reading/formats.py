"""Formats that can be read, and files that are no table, by their first bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from anon_core.base.errors import BadInput

#: Which reader a file is for.
FileKind = Literal["text", "parquet", "spreadsheet", "statistics"]


@dataclass(frozen=True, kw_only=True)
class Readable:
    """What people call a kind of file, and the endings by which a table is found in a zip."""

    titles: tuple[str, ...]
    endings: tuple[str, ...]


#: The kinds that can be read; `any_format.READERS` has the reader of each.
READABLE: Mapping[FileKind, Readable] = {
    "text": Readable(titles=("CSV",), endings=("csv", "tsv", "txt", "gz")),
    "parquet": Readable(titles=("Parquet",), endings=("parquet",)),
    "spreadsheet": Readable(
        titles=("Excel", "OpenDocument"), endings=("xlsx", "xlsm", "xlsb", "xls", "ods")
    ),
    "statistics": Readable(
        titles=("SPSS", "Stata", "SAS"),
        endings=("sav", "zsav", "por", "dta", "sas7bdat", "xpt"),
    ),
}

PARQUET_MARKS = (b"PAR1", b"PARE")
SAVE_AS_CSV = "Save it as CSV or Parquet and load that file."
_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (b"BZh", "packed with bzip2"),
    (b"\xfd7zXZ", "packed with xz"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"<?xml", "an XML file"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b'{"', "a JSON file"),
    (b"[{", "a JSON file"),
)


def refuse_foreign(data: bytes, name: str) -> None:
    """Refuse archives, pictures and other files that are no tables."""
    if data.startswith(b"PK\x03\x04"):
        raise BadInput(
            f"{name} is a zip archive, not a table.",
            remedy="Unpack it and load the table inside.",
        )
    start = data[:64].lstrip()
    for magic, what in _FOREIGN:
        if start.startswith(magic):
            raise BadInput(f"{name} is {what}, not a table that can be read.", remedy=SAVE_AS_CSV)
