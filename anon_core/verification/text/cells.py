"""A table as it was read: each column's different cells once, and which of them every row has."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_CHUNK = 512  # small, so that its lists are gone before the collector looks at them
#: Codes of cells, as narrow as they can be.
Narrow = npt.NDArray[np.signedinteger[Any]]


def text_of(value: object) -> str:
    """Return a value of a file as text: moments of a zone in UTC.

    Whole floats are integers with gaps next to them.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return str(value.astimezone(datetime.UTC))
    return str(value)


def _text_in_column(value: object, *, timed: bool) -> str:
    """Return a value's text; a day is its midnight where other cells of the column have a time."""
    if timed and type(value) is datetime.date:
        return f"{value} 00:00:00"
    return text_of(value)


def narrow(codes: npt.NDArray[Any], most: int) -> Narrow:
    """Return codes of at most `most` in the narrowest signed integers that hold them."""
    for kind in (np.int8, np.int16, np.int32):
        if most <= np.iinfo(kind).max:
            return codes.astype(kind, copy=False)
    return codes.astype(np.int64, copy=False)


def numbering() -> defaultdict[str, int]:
    """Return a mapping that gives each text that it is asked for and does not know the next number.

    Examples
    --------
    >>> code_of = numbering()
    >>> [code_of[text] for text in "aba"]
    [0, 1, 0]
    """
    return defaultdict(count().__next__)


def ranked(texts: Sequence[str]) -> tuple[Narrow, list[str]]:
    """Return each text's place in the order of the different ones, and these in that order.

    Examples
    --------
    >>> [own.tolist() for own in ranked(["b", "a", "b"])[:1]], ranked(["b", "a", "b"])[1]
    ([[1, 0, 1]], ['a', 'b'])
    """
    ordered = sorted(set(texts))
    place = dict(zip(ordered, range(len(ordered)), strict=True))
    return narrow(np.array([place[text] for text in texts], np.int64), len(ordered)), ordered


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """The cells of one column.

    Attributes
    ----------
    codes : array of signed integers, shape (rows,)
        Index into `texts`; -1 where there is no value.
    texts : sequence of str
        The different cells; equal texts of unlike values may stand in it twice.
    """

    codes: Narrow
    texts: Sequence[str]

    @classmethod
    def of(cls, cells: Iterable[object]) -> Cells:
        """Return cells that are given one by one; None and NaN are no values."""
        cells = list(cells)
        code_of: dict[str, int] = {}
        timed = datetime.datetime in set(map(type, cells))
        found = [
            -1
            if cell is None or cell != cell
            else code_of.setdefault(_text_in_column(cell, timed=timed), len(code_of))
            for cell in cells
        ]
        codes = np.array(found, dtype=np.int64)
        return cls(codes=narrow(codes, len(code_of)), texts=list(code_of))

    @classmethod
    def of_series(cls, column: pd.Series[Any]) -> Cells:
        """Return the cells of a column of a data frame."""
        import pandas as pd

        if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
            # Among mixed objects 1 and True are equal, but their texts are not.
            timed = any(isinstance(cell, datetime.datetime) for cell in column)
            column = column.map(partial(_text_in_column, timed=timed), na_action="ignore")
        codes, values = pd.factorize(column)
        return cls(codes=narrow(codes, len(values)), texts=[text_of(value) for value in values])

    @classmethod
    def joined(cls, parts: Sequence[Cells]) -> Cells:
        """Return the cells of columns that follow each other, rows below rows."""
        if len(parts) == 1 and len(set(parts[0].texts)) == len(parts[0].texts):
            return parts[0]
        code_of = numbering()
        found: list[Narrow] = [np.empty(0, dtype=np.int8)]
        for part in parts:
            known = np.array([*map(code_of.__getitem__, part.texts), -1], dtype=np.int64)
            found.append(narrow(known, len(code_of))[part.codes])
        return cls(codes=narrow(np.concatenate(found), len(code_of)), texts=list(code_of))

    @staticmethod
    def of_rows(rows: Iterable[list[str]], width: int) -> tuple[list[Cells], int, dict[int, int]]:
        """Read rows some at a time; of all cells only the different ones are kept.

        Returns
        -------
        columns : list of Cells
            Of the rows before the first whose length is another.
        count : int
            How many rows there are.
        ragged : dict of int to int
            The rows of another length than `width`, from 1, and their lengths.
        """
        code_of = [numbering() for _ in range(width)]
        parts: list[list[Narrow]] = [[np.empty(0, dtype=np.int8)] for _ in range(width)]
        ragged: dict[int, int] = {}
        total, rows = 0, iter(rows)
        while chunk := list(islice(rows, _CHUNK)):
            if set(map(len, chunk)) != {width}:
                lengths = enumerate(map(len, chunk), total + 1)
                ragged |= {row: length for row, length in lengths if length != width}
            total += len(chunk)
            if not ragged:
                columns = zip(*chunk, strict=True)
                for codes, known, cells in zip(parts, code_of, columns, strict=True):
                    codes.append(np.fromiter(map(known.__getitem__, cells), np.int32, len(chunk)))
        found = [
            Cells(codes=narrow(np.concatenate(codes), len(known)), texts=list(known))
            for codes, known in zip(parts, code_of, strict=True)
        ]
        return found, total, ragged

    def used(self) -> npt.NDArray[np.bool_]:
        """Return which texts stand in a row, shape (texts + 1,); the last is whether none does."""
        found = np.zeros(len(self.texts) + 1, dtype=np.bool_)
        found[self.codes] = True
        return found

    def row_texts(self) -> list[str | None]:
        """Return the cells one by one."""
        texts = [*self.texts, None]
        return [texts[code] for code in self.codes.tolist()]


