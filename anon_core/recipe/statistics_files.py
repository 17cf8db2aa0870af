"""A release for SPSS, Stata and Excel: numbers as numbers, and labels given back to their codes.

The CSV file that verification reads stays as it is; these files hold the same rows next to it.
Verification builds them again from its cells and from what the original says of its columns.
"""

from __future__ import annotations

import datetime
import io
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.data.table import Meaning

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")
_MOST_ROWS_OF_EXCEL = (1 << 20) - 1
_MOST_COLUMNS_OF_EXCEL = 1 << 14
_MOST_LETTERS_OF_EXCEL = 32_767
#: Bytes of a value's label and of a column's title beyond which SPSS cuts them.
_MOST_OF_SPSS = {"label": 120, "title": 256}
_MADE = datetime.datetime(2000, 1, 1)
#: Where SPSS's format holds day and time of writing, and what is there instead.
_SPSS_MADE = (92, b"01 Jan 0000:00:00")
_STATA_MADE = re.compile(rb"(?<=<timestamp>\x11).{17}", flags=re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Typed:
    """One column: its cells, numbers where all of them are, and the labels of its numbers."""

    name: str
    title: str
    texts: Sequence[str]
    numbers: Sequence[float | None] | None
    labels: Mapping[float, str]


def typed(name: str, texts: Sequence[str], meaning: Meaning) -> Typed:
    """Return a published column as numbers where all its cells are numbers or labels of codes.

    Labels that no published cell shows are left out, since they might tell of who was left out.
    """
    shown = set(texts) - {""}
    codes = {label: code for code, label in meaning.labels.items()}
    plain = all(_NUMBER.fullmatch(code) for code in meaning.labels)
    number: dict[str, float] = {}
    labels: dict[float, str] = {}
    if plain and shown and shown <= codes.keys() and len(codes) == len(meaning.labels):
        number = {label: float(codes[label]) for label in shown}
        labels = {value: label for label, value in number.items()}
    elif plain and shown and shown <= meaning.labels.keys():
        number = {code: float(code) for code in shown}
        labels = {value: meaning.labels[code] for code, value in number.items()}
    elif shown and all(_NUMBER.fullmatch(text) for text in shown):
        number = {text: float(text) for text in shown}
    return Typed(
        name=name,
        title=meaning.title,
        texts=texts,
        numbers=[number.get(text) for text in texts] if number else None,
        labels=dict(sorted(labels.items())),
    )


def as_spss(columns: Sequence[Typed]) -> bytes:
    """Return columns as a .sav file."""
    import pyreadstat

    first: dict[str, str] = {}
    for column in columns:
        other = first.setdefault(column.name.lower(), column.name)
        if other != column.name:
            raise BadPlan(
                f"Columns '{other}' and '{column.name}' are one variable to SPSS, which does not "
                "distinguish upper and lower case.",
                remedy="Rename one of them in the table, or leave sav out of [export] formats.",
            )
    for column in columns:
        wordings = {"title": [column.title], "label": [*column.labels.values()]}
        for what, texts in wordings.items():
            longest = max((len(text.encode()) for text in texts), default=0)
            if longest > _MOST_OF_SPSS[what]:
                raise BadPlan(
                    f"A {what} of column '{column.name}' has {longest:,} bytes; SPSS keeps "
                    f"{_MOST_OF_SPSS[what]}.",
                    remedy="Shorten it in the original, or leave sav out of [export] formats.",
                )
    made = bytearray(_through_file(columns, pyreadstat.write_sav))
    place, fixed = _SPSS_MADE
    made[place : place + len(fixed)] = fixed
    return bytes(made)


def as_stata(columns: Sequence[Typed]) -> bytes:
    """Return columns as a .dta file."""
    import pyreadstat

    made = _through_file(columns, pyreadstat.write_dta, version=14)
    return _STATA_MADE.sub(b"01 Jan 2000 00:00", made, count=1)


def _through_file(columns: Sequence[Typed], write: Callable[..., None], **more: Any) -> bytes:
    import pandas as pd
    import pyreadstat

    for column in columns:
        if _NAME.fullmatch(column.name) is None:
            raise BadPlan(
                f"Column '{column.name}' cannot be a variable of SPSS or Stata: their names are up "
                "to 32 letters from A to Z, digits and underscores, a letter first.",
                remedy="Rename it in the table, or leave sav and dta out of [export] formats.",
            )
    frame = pd.DataFrame(
        {
            c.name: pd.Series(c.texts, dtype="str")
            if c.numbers is None
            else pd.Series(cast(Any, c.numbers), dtype="float64")
            for c in columns
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "file")
        try:
            write(
                frame,
                place,
                column_labels={c.name: c.title for c in columns if c.title},
                variable_value_labels={c.name: dict(c.labels) for c in columns if c.labels},
                **more,
            )
        except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError) as error:
            raise BadPlan(
                f"The release cannot be written for SPSS or Stata: {error}",
                remedy="Rename the column, or leave sav and dta out of [export] formats.",
            ) from error
        return place.read_bytes()


def as_excel(columns: Sequence[Typed]) -> bytes:
    """Return columns as an .xlsx file: no cell is a formula."""
    import xlsxwriter

    rows = len(columns[0].texts) if columns else 0
    if rows > _MOST_ROWS_OF_EXCEL:
        raise BadPlan(
            f"A sheet of Excel holds {_MOST_ROWS_OF_EXCEL:,} rows, and the release has {rows:,}.",
            remedy="Leave xlsx out of [export] formats.",
        )
    if len(columns) > _MOST_COLUMNS_OF_EXCEL:
        raise BadPlan(
            f"A sheet of Excel holds {_MOST_COLUMNS_OF_EXCEL:,} columns, and the release has "
            f"{len(columns):,}.",
            remedy="Leave xlsx out of [export] formats.",
        )
    for column in columns:
        for row, text in enumerate((column.name, *column.texts)):
            # Excel counts units of 16 bits; a text of fewer letters cannot have more of them.
            if len(text) > _MOST_LETTERS_OF_EXCEL // 2 and _units(text) > _MOST_LETTERS_OF_EXCEL:
                raise BadPlan(
                    f"A cell of Excel holds {_MOST_LETTERS_OF_EXCEL:,} characters, and column "
                    f"'{brief(column.name)}' has {_units(text):,} in "
                    + (f"row {row:,} of the release." if row else "its name."),
                    remedy="Leave xlsx out of [export] formats, or shorten the text.",
                )
    sink = io.BytesIO()
    with xlsxwriter.Workbook(sink, {"in_memory": True}) as book:
        book.set_properties({"created": _MADE})
        sheet = book.add_worksheet("release")
        for place, column in enumerate(columns):
            sheet.write_string(0, place, column.name)
            for row, text in enumerate(column.texts, start=1):
                number = None if column.numbers is None else column.numbers[row - 1]
                if number is not None and not column.labels:
                    sheet.write_number(row, place, number)
                elif text:
                    sheet.write_string(row, place, text)
    return sink.getvalue()


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


#: What each format is called, and what writes it.
TYPED: dict[str, tuple[str, Callable[[Sequence[Typed]], bytes]]] = {
    "sav": ("SPSS", as_spss),
    "dta": ("Stata", as_stata),
    "xlsx": ("Excel", as_excel),
}


def formats_of(given: object) -> tuple[str, ...]:
    """Return the formats that a recipe asks for.

    Raises
    ------
    BadPlan
    """
    if not isinstance(given, list | tuple):
        raise BadPlan(
            f"[export] formats is {brief(given)}; allowed is a list of {listing(TYPED)}.",
            remedy='Write a list, for example formats = ["sav"].',
        )
    asked = cast(Sequence[object], given)
    for one in asked:
        if one not in tuple(TYPED):
            raise BadPlan(
                f"[export] formats names {brief(one)}; allowed are {listing(TYPED)}.",
                remedy='Write a list, for example formats = ["sav"].',
            )
    return tuple(ending for ending in TYPED if ending in asked)


def typed_files(
    formats: Sequence[str], tables: Mapping[str, pa.Table], meanings: Mapping[str, Meaning]
) -> dict[str, bytes]:
    """Return published tables as files by name in the formats that are asked for.

    Raises
    ------
    BadPlan
        If a format cannot hold them.
    """
    found: dict[str, bytes] = {}
    for name, table in tables.items() if formats else ():
        columns: list[Typed] = []
        for own, column in zip(table.column_names, table.columns, strict=True):
            texts = [str(text) for text in column.to_pylist()]
            columns.append(typed(own, texts, meanings.get(own, Meaning())))
        found |= {f"{name}.{ending}": TYPED[ending][1](columns) for ending in formats}
    return found
