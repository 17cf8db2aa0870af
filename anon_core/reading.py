"""Reading a table: CSV or Parquet bytes become a `Dataset`, or an error that says what to do."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from .errors import BadInput, BadPlan, listing, nearest
from .table import (
    MISSING,
    MISSING_TOKENS,
    Column,
    ColumnKind,
    Dataset,
    as_number,
    check_kinds,
    check_names,
    encode,
    plain_text,
)

Missing = Literal["keep", "drop"]
SEPARATORS: Mapping[str, str] = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
MOST_COLUMNS = 2000
#: Largest file, packed or unpacked, that is read unless the caller says otherwise: 1 GiB.
MOST_BYTES = 1 << 30
#: A text column of which this share of distinct values are numbers gets a note.
_MOSTLY = 0.8
_HEAD = 1 << 20
_SAMPLED_ROWS = 50
_BLOCK = 1 << 20
_SENTINEL = "\x02end of table\x03"
_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0", "an old Excel or other Office file"),
    (b"%PDF", "a PDF file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (b"$FL2", "an SPSS file"),
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
_AS_CSV = "Save it as CSV or Parquet and load that file."


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """How a table is read: the ``[data]`` table of a recipe.

    Attributes
    ----------
    separator : str
        The character between cells; empty to find it out among comma, semicolon, tab and bar.
    missing : {'keep', 'drop'}
        Whether a run keeps rows that miss a value in a column with a role, or drops them. Reading
        itself never drops a row.
    missing_values : tuple of str
        Texts that stand for a missing value; the empty text always does.
    encoding : str
        The file's encoding; empty to find it out.

    Raises
    ------
    BadPlan
        Naming the key, what is allowed and what was found.
    """

    separator: str = ""
    missing: Missing = "keep"
    missing_values: tuple[str, ...] = MISSING_TOKENS
    encoding: str = ""

    def __post_init__(self) -> None:
        """Refuse options that no file can be read with."""
        mark = cast(object, self.separator)
        if mark != "" and not (isinstance(mark, str) and mark in _MARKS and len(mark) == 1):
            raise BadPlan(
                f"[data] separator is {mark!r}; allowed is one character such as ',', ';', a tab "
                f"or '|', or an empty text.",
                remedy="Leave it empty to have the separator found out.",
            )
        if self.missing not in get_args(Missing):
            raise BadPlan(
                f"[data] missing is {self.missing!r}; allowed are {listing(get_args(Missing))}.",
                remedy="Keep rows with missing values, or drop them."
                f"{nearest(str(self.missing), get_args(Missing))}",
            )
        tokens = cast(object, self.missing_values)
        if isinstance(tokens, str) or not isinstance(tokens, Sequence):
            raise BadPlan(
                "[data] missing_values is no list; allowed is a list of texts.",
                remedy='Write it as a list, for example ["", "?", "NA"].',
            )
        texts = tuple(cast(Sequence[object], tokens))
        if not all(isinstance(text, str) for text in texts):
            raise BadPlan(
                "[data] missing_values holds something that is no text; allowed are texts.",
                remedy='Write numbers in quotes too, for example "-9".',
            )
        object.__setattr__(self, "missing_values", texts)
        name = cast(object, self.encoding)
        try:
            if not isinstance(name, str):
                raise LookupError
            if name:
                "a".encode(name)
        except (LookupError, ValueError):
            raise BadPlan(
                f"[data] encoding is {name!r}, which is not known; allowed are names such as "
                f"{listing(_ENCODINGS)}, or an empty text.",
                remedy=f"Leave it empty to have it found out.{nearest(str(name), _ENCODINGS)}",
            ) from None

    @classmethod
    def from_mapping(cls, given: Mapping[str, object]) -> DataOptions:
        """Build the options from a recipe's or a form's values.

        Raises
        ------
        BadPlan
            On an unknown key, with the nearest name, or a value that is not allowed.
        """
        known = [field.name for field in fields(cls)]
        for key in given:
            if key not in known:
                raise BadPlan(
                    f"[data] has the unknown key '{key}'; allowed are {listing(known)}.",
                    remedy=f"Remove or rename it.{nearest(key, known)}",
                )
        return cls(**cast(dict[str, Any], dict(given)))

    def as_mapping(self) -> dict[str, object]:
        """Return the options as plain values by key."""
        return {
            "separator": self.separator,
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "encoding": self.encoding,
        }


_MARKS = " \t!#$%&()*+,-/:;<=>?@[\\]^_`{|}~"
_ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1250", "iso8859-15")


def read_table(
    source: str | Path | bytes,
    options: DataOptions = DataOptions(),
    *,
    kinds: Mapping[str, ColumnKind] | None = None,
    name: str = "",
    most_bytes: int = MOST_BYTES,
) -> Dataset:
    """Read a CSV file (plain or gzip) or a Parquet file; what it is, its content says.

    Blanks around cells and column names are removed. Every cell is read as the text it is, so
    leading zeros survive. Rows are counted from 1 below the header; blank lines are no rows.

    Parameters
    ----------
    source : str, Path or bytes
        A path, or the file's content.
    options : DataOptions, optional
    kinds : mapping of str to ColumnKind, optional
        Columns whose kind is declared instead of found out.
    name : str, optional
        The source's name for headings and messages; the file's name if empty.
    most_bytes : int, optional
        Refuse files larger than this, packed or unpacked.

    Raises
    ------
    BadInput
        If there is no file, it is no table, or the table is broken. The message names the place
        and the remedy and holds no cell value.
    """
    if isinstance(source, bytes):
        data, name = source, name or "the table"
    else:
        path = Path(source)
        name = name or path.name
        data = _load(path, name, most_bytes)
    if len(data) > most_bytes:
        raise _too_large(name, len(data), most_bytes)
    if data.startswith(b"\x1f\x8b"):
        data = _unpack(data, name, most_bytes)
    if data.startswith((b"PAR1", b"PARE")):
        return _read_parquet(data, options, kinds or {}, name)
    _refuse_foreign(data, name)
    return _read_csv(data, options, kinds or {}, name)


def _load(path: Path, name: str, most_bytes: int) -> bytes:
    try:
        size = path.stat().st_size
        # What is refused for its size shall not fill the memory first.
        data = path.read_bytes() if size <= most_bytes or path.is_dir() else None
    except IsADirectoryError:
        raise BadInput(
            f"'{name}' is a folder, not a file.", remedy="Name the CSV or Parquet file inside it."
        ) from None
    except FileNotFoundError:
        raise BadInput(
            f"There is no file '{path}'.", remedy="Check the path and its spelling."
        ) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "the path is not valid"
        raise BadInput(
            f"'{name}' cannot be read ({why}).", remedy="Check the path and your permissions."
        ) from error
    if data is None:
        raise _too_large(name, size, most_bytes)
    return data


def _too_large(name: str, size: int, most_bytes: int) -> BadInput:
    return BadInput(
        f"{name} has {size / 2**20:,.1f} MiB; at most {most_bytes / 2**20:,.1f} MiB are read here.",
        remedy="Leave out columns that are not needed, save it as Parquet, or use the command "
        "line for a table of this size.",
    )


def _unpack(data: bytes, name: str, most_bytes: int) -> bytes:
    parts: list[bytes] = []
    room = most_bytes
    rest = data
    try:
        while rest.startswith(b"\x1f\x8b"):  # a file may hold several members
            unpacker = zlib.decompressobj(wbits=31)
            part = unpacker.decompress(rest, room + 1)
            room -= len(part)
            if room < 0:
                # The packed size says nothing: a few KiB can unpack to any size.
                raise BadInput(
                    f"{name} unpacks to more than {most_bytes / 2**20:,.1f} MiB, the most that is "
                    f"read here.",
                    remedy="Leave out columns that are not needed, save it as Parquet, or use the "
                    "command line for a table of this size.",
                )
            parts.append(part)
            if not unpacker.eof:
                raise zlib.error
            rest = unpacker.unused_data
    except zlib.error:
        raise BadInput(
            f"{name} is a broken gzip file: it ends early or was changed.",
            remedy="Copy or download it again, or pack it anew.",
        ) from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _refuse_foreign(data: bytes, name: str) -> None:
    if data.startswith(b"PK\x03\x04"):
        if b"xl/" in data:
            raise BadInput(
                f"{name} is an Excel workbook, not a CSV or Parquet file.",
                remedy="Open it in Excel and save the sheet as CSV (UTF-8), or as Parquet.",
            )
        raise BadInput(
            f"{name} is a zip archive, not a CSV or Parquet file.",
            remedy="Unpack it and load the CSV or Parquet file inside.",
        )
    start = data[:64].lstrip()
    for magic, what in _FOREIGN:
        if start.startswith(magic):
            raise BadInput(f"{name} is {what}, not a CSV or Parquet file.", remedy=_AS_CSV)


def _as_utf8(data: bytes, options: DataOptions, name: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the text as UTF-8 without mark, and a note where another encoding was read."""
    marked = next(((bom, codec) for bom, codec in _BOMS if data.startswith(bom)), None)
    encoding = options.encoding and codecs.lookup(options.encoding).name
    if not encoding and marked is None:
        head = data[:4096]
        if head.count(0) * 3 > len(head):
            raise BadInput(
                f"{name} is text in UTF-16 or UTF-32 without its mark, or no text.",
                remedy="Save it as UTF-8, or set the encoding, for example 'utf-16-le'.",
            )
        if sum(head.count(byte) for byte in range(1, 9)) * 20 > len(head):
            raise BadInput(f"{name} is a binary file of an unknown kind.", remedy=_AS_CSV)
        wrong = _wrong_byte(data, "utf-8")
        if wrong is None:
            return data, ()
        # Windows-1252 is Latin-1 with letters and signs in place of 32 control characters.
        latin, title = "cp1252", "Latin-1 (Windows-1252)"
        if _wrong_byte(data, latin) is not None:
            latin, title = "latin-1", "Latin-1"
        note = f"The file was read as {title}: it is not valid UTF-8 at byte {wrong + 1}."
        return data.decode(latin).encode(), (note,)
    codec = encoding or (marked[1] if marked else "")
    wrong = _wrong_byte(data, codec)
    if wrong is not None:
        declared = f"declared as {codec}" if encoding else f"marked as {codec}"
        place = "" if codec.startswith(("utf-16", "utf-32")) else f", in {_row_at(data, wrong)}"
        raise BadInput(
            f"{name} is {declared}, but is not valid {codec} at byte {wrong + 1}{place}.",
            remedy="Leave the encoding empty to have it found out, or save the file as UTF-8.",
        )
    if codec in ("utf-8", "utf-8-sig", "ascii"):
        return data.removeprefix(codecs.BOM_UTF8), ()
    text = data.decode(codec).removeprefix("\ufeff")
    note = () if encoding else (f"The file was read as {codec.upper()}, as its mark says.",)
    return text.encode(), note


