"""What published files are when they are written again from their cells.

There is one way to write a table, and a file must be that, byte for byte: quotes that no cell
needs, other line ends, or notes in a Parquet file that no reader of cells sees could mark a person.
"""

from __future__ import annotations

import datetime
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.verification.files.bounded_reading import (
    Content,
    is_address,
    objects_at,
    read_bytes,
    unpack,
)
from anon_core.verification.files.other_files import statistics_reader
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check, broken, judged
from anon_core.verification.recipe import demand
from anon_core.verification.text.cells import Narrow, ranked, text_of, texts_to_arrow, to_arrow

if TYPE_CHECKING:
    import pandas as pd

#: Rows of one row group of a Parquet file.
ROW_GROUP = 1 << 20
_SPECIAL = re.compile('[,"\n\r]')
_CHUNK = 1 << 14


def first_difference(content: Content, release: PublishedTable, rows: range) -> int:
    """Return the row in which a CSV file is not some rows of a table as they are written.

    The header is row 0; it is -1 where the file is written so. A row's lines end where counting
    says, so behind cells of several lines the number may be too high, by those of the rows that
    were put together with it.
    """
    # A line of one empty cell would be no line.
    place, odd = 0, re.compile(r'[,"\n\r]|\A\Z') if len(release.header) == 1 else _SPECIAL
    for number, part in enumerate(_csv_parts(release, rows, lambda texts: _cells(texts, odd))):
        found = content[place : place + len(part)]
        if len(found) != len(part) or not found.startswith(part):  # != goes byte by byte here
            pairs = enumerate(zip(found, part, strict=False))
            same = next((i for i, (a, b) in pairs if a != b), len(found))  # else it ends early
            before = 1 + (number - 1) * _CHUNK if number else 0
            return before + found.count(b"\n", 0, same)
        place += len(part)
    return -1 if place == len(content) else len(rows)


def _csv_parts(
    release: PublishedTable,
    rows: range,
    written: Callable[[Sequence[str]], Iterable[str]],
    between: str = ",",
    end: str = "\n",
) -> Iterator[bytes | memoryview]:
    """Yield a CSV file in UTF-8, given how its cells are written and what parts and ends them."""
    import pyarrow.compute as pc

    yield (between.join(written(release.header)) + end).encode()
    ends = [between] * (len(release.header) - 1) + [end]
    pools = [
        texts_to_arrow([text + after for text in written(pool)])
        for pool, after in zip(release.texts, ends, strict=True)
    ]
    for start in rows[::_CHUNK]:
        some = slice(start, min(start + _CHUNK, rows.stop))
        pairs = zip(pools, release.codes, strict=True)
        cells = [pool.take(to_arrow(np.asarray(own[some]))) for pool, own in pairs]
        lines = cast(Any, pc).binary_join_element_wise(*cells, texts_to_arrow([""])[0])
        _, places, text = lines.buffers()
        last = np.frombuffer(places, dtype=np.int64)[lines.offset + len(lines)]
        yield memoryview(text).cast("B")[:last]


def _cells(texts: Sequence[str], odd: re.Pattern[str]) -> Sequence[str]:
    """Return texts as cells, in quotes where they are odd; one look at all of them is faster."""
    if odd is _SPECIAL and odd.search("\t".join(texts)) is None:
        return texts
    return ['"' + text.replace('"', '""') + '"' if odd.search(text) else text for text in texts]


def is_parquet_of(content: Content, release: PublishedTable, rows: range) -> bool:
    """Say whether a file is, byte for byte, the Parquet file of some rows of a table.

    Every row group has its own dictionaries, which hold the texts of its rows in their order. What
    is written is compared as it comes, so that the file need not be held.
    """
    # Of which columns a file tells the least and greatest text: the first, formerly all. Files say
    # it, but asking one that is broken may end the process.
    return any(_is_written(content, release, rows, of) for of in (release.header[:1], True))


