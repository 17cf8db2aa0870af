"""Columns of other libraries' data frames, as codes into the distinct texts of their cells."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadInput
from anon_core.data.values.moments import without_midnight

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Codes, -1 where there is no value, and the texts they represent.
Coded = tuple[npt.NDArray[np.int32], list[str]]


class ArrowFrame(Protocol):
    """A frame that hands its columns over as Arrow does: pyarrow's, polars', DuckDB's."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the columns as an Arrow stream."""
        ...


def plain_text(value: object) -> str:
    """Return the text of a typed cell: whole floats without point, moments of a zone in UTC.

    A moment keeps its time where that is midnight: whether all of a column's are, the column
    shows.
    """
    # A whole float (39.0) is what pandas makes of an integer column with gaps.
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        # Which zone a file names, or a database takes for its own, changes no moment.
        return str(value.astimezone(datetime.UTC))
    return str(value)


def at_midnight(cells: Iterable[object]) -> list[object]:
    """Return cells with days as their midnights where others have a time of day.

    What reads workbooks returns a moment at midnight as a day.
    """
    found = list(cells)
    if not any(isinstance(cell, datetime.datetime) for cell in found):
        return found
    midnight = datetime.time()
    return [
        datetime.datetime.combine(cell, midnight) if type(cell) is datetime.date else cell
        for cell in found
    ]


def name_text(value: object) -> str:
    """Return the text of a typed cell that is a column's name: a day without its midnight."""
    return without_midnight(plain_text(value))


def is_pandas(frame: object) -> bool:
    """Return whether a frame is pandas' own; nothing is imported to find out."""
    return any(kind.__module__.partition(".")[0] == "pandas" for kind in type(frame).__mro__)


def columns_of(frame: pd.DataFrame | ArrowFrame) -> tuple[list[str], list[Coded], int]:
    """Return the names and columns of a frame, and its number of rows.

    Raises
    ------
    BadInput
        If it is not a data frame, or a column holds raw bytes, nested values, or characters that no
        file can hold.
    """
    if is_pandas(frame) and hasattr(frame, "columns"):
        own = cast("pd.DataFrame", frame)
        columns = [coded_series(series) for _, series in own.items()]
        names = [str(name) for name in own.columns]
        refuse_unwritable(names, columns)
        return names, columns, len(own)
    import pyarrow as pa

    if is_pandas(frame) or not hasattr(frame, "__arrow_c_stream__"):
        raise BadInput(
            "This is not a data frame that can be read.",
            remedy="Give a frame of pandas, polars or pyarrow.",
        )
    table = cast(Any, pa).table(frame)
    refuse_nested(table.schema, "The table")
    named = zip(table.column_names, table.columns, strict=True)
    columns = [coded_arrow(column, name) for name, column in named]
    return list(table.column_names), columns, table.num_rows


def coded_series(series: pd.Series[Any]) -> Coded:
    """Return a pandas column as codes into texts."""
    import pandas as pd

    if series.dtype == object and pd.api.types.infer_dtype(series, skipna=True) != "string":
        # Among mixed objects True, 1 and 1.0 are equal but write different texts.
        null = series.isna().to_numpy()
        cells = at_midnight(series)
        texts = ["" if gone else plain_text(v) for v, gone in zip(cells, null, strict=True)]
        series = pd.Series(texts, dtype="str").mask(null)
    codes, distinct = pd.factorize(series)
    return codes.astype(np.int32), [plain_text(value) for value in cast(Sequence[object], distinct)]


def coded_arrow(column: pa.ChunkedArray[Any], name: str) -> Coded:
    """Return a plain Arrow column of any type as codes into texts.

    Raises
    ------
    BadInput
        If a day lies outside the calendar.
    """
    import pyarrow as pa

    array = cast(Any, column).unify_dictionaries().combine_chunks()
    if not isinstance(array, pa.DictionaryArray):
        array = array.dictionary_encode()
    pool = array.dictionary
    floats = pa.types.is_floating(pool.type)
    # numpy's float32 writes 0.1 where Python's float writes what 0.1 becomes in 64 bits.
    try:
        if str(pool.type) == "time64[ns]":
            values = [_time_of(value) for value in pool.cast(pa.int64()).to_pylist()]
        else:
            values = list(pool.to_numpy(zero_copy_only=False)) if floats else pool.to_pylist()
        texts = ["" if v is None or v != v else plain_text(v) for v in values]
    except (OverflowError, ValueError) as error:
        raise BadInput(
            f"Column '{name}' holds a day or a time outside the years 1 to 9999.",
            remedy="Correct the column, or store it as text.",
        ) from error
    gone = np.array([value is None or value != value for value in values] + [True])
    # Widened first: an index of 8 bits has no room for one more place.
    codes = array.indices.cast(pa.int32()).fill_null(len(values)).to_numpy()
    target = np.append(np.arange(len(values), dtype=np.int32), np.int32(-1))
    target[gone] = -1
    return target[codes], texts


def _time_of(nanoseconds: int | None) -> str | None:
    """Return a time of day as text: Python's own times end at microseconds.

    Examples
    --------
    >>> [_time_of(n) for n in (10**9, 10**9 + 5000, 10**9 + 5)]
    ['00:00:01', '00:00:01.000005', '00:00:01.000000005']
    """
    if nanoseconds is None:
        return None
    whole, fine = divmod(nanoseconds, 1000)
    time = (datetime.datetime.min + datetime.timedelta(microseconds=whole)).time()
    return f"{time.isoformat('microseconds')}{fine:03}" if fine else str(time)


def refuse_unwritable(names: Sequence[str], columns: Sequence[Coded]) -> None:
    """Refuse halves of characters, as texts hold that were decoded in the wrong way.

    Raises
    ------
    BadInput
        Naming the first column.
    """
    for place, (name, (_, texts)) in enumerate(zip(names, columns, strict=True), start=1):
        try:
            "".join([name, *texts]).encode()
        except UnicodeEncodeError as error:
            raise BadInput(
                f"Column {place} of the table holds characters that cannot be written as UTF-8.",
                remedy="Read the table again with the encoding it was written in.",
            ) from error


def refuse_nested(schema: pa.Schema, what: str) -> None:
    """Refuse columns of raw bytes or of nested values.

    Raises
    ------
    BadInput
        Naming the first of them.
    """
    from pyarrow import types

    for field in schema:
        kind = field.type
        while types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_nested(kind) or types.is_binary(kind):
            found = "raw bytes" if types.is_binary(kind) else f"nested values ({kind})"
            raise BadInput(
                f"{what}: column '{field.name}' holds {found}, not one plain value a row.",
                remedy="Split it into plain columns, or leave it out.",
            )