def _wrong_byte(data: bytes, codec: str) -> int | None:
    """Return the place of the first byte that `codec` cannot decode, or None."""
    if data.isascii() and codec in ("utf-8", "ascii", "cp1252", "latin-1"):
        return None
    decoder = codecs.getincrementaldecoder(codec)()
    step = 1 << 24  # in pieces, so that the decoded text never stands in memory as a whole
    for begin in range(0, len(data), step):
        carried = decoder.getstate()[0]
        try:
            decoder.decode(data[begin : begin + step], final=begin + step >= len(data))
        except UnicodeError as error:
            return begin - len(carried) + int(getattr(error, "start", 0))
    return None


def _read_csv(
    data: bytes, options: DataOptions, kinds: Mapping[str, ColumnKind], name: str
) -> Dataset:
    if not data:
        raise BadInput(f"{name} is empty.", remedy="Load a file with a header and rows.")
    data, notes = _as_utf8(data, options, name)
    if not data or data.isspace():
        raise BadInput(
            f"{name} holds blank lines only.", remedy="Load a file with a header and rows."
        )
    nul = data.find(0)
    if nul >= 0:
        raise BadInput(
            f"{name} has a NUL byte in {_row_at(data, nul)}.",
            remedy="Remove it, or save the file as plain text again.",
        )
    separator, width = _separator(data, options.separator, name)
    if width > MOST_COLUMNS:
        raise _too_wide(name, width)
    names, columns, rows = _parse(data, separator, width, name)
    names = [n.strip() for n in names]
    _check_header(names, kinds)
    if rows == 0:
        raise BadInput(
            f"{name} has a header with {len(names)} columns but no rows.",
            remedy="Load a table with at least one row below the header.",
        )
    if len(names) == 1:
        notes = (*notes, "The table has one column; no separator was found in its header.")
    numeric = [str(i + 1) for i, n in enumerate(names) if not np.isnan(as_number(n))]
    if numeric:
        notes = (
            *notes,
            f"The first line was taken as column names, but the name of column "
            f"{', '.join(numeric[:5])} is a number; check that the file has a header.",
        )
    return Dataset(
        columns=tuple(
            _column(n, codes, pool, options, kinds.get(n))
            for n, (codes, pool) in zip(names, columns, strict=True)
        ),
        rows=rows,
        source=name,
        notes=notes,
    )


