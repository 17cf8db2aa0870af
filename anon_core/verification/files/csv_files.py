"""CSV files, split into rows and cells: each different cell of a column is kept once.

Python's own reader splits them. Where no two readers differ about a file, Arrow's does, which a run
uses as well: without it a million rows take half as long again to verify.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TextIO, cast

import numpy as np

from anon_core.verification.files import bounded_reading
from anon_core.verification.files.bounded_reading import Content, FileBytes
from anon_core.verification.text.cells import Cells, Narrow, from_arrow, joined_texts, narrow

_BLOCK = 1 << 22
_QUOTE, _LINE = ord('"'), ord("\n")


def rows_of(text: str, separator: str) -> list[list[str]]:
    """Return the rows of a CSV text, the header first."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def text_of(content: Content, encoding: str) -> TextIO:
    """Return a file's text, decoded as it is read."""
    codecs.lookup(encoding)  # which raises before anything is open
    file = io.BytesIO(content) if isinstance(content, bytes) else content.opened()
    return io.TextIOWrapper(file, encoding=encoding, newline="")


@dataclass(frozen=True, kw_only=True)
class Split:
    """A CSV file in columns.

    Attributes
    ----------
    columns : list of Cells
        Of the rows before the first whose length is another than the header's.
    rows : int
        Rows below the header.
    ragged : mapping of int to int
        The rows of another length, from 1, and their lengths.
    """

    header: list[str]
    columns: list[Cells]
    rows: int
    ragged: dict[int, int]


def split(
    content: Content, encoding: str, separator: str, name: str, *, strict: bool = False
) -> Split:
    """Split a CSV file into rows of cells.

    Parameters
    ----------
    name : str
        What the file is called.
    strict : bool
        Whether quotes have to be as they should, and empty lines are rows.

    Raises
    ------
    csv.Error, LookupError, UnicodeError
        If it is not well-formed, or not written in an encoding of that name.
    BadInput
        If it has more columns than are read, or changed meanwhile.
    """
    found = _split_plain(content, separator) if _is_utf8(encoding) else None
    if found is None:
        csv.field_size_limit(max(csv.field_size_limit(), len(content) + 1))
        with text_of(content, encoding) as text:
            lines = chain([text.readline().removeprefix("\ufeff")], text)
            rows = csv.reader(lines, delimiter=separator, strict=strict)
            kept = rows if strict else filter(None, rows)
            header = next(kept, [])
            bounded_reading.refuse_wide(len(header) - strict, name)  # a group number goes before
            columns, size, ragged = Cells.of_rows(kept, len(header))
        found = Split(header=header, columns=columns, rows=size, ragged=ragged)
    if isinstance(content, FileBytes):
        content.refuse_changed()
    return found


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def _split_plain(content: Content, separator: str) -> Split | None:
    """Split a file about which no two readers differ; None for every other one.

    Plain is UTF-8 without marks, NUL and carriage returns, whose lines all have as many cells as
    the header and an end, and none of which is empty. Quotes go around whole cells or are doubled
    inside one.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    if len(separator.encode()) > 1 or content[-1:] != b"\n":
        return None
    header: list[str] = []
    parts: list[list[tuple[Narrow, Any]]] = []
    try:
        for block, end in _blocks(content):
            if not _are_plain(block, end, separator):
                return None
            if not parts:
                first = block[: block.index(b"\n") + 1].decode()
                header = next(csv.reader([first], delimiter=separator, strict=True))
                if (
                    first.count('"') % 2
                    or not header[-1].strip()
                    or len(header) > bounded_reading.MOST_COLUMNS
                ):
                    return None
                parts = [[] for _ in header]
            names, begins = list(map(str, range(len(header)))), not parts[0]
            table = arrow.read_csv(
                cast(Any, pa.BufferReader(pa.py_buffer(block).slice(0, end))),
                read_options=arrow.ReadOptions(
                    column_names=names, skip_rows=begins, block_size=_BLOCK, use_threads=False
                ),
                parse_options=arrow.ParseOptions(
                    delimiter=separator, newlines_in_values=True, ignore_empty_lines=False
                ),
                convert_options=arrow.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
                    strings_can_be_null=False,
                ),
            )
            for found, column in zip(parts, cast(Any, table.columns), strict=True):
                for own in column.chunks:
                    codes = narrow(from_arrow(own.indices), len(own.dictionary))
                    found.append((codes, own.dictionary.cast(pa.large_string())))
        columns = list(map(joined_texts, parts))
    except (pa.ArrowException, UnicodeDecodeError, csv.Error):
        return None
    return Split(header=header, columns=columns, rows=len(columns[0].codes), ragged={})


def _blocks(content: Content) -> Iterator[tuple[bytes, int]]:
    """Yield a file in parts, and where the last line that ends in a part does so.

    The next part begins there.
    """
    begin, size = 0, _BLOCK
    while block := content[begin : begin + size]:
        if end := block.rfind(b"\n") + 1:
            yield block, end
            begin, size = begin + end, _BLOCK
        else:
            size *= 2


def _are_plain(lines: bytes, end: int, separator: str) -> bool:
    if lines.startswith((b"\n", b"\xef\xbb\xbf")) or b"\r" in lines or b"\0" in lines:
        return False
    text = np.frombuffer(lines, dtype=np.uint8, count=end)
    # Two line ends lie at an even place or at an odd one; looking for the bytes takes longer.
    pairs = (text[at : at + (end - at) // 2 * 2].view(np.uint16) for at in (0, 1))
    if any(np.any(own == _LINE * 257) for own in pairs):
        return False
    place = np.flatnonzero(text == _QUOTE)
    if not len(place):
        return True
    if len(place) % 2:
        return False
    opening, closing = place[::2], place[1::2]
    around = np.zeros(256, dtype=np.bool_)
    around[[ord(separator), _LINE]] = True
    doubled = opening[1:] == closing[:-1] + 1  # a doubled quote closes and opens again at once
    starts = np.concatenate([[opening[0] == 0], doubled]) | around[text[opening - 1]]
    ends = np.concatenate([doubled, [False]]) | around[text[np.minimum(closing + 1, len(text) - 1)]]
    return bool(starts.all() and ends.all())