class TextTable:
    """A table whose columns are read when they are first asked for.

    Parameters
    ----------
    names : sequence of str
    load : callable
        Given places of columns, it returns their cells.
    """

    def __init__(
        self, names: Sequence[str], rows: int, load: Callable[[Sequence[int]], Sequence[Cells]]
    ) -> None:
        self.names, self._rows, self._load = tuple(names), rows, load
        self._read: dict[int, Cells] = {}

    @classmethod
    def of(cls, names: Sequence[str], columns: Iterable[Cells], rows: int) -> TextTable:
        """Return a table whose columns are there already."""
        every = list(columns)
        return cls(names, rows, lambda places: [every[place] for place in places])

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> TextTable:
        """Return the table of a data frame; its index plays no part."""

        def load(places: Sequence[int]) -> list[Cells]:
            return [Cells.of_series(frame.iloc[:, place]) for place in places]

        return cls([str(name) for name in frame.columns], len(frame), load)

    def __len__(self) -> int:
        return self._rows

    def prefetch(self, names: Iterable[str]) -> None:
        """Read the columns of some names together, where they are not read yet."""
        wanted = set(names)
        self._fetch([place for place, name in enumerate(self.names) if name in wanted])

    def _fetch(self, places: Sequence[int]) -> None:
        open_ = [place for place in places if place not in self._read]
        if open_:
            self._read.update(zip(open_, self._load(open_), strict=True))

    def column(self, name: str) -> Cells:
        """Return the first column of a name.

        Raises
        ------
        ValueError
            If there is none.
        """
        return self.column_at(self.names.index(name))

    def column_at(self, place: int) -> Cells:
        """Return a column by its place from 0."""
        self._fetch([place])
        return self._read[place]

    def kept(self, rows: npt.NDArray[np.bool_]) -> TextTable:
        """Return the table of some rows."""

        def load(places: Sequence[int]) -> list[Cells]:
            self._fetch(places)
            every = [self._read[place] for place in places]
            return [Cells(codes=one.codes[rows], texts=one.texts) for one in every]

        return TextTable(self.names, int(np.count_nonzero(rows)), load)

    def replaced(self, columns: Mapping[str, Cells]) -> TextTable:
        """Return the table with other cells in some columns."""
        own = {self.names.index(name): cells for name, cells in columns.items()}

        def load(places: Sequence[int]) -> list[Cells]:
            self._fetch([place for place in places if place not in own])
            return [own.get(place) or self._read[place] for place in places]

        return TextTable(self.names, self._rows, load)


