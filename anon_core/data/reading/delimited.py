"""Reading CSV: from encoded text over separator and cells to columns."""

from __future__ import annotations

import csv
import io
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import numbers_of
from anon_core.base.errors import BadInput
from anon_core.base.terms import in_figures
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.encoding import SEPARATORS, as_utf8, find_separator, row_at, row_named
from anon_core.data.reading.limits import MOST_COLUMNS, MUCH, too_wide
from anon_core.data.reading.notes import header_notes
from anon_core.data.reading.options import DataOptions
from anon_core.data.table import Dataset, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind

# Splitting text into cells; ragged rows and open quotes are refused with their place.


_BLOCK = 1 << 21
_SENTINEL = "\x02end of table\x03"


def split_cells(
    data: bytes, separator: str, width: int, name: str
) -> tuple[list[str], list[tuple[npt.NDArray[np.int32], list[str]]], int]:
    """Return the names, each column's codes and distinct texts, and the number of rows."""
    import pyarrow as pa
    from pyarrow import csv as typed_csv

    arrow_csv: Any = typed_csv  # its stubs lag behind it
    quoted = b'"' in data
    last = separator.join([_SENTINEL] * width)
    behind = b""
    if quoted:
        # A row of our own at the end: if the parser does not hand it back, a quote was left open
        # and swallowed it. Arrow itself does not complain about that.
        behind = f"\n{last}\n".encode()
    elif b"\n" not in data and b"\r" not in data:
        behind = b"\n"  # Arrow takes a header without its line end for an empty file
    length = len(data) + len(behind)
    broken: list[tuple[int, int, int]] = []
    open_row = 0
    handed_back = True

    def note(row: Any) -> str:
        nonlocal open_row, handed_back
        number = int(row.number) - 1  # the header is Arrow's row 1
        if row.text.strip("\r\n") == last:  # the header's width was guessed wrong, that is all
            handed_back = False
        elif _SENTINEL in row.text:
            open_row = number
        else:
            broken.append((number, int(row.expected_columns), int(row.actual_columns)))
        return "skip"

    def read(block: int, handler: Callable[[Any], str] | None) -> pa.Table:
        return arrow_csv.read_csv(
            pa.PythonFile(_InTurn(data, behind), mode="r"),
            read_options=arrow_csv.ReadOptions(
                # Of two cores the digest and the second computation's reader take the other one.
                use_threads=handler is None and length >= MUCH and pa.cpu_count() > 2,
                block_size=block,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=quoted, invalid_row_handler=handler
            ),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False,  # known by now
                strings_can_be_null=False,
                default_column_type=pa.dictionary(pa.int32(), pa.string()),
            ),
        )

    try:
        table = read(_block(data) if quoted else _BLOCK, None)
    except pa.ArrowInvalid:
        # Once more in one block and one thread: a row longer than a block is then no error, and
        # rows of another length come with their numbers.
        try:
            table = read(min(length + 1, (1 << 31) - 1), note)
        except pa.ArrowInvalid as error:
            if quoted and "infer number of columns" in str(error):  # not even the header ended
                raise _open_quote(f"{name}, header") from error
            raise BadInput(
                f"{name} cannot be split into rows and cells.",
                remedy="Check its quotes and line ends, or save it as CSV again.",
            ) from error
    names = [str(n) for n in table.column_names]
    if broken:
        good = table.num_rows - int(quoted and handed_back and not open_row)
        raise _ragged(broken, good, separator, name)
    if open_row:
        raise _open_quote(f"{name}, row {open_row}")
    columns: list[tuple[npt.NDArray[np.int32], list[str]]] = []
    for chunked in table.unify_dictionaries().itercolumns():
        chunks = cast(list[Any], chunked.chunks)
        codes = np.concatenate([numbers_of(c.indices) for c in chunks] or [np.empty(0, np.int32)])
        columns.append((codes, chunks[0].dictionary.to_pylist() if chunks else []))
    rows = table.num_rows
    if quoted and handed_back:
        rows -= 1
        tail = [pool[codes[-1]] for codes, pool in columns]
        if any(value != _SENTINEL for value in tail):
            # By number: a name is a cell, if a quote in the header is the one left open.
            where = next(i for i, value in enumerate(tail, start=1) if _SENTINEL in value)
            raise _open_quote(f"{name}, row {rows + 1}, column {where}")
        columns = [_without_last(codes, pool) for codes, pool in columns]
    return names, columns, rows


def _block(data: bytes) -> int:
    """Return bytes that Arrow may read at a time of a text with quotes.

    It takes a line feed that begins a block for the end of a return that ended the one before, in
    a quoted cell too.
    """
    for size in range(_BLOCK, _BLOCK + 99):
        ends = range(size, len(data), size)
        if not any(data[end - 1 : end + 1] == b"\r\n" for end in ends):
            return size
    return min(len(data) + _BLOCK, (1 << 31) - 1)