def _check_header(names: Sequence[str], kinds: Mapping[str, ColumnKind]) -> None:
    check_names(names)
    check_kinds(kinds, names)


def _too_wide(name: str, width: int) -> BadInput:
    return BadInput(
        f"{name} has {width:,} columns; at most {MOST_COLUMNS:,} are read.",
        remedy="Leave out columns that are not needed for the release.",
    )


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


def _separator(data: bytes, given: str, name: str) -> tuple[str, int]:
    """Return the separator and the number of columns of the header."""
    head = data[:_HEAD].decode("utf-8", errors="ignore")
    whole = len(data) <= _HEAD
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


def _parse(
    data: bytes, separator: str, width: int, name: str
) -> tuple[list[str], list[tuple[npt.NDArray[np.int32], list[str]]], int]:
    import pyarrow as pa
    from pyarrow import csv as typed_csv

    arrow_csv: Any = typed_csv  # its stubs lag behind it
    quoted = b'"' in data
    last = separator.join([_SENTINEL] * width)
    if quoted:
        # A row of our own at the end: if the parser does not hand it back, a quote was left open
        # and swallowed it. Arrow itself does not complain about that.
        data = b"".join((data, b"\n", last.encode(), b"\n"))
    elif b"\n" not in data and b"\r" not in data:
        data += b"\n"  # Arrow takes a header without its line end for an empty file
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
            pa.py_buffer(data),
            read_options=arrow_csv.ReadOptions(use_threads=handler is None, block_size=block),
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
        table = read(_BLOCK, None)
    except pa.ArrowInvalid:
        # Once more in one block and one thread: a row longer than a block is then no error, and
        # rows of another length come with their numbers.
        try:
            table = read(min(len(data) + 1, (1 << 31) - 1), note)
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
        codes = np.concatenate([c.indices.to_numpy() for c in chunks] or [np.empty(0, np.int32)])
        columns.append((codes, chunks[0].dictionary.to_pylist() if chunks else []))
    rows = table.num_rows
    if quoted and handed_back:
        rows -= 1
        tail = [pool[codes[-1]] for codes, pool in columns]
        if any(value != _SENTINEL for value in tail):
            # By number: a name is a cell, if a quote in the header is the one left open.
            where = next(i for i, value in enumerate(tail, start=1) if _SENTINEL in value)
            raise _open_quote(f"{name}, row {rows + 1}, column {where}")
        columns = [(codes[:-1], pool) for codes, pool in columns]
    return names, columns, rows


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