def _is_written(
    content: Content, release: PublishedTable, rows: range, extremes: bool | list[str]
) -> bool:
    """Say whether a Parquet file is what is written, with the ends of some columns or of all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([pa.field(name, kind) for name in release.header])
    pools = list(map(ranked, release.texts))
    sink = _Against(content)
    with pq.ParquetWriter(
        cast(Any, sink), schema, compression="zstd", write_statistics=cast(Any, extremes)
    ) as writer:
        for start in rows[::ROW_GROUP] or (rows.start,):  # of no row there is one group as well
            if not sink.same:
                return False
            end = min(start + ROW_GROUP, rows.stop)
            columns = [
                _with_own_dictionary(rank[codes[start:end]], shown)
                for codes, (rank, shown) in zip(release.codes, pools, strict=True)
            ]
            part = pa.Table.from_arrays(columns, schema=schema)
            writer.write_table(part, row_group_size=ROW_GROUP)
    return sink.same and sink.place == len(content)


class _Against(io.RawIOBase):
    """A file that compares what is written to it with what is there."""

    def __init__(self, content: Content) -> None:
        super().__init__()
        self.content, self.place, self.same = content, 0, True

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def write(self, part: Any) -> int:
        written = bytes(part)
        if self.same:
            self.same = self.content[self.place : self.place + len(written)] == written
        self.place += len(written)
        return len(written)


def _with_own_dictionary(ranks: Narrow, shown: list[str]) -> Any:
    """Return cells with a dictionary of the texts that they show, in order."""
    import pyarrow as pa

    used = np.zeros(len(shown), dtype=np.bool_)
    used[ranks] = True
    texts = shown
    if not used.all():
        ranks = (np.cumsum(used, dtype=np.int32) - np.int32(1))[ranks]
        texts = [shown[place] for place in np.flatnonzero(used).tolist()]
    return pa.DictionaryArray.from_arrays(
        to_arrow(ranks.astype(np.int32, copy=False)), texts_to_arrow(texts).cast(pa.string())
    )


# The file for the reader's spreadsheet, written again from the cells as the recipe says.


#: What follows a table's name in that of the file.
ENDING = "spreadsheet.csv"
_KNOWN: Mapping[str, tuple[object, ...]] = {
    "separator": (",", ";", "\t", "|"),
    "decimal": ("", ",", "."),
    "bom": (False, True),
    "line_end": ("lf", "crlf"),
    "quotes": ("needed", "all"),
}


def names_of(tables: list[str]) -> list[str]:
    """Return what the files of some tables would be called."""
    return [f"{table}.{ENDING}" for table in tables]


def check_dialect(
    export: Mapping[str, Any], published: Mapping[str, PublishedTable], files: Mapping[str, Content]
) -> list[Check]:
    """Check that each such file has the marks asked for, the cells of the release, and no more.

    Raises
    ------
    BadPlan
        If what the recipe says is no dialect.
    """
    asked = _asked(export)
    found: list[Check] = []
    for name, release in published.items():
        file = f"{name}.{ENDING}"
        if file not in files:
            continue
        words = f"{file} is there, but the recipe declares no file for a spreadsheet."
        if asked is not None:
            words = (
                f"{file} is not byte for byte what is written of the release's cells with the "
                "separator, decimal mark, line ends and quotes that the recipe declares."
            )
        kept = (
            f"{file} is, byte for byte, what is written of the same rows with the marks that the "
            "recipe declares."
        )
        same = asked is not None and files[file][:] == _again(release, asked)
        found.append(judged("dialect", not same, words, kept))
    return found


def check_presence(
    export: Mapping[str, Any], tables: list[str], files: Mapping[str, Content]
) -> list[Check]:
    """Check that what the recipe says for a spreadsheet is there."""
    gone = [name for name in names_of(tables) if name not in files]
    if _asked(export) is None or not gone:
        return []
    sentence = f"{gone[0]} is missing, which the recipe declares for a spreadsheet."
    return [broken("dialect", sentence)]


def _asked(export: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if "dialect" not in export:
        return None
    given = cast(object, export["dialect"])
    table = cast(Mapping[str, Any], given) if isinstance(given, Mapping) else {"": given}
    allowed = {key: [(v, type(v)) for v in values] for key, values in _KNOWN.items()}
    kept = all((value, type(value)) in allowed.get(key, ()) for key, value in table.items())
    demand(kept, "The recipe's dialect is unknown.", "Correct [export.dialect].")
    return {**{key: values[0] for key, values in _KNOWN.items()}, **table}


def _again(release: PublishedTable, marks: Mapping[str, Any]) -> bytes:
    """Write a release with the marks that the recipe declares."""
    between, end = marks["separator"], "\r\n" if marks["line_end"] == "crlf" else "\n"
    only = len(release.header) == 1

    def cell(text: str) -> str:
        if marks["decimal"]:
            text = re.sub(r"\A([+-]?[0-9]+)[.,]([0-9]+)\Z", rf"\1{marks['decimal']}\2", text)
        plain = re.search(rf'[{re.escape(between)}"\r\n]', text) is None and (text or not only)
        if plain and marks["quotes"] == "needed":
            return text
        return '"' + text.replace('"', '""') + '"'

    parts = _csv_parts(release, range(release.rows), lambda texts: map(cell, texts), between, end)
    return ("\ufeff" if marks["bom"] else "").encode() + b"".join(parts)


# Files for statistics programs and Excel, written again from the cells.


#: Their endings.
TYPED = ("sav", "dta", "xlsx")
#: Characters of a cell of Excel; bytes of a label and of a title for SPSS. More is cut.
_WIDEST, _LABEL, _TITLE = 32_767, 120, 256
#: By column, its title and by code its label.
Dictionary = Mapping[str, tuple[str, Mapping[str, str]]]


def check_typed(
    export: Mapping[str, Any],
    tables: Sequence[str],
    folder: Path,
    data: Path,
    read: Callable[[str], PublishedTable],
) -> list[Check]:
    """Check that the files asked for, and no others, are there and hold what the cells say.

    What the original says of its columns, titles and labels, is read from the original again. The
    libraries are those of the run; what they are handed is decided here.

    Parameters
    ----------
    read : callable
        Reads the published table of a name.

    Raises
    ------
    BadInput, BadPlan
        If a file cannot be read, or the recipe names a format that is none.
    """
    asked: Any = export.get("formats", [])
    kept = isinstance(asked, list | tuple) and all(one in TYPED for one in asked)
    demand(kept, "The recipe's formats are unknown.", "Correct [export].")
    names = [f"{table}.{ending}" for table in tables for ending in TYPED]
    there = [name for name in names if os.path.lexists(folder / name)]
    wanted = [f"{table}.{ending}" for table in tables for ending in asked]
    gone, odd = "is missing, which the recipe declares", "is there, but the recipe does not declare"
    found = [
        broken("formats", f"{name} {gone if name in wanted else f'{odd} it'}.")
        for name in sorted({*there} ^ {*wanted})
    ]
    both = [name for name in wanted if name in there]
    dictionary = _dictionary(data) if both else {}
    for name in both:
        table, _, ending = name.rpartition(".")
        # Of rows that are none nothing can be written; another check names what is wrong with them.
        made = b""
        with suppress(BadInput):
            shown = read(table)
            made = b"" if shown.ragged else _typed(ending, shown, dictionary)
        found.append(
            judged(
                "formats",
                not made or made != read_bytes(folder / name, "The published file"),
                f"{name} is not byte for byte what is written of the release's cells and the "
                "labels of the original: what else it holds could mark a person.",
                f"{name} is, byte for byte, what is written of the same rows, with the titles and "
                "labels of the original.",
            )
        )
    return found


def _dictionary(data: Path) -> Dictionary:
    """Return what the original says of its columns; nothing where its format says nothing."""
    import pyreadstat

    if is_address(data):
        folder, (first, *_) = objects_at(data)
        with first.opened() as file:
            head = file.read_at(4, 0)
        content = b"" if folder or head == b"PAR1" else unpack(first.content(), first.name)
    else:
        # Parts are CSV or Parquet.
        content = b"" if data.is_dir() else unpack(read_bytes(data, "The data file"), data.name)
    reader = statistics_reader(content)
    if not reader:
        return {}
    try:
        _, metadata = getattr(pyreadstat, reader)(io.BytesIO(content), metadataonly=True)
    except (ValueError, pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise BadInput("The original cannot be read.", remedy="Copy it again.") from error
    return {
        name.strip(): (
            str(metadata.column_names_to_labels.get(name) or "").strip(),
            {
                text_of(code).strip(): label.strip()
                for code, label in metadata.variable_value_labels.get(name, {}).items()
            },
        )
        for name in metadata.column_names
    }


def _typed(ending: str, shown: PublishedTable, dictionary: Dictionary) -> bytes:
    import pandas as pd

    cells: dict[str, Any] = {}
    titles: dict[str, str] = {}
    labels: dict[str, dict[float, str]] = {}
    for name, codes, pool in zip(shown.header, shown.codes, shown.texts, strict=True):
        texts = [pool[code] for code in codes.tolist()]
        title, labelled = dictionary.get(name, ("", {}))
        value, own = _values(set(texts) - {""}, labelled)
        cells[name] = (
            pd.Series([value.get(text) for text in texts], dtype="float64")
            if value
            else pd.Series(texts, dtype="str")
        )
        if title:
            titles[name] = title
        if own:
            labels[name] = own
        if ending == "xlsx" and own:
            cells[name] = pd.Series(texts, dtype="str")
    frame = pd.DataFrame(cells)
    return _sheet(frame) if ending == "xlsx" else _file(ending, frame, titles, labels)


def _values(
    shown: set[str], labelled: Mapping[str, str]
) -> tuple[dict[str, float], dict[float, str]]:
    """Return which number each cell represents, none where some is none; and labels of numbers."""
    if all(map(_is_number, labelled)) and shown and labelled:
        once = len(set(labelled.values())) == len(labelled)
        if once and shown <= set(labelled.values()):
            found = sorted((float(c), label) for c, label in labelled.items() if label in shown)
            return {label: number for number, label in found}, dict(found)
        if shown <= set(labelled):
            found = sorted((float(c), label) for c, label in labelled.items() if c in shown)
            return {c: float(c) for c in shown}, dict(found)
    return ({c: float(c) for c in shown}, {}) if all(map(_is_number, shown)) else ({}, {})


def _is_number(text: str) -> bool:
    whole, point, decimals = text.lstrip("+-").partition(".")
    digits = whole.isascii() and whole.isdigit() and (whole == "0" or whole[0] != "0")
    signs = len(text) - len(text.lstrip("+-"))
    return digits and signs <= 1 and (not point or (decimals.isascii() and decimals.isdigit()))


def _sheet(frame: pd.DataFrame) -> bytes:
    import xlsxwriter

    sink = io.BytesIO()
    book = xlsxwriter.Workbook(sink, {"in_memory": True})
    book.set_properties({"created": datetime.datetime(2000, 1, 1)})
    sheet = book.add_worksheet("release")
    kept = True  # what a sheet has no room for is cut or left out, and only the answer says so
    for x, name in enumerate(frame.columns):
        kept &= sheet.write_string(0, x, name) == 0
        for y, cell in enumerate(frame[name], start=1):
            if isinstance(cell, str):
                if cell:
                    kept &= sheet.write_string(y, x, cell) == 0 and len(cell) <= _WIDEST
                    kept &= len(cell.encode("utf-16-le", "surrogatepass")) <= 2 * _WIDEST
            elif cell == cell:
                kept &= sheet.write_number(y, x, cell) == 0
    book.close()
    return sink.getvalue() if kept else b""  # which no file is


def _file(
    ending: str,
    frame: pd.DataFrame,
    titles: Mapping[str, str],
    labels: Mapping[str, Mapping[float, str]],
) -> bytes:
    import pyreadstat

    if ending == "sav" and (
        any(len(title.encode()) > _TITLE for title in titles.values())
        or any(len(one.encode()) > _LABEL for own in labels.values() for one in own.values())
    ):
        return b""
    labelling: dict[str, Any] = {"column_labels": titles, "variable_value_labels": labels}
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "again")
        try:
            if ending == "sav":
                pyreadstat.write_sav(cast(Any, frame), place, **labelling)
            else:
                pyreadstat.write_dta(cast(Any, frame), place, version=14, **labelling)
        except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError):
            return b""  # which no file is
        content = Path(place).read_bytes()
    if ending == "sav":
        return content[:92] + b"01 Jan 00" + b"00:00:00" + content[109:]
    return re.sub(rb"(<timestamp>\x11)[^<]{17}", rb"\g<1>01 Jan 2000 00:00", content, count=1)