def _without_last(
    codes: npt.NDArray[np.int32], pool: list[str]
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return a column without the row of our own, whose text is no value unless a cell has it."""
    rest, own = codes[:-1], int(codes[-1])
    if own == len(pool) - 1 and not np.any(rest == own):  # it came last, as what is new does
        pool = pool[:-1]
    return rest, pool


class _InTurn(io.RawIOBase):
    """A file of several contents one after the other, none of which is copied."""

    def __init__(self, *parts: bytes) -> None:
        super().__init__()
        self._parts = [memoryview(part) for part in parts if part]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes | memoryview:  # type: ignore[override]
        """Return the next `size` bytes; fewer at the end only, where readers take them for it."""
        if not self._parts:
            return b""
        part = self._parts[0]
        if 0 <= size < len(part):
            self._parts[0] = part[size:]
            return part[:size]
        del self._parts[0]
        return b"".join((part, self.read(size - len(part) if size >= 0 else -1)))


def _open_quote(place: str) -> BadInput:
    return BadInput(
        f"{place}: a quote is opened and never closed, so the rest of the file is one cell.",
        remedy='Close the quote there; a quote inside a quoted cell is written twice ("").',
    )


def _ragged(
    broken: Sequence[tuple[int, int, int]], good: int, separator: str, name: str
) -> BadInput:
    shown = ", ".join(f"row {row} has {got}" for row, _, got in broken[:3])
    more = f" and {len(broken) - 3:,} more rows differ" if len(broken) > 3 else ""
    want = broken[0][1]
    mark = SEPARATORS.get(separator, "separator")
    remedy = (
        f"Correct these rows; put a cell that holds a {mark} in quotes. Rows are counted from 1 "
        f"below the header."
    )
    if good == 0 and want > 1 and {got for _, _, got in broken} == {want + 1}:
        remedy = (
            "Every row has one cell more than the header, which lacks a name (often that of row "
            "numbers): add it, or save without row names."
        )
    return BadInput(
        f"{name}: the header has {want} cell{'s' * (want > 1)}, but {shown}{more}.", remedy=remedy
    )


def broken_rows(
    files: Sequence[Iterator[str]], separator: str, width: int, name: str
) -> BadInput | None:
    """Return what is wrong with rows of CSV files that another reader refuses, with their numbers.

    Parameters
    ----------
    files : sequence of iterator of str
        The lines of the parts of one table, each with a header; bytes that are no UTF-8 are
        surrogates.
    """
    broken: list[tuple[int, int, int]] = []
    row = 0
    most = csv.field_size_limit(sys.maxsize)
    try:
        for lines in files:
            behind = separator.join([_SENTINEL] * width) + "\n"
            cells = csv.reader(itertools.chain(lines, ["\n", behind]), delimiter=separator)
            last: list[str] = []
            begin = row
            for place, last in enumerate(own for own in cells if own):
                row = begin + place
                said = "".join(last)
                if "\0" in said:
                    return nul_byte(name, row)
                if not said.isascii() and not _is_written(said):
                    return BadInput(
                        f"{name} is not written in UTF-8: row {row} is not.",
                        remedy="Save it as UTF-8 or Parquet, or run it with engine = 'memory'.",
                    )
                if len(last) != width and _SENTINEL not in said:
                    broken.append((row, width, len(last)))
            row -= 1
            if last != [_SENTINEL] * width:
                where = next(i for i, cell in enumerate(last, 1) if _SENTINEL in cell)
                place = f", column {where}" if len(last) == width else ""
                return _open_quote(f"{name}, row {row + 1}{place}")
    finally:
        csv.field_size_limit(most)
    return _ragged(broken, row - len(broken), separator, name) if broken else None


def _is_written(text: str) -> bool:
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


def nul_byte(name: str, row: int) -> BadInput:
    """Return a refusal of a NUL byte in a row, from 1; 0 is the header."""
    return BadInput(
        f"{name} has a NUL byte in {row_named(row)}.",
        remedy="Remove it, or save the file as plain text again.",
    )


_ENDINGS = ("An empty column without a name was", "Empty columns without a name were")


def read_csv(
    data: bytes, options: DataOptions, kinds: Mapping[str, ColumnKind], name: str
) -> Dataset:
    """Return the table that the bytes of a CSV file hold."""
    if not data:
        raise BadInput(f"{name} is empty.", remedy="Load a file with a header and rows.")
    data, notes = as_utf8(data, options, name)
    if not data or data.isspace():
        raise BadInput(
            f"{name} holds blank lines only.", remedy="Load a file with a header and rows."
        )
    nul = data.find(0)
    if nul >= 0:
        raise nul_byte(name, row_at(data, nul))
    separator, width = find_separator(data, options.separator, name)
    if width > MOST_COLUMNS:
        raise too_wide(name, width)
    names, columns, rows = split_cells(data, separator, width, name)
    names = [n.strip() for n in names]
    width = _named_width(names, columns)
    if width < len(names):
        notes = (*notes, f"{_ENDINGS[len(names) - width > 1]} left out at the end.")
        names, columns = names[:width], columns[:width]
    check_names(names)
    check_kinds(kinds, names)
    if rows == 0:
        raise BadInput(
            f"{name} has a header with {in_figures(len(names), 'column')} but no rows.",
            remedy="Load a table with at least one row below the header.",
        )
    return Dataset(
        columns=tuple(
            read_column(n, codes, pool, options, kinds.get(n))
            for n, (codes, pool) in zip(names, columns, strict=True)
        ),
        rows=rows,
        source=name,
        notes=(*notes, *header_notes(names)),
    )


def _named_width(
    names: Sequence[str], columns: Sequence[tuple[npt.NDArray[np.int32], Sequence[str]]]
) -> int:
    """Return how many columns are left without the empty, nameless ones at the end.

    Spreadsheets end every line with a separator where a column was once in use.
    """
    width = len(names)
    while width and not names[width - 1]:
        codes, pool = columns[width - 1]
        used: list[int] = np.unique(codes).tolist()
        if any(pool[code].strip() for code in used):
            break
        width -= 1
    return width or len(names)
