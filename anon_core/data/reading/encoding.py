"""The encoding and the separator of a CSV file, or an error that names the byte and its row."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections.abc import Mapping

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.data.reading.loading import SAVE_AS_CSV
from anon_core.data.reading.options import DataOptions


def row_named(row: int) -> str:
    """Return what messages call a row, from 1; 0 is the header."""
    return f"row {row}" if row else "the header"


def row_at(data: bytes, place: int) -> int:
    """Return the row that holds the byte at `place`; line ends within quotes start no row."""
    part = np.frombuffer(data, dtype=np.uint8, count=place)
    ends = (part == 10) | ((part == 13) & (np.append(part[1:], 0) != 10))
    outside = (np.cumsum(part == 34) & 1) == 0
    places = np.flatnonzero(ends & outside)
    # Neighbouring line ends enclose a blank line, which is no row.
    begins = np.concatenate([[-1], places[:-1]])
    return sum(
        data[begin + 1 : end].strip(b"\r\n") != b""
        for begin, end in zip(begins.tolist(), places.tolist(), strict=False)
    )


SEPARATORS: Mapping[str, str] = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SEPARATOR_HEAD = 1 << 20
_SAMPLED_ROWS = 50


def find_separator(data: bytes, given: str, name: str) -> tuple[str, int]:
    """Return the separator and the number of columns of the header."""
    head = data[:_SEPARATOR_HEAD].decode("utf-8", errors="ignore")
    whole = len(data) <= _SEPARATOR_HEAD
    found: dict[str, tuple[float, int]] = {}
    for candidate in SEPARATORS:
        widths = _sample(head, candidate, whole)
        if widths and widths[0] > 1:
            fitting = sum(w == widths[0] for w in widths) / len(widths)
            found[candidate] = (fitting, widths[0])
    best = max(found, key=lambda c: found[c], default="")
    if not given:
        return (best, found[best][1]) if best else (",", 1)
    width = (_sample(head, given, whole) or [1])[0]
    if width == 1 and best and best != given and found[best][0] >= 0.9:
        shown = SEPARATORS.get(given, "the given separator")
        raise BadInput(
            f"{name}: the separator is set to {shown}, but the header holds none; the file looks "
            f"separated by {SEPARATORS[best]}, with {found[best][1]} columns.",
            remedy=f"Set the separator to {SEPARATORS[best]}, or leave it empty to have it found "
            f"out.",
        )
    return given, width


def _sample(head: str, separator: str, whole: bool) -> list[int]:
    """Return the number of cells of the header and the first rows, split at `separator`."""
    rows: list[int] = []
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
    try:
        for row in itertools.islice((r for r in lines if r), _SAMPLED_ROWS + 1):
            rows.append(len(row))
    except csv.Error:  # a cell longer than the csv module takes; what was read is enough
        pass
    # A cut head ends within a row.
    return rows if whole or len(rows) > _SAMPLED_ROWS or len(rows) < 2 else rows[:-1]


_HEAD = 4096
_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def as_utf8(data: bytes, options: DataOptions, name: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the text as UTF-8 without mark, and a note where another encoding was read."""
    marked = next(((bom, codec) for bom, codec in _BOMS if data.startswith(bom)), None)
    encoding = options.encoding and codecs.lookup(options.encoding).name
    if not encoding and marked is None:
        head = data[:_HEAD]
        if head.count(0) * 3 > len(head):
            raise BadInput(
                f"{name} is text in UTF-16 or UTF-32 without its mark, or no text.",
                remedy="Save it as UTF-8, or set the encoding, for example 'utf-16-le'.",
            )
        refuse_binary(head, name)
        wrong = _wrong_byte(data, "utf-8")
        if wrong is None:
            return data, ()
        # Windows-1252 is Latin-1 with letters and signs instead of 32 control characters.
        latin, title = "cp1252", "Latin-1 (Windows-1252)"
        if _wrong_byte(data, latin) is not None:
            latin, title = "latin-1", "Latin-1"
        note = f"The file was read as {title}: it is not valid UTF-8 at byte {wrong + 1}."
        return data.decode(latin).encode(), (note,)
    codec = encoding or (marked[1] if marked else "")
    wrong = _wrong_byte(data, codec)
    if wrong is not None:
        declared = f"declared as {codec}" if encoding else f"marked as {codec}"
        place = (
            ""
            if codec.startswith(("utf-16", "utf-32"))
            else f", in {row_named(row_at(data, wrong))}"
        )
        raise BadInput(
            f"{name} is {declared}, but is not valid {codec} at byte {wrong + 1}{place}.",
            remedy="Leave the encoding empty to have it found out, or save the file as UTF-8.",
        )
    if codec in ("utf-8", "utf-8-sig", "ascii"):
        return data.removeprefix(codecs.BOM_UTF8), ()
    text = data.decode(codec).removeprefix("\ufeff")
    note = () if encoding else (f"The file was read as {codec.upper()}, as its mark says.",)
    return text.encode(), note


def refuse_binary(data: bytes, name: str) -> None:
    """Refuse a file whose first bytes hold more control characters than text does.

    Raises
    ------
    BadInput
    """
    head = data[:_HEAD]
    if sum(head.count(byte) for byte in range(1, 9)) * 20 > len(head):
        raise BadInput(f"{name} is a binary file of an unknown kind.", remedy=SAVE_AS_CSV)


def _wrong_byte(data: bytes, codec: str) -> int | None:
    """Return the place of the first byte that `codec` cannot decode, or None."""
    if data.isascii() and codec in ("utf-8", "ascii", "cp1252", "latin-1"):
        return None
    decoder = codecs.getincrementaldecoder(codec)()
    step = 1 << 24  # in pieces, so that the decoded text is never in memory as a whole
    for begin in range(0, len(data), step):
        carried = decoder.getstate()[0]
        try:
            decoder.decode(data[begin : begin + step], final=begin + step >= len(data))
        except UnicodeError as error:
            return begin - len(carried) + int(getattr(error, "start", 0))
    return None