def _row_at(data: bytes, place: int) -> str:
    """Return which row holds the byte at `place`; line ends within quotes start no row."""
    part = np.frombuffer(data, dtype=np.uint8, count=place)
    ends = (part == 10) | ((part == 13) & (np.append(part[1:], 0) != 10))
    outside = (np.cumsum(part == 34) & 1) == 0
    places = np.flatnonzero(ends & outside)
    # Neighbouring line ends enclose a blank line, which is no row.
    begins = np.concatenate([[-1], places[:-1]])
    filled = sum(
        data[begin + 1 : end].strip(b"\r\n") != b""
        for begin, end in zip(begins.tolist(), places.tolist(), strict=False)
    )
    return f"row {filled}" if filled else "the header"


def _read_parquet(
    data: bytes, options: DataOptions, kinds: Mapping[str, ColumnKind], name: str
) -> Dataset:
    import pyarrow as pa
    from pyarrow import parquet
    from pyarrow import types as arrow_types

    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        schema = file.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise _broken_parquet(name) from error
    # pandas stores the labels of its index as columns; they are row numbers, not data.
    index = [n for n in schema.names if re.fullmatch(r"__index_level_\d+__", n)]
    names = [n for n in schema.names if n not in index]
    if len(names) > MOST_COLUMNS:
        raise _too_wide(name, len(names))
    stripped = [n.strip() for n in names]
    _check_header(stripped, kinds)
    for field in schema:
        kind = field.type
        while arrow_types.is_dictionary(kind):
            kind = kind.value_type
        if arrow_types.is_nested(kind) or arrow_types.is_binary(kind):
            what = "raw bytes" if arrow_types.is_binary(kind) else f"nested values ({kind})"
            raise BadInput(
                f"{name}: column '{field.name}' holds {what}, not one plain value a row.",
                remedy="Split it into plain columns, or leave it out.",
            )
    if file.metadata.num_rows == 0:
        raise BadInput(
            f"{name} has {len(names)} columns but no rows.",
            remedy="Load a table with at least one row.",
        )
    texts = [f.name for f in schema if arrow_types.is_string(f.type)]
    try:
        # The file's own dictionaries of texts are kept, so that no text is built twice.
        file = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        table = file.read(columns=names)
        columns = tuple(
            _column(plain, *_encoded(table.column(n)), options, kinds.get(plain))
            for n, plain in zip(names, stripped, strict=True)
        )
    except (pa.ArrowException, OSError) as error:
        raise _broken_parquet(name) from error
    notes = ("The row labels that pandas stored were left out.",) if index else ()
    return Dataset(columns=columns, rows=table.num_rows, source=name, notes=notes)