def to_arrow(numbers: npt.NDArray[Any]) -> Any:
    """Return whole numbers as Arrow holds them, without pandas, which `pyarrow.array` imports."""
    import pyarrow as pa

    own = np.ascontiguousarray(numbers)
    kind: Any = pa.from_numpy_dtype(own.dtype)
    return cast(Any, pa.Array).from_buffers(kind, len(own), [None, pa.py_buffer(cast(Any, own))])


def texts_to_arrow(texts: Sequence[str]) -> Any:
    """Return texts as Arrow holds them, likewise."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in encoded], out=ends[1:])
    buffers = [None, pa.py_buffer(cast(Any, ends)), pa.py_buffer(b"".join(encoded))]
    return cast(Any, pa.Array).from_buffers(pa.large_string(), len(encoded), buffers)


def from_arrow(numbers: Any) -> npt.NDArray[Any]:
    """Return the numbers of an Arrow array without missing ones, likewise."""
    whole = np.frombuffer(numbers.buffers()[1] or b"", dtype=numbers.type.to_pandas_dtype())
    return whole[numbers.offset :][: len(numbers)]


def joined_texts(parts: Sequence[tuple[Narrow, Any]]) -> Cells:
    """Return cells that follow each other, given as codes into texts in Arrow, part by part."""
    import pyarrow as pa
    import pyarrow.compute as pc

    every = pa.concat_arrays([texts for _, texts in parts])
    whole = every.unique()
    known = narrow(from_arrow(cast(Any, pc).index_in(every, value_set=whole)), len(whole))
    ends = np.cumsum([len(texts) for _, texts in parts])
    found = [known[end - len(own[1]) : end][own[0]] for own, end in zip(parts, ends, strict=True)]
    return Cells(codes=np.concatenate(found), texts=whole.to_pylist())


def cells_of_column(column: pa.ChunkedArray[Any]) -> Cells:
    """Return the cells of a column, each different one made a text once."""
    import pyarrow as pa

    try:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        whole = cast(Any, coded.unify_dictionaries().combine_chunks())
    except pa.ArrowException:  # lists and the like have no dictionary
        return Cells.of(column.to_pylist())
    places = whole.indices
    if places.null_count:
        places = places.cast(pa.int64()).fill_null(-1)
    return coded_cells(from_arrow(places), whole.dictionary)


def _shortened(time: str) -> str:
    """Return a time of day with nine, six or no figures of a second."""
    clock, _, fraction = time.partition(".")
    fraction = fraction.removesuffix("000")
    return f"{clock}.{fraction}" if fraction.strip("0") else clock


def coded_cells(places: npt.NDArray[Any], values: pa.Array[Any]) -> Cells:
    """Return cells by the places of their values; a missing value among these is none.

    A dictionary may hold values that no row has: they are not texts of the column.
    """
    import pyarrow as pa

    shown = np.zeros(len(values) + 1, dtype=np.bool_)
    shown[places] = True
    shown = shown[:-1]
    if not shown.all():
        at = np.append(np.cumsum(shown) - 1, -1)
        places, values = at[places], cast(Any, values).take(to_arrow(np.flatnonzero(shown)))
    if pa.types.is_string(values.type) and not values.null_count:
        strings = cast(list[str], values.to_pylist())
        return Cells(codes=narrow(places, len(strings)), texts=strings)
    if str(values.type) == "time64[ns]":  # Python's own times end at microseconds
        values = cast(Any, values.cast(pa.string()))
        strings = [None if text is None else _shortened(text) for text in values.to_pylist()]
        return coded_cells(places, cast(Any, pa.array(strings, type=pa.large_string())))
    # numpy's 32-bit floats write 0.1 where Python's write what 0.1 becomes in 64 bits.
    floats = pa.types.is_floating(values.type)
    made = list(values.to_numpy(zero_copy_only=False)) if floats else values.to_pylist()
    gaps = [i for i, value in enumerate(made) if value is None or value != value]
    if gaps:
        places = np.where(np.isin(places, gaps), -1, places)
    texts = ["" if i in gaps else text_of(value) for i, value in enumerate(made)]
    return Cells(codes=narrow(places, len(texts)), texts=texts)
