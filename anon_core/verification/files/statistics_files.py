"""Files for SPSS, Stata and Excel, built again from the cells of the CSV file next to them.

What the original says of its columns, titles and labels, is read from the original again. The
libraries are those of the run; what they are handed is decided here.
"""

from __future__ import annotations

import datetime
import io
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
from anon_core.verification.files.release_files import TYPED, read_release
from anon_core.verification.findings import Check, broken, judged
from anon_core.verification.recipe import demand
from anon_core.verification.text.cells import text_of
from anon_core.verification.text.texts import Spelling

if TYPE_CHECKING:
    import pandas as pd

#: Characters of a cell of Excel; bytes of a label and of a title for SPSS. More is cut.
_WIDEST, _LABEL, _TITLE = 32_767, 120, 256
_TEXT = Spelling(kind="text", neutralised=False)
#: By column, its title and by code its label.
Dictionary = Mapping[str, tuple[str, Mapping[str, str]]]


def check_typed(
    export: Mapping[str, Any],
    tables: Sequence[str],
    folder: Path,
    data: Path,
    files: Mapping[str, Content],
) -> list[Check]:
    """Check that the files asked for, and no others, are there and hold what the cells say.

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
            shown = read_release(table, files, (), lambda _: _TEXT)
            made = b"" if shown.ragged else _again(ending, shown, dictionary)
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


def _again(ending: str, shown: PublishedTable, dictionary: Dictionary) -> bytes:
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