def _broken_parquet(name: str) -> BadInput:
    return BadInput(
        f"{name} is a broken or encrypted Parquet file.",
        remedy="Copy or download it again, or write it anew without encryption.",
    )


def _encoded(chunked: Any) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return codes (-1 for null) and texts of a plain Parquet column of any type."""
    import pyarrow as pa

    array = chunked.unify_dictionaries().combine_chunks()
    if not isinstance(array, pa.DictionaryArray):
        array = array.dictionary_encode()
    pool = array.dictionary
    floats = pa.types.is_floating(pool.type)
    # numpy's float32 writes 0.1 where Python's float writes what 0.1 becomes in 64 bits.
    values = list(pool.to_numpy(zero_copy_only=False)) if floats else pool.to_pylist()
    texts = ["" if value is None or value != value else plain_text(value) for value in values]
    gone = np.array([value is None or value != value for value in values] + [True])
    # Widened first: an index of 8 bits has no room for one more place.
    codes = array.indices.cast(pa.int32()).fill_null(len(values)).to_numpy()
    target = np.append(np.arange(len(values), dtype=np.int32), np.int32(-1))
    target[gone] = -1
    return target[codes], texts


def _column(
    name: str,
    codes: npt.NDArray[np.int32],
    pool: Sequence[str],
    options: DataOptions,
    kind: ColumnKind | None,
) -> Column:
    """Trim the pool, mark missing values, encode, and note what a person should know."""
    absent = {MISSING, *(token.strip() for token in options.missing_values)}
    places: dict[str, int] = {}
    target = np.empty(len(pool) + 1, dtype=np.int32)
    for i, value in enumerate(pool):
        text = value.strip()
        target[i] = -1 if text in absent else places.setdefault(text, len(places))
    target[-1] = -1
    column = encode(name, target[codes], list(places), kind=kind)
    return _noted(column, declared=kind is not None)


def _noted(column: Column, *, declared: bool) -> Column:
    notes: tuple[str, ...] = ()
    if not column.values:
        notes = ("Every value is missing.",)
    elif len(column.values) == 1 and not column.missing:
        notes = ("Every row has the same value.",)
    elif column.kind == "text" and not declared:
        notes = _mixed(column)
    return replace(column, notes=(*column.notes, *notes)) if notes else column


def _mixed(column: Column) -> tuple[str, ...]:
    total = len(column.values)
    others: list[int] = []
    for place, value in enumerate(column.values):
        if np.isnan(as_number(value)):
            others.append(place)
            if len(others) > (1 - _MOSTLY) * total:  # most text columns stop here, early
                return ()
    if not others:
        return ()
    first = int(np.flatnonzero(np.isin(column.codes, others))[0])
    return (
        f"{len(others)} of {total} distinct values are not numbers (first in row {first + 1}), so "
        f"the column is text.",
    )
