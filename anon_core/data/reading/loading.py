"""A file's bytes, loaded and unpacked within limits, and the kind of file that they begin."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from anon_core.base.bounded_reading import TooManyBytes, read_regular
from anon_core.base.errors import BadInput, clipped
from anon_core.data.reading.limits import ALWAYS_UNPACKED, MOST_RATIO, too_large, unpacks_too_far

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
#: What a file begins with, the reader of pyreadstat for it, and what people call it.
_MARKS: tuple[tuple[bytes, str, str], ...] = (
    (b"$FL2", "read_sav", "SPSS"),
    (b"$FL3", "read_sav", "SPSS"),
    (b"<stata_dta>", "read_dta", "Stata"),
    (b"HEADER RECORD*******LIB", "read_xport", "SAS transport"),
    (b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf", "read_sas7bdat", "SAS"),
)
_PORTABLE = b"SPSS PORT FILE"
#: Versions 2 to 12 of Stata's format: a version, the order of bytes, and two fixed bytes.
_OLD_STATA = range(0x68, 0x74)
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
    """Refuse archives, pictures and other files that are not tables."""
    if data.startswith(b"PK\x03\x04"):
        raise BadInput(
            f"{name} is a zip archive, not a table.",
            remedy="Unpack it and load the table inside.",
        )
    start = data[:64].lstrip()
    for magic, what in _FOREIGN:
        if start.startswith(magic):
            raise BadInput(f"{name} is {what}, not a table that can be read.", remedy=SAVE_AS_CSV)


GZIP_MARK = b"\x1f\x8b"
#: Bytes that are unpacked at first and at most in one step; what one step leaves over is copied.
_FIRST_STEP, _LARGEST_STEP = 1 << 9, 1 << 20


def load(path: Path, name: str, most_bytes: int) -> bytes:
    """Return a file's bytes, or say why there are none."""
    try:
        return read_regular(path, most_bytes)
    except TooManyBytes as error:
        raise too_large(name, error.size, most_bytes) from error
    except IsADirectoryError:
        raise BadInput(
            f"'{name}' is a folder, not a file.", remedy="Name the CSV or Parquet file inside it."
        ) from None
    except FileNotFoundError:
        raise BadInput(
            f"There is no file '{clipped(str(path))}'.", remedy="Check the path and its spelling."
        ) from None
    except OSError as error:
        raise BadInput(
            f"'{name}' cannot be read ({error.strerror}).",
            remedy="Check the path and your permissions.",
        ) from error


def unpack(data: bytes, name: str, most_bytes: int) -> bytes:
    """Return what all members of a gzip file hold."""
    # The packed size says little: a few KiB can unpack to any size.
    most = min(most_bytes, max(ALWAYS_UNPACKED, MOST_RATIO * len(data)))
    parts: list[bytes] = []
    room, at = most, 0
    view = memoryview(data)
    try:
        while data.startswith(GZIP_MARK, at):  # a file may hold several members
            unpacker = zlib.decompressobj(wbits=31)
            step = _FIRST_STEP
            while not unpacker.eof:
                piece = view[at : at + step]
                if not piece:
                    raise zlib.error
                part = unpacker.decompress(piece, room + 1)
                room -= len(part)
                if room < 0:
                    raise unpacks_too_far(name, len(data), most, most_bytes)
                parts.append(part)
                at += len(piece) - len(unpacker.unused_data)
                step = min(2 * step, _LARGEST_STEP)
    except zlib.error:
        raise BadInput(
            f"{name} is a broken gzip file: it ends early or was changed.",
            remedy="Copy or download it again, or compress it again.",
        ) from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def is_spreadsheet(data: bytes) -> bool:
    """Say whether a file's bytes begin as those of a workbook do."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):  # .xls, and what is encrypted
        return True
    return data.startswith(b"PK\x03\x04") and (
        b"xl/" in data or b"opendocument.spreadsheet" in data[:200]
    )


def statistics_format(data: bytes) -> tuple[str, str] | None:
    """Return the reader for a file's bytes and what people call the format; None for others."""
    for mark, reader, what in _MARKS:
        if data.startswith(mark):
            return reader, what
    if _PORTABLE in data[:600]:
        return "read_por", "SPSS portable"
    old = len(data) > 4 and data[0] in _OLD_STATA and data[1] in (1, 2) and data[2] == 1
    return ("read_dta", "Stata") if old and data[3] == 0 else None
